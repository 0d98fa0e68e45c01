"""`docs/tour.md`: a month is ingested, and five questions are asked."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from rich.console import Console

from commonplace.api import User
from commonplace.surfaces.cli.month import (
    AFTERWARDS,
    FOLDER,
    MEMORY,
    ORIGINALS,
    QUESTIONS,
    ingest_the_month,
    opened,
)
from commonplace.surfaces.cli.render import drawn

HITS = 2
_WIDTH = 96
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DATA = f"../src/commonplace/surfaces/cli/{FOLDER}"

_BEGINNING = f"""# A tour: a month, and five questions

Ana's month: conversations with her sister and with an assistant, a letter, a meeting, and notes on
bread. All originals are ingested, and five questions are asked on {AFTERWARDS:%-d %B %Y}. The
output below is that of the commands, with the default embedder, without a language model and
without a network; ids are shortened. See also [formats of sources](sources.md) and
[how recall ranks](recall.md).

## Ingest
"""
_ENDING = """## Forget and erase

A source is forgotten and restored as a whole, by its id or by its name:
`commonplace forget file:/home/ana/release-meeting.vtt`, `commonplace restore …`.
`erase` removes every byte of it and of everything derived from it; see [forgetting](forgetting.md).
"""


def tour_page() -> str:
    with opened() as book:
        return "\n".join(_written(book.user("ana")))


def _written(me: User) -> Iterator[str]:
    yield _BEGINNING
    for original in ORIGINALS:
        yield f"- [{original.file}]({_DATA}/{original.file}): {original.about}"
    yield "\n```"
    for original, answer in ingest_the_month(me):
        date = f" --date {original.date}" if original.date else ""
        title = f'"{original.title}"' if " " in original.title else original.title
        yield f"$ commonplace ingest {original.file} --title {title}{date}"
        yield _as_text(answer)
    yield f'$ commonplace remember "{MEMORY}"'
    yield _as_text(me.remember(MEMORY))
    yield "```\n\n## Five questions\n"
    for number, question in enumerate(QUESTIONS, 1):
        recalled = me.recall(question.query, k=HITS, explain=True)
        yield f"### {number}. {question.query}\n\n{question.look}\n"
        yield f'```\n$ commonplace recall "{question.query}" --k {HITS} --explain'
        yield f"{_as_text(recalled)}\n```\n"
    yield _ENDING


def _as_text(answer: Any) -> str:
    console = Console(width=_WIDTH, file=io.StringIO(), record=True, highlight=False)
    console.print(drawn(answer))
    lines = console.export_text().splitlines()
    return _UUID.sub("…", "\n".join(line.rstrip() for line in lines))
