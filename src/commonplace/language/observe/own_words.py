"""The speaker's own words in a turn: quotations, opt-outs and recalled memories are removed.

Foreign text is masked character by character, so that offsets stay valid and each sentence can be
shown as written.

An opt-out after its subject in the same sentence applies to that sentence. Any other opt-out
applies to the whole turn: its extent is unknown, and storing too little is the safer error.

Recalled memories that the user pastes are not the user's statements, and are stored already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.language.text.lexicon import any_pattern, load_patterns
from commonplace.language.text.sentences import split_sentences
from commonplace.model.memory.candidate import StorableText

MASK = "\ufffc"  # replaces each character of foreign text
MAX_CHARACTERS = 32_000
MAX_SENTENCE_CHARACTERS = 600  # longer text was pasted

_OWN_WORDS_DATA = load_patterns("observe/own_words")
_APOSTROPHES = str.maketrans("\u2019\u02bc", "''")  # same length, so that offsets stay valid

_FENCED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,400}`", re.DOTALL)
_TAGGED = re.compile(r"<([a-z][\w-]{0,30})[^<>]{0,200}>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_REPLIED_TO = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_QUOTED = re.compile(
    r"\"[^\"\n]{2,1000}\"|“[^“”\n]{2,1000}”|«[^«»\n]{2,1000}»|‘[^‘'’\n]{2,1000}['’]"
    r"|(?<![\w'])'(?!s\b)[^'\n]{2,400}(?:'\w[^'\n]{0,400}){0,4}'(?!\w)|״[^״\n]{2,1000}״"
)
_INSIDE_A_WORD = re.compile(r"(?<=[א-ת])[\"״](?=[א-ת])")  # ד"ר, ש״ח: not a quotation
_QUOTED_SPEECH = any_pattern(_OWN_WORDS_DATA["quoted"])
_MACHINE_LINE = any_pattern(_OWN_WORDS_DATA["machine"])
_IGNORED_TURN = any_pattern(_OWN_WORDS_DATA["nothing_of_the_turn"])
_MATERIAL_START = any_pattern(_OWN_WORDS_DATA["material_follows"])
_FORM_LINE = re.compile(r"[^\s:=][^:=\n]{0,40}\s*[:=]\s*\S.{0,80}")
_MIN_FORM_LINES = 4


@dataclass(frozen=True, slots=True)
class OwnSentence:
    """A sentence of a turn: as written, and with foreign text masked."""

    written: str
    own: str
    start: int = 0  # offset in the turn

    @property
    def has_quotation(self) -> bool:
        return MASK in self.own


def own_sentences(turn: str) -> list[OwnSentence]:
    """Sentences of a turn that the speaker means; none if all of it is role play or material."""
    text = turn[:MAX_CHARACTERS].replace(MASK, " ")
    if _IGNORED_TURN.search(text) or _is_form(text):
        return []
    own = _without_material(mask_foreign_text(text))
    return [one for one in _aligned_sentences(text, own) if one.own.strip(MASK + " \t\"'.,:;!?")]


def written_sentences(text: str) -> list[OwnSentence]:
    """Sentences of a text that is not addressed to an agent: a letter, minutes, a report."""
    text = text[:MAX_CHARACTERS].replace(MASK, " ")
    return [
        one
        for one in _aligned_sentences(text, mask_foreign_text(text))
        if one.own.strip(MASK + " \t")
    ]


def mask_foreign_text(text: str) -> str:
    """Mask the text of others in a turn, character by character."""
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
    """Consecutive "name: value" lines are a record, not conversation."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return len(lines) >= _MIN_FORM_LINES and all(map(_FORM_LINE.fullmatch, lines))


def _without_material(own: str) -> str:
    """Drop the text that the assistant is asked to work on: it follows the request."""
    request = _MATERIAL_START.search(own)
    return own if request is None else own[: request.start()]


