"""How much a run measures."""

from __future__ import annotations

from dataclasses import dataclass

SIZES = (1_000, 10_000, 100_000)
USERS = 1_000
PASSAGES = (600, 10_000, 100_000)


@dataclass(frozen=True, slots=True)
class Plan:
    sizes: tuple[int, ...] = SIZES
    users: int = USERS  # in the crowded store
    memories_each: int = 1_000
    recalls: int = 100  # timed at each size, for each method
    remembers: int = 60
    synced_remembers: int = 200  # counted under strace
    imports: int = 5
    peers: bool = True
    passages: tuple[int, ...] = PASSAGES  # of conversations, that are ingested and asked
    appends: int = 30


def quick(plan: Plan) -> Plan:
    return Plan(
        sizes=tuple(size for size in plan.sizes if size <= 10_000) or plan.sizes[:1],
        users=min(plan.users, 30),
        recalls=40,
        remembers=30,
        synced_remembers=50,
        peers=plan.peers,
        passages=plan.passages[:1],
        appends=10,
    )
