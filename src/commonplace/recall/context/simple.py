"""context_pack: the simplest form, a heading and the newest memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from commonplace.desk import Desk, visibility_of
from commonplace.model.journal import Node
from commonplace.model.memory import Memory
from commonplace.model.scope import Principal
from commonplace.recall.plan import Plan
from commonplace.recall.recall import recall
from commonplace.recall.within import Within
from commonplace.store.port import Listing

HEADING = "## Memory Context"
NOTES = 20


@dataclass(frozen=True, slots=True)
class ContextPack:
    notes: tuple[Memory, ...]
    formatted_text: str  # empty when there are no notes


def context_pack(
    desk: Desk, principal: Principal, query: str | None, thread: str | None, turn: int | None
) -> ContextPack:
    """The newest, or the best for a query. What is sensitive stays out, whoever asks."""
    asking = replace(principal, cleared=False)
    notes = _newest(desk, asking) if query is None else _best(desk, asking, query, thread, turn)
    return ContextPack(tuple(notes), formatted(notes))


def formatted(notes: Sequence[Memory]) -> str:
    told = "\n\n".join(f"[{memory.kind}] {memory.content}" for memory in notes)
    return f"{HEADING}\n\n{told}" if notes else ""


def _newest(desk: Desk, principal: Principal) -> list[Memory]:
    listing = Listing(visibility=visibility_of(principal), now=desk.clock(), limit=NOTES)
    return desk.store.page(principal.scope, listing)


def _best(
    desk: Desk, principal: Principal, query: str, thread: str | None, turn: int | None
) -> list[Memory]:
    plan = Plan(
        query,
        k=NOTES,
        thread_id=thread,
        turn=turn,
        logged_as="context_pack",
        node=Node.CONTEXT,
        within=Within(passages=False),
    )
    found = recall(desk, principal, [plan])[0]
    return desk.store.fetch(principal.scope, [hit.id for hit in found.hits])
