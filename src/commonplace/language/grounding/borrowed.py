"""Whether a statement says anything that is new: words of earlier statements alone are no news.

A model is given what is known, so that it understands "he moved it to Friday". From the same words
it can make other statements, which nobody said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commonplace.language.grounding.checks.predicates import SaidWords, joining_words
from commonplace.language.grounding.checks.replaced import tells_change
from commonplace.language.grounding.checks.words import content_forms
from commonplace.language.grounding.evidence import PassageEvidence, Support

_TOKEN = re.compile(r"[^\W_]+(?:[.,:\-&״׳][^\W_]+)*")
_OF_THE_USER = content_forms("The user's המשתמש המשתמשת", "en")
_THIRD_PERSON = re.compile(
    r"\b(?:he|she|him|her|his|hers|they|them|their|it|its|[hs]?hes|theyre|who)\b", re.IGNORECASE
)
_HEBREW = re.compile("[א-ת]")


@dataclass(frozen=True, slots=True)
class _Word:
    forms: frozenset[str]
    is_said: bool
    is_name: bool
    is_after_verb: bool


def is_only_borrowed(text: str, support: Support, corrected: Sequence[PassageEvidence]) -> bool:
    """Whether all that is said of it stands in earlier statements. What a ``corrected`` one says
    may stand in the text, beside something new, or where the turns tell of a change."""
    words = _words_of(text, support.said)
    borrowed = [word for word in words if not word.is_said]
    lent = _lenders(borrowed, [each for each in support.known if each not in corrected])
    if not lent and not corrected:
        return False
    known = frozenset().union(*(each.terms for each in (*lent, *corrected)))
    news = [word for word in words if word.is_said and word.forms.isdisjoint(known)]
    if not news and not (corrected and _tell_change(support)):
        return True
    if not lent or _HEBREW.search(text):
        return False
    lent_words = frozenset().union(*(each.terms for each in lent))
    return _has_borrowed_predicate(words, lent_words) or _is_of_nobody(words, lent, support)


def _tell_change(support: Support) -> bool:
    return any(tells_change(each.given.text) for each in support.passages)


def _words_of(text: str, said: SaidWords) -> list[_Word]:
    found, is_after_verb = [], False
    for place, token in enumerate(_TOKEN.findall(text)):
        forms = content_forms(token, "en") - _OF_THE_USER
        is_said = not forms.isdisjoint(said.forms)
        is_name = token[0].isupper() and (place > 0 or token.casefold() != "the")
        if forms:
            found.append(_Word(forms, is_said, is_name, is_after_verb))
        is_after_verb = is_after_verb or token in joining_words()
    return found


def _lenders(borrowed: Iterable[_Word], known: Sequence[PassageEvidence]) -> list[PassageEvidence]:
    """The earlier statements that explain the words, each with the most of those that are left."""
    left = [word.forms for word in borrowed]
    chosen: list[PassageEvidence] = []
    while left:
        best = max(known, key=lambda each: _count(left, each), default=None)
        if best is None or not _count(left, best):
            break
        chosen.append(best)
        left = [forms for forms in left if forms.isdisjoint(best.terms)]
    return chosen


def _count(words: Iterable[frozenset[str]], statement: PassageEvidence) -> int:
    return sum(not forms.isdisjoint(statement.terms) for forms in words)


def _has_borrowed_predicate(words: Sequence[_Word], lent: frozenset[str]) -> bool:
    """ "… is Ilka": what stands after the verb was said of somebody else before."""
    after = [word for word in words if word.is_after_verb]
    is_lent = any(not word.is_said and not word.forms.isdisjoint(lent) for word in after)
    return is_lent and not any(word.is_said for word in after)


def _is_of_nobody(
    words: Sequence[_Word], lent: Iterable[PassageEvidence], support: Support
) -> bool:
    """Whether a name that nobody said has nothing in the turns that means it: no pronoun, and no
    word of the statement that it is from."""
    names = frozenset().union(*(word.forms for word in words if word.is_name and not word.is_said))
    if any(_THIRD_PERSON.search(each.given.text) for each in support.passages):
        return False
    said = support.said.forms
    naming = [each for each in lent if not names.isdisjoint(each.terms)]
    return bool(naming) and all(said.isdisjoint(each.terms - _OF_THE_USER) for each in naming)
