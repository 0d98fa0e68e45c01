"""Pattern tables (TOML): loading, compiling with marks, and the relation patterns.

``{name}`` is one of the words of a list. ``{a:person}`` is a mark, or a list of marks ("Dana, Noa
and Ben"), of a node of that sort, as group ``a``; the sorts are in marks.toml. A mark with a
possessive ("Noa's") matches only if the pattern has the "'s".

roles.toml has nouns ("my sister Noa"), relations_*.toml has verbs ("Noa works at Acme").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

from commonplace.language.text.lexicon import (
    BilingualPattern,
    any_pattern,
    fill_word_lists,
    load_patterns,
)

_SLOT = re.compile(r"\{(\w+):(\w+)\}")
# "A girl called Yasmin".
_CALLED_PHRASE = r"(?:(?:an?|this|the) (?:[\w-]+ ){1,4}?(?:called|named) )?"
# Words before the name of a thing: "a start-up called Acme", "our client Globex".
_BEFORE_THING = (
    r"(?:(?:the|an?|⟨p\d+[ih]?⟩'s) (?:[\w-]+ ){1,4}?(?:called|named|at|of) |the |⟨p\d+[ih]?⟩'s "
    r"(?:[\w-]+ ){0,3}?(?:[\w-]+, )?|an? (?:[\w-]+ ){0,3}?(?:[\w-]+, (?:the )?)?)?"
)

# "Uri married my sister": does not match "my" as a person.
_NOT_POSSESSIVE = r"(?!'s\b)"


def load_pattern_table(name: str) -> Mapping[str, Any]:
    return load_patterns(f"extract/{name}")


@cache
def unasserted_patterns() -> BilingualPattern:
    """Words after which a statement is negated, hypothetical or wished for."""
    return any_pattern(load_pattern_table("wording")["not_told"]["patterns"])


def pattern_words(name: str) -> Mapping[str, str]:
    words: Mapping[str, str] = load_pattern_table(name)["words"]
    return words


def required_letters(pattern: str) -> tuple[str, ...]:
    """Letters of the marks that a pattern needs, one string per slot."""
    sorts = load_pattern_table("marks")["sorts"]
    return tuple(sorts[sort] for _, sort in _SLOT.findall(pattern))


@cache
def compile_pattern(pattern: str, name: str = "") -> re.Pattern[str]:
    """Compile a table's pattern: its word lists and mark slots are filled in."""
    sorts = load_pattern_table("marks")["sorts"]
    words = {**pattern_words("marks"), **(pattern_words(name) if name else {})}

    def marks(slot: re.Match[str]) -> str:
        owns = pattern.startswith("'s", slot.end())
        may_own = owns or pattern.startswith(("(?:'s", "(?!'s", "(?='s"), slot.end())
        mark = _mark_pattern(slot[1], sorts[slot[2]], begins=slot.start() == 0, owns=owns)
        return mark if may_own else mark + _NOT_POSSESSIVE

    return re.compile(fill_word_lists(_SLOT.sub(marks, pattern), words), re.IGNORECASE)


