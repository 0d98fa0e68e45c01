"""A memory that several sources tell is made of what each of them told, which is kept beside it:
without one of them it is made anew, as if that one had never been met.

What somebody has changed about the memory by hand since stays as they left it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from commonplace.desk import Desk
from commonplace.language.normalise import fold
from commonplace.model.changes import Hold, LetGo
from commonplace.model.conflict import Held
from commonplace.model.journal import Entry, Op
from commonplace.model.memory import Memory, State
from commonplace.model.relations import Relation, asks
from commonplace.model.scope import Principal
from commonplace.model.source import is_source_id
from commonplace.remember.refresh import refreshed
from commonplace.remember.relate import relate
from commonplace.remember.replace import in_place_of
from commonplace.remember.supports import OWNER, source_of, sources_behind
from commonplace.store.port import HeldQuery

# What comes of the tellings, unless somebody has changed it since. Words nobody changes in place.
_OF_THE_TELLINGS = (
    *("tags", "category", "facet", "importance", "confidence", "sensitivity"),
    *("valid_from", "valid_to", "expires_at"),
)
REPLACES = "replaces"  # the reason of a part that took the place of what was told before
_OF_THE_FIRST = ("source_id", "source_type", "thread_id", "actor_id", "role", "run_id", "job_id")


def is_told_by_a_source(memory: Memory) -> bool:
    return is_source_id(memory.source_id or "")


def tellings(
    desk: Desk,
    principal: Principal,
    standing: Memory,
    new: Memory,
    mentioned: frozenset[str],
    at: datetime,
    has_first: bool = False,
) -> list[Held]:
    """To be kept when the new one becomes a part of what stands: what it tells, and before the
    first such one what stood. ``has_first``: that is kept already."""
    known = has_first or desk.store.held(principal.scope, HeldQuery(merged_into=[standing.id]))
    if not (known or is_told_by_a_source(standing) or is_told_by_a_source(new)):
        return []  # nothing could take it away
    first = [] if known else [_telling(standing, desk.new_id(), frozenset(), standing)]
    return [*first, _telling(new, new.id, mentioned, standing, at)]


def parts_in_place(
    desk: Desk,
    principal: Principal,
    new: Memory,
    old: Memory,
    told: Held,
) -> list[Held]:
    """Of a memory that takes another's place: what it has kept of the old one goes with whoever
    told that. ``told``: what was said now, and by whom. The old one keeps its own, for the day that
    it comes back."""
    before = desk.store.held(principal.scope, HeldQuery(merged_into=[old.id]))
    if not (before or is_told_by_a_source(old) or is_told_by_a_source(told.memory)):
        return []
    before = before or [_telling(old, old.id, frozenset(), old)]
    return [
        replace(each, memory=each.memory.evolve(id=desk.new_id()), merged_into=new.id)
        for each in (*before, told)
    ]


def saying(memory: Memory, mentioned: Collection[str], at: datetime, reason: str = "") -> Held:
    return replace(_telling(memory, memory.id, frozenset(mentioned), memory, at), reason=reason)


def parts_of(memory: Memory, same: Sequence[Held], id: str) -> list[Held]:
    """Of a memory that was held with others that say the same."""
    parts = [replace(each, beside=None, merged_into=memory.id, reason="") for each in same]
    return [_telling(memory, id, frozenset(), memory), *parts] if parts else []


def _telling(
    said: Memory,
    id: str,
    mentioned: frozenset[str],
    into: Memory,
    at: datetime | None = None,
) -> Held:
    return Held(
        memory=said.evolve(id=id, conflict=None, version=1),
        conflict=None,
        beside=None,
        mentioned=mentioned,
        reason="",
        actor=said.actor_id,
        held_at=at or said.created_at,
        merged_into=into.id,
    )


def resting_on(memory: Memory, telling: Memory) -> Memory:
    """Also what tells only a part of it carries it: it can be made anew of that part. An agent's
    word alone does not."""
    if telling.agent_id is not None and not sources_behind(telling):
        return memory
    new = [each for each in _supports(telling) if each not in memory.evidence]
    behind = sources_behind(memory)
    named = [each for each in new if each == OWNER or source_of(each) not in behind]
    return memory.evolve(evidence=(*memory.evidence, *named))


def kept_with(memory: Memory, told: Sequence[Held]) -> list[Hold]:
    entry = Entry(op=Op.HOLD, subject=memory.id, category=memory.category)
    return [Hold(None, tuple(told), entry)] if told else []


def put_anew(held: Sequence[Held]) -> list[Hold]:
    return [
        Hold(None, (each,), Entry(op=Op.HOLD, subject=each.beside or each.merged_into))
        for each in held
    ]


def let_go_of(memory: str, told: Sequence[Held]) -> list[LetGo]:
    """No word about it: the memory itself is told of."""
    ids = tuple(each.memory.id for each in told)
    return [LetGo(ids, Entry(op=Op.RESOLVE, subject=memory))] if ids else []


def made_of(told: Sequence[Held]) -> Memory:
    """As it would be if these had told it, in this order, and nobody else."""
    first, *rest = sorted(told, key=lambda each: (each.held_at, each.memory.id))
    made = first.memory
    for each in rest:
        made = _told_again(made, each)
    evidence = dict.fromkeys(named for each in told for named in _supports(each.memory))
    return made.evolve(
        evidence=tuple(evidence), **{name: getattr(first.memory, name) for name in _OF_THE_FIRST}
    )


def _told_again(made: Memory, telling: Held) -> Memory:
    """As remembering does it: a repeat adds to what stands, a statement's newer wording takes its
    place."""
    new = telling.memory
    adds = asks(made.kind) or relate(new, made, None).relation is Relation.REPEAT
    if adds and telling.reason != REPLACES:
        return refreshed(made, new, telling.mentioned, made.updated_at, by_owner=False)
    return in_place_of(new, made, telling.mentioned)


def _supports(memory: Memory) -> Iterable[str]:
    named = [each for each in memory.evidence if each == OWNER or is_source_id(each)]
    if named or memory.source_id is not None:
        return named or [str(memory.source_id)]
    return [OWNER] if memory.agent_id is None else []


@dataclass(slots=True)
class Retold:
    """What becomes of memories that share sources, by id."""

    anew: dict[str, Memory] = field(default_factory=dict)
    alone: dict[str, Memory] = field(default_factory=dict)  # nobody is left to tell them
    gone: dict[str, list[Held]] = field(default_factory=dict)  # what the sources that end told
    beside: list[Held] = field(default_factory=list)  # what is held against them, put anew

    @property
    def known(self) -> set[str]:
        return self.anew.keys() | self.alone.keys()


def retold(
    desk: Desk,
    principal: Principal,
    changed: Collection[str],
    stood: Collection[str],
    stands: Collection[str],
    *,
    for_good: bool = False,
) -> Retold:
    """Of the memories that one of the changed sources tells. ``stood`` and ``stands``: the sources
    that told and tell, before and from now on. ``for_good``: what was told by those that end goes,
    and what only forgotten ones tell is made of those, for the day that they come back."""
    found = Retold()
    held = desk.store.held(principal.scope)
    together = _by_memory(held)
    shared = {
        id: told
        for id, told in together.items()
        if any(_is_told_by(each, changed) for each in told)
    }
    for memory in desk.store.fetch(principal.scope, list(shared)):
        told = shared[memory.id]
        before, after = _carrying(told, stood) or told, _carrying(told, stands)
        if for_good:
            found.gone[memory.id] = [each for each in told if _is_told_by(each, changed)]
            if memory.state is State.SOFT_DELETED:
                after = after or [each for each in told if each not in found.gone[memory.id]]
        if after:
            waiting = [h for h in held if h.beside == memory.id and _is_told_by(h, stands)]
            joined, rest = _weighed_anew(memory, before, after, waiting)
            after += joined
            found.beside += [*joined, *rest]
            found.anew[memory.id] = _rebuilt(memory, made_of(before), made_of(after))
        else:
            found.alone[memory.id] = memory
    return found


def _weighed_anew(
    memory: Memory, before: Sequence[Held], after: Sequence[Held], waiting: Sequence[Held]
) -> tuple[list[Held], list[Held]]:
    """Against what the memory says without the sources that end: what says the same by then is a
    part of it, and no reason quotes what is gone."""
    joined: list[Held] = []
    rest: list[Held] = []
    for each in waiting:
        made = _rebuilt(memory, made_of(before), made_of([*after, *joined]))
        related = relate(each.memory, made, None)
        if related.relation in (Relation.REPEAT, Relation.REWORDING):
            joined.append(replace(each, beside=None, merged_into=memory.id, reason=""))
        else:
            rest.append(replace(each, reason=related.reason))
    return joined, rest


def _by_memory(held: Iterable[Held]) -> Mapping[str, list[Held]]:
    found: dict[str, list[Held]] = defaultdict(list)
    for each in held:
        if each.merged_into:
            found[each.merged_into].append(each)
    return found


def _carrying(told: Sequence[Held], sources: Collection[str]) -> list[Held]:
    """What these sources tell, and what the owner said; where there is any of it, also what an
    agent added, whose word alone carries nothing."""
    own = [each for each in told if not sources_behind(each.memory)]
    carrying = [each for each in told if _is_told_by(each, sources)]
    carrying += [each for each in own if each.memory.agent_id is None]
    added = [each for each in own if each.memory.agent_id is not None]
    return [*carrying, *added] if carrying else []


def _is_told_by(each: Held, sources: Collection[str]) -> bool:
    return not sources_behind(each.memory).isdisjoint(sources)


def _rebuilt(memory: Memory, before: Memory, after: Memory) -> Memory:
    changes: dict[str, Any] = {
        name: getattr(after, name)
        for name in _OF_THE_TELLINGS
        if getattr(memory, name) == getattr(before, name)
    }
    by_hand = {n: v for n, v in memory.metadata.items() if before.metadata.get(n) != v}
    taken = before.metadata.keys() - memory.metadata.keys()
    metadata = {n: v for n, v in after.metadata.items() if n not in taken} | by_hand
    home = {name: getattr(after, name) for name in _OF_THE_FIRST}
    changes.setdefault("tags", _without_words(memory, f"{memory.content} {before.content}", after))
    said = {"content": after.content, "summary": after.summary, "evidence": after.evidence}
    return memory.evolve(**changes, **home, **said, metadata=metadata)


def _without_words(memory: Memory, said: str, after: Memory) -> tuple[str, ...]:
    """Its tags, but for words of what is said no more."""
    gone = set(fold(said).split()) - set(fold(after.content).split())
    return tuple(tag for tag in memory.tags if gone.isdisjoint(fold(tag).split()))
