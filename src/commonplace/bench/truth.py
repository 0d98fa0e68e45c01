"""How often the engine judges rightly: every labelled pair and statement through `remember`.

Four promises are counted. Of the pairs whose only accepted relation is *changed*, how many ask or
supersede; of those that do not accept it, how many ask or supersede all the same; of those about
different things, how many are related more closely than accepted; and of those that differ, how
many are taken as the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import commonplace
from commonplace.bench.labels import APART, CHANGED, SAME, Pair, Statement
from commonplace.bench.report import Cell, Table, Target
from commonplace.book import Commonplace
from commonplace.language.models.embedder import Embedder

RELATIONS = ("repeat", "rewording", "changed", "near", "new")
ALL = "all"

LEAST_CHANGED = 95.0  # per cent, as all of these
MOST_FALSE = 1.0
MOST_RELATED = 2.0
MOST_SAME = 0.0

_T = TypeVar("_T")
_START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair, and what the engine made of it."""

    pair: Pair
    relation: str
    action: str

    @property
    def accepted(self) -> bool:
        return self.relation in self.pair.expect

    @property
    def acts_on_change(self) -> bool:
        return self.relation == CHANGED and self.action in ("superseded", "pending")

    @property
    def falsely_replaces(self) -> bool:
        """A person is asked about no change, or something true is superseded by something else.
        A newer wording of the same may supersede."""
        if self.action == "pending":
            return CHANGED not in self.pair.expect
        return self.action == "superseded" and self.pair.expect.isdisjoint({*SAME, CHANGED})

    @property
    def taken_as_same(self) -> bool:
        return self.pair.must_differ and self.relation in SAME


@dataclass(frozen=True, slots=True)
class Classified:
    """A statement, and what the engine filed it as."""

    statement: Statement
    kind: str
    fields_right: bool
    category: str

    @property
    def kind_right(self) -> bool:
        return self.kind == self.statement.kind

    @property
    def right(self) -> bool:
        wanted = self.statement.category
        return self.kind_right and self.fields_right and wanted in (None, self.category)


# ——— through the engine ———


class _Clock:
    """Goes on when it is told to."""

    def __init__(self) -> None:
        self.now = _START

    def __call__(self) -> datetime:
        return self.now

    def next_day(self) -> None:
        self.now += timedelta(days=1)


def judge(pairs: Sequence[Pair], embedder: Embedder) -> list[Judged]:
    """Each pair to a user of its own: the old item, and a day later the new one."""
    clock = _Clock()
    with _book(embedder, clock) as book:
        return [_judge(book, pair, clock) for pair in pairs]


def _judge(book: Commonplace, pair: Pair, clock: _Clock) -> Judged:
    me = book.user(pair.id)
    me.remember(**pair.old)
    clock.next_day()
    answer = me.remember(**pair.new)
    return Judged(pair, str(answer.relation), str(answer.action))


def classify(statements: Sequence[Statement], embedder: Embedder) -> list[Classified]:
    clock = _Clock()
    with _book(embedder, clock) as book:
        return [_classify(book, statement) for statement in statements]


def _classify(book: Commonplace, statement: Statement) -> Classified:
    memory = book.user(statement.id).remember(statement.text).memory
    right = statement.fields_right(memory.metadata)
    return Classified(statement, str(memory.kind), right, memory.category)


def _book(embedder: Embedder, clock: _Clock) -> Commonplace:
    return commonplace.open(":memory:", embedder=embedder, clock=clock)


# ——— counting ———


@dataclass(frozen=True, slots=True)
class Promises:
    """Per cent; None where no pair could tell."""

    changed: float | None
    false: float | None
    related: float | None
    same: float | None


def promises(judged: Sequence[Judged]) -> Promises:
    return Promises(
        changed=_percent([j.acts_on_change for j in judged if j.pair.must_change]),
        false=_percent([j.falsely_replaces for j in judged if CHANGED not in j.pair.expect]),
        related=_percent([not j.accepted for j in judged if j.pair.case in APART]),
        same=_percent([j.taken_as_same for j in judged if j.pair.must_differ]),
    )


def targets(judged: Sequence[Judged], where: str) -> list[Target]:
    kept = promises(judged)
    missed = None if kept.changed is None else 100 - kept.changed
    return [
        Target(
            f"{where}: changed values neither asked nor superseded, %", 100 - LEAST_CHANGED, missed
        ),
        Target(f"{where}: falsely asked or superseded, %", MOST_FALSE, kept.false),
        Target(f"{where}: unrelated pairs related, %", MOST_RELATED, kept.related),
        Target(f"{where}: differing taken as the same, %", MOST_SAME, kept.same),
    ]


def _percent(hits: Sequence[bool]) -> float | None:
    return 100 * sum(hits) / len(hits) if hits else None


# ——— tables ———


def confusion(judged: Sequence[Judged], embedder: str, half: str) -> Table:
    """What each case was taken for."""
    table = Table(
        f"confusion {embedder} {half}",
        f"Relations with {embedder}, {half} half",
        ("case", "pairs", *RELATIONS, "accepted %"),
    )
    for case, members in _grouped(judged, lambda j: j.pair.case):
        found = Counter(j.relation for j in members)
        counts: list[Cell] = [found[relation] for relation in RELATIONS]
        table.add(case, len(members), *counts, _percent([j.accepted for j in members]))
    return table


def by_language(judged: Sequence[Judged], embedder: str, half: str) -> Table:
    table = Table(
        f"promises {embedder} {half}",
        f"Promises with {embedder}, {half} half, %",
        ("language", "pairs", "accepted", "changed acted on", "false", "related", "same"),
        notes=[
            f"Wanted over all: changed values that ask or supersede ≥ {LEAST_CHANGED:.0f}; false "
            f"questions and supersedings ≤ {MOST_FALSE:.0f}; unrelated pairs related ≤ "
            f"{MOST_RELATED:.0f}; differing ones taken as the same {MOST_SAME:.0f}.",
        ],
    )
    for language, members in _grouped(judged, lambda j: j.pair.language):
        kept = promises(members)
        accepted = _percent([j.accepted for j in members])
        cells = (kept.changed, kept.false, kept.related, kept.same)
        table.add(language, len(members), accepted, *cells)
    return table


def classification(classified: Sequence[Classified], half: str) -> Table:
    table = Table(
        f"classification {half}",
        f"Classification without a given kind, {half} half",
        ("language", "wanted", "statements", "kind right %", "kind and fields right %"),
    )
    for language, members in _grouped(classified, lambda c: c.statement.language):
        for kind, few in _grouped(members, lambda c: c.statement.kind):
            right = _percent([c.right for c in few])
            table.add(language, kind, len(few), _percent([c.kind_right for c in few]), right)
    return table


def _grouped(items: Sequence[_T], key: Callable[[_T], str]) -> list[tuple[str, list[_T]]]:
    """In the order of their first appearance, and all of them together at the end."""
    names = dict.fromkeys(map(key, items))
    groups = [(name, [item for item in items if key(item) == name]) for name in names]
    return [*groups, (ALL, list(items))]
