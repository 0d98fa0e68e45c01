"""Sentences that say a change: "they changed the garage code to 9027", "my new manager is Raj".

A plain form states what holds since: "the garage code is 9027". The patterns are in changes.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from commonplace.language.text.lexicon import any_pattern, fill_word_lists, load_patterns
from commonplace.language.text.sentences import split_sentences
from commonplace.language.text.typed_values import find_typed_values

_DATA = load_patterns("text/changes")
_UNSURE, _OPENER, _CORRECTS = (
    any_pattern(_DATA["unsure"]),
    any_pattern(_DATA["opener"]),
    any_pattern(_DATA["corrects"]),
)
_DENIED = tuple(re.compile(fill_word_lists(one, {}), re.IGNORECASE) for one in _DATA["denied"])
# Up to five words; a comma or point only inside a number.
_VALUE = (
    r"(?P<value>(?:[^\s,.;!?()]|(?<=\d)[.,](?=\d)|(?<=\bDr)\.)+"
    r"(?: (?:[^\s,.;!?()–]|(?<=\d)[.,](?=\d))+){0,4}?)"
    r"(?=\s*(?:[,;!?()–]|\.(?!\d)|$)|\s+{end_word}\b)"
)
_NAME = re.compile(r"(?:(?:a|an|the|dr|mr|mrs|ms|miss|prof)\.? )?(?:(?-i:[A-Z])|[א-ת]|dr\b)", re.I)
_OWNER = re.compile(r"^The user(?P<own>'s)? ")
_LINK = re.compile(r"(?:(?:on|at|the|about|around)\b|[£$€₪~\s])*", re.IGNORECASE)
_BEFORE_A_DAY = {"weekday": "on ", "date": "on ", "time": "at "}
_LONGEST = 300  # characters of a sentence that is read


@dataclass(frozen=True, slots=True)
class ChangeRule:
    match: re.Pattern[str]
    plain: str
    only: frozenset[str]  # types of value; empty: any
    is_told: bool  # sure enough to store what it says


@dataclass(frozen=True, slots=True)
class SaidChange:
    """What holds since a change, as a plain statement."""

    plain: str
    value: str
    is_told: bool


@cache
def _rules() -> tuple[ChangeRule, ...]:
    words = _DATA["words"]
    return tuple(_build_rule(each, words) for each in _DATA["plain"])


def _build_rule(entry: dict[str, Any], words: dict[str, str]) -> ChangeRule:
    pattern = entry["match"].replace("{value}", _VALUE)
    return ChangeRule(
        re.compile(fill_word_lists(pattern, words), re.IGNORECASE),
        entry["plain"],
        frozenset(entry.get("only", ())),
        entry.get("told", True),
    )


def is_unsure(sentence: str) -> bool:
    """Whether a sentence asks, supposes or wishes."""
    return _UNSURE.search(sentence) is not None


def is_correction_of_a_turn(turn: str) -> bool:
    """Whether a turn begins as a correction of what was said just before."""
    return _CORRECTS.match(turn) is not None


@lru_cache(maxsize=2_048)
def denied_values(turn: str) -> frozenset[str]:
    """The words that a turn says do not hold any more, folded: "not 60", "left Nokia"."""
    found = (match for pattern in _DENIED for match in pattern.finditer(turn))
    values = (value for match in found for value in match.groupdict().values() if value)
    return frozenset(value.casefold().strip("'\".,") for value in values)


@lru_cache(maxsize=2_048)
def read_change(sentence: str) -> SaidChange | None:
    """The change that a sentence says; None if it says none."""
    if len(sentence) > _LONGEST or is_unsure(sentence):
        return None
    bare = _in_first_person(strip_opener(sentence))
    return next((said for rule in _rules() if (said := _apply(rule, bare))), None)


def _in_first_person(sentence: str) -> str:
    """As the owner said what a memory says: "The user switched banks to Monzo"."""
    return _OWNER.sub(lambda found: "my " if found["own"] else "I ", sentence, count=1)


def strip_opener(sentence: str) -> str:
    found = _OPENER.match(sentence)
    return sentence[found.end() :] if found else sentence


def _apply(rule: ChangeRule, sentence: str) -> SaidChange | None:
    match = rule.match.match(sentence)
    if match is None:
        return None
    value = match["value"].strip(" '\"-")
    kind = _kind_of(value)
    if rule.only and kind not in rule.only:
        return None
    groups = {name: (text or "").strip() for name, text in match.groupdict().items()}
    is_bare = rule.plain.endswith(" is {value}") and not value.startswith(("on ", "at "))
    before = _BEFORE_A_DAY.get(kind, "") if is_bare else ""
    plain = rule.plain.format_map(groups | {"value": before + value})
    return SaidChange(" ".join(plain.split()), value, rule.is_told)


def _kind_of(value: str) -> str:
    """The type of a value; name: it has a capital or is Hebrew; else empty."""
    typed = find_typed_values(value)
    if typed and _LINK.fullmatch(value[: typed[0].start]):
        return str(typed[0].kind)
    return "name" if _NAME.match(value) else ""


def read_changes(turn: str) -> Iterator[SaidChange]:
    """The changes that the sentences of a turn say."""
    for sentence in split_sentences(turn):
        said = read_change(sentence)
        if said:
            yield said
