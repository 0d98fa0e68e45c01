"""One run: everything in turn, into one report."""

from __future__ import annotations

import os
import platform
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from commonplace.bench import installed, peers
from commonplace.bench.crowd import Crowd
from commonplace.bench.data import PreparedEmbedder, Writer
from commonplace.bench.databases import SQLITE, PostgresServer, SqliteFolder, databases
from commonplace.bench.plan import Plan
from commonplace.bench.prompting import Prompting
from commonplace.bench.recalling import WARM_UP, Recalling
from commonplace.bench.report import Cell, Report, Table, Target
from commonplace.bench.shelf import load
from commonplace.bench.talking import Talking
from commonplace.bench.writing import Writing

_PACKAGES = ("commonplace", "numpy", "psycopg", "chromadb", "langgraph-checkpoint-sqlite")


def run(plan: Plan, say: Callable[[str], object]) -> Report:
    with (
        tempfile.TemporaryDirectory(prefix="commonplace-bench-") as name,
        databases(Path(name)) as found,
    ):
        folder = Path(name)
        writer, embedder = Writer(), PreparedEmbedder()
        recalling = Recalling(plan, folder)
        writing = Writing(plan, folder, writer, embedder)
        prompting = Prompting(plan)
        for size in plan.sizes:
            say(f"{size:,} memories of one user …")
            _at_size(size, plan, found, writer, recalling, writing, prompting)
        talking = Talking(plan, folder)
        for size in plan.passages:
            say(f"{size:,} passages of one user's conversations …")
            talking.measure(found, size)
        say("counting waits for the disk …")
        writing.count_syncs(found)
        say(f"{plan.users:,} users with {plan.memories_each:,} memories each …")
        crowd = Crowd(plan, writer, embedder)
        crowd.measure(found)
        tables = [recalling.recall, prompting.table, talking.recall, talking.ingest, talking.append]
        tables += [writing.remember, writing.relations, writing.links]
        tables += [writing.syncs, crowd.table, recalling.weight, installed.measure(plan.imports)]
        return Report(machine(found), tables, _targets(tables))


def _at_size(
    size: int,
    plan: Plan,
    found: Sequence[SqliteFolder | PostgresServer],
    writer: Writer,
    recalling: Recalling,
    writing: Writing,
    prompting: Prompting,
) -> None:
    memories = writer.sentences(size)
    queries = writer.queries(memories, plan.recalls + WARM_UP)
    embedder = writing.embedder
    vectors, asked = embedder.prepare(memories), embedder.prepare(queries)
    shelves = [load(database, f"one_user_{size}", embedder, memories) for database in found]
    recalling.measure(shelves, memories, vectors, queries, asked)
    writing.measure(shelves, size)
    prompting.measure(shelves, size, queries)
    for shelf in shelves:
        shelf.book.close()
    embedder.forget()


# ——— what was wanted ———


def _targets(tables: Sequence[Table]) -> list[Target]:
    named = {table.name: table for table in tables}
    mine = f"commonplace on {SQLITE}"

    def recall(size: int, method: str, column: str) -> float | None:
        return _cell(named["recall"], column, memories=size, method=method)

    chroma = recall(10_000, peers.CHROMA, "p50 ms")
    at_10k = recall(10_000, mine, "p50 ms")
    return [
        Target(
            "Hybrid recall at 100,000 against the numpy scan", 2, recall(100_000, mine, "x numpy")
        ),
        Target(
            "Recall of passages at 100,000 against the numpy scan",
            4,
            _cell(named["passages"], "x numpy", passages=100_000, method=mine),
        ),
        Target(
            "Hybrid recall at 10,000 against chromadb's query by vector",
            1,
            at_10k / chroma if at_10k is not None and chroma is not None else None,
        ),
        Target(
            "fdatasync calls in a remember (checkpoints bring it a little over 1)",
            1.1,
            _cell(named["syncs"], "syncs each", database=SQLITE),
        ),
        Target(
            "Recall of one user among many against alone",
            1.3,
            _cell(named["crowd"], "x alone", database=SQLITE),
        ),
        Target(
            "p95 of what one link adds at 10,000, ms",
            2,
            _cell(named["links"], "p95 ms", memories=10_000, database=SQLITE),
        ),
        Target(
            "Remembering a fact at 10,000 with relations against without",
            2,
            _cell(named["relations"], "times", memories=10_000, database=SQLITE),
        ),
        Target(
            "A context at 10,000 against one recall",
            3,
            _cell(named["context"], "x recall", memories=10_000, database=SQLITE),
        ),
        Target("Recall at 10,000, p95 ms", 200, recall(10_000, mine, "p95 ms")),
        Target(
            "Remember at 10,000, p95 ms",
            150,
            _cell(named["remember"], "p95 ms", memories=10_000, method=mine),
        ),
    ]


def _cell(table: Table, column: str, **where: Cell) -> float | None:
    """The number in the first row that fits; None when there is none."""
    for row in table.rows:
        cells = dict(zip(table.columns, row, strict=True))
        if all(cells[name] == value for name, value in where.items()):
            value = cells[column]
            return value if isinstance(value, float) else None
    return None


# ——— where ———


def machine(found: Sequence[SqliteFolder | PostgresServer]) -> dict[str, str]:
    about = {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
    }
    about |= {s.name: s.version() for s in found if isinstance(s, PostgresServer)}
    for package in _PACKAGES:
        try:
            about[package] = version(package)
        except PackageNotFoundError:
            about[package] = "not installed"
    return about


def _processor() -> str:
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text().splitlines() if cpus.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
