"""By which names the owner takes part in a source. Pure.

Their profile may have "Ana" where a transcript has "Ana Stein". What is said under such a name is
the owner's as long as nobody else could be meant by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from commonplace.language.extracting.found import Owner
from commonplace.language.extracting.people import (
    PersonName,
    fuller_or_shorter,
    person_name,
    same_given,
)
from commonplace.language.extracting.taking_part import Listed, is_person
from commonplace.language.extracting.vocabulary import GIVEN, HEBREW_GIVEN
from commonplace.language.names import bare

_OF_AN_ID = re.compile(r"(?<=[^\W\d_]{3})[\d_]+$")  # "dana77"


def as_called_here(owner: Owner, listed: Iterable[Listed]) -> Owner:
    """The owner, with the names of those who take part and are the owner."""
    mine = {bare(name) for name in (owner.name, *owner.names)}
    addresses = {address.casefold() for address in owner.addresses}
    here = [one for one in listed if is_person(one.name)]
    exactly = [
        one
        for one in here
        if bare(one.name) in mine or (one.address in addresses and may_be(one.name, mine))
    ]
    if exactly:
        return replace(
            owner,
            names=owner.names | {one.name for one in exactly},
            addresses=owner.addresses | {each.address for each in exactly if _tells(owner, each)},
        )
    fitting = {
        one.name: person_name(bare(one.name))
        for one in here
        if bare(one.name) not in owner.others and not (one.address and addresses)
    }
    names = [person_name(key) for each in mine if (key := _OF_AN_ID.sub("", each).strip())]
    found = {name: parts for name, parts in fitting.items() if _is_one_of(parts, names)}
    if any(not fuller_or_shorter(a, b) for a, b in combinations(found.values(), 2)):
        return owner  # two who share the owner's first name: either may be somebody else
    return replace(owner, names=owner.names | frozenset(found))


def may_be(name: str, names: Iterable[str]) -> bool:
    """Whether somebody with one of these names may write under that one, from their address: a
    family may share one, and Ben is not Maya."""
    first = person_name(bare(name)).first
    firsts = [person_name(bare(each)).first for each in names if each.strip()]
    return first not in GIVEN | HEBREW_GIVEN or any(same_given(first, each) for each in firsts)


def _tells(owner: Owner, one: Listed) -> bool:
    """Whether this address is the owner's, by the name: their full one, or the only one they have
    as long as they are known by no other address."""
    if not one.address or bare(one.name) not in {bare(name) for name in owner.names}:
        return False
    return " " in one.name or (bare(one.name) == bare(owner.name) and not owner.addresses)


def _is_one_of(name: PersonName, names: Sequence[PersonName]) -> bool:
    """Who is known as Ana Stein, too, is not Ana Brown."""
    fullest = [
        one
        for one in names
        if not any(len(o.parts) > len(one.parts) and fuller_or_shorter(o, one) for o in names)
    ]
    return any(fuller_or_shorter(name, each) for each in fullest)
