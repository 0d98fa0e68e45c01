"""tidy: expiry, idleness, purge, folding of volatile memories, missing vectors, compaction.

`commonplace tidy` runs it by hand, and opening a store runs it once a day, so that the promises
about endings hold where no worker ever runs. Running it twice changes nothing more.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.desk import Desk, indexing, passage_indexing
from commonplace.errors import InvalidInput, StoreError
from commonplace.graph.forgetting import purge_of_graph
from commonplace.language.models.embedder import Vectors
from commonplace.model.changes import (
    Bookkeeping,
    Change,
    Changeset,
    ChangeSource,
    Step,
    Withdraw,
    changed,
    removed,
    removed_source,
)
from commonplace.model.consent import Decision, settled
from commonplace.model.filters import Filters, Visibility
from commonplace.model.graph.steps import RemoveArtifact, RemoveEdge, RemoveNode, RemoveNotes
from commonplace.model.journal import Entry, Event, Node, Op
from commonplace.model.lifecycle import (
    IDLE_KINDS,
    has_expired,
    is_idle,
    is_mergeable,
    is_purgeable,
)
from commonplace.model.memory import Memory, State
from commonplace.model.scope import Principal, Scope
from commonplace.model.source import CATEGORY, Source
from commonplace.store.port import EVERYTHING, Listing, SourceListing

log = logging.getLogger("commonplace")

ACTOR = "worker:tidy"
AT_ONCE = 1000
VECTORS_AT_ONCE = 512

Merge = Callable[[Principal, Sequence[str]], object]
Connecting = Callable[[Principal, Sequence[Memory], Vectors], object]


@dataclass(frozen=True, slots=True)
class Tidied:
    expired: int = 0
    idle: int = 0
    purged: int = 0
    merged: int = 0  # originals folded into summaries
    vectors: int = 0
    scrubbed: bool = True  # False: erased bytes still wait for compaction
    reindexed: int = 0
    proposals: int = 0  # that nobody decided on in time

    @property
    def changed(self) -> int:
        ended = self.expired + self.idle + self.purged + self.proposals
        return ended + self.merged + self.vectors


def tidy(
    desk: Desk,
    principal: Principal,
    merge: Merge,
    link: Connecting,
    compact: bool = True,
    reindex: bool = False,
) -> Tidied:
    """``merge`` and ``link`` are handed in: they are the write path's own verbs."""
    desk.books.flush()
    scope = principal.scope
    now = desk.clock()
    expired = _all(desk, scope, Listing(expired_by=now), lambda m: has_expired(m, now), _expire)
    expired += end_sources(desk, scope, now)
    idle = _all(
        desk,
        scope,
        Listing(filters=Filters(kinds=IDLE_KINDS, importance_max=2), now=now),
        lambda m: is_idle(m, now, desk.lifetimes),
        _set_aside,
    )
    purged = _all(
        desk,
        scope,
        Listing(states=(State.SOFT_DELETED,), purgeable_by=now),
        lambda m: is_purgeable(m, now),
        _purge,
    )
    of_graph = _purge_graph(desk, scope, now)
    expired += of_graph[Event.TTL]
    purged += purge_sources(desk, scope, now) + of_graph[Event.DELETE]
    proposals = _end_proposals(desk, scope, now)
    merged = _fold_volatile(desk, principal, now, merge)
    vectors = fill_vectors(desk, principal, link)
    reindexed = make_index_anew(desk, scope) if reindex else 0
    scrubbed = scrub(desk) if compact else True
    log_before = now - desk.lifetimes.recall_log
    desk.store.record(Bookkeeping(scope, now, tidied=True, log_before=log_before))
    return Tidied(expired, idle, purged, merged, vectors, scrubbed, reindexed, proposals)


def make_index_anew(desk: Desk, scope: Scope) -> int:
    """The words that memories are found by, as this version of the analyser has them."""
    total, after = 0, None
    while True:
        listing = Listing(
            states=tuple(State), visibility=Visibility(cleared=True), limit=AT_ONCE, after=after
        )
        page = desk.store.page(scope, listing)
        terms = {memory.ref: indexing(memory, None) for memory in page}
        desk.store.record(Bookkeeping(scope, desk.clock(), terms=terms))
        total += len(page)
        if len(page) < AT_ONCE:
            return total + _index_passages_anew(desk, scope)
        after = page[-1].id


