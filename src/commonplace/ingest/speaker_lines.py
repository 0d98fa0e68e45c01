"""Who speaks in a line of a transcript: "Ana Cohen: …", "[00:01:02] Ana: …", "Ana (00:12): …",
"12/03/2026, 10:03 - Ana: …"."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CLOCK = r"(?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
_NAME = r"[^\W\d_][\w.'’\"״׳\- ]{0,38}[\w.)]|[^\W\d_]"
_DATE = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?\s+"
_HALF = r"(?:\s?[AaPp]\.?[Mm]\.?)?"
_WITH_CLOCK_FIRST = re.compile(
    rf"\s*[\[(]?(?:{_DATE})?({_CLOCK}){_HALF}[\])]?\s*[-–—:]?\s*({_NAME})\s*:(?:\s+(.*)|)"
)
_WITH_CLOCK_AFTER = re.compile(rf"\s*({_NAME})\s*[\[(]({_CLOCK})[\])]\s*:?\s*(.*)")
_HEADING = re.compile(rf"\s*({_NAME})\s{{2,}}({_CLOCK})\s*()")  # the text stands in the lines below
_ONLY_NAME = re.compile(rf"\s*(?:\*\*)?({_NAME})(?:\*\*)?\s*:(?:\*\*)?(?:\s+(.*)|)")

_WIDE_GAP = re.compile(r"\s{3,}")
_MOST_WORDS = 4

# What stands before a colon in notes, and is nobody's name.
_WORDS_OF_FORMS = """
q a name phone email e-mail
note notes question questions answer answers agenda date time subject from to cc re topic topics
attendees participants summary action actions todo example warning important ps p.s http https
mailto title url link location place where when what why how who step הערה הערות שאלה תשובה
תאריך שעה נושא מאת אל משתתפים סיכום דוגמה חשוב מקום
"""
_NO_NAMES = frozenset(_WORDS_OF_FORMS.split())


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


_SMALL_WORDS = """
van von de der den del di da la le bin ben al el and
"""
_PARTICLES = frozenset(_SMALL_WORDS.split())
