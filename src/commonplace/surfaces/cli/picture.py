"""The picture in the README: a real recall, drawn as a terminal shows it."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import UTC, datetime

from rich.console import Console
from rich.text import Text

import commonplace
from commonplace.surfaces.cli.render import drawn

_REMEMBERED = (
    "The spare keys are in the blue drawer",
    "Dana from the bank called about the mortgage; she wants the signed form by Thursday",
    "I prefer oat milk in my coffee",
    "The garage door opener needs two AAA batteries",
)
_WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.S)
_QUERY = "where did I put the spare keys?"


def recall_picture() -> str:
    """SVG of one command and its answer."""
    console = Console(record=True, width=96, file=io.StringIO(), highlight=False)
    moment = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    with commonplace.open(":memory:", clock=lambda: moment) as book:
        me = book.user("ana")
        me.remember_many([{"content": text} for text in _REMEMBERED])
        answer = me.recall(_QUERY, k=1, explain=True)
    named = [replace(hit, id="6f1c2b7e-3c1d-4a53-9d0f-5f2f0c7a9b1e") for hit in answer.hits]
    console.print(Text(f'$ commonplace recall "{_QUERY}" --explain', "bold"))
    console.print(drawn(replace(answer, hits=tuple(named))))
    picture = console.export_svg(title="commonplace", unique_id="commonplace")
    # Rich points to web fonts; a picture of ours fetches nothing.
    return _WEB_FONT.sub("", picture)
