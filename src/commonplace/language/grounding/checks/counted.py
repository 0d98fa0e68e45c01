"""Numbers beside a noun that the passages count otherwise: 2 cats, of "3 cats and 2 dogs".

English and Hebrew. Only what is certain counts: the passages say another number of the noun, and
this one of something else wherever they have it. A number that stands alone ("it's 950") may be
anything's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from commonplace.language.compare.tokens import CompareToken, CompareTokenKind
from commonplace.language.grounding.checks.tokens import tokens_of
from commonplace.language.text.lexicon import parse_word_list, stop_words
from commonplace.language.text.numbers import parse_number_words
from commonplace.language.text.terms import term_of

_LANGUAGES = frozenset(("en", "he"))
_MAX_AFTER = 3  # words of a noun after its number: "3 black cats"
_MAX_BEFORE = 2  # and before: "storage unit 145"
_JOINS = frozenset(parse_word_list("of"))
_EQUALS = frozenset(
    parse_word_list("costs cost costing is are was were = : הוא היא עולה עלה עולים עלתה היה היתה")
)
_ABOUT = frozenset(parse_word_list("about around roughly only just exactly almost nearly בערך רק"))
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_AND_NUMBER = re.compile("(?<![א-ת])ו([א-ת]{3,})")
_AND_WORD = re.compile("ו[א-ת]{3}")
_UNSAID = frozenset((Decimal(1),))  # "one of them"


@dataclass(frozen=True, slots=True)
class CountedNoun:
    """A number with the words of what it counts."""

    value: Decimal
    words: frozenset[str]
    unit: str = ""  # its dimension: "length", "eur"

    @property
    def is_alone(self) -> bool:
        return not (self.words or self.unit)


def has_number_of_another(text: str, passages: Iterable[str], language: str) -> bool:
    """Whether a number of the text stands beside a noun to which the passages give another one."""
    if language not in _LANGUAGES:
        return False
    claimed = list(_counted_nouns(text, language))
    if all(each.is_alone for each in claimed):
        return False
    stated = [each for passage in passages for each in _counted_nouns(passage, language)]
    free = _words_without_number(text, claimed, language)
    return any(_is_of_another(each, claimed, stated, free) for each in claimed)


def _is_of_another(
    claim: CountedNoun,
    claimed: Sequence[CountedNoun],
    stated: Sequence[CountedNoun],
    free: frozenset[str],
) -> bool:
    own = [each for each in stated if each.value == claim.value]
    if claim.value in _UNSAID or not own or any(each.is_alone for each in own):
        return False
    others = [each for each in stated if each.value != claim.value]
    return _has_other_unit(claim, own, others) or _has_other_noun(claim, claimed, own, others, free)


def _has_other_unit(
    claim: CountedNoun, own: Sequence[CountedNoun], others: Sequence[CountedNoun]
) -> bool:
    """30 km, of "5 km in 30 minutes"."""
    units = {each.unit for each in own}
    if not claim.unit or not units.isdisjoint(("", claim.unit)):
        return False
    return claim.unit in {each.unit for each in others}


def _has_other_noun(
    claim: CountedNoun,
    claimed: Sequence[CountedNoun],
    own: Sequence[CountedNoun],
    others: Sequence[CountedNoun],
    free: frozenset[str],
) -> bool:
    counted = frozenset().union(*(each.words for each in own))
    elsewhere = frozenset().union(*(each.words for each in others))
    only = counted - elsewhere  # what tells this number from the others
    if not only or not only.isdisjoint(claim.words | free):
        return False
    return any(
        not _is_rightly_counted(word, claimed, others) for word in claim.words & elsewhere - counted
    )


def _is_rightly_counted(
    word: str, claimed: Sequence[CountedNoun], others: Sequence[CountedNoun]
) -> bool:
    """Whether the text has the noun with its own number, too: "3 coffees cost 12"."""
    values = {each.value for each in others if word in each.words}
    return any(each.value in values and word in each.words for each in claimed)


def _words_without_number(
    text: str, claimed: Iterable[CountedNoun], language: str
) -> frozenset[str]:
    counted = frozenset().union(*(each.words for each in claimed))
    words = (_noun(token, language) for token in tokens_of(text, language))
    return frozenset(word for word in words if word) - counted


def _counted_nouns(text: str, language: str) -> Iterator[CountedNoun]:
    tokens = tokens_of(_AND_NUMBER.sub(_apart, text) if language == "he" else text, language)
    for place, token in enumerate(tokens):
        if token.kind in (CompareTokenKind.TIME, CompareTokenKind.DATE, CompareTokenKind.CODE):
            yield from (CountedNoun(value, frozenset()) for value in _values_in(token.text))
        elif token.kind is CompareTokenKind.NUMBER and token.bare:
            yield _counted_noun(tokens, place, language)


def _apart(match: re.Match[str]) -> str:
    """«ושני כלבים»: the number without "and"."""
    is_number = parse_number_words([match[1]], 0, "he") is not None
    return f", {match[1]}" if is_number else match[0]


def _counted_noun(tokens: Sequence[CompareToken], place: int, language: str) -> CountedNoun:
    token = tokens[place]
    unit = token.term.split(":")[1] if token.term.startswith("q:") else ""
    after = _nouns_after(tokens, place, language)
    before = _nouns_before(tokens, place, language, is_counting=bool(after))
    return CountedNoun(Decimal(token.bare[2:]), frozenset((*before, *after)), unit)


def _nouns_after(tokens: Sequence[CompareToken], place: int, language: str) -> list[str]:
    found: list[str] = []
    for token in tokens[place + 1 : place + 1 + _MAX_AFTER]:
        noun = _noun(token, language)
        is_next = language == "he" and _AND_WORD.match(token.word) is not None
        if is_next or not (noun or (found and token.word in _JOINS)):
            break
        found += [noun] if noun else []
    return found


def _nouns_before(
    tokens: Sequence[CompareToken], place: int, language: str, *, is_counting: bool
) -> list[str]:
    """ "The deposit is 1,800", "deposit 1,800"; but "packed 4 tents" says no number of a noun
    before it."""
    at = place - 1
    while at >= 0 and tokens[at].word in _ABOUT:
        at -= 1
    is_equal = at >= 0 and (tokens[at].role == "copula" or tokens[at].word in _EQUALS)
    if is_counting and not is_equal:
        return []
    at -= is_equal
    found: list[str] = []
    while at >= 0 and len(found) < _MAX_BEFORE and (noun := _noun(tokens[at], language)):
        found.append(noun)
        at -= 1
    return found


def _noun(token: CompareToken, language: str) -> str:
    """The term of a word that may be a noun, or empty."""
    is_word = token.kind in (CompareTokenKind.WORD, CompareTokenKind.NAME)
    if not is_word or token.role or token.word in stop_words(language):
        return ""
    term = token.term.rsplit(":", 1)[-1]
    return term if len(term) > 1 and term_of(token.word, language) is not None else ""


def _values_in(text: str) -> Iterator[Decimal]:
    for digits in _DIGITS.findall(text):
        for part in {digits, *re.split(r"[.,]", digits)}:
            try:
                yield Decimal(part.replace(",", ""))
            except InvalidOperation:
                continue
