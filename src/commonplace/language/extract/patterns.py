"""Pattern tables (TOML): load, compile with marks, and the patterns that tell a relation.

``{name}`` is one of the words of a list; ``{a:person}`` is a mark (or a list of marks, "Dana, Noa
and Ben") of a node of that sort, called ``a``. What sorts there are is in
marks.toml. Whose something is ("Noa's") is not meant where a pattern does not say so.

roles.toml holds nouns ("my sister Noa"), relations_*.toml verbs ("Noa works at Acme").
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

from commonplace.language.text.lexicon import BilingualPattern, any_pattern, fill_word_lists

_SLOT = re.compile(r"\{(\w+):(\w+)\}")
# "A girl called Yasmin".
_CALLED_PHRASE = r"(?:(?:an?|this|the) (?:[\w-]+ ){1,4}?(?:called|named) )?"
# "A start-up called Acme", "our client Globex": what may stand before the name of a thing.
_BEFORE_THING = (
    r"(?:(?:the|an?|⟨p\d+[ih]?⟩'s) (?:[\w-]+ ){1,4}?(?:called|named|at|of) |the |⟨p\d+[ih]?⟩'s "
    r"(?:[\w-]+ ){0,3}?(?:[\w-]+, )?|an? (?:[\w-]+ ){0,3}?(?:[\w-]+, (?:the )?)?)?"
)

# "Uri married my sister": not me.
_NOT_POSSESSIVE = r"(?!'s\b)"


@cache
def load_pattern_table(name: str) -> Mapping[str, Any]:
    file = resources.files(__package__).joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def unasserted_patterns() -> BilingualPattern:
    """What makes of the words after it something denied, imagined or wished for."""
    return any_pattern(load_pattern_table("wording")["not_told"]["patterns"])


def pattern_words(name: str) -> Mapping[str, str]:
    words: Mapping[str, str] = load_pattern_table(name)["words"]
    return words


def required_letters(pattern: str) -> tuple[str, ...]:
    """What kinds of marks a pattern needs."""
    sorts = load_pattern_table("marks")["sorts"]
    return tuple(sorts[sort] for _, sort in _SLOT.findall(pattern))


@cache
def compile_pattern(pattern: str, name: str = "") -> re.Pattern[str]:
    """A pattern of a table, with its lists and marks in place."""
    sorts = load_pattern_table("marks")["sorts"]
    words = {**pattern_words("marks"), **(pattern_words(name) if name else {})}

    def marks(slot: re.Match[str]) -> str:
        owns = pattern.startswith("'s", slot.end())
        may_own = owns or pattern.startswith(("(?:'s", "(?!'s", "(?='s"), slot.end())
        found = _mark_pattern(slot[1], sorts[slot[2]], begins=slot.start() == 0, owns=owns)
        return found if may_own else found + _NOT_POSSESSIVE

    return re.compile(fill_word_lists(_SLOT.sub(marks, pattern), words), re.IGNORECASE)


def _mark_pattern(name: str, letters: str, *, begins: bool, owns: bool) -> str:
    """``begins``: a pattern that begins with a mark itself is found much faster. ``owns``: what
    follows belongs to all of a list; else the list ends before "Odile and her kids"."""
    mark = f"⟨[{letters}]\\d+[imhry]?⟩"
    before = _BEFORE_THING if letters != "p" else "" if begins else _CALLED_PHRASE
    alone = "" if owns else "(?!'s )"
    several = rf"(?:(?:, (?:the )?{mark}){{0,8}},? (?:and|&|ו-?) ?(?:the )?{mark}{alone})?"
    return f"{before}(?P<{name}>{mark}{several})"


_RELATION_TABLES = (
    "relations/relations_of_people",
    "relations/relations_with_things",
    "relations/relations_with_places",
    "relations/relations_of_things",
)
_HEBREW_LETTER = re.compile("[א-ת]")


class RelationTiming(StrEnum):
    STATE = "state"  # it holds; only "since" tells from when
    EVENT = "event"  # something that happened on a day began or ended it
    AHEAD = "ahead"  # it begins, or ends, on a day to come: "I start at Acme on Monday"
    PAST = "past"  # it held once


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationPattern:
    """One way of telling a relation. Its groups: a and b, or both."""

    says: str
    type: str = ""  # of a role it follows from the noun
    attitude: int | None = None
    proximity: int | None = None
    confidence: float = 0.9
    when: RelationTiming = RelationTiming.STATE
    ends: bool = False
    is_reversed: bool = False  # the ends are told the other way round
    is_named: bool = False  # it holds whatever the sentence says of it
    is_written: bool = False  # only where nobody speaks
    unless: str = ""  # a pattern: with it in the sentence nothing is told
    needs: tuple[str, ...] = ()  # a mark with one of each of these letters

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when it is first needed: all of them at once would slow every start."""
        return compile_pattern(self.says)

    def is_cancelled(self, text: str) -> bool:
        """ "The flight to Rome was cancelled"."""
        return bool(self.unless) and compile_pattern(self.unless).search(text) is not None

    def could_match(self, letters: str) -> bool:
        """Whether a sentence with marks of these letters is worth a look."""
        enough = len(letters) >= len(self.needs)
        return enough and all(any(each in letters for each in needed) for needed in self.needs)


