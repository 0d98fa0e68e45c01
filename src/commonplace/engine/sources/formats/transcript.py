"""Transcripts of speech: WebVTT, SRT, and lines with a speaker in front."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from commonplace.engine.sources.formats.disfluencies import remove_disfluencies
from commonplace.engine.sources.formats.input import (
    ParseHints,
    clean_text,
    clean_word,
    decode_text,
    empty_source_error,
    speakers_in,
    time_span_of,
)
from commonplace.errors import InvalidInput
from commonplace.language.text.detect import detect_language
from commonplace.model import validation
from commonplace.model.sources.source import ContentType, ParsedSource, SourceTurn, SourceType

_HOURS_AND_MINUTES = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_DAY = timedelta(days=1)
_EARLIEST = timedelta(hours=5)  # recordings begin near 0:00, meetings after people have got up
_NEAR = timedelta(hours=1)  # the first words come that close to when a meeting is said to begin


def times_of_day(clocks: Sequence[str], started_at: datetime) -> list[timedelta] | None:
    """How long after the start each is, if all of them are times of that day; else None."""
    found = [_HOURS_AND_MINUTES.fullmatch(clock) for clock in clocks]
    read = [timedelta(hours=int(m[1]), minutes=int(m[2])) for m in found if m]
    if not read or len(read) < len(clocks):
        return None
    midnight = started_at.replace(hour=0, minute=0, second=0, microsecond=0)
    start = started_at - midnight
    told_only_the_day = not start
    fits = read[0] >= _EARLIEST if told_only_the_day else abs(read[0] - start) <= _NEAR
    risen = _past_midnight(read)
    return [each - start for each in risen] if fits and risen == sorted(risen) else None


def _past_midnight(times: Sequence[timedelta]) -> list[timedelta]:
    """After 23:58 comes 00:03 of the next day."""
    risen = list(times[:1])
    for earlier, time in pairwise(times):
        days = risen[-1] - earlier
        risen.append(time + days + (_DAY if earlier - time > _DAY / 2 else timedelta()))
    return risen


_CUE_CLOCK = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?"
TIME = re.compile(_CUE_CLOCK)
TIMING = re.compile(rf"\s*(?:{_CUE_CLOCK})\s*-->\s*(?:{_CUE_CLOCK}).*")
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
    yield None, _plain_cue_text(pieces[0])
    for name, said in zip(pieces[1::2], pieces[2::2], strict=True):
        yield html.unescape(name).strip() or None, _plain_cue_text(said)


def _plain_cue_text(block: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", block)).split())


_LINE_CLOCK = r"(?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
_NAME = r"[^\W\d_][\w.'’\"״׳\- ]{0,38}[\w.)]|[^\W\d_]"
_DATE = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?\s+"
_HALF = r"(?:\s?[AaPp]\.?[Mm]\.?)?"
_WITH_CLOCK_FIRST = re.compile(
    rf"\s*[\[(]?(?:{_DATE})?({_LINE_CLOCK}){_HALF}[\])]?\s*[-–—:]?\s*({_NAME})\s*:(?:\s+(.*)|)"
)
_WITH_CLOCK_AFTER = re.compile(rf"\s*({_NAME})\s*[\[(]({_LINE_CLOCK})[\])]\s*:?\s*(.*)")
_HEADING = re.compile(
    rf"\s*({_NAME})\s{{2,}}({_LINE_CLOCK})\s*()"
)  # the text stands in the lines below
_ONLY_NAME = re.compile(rf"\s*(?:\*\*)?({_NAME})(?:\*\*)?\s*:(?:\*\*)?(?:\s+(.*)|)")

_WIDE_GAP = re.compile(r"\s{3,}")
_MOST_WORDS = 4

# What stands before a colon in notes, and is nobody's name.
_FORM_WORDS = """
q a name phone email e-mail
note notes question questions answer answers agenda date time subject from to cc re topic topics
attendees participants summary action actions todo example warning important ps p.s http https
mailto title url link location place where when what why how who step הערה הערות שאלה תשובה
תאריך שעה נושא מאת אל משתתפים סיכום דוגמה חשוב מקום
"""
_NO_NAMES = frozenset(_FORM_WORDS.split())


@dataclass(frozen=True, slots=True)
class SpeakerLine:
    speaker: str
    text: str
    clock: str | None = None


def speaker_line(line: str) -> SpeakerLine | None:
    """What a line says and who says it; None when it names nobody."""
    line = _WIDE_GAP.sub("  ", line)
    for pattern, order in _SHAPES:
        found = pattern.fullmatch(line)
        if found is None:
            continue
        name, clock, text = (found[place] if place else None for place in order)
        if name and _is_name(name):
            return SpeakerLine(name.strip(), (text or "").strip(), clock)
    return None


# Each shape, and in which of its groups stand name, time and text.
_SHAPES = (
    (_WITH_CLOCK_FIRST, (2, 1, 3)),
    (_WITH_CLOCK_AFTER, (1, 2, 3)),
    (_HEADING, (1, 2, 3)),
    (_ONLY_NAME, (1, 0, 2)),
)


def _is_name(name: str) -> bool:
    """Few words, each with a large letter where the script has them; no word of a form."""
    words = name.split()
    if len(words) > _MOST_WORDS or words[0].casefold().strip(".") in _NO_NAMES:
        return False
    return all(not word[0].islower() or word in _PARTICLES for word in words)


_PARTICLE_WORDS = """
van von de der den del di da la le bin ben al el and
"""
_PARTICLES = frozenset(_PARTICLE_WORDS.split())


# A speech that goes on and on is several turns, so that each keeps the time it was said at.
_LONG_TURN = 800
_LONGEST_TURN = 1600

_DETECTED_ON = 20_000  # characters
_SENTENCE_END = re.compile(r"[.?!…][\"'”’»)]*\Z")


def read(raw: bytes | str, hints: ParseHints) -> ParsedSource:
    text = clean_text(decode_text(raw))
    is_subtitles = any(TIMING.fullmatch(line) for line in text.split("\n"))
    cues = (
        _with_speakers(subtitle_cues(text))
        if is_subtitles
        else _with_times_of_day(list(_spoken_lines(text)), hints.started_at)
    )
    language = detect_language(text[:_DETECTED_ON])
    found = [_turn(cue, language, hints.started_at) for cue in _joined_turns(cues)]
    turns = tuple(turn for turn in found if turn.text)
    if not turns:
        raise empty_source_error("The transcript")
    first, last = time_span_of(turns)
    return ParsedSource(
        source_type=SourceType.MEETING,
        content_type=ContentType.MEETING,
        turns=turns,
        title=hints.title or hints.readable_name,
        participants=speakers_in(turns),
        started_at=hints.started_at or first,
        ended_at=last or hints.started_at,
    )


def _with_speakers(cues: Iterable[Cue]) -> Iterator[Cue]:
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


def _with_times_of_day(cues: list[Cue], started_at: datetime | None) -> list[Cue]:
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


def _joined_turns(cues: Iterable[Cue]) -> Iterator[Cue]:
    """Cues in a row of one speaker are one turn."""
    current: Cue | None = None
    for cue in cues:
        if (
            current is not None
            and cue.speaker == current.speaker
            and _continues_turn(current.text, cue)
        ):
            current = replace(current, text=f"{current.text} {cue.text}")
            continue
        if current is not None:
            yield current
        current = cue
    if current is not None:
        yield current


def _continues_turn(text: str, cue: Cue) -> bool:
    if len(text) + len(cue.text) >= _LONGEST_TURN:
        return False
    return len(text) < _LONG_TURN or _SENTENCE_END.search(text) is None


def _turn(cue: Cue, language: str, started_at: datetime | None) -> SourceTurn:
    return SourceTurn(
        text=remove_disfluencies(cue.text, language),
        speaker=clean_word(cue.speaker or ""),
        at=_moment(cue, started_at),
        label=clean_word(cue.clock or ""),
    )


def _moment(cue: Cue, started_at: datetime | None) -> datetime | None:
    if started_at is None or cue.offset is None:
        return started_at
    try:
        return validation.when(started_at + cue.offset, "time")
    except (OverflowError, InvalidInput):
        return started_at
