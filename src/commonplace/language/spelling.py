"""A query's terms as the texts spell them: what is unknown and looks misspelt is put right."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import SequenceMatcher
from typing import Protocol

_SHORTEST = 4
_SURE_LETTERS = 2  # people rarely get the beginning wrong
_ALIKE = 0.8
_MOST_OTHER_LETTERS = 2


class Vocabulary(Protocol):
    def __contains__(self, term: str) -> bool: ...
    def beginning_with(self, letters: str) -> list[str]: ...


def as_spelled_here(
    terms: Iterable[str], known: Vocabulary, proper: Collection[str] = ()
) -> dict[str, str]:
    """Names stay as they are: another name is another person."""
    return {
        term: term if term in known or term in proper else _nearest(term, known) for term in terms
    }


def _nearest(term: str, known: Vocabulary) -> str:
    """The term itself when nothing is near enough: a number or a short word is never guessed."""
    if len(term) < _SHORTEST or any(character.isdigit() for character in term):
        return term
    matcher = SequenceMatcher(None, b=term)
    best, found = _ALIKE, term
    for other in known.beginning_with(term[:_SURE_LETTERS]):
        if len(other) < _SHORTEST or abs(len(other) - len(term)) > _MOST_OTHER_LETTERS:
            continue
        matcher.set_seq1(other)
        if matcher.quick_ratio() < best:
            continue
        alike = matcher.ratio()
        if alike > best or (alike == best and (found == term or other < found)):
            best, found = alike, other
    return found
