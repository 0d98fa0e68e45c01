"""memory.query and why, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from commonplace.recall.query import Bullet, FullItem, Queried
from commonplace.recall.why import Asked, ReturnedThen, WhatWasAsked
from commonplace.surfaces.cli.draw import drawn, plain, several


@drawn.register
def _queried(answer: Queried) -> Any:
    lines: list[RenderableType] = []
    if answer.header:
        lines.append(Text(answer.header, "magenta"))
    if answer.degraded:
        lines.append(Text("Found by words alone: the embedder is down.", "yellow"))
    if answer.is_empty:
        lines.append(Text("Nothing relevant is remembered.", "yellow"))
    for place, item in enumerate(answer.items, 1):
        lines += _item(place, item)
    lines.append(Text(f"{several(len(answer.items), 'item')}, {answer.tokens} tokens", "dim"))
    return Group(*lines)


def _item(place: int, item: Bullet | FullItem) -> Iterator[RenderableType]:
    mark, _, text = item.text.partition("] ")
    yield Text.assemble((f"{place}. ", "bold"), (f"{mark}] ", "cyan"), text)
    if isinstance(item, FullItem):
        yield Text(f"   {item.kind} · {item.date:%Y-%m-%d}", "dim")
        for name, value in item.metadata.items():
            yield Text(f"   {name}: {plain(value)}", "dim")
    yield Text(f"   id {item.id}", "dim")


@drawn.register
def _what_was_asked(answer: WhatWasAsked) -> Any:
    lines: list[RenderableType] = [Text(f"{answer.thread}, turn {answer.turn}", "bold")]
    for asked in answer.asked:
        lines += _asked(asked)
    return Group(*lines)


def _asked(asked: Asked) -> Iterator[RenderableType]:
    who = asked.agent or "the owner"
    yield Text.assemble((f"{who} asked ", "dim"), asked.query, (f"  {asked.verb}", "dim"))
    if not asked.returned:
        yield Text("   Nothing came back.", "yellow")
    for place, hit in enumerate(asked.returned, 1):
        yield _returned(place, hit)
        yield Padding(Text(hit.why, "italic"), (0, 0, 0, 3), expand=False)
        yield Text(f"   id {hit.id}", "dim")


def _returned(place: int, hit: ReturnedThen) -> Text:
    gone = ("(not remembered any more)", "dim")
    return Text.assemble(
        (f"{place}. ", "bold"),
        (f"[{hit.category}] " if hit.category else "", "cyan"),
        hit.text or gone,
        (f"  {hit.score:.3f}", "dim"),
    )
