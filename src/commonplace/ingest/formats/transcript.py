"""Transcripts of speech: WebVTT, SRT, and lines such as "Ana: …" or "[00:01:02] Ana: …"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from commonplace.errors import InvalidInput
from commonplace.ingest.clocks import times_of_day
from commonplace.ingest.cues import TIMING, Cue, offset_of, subtitle_cues
from commonplace.ingest.decode import nothing_to_read, text_of
from commonplace.ingest.disfluencies import fluent
from commonplace.ingest.hints import Hints
from commonplace.ingest.lenient import clean_text, clean_word
from commonplace.ingest.records import span, speakers
from commonplace.ingest.speaker_lines import SpeakerLine, speaker_line
from commonplace.language.detect import detect
from commonplace.model import check
from commonplace.model.source import ContentType, Reading, SourceType, Turn

# A speech that goes on and on is several turns, so that each keeps the time it was said at.
_LONG_TURN = 800
_LONGEST_TURN = 1600

_DETECTED_ON = 20_000  # characters
_SENTENCE_END = re.compile(r"[.?!…][\"'”’»)]*\Z")


def read(raw: bytes | str, hints: Hints) -> Reading:
    text = clean_text(text_of(raw))
    is_subtitles = any(TIMING.fullmatch(line) for line in text.split("\n"))
    cues = (
        _named(subtitle_cues(text))
        if is_subtitles
        else _timed(list(_spoken_lines(text)), hints.started_at)
    )
    language = detect(text[:_DETECTED_ON])
    found = [_turn(cue, language, hints.started_at) for cue in _joined(cues)]
    turns = tuple(turn for turn in found if turn.text)
    if not turns:
        raise nothing_to_read("The transcript")
    first, last = span(turns)
    return Reading(
        source_type=SourceType.MEETING,
        content_type=ContentType.MEETING,
        turns=turns,
        title=hints.title or hints.readable_name,
        participants=speakers(turns),
        started_at=hints.started_at or first,
        ended_at=last or hints.started_at,
    )


def _named(cues: Iterable[Cue]) -> Iterator[Cue]:
    """Cues without a voice often begin with the name, once for all that follow."""
    speaker: str | None = None
    for cue in cues:
        line = None if cue.speaker else speaker_line(cue.text)
        if line is not None:
            speaker = line.speaker
            if line.text:
                yield replace(cue, speaker=speaker, text=line.text)
        else:
            yield replace(cue, speaker=cue.speaker or speaker)


def _spoken_lines(text: str) -> Iterator[Cue]:
    """Lines with a name in front; a line without one belongs to whoever spoke last."""
    current: SpeakerLine | None = None
    for written in text.split("\n"):
        if not written.strip():
            continue
        line = speaker_line(written)
        current = line or current
        said = " ".join((line.text if line else written).split())
        if said:
            yield _cue(current, said)


def _timed(cues: list[Cue], started_at: datetime | None) -> list[Cue]:
    """Lines may be timed by the clock on the wall."""
    clocks = [cue.clock for cue in cues if cue.clock]
    offsets = times_of_day(clocks, started_at) if started_at else None
    if offsets is None:
        return cues
    following = iter(offsets)
    return [replace(cue, offset=next(following)) if cue.clock else cue for cue in cues]


def _cue(line: SpeakerLine | None, said: str) -> Cue:
    clock = line.clock if line else None
    return Cue(said, line.speaker if line else None, offset_of(clock or ""), clock)


def _joined(cues: Iterable[Cue]) -> Iterator[Cue]:
    """Cues in a row of one speaker are one turn."""
    current: Cue | None = None
    for cue in cues:
        if current is not None and cue.speaker == current.speaker and _goes_on(current.text, cue):
            current = replace(current, text=f"{current.text} {cue.text}")
            continue
        if current is not None:
            yield current
        current = cue
    if current is not None:
        yield current


def _goes_on(text: str, cue: Cue) -> bool:
    if len(text) + len(cue.text) >= _LONGEST_TURN:
        return False
    return len(text) < _LONG_TURN or _SENTENCE_END.search(text) is None


def _turn(cue: Cue, language: str, started_at: datetime | None) -> Turn:
    return Turn(
        text=fluent(cue.text, language),
        speaker=clean_word(cue.speaker or ""),
        at=_moment(cue, started_at),
        label=clean_word(cue.clock or ""),
    )


def _moment(cue: Cue, started_at: datetime | None) -> datetime | None:
    if started_at is None or cue.offset is None:
        return started_at
    try:
        return check.when(started_at + cue.offset, "time")
    except (OverflowError, InvalidInput):
        return started_at
