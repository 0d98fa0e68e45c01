"""forget (restorable), restore, and the choice between candidates when only a query is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.desk import Desk, can_see, index_all, visibility_of
from commonplace.errors import NotAllowed
from commonplace.graph.forgetting import forget_of_graph, restore_of_graph
from commonplace.graph.removing import is_of_the_graph
from commonplace.model.changes import Change, Changeset, Step
from commonplace.model.filters import Filters, Visibility
from commonplace.model.kinds import POLICIES, Kind
from commonplace.model.lifecycle import has_expired, is_purgeable
from commonplace.model.memory import Memory, State
from commonplace.model.profile import is_of_profile
from commonplace.model.scope import Principal
from commonplace.model.source import CATEGORY, Source
from commonplace.remember.decide import hold_to_limits
from commonplace.remember.find import find
from commonplace.remember.hold import carry, waiting_about
from commonplace.remember.replace import revived, soft_delete
from commonplace.remember.revert import as_it_was, last_lives, split_refs
from commonplace.remember.sources import (
    find_sources,
    forget_source,
    is_there,
    of_sources,
    revive_source,
    still_told,
)
from commonplace.store.port import EVERYTHING, Listing, SourceListing


@dataclass(frozen=True, slots=True)
class Forgotten:
    ids: tuple[str, ...]  # forgotten now
    already: tuple[str, ...]  # were forgotten before
    restorable_until: datetime
    revision: int
    still_in: tuple[str, ...] = ()  # turns and sources where their words can still be recalled


@dataclass(frozen=True, slots=True)
class Restored:
    ids: tuple[str, ...]
    already: tuple[str, ...]  # were live before
    replaced: tuple[str, ...]  # had taken their place, and are forgotten now
    revision: int


def forget(
    desk: Desk, principal: Principal, ids: Sequence[str], thread: str | None = None
) -> Forgotten:
    now = desk.clock()
    until = now + desk.lifetimes.restorable

    def decide() -> tuple[Changeset, tuple[list[Memory | Source], list[str], tuple[str, ...]]]:
        revision = desk.store.counters(principal.scope).revision
        drawn = forget_of_graph(desk, principal, list(filter(is_of_the_graph, ids)), until)
        named = of_sources(desk, principal, ids)
        sources = find_sources(desk, principal, list(named.values()), lambda s: is_there(s, now))
        rest = [id for id in ids if id not in named and not is_of_the_graph(id)]
        memories = find(desk, principal, rest, lambda m: _is_there(m, now))
        items: list[Memory | Source] = [*memories, *sources]
        alive = [item for item in items if item.state is not State.SOFT_DELETED]
        steps = tuple(step for item in alive for step in _forgetting(item, now, until))
        already = [item.id for item in items if item.state is State.SOFT_DELETED]
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            (*steps, *drawn.steps),
            revision,
            thread,
            member=principal.member,
        )
        return changeset, (alive, [*already, *drawn.already], drawn.ids)

    revision, (gone, already, drawn) = desk.decide(decide)
    told = _answer(desk, principal, gone, already, until, revision)
    return replace(told, ids=(*told.ids, *drawn))


def forget_matching(
    desk: Desk, principal: Principal, filters: Filters, thread: str | None = None
) -> Forgotten:
    """Everything live that the filter admits, in one changeset."""
    now = desk.clock()
    until = now + desk.lifetimes.restorable

    def decide() -> tuple[Changeset, list[Memory | Source]]:
        revision = desk.store.counters(principal.scope).revision
        listing = Listing(
            filters=filters,
            visibility=visibility_of(principal),
            now=now,
            limit=EVERYTHING,
        )
        found = desk.store.page(principal.scope, listing)
        items: list[Memory | Source] = [
            m for m in found if principal.is_owner or not is_of_profile(m.id)
        ]
        items += _sources_matching(desk, principal, filters)
        steps = tuple(step for item in items for step in _forgetting(item, now, until))
        changeset = Changeset(principal.scope, now, principal.actor, steps, revision, thread)
        return changeset, items

    revision, gone = desk.decide(decide)
    return _answer(desk, principal, gone, (), until, revision)


def _answer(
    desk: Desk,
    principal: Principal,
    gone: Sequence[Memory | Source],
    already: Sequence[str],
    until: datetime,
    revision: int,
) -> Forgotten:
    memories = [item for item in gone if isinstance(item, Memory)]
    return Forgotten(
        tuple(item.id for item in gone),
        tuple(already),
        until,
        revision,
        still_told(desk, principal, memories),
    )


def _forgetting(item: Memory | Source, now: datetime, until: datetime) -> tuple[Step, ...]:
    if isinstance(item, Source):
        return forget_source(item, now, until)
    return (soft_delete(item, now, until),)


def _sources_matching(desk: Desk, principal: Principal, filters: Filters) -> list[Source]:
    """A filter that says something only memories have, such as a kind, means memories alone."""
    common = Filters(
        source_type=filters.source_type,
        source_id=filters.source_id,
        thread_id=filters.thread_id,
        tags=filters.tags,
        created_after=filters.created_after,
        created_before=filters.created_before,
    )
    categories = filters.categories
    if replace(filters, categories=()) != common or (categories and CATEGORY not in categories):
        return []
    listing = SourceListing(
        visibility=visibility_of(principal),
        types=(filters.source_type,) if filters.source_type else (),
        tags=filters.tags,
        thread_id=filters.thread_id,
        limit=EVERYTHING,
    )
    return [
        source
        for source in desk.source_page(principal.scope, listing)
        if filters.source_id in (None, source.id)
        and _was_said_within(source, filters.created_after, filters.created_before)
    ]


def _was_said_within(source: Source, after: datetime | None, before: datetime | None) -> bool:
    """By when it was said, as recall understands it, not by when it was brought in. All of it:
    it goes whole, so a talk that still goes on is not old."""
    began = source.started_at or source.created_at
    ended = source.ended_at or began
    return (after is None or began > after) and (before is None or ended < before)


def _is_there(memory: Memory, now: datetime) -> bool:
    """Not past its end: the night has only not come yet."""
    return not is_purgeable(memory, now) and not has_expired(memory, now)


def restore(
    desk: Desk, principal: Principal, ids: Sequence[str], thread: str | None = None
) -> Restored:
    """Back to life. What had taken its place (an update, an override) steps back, restorable.
    An id with a version (…@2) brings back what the memory said then."""
    now = desk.clock()

    def decide() -> tuple[Changeset, tuple[list[str], list[str], list[str]]]:
        revision = desk.store.counters(principal.scope).revision
        named = of_sources(desk, principal, ids)
        sources = find_sources(desk, principal, list(named.values()), lambda s: is_there(s, now))
        drawn = restore_of_graph(desk, principal, list(filter(is_of_the_graph, ids)))
        rest = [id for id in ids if id not in named and not is_of_the_graph(id)]
        wanted = split_refs(desk, principal, rest)
        memories = find(desk, principal, list(wanted), lambda m: _is_there(m, now))
        said = {
            memory.id: as_it_was(desk, principal, memory, version)
            for memory in memories
            if (version := wanted[memory.id]) is not None
        }
        dead = [memory for memory in memories if memory.state is not State.ACTIVE]
        successors = _live_successors(desk, principal, dead)
        _hold_to_what_is_seen(principal, successors)
        before = last_lives(desk, principal, dead)
        steps = [
            revived(memory, said.get(memory.id, before.get(memory.id, memory)), now)
            for memory in dead
        ]
        reverted = [memory for memory in memories if memory.id in said and memory not in dead]
        steps += [revived(memory, said[memory.id], now) for memory in reverted]
        steps = [_reindexed(desk, step) for step in steps]
        leaving = [successor for successor, _ in successors]
        stepping_back = _step_back(desk, principal, successors, steps, now)
        hold_to_live_limits(desk, principal, dead, leaving, now)
        asleep = [source for source in sources if source.state is not State.ACTIVE]
        waking = [step for each in asleep for step in revive_source(each, now, desk.new_id())]
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            (*steps, *stepping_back, *waking, *drawn.steps),
            revision,
            thread,
            member=principal.member,
        )
        back: list[Memory | Source] = [*dead, *reverted, *asleep]
        everything: list[Memory | Source] = [*memories, *sources]
        already = [item.id for item in everything if item not in back]
        told = (
            [*(item.id for item in back), *drawn.ids],
            [*already, *drawn.already],
            [m.id for m in leaving],
        )
        return changeset, told

    revision, (back, already, replaced) = desk.decide(decide)
    return Restored(tuple(back), tuple(already), tuple(replaced), revision)


def _hold_to_what_is_seen(principal: Principal, successors: Sequence[tuple[Memory, str]]) -> None:
    """Who does not see what took a memory's place cannot send it away."""
    for successor, back in successors:
        if not can_see(principal, successor):
            raise NotAllowed(f"{principal.agent} may not restore {back!r}.", field="ids")


