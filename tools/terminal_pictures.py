"""The pictures in README and docs: real answers, drawn as a terminal shows them."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console
from rich.text import Text

import commonplace
from commonplace.engine.memories.inbox import Side
from commonplace.surfaces.cli.month import QUESTIONS, ingest_the_month, opened
from commonplace.surfaces.cli.render import drawn

_REMEMBERED = (
    "The spare keys are in the blue drawer",
    "Dana from the bank called about the mortgage; she wants the signed form by Thursday",
    "I prefer oat milk in my coffee",
    "The garage door opener needs two AAA batteries",
)
_WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.S)
_QUERY = "where did I put the spare keys?"
_MOMENT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_ID = "6f1c2b7e-3c1d-4a53-9d0f-{:012x}"  # ids are random, and a picture stays as it is


def recall_picture() -> str:
    """SVG of one command and its answer."""
    with commonplace.open(":memory:", clock=lambda: _MOMENT) as book:
        me = book.user("ana")
        me.remember_many([{"content": text} for text in _REMEMBERED])
        answer = me.recall(_QUERY, k=1, explain=True)
    named = [replace(hit, id=_ID.format(place)) for place, hit in enumerate(answer.hits)]
    told = replace(answer, hits=tuple(named))
    return _drawn_as_svg(f'$ commonplace recall "{_QUERY}" --explain', told)


def passages_picture() -> str:
    """What was said weeks ago, and why it is the answer."""
    question = QUESTIONS[0].query
    with opened() as book:
        me = book.user("ana")
        list(ingest_the_month(me))
        answer = me.recall(question, k=2, explain=True)
    source = f"source:{_ID.format(0)}"
    named = [replace(hit, id=f"{source}#{hit.id.partition('#')[2]}") for hit in answer.hits]
    told = replace(answer, hits=tuple(named))
    return _drawn_as_svg(f'$ commonplace recall "{question}" --k 2 --explain', told)


def conflicts_picture() -> str:
    """The inbox: two values of one thing, side by side."""
    moments = iter(_MOMENT + timedelta(days=day) for day in range(1000))
    with commonplace.open(":memory:", clock=lambda: next(moments)) as book:
        me = book.user("ana")
        me.remember("Dana Levi, dentist, 03-555-0142", kind="contact", evidence=["her card"])
        helper = me.agent("helper")
        helper.remember("Dana Levi, dentist, 03-555-0199", kind="contact", source_id="mail:812")
        (question,) = me.conflicts()
    told = replace(
        question,
        id=_ID.format(0),
        standing=_renamed(question.standing, 1),
        held=_renamed(question.held, 2),
    )
    return _drawn_as_svg("$ commonplace conflicts", told)


def _renamed(sides: tuple[Side, ...], place: int) -> tuple[Side, ...]:
    moment = _MOMENT + timedelta(days=place)
    return tuple(replace(s, id=_ID.format(place), since=moment, told_at=moment) for s in sides)


def _drawn_as_svg(command: str, answer: Any) -> str:
    console = Console(record=True, width=96, file=io.StringIO(), highlight=False)
    console.print(Text(command, "bold"))
    console.print(drawn(answer))
    snapshot = console.export_svg(title="commonplace", unique_id="commonplace")
    # Rich points to web fonts; a picture of ours fetches nothing.
    return _WEB_FONT.sub("", snapshot)
