"""Contexts on a terminal: their text as it is, so that it can be piped into a prompt."""

from __future__ import annotations

from commonplace.recall.context.simple import ContextPack
from commonplace.recall.context.values import Context
from commonplace.recall.context.whole import WholeContext
from commonplace.surfaces.cli.draw import as_it_is


@as_it_is.register
def _context(answer: Context) -> str:
    return answer.text


@as_it_is.register
def _whole(answer: WholeContext) -> str:
    return answer.text


@as_it_is.register
def _pack(answer: ContextPack) -> str:
    return answer.formatted_text
