"""Sources on a terminal: what became of an original, a page of them, one with its passages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from commonplace.ingest.ingest import Ingested
from commonplace.ingest.original import Outcome
from commonplace.model.delta import shorten
from commonplace.model.source import Passage, Source
from commonplace.model.ttl_policy import TtlPolicy
from commonplace.recall.look_up_sources import ShownSource, SourcePage
from commonplace.surfaces.cli.draw import drawn, id_line, plain, several

_OUTCOMES = {
    Outcome.RECEIVED: ("✓ ingested", "green"),
    Outcome.APPENDED: ("✓ added to", "green"),
    Outcome.REPLACED: ("↑ read anew", "green"),
    Outcome.UPDATED: ("↑ updated", "green"),
    Outcome.UNCHANGED: ("✓ known already", "green"),
    Outcome.FORGOTTEN: ("− was forgotten, and stays so", "yellow"),
}


@drawn.register
def _ingested(answer: Ingested) -> Any:
    word, colour = _OUTCOMES[answer.action]
    lines = [
        Text.assemble((f"{word} ", f"bold {colour}"), _name(answer.source)),
        Text(f"  {' · '.join(_particulars(answer.source))}", "dim"),
    ]
    if answer.source.summary:
        lines.append(Text(f"  {answer.source.summary}", "italic"))
    if answer.failure:
        lines.append(Text(f"  ! it waits to be tried again: {answer.failure.told}", "yellow"))
    elif answer.action is Outcome.FORGOTTEN:
        lines.append(Text(f"  to have it back: restore {answer.id}", "yellow"))
    elif not answer.is_processed:
        lines.append(Text("  it waits to be processed", "yellow"))
    return Group(*lines, id_line(answer.id))


@drawn.register
def _page(answer: SourcePage) -> Any:
    if not answer.sources:
        return Text("There are no sources here.", "yellow")
    lines: list[Any] = []
    for source in answer.sources:
        lines.append(Text.assemble((f"[{source.source_type}] ", "cyan"), _name(source)))
        lines.append(Text(f"  {' · '.join(_particulars(source))}", "dim"))
        lines.append(id_line(source.id))
    if answer.next is not None:
        lines.append(Text(f"more: --after {answer.next}", "dim"))
    return Group(*lines)


@drawn.register
def _shown(answer: ShownSource) -> Any:
    source = answer.source
    table = Table(box=None, show_header=False, padding=(0, 1))
    for name, value in _fields(source):
        table.add_row(Text(name, "bold"), Text(plain(value)))
    said = [_passage(passage) for passage in answer.passages]
    heading = Text.assemble((f"{_name(source)}\n", "bold"), source.summary)
    return Group(Panel(heading), table, *said)


def _name(source: Source) -> str:
    return shorten(source.title or source.summary or source.alias)


def _particulars(source: Source) -> Iterator[str]:
    yield str(source.source_type)
    if source.started_at:
        yield f"{source.started_at:%Y-%m-%d}"
    if others := [name for name in source.participants if name != source.user_id]:
        yield shorten(", ".join(others))
    yield several(source.passages, "passage")


def _fields(source: Source) -> Iterator[tuple[str, Any]]:
    told = {
        "id": source.id,
        "name": source.alias,
        "type": f"{source.source_type}, {source.content_type}",
        "for": source.context_type,
        "status": source.status,
        "began": f"{source.started_at:%Y-%m-%d %H:%M}" if source.started_at else None,
        "ended": f"{source.ended_at:%Y-%m-%d %H:%M}" if source.ended_at else None,
        "participants": ", ".join(source.participants),
        "keywords": ", ".join(source.keywords),
        "tags": ", ".join(source.tags),
        "thread": source.thread_id,
        "sensitivity": source.sensitivity,
        "kept": None if source.ttl_policy is TtlPolicy.DECAY else source.ttl_policy,
    }
    return ((name, str(value)) for name, value in told.items() if value)


def _passage(passage: Passage) -> Text:
    mark = ("! ", "bold yellow") if passage.suspicious else ""
    who = (f"{passage.speaker}: " if passage.speaker else "", "cyan")
    at = (f"{passage.at:%Y-%m-%d %H:%M}  ", "dim")
    return Text.assemble((f"#{passage.number:<4}", "dim"), at, mark, who, passage.text)
