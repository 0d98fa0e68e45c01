"""Checks of what a model says about two near statements. Pure.

A model's verdict alone replaces nothing: the words have to allow it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from commonplace.language.compare.compare import CompareVerdict, compare
from commonplace.language.text.terms import analyse

_COVERED = 0.8  # of a statement's terms that a fuller one has
_SHARED = 0.4  # of the earlier statement's terms, from which it may be replaced
_MANY = 3  # pairs from which it is implausible that all of them are out of date
_DIGITS = re.compile(r"\d")
# A word with a capital letter that does not begin the sentence.
_NAME = re.compile(r"(?<=[^\s.!?:])\s+([A-ZÀ-ÖØ-ÞА-ЯΑ-Ω][\w'’-]*)")
_OF_THE_USER = frozenset(analyse("the user's user המשתמש המשתמשת der Nutzer el usuario"))
_SEVERAL_HOLD = frozenset(("preferences", "interests", "goals", "tasks"))  # categories


class PairVerdict(StrEnum):
    SAME = "same"
    NEWER_REPLACES = "newer_replaces"
    BOTH_TRUE = "both_true"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class ComparedPair:
    earlier: str
    later: str
    verdict: PairVerdict
    category: str = ""  # of the earlier one


def read_verdicts(value: object) -> Iterator[tuple[int, PairVerdict]]:
    """By the number of the pair; what has another form is left out."""
    items = value.get("pairs") if isinstance(value, dict) else None
    for each in items if isinstance(items, list) else ():
        match each:
            case {"pair": int(number), "verdict": str(verdict)} if verdict in tuple(PairVerdict):
                yield number, PairVerdict(verdict)


def replaceable(pairs: Sequence[ComparedPair]) -> list[bool]:
    """For each pair, whether the later statement may take the earlier one's place."""
    replaced = sum(each.verdict is PairVerdict.NEWER_REPLACES for each in pairs)
    is_implausible = len(pairs) >= _MANY and replaced == len(pairs)
    return [not is_implausible and may_replace(each) for each in pairs]


def may_replace(pair: ComparedPair) -> bool:
    match pair.verdict:
        case PairVerdict.SAME:
            return _says_the_same(pair.earlier, pair.later)
        case PairVerdict.NEWER_REPLACES:
            is_single = pair.category not in _SEVERAL_HOLD
            return is_single and _answers_the_same(pair.earlier, pair.later)
        case _:
            return False


def may_become_one(text: str, fuller: str) -> bool:
    """Whether a text may end because a fuller one is said to say the same: each of its words is in
    there, and neither names, numbers, negations nor limits differ."""
    if not set(_about(text)) <= set(_about(fuller)) or not _says_the_same(text, fuller):
        return False
    return compare(text, fuller).verdict in _NO_DIFFERENCE


_NO_DIFFERENCE = frozenset(
    (CompareVerdict.EQUAL, CompareVerdict.SAME, CompareVerdict.MORE, CompareVerdict.OPEN)
)


def says_no_more(text: str, fuller: str) -> bool:
    """Whether nearly all words of a text, and each of its numbers, are in the fuller one."""
    terms, others = set(_about(text)), set(_about(fuller))
    if not terms or not _numbers(terms) <= others:
        return False
    return len(terms & others) >= _COVERED * len(terms)


def _says_the_same(earlier: str, later: str) -> bool:
    """No number and no name of either is missing in the other, none changes its place, and nothing
    is negated."""
    one, other = set(analyse(earlier)), set(analyse(later))
    names, later_names = _names(earlier), _names(later)
    return (
        _numbers(one) == _numbers(other)
        and set(names) <= other
        and set(later_names) <= one
        and _in_order(names, later_names)
        and compare(earlier, later).verdict is not CompareVerdict.CHANGED
    )


def _in_order(names: Sequence[str], others: Sequence[str]) -> bool:
    """ "Dana paid Tom" is not "Tom paid Dana"."""
    common = set(names) & set(others)
    return [n for n in names if n in common] == [n for n in others if n in common]


def _answers_the_same(earlier: str, later: str) -> bool:
    """They begin with the same subject, and share enough words."""
    one, other = _about(earlier), _about(later)
    if not one or not other or one[0] != other[0]:
        return False
    lost = set(_names(earlier)) - set(other)
    return len(set(one) & set(other)) >= _SHARED * len(set(one)) and len(lost) <= 1


def _about(text: str) -> list[str]:
    return [term for term in analyse(text) if term not in _OF_THE_USER]


def _numbers(terms: set[str]) -> set[str]:
    return {term for term in terms if _DIGITS.search(term)}


def _names(text: str) -> list[str]:
    """In order; a capital letter at the beginning tells nothing."""
    return [term for name in _NAME.findall(text) for term in analyse(name)]
