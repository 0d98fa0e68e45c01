"""Truth benchmark: labelled pairs and statements through remember.

Four promises are counted. Of the pairs whose only accepted relation is *changed*, how many ask or
supersede; of those that do not accept it, how many ask or supersede all the same; of those about
different things, how many are related more closely than accepted; and of those that differ, how
many are taken as the same.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.markup import escape

import commonplace
from benchmarks.judgement.labels import (
    CHANGED,
    DIFFERENT_SUBJECTS,
    HALVES,
    OPEN,
    SAME,
    SEALED,
    LabelledPair,
    LabelledStatement,
    labelled_parser,
    read_pairs,
    read_statements,
)
from benchmarks.report import Cell, Report, Table, Target, as_markdown
from commonplace.api import Commonplace, make_embedder
from commonplace.errors import BadSettings
from commonplace.language.embedders.embedder import Embedder

RELATIONS = ("repeat", "rewording", "changed", "near", "new")
ALL = "all"

LEAST_CHANGED = 95.0  # per cent, as all of these
MOST_FALSE = 1.0
MOST_RELATED = 2.0
MOST_SAME = 0.0

_T = TypeVar("_T")
_START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair, and what the engine made of it."""

    pair: LabelledPair
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
class ClassifiedStatement:
    """A statement, and what the engine filed it as."""

    statement: LabelledStatement
    kind: str
    fields_right: bool
    category: str

    @property
    def kind_right(self) -> bool:
        return self.kind in self.statement.kinds

    @property
    def category_right(self) -> bool:
        return not self.statement.categories or self.category in self.statement.categories

    @property
    def right(self) -> bool:
        return self.kind_right and self.fields_right and self.category_right


# ——— through the engine ———


class _SteppedClock:
    """Goes on when it is told to."""

    def __init__(self) -> None:
        self.now = _START

    def __call__(self) -> datetime:
        return self.now

    def next_day(self) -> None:
        self.now += timedelta(days=1)


def judge_pairs(pairs: Sequence[LabelledPair], embedder: Embedder) -> list[JudgedPair]:
    """Each pair to a user of its own: the old item, and a day later the new one."""
    clock = _SteppedClock()
    with _open_store(embedder, clock) as book:
        return [_judge(book, pair, clock) for pair in pairs]


def _judge(book: Commonplace, pair: LabelledPair, clock: _SteppedClock) -> JudgedPair:
    me = book.user(pair.id)
    me.remember(**pair.old)
    clock.next_day()
    answer = me.remember(**pair.new)
    return JudgedPair(pair, str(answer.relation), str(answer.action))


def classify_statements(
    statements: Sequence[LabelledStatement], embedder: Embedder
) -> list[ClassifiedStatement]:
    clock = _SteppedClock()
    with _open_store(embedder, clock) as book:
        return [_classify(book, statement) for statement in statements]


def _classify(book: Commonplace, statement: LabelledStatement) -> ClassifiedStatement:
    memory = book.user(statement.id).remember(statement.text).memory
    right = statement.fields_right(memory.metadata)
    return ClassifiedStatement(statement, str(memory.kind), right, memory.category)


def _open_store(embedder: Embedder, clock: _SteppedClock) -> Commonplace:
    return commonplace.open(":memory:", embedder=embedder, clock=clock)


# ——— counting ———


@dataclass(frozen=True, slots=True)
class TruthRates:
    """Per cent; None where no pair could tell."""

    changed: float | None
    false: float | None
    related: float | None
    same: float | None


def truth_rates(judged: Sequence[JudgedPair]) -> TruthRates:
    return TruthRates(
        changed=_percent([j.acts_on_change for j in judged if j.pair.must_change]),
        false=_percent([j.falsely_replaces for j in judged if CHANGED not in j.pair.expect]),
        related=_percent([not j.accepted for j in judged if j.pair.case in DIFFERENT_SUBJECTS]),
        same=_percent([j.taken_as_same for j in judged if j.pair.must_differ]),
    )


def targets(judged: Sequence[JudgedPair], where: str) -> list[Target]:
    kept = truth_rates(judged)
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


def confusion_table(judged: Sequence[JudgedPair], embedder: str, half: str) -> Table:
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


def by_language(judged: Sequence[JudgedPair], embedder: str, half: str) -> Table:
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
        kept = truth_rates(members)
        accepted = _percent([j.accepted for j in members])
        cells = (kept.changed, kept.false, kept.related, kept.same)
        table.add(language, len(members), accepted, *cells)
    return table


def classification_table(classified: Sequence[ClassifiedStatement], half: str) -> Table:
    table = Table(
        f"classification {half}",
        f"Classification without a given kind, {half} half",
        ("language", "wanted", "statements", "kind right %", "kind and fields right %"),
    )
    for language, members in _grouped(classified, lambda c: c.statement.language):
        for kind, few in _grouped(members, lambda c: c.statement.wanted):
            right = _percent([c.right for c in few])
            table.add(language, kind, len(few), _percent([c.kind_right for c in few]), right)
    return table


