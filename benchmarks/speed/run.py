"""One speed run: every measurement in turn, into one report with targets."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from pathlib import Path

from benchmarks.fixtures import (
    SQLITE,
    PostgresServer,
    PreparedEmbedder,
    SentenceGenerator,
    SqliteFolder,
    available_databases,
    load_store,
)
from benchmarks.measure import SpeedPlan
from benchmarks.report import Cell, Report, Table, Target
from benchmarks.speed import peers
from benchmarks.speed.conversations import ConversationBenchmark
from benchmarks.speed.recall import WARM_UP, ContextBenchmark, CrowdBenchmark, RecallBenchmark
from benchmarks.speed.remember import RememberBenchmark

_PACKAGES = ("commonplace", "numpy", "psycopg", "chromadb", "langgraph-checkpoint-sqlite")


def run_speed(plan: SpeedPlan, say: Callable[[str], object]) -> Report:
    with (
        tempfile.TemporaryDirectory(prefix="commonplace-bench-") as name,
        available_databases(Path(name)) as found,
    ):
        folder = Path(name)
        writer, embedder = SentenceGenerator(), PreparedEmbedder()
        recalling = RecallBenchmark(plan, folder)
        writing = RememberBenchmark(plan, folder, writer, embedder)
        prompting = ContextBenchmark(plan)
        for size in plan.sizes:
            say(f"{size:,} memories of one user …")
            _measure_size(size, plan, found, writer, recalling, writing, prompting)
        talking = ConversationBenchmark(plan, folder)
        for size in plan.passages:
            say(f"{size:,} passages of one user's conversations …")
            talking.measure(found, size)
        say("counting waits for the disk …")
        writing.count_syncs(found)
        say(f"{plan.users:,} users with {plan.memories_each:,} memories each …")
        crowd = CrowdBenchmark(plan, writer, embedder)
        crowd.measure(found)
        tables = [recalling.recall, prompting.table, talking.recall, talking.ingest, talking.append]
        tables += [writing.remember, writing.relations, writing.links]
        tables += [writing.syncs, crowd.table, recalling.weight, measure_install(plan.imports)]
        return Report(machine_facts(found), tables, _targets(tables))


def _measure_size(
    size: int,
    plan: SpeedPlan,
    found: Sequence[SqliteFolder | PostgresServer],
    writer: SentenceGenerator,
    recalling: RecallBenchmark,
    writing: RememberBenchmark,
    prompting: ContextBenchmark,
) -> None:
    memories = writer.sentences(size)
    queries = writer.queries(memories, plan.recalls + WARM_UP)
    embedder = writing.embedder
    vectors, asked = embedder.prepare(memories), embedder.prepare(queries)
    shelves = [load_store(database, f"one_user_{size}", embedder, memories) for database in found]
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


def machine_facts(found: Sequence[SqliteFolder | PostgresServer]) -> dict[str, str]:
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


_NAME = re.compile(r"[A-Za-z0-9._-]+")
_IMPORT = "import time; s = time.perf_counter(); import commonplace; print(time.perf_counter() - s)"


def measure_install(imports: int) -> Table:
    table = Table("install", "Install and import", ("what", "value", "unit"))
    base = _installed_with(["commonplace"])
    without = _installed_with(["commonplace"], leaving_out="wordllama")
    brought = base.keys() - without.keys()
    table.add("base install", _megabytes(base), "MB")
    table.add("of it numpy", _megabytes({"numpy": base["numpy"]}), "MB")
    table.add("of it wordllama itself", _megabytes({"wordllama": base["wordllama"]}), "MB")
    table.add(
        "of it what only wordllama brings, itself included",
        _megabytes({name: base[name] for name in brought}),
        "MB",
    )
    table.add("import commonplace", statistics.median(_import_ms() for _ in range(imports)), "ms")
    table.notes.append(f"Base install: {', '.join(sorted(base))}.")
    table.notes.append(f"Import: fresh processes, median of {imports}.")
    return table


def _installed_with(roots: list[str], leaving_out: str = "") -> dict[str, Distribution]:
    """The distributions that a plain install brings, from what is installed here."""
    found: dict[str, Distribution] = {}
    waiting = list(roots)
    while waiting:
        name = _canonical(waiting.pop())
        if name in found or name == leaving_out:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # needed only on other systems
        plain = (r for r in found[name].requires or [] if "extra ==" not in r)
        waiting += [match[0] for r in plain if (match := _NAME.match(r))]
    return found


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _megabytes(distributions: dict[str, Distribution]) -> float:
    files = (
        Path(str(file.locate())) for each in distributions.values() for file in each.files or []
    )
    sizes = (path.stat().st_size for path in files if path.is_file() and path.suffix != ".pyc")
    return sum(sizes) / 1e6


def _import_ms() -> float:
    ran = subprocess.run(
        [sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True, timeout=120
    )
    return float(ran.stdout) * 1000
