"""Looks up quoted words in passages, without regard to case, space and punctuation.

Words must match whole; where a model left something out, it writes an ellipsis.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.language.text.detect import Script, script_of_letter
from commonplace.language.text.normalise import INVISIBLE, VOWEL_POINTS
from commonplace.model.unicode_text import normal_form

MAX_GAPS = 3
MAX_LEFT_OUT = 400  # characters between the first and the last part of a quote
_SPACED = frozenset((None, Script.LATIN, Script.CYRILLIC, Script.GREEK))
_ELLIPSIS = re.compile(r"\s*(?:\[(?:…|\.\.\.)\]|\((?:…|\.\.\.)\)|…|\.{3,})\s*")
# Part of the words around them: «ח״ן», "don't" and "dont".
_DROPPED = frozenset("'’‘ʼ`´\"“”„«»״׳‹›") | frozenset(map(chr, (*INVISIBLE, *VOWEL_POINTS)))


@dataclass(frozen=True, slots=True)
class FoldedPassage:
    """Words separated by single spaces, with the place of each character in the text."""

    text: str  # with a space at both ends
    places: Sequence[int]
    end: int  # of the written text


@dataclass(frozen=True, slots=True)
class QuotePlace:
    index: int  # of the passage, in the order in which they were given
    start: int
    end: int


def fold_quote(text: str) -> str:
    return fold_passage(text).text.strip()


def fold_passage(text: str) -> FoldedPassage:
    folded: list[str] = [" "]
    places: list[int] = [0]
    for start, cluster in _clusters(text):
        for character in _fold_cluster(cluster):
            if character == " " and folded[-1] == " ":
                continue
            folded.append(character)
            places.append(start)
    if folded[-1] != " ":
        folded.append(" ")
        places.append(len(text))
    return FoldedPassage("".join(folded), places, len(text))


def _clusters(text: str) -> list[tuple[int, str]]:
    """Letters with their combining marks, which may be written in one character or in several."""
    if text.isascii():
        return list(enumerate(text))
    found: list[tuple[int, str]] = []
    for place, character in enumerate(text):
        if found and ord(character) >= 0x300 and unicodedata.category(character)[0] == "M":
            start, cluster = found[-1]
            found[-1] = (start, cluster + character if len(cluster) < 8 else cluster)
        else:
            found.append((place, character))
    return found


def _fold_cluster(cluster: str) -> str:
    if cluster.isalnum() and cluster.isascii():
        return cluster.lower()
    if cluster in _DROPPED:
        return ""
    kept = "".join(c for c in cluster if c not in _DROPPED)
    folded = normal_form(kept, "NFKC").casefold()
    return "".join(c if unicodedata.category(c)[0] in "LNMS" else " " for c in folded)


def find_quote(
    quote: str, passages: Sequence[FoldedPassage], first: int | None
) -> QuotePlace | None:
    """Where the words stand: in the passage ``first``, else in the only other one that has them.
    An ellipsis may be the passage's own."""
    whole, parts = fold_quote(quote), _parts(quote)
    if first is not None and len(parts) > 1 and (span := _find_parts([whole], passages[first])):
        return QuotePlace(first, *span)
    if not 0 < len(parts) <= MAX_GAPS + 1:
        return None
    if first is not None and (span := _find_parts(parts, passages[first])):
        return QuotePlace(first, *span)
    others = [
        QuotePlace(index, *span)
        for index, passage in enumerate(passages)
        if index != first and (span := _find_parts(parts, passage))
    ]
    return others[0] if len(others) == 1 else None


def _parts(quote: str) -> list[str]:
    return [folded for part in _ELLIPSIS.split(quote) if (folded := fold_quote(part))]


def _find_parts(parts: Sequence[str], passage: FoldedPassage) -> tuple[int, int] | None:
    """From the first part to the last, in this order."""
    start = end = -1
    for part in parts:
        at = _find(part, passage, max(end, 0))
        if at < 0:
            return None
        start = at if start < 0 else start
        end = at + len(part)
    if end - start > sum(map(len, parts)) + MAX_LEFT_OUT:
        return None
    return passage.places[start], passage.places[end] if end < len(passage.places) else passage.end


def _find(part: str, passage: FoldedPassage, after: int) -> int:
    """Whole words, else inside of words: a prefix may be cut, and some scripts have no spaces."""
    text, first = passage.text, max(0, after - 1)
    at = text.find(f" {part} ", first)
    if at >= 0:
        return at + 1
    at = text.find(f" {part}s ", first)
    if at >= 0 and _is_dropped_between(passage, at + len(part)):
        return at + 1
    edges = {script_of_letter(part[0]), script_of_letter(part[-1])}
    is_free = len(part) > 1 and edges.isdisjoint(_SPACED)
    return text.find(part, after) if is_free else -1


def _is_dropped_between(passage: FoldedPassage, place: int) -> bool:
    """Whether an apostrophe follows: "my sister Ann" of "my sister Ann's car"."""
    return passage.places[place + 1] - passage.places[place] > 1
