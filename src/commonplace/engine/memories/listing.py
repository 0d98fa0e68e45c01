"""Memories without search: list, show one, count (stats), gather all for export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from commonplace.engine.access import can_see, list_pending_invitations, visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.follow_up_jobs import is_backlog
from commonplace.errors import NotAllowed, NotFound, StoreBusy
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.export.archive import ScopeExport
from commonplace.model.export.records import WholeSource
from commonplace.model.filters import OWNER_VISIBILITY, Filters, Visibility
from commonplace.model.journal import RecallLogQuery
from commonplace.model.memory.lifecycle import NOW, PointInTime, has_ended, versions_visible_to
from commonplace.model.memory.memory import Link, Memory, State, Version
from commonplace.model.paging import PageCursor, parse_cursor
from commonplace.store.queries import (
    NO_LIMIT,
    Counters,
    JobQuery,
    JournalQuery,
    MemoryListing,
    OperationCount,
    PassagesOf,
    SourceListing,
)

with lazy_imports(__name__):
    from commonplace.engine.memories.inbox import (
        Side,
        count_proposals,
        hide_unseen_disputes,
        list_alternatives,
        list_held_values,
    )

EXPORT_TRIES = 10


@dataclass(frozen=True, slots=True)
class MemoryPage:
    memories: tuple[Memory, ...]
    next: str | None  # the cursor for the next page, given as `after`


@dataclass(frozen=True, slots=True)
class ShownMemory:
    memory: Memory
    versions: tuple[Version, ...]
    links: tuple[Link, ...]
    held: tuple[Side, ...] = ()  # values that wait for a decision
    alternatives: tuple[Side, ...] = ()  # differing values of other sources


def list_memories(
    engine: EngineContext,
    principal: Principal,
    filters: Filters,
    limit: int,
    after: str | None,
    forgotten: bool,
) -> MemoryPage:
    """Newest first. With forgotten: memories that `restore` can still bring back."""
    last, admitted = _resume_after(engine, principal, filters, after)
    listing = MemoryListing(
        filters=admitted,
        visibility=visibility_of(principal),
        now=None if forgotten else engine.clock(),
        restorable_at=engine.clock() if forgotten else None,
        states=(State.SOFT_DELETED,) if forgotten else (State.ACTIVE,),
        limit=limit + 1,
        after=last,
    )
    found = engine.store.page(principal.scope, listing)
    page = _as_visible(engine, principal, found[:limit])
    further = PageCursor(page[-1].created_at, page[-1].id) if len(found) > limit else None
    return MemoryPage(tuple(page), str(further) if further else None)


def _resume_after(
    engine: EngineContext, principal: Principal, filters: Filters, after: str | None
) -> tuple[str | None, Filters]:
    """The id to continue after, and the filters. If the cursor's memory is gone or hidden now, the
    page continues from the cursor's timestamp: memories of that exact time may be listed twice, and
    none is left out."""
    if after is None:
        return None, filters
    cursor = parse_cursor(after)
    last = cursor.id if cursor else after
    if _visible_ids(engine, principal, [last]):
        return last, filters
    if cursor is None:
        raise NotFound(f"Unknown cursor: after={after!r}.", field="after")
    before = min(cursor.just_after, filters.created_before or cursor.just_after)
    return None, replace(filters, created_before=before)


def _visible_ids(engine: EngineContext, principal: Principal, ids: Sequence[str]) -> set[str]:
    """The ids among these whose memories the caller may see."""
    return {m.id for m in engine.store.fetch(principal.scope, ids) if can_see(principal, m)}


def _as_visible(
    engine: EngineContext, principal: Principal, memories: Sequence[Memory]
) -> list[Memory]:
    """Without ids of successors and conflicts that the caller may not see."""
    memories = hide_unseen_disputes(engine, principal, memories)
    successors = sorted({memory.superseded_by for memory in memories if memory.superseded_by})
    if principal.is_owner or not successors:
        return list(memories)
    visible = _visible_ids(engine, principal, successors)
    return [m if m.superseded_by in visible else m.evolve(superseded_by=None) for m in memories]


def _look_up_remedy(principal: Principal) -> str | None:
    """The owner looks up an id in vain if its item is of sensitivity high."""
    if not principal.is_owner or principal.cleared:
        return None
    return "Look up the id first (recall or list; with --cleared also items of sensitivity high)."


def show_memory(
    engine: EngineContext, principal: Principal, id: str, then: PointInTime = NOW
) -> ShownMemory:
    """One memory with its versions and links. Forgotten memories are not shown. ``then`` is the
    point in time that the store shows."""
    now = engine.clock()
    found = engine.store.fetch(principal.scope, [id])
    if not found or not can_see(principal, found[0]) or not _is_readable(found[0], now):
        raise NotFound(f"There is no {id!r} here.", remedy=_look_up_remedy(principal), field="id")
    stored = engine.store.versions(principal.scope, [id])
    versions = versions_visible_to(stored, then, lambda memory: can_see(principal, memory))
    return ShownMemory(
        _as_visible(engine, principal, found)[0],
        tuple(_visible_versions(engine, principal, versions)),
        _visible_links_of(engine, principal, id, now),
        list_held_values(engine, principal, found[0]),
        list_alternatives(engine, principal, id),
    )


def _visible_versions(
    engine: EngineContext, principal: Principal, versions: Sequence[Version]
) -> Iterator[Version]:
    visible = _as_visible(engine, principal, [version.memory for version in versions])
    return (replace(v, memory=memory) for v, memory in zip(versions, visible, strict=True))


def _visible_links_of(
    engine: EngineContext, principal: Principal, id: str, now: datetime
) -> tuple[Link, ...]:
    """Links to memories that the caller may see as well."""
    links = engine.store.links(principal.scope, [id])
    others = {link.b if link.a == id else link.a: link for link in links}
    return tuple(
        others[other.id]
        for other in engine.store.fetch(principal.scope, list(others))
        if can_see(principal, other) and _is_readable(other, now)
    )


def _is_readable(memory: Memory, now: datetime) -> bool:
    """Neither forgotten nor expired. A superseded memory is readable as history."""
    return memory.state is not State.SOFT_DELETED and not has_ended(memory, now)


def gather_export(engine: EngineContext, principal: Principal) -> ScopeExport:
    """All data of a user: forgotten and superseded items, history and journal included."""
    if not principal.is_owner:
        raise NotAllowed("Only the owner may export a memory.")
    engine.access_log.flush()
    for _ in range(EXPORT_TRIES):
        before = engine.store.counters(principal.scope)
        export = _gather_scope(engine, principal.scope, before)
        if engine.store.counters(principal.scope) == before:
            return export
    raise StoreBusy("The memory changed during the export, on every try.")


def _gather_scope(engine: EngineContext, scope: Scope, counters: Counters) -> ScopeExport:
    listing = MemoryListing(
        states=tuple(State), visibility=Visibility(cleared=True), limit=NO_LIMIT
    )
    memories = sorted(engine.store.page(scope, listing), key=lambda m: (m.created_at, m.id))
    ids = [memory.id for memory in memories]
    return ScopeExport(
        tuple(memories),
        tuple(engine.store.versions(scope, ids)),
        tuple(engine.store.links(scope, ids)),
        tuple(engine.store.journal(scope, JournalQuery())),
        counters.revision,
        counters.profile_numbers,
        tuple(engine.store.held(scope)),
        tuple(_gather_sources(engine, scope)),
        tuple(engine.store.proposals(scope)),
        tuple(engine.store.recall_log(scope, RecallLogQuery())),
        engine.store.whole_graph(scope),
        tuple(engine.store.model_readings(scope)),
    )


def _gather_sources(engine: EngineContext, scope: Scope) -> Iterator[WholeSource]:
    listing = SourceListing(
        states=tuple(State), visibility=Visibility(cleared=True), limit=NO_LIMIT
    )
    for source in reversed(engine.store.sources(scope, listing)):
        query = PassagesOf(source.id, hidden=True)
        passages = list(engine.store.passages(scope, query).values())
        yield WholeSource(source, tuple(engine.store.original(scope, source.id)), tuple(passages))


@dataclass(frozen=True, slots=True)
class Stats:
    user_id: str
    revision: int
    live: int
    links: int
    kinds: Mapping[str, int]  # of active memories
    categories: Mapping[str, int]
    states: Mapping[str, int]
    erasures_pending: int
    operations: tuple[OperationCount, ...]  # on request: by day, part, operation and outcome
    sources: int  # active ones, as in the next three fields
    source_types: Mapping[str, int]
    source_statuses: Mapping[str, int]
    passages: int
    jobs: Mapping[str, int]  # by state
    proposals: int  # open profile proposals
    invitations: int  # sources that others offer


def stats(engine: EngineContext, principal: Principal, days: int = 0) -> Stats:
    """An agent's counts include only what it may see; jobs and operations are shown to the owner
    only. ``days``: how many days of operations, today included."""
    visibility = OWNER_VISIBILITY if principal.is_owner else visibility_of(principal)
    census = engine.store.statistics(principal.scope, engine.clock(), visibility)
    live = [row for row in census.memories if row.state == State.ACTIVE]
    sources = [row for row in census.sources if row.state == State.ACTIVE]
    jobs = engine.store.jobs(principal.scope, JobQuery()) if principal.is_owner else []
    return Stats(
        user_id=principal.user_id,
        revision=engine.store.counters(principal.scope).revision,
        live=sum(row.count for row in live),
        links=census.links,
        kinds=_sum_by_name((row.kind, row.count) for row in live),
        categories=_sum_by_name((row.category, row.count) for row in live),
        states=_sum_by_name((row.state, row.count) for row in census.memories),
        erasures_pending=sum(receipt.scrubbed_at is None for receipt in census.receipts),
        operations=_latest_operations(census.operations, engine.clock(), days)
        if principal.is_owner
        else (),
        sources=sum(row.count for row in sources),
        source_types=_sum_by_name((row.source_type, row.count) for row in sources),
        source_statuses=_sum_by_name((row.status, row.count) for row in sources),
        passages=sum(row.passages for row in sources),
        jobs=_sum_by_name((job.state, 1) for job in filter(is_backlog, jobs)),
        proposals=count_proposals(engine, principal),
        invitations=len(list_pending_invitations(engine, principal)),
    )


def _latest_operations(
    operations: Iterable[OperationCount], now: datetime, days: int
) -> tuple[OperationCount, ...]:
    """Of the last days (UTC), newest first."""
    before = (now.astimezone(UTC) - timedelta(days=days)).date().isoformat()
    latest = [each for each in operations if each.day > before]
    return tuple(sorted(latest, key=lambda each: each.day, reverse=True))


def _sum_by_name(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for name, count in pairs:
        counts[name] += count
    return dict(sorted(counts.items()))
