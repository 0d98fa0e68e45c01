"""What of a turn the speaker says in their own words: no code, logs, quotations or material.

Nothing is moved: what is not the speaker's is blotted out, one character for one, so that every
sentence can be shown again as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.language.observing.patterns import any_of, data
from commonplace.language.sentences import sentences

BLOT = "\ufffc"  # stands for each character that is somebody else's
LOOKED_AT = 32_000
LONGEST_SENTENCE = 600  # what is longer was pasted

_DATA = data("turns")
_APOSTROPHES = str.maketrans("\u2019\u02bc", "''")  # one for one, so that places hold

_FENCED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,400}`", re.DOTALL)
_TAGGED = re.compile(r"<([a-z][\w-]{0,30})[^<>]{0,200}>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_REPLIED_TO = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_QUOTED = re.compile(
    r"\"[^\"\n]{2,1000}\"|“[^“”\n]{2,1000}”|«[^«»\n]{2,1000}»|‘[^‘'’\n]{2,1000}['’]"
    r"|(?<![\w'])'(?!s\b)[^'\n]{2,400}(?:'\w[^'\n]{0,400}){0,4}'(?!\w)|״[^״\n]{2,1000}״"
)
_INSIDE_A_WORD = re.compile(r"(?<=[א-ת])[\"״](?=[א-ת])")  # ד"ר, ש״ח: no quotation
_OTHERS_WORDS = any_of(_DATA["quoted"])
_MACHINE_LINE = any_of(_DATA["machine"])
_WHOLE_TURN = any_of(_DATA["nothing_of_the_turn"])
_FROM_HERE_ON = any_of(_DATA["material_follows"])
_FORM_LINE = re.compile(r"[^\s:=][^:=\n]{0,40}\s*[:=]\s*\S.{0,80}")
_LINES_OF_A_FORM = 4


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a turn as it was written, and with what is not the speaker's blotted out."""

    written: str
    own: str
    start: int = 0  # where in the turn

    @property
    def has_quotation(self) -> bool:
        return BLOT in self.own


def own_sentences(turn: str) -> list[Sentence]:
    """The sentences of a turn that the speaker means; none when all of it is play or material."""
    text = turn[:LOOKED_AT].replace(BLOT, " ")
    if _WHOLE_TURN.search(text) or _is_form(text):
        return []
    own = _without_material(blotted(text))
    return [one for one in _sentences(text, own) if one.own.strip(BLOT + " \t\"'.,:;!?")]


def sentences_written(text: str) -> list[Sentence]:
    """The sentences of a text that asks nobody for anything: a letter, minutes, a report."""
    text = text[:LOOKED_AT].replace(BLOT, " ")
    return [one for one in _sentences(text, blotted(text)) if one.own.strip(BLOT + " \t")]


def blotted(text: str) -> str:
    """A turn in which what others wrote is blotted out, one character for one."""
    own = text.translate(_APOSTROPHES)
    for pattern in (_FENCED, _TAGGED, _REPLIED_TO):
        own = pattern.sub(_blot, own)
    own = "\n".join(_blot_line(line) for line in own.split("\n"))
    hidden = _INSIDE_A_WORD.sub("\ufffb", own)
    for quoted in _QUOTED.finditer(hidden):
        if _OTHERS_WORDS.search(quoted[0]):
            own = own[: quoted.start()] + BLOT * len(quoted[0]) + own[quoted.end() :]
    return own


def _blot(found: re.Match[str]) -> str:
    return "".join(character if character == "\n" else BLOT for character in found[0])


def _blot_line(line: str) -> str:
    return BLOT * len(line) if _MACHINE_LINE.search(line) else line


def _is_form(text: str) -> bool:
    """Lines of "name: value" one below the other are a record, and no talk."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return len(lines) >= _LINES_OF_A_FORM and all(map(_FORM_LINE.fullmatch, lines))


def _without_material(own: str) -> str:
    """Without the text that the assistant is asked to work on: it follows the request."""
    asked = _FROM_HERE_ON.search(own)
    return own if asked is None else own[: asked.start()]


def _sentences(text: str, own: str) -> Iterator[Sentence]:
    place = 0
    for sentence in sentences(own):
        start = own.find(sentence, place)
        place = start + len(sentence)
        if len(sentence) <= LONGEST_SENTENCE:
            yield Sentence(text[start:place], sentence, start)
