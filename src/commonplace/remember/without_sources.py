"""What becomes of memories when sources that told them are erased, forgotten or come back.

What nobody else tells goes with them, or hides until the same day. What others tell, too, is made
anew of what those told. A value that stood beside one that goes takes its place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from commonplace.desk import Desk, index_all, reach_of
from commonplace.model.changes import Rewrite, Step, added, removed
from commonplace.model.conflict import Held
from commonplace.model.filters import WHOLE, Filters
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory, State
from commonplace.model.relations import Relation, asks
from commonplace.model.scope import Principal
from commonplace.model.source import Source
from commonplace.remember.hold import carry, erase_held, held_from, hold_beside, says_the_same
from commonplace.remember.relate import relate
from commonplace.remember.replace import revived, soft_delete
from commonplace.remember.sources import told_by
from commonplace.remember.supports import OWNER, sources_behind, without
from commonplace.remember.told_together import kept_with, let_go_of, parts_of, put_anew, retold
from commonplace.store.port import EVERYTHING, HeldQuery, Listing


@dataclass(slots=True)
class Fallen:
    """When sources end for good."""

    alone: list[Memory] = field(default_factory=list)  # nobody else tells them
    carried: dict[str, Memory] = field(default_factory=dict)  # as others tell them, by id
    steps: tuple[Step, ...] = ()  # before the others


def memories_without(
    desk: Desk, principal: Principal, ended: Sequence[str], met: Collection[str] = ()
) -> Fallen:
    """``met``: memories that are decided about already."""
    if not ended:
        return Fallen()
    told = [memory for memory in told_by(desk, principal, ended) if memory.id not in met]
    stood = _standing(desk, principal, told)
    stands = {id: source for id, source in stood.items() if id not in ended}
    shared = retold(desk, principal, ended, {*stood, *ended}, stands, for_good=True)
    single = [memory for memory in told if memory.id not in shared.known]
    carried = {m.id: kept for m in single if (kept := without(m, stands)) is not None}
    carried |= {id: memory for id, memory in shared.anew.items() if id not in met}
    alone = [memory for memory in single if memory.id not in carried]
    alone += [memory for id, memory in shared.alone.items() if id not in met]
    steps: list[Step] = []
    for id, gone in shared.gone.items():
        steps += let_go_of(id, gone)
    steps += put_anew(shared.beside)
    steps += _in_their_place(desk, principal, alone, stands)
    return Fallen(alone, carried, tuple(steps))


def purge_what_they_told(
    desk: Desk, principal: Principal, ended: Sequence[str]
) -> tuple[Step, ...]:
    """Their time to come back is over: what they told of memories that others tell, too."""
    shared = retold(desk, principal, ended, (), (), for_good=True)
    return tuple(step for id, gone in shared.gone.items() for step in let_go_of(id, gone))


def forget_what_it_told(
    desk: Desk, principal: Principal, sources: Sequence[Source], now: datetime
) -> list[Step]:
    """Memories that nothing else carries are forgotten with their source, until the same day: by
    that they are known when it comes back. A value that waits has no such day, and is let go."""
    ended = [source.id for source in sources]
    waiting = held_from(desk, principal, ended)
    steps: list[Step] = erase_held(desk, principal, waiting, Event.DELETE)
    told = told_by(desk, principal, ended)
    stood = _standing(desk, principal, told)
    stands = {id: source for id, source in stood.items() if id not in ended}
    shared = retold(desk, principal, ended, {*stood, *ended}, stands)
    single = [m for m in told if m.id not in shared.known and without(m, stands) is None]
    hidden = [m for m in (*single, *shared.alone.values()) if m.is_live(now) and not m.pinned]
    until = {source.id: source.purge_at or now for source in sources}
    for memory in hidden:
        days = [until[id] for id in sources_behind(memory) if id in until]
        steps.append(soft_delete(memory, now, max(days)))
    steps += _made_anew(desk, principal, shared.anew.values())
    steps += put_anew(shared.beside)
    steps += _in_their_place(desk, principal, hidden, stands)
    return steps


def revive_what_it_told(
    desk: Desk, principal: Principal, sources: Sequence[Source], now: datetime
) -> list[Step]:
    back = {source.id: source.purge_at for source in sources}
    told = told_by(desk, principal, list(back))
    stands = _standing(desk, principal, told).keys() | back.keys()
    shared = retold(desk, principal, list(back), stands - back.keys(), stands)
    steps: list[Step] = []
    revived_ones: dict[str, Memory] = {}
    for memory in (*told, *shared.anew.values()):
        went_along = memory.purge_at is not None and memory.purge_at in back.values()
        if memory.id not in revived_ones and memory.state is State.SOFT_DELETED and went_along:
            steps.append(revived(memory, memory, now))
            revived_ones[memory.id] = memory
    live = [memory for id, memory in shared.anew.items() if id not in revived_ones]
    steps += _made_anew(desk, principal, live)
    steps += _beside_again(desk, principal, revived_ones.values(), now)
    return steps


def _standing(desk: Desk, principal: Principal, memories: Sequence[Memory]) -> dict[str, Source]:
    """The sources that these rest on, and all that tell something together with others or
    otherwise, where they stand and may be read."""
    telling = (*memories, *(each.memory for each in desk.store.held(principal.scope)))
    behind = sorted({id for memory in telling for id in sources_behind(memory)})
    found: list[Source] = []
    for reading in reach_of(desk, principal, searching=False) if behind else ():
        found += desk.sources(reading.scope, behind)
    return {source.id: source for source in found if source.state is State.ACTIVE}


def _made_anew(desk: Desk, principal: Principal, memories: Collection[Memory]) -> list[Step]:
    """Without a version of it: what it said by then is told by one that is forgotten."""
    before = {m.id: m for m in desk.store.fetch(principal.scope, [m.id for m in memories])}
    changed = [memory for memory in memories if memory != before.get(memory.id)]
    indexes, _ = index_all(desk, changed)
    return [
        Rewrite(memory, index, made_anew(memory))
        for memory, index in zip(changed, indexes, strict=True)
    ]


def made_anew(memory: Memory) -> Entry:
    return Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        subject=memory.id,
        category=memory.category,
        new_ref=memory.ref,
        meta={"rebuilt": True},
    )


def _in_their_place(
    desk: Desk, principal: Principal, gone: Sequence[Memory], stands: Collection[str]
) -> list[Step]:
    """What another source says otherwise was only kept beside what is gone: now it stands."""
    waiting = [
        each
        for each in desk.store.held(principal.scope, HeldQuery(beside=[m.id for m in gone]))
        if sources_behind(each.memory) & set(stands)
    ]
    steps: list[Step] = []
    for old in gone:
        beside = [each for each in waiting if each.beside == old.id]
        if beside:
            new = beside[0].memory
            same = [each for each in beside[1:] if says_the_same(each.memory, new)]
            others = [each for each in beside if each not in same]
            (index,), _ = index_all(desk, [new])
            steps += [added(new, index, op=Op.RESTORE), *carry(old, others, new).steps]
            steps += kept_with(new, parts_of(new, same, desk.new_id()))
    return steps


_VALUES = (Kind.KV, Kind.CONTACT)


def _beside_again(
    desk: Desk, principal: Principal, back: Collection[Memory], now: datetime
) -> list[Step]:
    """What sources have said otherwise meanwhile stands beside what is back, as it did."""
    values = [memory for memory in back if asks(memory.kind)]
    if not values:
        return []
    listing = Listing(filters=Filters(kinds=_VALUES), visibility=WHOLE, limit=EVERYTHING)
    live = desk.store.page(principal.scope, listing)
    steps: list[Step] = []
    for memory in values:
        for other in live:
            related = relate(other, memory, None) if other.id != memory.id else None
            if other.kind is memory.kind and related and related.relation is Relation.CHANGED:
                steps += _set_aside(desk, principal, other, memory, related.reason, now)
    return steps


def _set_aside(
    desk: Desk, principal: Principal, other: Memory, stands: Memory, reason: str, now: datetime
) -> list[Step]:
    """With each who tells it. What somebody has said themself is not set aside."""
    parts = desk.store.held(principal.scope, HeldQuery(merged_into=[other.id]))
    told = parts or [Held(other, None, None, frozenset(), "", other.actor_id, now)]
    if not all(sources_behind(each.memory) for each in told) or OWNER in other.evidence:
        return []
    beside = [replace(each, merged_into=None, beside=stands.id, reason=reason) for each in told]
    return [*(hold_beside(each, stands) for each in beside), removed(other, event=Event.UPDATE)]
