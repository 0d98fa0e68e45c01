"""The numbers in docs/truth.md are counted as the page says they are."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.judgement.labels import (
    HALVES,
    LabelledPair,
    LabelledStatement,
    is_same_value,
    read_pairs,
    read_statements,
)
from benchmarks.judgement.truth import (
    BEGIN,
    END,
    RELATIONS,
    ClassifiedStatement,
    JudgedPair,
    TruthRates,
    by_language,
    classification_table,
    classify_statements,
    confusion_table,
    judge_pairs,
    main,
    targets,
    truth_rates,
    write_between_markers,
)
from benchmarks.report import Table
from commonplace.api import make_embedder

LABELLED = Path(__file__).parents[2] / "labelled"


def judged(case: str, expect: str, relation: str, action: str, language: str = "en") -> JudgedPair:
    pair = LabelledPair("x", language, case, "fact", {}, {}, frozenset(expect.split()))
    return JudgedPair(pair, relation, action)


MADE_UP = (
    judged("changed", "changed", "changed", "superseded"),
    judged("changed", "changed", "changed", "pending", "he"),
    judged("changed", "changed", "near", "stored"),
    judged("changed", "changed", "rewording", "superseded"),  # taken as the same
    judged("rewording", "rewording", "rewording", "superseded"),
    judged("repeat", "repeat rewording", "changed", "pending"),  # asked about nothing
    judged("both_true", "near new", "changed", "superseded"),  # what is true was superseded
    judged("other_subject", "near new", "near", "stored", "he"),
    judged("unrelated", "new", "near", "stored", "he"),  # related, though it should not be
    judged("unrelated", "new", "new", "stored", "he"),
)


def rows(table: Table) -> dict:
    return {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_truth_rates_count_each_rate_over_the_applicable_pairs():
    assert truth_rates(MADE_UP) == TruthRates(
        changed=100 * 2 / 4,
        false=100 * 2 / 6,
        related=100 * 1 / 3,
        same=100 * 1 / 8,
    )


def test_truth_rates_ignore_a_change_without_action():
    assert truth_rates([judged("changed", "changed", "changed", "stored")]).changed == 0


def test_truth_targets_without_applicable_pairs_are_not_measured():
    verdicts = [t.verdict for t in targets([judged("repeat", "repeat", "repeat", "refreshed")], "")]
    assert verdicts == ["not measured", "met", "not measured", "not measured"]


def test_confusion_table_counts_relations_per_case():
    table = rows(confusion_table(MADE_UP, "any", "open"))
    assert table["changed"] == {
        "case": "changed",
        "pairs": 4,
        "repeat": 0,
        "rewording": 1,
        "changed": 2,
        "near": 1,
        "new": 0,
        "accepted %": 50.0,
    }
    assert table["all"]["pairs"] == len(MADE_UP)
    assert sum(table["all"][relation] for relation in RELATIONS) == len(MADE_UP)


def test_truth_by_language_has_a_row_per_language():
    table = rows(by_language(MADE_UP, "any", "open"))
    assert {name: row["pairs"] for name, row in table.items()} == {"en": 6, "he": 4, "all": 10}
    assert table["he"]["changed acted on"] == 100.0


def test_classification_table_counts_kinds_and_fields_separately():
    said = LabelledStatement("x", "en", "gate code is 12", ("kv",), {"value": ("12",)})
    found = [
        ClassifiedStatement(said, "kv", True, "knowledge"),
        ClassifiedStatement(said, "kv", False, "knowledge"),
        ClassifiedStatement(said, "note", False, "knowledge"),
        ClassifiedStatement(
            LabelledStatement("y", "en", "hm", ("note",), {}, ("goals",)), "note", True, "tasks"
        ),
    ]
    table = classification_table(found, "open")
    assert ("en", "kv", 3, pytest.approx(200 / 3), pytest.approx(100 / 3)) in table.rows
    assert ("en", "note", 1, 100.0, 0.0) in table.rows


@pytest.mark.parametrize(
    ("name", "wanted", "found", "equal"),
    [
        ("phone", "052-1234567", "+972 52 123 4567", True),
        ("phone", "052-1234567", "+972521234568", False),
        ("phone", "052-1234567", "", False),
        ("subject", "wifi password", "My  Wifi password", True),
        ("subject", "wifi password", "wifi name", False),
        ("value", "Sunny-Day42", "Sunny-Day42.", True),
        ("value", "Sunny-Day42", "sunny-day42", False),
    ],
)
def test_is_same_value_compares_phones_subjects_and_values(name, wanted, found, equal):
    assert is_same_value(name, wanted, found) is equal


def test_judge_pairs_and_classify_statements_run_the_engine():
    """What is left unrelated on purpose is new; what names no kind is at least a note."""
    model = make_embedder("hashing")
    old, new = {"content": "The cat sleeps."}, {"content": "Taxes are due in May."}
    pair = LabelledPair("one", "en", "unrelated", "note", old, new, frozenset({"new"}))
    (answer,) = judge_pairs([pair], model)
    assert (answer.relation, answer.action) == ("new", "stored")
    said = LabelledStatement("two", "en", "Idea: a bookshop with a bakery in the back", ("note",))
    assert [c.right for c in classify_statements([said], model)] == [True]


def test_labelled_pair_and_statement_halves_are_equally_composed():
    """As many pairs of each language and case, and of statements of each language and kind."""
    pairs = [Counter((p.language, p.case) for p in read_pairs(LABELLED, half)) for half in HALVES]
    said = [
        Counter((s.language, s.wanted) for s in read_statements(LABELLED, half)) for half in HALVES
    ]
    assert pairs[0] == pairs[1]
    everyday = [
        Counter(
            (s.language, s.wanted, s.categories)
            for s in read_statements(LABELLED, half, "everyday")
        )
        for half in HALVES
    ]
    assert said[0] == said[1]
    assert everyday[0] == everyday[1]
    assert (pairs[0].total() * 2, said[0].total() * 2) == (438, 184)


@pytest.mark.parametrize("half", HALVES)
def test_labelled_pairs_expect_known_relations(half):
    for pair in read_pairs(LABELLED, half):
        assert pair.expect, pair.id
        assert pair.expect <= set(RELATIONS), pair.id
        assert pair.old["kind"] == pair.new["kind"] == pair.kind, pair.id


def a_set(folder: Path) -> Path:
    """Both halves, each with a pair that the engine cannot find changed."""
    for half in HALVES:
        row = {
            "id": "x",
            "language": "en",
            "case": "unrelated",
            "kind": "note",
            "old": {"kind": "note", "content": f"{half} cats"},
            "new": {"kind": "note", "content": f"tax office of {half}"},
            "expect": ["changed"],
        }
        (folder / f"relations-{half}.jsonl").write_text(json.dumps(row) + "\n")
        said = {"id": "y", "language": "en", "text": f"a {half} idea", "kind": "kv", "fields": {}}
        for name in ("statements", "everyday"):
            (folder / f"{name}-{half}.jsonl").write_text(json.dumps(said) + "\n")
    return folder


def test_truth_command_shows_mistakes_of_the_open_half_only(tmp_path, capsys):
    main(["--data", str(a_set(tmp_path)), "--embedder", "hashing", "--show"])
    printed = capsys.readouterr().out
    assert "open cats" in printed
    assert "a open idea" in printed
    assert "sealed cats" not in printed
    assert "a sealed idea" not in printed


def test_truth_command_refuses_to_show_the_sealed_half(tmp_path):
    with pytest.raises(SystemExit, match="sealed half shows no items"):
        main(["--data", str(a_set(tmp_path)), "--half", "sealed", "--show"])


def test_truth_page_is_rewritten_only_between_markers(tmp_path):
    page = tmp_path / "truth.md"
    page.write_text(f"Above\n\n{BEGIN}\nold\n{END}\n\nBelow\n")
    for _ in range(2):
        write_between_markers(page, [confusion_table(MADE_UP, "any", "open")])
    text = page.read_text()
    assert text.startswith("Above\n")
    assert text.endswith("Below\n")
    assert "old" not in text
    assert text.count("Relations with any, open half") == 1
