"""The sentence of new passages that carries an item which quotes nothing.

What a caller hands over without a quote is checked as strictly as what a model quotes: it rests on
one sentence, not on a whole turn in which a question or somebody else's words may stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.language.grounding.checks.time_names import named_times
from commonplace.language.grounding.checks.words import (
    content_forms,
    content_words,
    count_found,
    count_missing,
)
from commonplace.language.grounding.evidence import ENOUGH_WORDS, GivenEvidence
from commonplace.language.grounding.items import MAX_QUOTE
from commonplace.language.grounding.relation_types import role_type
from commonplace.language.text.normalise import split_words
from commonplace.language.text.sentences import split_sentences

_SMALL_START = re.compile(r"(?<=[^\W\d_]{3}[.!?])\s+(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class CarryingSentence:
    passage: int  # the number of its passage
    text: str
    found: int  # words of the item that it has
    counted: int  # words that it should have

    @property
    def is_enough(self) -> bool:
        return self.found > 0 and self.found >= ENOUGH_WORDS * self.counted


def find_carrying_sentence(
    text: str, evidence: GivenEvidence, *, relation: str = ""
) -> CarryingSentence | None:
    """The one with most words of the text; None: nothing is new. ``relation``: its type, which a
    word of the sentence may tell ("son")."""
    return max(_sentences(text, evidence, relation), key=lambda each: each.found, default=None)


def _sentences(text: str, evidence: GivenEvidence, relation: str) -> Iterator[CarryingSentence]:
    """Words that other sentences have count neither way: who "he" is may have been said before."""
    times = named_times(text)
    elsewhere = frozenset().union(*(each.terms for each in evidence.passages))
    for index, passage in enumerate(evidence.passages):
        if passage.given.is_context:
            continue
        words = content_words(text, passage.language)
        confirmed = evidence.confirmed_by(index, is_plan=True)
        agreed = confirmed.terms if confirmed else frozenset()
        for sentence in _split(passage.given.text):
            own = content_forms(sentence, passage.language) | agreed
            found = count_found(words, own)
            missing = count_missing(words, own | elsewhere)
            said = int(bool(times & named_times(sentence))) + _tells(relation, sentence)
            where = passage.given.number
            yield CarryingSentence(where, sentence, found + said, found + said + missing)


def _split(text: str) -> Iterator[str]:
    """Also before a small letter: few people type capitals on a phone."""
    for sentence in split_sentences(text, MAX_QUOTE):
        yield from _SMALL_START.split(sentence)


def _tells(relation: str, sentence: str) -> bool:
    return bool(relation) and any(role_type(word) == relation for word in split_words(sentence))
