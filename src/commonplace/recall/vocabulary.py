"""The abbreviations by which a user's queries are read: those shipped, and the user's own.

The index knows which of them are there; their texts are fetched only when these have changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonplace.desk import Desk, visibility_of
from commonplace.language.asking.abbreviations import Terminology, is_whole, shipped, terminology
from commonplace.model.abbreviation import Abbreviation
from commonplace.model.scope import Principal
from commonplace.store.index import ScopeIndex

_SHIPPED = terminology(shipped())
_TABLE = "vocabulary"


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which of the user's own abbreviations the caller may see, in one state of the index."""

    ids: tuple[str, ...] = ()
    units: tuple[int, ...] = ()  # other words are another unit


def stamp_of(index: ScopeIndex, desk: Desk, principal: Principal) -> Stamp:
    slots = index.abbreviations()
    if not slots:
        return Stamp()
    seen = index.visible(visibility_of(principal), desk.clock())
    mine = [slot for slot in slots if seen[slot]]
    return Stamp(tuple(index.ids[s] for s in mine), tuple(index.units[s] for s in mine))


def vocabulary(desk: Desk, principal: Principal, stamp: Stamp) -> Terminology:
    """What the caller's words are looked up in."""
    if not stamp.ids:
        return _SHIPPED
    caller = caller_of(principal)
    table: Terminology | None = desk.kept.get(caller, stamp, _TABLE)
    if table is None:
        own = list(_own(desk, principal, stamp))
        table = terminology([*shipped(), *own])
        if len(own) == len(stamp.ids):  # else one vanished just now, and may come back
            desk.kept.put(caller, stamp, _TABLE, table)
    return table


def abbreviations(desk: Desk, principal: Principal) -> Sequence[Abbreviation]:
    """All that count for this caller, by their short form."""
    return vocabulary_of(desk, principal).abbreviations


def vocabulary_of(desk: Desk, principal: Principal) -> Terminology:
    with desk.index.reading(principal.scope) as index:
        stamp = stamp_of(index, desk, principal)
    return vocabulary(desk, principal, stamp)


def caller_of(principal: Principal) -> tuple[str, str | None, bool]:
    return principal.scope.key, principal.agent, principal.cleared


def _own(desk: Desk, principal: Principal, stamp: Stamp) -> Iterator[Abbreviation]:
    now, visibility = desk.clock(), visibility_of(principal)
    for memory in desk.store.fetch(principal.scope, stamp.ids):
        short, long = memory.metadata.get("subject"), memory.metadata.get("value")
        if not (isinstance(short, str) and isinstance(long, str) and is_whole(short)):
            continue  # changed into something that cannot be met
        if memory.is_live(now) and visibility.admits(memory):
            yield Abbreviation(short, long, own=True, id=memory.id)