def _mark_pattern(name: str, letters: str, *, begins: bool, owns: bool) -> str:
    """``begins``: no optional prefix, because a pattern that begins with a mark is found much
    faster. ``owns``: what follows belongs to all of the list; else the list ends before "Odile and
    her kids"."""
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
    STATE = "state"  # holds; only "since" gives its start
    EVENT = "event"  # began or ended at a point in time
    AHEAD = "ahead"  # begins or ends in the future: "I start at Acme on Monday"
    PAST = "past"  # held in the past


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationPattern:
    """One pattern of a relation. Its groups: a and b, or both."""

    says: str
    type: str = ""  # empty for a role: given by its noun
    attitude: int | None = None
    proximity: int | None = None
    confidence: float = 0.9
    when: RelationTiming = RelationTiming.STATE
    ends: bool = False
    is_reversed: bool = False  # a and b are swapped
    is_named: bool = False  # holds even if the sentence is negated or a question
    is_written: bool = False  # only in text without a speaker
    unless: str = ""  # a pattern that cancels the match
    needs: tuple[str, ...] = ()  # letters of the marks it needs, one string per slot

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled on first use: compiling all patterns would slow down each start."""
        return compile_pattern(self.says)

    def is_cancelled(self, text: str) -> bool:
        """ "The flight to Rome was cancelled"."""
        return bool(self.unless) and compile_pattern(self.unless).search(text) is not None

    def could_match(self, letters: str) -> bool:
        """False if a sentence with marks of these letters cannot match."""
        has_enough = len(letters) >= len(self.needs)
        return has_enough and all(any(each in letters for each in needed) for needed in self.needs)


@cache
def relation_patterns(hebrew: bool) -> tuple[RelationPattern, ...]:
    return (*_role_patterns(hebrew), *_verb_patterns(hebrew))


def patterns_for(hebrew: bool, letters: str) -> tuple[RelationPattern, ...]:
    """Patterns that may match a sentence with these marks: most sentences have few."""
    repeated = sorted(set(letters)) * 2 if len(letters) > 1 else letters
    return _patterns_for_letters(hebrew, "".join(repeated))


@cache
def _patterns_for_letters(hebrew: bool, letters: str) -> tuple[RelationPattern, ...]:
    return tuple(each for each in relation_patterns(hebrew) if each.could_match(letters))


def _verb_patterns(hebrew: bool) -> Iterator[RelationPattern]:
    for relation in (
        each for table in _RELATION_TABLES for each in load_pattern_table(table)["relation"]
    ):
        for pattern in relation["says"]:
            if bool(_HEBREW_LETTER.search(pattern)) is hebrew:
                yield _read_pattern(pattern, relation)


def _read_pattern(pattern: str, entry: Mapping[str, Any]) -> RelationPattern:
    return RelationPattern(
        says=pattern,
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
        needs=required_letters(pattern),
    )


# ——— roles ———

_ROLE_TIMING = {
    "ahead": RelationTiming.AHEAD,
    "was": RelationTiming.PAST,
    "ended": RelationTiming.PAST,
}  # by form


def _role_patterns(hebrew: bool) -> Iterator[RelationPattern]:
    """Each form with an alternation of all role nouns."""
    forms = load_pattern_table("relations/roles")["forms"]
    nouns = sorted(_roles_by_noun(hebrew), key=len, reverse=True)
    alternatives = "(?P<noun>" + "|".join(nouns) + ")"
    for name in ("hebrew",) if hebrew else ("named", "says", "both", "ahead", "was", "ended"):
        for form in forms[name]:
            pattern = form.replace("{noun}", alternatives)
            yield RelationPattern(
                says=pattern,
                needs=required_letters(pattern),
                is_named=name == "named",
                ends=name in ("was", "ended"),
                when=_ROLE_TIMING.get(name, RelationTiming.STATE),
            )


@cache
def _roles_by_noun(hebrew: bool) -> Mapping[str, Mapping[str, Any]]:
    """Roles by noun; the nouns are patterns."""
    return {
        noun.replace("_", " "): role
        for role in load_pattern_table("relations/roles")["role"]
        for noun in role.get("hebrew" if hebrew else "nouns", "").split()
    }


def resolve_role(pattern: RelationPattern, match: re.Match[str]) -> RelationPattern:
    """The pattern completed by its noun: "my dentist Dana" is a dentist; "Ruth was my aunt" has not
    ended."""
    if pattern.type:
        return pattern
    noun = match["noun"].lower()
    role = _role_of_noun(noun)
    has_ended = pattern.ends and not ("was" in pattern.says and role.get("lasting"))
    return replace(
        pattern,
        type=role.get("type") or _HEBREW_OCCUPATIONS.get(noun, noun.replace(" ", "-")),
        attitude=role.get("attitude"),
        proximity=role.get("proximity"),
        is_reversed=role.get("turned", False),
        ends=has_ended,
        when=pattern.when if has_ended or not pattern.ends else RelationTiming.STATE,
    )


@cache
def _role_of_noun(noun: str) -> Mapping[str, Any]:
    roles = _roles_by_noun(bool(_HEBREW_LETTER.search(noun)))
    return next(
        role for each, role in roles.items() if re.fullmatch(each, noun, re.IGNORECASE) is not None
    )


# Occupations by Hebrew noun.
_HEBREW_OCCUPATIONS = {
    noun.replace("_", " "): name
    for noun, name in (
        each.split(":") for each in load_pattern_table("wording")["hebrew"]["callings"].split()
    )
}
