"""A reading's turns cut into passages: short enough to be found, long enough to say something.

Every turn is cut by itself. So a passage never mixes two speakers, and what is appended later
leaves the passages before it as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from commonplace.language.sentences import sentences
from commonplace.model.source import Turn

MAX_PASSAGE = 1000  # characters

_BETWEEN_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n\s*")
_SPACE_AT_END = re.compile(r"\s\S*\Z")

Span = tuple[int, int]


def passages(turns: Iterable[Turn], limit: int = MAX_PASSAGE) -> tuple[Turn, ...]:
    """The pieces of all turns in their order, each with speaker, time, session and label."""
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    return tuple(replace(turn, text=piece) for turn in turns for piece in cut(turn.text, limit))


def cut(text: str, limit: int = MAX_PASSAGE) -> list[str]:
    """Pieces of at most `limit` characters: whole paragraphs, else sentences, else words."""
    pieces: list[str] = []
    start = end = 0
    for unit_start, unit_end in _units(text, limit):
        if end > start and unit_end - start > limit:
            pieces.append(text[start:end])
            start = unit_start
        elif end == start:
            start = unit_start
        end = unit_end
    pieces.append(text[start:end])
    return [piece for piece in pieces if piece]


def _units(text: str, limit: int) -> Iterator[Span]:
    """What is not cut further, in order, without the space around it."""
    for start, end in _paragraphs(text):
        if end - start <= limit:
            yield start, end
            continue
        for first, last in _sentences(text, start, end):
            yield from _words(text, first, last, limit)


def _paragraphs(text: str) -> Iterator[Span]:
    start = 0
    for gap in _BETWEEN_PARAGRAPHS.finditer(text):
        yield from _trimmed(text, start, gap.start())
        start = gap.end()
    yield from _trimmed(text, start, len(text))


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    position = start
    for sentence in sentences(text[start:end]):
        first = text.index(sentence, position, end)
        position = first + len(sentence)
        yield first, position


def _words(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    """A sentence that is too long is cut at the last space, or through a word that is too long."""
    while end - start > limit:
        space = _SPACE_AT_END.search(text, start + 1, start + limit + 1)
        stop = space.start() if space else start + limit
        yield from _trimmed(text, start, stop)
        start = stop
        while start < end and text[start].isspace():
            start += 1
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end
