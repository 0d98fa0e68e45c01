"""Where the quoted words of an item stand, and the sentence around them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.language.grounding.checks.actors import TextOfSpeaker, has_swapped_actors
from commonplace.language.grounding.evidence import GivenEvidence, PassageEvidence, Support
from commonplace.language.grounding.items import QuotedItem
from commonplace.language.grounding.quotes import QuotePlace, find_quote
from commonplace.language.grounding.values import DropReason

_MAX_SENTENCE = 400  # characters on each side of a quote
_SENTENCE_END = re.compile(r"[.!?…。！？\n]+(?:\s|$)|[。！？\n]")
_CLAUSE_EDGE = re.compile(rf"{_SENTENCE_END.pattern}|[,;:](?:\s|$)|\s[–—-]+\s")
_CLAUSE_END = re.compile(r"[,;:()]\s|\s[–—-]+\s|\s(?:and|but|so|und|aber|y|pero|אבל)\s")


class Rejected(Exception):
    """The item is dropped."""

    def __init__(self, reason: DropReason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class PlacedQuote:
    index: int  # of the passage that the item rests on
    passage: PassageEvidence
    start: int
    end: int
    basis: str  # the words that say it: the quote's clauses, and what it confirms

    @property
    def quote(self) -> str:
        """As it is written in the passage."""
        return self.passage.given.text[self.start : self.end].strip()

    @property
    def said(self) -> TextOfSpeaker:
        """The basis, and who says it."""
        return replace(self.passage.said, text=self.basis)

    @property
    def sentence(self) -> str:
        return sentence_around(self.passage.given.text, self.start, self.end)

    @property
    def at(self) -> datetime:
        return self.passage.given.at


def place_quote(item: QuotedItem, evidence: GivenEvidence, *, is_plan: bool = False) -> PlacedQuote:
    """Raises Rejected. Words of a machine that the owner confirms rest on the confirmation."""
    first = evidence.by_number.get(item.passage) if item.passage is not None else None
    found = find_quote(item.quote, evidence.folded, first)
    if found is None:
        raise Rejected(DropReason.NO_QUOTE)
    if evidence.passages[found.index].is_by_machine:
        confirmation = _confirmation(found, evidence, is_plan)
        if confirmation is not None:
            return confirmation
        found = find_quote(item.quote, evidence.folded_of_people, None)  # what it repeats
        if found is None:
            raise Rejected(DropReason.NOT_THE_OWNER)
    passage = evidence.passages[found.index]
    if passage.given.is_context:
        raise Rejected(DropReason.NOT_NEW)
    basis = _clauses_around(passage.given.text, found.start, found.end)
    if confirmed := evidence.confirmed_by(found.index, is_plan=is_plan):
        basis = f"{basis}\n{confirmed.given.text[:_MAX_SENTENCE]}"
    return PlacedQuote(found.index, passage, found.start, found.end, basis)


def _confirmation(found: QuotePlace, evidence: GivenEvidence, is_plan: bool) -> PlacedQuote | None:
    index = found.index + 1
    if index >= len(evidence.passages) or not evidence.confirmed_by(index, is_plan=is_plan):
        return None
    passage = evidence.passages[index]
    if passage.given.is_context:
        raise Rejected(DropReason.NOT_NEW)
    words = evidence.passages[found.index].given.text
    basis = sentence_around(words, found.start, found.end)
    return PlacedQuote(index, passage, 0, min(len(passage.given.text), _MAX_SENTENCE), basis)


def sentence_around(text: str, start: int, end: int) -> str:
    """From the last end of a sentence before to the first one after."""
    return _extended(text, start, end, _SENTENCE_END)


def _clauses_around(text: str, start: int, end: int) -> str:
    """The clauses that a quote begins and ends in: a negation may stand right before it."""
    return _extended(text, start, end, _CLAUSE_EDGE)


def _extended(text: str, start: int, end: int, edge: re.Pattern[str]) -> str:
    before = text[max(0, start - _MAX_SENTENCE) : start]
    after = text[end : end + _MAX_SENTENCE]
    begins = max((match.end() for match in edge.finditer(before)), default=0)
    stop = edge.search(after)
    return before[begins:] + text[start:end] + (after[: stop.start()] if stop else after)


def clause_with(words: str, place: PlacedQuote) -> str:
    """The part of the quote's sentence that has these words, else that of another sentence."""
    wanted = words.casefold()
    for sentence in (place.sentence, _sentence_with(wanted, place)):
        parts = _CLAUSE_END.split(sentence)
        found = next((part for part in parts if wanted and wanted in part.casefold()), None)
        if found is not None:
            return found
    return place.sentence


def _sentence_with(wanted: str, place: PlacedQuote) -> str:
    text = place.passage.given.text
    start = text.casefold().find(wanted)
    return sentence_around(text, start, start + len(wanted)) if start >= 0 else ""


def is_swapped(text: str, place: PlacedQuote, support: Support, evidence: GivenEvidence) -> bool:
    """Whether the text tells who did what to whom the other way round."""
    around = [each.said for each in support.witnesses]
    language = support.language_of(text)
    return has_swapped_actors(text, place.said, around, language, evidence.owner_words)