def _index_passages_anew(desk: Desk, scope: Scope) -> int:
    listing = SourceListing(
        states=tuple(State), visibility=Visibility(cleared=True), limit=EVERYTHING
    )
    total = 0
    for source in desk.store.source_page(scope, listing):
        found = desk.store.passages_of(scope, source.id)
        terms = {unit: passage_indexing(source, passage, None) for unit, passage in found}
        desk.store.record(Bookkeeping(scope, desk.clock(), passage_terms=terms))
        total += len(terms)
    return total


def scrub(desk: Desk) -> bool:
    """Compaction that cannot be had now is had later; what waits for it stays marked."""
    try:
        return desk.store.scrub(desk.clock())
    except StoreError as error:
        log.warning("compaction postponed: %s", error.code)
        return False


def _all(
    desk: Desk,
    scope: Scope,
    listing: Listing,
    applies: Callable[[Memory], bool],
    step: Callable[[Desk, Memory, datetime], Step],
) -> int:
    """Every memory the rule applies to, page by page, each page a changeset of its own."""
    total = 0
    after: str | None = None
    everyone = Visibility(cleared=True)
    while True:
        shown = replace(listing, visibility=everyone, limit=AT_ONCE, after=after)
        page = desk.store.page(scope, shown)
        ids = [memory.id for memory in page if applies(memory)]
        total += _apply_to(desk, scope, ids, applies, step)
        if len(page) < AT_ONCE:
            return total
        # What was dealt with has left the listing, so its page is asked for again.
        after = page[-1].id if not ids else None


def _apply_to(
    desk: Desk,
    scope: Scope,
    ids: Sequence[str],
    applies: Callable[[Memory], bool],
    step: Callable[[Desk, Memory, datetime], Step],
) -> int:
    if not ids:
        return 0
    now = desk.clock()

    def decide() -> tuple[Changeset, int]:
        revision = desk.store.counters(scope).revision
        still = [memory for memory in desk.store.fetch(scope, ids) if applies(memory)]
        steps = tuple(step(desk, memory, now) for memory in still)
        return Changeset(scope, now, ACTOR, steps, revision), len(still)

    return desk.decide(decide)[1]


def _expire(desk: Desk, memory: Memory, now: datetime) -> Step:
    return removed(memory, event=Event.TTL, node=Node.WORKER)


def _purge(desk: Desk, memory: Memory, now: datetime) -> Step:
    return removed(memory, event=Event.DELETE, node=Node.WORKER)


def _purge_graph(desk: Desk, scope: Scope, now: datetime) -> Counter[Event | None]:
    """How many are gone, by why."""

    def decide() -> tuple[Changeset, Counter[Event | None]]:
        revision = desk.store.counters(scope).revision
        steps = purge_of_graph(desk, scope, ACTOR, now)
        gone = Counter(step.entry.event for step in steps if isinstance(step, _REMOVALS))
        return Changeset(scope, now, ACTOR, steps, revision), gone

    return desk.decide(decide)[1]


_REMOVALS = (RemoveNode, RemoveEdge, RemoveNotes, RemoveArtifact)


def end_sources(desk: Desk, scope: Scope, now: datetime) -> int:
    """What is ephemeral is forgotten on its day, with what only it told, by all who had read it;
    nothing brings it back, and it is purged the same night."""

    def decide() -> tuple[Changeset, int]:
        revision = desk.store.counters(scope).revision
        listing = SourceListing(visibility=Visibility(cleared=True), ended_by=now, limit=EVERYTHING)
        ended = desk.store.source_page(scope, listing)
        steps = tuple(s for each in ended for s in letting_go(each, now, each.ends_at or now))
        return Changeset(scope, now, ACTOR, steps, revision), len(ended)

    return desk.decide(decide)[1]


def letting_go(source: Source, now: datetime, until: datetime) -> tuple[Step, ...]:
    after = source.evolve(
        state=State.SOFT_DELETED, purge_at=until, updated_at=now, version=source.version + 1
    )
    entry = Entry(
        op=Op.DELETE,
        event=Event.TTL,
        node=Node.WORKER,
        subject=source.id,
        category=CATEGORY,
        old_ref=source.ref,
        new_ref=after.ref,
    )
    return ChangeSource(source, after, entry), Withdraw((source.id,))


def purge_sources(desk: Desk, scope: Scope, now: datetime) -> int:
    def decide() -> tuple[Changeset, int]:
        listing = SourceListing(
            states=(State.SOFT_DELETED,),
            visibility=Visibility(cleared=True),
            purgeable_by=now,
            limit=EVERYTHING,
        )
        gone = desk.store.source_page(scope, listing)
        steps = tuple(
            removed_source(source, event=Event.DELETE, node=Node.WORKER) for source in gone
        )
        return Changeset(scope, now, ACTOR, steps, desk.store.counters(scope).revision), len(gone)

    return desk.decide(decide)[1]