def _step_back(
    desk: Desk,
    principal: Principal,
    successors: Sequence[tuple[Memory, str]],
    revivals: Sequence[Change],
    now: datetime,
) -> list[Step]:
    """What had taken a place leaves it, and hands back what was asked about it."""
    until = now + desk.lifetimes.restorable
    revived = {step.after.id: step.after for step in revivals}
    steps: list[Step] = []
    for successor, back in successors:
        steps.append(soft_delete(successor, now, until, replaced_by=back))
        waiting = waiting_about(desk, principal, successor)
        steps += carry(successor, waiting, revived[back]).steps
    return steps


def _reindexed(desk: Desk, step: Change) -> Change:
    if step.before.searchable_text == step.after.searchable_text:
        return step
    return replace(step, index=index_all(desk, [step.after])[0][0])


def _live_successors(
    desk: Desk, principal: Principal, dead: Sequence[Memory]
) -> list[tuple[Memory, str]]:
    """The live end of each chain of replacements, and whom it makes room for, so that restoring
    it swaps the two again. A merged summary replaces nobody alone."""
    found: dict[str, tuple[Memory, str]] = {}
    revived = {memory.id for memory in dead}
    for memory in dead:
        successor: Memory | None = memory
        passed = {memory.id}
        while successor and successor.superseded_by and successor.superseded_by not in passed:
            passed.add(successor.superseded_by)
            fetched = desk.store.fetch(principal.scope, [successor.superseded_by])
            successor = fetched[0] if fetched else None
            if successor and "merged_from" in successor.metadata:
                successor = None
        if successor and successor.state is State.ACTIVE and successor.id not in revived:
            found[successor.id] = (successor, memory.id)
    return list(found.values())


def hold_to_live_limits(
    desk: Desk,
    principal: Principal,
    dead: Sequence[Memory],
    leaving: Sequence[Memory],
    now: datetime,
) -> None:
    limited: set[Kind] = {m.kind for m in dead if POLICIES[m.kind].max_live is not None}
    live = {}
    for kind in limited:
        everyone = Visibility(cleared=True)
        listing = Listing(filters=Filters(kinds=(kind,)), visibility=everyone, now=now)
        count = len(desk.store.page(principal.scope, listing))
        live[kind] = count - sum(memory.kind is kind for memory in leaving)
    hold_to_limits(dead, live)
