"""One load on one store: filled, asked by many, and looked at afterwards."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

import commonplace
from commonplace.bench.data import Writer
from commonplace.bench.databases import Database
from commonplace.bench.load.clients import Asker, Clients, Seen
from commonplace.bench.load.plan import Plan, Setup, setups_of
from commonplace.bench.load.servers import Service
from commonplace.bench.measure import Timing
from commonplace.bench.report import Table

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


def measure(
    database: Database, number: int, plan: Plan, table: Table, say: Callable[[str], None]
) -> None:
    url = database.create(f"load_{number}")
    say(f"{database.name}: {plan.users:,} users with {plan.memories_each} memories each …")
    askers = fill(url, plan)
    database.settle(url)
    for setup in setups_of(database.name):
        say(f"{database.name}: {setup.name}, {plan.seconds:g} s …")
        seen = load(url, setup, plan, askers)
        lost, doubled = look_for(url, plan, seen)
        table.add(database.name, setup.name, *numbers(plan, seen), lost, doubled)


def fill(url: str, plan: Plan) -> list[Asker]:
    """Users with memories, and a key for each."""
    writer = Writer()
    with commonplace.open(url, embedder=plan.embedder, tidy_on_open=False, worker="off") as book:
        askers = []
        for number in range(plan.users):
            user = book.user(f"user-{number}")
            sentences = writer.sentences(plan.memories_each)
            user.remember_many([{"content": each, "kind": "note"} for each in sentences])
            queries = writer.queries(sentences, plan.memories_each)
            askers.append(Asker(f"user-{number}", user.keys_create("load").token, queries))
    return askers


def load(url: str, setup: Setup, plan: Plan, askers: Sequence[Asker]) -> list[Seen]:
    with Service(setup, url, plan.embedder) as service:
        clients = Clients(plan, askers, service.ports, again=setup.is_killed)
        if not setup.is_killed:
            return clients.run()
        kill = threading.Timer(plan.seconds / 2, service.kill_and_restart)
        kill.start()
        try:
            return clients.run()
        finally:
            kill.join()


def look_for(url: str, plan: Plan, seen: Sequence[Seen]) -> tuple[int, int]:
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


def numbers(plan: Plan, seen: Sequence[Seen]) -> tuple[float | int | None, ...]:
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
