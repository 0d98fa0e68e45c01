"""An individual as a node: under its best name, with its other spellings as aliases."""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.language.extracting.found import FoundNode, Owner, Place
from commonplace.language.extracting.individuals import Individual
from commonplace.language.extracting.people import person_name
from commonplace.language.extracting.vocabulary import PERSON
from commonplace.language.names import bare
from commonplace.model.graph.words import NodeType

_MOST_ALIASES = 12


def as_node(one: Individual, owner: Owner, spoken_of: Iterable[Place]) -> FoundNode:
    places = tuple(spoken_of)
    spellings = [*sorted(one.spellings, key=lambda each: _rank(one, each)), *one.phrases]
    name = owner.name if one.is_owner else _written_as_a_name(one, spellings[0])
    aliases = {each.casefold(): each for each in reversed(spellings)}
    aliases.pop(name.casefold(), None)
    return FoundNode(
        type=NodeType.PERSON if one.kind == PERSON else NodeType.ENTITY,
        name=name,
        subtype="" if one.kind == PERSON else one.kind,
        aliases=tuple(reversed(aliases.values()))[:_MOST_ALIASES],
        addresses=tuple(filter(None, one.addresses)),
        confidence=one.weight,
        passages=tuple(sorted({each.passage for each in places})) or one.passages[:1],
        places=places,
        is_owner=one.is_owner,
    )


def _rank(one: Individual, spelling: str) -> tuple[bool, int, bool, int]:
    """People by their fullest name, things by what they are called most."""
    loud = spelling.isupper() and len(spelling) > 4
    if one.kind != PERSON:
        return spelling.islower(), -one.spellings[spelling], loud, 0
    name = person_name(bare(spelling))
    initials = sum(len(part) == 1 for part in name.parts)
    return spelling.islower(), initials - len(name.parts), loud, -len(spelling)


def _written_as_a_name(one: Individual, spelling: str) -> str:
    """ "sarah" in a chat is Sarah; a full name needs no title; a phrase stays as it is."""
    name = person_name(bare(spelling))
    if one.kind == PERSON and name.title and name.is_full and one.spellings:
        return spelling.split(maxsplit=1)[1]
    if one.kind == PERSON and one.spellings and spelling.islower() and spelling.isascii():
        return spelling.title()
    return spelling
