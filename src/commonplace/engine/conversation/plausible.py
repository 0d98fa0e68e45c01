"""What a model calls out of date, checked against the words that it says this of.

"I live in Haifa" does not tell that somebody lives there no more. Each word of such a claim may be
in the passage: only what is asserted there decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from commonplace.language.grounding.negation import polarity_of
from commonplace.language.grounding.values import (
    DropReason,
    GivenPassage,
    GroundedFindings,
    GroundedMemory,
)
from commonplace.language.text.sentences import is_past
from commonplace.language.text.terms import analyse

_CLAUSE_END = re.compile(r"[,;:.!?()\n]+(?:\s|$)|\s[–—-]+\s")
_OF_THE_USER = frozenset(analyse("the user's user I my me המשתמש המשתמשת der Nutzer el usuario"))


def keep_plausible(found: GroundedFindings, given: Sequence[GivenPassage]) -> GroundedFindings:
    texts = {each.number: each.text for each in given}
    dropped = Counter(found.dropped)
    kept = []
    for each in found.memories:
        reason = _implausible(each, texts.get(each.passage, ""), given)
        if reason is None:
            kept.append(each)
        else:
            dropped[reason] += 1
    return replace(found, memories=tuple(kept), dropped=dropped)


def _implausible(
    found: GroundedMemory, text: str, given: Sequence[GivenPassage]
) -> DropReason | None:
    around = frozenset(term for each in given for term in analyse(each.text))
    words = _terms(found.candidate.content)
    if words and words.isdisjoint(around):
        return DropReason.UNGROUNDED_WORDS
    if found.corrects and asserts(text, found.corrects):
        return DropReason.NEGATED
    if found.ended and not _tells_an_end(text):
        return DropReason.NEGATED
    return None


def asserts(text: str, claim: str) -> bool:
    """Whether one clause of the text has all words of the claim, and denies nothing."""
    wanted = _terms(claim)
    return bool(wanted) and any(
        wanted <= _terms(clause) and not polarity_of(clause).has_denial
        for clause in _CLAUSE_END.split(text)
        if clause
    )


def _tells_an_end(text: str) -> bool:
    return polarity_of(text).has_denial or any(map(is_past, _CLAUSE_END.split(text)))


def _terms(text: str) -> frozenset[str]:
    return frozenset(analyse(text)) - _OF_THE_USER