@cache
def relation_patterns(hebrew: bool) -> tuple[RelationPattern, ...]:
    """Those of one language."""
    return (*_role_patterns(hebrew), *_verb_patterns(hebrew))


def patterns_for(hebrew: bool, letters: str) -> tuple[RelationPattern, ...]:
    """Those that may fit a sentence with these marks: nearly all sentences have few."""
    several = sorted(set(letters)) * 2 if len(letters) > 1 else letters
    return _patterns_for_letters(hebrew, "".join(several))


@cache
def _patterns_for_letters(hebrew: bool, letters: str) -> tuple[RelationPattern, ...]:
    return tuple(each for each in relation_patterns(hebrew) if each.could_match(letters))


def _verb_patterns(hebrew: bool) -> Iterator[RelationPattern]:
    for relation in (
        each for table in _RELATION_TABLES for each in load_pattern_table(table)["relation"]
    ):
        for says in relation["says"]:
            if bool(_HEBREW_LETTER.search(says)) is hebrew:
                yield _read_pattern(says, relation)


def _read_pattern(says: str, entry: Mapping[str, Any]) -> RelationPattern:
    return RelationPattern(
        says=says,
        type=entry.get("type", ""),
        attitude=entry.get("attitude"),
        proximity=entry.get("proximity"),
        confidence=entry.get("confidence", 0.9),
        when=RelationTiming(entry.get("when", "state")),
        ends=entry.get("ends", False),
        is_reversed=entry.get("turned", False),
        is_named=entry.get("named", False),
        is_written=entry.get("written", False),
        unless=entry.get("unless", ""),
        needs=required_letters(says),
    )


# ——— roles ———

_ROLE_TIMING = {
    "ahead": RelationTiming.AHEAD,
    "was": RelationTiming.PAST,
    "ended": RelationTiming.PAST,
}  # by their form


def _role_patterns(hebrew: bool) -> Iterator[RelationPattern]:
    """Every form, with the nouns of all roles in it."""
    forms = load_pattern_table("relations/roles")["forms"]
    nouns = sorted(_roles_by_noun(hebrew), key=len, reverse=True)
    either = "(?P<noun>" + "|".join(nouns) + ")"
    for name in ("hebrew",) if hebrew else ("named", "says", "both", "ahead", "was", "ended"):
        for form in forms[name]:
            says = form.replace("{noun}", either)
            yield RelationPattern(
                says=says,
                needs=required_letters(says),
                is_named=name == "named",
                ends=name in ("was", "ended"),
                when=_ROLE_TIMING.get(name, RelationTiming.STATE),
            )


@cache
def _roles_by_noun(hebrew: bool) -> Mapping[str, Mapping[str, Any]]:
    """By their nouns, which are patterns."""
    return {
        noun.replace("_", " "): role
        for role in load_pattern_table("relations/roles")["role"]
        for noun in role.get("hebrew" if hebrew else "nouns", "").split()
    }


def resolve_role(assertion: RelationPattern, match: re.Match[str]) -> RelationPattern:
    """With what its noun says: "my dentist Dana" is a dentist, "Ruth was my aunt" still is."""
    if assertion.type:
        return assertion
    noun = match["noun"].lower()
    role = _role_of_noun(noun)
    is_over = assertion.ends and not ("was" in assertion.says and role.get("lasting"))
    return replace(
        assertion,
        type=role.get("type") or _HEBREW_OCCUPATIONS.get(noun, noun.replace(" ", "-")),
        attitude=role.get("attitude"),
        proximity=role.get("proximity"),
        is_reversed=role.get("turned", False),
        ends=is_over,
        when=assertion.when if is_over or not assertion.ends else RelationTiming.STATE,
    )


@cache
def _role_of_noun(noun: str) -> Mapping[str, Any]:
    roles = _roles_by_noun(bool(_HEBREW_LETTER.search(noun)))
    return next(
        role for each, role in roles.items() if re.fullmatch(each, noun, re.IGNORECASE) is not None
    )


# What Hebrew nouns of the last kind of role are called.
_HEBREW_OCCUPATIONS = {
    noun.replace("_", " "): name
    for noun, name in (
        each.split(":") for each in load_pattern_table("wording")["hebrew"]["callings"].split()
    )
}
