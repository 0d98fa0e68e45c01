"""Whether a sentence is meant as a statement, or why not: a question, a wish, a joke, a request."""

from __future__ import annotations

from commonplace.language.observing.patterns import Bilingual, any_of, data

_DATA = data("meant")
_REASONS: dict[str, Bilingual] = {
    reason: any_of(each, _DATA["words"]) for reason, each in _DATA["reasons"].items()
}
_TAKEN_BACK, _CORRECTS = any_of(_DATA["taken_back"]), any_of(_DATA["corrects"])


def not_meant(sentence: str) -> str | None:
    """Why a sentence is no statement; None for one that is."""
    for reason, pattern in _REASONS.items():
        if pattern.search(sentence):
            return reason
    return None


def taken_back(sentence: str) -> bool:
    """Whether the end of a sentence says that its beginning is not so."""
    return _TAKEN_BACK.search(sentence) is not None


def corrects(sentence: str) -> bool:
    """Whether a sentence only puts right the one before it, which is then not so."""
    return _CORRECTS.match(sentence) is not None
