"""Relationship types that a model writes, in the project's words and direction.

What is not known passes as it is, if it is well-formed: models find relations that no list has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from commonplace.language.text.lexicon import load_patterns
from commonplace.language.text.normalise import fold_case, split_words
from commonplace.model.graph.types import RELATIONSHIP_TYPES, relationship_type

_WELL_FORMED = re.compile(r"[^\W\d_]{2,24}(?:-[^\W\d_]{1,24}){0,4}")
_SEPARATORS = re.compile(r"[\s_/]+")
_LEADING = re.compile(r"^(?:is-(?=\w+-)|is-an?-|an?-|the-)")
_OWN_ROLE = re.compile(r"\b(?:my|our)\b|של(?:י|נו)(?!\w)|\b(?:mein|meine|mi|mis|mon|ma)\b", re.I)
_OWN_WORDS = frozenset({"my", "our", "mein", "meine", "mi", "mon", "ma"})
_NEAR = 5  # words from a name to the role
_PLAIN_NOUN = re.compile(r"[\w'-]+")


@dataclass(frozen=True, slots=True)
class DirectedType:
    type: str
    is_turned: bool = False  # it runs from TO to FROM
    is_over: bool = False  # the word itself says so


def read_relation_type(
    written: str,
    *,
    from_owner: bool,
    to_owner: bool,
    quote: str,
    other: str = "",
    of_people: bool = True,
) -> DirectedType | None:
    """None if it is not well-formed. Where the quote says what the other end is to the owner ("my
    daughter Ivy"), that decides the direction. ``other``: its name. ``of_people``: words for roles
    mean what they mean between people: a firm that is a customer is no contact."""
    read = _read_type(
        written, from_owner=from_owner, to_owner=to_owner, quote=quote, of_people=of_people
    )
    if read is None or from_owner is to_owner or relationship_type(read.type).is_mutual:
        return read
    said = _said_role(read.type, other, quote)
    return read if said is None else DirectedType(read.type, said.is_turned is from_owner)


def _read_type(
    written: str, *, from_owner: bool, to_owner: bool, quote: str, of_people: bool
) -> DirectedType | None:
    type = _LEADING.sub("", _SEPARATORS.sub("-", fold_case(written).strip(" .-")))
    known = _synonyms().get(type)
    if known and (of_people or known.type not in types_between("people")):
        return known
    if type in RELATIONSHIP_TYPES:
        return DirectedType(type)
    role = _roles().get(type.removesuffix("-of").removeprefix("has-"))
    if role and of_people:
        if type.endswith("-of"):
            holder_is_to = False
        elif type.startswith("has-"):
            holder_is_to = True
        else:
            holder_is_to = from_owner and not to_owner and _OWN_ROLE.search(quote) is not None
        return DirectedType(role.type, role.is_turned is holder_is_to)
    return DirectedType(type) if _WELL_FORMED.fullmatch(type) else None


def _said_role(type: str, other: str, quote: str) -> DirectedType | None:
    """The role next to the name, after "my"."""
    words, name = split_words(quote), split_words(other)
    if not name or name[0] not in words:
        return None
    place = words.index(name[0])
    before = words[max(0, place - _NEAR) : place]
    after = words[place + len(name) : place + len(name) + _NEAR]
    for near in (before, after):
        for at, word in enumerate(near):
            role = _roles().get(word)
            is_own = not _OWN_WORDS.isdisjoint(near[max(0, at - 2) : at])
            if role is not None and role.type == type and is_own:
                return role
    return None


def told_by_verbs() -> list[tuple[str, DirectedType]]:
    """Verbs, with a preposition after a plus, and what they tell of who does it."""
    table = load_patterns("grounding/relation_types")
    return [
        (verb, DirectedType(type, section == "told_turned"))
        for section in ("told", "told_turned")
        for type, verbs in table[section].items()
        for verb in verbs.split()
    ]


def read_role(noun: str) -> DirectedType | None:
    """What a person is whose "sister" it is, or the sister, if turned."""
    return _roles().get(noun)


def role_type(noun: str) -> str | None:
    """The type of a noun: "sister" is a sibling."""
    role = _roles().get(noun)
    return role.type if role else None


@cache
def _synonyms() -> dict[str, DirectedType]:
    table = load_patterns("grounding/relation_types")
    return {
        word: DirectedType(type, section == "turned", section == "over")
        for section in ("same", "turned", "over")
        for type, words in table[section].items()
        for word in words.split()
    }


@cache
def _roles() -> dict[str, DirectedType]:
    """Nouns that say what TO is to FROM, if not turned."""
    found: dict[str, DirectedType] = {}
    for role in load_patterns("extract/relations/roles")["role"]:
        nouns = f"{role.get('nouns', '')} {role.get('hebrew', '')}".replace("_", "-")
        for noun in nouns.split():
            if _PLAIN_NOUN.fullmatch(noun):
                type = role.get("type") or noun
                found.setdefault(fold_case(noun), DirectedType(type, role.get("turned", False)))
    return found


@cache
def types_between(ends: str) -> frozenset[str]:
    """Types that are certain about their ends."""
    return frozenset(load_patterns("grounding/relation_types")["between"][ends].split())
