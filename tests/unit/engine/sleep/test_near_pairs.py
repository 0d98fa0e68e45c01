"""Which memories and pairs a night looks at as duplicates."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from commonplace.engine.maintenance.sleep.near_pairs import (
    SIMILAR,
    TOO_SIMILAR,
    choose_pool,
    equal_terms,
    is_comparable_at_night,
    near_places,
)
from commonplace.engine.reading.pair_checks import may_become_one
from commonplace.language.compare.duplicates import is_numeric_step, overlaps, terms_key
from commonplace.language.embedders.embedder import Calibration
from commonplace.language.text.detect import Script
from commonplace.model.memory.kinds import Kind, Stability
from support.clock import START
from support.making import a_memory

LONG_AGO = START - timedelta(days=30)
SAME_SCALE = Calibration({Script.LATIN: ((0.0, 0.0), (1.0, 1.0))})


def memory(content="The lamp is green", **fields):
    return a_memory(content, **{"created_at": LONG_AGO, "kind": Kind.FACT, **fields})


def test_pool_has_what_was_touched_lately_is_important_or_often_read():
    touched = memory(updated_at=START - timedelta(hours=72))
    too_long_ago = memory(updated_at=START - timedelta(hours=73))
    important, unimportant = memory(importance=3), memory(importance=2)
    read = [memory(access_count=n) for n in range(1, 17)]
    all_of_them = [touched, too_long_ago, important, unimportant, *read]
    pool = choose_pool(all_of_them, START)
    assert pool == {touched.id, important.id, *(each.id for each in read[-2:])}  # a tenth of 20


@pytest.mark.parametrize(
    "fields", [{"stability": Stability.VOLATILE}, {"kind": Kind.SOUL}, {"id": "profile:city"}]
)
def test_volatile_memories_souls_and_the_profile_are_not_compared(fields):
    assert is_comparable_at_night(memory())
    assert not is_comparable_at_night(memory(**fields))


def test_equal_terms_need_one_member_in_the_pool():
    same = [memory("Dana's dentist is Tom"), memory("The dentist of Dana is Tom"), memory("A lamp")]
    assert list(equal_terms(same, ())) == []
    (pair,) = equal_terms(same, {same[1].id})
    assert (pair.earlier, pair.later) == (same[0], same[1])
    assert list(equal_terms(same, {same[2].id})) == []


def test_near_places_are_those_in_the_band_each_once():
    angles = np.arccos([1.0, 0.71, 0.699, 0.5])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    rows, is_row = np.array([0, 1]), np.array([True, True, False, False])
    texts = ["some words"] * 4
    found = list(near_places(vectors, rows, is_row, texts, SAME_SCALE))
    cosines = vectors @ vectors.T
    wanted = {
        (one, other)
        for one in range(4)
        for other in range(one + 1, 4)
        if one in (0, 1) and SIMILAR <= cosines[one, other] < TOO_SIMILAR
    }
    assert {(one, other) for one, other, _ in found} == wanted
    assert len(found) == len(wanted)


def test_near_places_of_a_script_that_the_model_does_not_know_are_none():
    vectors = np.array([[1, 0], [0.8, 0.6]], dtype=np.float32)
    both, rows = np.array([True, True]), np.array([0, 1])
    assert list(near_places(vectors, rows, both, ["מנורה ירוקה"] * 2, SAME_SCALE)) == []
    assert list(near_places(vectors, rows, both, ["a green lamp"] * 2, Calibration({}))) == []


def test_overlap_and_numeric_step():
    one, other = terms_key("Dana runs in the park"), terms_key("Dana swims in the sea")
    assert overlaps(one, other)
    assert not overlaps(one, terms_key("Tom sells old books"))
    assert not overlaps((), one)
    assert is_numeric_step("Ran 5 km", "Ran 6 km")
    assert not is_numeric_step("Ran 5 km", "Ran 5 km")
    assert not is_numeric_step("Ran 5 km", "Swam 6 km")


@pytest.mark.parametrize(
    ("text", "fuller", "may"),
    [
        ("Dana plays tennis", "Dana plays tennis in the park with her sister", True),
        ("Dana plays tennis on Sundays", "Dana plays tennis", False),
        ("Dana plays tennis", "Dana does not play tennis", False),
        ("Dana pays 1,450 euros", "Dana pays 1,500 euros", False),
        ("Tom paid Dana", "Dana paid Tom", False),
        ("Dana drinks coffee", "Dana only drinks coffee", False),
        ("Dana likes jazz", "Dana likes blues", False),
    ],
)
def test_a_text_may_end_only_where_the_fuller_one_says_all_of_it(text, fuller, may):
    assert may_become_one(text, fuller) is may
