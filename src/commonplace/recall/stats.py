"""A memory in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from commonplace.desk import Desk, visibility_of
from commonplace.model.filters import WHOLE
from commonplace.model.memory import State
from commonplace.model.scope import Principal
from commonplace.recall.proposals import count_proposals
from commonplace.store.port import JobQuery, OperationCount


@dataclass(frozen=True, slots=True)
class Stats:
    user_id: str
    revision: int
    live: int
    links: int
    kinds: Mapping[str, int]  # live ones
    categories: Mapping[str, int]
    states: Mapping[str, int]
    erasures_pending: int
    operations: tuple[OperationCount, ...]  # on request: by day, part, operation and outcome
    sources: int  # live ones, as the next three
    source_types: Mapping[str, int]
    source_statuses: Mapping[str, int]
    passages: int
    jobs: Mapping[str, int]  # work that is owed, by its state
    proposals: int  # for the profile, that wait


def stats(desk: Desk, principal: Principal, events: bool) -> Stats:
    """To an agent only what it may see counts; jobs and operations are the owner's to look at."""
    seen = WHOLE if principal.is_owner else visibility_of(principal)
    census = desk.store.census(principal.scope, desk.clock(), seen)
    live = [row for row in census.memories if row.state == State.ACTIVE]
    sources = [row for row in census.sources if row.state == State.ACTIVE]
    jobs = desk.store.jobs(principal.scope, JobQuery()) if principal.is_owner else []
    return Stats(
        user_id=principal.user_id,
        revision=desk.store.counters(principal.scope).revision,
        live=sum(row.count for row in live),
        links=census.links,
        kinds=_sum((row.kind, row.count) for row in live),
        categories=_sum((row.category, row.count) for row in live),
        states=_sum((row.state, row.count) for row in census.memories),
        erasures_pending=sum(receipt.scrubbed_at is None for receipt in census.receipts),
        operations=census.operations if events and principal.is_owner else (),
        sources=sum(row.count for row in sources),
        source_types=_sum((row.source_type, row.count) for row in sources),
        source_statuses=_sum((row.status, row.count) for row in sources),
        passages=sum(row.passages for row in sources),
        jobs=_sum((job.state, 1) for job in jobs),
        proposals=count_proposals(desk, principal),
    )


def _sum(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for name, count in pairs:
        counts[name] += count
    return dict(sorted(counts.items()))