def _end_proposals(desk: Desk, scope: Scope, now: datetime) -> int:
    def decide() -> tuple[Changeset, int]:
        revision = desk.store.counters(scope).revision
        over = [each for each in desk.store.proposals(scope) if not each.is_open(now)]
        steps = tuple(settled(each, Decision.ENDED, Node.WORKER) for each in over)
        return Changeset(scope, now, ACTOR, steps, revision), len(over)

    return desk.decide(decide)[1]


def _set_aside(desk: Desk, memory: Memory, now: datetime) -> Change:
    after = memory.evolve(
        state=State.SOFT_DELETED, purge_at=now + desk.lifetimes.restorable, updated_at=now
    )
    return changed(memory, after, op=Op.DELETE, event=Event.TTL, node=Node.WORKER)


def _fold_volatile(desk: Desk, principal: Principal, now: datetime, merge: Merge) -> int:
    """Oldest first, in fives; fewer than five wait for company. A batch that is refused, because
    together they are too long or one has just changed, stays as it is."""
    listing = Listing(now=now, visibility=Visibility(cleared=True), volatile=True, limit=EVERYTHING)
    found = [
        memory
        for memory in reversed(desk.store.page(principal.scope, listing))
        if is_mergeable(memory, now, desk.lifetimes)
    ]
    folded = 0
    for batch in fives(found, desk.lifetimes.merge_batch):
        try:
            merge(principal, [memory.id for memory in batch])
        except InvalidInput as error:
            log.warning("volatile memories were not merged: %s", error.code)
        else:
            folded += len(batch)
    return folded


def fives(found: Sequence[Memory], size: int) -> list[list[Memory]]:
    """Full batches of like with like: a summary is as guarded as the most guarded of them, and
    nobody else's words belong in an agent's."""
    alike: dict[tuple[str, str | None, str], list[Memory]] = {}
    for memory in found:
        key = (memory.sensitivity, memory.agent_id, memory.category)
        alike.setdefault(key, []).append(memory)
    return [
        group[start : start + size]
        for group in alike.values()
        for start in range(0, len(group) - size + 1, size)
    ]


def fill_vectors(desk: Desk, principal: Principal, link: Connecting) -> int:
    """Vectors of what was stored while the embedder was down, and the links that come of them."""
    scope = principal.scope
    total = 0
    while True:
        listing = Listing(
            states=tuple(State),
            visibility=Visibility(cleared=True),
            without_vector=True,
            limit=VECTORS_AT_ONCE,
        )
        waiting = desk.store.page(scope, listing)
        if not waiting:
            return total + fill_passage_vectors(desk, scope) + fill_graph_vectors(desk, scope)
        vectors = desk.embed([memory.searchable_text for memory in waiting])
        if vectors is None:
            return total
        ready = {
            memory.ref: vector.astype("<f4").tobytes()
            for memory, vector in zip(waiting, vectors, strict=True)
        }
        desk.store.record(Bookkeeping(scope, desk.clock(), vectors=ready))
        link(principal, waiting, vectors)
        total += len(ready)


def fill_passage_vectors(desk: Desk, scope: Scope) -> int:
    total = 0
    while waiting := desk.store.unembedded_passages(scope, VECTORS_AT_ONCE):
        vectors = desk.embed([text for _, text in waiting])
        if vectors is None:
            break
        ready = {
            unit: row.astype("<f4").tobytes()
            for (unit, _), row in zip(waiting, vectors, strict=True)
        }
        desk.store.record(Bookkeeping(scope, desk.clock(), passage_vectors=ready))
        total += len(ready)
    return total


def fill_graph_vectors(desk: Desk, scope: Scope) -> int:
    """Of nodes and edges. What is changed meanwhile comes up again in the next round."""
    total = 0
    while waiting := desk.store.unembedded_of_graph(scope, VECTORS_AT_ONCE):
        vectors = desk.embed([text for _, text in waiting])
        if vectors is None:
            break
        ready = {
            ref: row.astype("<f4").tobytes() for (ref, _), row in zip(waiting, vectors, strict=True)
        }
        desk.store.record(Bookkeeping(scope, desk.clock(), graph_vectors=ready))
        total += len(ready)
    return total
