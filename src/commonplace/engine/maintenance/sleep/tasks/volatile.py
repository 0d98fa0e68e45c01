"""Volatile memories without an expiry are merged in fives into a stable summary.

The summary is stored first, then its originals are superseded by it. `tidy` does the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from commonplace.engine.composition import supersede_memory
from commonplace.engine.context import EngineContext
from commonplace.engine.indexing import index_memories
from commonplace.engine.maintenance.sleep.task import Batch, Decide, Night, NightAction
from commonplace.engine.memories.merge import build_summary, can_be_merged
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import IndexEntry, build_add
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.journal import Event, JournalNode
from commonplace.model.memory.lifecycle import is_mergeable
from commonplace.model.memory.memory import Memory
from commonplace.store.queries import NO_LIMIT, MemoryListing

MERGED = "volatile, and older than a week"
_FIVES_AT_ONCE = 20  # of a batch


@dataclass(frozen=True, slots=True)
class PreparedMerge:
    """A summary that is ready to be stored, and its originals as they were then."""

    originals: tuple[Memory, ...]
    summary: Memory
    index: IndexEntry

    @property
    def size(self) -> int:
        return len(self.originals)


def run_volatile(night: Night) -> Decide:
    prepared = prepare_merges(night.engine, night.scope, night.now, night.dry_run, night.rests)

    def decide() -> Batch:
        merges = list(unchanged_merges(night.engine, night.scope, prepared.merges, night.now))
        chosen = within_limit(merges, night.may_still_end)
        actions = [merge_action(merge, night.now) for merge in chosen]
        left = sum(merge.size for merge in merges[len(actions) :])
        has_more = bool(prepared.more and actions and not left)
        return Batch(actions, has_more=has_more, waiting=left + prepared.more)

    return decide


@dataclass(frozen=True, slots=True)
class PreparedMerges:
    merges: Sequence[PreparedMerge]
    more: int  # memories that wait for the next batch


def prepare_merges(
    engine: EngineContext,
    scope: Scope,
    now: datetime,
    all_of_them: bool = False,
    rests: Collection[str] = (),
) -> PreparedMerges:
    """The oldest first; fewer than five wait for more. The summaries are embedded in one call."""
    listing = MemoryListing(now=now, visibility=OWNER_VISIBILITY, volatile=True, limit=NO_LIMIT)
    found = reversed(engine.store.page(scope, listing))
    due = [
        memory
        for memory in found
        if memory.id not in rests and is_mergeable(memory, now, engine.lifetimes)
    ]
    fives = group_for_merge(due, engine.lifetimes.merge_batch)
    groups = [group for group in fives if can_be_merged(group)]
    at_once = groups if all_of_them else groups[:_FIVES_AT_ONCE]
    summaries = [build_summary(engine.new_id(), group, now) for group in at_once]
    indexes = index_memories(engine, summaries)[0] if summaries else []
    merges = [
        PreparedMerge(tuple(group), summary, index)
        for group, summary, index in zip(at_once, summaries, indexes, strict=True)
    ]
    return PreparedMerges(merges, sum(map(len, groups[len(at_once) :])))


def group_for_merge(found: Sequence[Memory], size: int) -> list[list[Memory]]:
    """Full batches of the same sensitivity, agent and category: a summary inherits the highest
    sensitivity, and an agent's summary must not contain others' texts."""
    alike: dict[MergeGroup, list[Memory]] = {}
    for memory in found:
        alike.setdefault(merge_group(memory), []).append(memory)
    return [
        group[start : start + size]
        for group in alike.values()
        for start in range(0, len(group) - size + 1, size)
    ]


MergeGroup = tuple[str, str | None, str]


def merge_group(memory: Memory) -> MergeGroup:
    """Only memories that the same readers may see are merged."""
    return memory.sensitivity, memory.agent_id, memory.category


def unchanged_merges(
    engine: EngineContext, scope: Scope, prepared: Sequence[PreparedMerge], now: datetime
) -> Iterator[PreparedMerge]:
    """Without those of which an original has changed or ended meanwhile."""

    def is_due(memory: Memory) -> bool:
        return is_mergeable(memory, now, engine.lifetimes)

    ids = [memory.id for merge in prepared for memory in merge.originals]
    present = {memory.id: memory for memory in engine.store.fetch(scope, ids)}
    for merge in prepared:
        known = [present.get(memory.id) for memory in merge.originals]
        refs = [memory.ref for memory in known if memory and is_due(memory)]
        if refs == [memory.ref for memory in merge.originals]:
            yield merge


def within_limit(merges: Sequence[PreparedMerge], may_end: int) -> list[PreparedMerge]:
    """The first ones that together end no more memories."""
    totals = accumulate(merge.size for merge in merges)
    return [merge for merge, total in zip(merges, totals, strict=True) if total <= may_end]


def merge_action(merge: PreparedMerge, now: datetime) -> NightAction:
    worker = JournalNode.WORKER
    new = build_add(merge.summary, merge.index, event=Event.MERGE, node=worker)
    old = (
        supersede_memory(memory, merge.summary.id, now, Event.MERGE, worker)
        for memory in merge.originals
    )
    ids = tuple(memory.id for memory in merge.originals)
    return NightAction(MERGED, (new, *old), ends=ids, items=len(ids))
