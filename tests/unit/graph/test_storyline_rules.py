"""Which sources make a storyline: rules without a store."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.access.principal import Scope
from commonplace.model.graph.storylines import (
    CLOSED_AFTER,
    StorySource,
    build_macro_fields,
    closing_time,
    common_team,
    find_late_sources,
    fold_storylines,
    highest_sensitivity,
    is_promoted,
    may_make_macro,
    split_bursts,
)
from commonplace.model.memory.memory import Sensitivity
from support.clock import START
from support.graph_making import a_storyline, story_sources

DAYS = (0, 1, 2, 3, 5)


def of(*days, **fields):
    return a_storyline("node:mira", *days, **fields)


@pytest.mark.parametrize(
    ("days", "weight", "promoted"),
    [
        (DAYS, 1.0, True),
        (DAYS[:4], 1.0, False),  # four sources
        (DAYS, 0.5, False),  # five mails
        ((0, 1, 2, 3, 5, 6, 7, 8, 9, 10), 0.5, True),
        ((0, 0.1, 0.2, 5, 5.1), 1.0, False),  # two days
        ((0, 1, 2, 2.5, 3), 1.0, False),  # three days, not more
        ((0, 1, 2, 2.5, 3.1), 1.0, True),
        ((), 1.0, False),
    ],
)
def test_storyline_is_promoted_by_score_days_and_span(days, weight, promoted):
    assert is_promoted(story_sources(*days, weight=weight)) is promoted


def test_storyline_ends_with_a_pause_of_ninety_days():
    assert len(split_bursts(story_sources(0, 90, 180))) == 1
    assert len(split_bursts(story_sources(0, 90.1))) == 2
    burst = story_sources(*DAYS)
    closes = burst[-1].said_at + CLOSED_AFTER
    assert closing_time(burst, closes) is None
    assert closing_time(burst, closes + timedelta(days=1)) == closes
    assert closing_time(burst, closes, is_last=False) == closes


def test_storyline_keeps_its_id_while_sources_come_and_go():
    first = of(*DAYS)
    fold = fold_storylines([first], story_sources(1, 2, 3, 5, 6, 7))
    assert list(fold.kept) == [first.id]
    assert (fold.new, fold.gone) == ((), ())


def test_later_burst_begins_the_next_storyline():
    first = of(*DAYS, closed_at=START)
    fold = fold_storylines([first], story_sources(*DAYS, *(day + 200 for day in DAYS)))
    assert list(fold.kept) == [first.id]
    assert [len(burst) for burst in fold.new] == [5]


def test_source_between_two_storylines_joins_them_into_the_older():
    first, second = of(*DAYS), of(*(day + 100 for day in DAYS))
    sources = story_sources(*DAYS, 50, *(day + 100 for day in DAYS))
    fold = fold_storylines([second, first], sources)
    assert {id: len(burst) for id, burst in fold.kept.items()} == {first.id: 11}
    assert fold.gone == (second.id,)


def test_storyline_below_the_threshold_is_gone():
    first = of(*DAYS)
    assert fold_storylines([first], story_sources(*DAYS[1:])).gone == (first.id,)
    assert fold_storylines([first], ()).gone == (first.id,)


def test_late_source_is_one_that_came_after_its_storyline_was_closed():
    closed = of(*DAYS, closed_at=START)
    sources = story_sources(*DAYS, 4)
    assert [(source.id, line.id) for source, line in find_late_sources([closed], sources)] == [
        ("source:day-4", closed.id)
    ]
    assert find_late_sources([of(*DAYS)], sources) == []
    assert find_late_sources([closed], story_sources(*DAYS, 200)) == []


def test_storyline_is_a_teams_only_if_all_its_sources_are():
    team = Scope.of_team("t").key
    theirs = story_sources(0, 1, scope=team)
    assert common_team(theirs) == "t"
    assert common_team((*theirs, *story_sources(2))) is None
    assert common_team(story_sources(0)) is None
    assert common_team(()) is None


def test_storyline_is_as_sensitive_as_its_most_sensitive_source():
    normal, high = story_sources(0), story_sources(1, is_sensitive=True)
    assert highest_sensitivity(normal) is Sensitivity.NORMAL
    assert highest_sensitivity((*normal, *high)) is Sensitivity.HIGH


def test_macro_needs_two_storylines_over_thirty_days():
    first, near, far = of(*DAYS), of(*(day + 24 for day in DAYS)), of(*(day + 25 for day in DAYS))
    assert not may_make_macro([first])
    assert not may_make_macro([first, near])
    assert may_make_macro([first, far])


def test_macro_counts_a_shared_source_once():
    first, second = of(*DAYS), of(3, 5, 60)
    fields = build_macro_fields([second, first])
    assert fields["storylines"] == (first.id, second.id)
    assert fields["total_source_count"] == 6
    assert fields["last_event_at"] == START + timedelta(days=60)


# ——— for any sources ———

days = st.integers(0, 700).map(lambda day: START + timedelta(days=day))
sources = st.lists(
    st.builds(
        StorySource,
        said_at=days,
        id=st.integers(0, 99).map("source:{}".format),
        scope=st.just("user:ana"),
        weight=st.sampled_from([0.25, 0.5, 1.0]),
    ),
    max_size=40,
    unique_by=lambda source: source.id,
)


def made(bursts):
    return [of(sources=burst, id=f"storyline:{n}") for n, burst in enumerate(bursts)]


@given(sources, st.randoms())
def test_storylines_do_not_depend_on_the_order_of_sources(given_sources, random):
    shuffled = random.sample(given_sources, len(given_sources))
    existing = made(fold_storylines([], given_sources).new)
    assert fold_storylines(existing, shuffled) == fold_storylines(existing, given_sources)
    assert fold_storylines([], shuffled) == fold_storylines([], given_sources)


@given(sources, st.data())
def test_storylines_after_a_removal_are_as_if_the_source_had_never_been(given_sources, data):
    """Besides those that a night has not promoted yet."""
    removed = data.draw(st.sets(st.sampled_from(given_sources))) if given_sources else set()
    left = [source for source in given_sources if source not in removed]
    existing = made(fold_storylines([], given_sources).new)
    fold = fold_storylines(existing, left)
    never = fold_storylines([], left).new
    assert {*fold.kept.values(), *fold.new} == set(never)
    assert len(fold.kept) + len(fold.new) == len(never)


@given(sources)
def test_storylines_have_at_most_one_that_is_open(given_sources):
    bursts = split_bursts(given_sources)
    now = START + timedelta(days=400)
    closed = [closing_time(b, now, is_last=b == bursts[-1]) is not None for b in bursts]
    assert all(closed[:-1])
