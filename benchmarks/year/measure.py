"""What a memory holds at the end of a month, and how many of the planted questions it answers."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from benchmarks.duplicates import duplicates
from benchmarks.judgement.everyday import BUDGET, TOP, has_part, is_answered
from benchmarks.nights import memories_of
from benchmarks.report import Table
from benchmarks.year.generate import DAYS, GeneratedYear, PlantedQuestion, YearDay
from benchmarks.year.play import AGENT, Night, PlayedYear, begin
from commonplace.api import User
from commonplace.engine.graph.visible_graph import visible_graph
from commonplace.language.embedders.embedder import Embedder
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.salience import current_salience
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.journal import Event
from commonplace.model.memory.memory import State
from commonplace.model.sources.source import Source
from commonplace.store.queries import JournalQuery

_MB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class YearMonth:
    """The last day of a month, or of what was played."""

    day: date
    live: int
    superseded: int
    forgotten: int  # hidden, and purged after 30 days
    purged: int  # since the beginning
    nodes: int
    archived: int  # nodes, edges and sources
    storylines: int
    macros: int
    duplicates: int
    asked: int
    found: Counter[str] = field(default_factory=Counter)  # top, context, stale
    disk_bytes: int = 0
    seconds_of_nights: tuple[float, ...] = ()

    def share(self, what: str) -> float:
        return self.found[what] / self.asked if self.asked else 0.0


def play_months(
    year: GeneratedYear,
    days: int,
    embedder: str | Embedder,
    night: Night,
    step: Callable[[str], object] = lambda text: None,
) -> list[YearMonth]:
    """Ends of months, and the last day that is played."""
    months: list[YearMonth] = []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        played = begin(Path(folder), year, embedder)
        seconds: list[float] = []
        for day in year.days(days):
            seconds.append(played.play(day, night))
            if day.ends_month or day.number == min(days, DAYS) - 1:
                months.append(measure_month(played, day, tuple(seconds), Path(other)))
                step(f"{day.date:%B}: {months[-1].live} live memories")
                seconds = []
        played.book.close()
    return months


def measure_month(
    played: PlayedYear, day: YearDay, seconds: tuple[float, ...], folder: Path
) -> YearMonth:
    with played.copy(folder) as copy:
        me, engine = copy.me, copy.book._engine
        graph = visible_graph(engine, me.principal, whole=True, silent=True).snapshot
        live = memories_of(copy.book, me)
        asked = [each for each in played.year.questions if each.answer_on(day.number)]
        return YearMonth(
            day=day.date,
            live=len(live),
            superseded=len(memories_of(copy.book, me, State.SUPERSEDED)),
            forgotten=len(memories_of(copy.book, me, State.SOFT_DELETED)),
            purged=_count_purged(copy),
            nodes=len(graph.nodes),
            archived=_count_archived(graph, copy),
            storylines=len(graph.storylines),
            macros=len(graph.macros),
            duplicates=len(duplicates(live)),
            asked=len(asked),
            found=_ask_all(me.agent(AGENT), asked, day.number),
            disk_bytes=copy.disk_bytes,
            seconds_of_nights=seconds,
        )


def _count_purged(played: PlayedYear) -> int:
    rows = played.book._engine.store.journal(
        played.me.principal.own_scope, JournalQuery(events_only=True)
    )
    return sum(
        row.entry.event in (Event.TTL, Event.DELETE) and row.entry.new_ref is None for row in rows
    )


def _count_archived(graph: GraphSnapshot, played: PlayedYear) -> int:
    items: list[Node | Edge | Source] = [
        *graph.nodes.values(),
        *graph.edges.values(),
        *graph.sources.values(),
    ]
    return sum(
        graph.marks_of(each.id).archived_at is not None
        or current_salience(each, graph.marks_of(each.id), played.clock.now).is_archived
        for each in items
    )


def _ask_all(agent: User, questions: Sequence[PlantedQuestion], day: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for question in questions:
        answer = question.answer_on(day) or ""
        items = agent.query(question.ask, top_k=TOP, thread=f"top {question.id}").items
        texts = [item.text for item in items]
        context = agent.context(
            question.ask, thread=f"context {question.id}", budget_tokens=BUDGET
        ).text
        is_found = is_answered("\n".join(texts), [[answer]])
        found["top"] += is_found
        found[question.kind] += is_found
        found[f"asked {question.kind}"] += 1
        found["context"] += is_answered(context, [[answer]])
        found["stale"] += _has_stale_first(texts, answer, question.former_on(day))
    return found


def _has_stale_first(texts: Sequence[str], answer: str, former: Sequence[str]) -> bool:
    """Whether a former value stands before the answer, or in its place."""
    for text in texts:
        if has_part(text, answer):
            return False
        if any(has_part(text, each) for each in former):
            return True
    return False


def table_of(months: Sequence[YearMonth], title: str) -> Table:
    table = Table(
        "year",
        title,
        (
            "until",
            "live",
            "superseded",
            "forgotten",
            "purged",
            "nodes",
            "archived",
            "storylines",
            "macros",
            "duplicates",
            "asked",
            "top 3 %",
            "context %",
            "stale first %",
            "MB",
            "s a night",
        ),
        notes=[
            "Of a copy, in the last night of the month. Archived: nodes, edges and sources.",
            "Duplicates: live memories that say what an earlier one says.",
            "Asked: planted questions whose answer was told. Stale first: a former value stands "
            "before the answer.",
        ],
    )
    for each in months:
        nights = each.seconds_of_nights
        table.add(
            each.day.isoformat(),
            each.live,
            each.superseded,
            each.forgotten,
            each.purged,
            each.nodes,
            each.archived,
            each.storylines,
            each.macros,
            each.duplicates,
            each.asked,
            *(percent(each, what) for what in ("top", "context", "stale")),
            round(each.disk_bytes / _MB, 1),
            round(sum(nights) / len(nights), 3) if nights else None,
        )
    return table


def comparison_of(nights: Sequence[YearMonth], awake: Sequence[YearMonth], title: str) -> Table:
    """Month by month, with nights and without."""
    table = Table(
        "nights",
        title,
        (
            "until",
            "live",
            "without",
            "duplicates",
            "without ",
            "storylines",
            "macros",
            "archived",
            "asked",
            "top 3 %",
            "without  ",
            "in a context %",
            "without   ",
        ),
        notes=["Without: the same year without nights, for the column before it."],
    )
    for each, other in zip(nights, awake, strict=True):
        table.add(
            each.day.isoformat(),
            each.live,
            other.live,
            each.duplicates,
            other.duplicates,
            each.storylines,
            each.macros,
            each.archived,
            each.asked,
            *(percent(month, what) for what in ("top", "context") for month in (each, other)),
        )
    return table


def percent(month: YearMonth, what: str) -> float:
    return round(100 * month.share(what), 1)
