"""The speaker's own words in a turn: no quotations, opt-outs or recalled memories.

Nothing is moved: what is not the speaker's is blotted out, one character for one, so that every
sentence can be shown again as it was written.

A wish that stands behind its matter, in the same sentence, is about that sentence. Any other, at
the beginning or by itself, is about the whole turn: what it covers cannot be known, and to keep too
little does less harm here than to keep too much.

Somebody pastes what an agent was given to read. It is nobody's own words, and is there already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.language.text.lexicon import any_pattern, load_patterns
from commonplace.language.text.sentences import split_sentences
from commonplace.model.memory.candidate import StorableText

MASK = "\ufffc"  # stands for each character that is somebody else's
MAX_CHARACTERS = 32_000
MAX_SENTENCE_CHARACTERS = 600  # what is longer was pasted

_OWN_WORDS_DATA = load_patterns("observe/own_words")
_APOSTROPHES = str.maketrans("\u2019\u02bc", "''")  # one for one, so that places hold

_FENCED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,400}`", re.DOTALL)
_TAGGED = re.compile(r"<([a-z][\w-]{0,30})[^<>]{0,200}>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_REPLIED_TO = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_QUOTED = re.compile(
    r"\"[^\"\n]{2,1000}\"|“[^“”\n]{2,1000}”|«[^«»\n]{2,1000}»|‘[^‘'’\n]{2,1000}['’]"
    r"|(?<![\w'])'(?!s\b)[^'\n]{2,400}(?:'\w[^'\n]{0,400}){0,4}'(?!\w)|״[^״\n]{2,1000}״"
)
_INSIDE_A_WORD = re.compile(r"(?<=[א-ת])[\"״](?=[א-ת])")  # ד"ר, ש״ח: no quotation
_QUOTED_SPEECH = any_pattern(_OWN_WORDS_DATA["quoted"])
_MACHINE_LINE = any_pattern(_OWN_WORDS_DATA["machine"])
_IGNORED_TURN = any_pattern(_OWN_WORDS_DATA["nothing_of_the_turn"])
_MATERIAL_START = any_pattern(_OWN_WORDS_DATA["material_follows"])
_FORM_LINE = re.compile(r"[^\s:=][^:=\n]{0,40}\s*[:=]\s*\S.{0,80}")
_MIN_FORM_LINES = 4


@dataclass(frozen=True, slots=True)
class OwnSentence:
    """A sentence of a turn as it was written, and with what is not the speaker's blotted out."""

    written: str
    own: str
    start: int = 0  # where in the turn

    @property
    def has_quotation(self) -> bool:
        return MASK in self.own


def own_sentences(turn: str) -> list[OwnSentence]:
    """The sentences of a turn that the speaker means; none when all of it is play or material."""
    text = turn[:MAX_CHARACTERS].replace(MASK, " ")
    if _IGNORED_TURN.search(text) or _is_form(text):
        return []
    own = _without_material(mask_foreign_text(text))
    return [one for one in _aligned_sentences(text, own) if one.own.strip(MASK + " \t\"'.,:;!?")]


def written_sentences(text: str) -> list[OwnSentence]:
    """The sentences of a text that asks nobody for anything: a letter, minutes, a report."""
    text = text[:MAX_CHARACTERS].replace(MASK, " ")
    return [
        one
        for one in _aligned_sentences(text, mask_foreign_text(text))
        if one.own.strip(MASK + " \t")
    ]


def mask_foreign_text(text: str) -> str:
    """A turn in which what others wrote is blotted out, one character for one."""
    own = text.translate(_APOSTROPHES)
    for pattern in (_FENCED, _TAGGED, _REPLIED_TO):
        own = pattern.sub(_mask_match, own)
    own = "\n".join(_mask_machine_line(line) for line in own.split("\n"))
    hidden = _INSIDE_A_WORD.sub("\ufffb", own)
    for quoted in _QUOTED.finditer(hidden):
        if _QUOTED_SPEECH.search(quoted[0]):
            own = own[: quoted.start()] + MASK * len(quoted[0]) + own[quoted.end() :]
    return own


def _mask_match(found: re.Match[str]) -> str:
    return "".join(character if character == "\n" else MASK for character in found[0])


def _mask_machine_line(line: str) -> str:
    return MASK * len(line) if _MACHINE_LINE.search(line) else line


