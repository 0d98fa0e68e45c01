"""Whether a sentence is meant as a statement, or why not: a question, a wish, a joke, a request."""

from __future__ import annotations

from commonplace.language.observing.patterns import Bilingual, any_of, data

_DATA = data("meant")
_REASONS: dict[str, Bilingual] = {
    reason: any_of(each, _DATA["words"]) for reason, each in _DATA["reasons"].items()
}


def not_meant(sentence: str) -> str | None:
    """Why a sentence is no statement; None for one that is."""
    for reason, pattern in _REASONS.items():
        if pattern.search(sentence):
            return reason
    return None