def everyday_table(classified: Sequence[ClassifiedStatement], half: str) -> Table:
    """Kinds by the wanted kind, categories by the wanted category."""
    table = Table(
        f"everyday {half}",
        f"Everyday statements without a given kind, {half} half",
        ("language", "wanted", "statements", "kind right %", "category right %"),
    )
    for language, members in _grouped(classified, lambda c: c.statement.language):
        for wanted, few in _grouped(members, _wanted_both):
            categories = [c.category_right for c in few if c.statement.categories]
            kinds = [c.kind_right for c in few]
            table.add(language, wanted, len(few), _percent(kinds), _percent(categories))
    return table


def _wanted_both(classified: ClassifiedStatement) -> str:
    statement = classified.statement
    return ", ".join((statement.wanted, *statement.categories[:1]))


def _grouped(items: Sequence[_T], key: Callable[[_T], str]) -> list[tuple[str, list[_T]]]:
    """In the order of their first appearance, and all of them together at the end."""
    names = dict.fromkeys(map(key, items))
    groups = [(name, [item for item in items if key(item) == name]) for name in names]
    return [*groups, (ALL, list(items))]


EMBEDDERS = ("wordllama", "hashing", "minilm")  # those that are installed are measured
BEGIN, END = "<!-- truth: begin -->", "<!-- truth: end -->"
PAGE = Path("docs/truth.md")


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    if asked.show and asked.half == SEALED:
        sys.exit("The sealed half shows no items: rules are tuned on the open one.")
    console = Console(width=None if sys.stdout.isatty() else 120)
    halves = (asked.half,) if asked.half else HALVES
    models = _available_embedders(asked.embedder or EMBEDDERS, Console(stderr=True))
    report = Report(machine={})
    for half in halves:
        _measure_half(half, models, asked.data, report, console if asked.show else None)
    report.print(console)
    if asked.write:
        write_between_markers(asked.write, report.tables)


def _measure_half(
    half: str, models: Sequence[Embedder], data: Path, report: Report, show: Console | None
) -> None:
    pairs, statements = read_pairs(data, half), read_statements(data, half)
    showing = show if half == OPEN else None
    for model in models:
        judged = judge_pairs(pairs, model)
        report.tables += [
            by_language(judged, model.name, half),
            confusion_table(judged, model.name, half),
        ]
        report.targets += targets(judged, f"{model.name}, {half} half")
        if showing:
            _print(showing, [f"With {model.name}:", *_wrong_pairs(judged)])
    classified = classify_statements(statements, models[0])
    everyday = classify_statements(read_statements(data, half, "everyday"), models[0])
    report.tables += [classification_table(classified, half), everyday_table(everyday, half)]
    if showing:
        _print(showing, ["Statements:", *_wrong_statements([*classified, *everyday])])


def _available_embedders(names: Sequence[str], notices: Console) -> list[Embedder]:
    models = []
    for name in names:
        try:
            models.append(make_embedder(name))
        except BadSettings as error:
            notices.print(f"{name} is left out: {error}")
    if not models:
        sys.exit("None of these embedders can be used here.")
    return models


def _wrong_pairs(judged: Sequence[JudgedPair]) -> Iterator[str]:
    for each in judged:
        if not each.accepted or each.falsely_replaces:
            pair, wanted = each.pair, " or ".join(sorted(each.pair.expect))
            yield f"{pair.id} ({pair.kind}): {each.relation}, {each.action}; wanted {wanted}"
            yield f"    {dict(pair.old)}"
            yield f"    {dict(pair.new)}"


def _wrong_statements(classified: Sequence[ClassifiedStatement]) -> Iterator[str]:
    for each in classified:
        if not each.right:
            wanted = each.statement
            kinds, categories = " or ".join(wanted.kinds), " or ".join(wanted.categories)
            yield f"{wanted.id}: {each.kind}, {each.category}; wanted {kinds}, {categories}"
            yield f"    {wanted.text} {dict(wanted.fields) or ''}"


def _print(console: Console, lines: Sequence[str]) -> None:
    for line in lines:
        console.print(escape(line), highlight=False, soft_wrap=True)


def write_between_markers(page: Path, tables: Sequence[Table]) -> None:
    """The rest of the page is written by hand."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        sys.exit(f"{page} has no place for the tables, between {BEGIN} and {END}.")
    written = "\n\n".join(as_markdown(table) for table in tables)
    page.write_text(f"{before}{BEGIN}\n\n{written}\n\n{END}{after}", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = labelled_parser("truth", __doc__, PAGE)
    parser.add_argument("--embedder", action="append", metavar="NAME", help="may be repeated")
    return parser
