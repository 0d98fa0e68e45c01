"""Transcripts of speech: WebVTT, SRT, and lines with a speaker in front."""

from __future__ import annotations

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
    unescape,
)
from commonplace.errors import InvalidInput
from commonplace.language.text.detect import detect_language
from commonplace.model import validation
from commonplace.model.sources.source import ContentType, ParsedSource, SourceTurn, SourceType

_HOURS_AND_MINUTES = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_DAY = timedelta(days=1)
_EARLIEST = timedelta(
    hours=5
)  # offsets of a recording begin near 0:00; meetings start later in the day
_NEAR = timedelta(hours=1)  # maximum distance of the first time from the given start


def times_of_day(clocks: Sequence[str], started_at: datetime) -> list[timedelta] | None:
    """Offsets from the start, if all of these are times of that day; else None."""
    found = [_HOURS_AND_MINUTES.fullmatch(clock) for clock in clocks]
    times = [timedelta(hours=int(m[1]), minutes=int(m[2])) for m in found if m]
    if not times or len(times) < len(clocks):
        return None
    midnight = started_at.replace(hour=0, minute=0, second=0, microsecond=0)
    start = started_at - midnight
    has_only_date = not start
    fits = times[0] >= _EARLIEST if has_only_date else abs(times[0] - start) <= _NEAR
    increasing = _past_midnight(times)
    return (
        [each - start for each in increasing] if fits and increasing == sorted(increasing) else None
    )


def _past_midnight(times: Sequence[timedelta]) -> list[timedelta]:
    """Add a day whenever the time wraps: 23:58, 00:03."""
    increasing = list(times[:1])
    for earlier, time in pairwise(times):
        days = increasing[-1] - earlier
        increasing.append(time + days + (_DAY if earlier - time > _DAY / 2 else timedelta()))
    return increasing


_CUE_CLOCK = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?"
TIME = re.compile(_CUE_CLOCK)
TIMING = re.compile(rf"\s*(?:{_CUE_CLOCK})\s*-->\s*(?:{_CUE_CLOCK}).*")
_VOICE = re.compile(r"<v(?:\.[\w.-]++)?\s([^<>]++)>")
_TAG = re.compile(r"</?[\w.:/ -]*>|\{\\[^{}]*\}")
_BLOCKS = ("NOTE", "STYLE", "REGION", "WEBVTT")


@dataclass(frozen=True, slots=True)
class Cue:
    text: str
    speaker: str | None = None
    offset: timedelta | None = None  # from the beginning of the recording
    clock: str | None = None  # the offset as written: 00:01:02


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
    """Every cue in order. Rolling lines, repeated in the next cue, occur once."""
    blocks = list(_timed_blocks(text))
    rolls = _lines_roll([lines for _, lines in blocks])
    before: set[str] = set()
    for clock, lines in blocks:
        fresh = [line for line in lines if not rolls or line not in before]
        before = set(lines)
        for speaker, spoken in _voices("\n".join(fresh)):
            if spoken:
                yield Cue(spoken, speaker, offset_of(clock), clock)


def _lines_roll(blocks: list[list[str]]) -> bool:
    """True if a cue repeats the last line and continues. Otherwise, "No." in two cues was said
    twice."""
    return any(len(now) > 1 and before[-1:] == now[:1] for before, now in pairwise(blocks))


def _timed_blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    lines: list[str] = []
    clock = previous = ""
    for line in text.split("\n"):
        if TIMING.fullmatch(line):
            if clock:  # the line before a timing may be the cue's name
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
    """A number or an id above a cue, as in SRT and Teams."""
    return len(line) <= _LONGEST_CUE_NAME and _CUE_NAME.fullmatch(line) is not None


_CUE_NAME = re.compile(r"\s*(?:\d+|[\w-]*\d[\w-]*(?:/\d+-\d+)?)\s*")
_LONGEST_CUE_NAME = 200


def _voices(block: str) -> Iterator[tuple[str | None, str]]:
    """The parts of a cue by their voice tags."""
    pieces = _VOICE.split(block)
    yield None, _plain_cue_text(pieces[0])
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        yield unescape(name).strip() or None, _plain_cue_text(text)


def _plain_cue_text(block: str) -> str:
    return " ".join(unescape(_TAG.sub("", block)).split())


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
)  # the text is in the following lines
_ONLY_NAME = re.compile(rf"\s*(?:\*\*)?({_NAME})(?:\*\*)?\s*:(?:\*\*)?(?:\s+(.*)|)")

_WIDE_GAP = re.compile(r"\s{3,}")
_MOST_WORDS = 4

# Words before a colon in notes that are not names.
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
    """The line's speaker and text; None if it names no speaker."""
    line = _WIDE_GAP.sub("  ", line)
    for pattern, order in _SHAPES:
        found = pattern.fullmatch(line)
        if found is None:
            continue
        name, clock, text = (found[place] if place else None for place in order)
        if name and _is_name(name):
            return SpeakerLine(name.strip(), (text or "").strip(), clock)
    return None


# Each line format, with the groups of name, time and text.
_SHAPES = (
    (_WITH_CLOCK_FIRST, (2, 1, 3)),
    (_WITH_CLOCK_AFTER, (1, 2, 3)),
    (_HEADING, (1, 2, 3)),
    (_ONLY_NAME, (1, 0, 2)),
)


def _is_name(name: str) -> bool:
    """Few words, capitalised if the script has capitals, and no label of a form."""
    words = name.split()
    if len(words) > _MOST_WORDS or words[0].casefold().strip(".") in _NO_NAMES:
        return False
    return all(not word[0].islower() or word in _PARTICLES for word in words)


_PARTICLE_WORDS = """
van von de der den del di da la le bin ben al el and
"""
_PARTICLES = frozenset(_PARTICLE_WORDS.split())


# A long speech is split into turns, so that each keeps its own time.
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
    """A name at the beginning of a cue without a voice tag applies to the following cues, too."""
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
    """Lines that begin with a name; a line without one continues the last speaker's."""
    current: SpeakerLine | None = None
    for written in text.split("\n"):
        if not written.strip():
            continue
        line = speaker_line(written)
        current = line or current
        spoken = " ".join((line.text if line else written).split())
        if spoken:
            yield _cue(current, spoken)


def _with_times_of_day(cues: list[Cue], started_at: datetime | None) -> list[Cue]:
    """Convert times of day to offsets."""
    clocks = [cue.clock for cue in cues if cue.clock]
    offsets = times_of_day(clocks, started_at) if started_at else None
    if offsets is None:
        return cues
    following = iter(offsets)
    return [replace(cue, offset=next(following)) if cue.clock else cue for cue in cues]


def _cue(line: SpeakerLine | None, text: str) -> Cue:
    clock = line.clock if line else None
    return Cue(text, line.speaker if line else None, offset_of(clock or ""), clock)


def _joined_turns(cues: Iterable[Cue]) -> Iterator[Cue]:
    """Join consecutive cues of one speaker."""
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
