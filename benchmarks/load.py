"""Load benchmark: many clients against real servers, and a check for lost writes."""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields
from itertools import chain
from pathlib import Path

from rich.console import Console

import commonplace
from benchmarks.fixtures import Database, SentenceGenerator, available_databases
from benchmarks.judgement.truth import write_between_markers
from benchmarks.load_servers import (
    ClientLog,
    LoadClients,
    LoadPlan,
    LoadSetup,
    LoadUser,
    ServerProcesses,
    setups_of,
)
from benchmarks.measure import Timing
from benchmarks.report import Report, Table
from benchmarks.speed.run import machine_facts

COLUMNS = (
    "database",
    "set-up",
    "requests/s",
    "recall p50 ms",
    "recall p99 ms",
    "remember p50 ms",
    "remember p99 ms",
    "errors",
    "asked again",
    "writes acknowledged",
    "of them lost",
    "of them doubled",
)


def measure_load(
    database: Database, number: int, plan: LoadPlan, table: Table, say: Callable[[str], None]
) -> None:
    url = database.create(f"load_{number}")
    say(f"{database.name}: {plan.users:,} users with {plan.memories_each} memories each …")
    askers = fill_store(url, plan)
    database.settle(url)
    for setup in setups_of(database.name):
        say(f"{database.name}: {setup.name}, {plan.seconds:g} s …")
        seen = run_load(url, setup, plan, askers)
        lost, doubled = check_writes(url, plan, seen)
        table.add(database.name, setup.name, *load_numbers(plan, seen), lost, doubled)


def fill_store(url: str, plan: LoadPlan) -> list[LoadUser]:
    """Users with memories, and a key for each."""
    writer = SentenceGenerator()
    with commonplace.open(url, embedder=plan.embedder, tidy_on_open=False, worker="off") as book:
        askers = []
        for number in range(plan.users):
            user = book.user(f"user-{number}")
            sentences = writer.sentences(plan.memories_each)
            user.remember_many([{"content": each, "kind": "note"} for each in sentences])
            queries = writer.queries(sentences, plan.memories_each)
            askers.append(LoadUser(f"user-{number}", user.keys_create("load").token, queries))
    return askers


def run_load(
    url: str, setup: LoadSetup, plan: LoadPlan, askers: Sequence[LoadUser]
) -> list[ClientLog]:
    with ServerProcesses(setup, url, plan.embedder) as service:
        clients = LoadClients(plan, askers, service.ports, again=setup.is_killed)
        if not setup.is_killed:
            return clients.run()
        kill = threading.Timer(plan.seconds / 2, service.kill_and_restart)
        kill.start()
        try:
            return clients.run()
        finally:
            kill.join()


def check_writes(url: str, plan: LoadPlan, seen: Sequence[ClientLog]) -> tuple[int, int]:
    """How many acknowledged writes are not there, and how many are there more than once."""
    written: dict[str, list[str]] = {}
    for user_id, content in chain.from_iterable(each.acknowledged for each in seen):
        written.setdefault(user_id, []).append(content)
    lost = doubled = 0
    with commonplace.open(url, embedder=plan.embedder, tidy_on_open=False, worker="off") as book:
        for user_id, contents in written.items():
            times = _contents(book.user(user_id))
            lost += sum(times[content] == 0 for content in contents)
            doubled += sum(times[content] > 1 for content in contents)
    return lost, doubled


def _contents(user: commonplace.User) -> Counter[str]:
    found: Counter[str] = Counter()
    after: str | None = None
    while True:
        page = user.list(limit=1000, after=after)
        found.update(memory.content for memory in page.memories)
        if page.next is None:
            return found
        after = page.next


def load_numbers(plan: LoadPlan, seen: Sequence[ClientLog]) -> tuple[float | int | None, ...]:
    recalls = Timing(tuple(chain.from_iterable(each.recalls for each in seen)))
    writes = Timing(tuple(chain.from_iterable(each.writes for each in seen)))
    answered = len(recalls.seconds) + len(writes.seconds)
    return (
        answered / plan.seconds,
        *(_ms(timing, p) for timing in (recalls, writes) for p in (50, 99)),
        sum(len(each.errors) for each in seen),
        sum(each.asked_again for each in seen),
        sum(len(each.acknowledged) for each in seen),
    )


def _ms(timing: Timing, percentile: float) -> float | None:
    return timing.ms(percentile) if timing.seconds else None


PAGE = Path("docs/service-load.md")
_MACHINE_FACTS = ("processor", "system", "Python", "SQLite", "PostgreSQL")  # of the machine
_SMOKE = {"users": 50, "clients": 10, "seconds": 5.0}


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    given = {each.name: getattr(asked, each.name) for each in fields(LoadPlan)}
    plan = LoadPlan(**{**given, **(_SMOKE if asked.smoke else {})})
    console = Console(width=None if sys.stdout.isatty() else 160)
    notices = Console(stderr=True)
    table = Table("load", _title(plan), COLUMNS)
    with (
        tempfile.TemporaryDirectory(prefix="cp-load-", dir=asked.folder) as folder,
        available_databases(Path(folder)) as found,
    ):
        for number, database in enumerate(found):
            if asked.only in (None, database.name.lower()):
                measure_load(database, number, plan, table, notices.print)
        about = machine_facts(found)
        table.notes += [f"{name}: {about[name]}" for name in _MACHINE_FACTS if name in about]
    Report(machine={}, tables=[table]).print(console)
    if asked.write:
        write_between_markers(asked.write, [table])


def _title(plan: LoadPlan) -> str:
    return (
        f"{plan.clients} clients, {plan.users:,} users with {plan.memories_each} memories each, "
        f"{1 - plan.share_of_writes:.0%} recall and {plan.share_of_writes:.0%} remember, "
        f"{plan.seconds:g} s, embedder {plan.embedder}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks load", description=__doc__)
    for each in fields(LoadPlan):
        kind = type(each.default)
        option = f"--{each.name.replace('_', '-')}"
        parser.add_argument(option, type=kind, default=each.default, help="(%(default)s)")
    parser.add_argument(
        "--only", choices=("sqlite", "postgresql"), help="measure one database only"
    )
    parser.add_argument(
        "--smoke", action="store_true", help="short run: a few users, clients and seconds"
    )
    parser.add_argument("--folder", metavar="DIR", help="folder of the SQLite file")
    parser.add_argument(
        "--write",
        type=Path,
        nargs="?",
        const=PAGE,
        metavar="PAGE",
        help=f"write the report ({PAGE})",
    )
    return parser