def _is_form(text: str) -> bool:
    """Lines of "name: value" one below the other are a record, and no talk."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return len(lines) >= _MIN_FORM_LINES and all(map(_FORM_LINE.fullmatch, lines))


def _without_material(own: str) -> str:
    """Without the text that the assistant is asked to work on: it follows the request."""
    asked = _MATERIAL_START.search(own)
    return own if asked is None else own[: asked.start()]


def _aligned_sentences(text: str, own: str) -> Iterator[OwnSentence]:
    place = 0
    for sentence in split_sentences(own):
        start = own.find(sentence, place)
        place = start + len(sentence)
        if len(sentence) <= MAX_SENTENCE_CHARACTERS:
            yield OwnSentence(text[start:place], sentence, start)


OPT_OUT_MARK = "[…]"  # where a sentence was left out

_OPT_OUT_DATA = load_patterns("observe/opt_outs")
_OPT_OUT = any_pattern(_OPT_OUT_DATA["wish"], _OPT_OUT_DATA["words"])
_FUTURE_RULE = any_pattern(_OPT_OUT_DATA["standing"])
_WHOLE_TURN = any_pattern(_OPT_OUT_DATA["all_of_it"])
# What stands before a wish and is no matter of its own: "please", "hey".
_FILLER = re.compile(
    r"(?:\W|\b(?:please|hey|hi|hello|ok|okay|so|but|and|also|just|oh|well|now|look|listen|actually|"
    r"by the way|btw|this|one thing|היי|שלום|בבקשה|אבל|אז|רק|נא)\b)*",
    re.IGNORECASE,
)


def remove_opt_outs(turn: str) -> StorableText:
    """The turn without what the speaker asks not to keep. Quotations and code ask for nothing."""
    own = mask_foreign_text(turn)
    if not _OPT_OUT.search(own):
        return StorableText(turn)
    kept = turn
    wishes: list[str] = []
    place = len(own)
    for sentence in reversed(split_sentences(own)):
        end = own.rfind(sentence, 0, place) + len(sentence)
        place = end - len(sentence)
        wish = None if _FUTURE_RULE.search(sentence) else _OPT_OUT.search(sentence)
        if wish is None:
            continue
        wishes.insert(0, turn[place + wish.start() : place + wish.end()].strip(" ,.:;–—-"))
        if _WHOLE_TURN.search(wish[0]) or _FILLER.fullmatch(sentence[: wish.start()]):
            return StorableText("", tuple(wishes))
        kept = kept[:place] + OPT_OUT_MARK + kept[end:]
    return StorableText(kept if kept.replace(OPT_OUT_MARK, "").strip() else "", tuple(wishes))


# What begins a block of ours: the lines below it belong to it, up to the first that is plain talk.
CONTEXT_HEADINGS = (
    "Memory Context",
    "Who you are",
    "Rules to follow",
    "About the user",
    "To keep in mind",
    "Recent events",
    "Recalled for this question",
    "Recent summaries",
    "Now",
    "Memories",
)
_HEADING = re.compile(
    rf"\s*(?:>\s*)*(?:#{{1,6}}\s*(?:{'|'.join(CONTEXT_HEADINGS)})\s*$|Memory updates since rev\b)",
    re.IGNORECASE,
)
_BLOCK_LINE = re.compile(r"\s*(?:>\s*)*(?:$|[-*•–]\s|\[[^\[\]\n]{1,60}\]|#{1,6}\s|\d{1,3}[.)]\s)")
# A line that shows by itself where it is from: "- [tasks] …", "- +created: …".
_DELTA_LINE = re.compile(
    r"\s*(?:>\s*)*[-*•]\s*"
    r"(?:\+created|↑updated|↔merged|[−-]forgotten|×deleted|⟲restored|\?disputed)\s*:",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\s*(?:>\s*)*(?:[-*•]\s*)?\[(?P<word>[\w -]{1,60})\](?:\(\d+\))?\s+\S")


def remove_recalled_lines(text: str, words: frozenset[str]) -> str:
    """A turn without the lines that were recalled. ``words`` are the categories and kinds that
    bullets can begin with: "[fix] the door" is somebody's own way of writing."""
    kept: list[str] = []
    inside = goes_on = False  # in a block; after a bullet, whose text may have several lines
    for line in text.split("\n"):
        if _HEADING.match(line):
            inside, goes_on = True, False
            continue
        goes_on = bool(line.strip()) and (goes_on or _is_recalled(line, words))
        inside = inside and (goes_on or _BLOCK_LINE.match(line) is not None)
        if not inside and not goes_on:
            kept.append(line)
    return "\n".join(kept)


def _is_recalled(line: str, words: frozenset[str]) -> bool:
    bullet = _BULLET.match(line)
    return (bullet is not None and bullet["word"].casefold() in words) or bool(
        _DELTA_LINE.match(line)
    )
