"""A small benchmark run says everything that a large one does, on both databases."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest
from rich.console import Console

from benchmarks.fixtures import POSTGRES, SQLITE, PreparedEmbedder, SentenceGenerator
from benchmarks.measure import SpeedPlan, interleaved, quick_plan
from benchmarks.report import Report, Table, Target
from benchmarks.speed import peers
from benchmarks.speed.conversations import STAGES, ConversationGenerator
from benchmarks.speed.run import run_speed

SIZE = 120
PASSAGES = 60
TINY = SpeedPlan(
    sizes=(SIZE,),
    users=3,
    memories_each=40,
    recalls=4,
    remembers=4,
    synced_remembers=10,
    imports=1,
    peers=False,
    passages=(PASSAGES,),
    appends=2,
)
BOTH = {SQLITE, POSTGRES}
ON_BOTH = {f"commonplace on {name}" for name in BOTH}
WORDS = {"method", "database", "what", "unit"}  # all other columns hold numbers


@pytest.fixture(scope="module")
def report() -> Report:
    return run_speed(TINY, say=lambda progress: None)


def rows(report: Report, name: str) -> list[dict]:
    table = next(table for table in report.tables if table.name == name)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def numbers(report: Report) -> Iterator[tuple[str, str, object]]:
    for table in report.tables:
        for row in rows(report, table.name):
            yield from ((table.name, name, row[name]) for name in row.keys() - WORDS)


def test_speed_report_cells_are_numbers(report):
    for table, column, value in numbers(report):
        assert isinstance(value, int | float), f"{table}: {column} is {value!r}"


def test_speed_report_measures_passages_ingest_and_append_on_both_databases(report):
    recalled = rows(report, "passages")
    assert {row["method"] for row in recalled} == {peers.NUMPY, *ON_BOTH}
    for name in ("ingest", "append"):
        assert {row["database"] for row in rows(report, name)} == BOTH
    every = [row for name in ("passages", "ingest", "append") for row in rows(report, name)]
    assert {row["passages"] for row in every} == {PASSAGES}


def test_speed_report_ingest_stages_are_faster_than_the_whole(report):
    """Rates: a part of the work runs at a higher rate than all of it."""
    for row in rows(report, "ingest"):
        stages = {*STAGES, "write"}
        assert all(row[stage] > row["all"] > 0 for stage in stages), row


def test_conversation_generator_is_deterministic():
    once, again = (ConversationGenerator().talks(PASSAGES) for _ in range(2))
    assert once == again
    assert sum(len(talk.turns) for talk in once) == PASSAGES
    assert ConversationGenerator().questions(once, 4) == ConversationGenerator().questions(once, 4)


def test_speed_report_measures_recall_and_remember_against_baselines(report):
    recalled = {row["method"] for row in rows(report, "recall")}
    remembered = {row["method"] for row in rows(report, "remember")}
    assert recalled == {peers.NUMPY, *ON_BOTH}
    assert remembered == {"bare 4 KiB + fdatasync", *ON_BOTH}
    assert {row["memories"] for row in rows(report, "recall")} == {SIZE}


@pytest.mark.parametrize("table", ["links", "crowd", "weight", "context"])
def test_speed_report_tables_have_a_row_per_database(report, table):
    assert {row["database"] for row in rows(report, table)} == BOTH


def test_speed_report_context_fills_the_budget_and_shares_a_prefix(report):
    for row in rows(report, "context"):
        assert 1000 < row["tokens"] <= 1300, row
        assert 30 < row["% shared"] <= 100, row
        assert row["x recall"] > 0


def test_speed_report_counts_at_least_one_sync_per_remember(report):
    """Counted on PostgreSQL by the server, on SQLite by strace where it may trace."""
    counted = {row["database"]: row["syncs each"] for row in rows(report, "syncs")}
    table = next(table for table in report.tables if table.name == "syncs")
    assert counted[POSTGRES] >= 1
    assert counted.get(SQLITE, 0) >= 1 or "SQLite: not counted" in " ".join(table.notes)


def test_speed_report_includes_install_size_and_share_of_wordllama(report):
    found = {row["what"]: row["value"] for row in rows(report, "install")}
    assert found["base install"] > found["of it wordllama itself"] > 0
    assert found["import commonplace"] > 0


def test_speed_report_marks_targets_of_other_sizes_as_not_measured(report):
    verdicts = {target.wanted: target.verdict for target in report.targets}
    assert verdicts["Hybrid recall at 100,000 against the numpy scan"] == "not measured"
    assert verdicts["Recall of one user among many against alone"] in ("met", "missed")


def test_speed_report_has_the_same_tables_in_json_markdown_and_terminal(report):
    as_json = json.loads(report.as_json())
    markdown = report.as_markdown()
    terminal = io.StringIO()
    report.print(Console(width=200, file=terminal))
    printed = terminal.getvalue()
    for table in report.tables:
        assert len(as_json["tables"][table.name]["rows"]) == len(table.rows)
        assert table.title in markdown
        assert table.title in printed


@pytest.mark.parametrize(
    ("measured", "verdict"), [(0.9, "met"), (1.0, "met"), (1.1, "missed"), (None, "not measured")]
)
def test_benchmark_target_verdict_is_met_missed_or_not_measured(measured, verdict):
    assert Target("as fast", most=1.0, measured=measured).verdict == verdict


def test_benchmark_table_refuses_a_row_of_the_wrong_width():
    with pytest.raises(ValueError, match="2 cells for 1 columns"):
        Table("t", "T", ("one",)).add(1, 2)


def test_interleaved_alternates_the_order_of_methods():
    calls = []
    interleaved({name: lambda i, name=name: calls.append((i, name)) for name in "ab"}, rounds=2)
    assert calls == [(0, "a"), (0, "b"), (1, "b"), (1, "a")]


def test_sentence_generator_is_determined_by_the_seed():
    assert SentenceGenerator(7).sentences(50) == SentenceGenerator(7).sentences(50)
    assert SentenceGenerator(7).sentences(50) != SentenceGenerator(8).sentences(50)


def test_sentence_generator_queries_use_words_of_one_memory():
    writer = SentenceGenerator()
    memories = writer.sentences(20)
    asked = [set(query.split()) for query in writer.queries(memories, 10)]
    assert all(any(words <= set(memory.split()) for memory in memories) for words in asked)


def test_prepared_embedder_returns_the_vectors_of_the_hashing_embedder():
    embedder = PreparedEmbedder()
    vectors = embedder.prepare(["a dog barks", "the bill is due"])
    assert (embedder.embed(["the bill is due"])[0] == vectors[1]).all()


def test_quick_plan_leaves_out_large_sizes():
    assert quick_plan(SpeedPlan()).sizes == (1_000, 10_000)
