"""What a field of the profile rests on, where signals alone have made it, and the end of it when
that is erased. What the owner set or accepted rests on the owner's word, and stays."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.desk import Desk, index_all
from commonplace.language.keywords import keywords
from commonplace.language.summarise import summarise
from commonplace.model.changes import Remove, Rewrite, removed
from commonplace.model.filters import WHOLE
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory import Memory, State
from commonplace.model.profile_fields import field_words
from commonplace.model.proposal import Signal
from commonplace.model.scope import Principal
from commonplace.remember.draft import RESTS_ON
from commonplace.store.port import EVERYTHING, Listing

Supports = list[list[str]]  # the ids behind each signal; it stands while all of them are there

MAX_SUPPORTS = 10  # of one value, the newest: a hundred goals and theirs fit into one memory


def supports_of(signals: Sequence[Signal]) -> Supports:
    """Empty when one of them came from nowhere that could be erased: then it always stands."""
    found = [[id for id in (each.source_id, each.memory_id) if id] for each in signals]
    return found[-MAX_SUPPORTS:] if all(found) else []


def resting_on(known: Memory | None, value: Any, supports: Supports) -> dict[str, Supports]:
    """By value, since each of several goals has its own; ``known`` where it keeps its others."""
    rests = dict(known.metadata.get(RESTS_ON, {})) if known else {}
    rests.pop(str(value), None)
    return {**rests, str(value): supports} if supports else rests


def also_resting_on(field: Memory, value: Any, supports: Supports) -> Memory | None:
    """The field when more speaks for what it says. None where nothing new does, and where it needs
    no support: that is its owner's word, or came from nowhere that could be erased."""
    rests = field.metadata.get(RESTS_ON, {})
    known = rests.get(str(value), [])
    more = [each for each in supports if each not in known]
    if not known or not more:
        return None
    both = [*known, *more][-MAX_SUPPORTS:]
    return field.evolve(metadata={**field.metadata, RESTS_ON: {**rests, str(value): both}})


def unsay(
    desk: Desk, principal: Principal, gone: Container[str]
) -> tuple[list[Remove], list[Rewrite]]:
    """The fields, or the goals among them, that lose their last support with these. One that
    expired before, or was purged, neither keeps a field nor takes it along."""
    scope = principal.scope
    listing = Listing(states=tuple(State), visibility=WHOLE, only_profile=True, limit=EVERYTHING)
    fields = [field for field in desk.store.page(scope, listing) if field.id not in gone]
    told = {field.id: [field] for field in fields}
    for version in desk.store.versions(scope, list(told)):
        told[version.memory.id].append(version.memory)
    standing = _Standing(desk, principal, gone)
    lost = {field.id: standing.lost(told[field.id]) for field in fields}
    ended = [f for f in fields if lost[f.id] and _left(f, lost[f.id]) in (None, [])]
    fewer = [
        _without(field, lost[field.id]) for field in fields if lost[field.id] and field not in ended
    ]
    indexes = index_all(desk, fewer)[0] if fewer else []
    rewrites = [
        Rewrite(field, index, _entry(field)) for field, index in zip(fewer, indexes, strict=True)
    ]
    return [removed(field, event=Event.ERASE) for field in ended], rewrites


@dataclass(frozen=True, slots=True)
class _Standing:
    desk: Desk
    principal: Principal
    gone: Container[str]

    def lost(self, versions: Sequence[Memory]) -> set[str]:
        """The values, in whichever version, of which the last support is among what goes."""
        rests: dict[str, Supports] = {}
        for memory in versions:
            for value, supports in memory.metadata.get(RESTS_ON, {}).items():
                rests[value] = [*rests.get(value, []), *supports]
        return {
            value
            for value, supports in rests.items()
            if any(map(self._goes, supports)) and not any(map(self._stands, supports))
        }

    def _goes(self, ids: list[str]) -> bool:
        return any(id in self.gone for id in ids)

    def _stands(self, ids: list[str]) -> bool:
        scope, left = self.principal.scope, [id for id in ids if id not in self.gone]
        there = {memory.id for memory in self.desk.store.fetch(scope, left)}
        there |= {source.id for source in self.desk.sources(scope, left)}
        return there == set(ids)


def _left(field: Memory, lost: Container[str]) -> Any:
    """What the field still says; a value that was set since is the owner's own."""
    value = field.metadata["value"]
    rests = field.metadata.get(RESTS_ON, {})
    if isinstance(value, list):
        return [each for each in value if each not in lost or each not in rests]
    return None if str(value) in lost and str(value) in rests else value


def _without(field: Memory, lost: Container[str]) -> Memory:
    """Written anew even where only an earlier version said it: those go when it is."""
    value = _left(field, lost)
    if value == field.metadata["value"]:
        return field
    rests = {v: ids for v, ids in field.metadata[RESTS_ON].items() if v not in lost}
    metadata = {**field.metadata, "value": value, RESTS_ON: rests}
    if not rests:
        del metadata[RESTS_ON]
    content = field_words(field.metadata["subject"], value)
    return field.evolve(
        content=content, summary=summarise(content), tags=keywords(content), metadata=metadata
    )


def _entry(field: Memory) -> Entry:
    return Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        subject=field.id,
        category=field.category,
        new_ref=field.ref,
        meta={"rebuilt": True},
    )
