"""By what a relation is told: every pattern of the tables beside this, with what it tells.

roles.toml holds nouns ("my sister Noa"), relations_*.toml verbs ("Noa works at Acme").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

from commonplace.language.extracting.table import compiled, data, letters_of

_TABLES = (
    "relations_of_people",
    "relations_with_things",
    "relations_with_places",
    "relations_of_things",
)
_HEBREW = re.compile("[א-ת]")


class When(StrEnum):
    STATE = "state"  # it holds; only "since" tells from when
    EVENT = "event"  # something that happened on a day began or ended it
    AHEAD = "ahead"  # it begins, or ends, on a day to come: "I start at Acme on Monday"
    PAST = "past"  # it held once


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """One way of telling a relation. Its groups: a and b, or both."""

    says: str
    type: str = ""  # of a role it follows from the noun
    attitude: int | None = None
    proximity: int | None = None
    confidence: float = 0.9
    when: When = When.STATE
    ends: bool = False
    turned: bool = False  # the ends are told the other way round
    is_named: bool = False  # it holds whatever the sentence says of it
    is_written: bool = False  # only where nobody speaks
    unless: str = ""  # a pattern: with it in the sentence nothing is told
    needs: tuple[str, ...] = ()  # a mark with one of each of these letters

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when it is first needed: all of them at once would slow every start."""
        return compiled(self.says)

    def is_called_off(self, text: str) -> bool:
        """ "The flight to Rome was cancelled"."""
        return bool(self.unless) and compiled(self.unless).search(text) is not None

    def may_fit(self, letters: str) -> bool:
        """Whether a sentence with marks of these letters is worth a look."""
        enough = len(letters) >= len(self.needs)
        return enough and all(any(each in letters for each in needed) for needed in self.needs)


@cache
def tellings(hebrew: bool) -> tuple[Telling, ...]:
    """Those of one language."""
    return (*_of_roles(hebrew), *_of_relations(hebrew))


def fitting(hebrew: bool, letters: str) -> tuple[Telling, ...]:
    """Those that may fit a sentence with these marks: nearly all sentences have few."""
    several = sorted(set(letters)) * 2 if len(letters) > 1 else letters
    return _fitting(hebrew, "".join(several))


@cache
def _fitting(hebrew: bool, letters: str) -> tuple[Telling, ...]:
    return tuple(each for each in tellings(hebrew) if each.may_fit(letters))


def _of_relations(hebrew: bool) -> Iterator[Telling]:
    for relation in (each for table in _TABLES for each in data(table)["relation"]):
        for says in relation["says"]:
            if bool(_HEBREW.search(says)) is hebrew:
                yield _telling(says, relation)


def _telling(says: str, entry: Mapping[str, Any]) -> Telling:
    return Telling(
        says=says,
        type=entry.get("type", ""),
        attitude=entry.get("attitude"),
        proximity=entry.get("proximity"),
        confidence=entry.get("confidence", 0.9),
        when=When(entry.get("when", "state")),
        ends=entry.get("ends", False),
        turned=entry.get("turned", False),
        is_named=entry.get("named", False),
        is_written=entry.get("written", False),
        unless=entry.get("unless", ""),
        needs=letters_of(says),
    )


# ——— roles ———

_WHEN_OF_ROLES = {"ahead": When.AHEAD, "was": When.PAST, "ended": When.PAST}  # by their form


def _of_roles(hebrew: bool) -> Iterator[Telling]:
    """Every form, with the nouns of all roles in it."""
    forms = data("roles")["forms"]
    nouns = sorted(_roles(hebrew), key=len, reverse=True)
    either = "(?P<noun>" + "|".join(nouns) + ")"
    for name in ("hebrew",) if hebrew else ("named", "says", "both", "ahead", "was", "ended"):
        for form in forms[name]:
            says = form.replace("{noun}", either)
            yield Telling(
                says=says,
                needs=letters_of(says),
                is_named=name == "named",
                ends=name in ("was", "ended"),
                when=_WHEN_OF_ROLES.get(name, When.STATE),
            )


@cache
def _roles(hebrew: bool) -> Mapping[str, Mapping[str, Any]]:
    """By their nouns, which are patterns."""
    return {
        noun.replace("_", " "): role
        for role in data("roles")["role"]
        for noun in role.get("hebrew" if hebrew else "nouns", "").split()
    }


def as_told(telling: Telling, match: re.Match[str]) -> Telling:
    """With what its noun says: "my dentist Dana" is a dentist, "Ruth was my aunt" still is."""
    if telling.type:
        return telling
    noun = match["noun"].lower()
    role = _role_of(noun)
    is_over = telling.ends and not ("was" in telling.says and role.get("lasting"))
    return replace(
        telling,
        type=role.get("type") or _CALLINGS.get(noun, noun.replace(" ", "-")),
        attitude=role.get("attitude"),
        proximity=role.get("proximity"),
        turned=role.get("turned", False),
        ends=is_over,
        when=telling.when if is_over or not telling.ends else When.STATE,
    )


@cache
def _role_of(noun: str) -> Mapping[str, Any]:
    roles = _roles(bool(_HEBREW.search(noun)))
    return next(
        role for each, role in roles.items() if re.fullmatch(each, noun, re.IGNORECASE) is not None
    )


# What Hebrew nouns of the last kind of role are called.
_CALLINGS = {
    noun.replace("_", " "): name
    for noun, name in (each.split(":") for each in data("said")["hebrew"]["callings"].split())
}
