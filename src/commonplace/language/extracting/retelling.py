"""What a sentence says, for whoever reads it without knowing who said it when."""

from __future__ import annotations

import re
from collections.abc import Sequence

from commonplace.language.extracting.found import FoundNode
from commonplace.language.extracting.marking import MARK, Marked
from commonplace.language.extracting.utterances import OWNER
from commonplace.language.observing import english, hebrew
from commonplace.language.observing.in_sentence import USER
from commonplace.language.observing.when import with_dates
from commonplace.language.past import is_past

LONGEST = 280


def retold(marked: Marked, part: str, nodes: Sequence[FoundNode]) -> str:
    """A part of a sentence in the third person and with dates; else the sentence as it stands, or
    nothing where it has another one's "I"."""
    told = retold_wholly(marked, part, nodes)
    if told:
        return told
    said = marked.utterance
    if said.speaker != OWNER and _says_i(marked.text):
        return ""
    return shortened(with_dates(said.written, said.at, hebrew.is_hebrew(said.own)).text)


def _says_i(text: str) -> bool:
    """In marks, or in words where nobody knows who speaks."""
    return any(mark[3] in ("i", "m") for mark in MARK.finditer(text)) or bool(_I.search(text))


_I = re.compile(r"\b(?:I|me|my|we|us|our)\b|(?<![א-ת])(?:אני|אנחנו|שלי|שלנו)(?![א-ת])")


def retold_wholly(marked: Marked, part: str, nodes: Sequence[FoundNode]) -> str:
    """Empty where it cannot be understood without the rest of the talk."""
    said, utterance = marked.in_words(part, nodes).strip(" ,;:–-"), marked.utterance
    is_hebrew = hebrew.is_hebrew(said)
    if is_hebrew and any(mark[3] in ("i", "m") for mark in MARK.finditer(part)):
        # The endings of its words are no longer as they were said: as it was written, then.
        said = utterance.own.strip(" ,;:–-.")
    subject = USER if utterance.speaker in (None, OWNER) else nodes[utterance.speaker].name
    tell = hebrew.retold if is_hebrew else english.retold
    told = tell(said, subject)
    if not told:
        return ""
    return shortened(with_dates(told, utterance.at, is_hebrew, backwards=is_past(said)).text)


def shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
