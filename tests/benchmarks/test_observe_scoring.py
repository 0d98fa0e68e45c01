"""The numbers in docs/observe.md are counted as the page says, and hold on the open half."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.judgement.labels import HALVES, OPEN
from benchmarks.judgement.observe import (
    LEAST_PRECISION,
    LEAST_WELL_WRITTEN,
    ExpectedItem,
    LabelledTurn,
    ObservedTurn,
    main,
    observe_turns,
    precision,
    read_turns,
    recall,
    well_written,
)
from commonplace.model.memory.candidate import ForgetRequest, MemoryCandidate
from commonplace.model.memory.kinds import Kind

LABELLED = Path(__file__).parents[2] / "labelled"

PEANUTS = MemoryCandidate(Kind.FACT, "The user is allergic to peanuts.", "I'm allergic to peanuts")
CAT = MemoryCandidate(Kind.EVENT, "The user adopted a cat.", "We adopted a cat")
CITY = MemoryCandidate(Kind.FACT, "x", "x", profile_field="city", profile_value="Haifa")


def turn(*keep: ExpectedItem, **more) -> LabelledTurn:
    return LabelledTurn("x", "en", "fact", "user", "x", keep, **more)


def test_expected_item_requires_the_kind_and_all_words():
    wanted = ExpectedItem(("fact", "kv"), ("allergic", "nuts/peanuts"))
    assert wanted.is_met(PEANUTS)
    assert not wanted.is_met(CAT)
    assert not ExpectedItem(("kv",), ("allergic",)).is_met(PEANUTS)
    assert not ExpectedItem(("fact",), ("allergic", "cats")).is_met(PEANUTS)


def test_observe_precision_counts_unlabelled_items_as_wrong():
    seen = [
        ObservedTurn(turn(ExpectedItem(("fact",), ("peanuts",))), (PEANUTS, CAT)),
        ObservedTurn(turn(), ()),
    ]
    assert (precision(seen), recall(seen)) == (50, 100)


def test_observe_counts_optional_items_as_right_and_never_missing():
    optional = ExpectedItem(("fact",), ("peanuts",), optional=True)
    kept, left = ObservedTurn(turn(optional), (PEANUTS,)), ObservedTurn(turn(optional), ())
    assert precision([kept]) == 100
    assert recall([kept, left]) is None


def test_observe_counts_profile_fields_and_forget_requests():
    city = ObservedTurn(turn(profile={"city": "Haifa"}), (CITY,))
    forget = ObservedTurn(turn(forget=("oslo",)), (ForgetRequest("the trip to Oslo", "x"),))
    wrong = ObservedTurn(turn(), (ForgetRequest("the trip to Oslo", "x"),))
    assert (precision([city, forget]), recall([city, forget])) == (100, 100)
    assert precision([wrong]) == 0


def test_labelled_turn_halves_are_alike_and_large_enough():
    halves = [read_turns(LABELLED, half) for half in HALVES]
    assert sum(map(len, halves)) >= 320
    for turns in halves:
        hebrew = sum(one.language == "he" for one in turns)
        nothing = sum(not (one.keep or one.profile or one.forget) for one in turns)
        assert 0.3 <= hebrew / len(turns) <= 0.4
        assert 0.4 <= nothing / len(turns) <= 0.5
    ids = [one.id for turns in halves for one in turns]
    assert len(set(ids)) == len(ids)


def test_observe_meets_the_targets_on_the_open_half():
    seen = observe_turns(read_turns(LABELLED, OPEN))
    assert precision(seen) >= LEAST_PRECISION + 8
    assert recall(seen) >= 90
    assert well_written(seen) >= LEAST_WELL_WRITTEN


def test_observe_command_never_shows_items_of_the_sealed_half(capsys):
    with pytest.raises(SystemExit):
        main(["--half", "sealed", "--show", "--data", str(LABELLED)])
    main(["--show", "--data", str(LABELLED)])
    shown = capsys.readouterr().out
    lines = (LABELLED / "turns-sealed.jsonl").read_text(encoding="utf-8").splitlines()
    assert not [row["id"] for row in map(json.loads, lines) if f"{row['id']}:" in shown]


def test_observe_command_writes_the_page_between_markers(tmp_path):
    page = tmp_path / "observe.md"
    page.write_text("by hand\n<!-- truth: begin -->\nold\n<!-- truth: end -->\nafter\n")
    main(["--half", "open", "--data", str(LABELLED), "--write", str(page)])
    written = page.read_text(encoding="utf-8")
    assert written.startswith("by hand\n")
    assert written.endswith("after\n")
    assert "| precision |" in written
    assert "old" not in written
