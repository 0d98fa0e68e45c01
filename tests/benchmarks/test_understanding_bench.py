"""The numbers in docs/understanding.md are counted as the page says they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.judgement.labels import HALVES
from benchmarks.judgement.understanding import (
    JudgedMessage,
    LabelledMessage,
    follow_up_table,
    judge_in_store,
    judge_messages,
    main,
    read_messages,
    search_table,
    target,
)
from commonplace.engine.understanding import Understanding

LABELLED = Path(__file__).parents[2] / "labelled"


def judged(language: str, needed: bool, said: bool, query: str = "", **wanted) -> JudgedMessage:
    message = LabelledMessage("x", language, "any", "in chicago", needed=needed, **wanted)
    return JudgedMessage(message, Understanding("in chicago", said, (), query, ()))


def test_search_table_counts_messages_by_language_and_label():
    made_up = [
        judged("en", True, True),
        judged("en", True, False),
        judged("en", False, False),
        judged("he", False, True),
    ]
    table = search_table(made_up, "open")
    assert table.rows == [
        ("en", 3, 66.7, 50.0, 100.0),
        ("he", 1, 0.0, None, 0.0),
        ("all", 4, 50.0, 50.0, 50.0),
    ]
    assert (target(made_up, "open").measured, target(made_up, "open").verdict) == (50.0, "missed")


def test_follow_up_table_requires_all_wanted_and_no_unwanted_words():
    wanted = {"holds": ("Chicago", "restaurants"), "lacks": ("rome",)}
    made_up = [
        judged("en", True, True, "restaurants in chicago", **wanted),
        judged("en", True, True, "restaurants", **wanted),
        judged("en", True, True, "restaurants in chicago and Rome", **wanted),
    ]
    assert follow_up_table(made_up, "open").rows == [("en", 3, 33.3), ("all", 3, 33.3)]


@pytest.mark.parametrize("half", HALVES)
def test_labelled_messages_are_well_formed(half):
    said = read_messages(LABELLED, "searches", half)
    meant = read_messages(LABELLED, "followups", half)
    assert {each.needed for each in said} == {True, False}
    assert all(each.holds for each in meant)
    assert {each.language for each in (*said, *meant)} == {"en", "he"}


def test_labelled_messages_are_disjoint_between_halves():
    for name in ("searches", "followups", "known", "general"):
        halves = [read_messages(LABELLED, name, half) for half in HALVES]
        ids = [each.id for half in halves for each in half]
        assert len(ids) == len(set(ids))
        asked = [{(each.message, each.recent) for each in half} for half in halves]
        assert not asked[0] & asked[1]


def test_needs_search_and_follow_up_rules_are_right_on_the_open_half():
    assert all(
        each.says_rightly for each in judge_messages(read_messages(LABELLED, "searches", "open"))
    )
    assert all(
        each.expands_rightly
        for each in judge_messages(read_messages(LABELLED, "followups", "open"))
    )


def test_needs_search_is_right_in_the_store_that_knows():
    store = (LABELLED / "known-store.txt").read_text().splitlines()
    messages = [
        each for name in ("known", "general") for each in read_messages(LABELLED, name, "open")
    ]
    assert [
        each.message.id for each in judge_in_store(messages, store) if not each.says_rightly
    ] == []


def a_set(folder: Path) -> Path:
    """Both halves, each with items that are wrong whatever the rules say."""
    for half in HALVES:
        plain = {"id": "x", "language": "en", "case": "any"}
        said = {**plain, "message": f"hello {half} hello", "needed": True}
        meant = {**plain, "message": f"Why {half}, dear?", "holds": ["nothing of the kind"]}
        (folder / f"searches-{half}.jsonl").write_text(json.dumps(said) + "\n")
        (folder / f"followups-{half}.jsonl").write_text(json.dumps(meant) + "\n")
        (folder / f"known-{half}.jsonl").write_text(json.dumps(said) + "\n")
        (folder / f"general-{half}.jsonl").write_text(json.dumps(said) + "\n")
    (folder / "known-store.txt").write_text("the bin day is wednesday\n")
    return folder


def test_understanding_command_shows_mistakes_of_the_open_half_only(tmp_path, capsys):
    main(["--data", str(a_set(tmp_path)), "--show"])
    printed = capsys.readouterr().out
    assert "hello open hello" in printed
    assert "Why open, dear?" in printed
    assert "hello sealed hello" not in printed
    assert "Why sealed, dear?" not in printed


def test_understanding_command_refuses_to_show_the_sealed_half(tmp_path):
    with pytest.raises(SystemExit, match="sealed half shows no items"):
        main(["--data", str(a_set(tmp_path)), "--half", "sealed", "--show"])
