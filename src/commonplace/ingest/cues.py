"""Subtitles (WebVTT, SRT) as cues: when, who if it is marked, and what was said."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

_CLOCK = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?"
TIME = re.compile(_CLOCK)
TIMING = re.compile(rf"\s*(?:{_CLOCK})\s*-->\s*(?:{_CLOCK}).*")
_VOICE = re.compile(r"<v(?:\.[\w.-]+)*\s+([^<>]+)>")
_TAG = re.compile(r"</?[\w.:/ -]*>|\{\\[^{}]*\}")
_BLOCKS = ("NOTE", "STYLE", "REGION", "WEBVTT")


@dataclass(frozen=True, slots=True)
class Cue:
    text: str
    speaker: str | None = None
    offset: timedelta | None = None  # from the beginning of the recording
    clock: str | None = None  # the same as it is written: 00:01:02


def offset_of(written: str) -> timedelta | None:
    found = TIME.fullmatch(written.strip())
    if found is None:
        return None
    hours, minutes, seconds, fraction = found.groups()
    return timedelta(
        hours=int(hours or 0),
        minutes=int(minutes),
        seconds=int(seconds),
        milliseconds=int((fraction or "0").ljust(3, "0")),
    )


def subtitle_cues(text: str) -> Iterator[Cue]:
    """Every cue in its order. Lines that roll (said again in the next cue) come once."""
    blocks = list(_timed_blocks(text))
    rolls = _lines_roll([lines for _, lines in blocks])
    before: list[str] = []
    for clock, lines in blocks:
        fresh = [line for line in lines if not rolls or line not in before]
        before = lines
        for speaker, said in _voices("\n".join(fresh)):
            if said:
                yield Cue(said, speaker, offset_of(clock), clock)


def _lines_roll(blocks: list[list[str]]) -> bool:
    """Somewhere a cue takes up the last line and goes on. Where none does, who says "No." in two
    cues has said it twice."""
    return any(len(now) > 1 and before[-1:] == now[:1] for before, now in pairwise(blocks))


def _timed_blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    lines: list[str] = []
    clock = previous = ""
    for line in text.split("\n"):
        if TIMING.fullmatch(line):
            if clock:  # the line before a timing may be the name of its cue
                yield clock, _without_name(lines, previous)
            clock, lines = line.split("-->")[0].strip(), []
        elif clock and line.strip() and not _opens_block(line, previous):
            lines.append(line.strip())
        previous = line
    if clock:
        yield clock, lines


def _opens_block(line: str, previous: str) -> bool:
    return not previous.strip() and line.split(" ")[0] in _BLOCKS


def _without_name(lines: list[str], previous: str) -> list[str]:
    return (
        lines[:-1] if lines and previous.strip() == lines[-1] and _is_cue_name(previous) else lines
    )


def _is_cue_name(line: str) -> bool:
    """A number or an id, as SRT and Teams write above each cue."""
    return re.fullmatch(r"\s*(?:\d+|[\w-]*\d[\w-]*(?:/\d+-\d+)?)\s*", line) is not None


def _voices(block: str) -> Iterator[tuple[str | None, str]]:
    """The parts of a cue by the voice that is marked on them."""
    pieces = _VOICE.split(block)
    yield None, _plain(pieces[0])
    for name, said in zip(pieces[1::2], pieces[2::2], strict=True):
        yield html.unescape(name).strip() or None, _plain(said)


def _plain(block: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", block)).split())