def _aligned_sentences(text: str, own: str) -> Iterator[OwnSentence]:
    place = 0
    for sentence in split_sentences(own):
        start = own.find(sentence, place)
        place = start + len(sentence)
        if len(sentence) <= MAX_SENTENCE_CHARACTERS:
            yield OwnSentence(text[start:place], sentence, start)


OPT_OUT_MARK = "[…]"  # in place of a removed sentence

_OPT_OUT_DATA = load_patterns("observe/opt_outs")
_OPT_OUT = any_pattern(_OPT_OUT_DATA["wish"], _OPT_OUT_DATA["words"])
_FUTURE_RULE = any_pattern(_OPT_OUT_DATA["standing"])
_WHOLE_TURN = any_pattern(_OPT_OUT_DATA["all_of_it"])
# Words before an opt-out that are not its subject: "please", "hey".
_FILLER = re.compile(
    r"(?:\W|\b(?:please|hey|hi|hello|ok|okay|so|but|and|also|just|oh|well|now|look|listen|actually|"
    r"by the way|btw|this|one thing|היי|שלום|בבקשה|אבל|אז|רק|נא)\b)*",
    re.IGNORECASE,
)


def remove_opt_outs(turn: str) -> StorableText:
    """The turn without what the speaker opted out. Quotations and code contain no opt-outs."""
    own = mask_foreign_text(turn)
    if not _OPT_OUT.search(own):
        return StorableText(turn)
    kept = turn
    opt_outs: list[str] = []
    start = len(own)
    for sentence in reversed(split_sentences(own)):
        end = own.rfind(sentence, 0, start) + len(sentence)
        start = end - len(sentence)
        opt_out = None if _FUTURE_RULE.search(sentence) else _OPT_OUT.search(sentence)
        if opt_out is None:
            continue
        opt_outs.insert(0, turn[start + opt_out.start() : start + opt_out.end()].strip(" ,.:;–—-"))
        if _WHOLE_TURN.search(opt_out[0]) or _FILLER.fullmatch(sentence[: opt_out.start()]):
            return StorableText("", tuple(opt_outs))
        kept = kept[:start] + OPT_OUT_MARK + kept[end:]
    return StorableText(kept if kept.replace(OPT_OUT_MARK, "").strip() else "", tuple(opt_outs))


# Headings of our context blocks: the lines below belong to the block, up to the first ordinary
# line.
CONTEXT_HEADINGS = (
    "Memory Context",
    "Who you are",
    "Rules to follow",
    "Quoted text",
    "About the user",
    "To keep in mind",
    "People and things that matter",
    "Coming up",
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
# A line that shows its origin: "- [tasks] …", "- +created: …".
_DELTA_LINE = re.compile(
    r"\s*(?:>\s*)*[-*•]\s*"
    r"(?:\+created|↑updated|↔merged|[−-]forgotten|×deleted|⟲restored|\?disputed)\s*:",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\s*(?:>\s*)*(?:[-*•]\s*)?\[(?P<word>[\w -]{1,60})\](?:\(\d+\))?\s+\S")


def remove_recalled_lines(text: str, words: frozenset[str]) -> str:
    """A turn without recalled lines. ``words``: the categories and kinds that bullets may begin
    with; "[fix] the door" is the user's own text."""
    kept: list[str] = []
    in_block = in_bullet = False  # in a block; after a bullet, whose text may span lines
    for line in text.split("\n"):
        if _HEADING.match(line):
            in_block, in_bullet = True, False
            continue
        in_bullet = bool(line.strip()) and (in_bullet or _is_recalled(line, words))
        in_block = in_block and (in_bullet or _BLOCK_LINE.match(line) is not None)
        if not in_block and not in_bullet:
            kept.append(line)
    return "\n".join(kept)


def _is_recalled(line: str, words: frozenset[str]) -> bool:
    bullet = _BULLET.match(line)
    return (bullet is not None and bullet["word"].casefold() in words) or bool(
        _DELTA_LINE.match(line)
    )
