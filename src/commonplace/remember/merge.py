"""merge: several memories become one stable summary that supersedes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.desk import Desk, index_all
from commonplace.errors import InvalidInput
from commonplace.language.keywords import keywords
from commonplace.language.summarise import summarise
from commonplace.model.changes import Changeset, added
from commonplace.model.check import MAX_CONTENT
from commonplace.model.journal import Event, Node
from commonplace.model.kinds import POLICIES, Kind, Stability
from commonplace.model.memory import Memory, Sensitivity
from commonplace.model.scope import Principal
from commonplace.remember.find import find
from commonplace.remember.replace import supersede


@dataclass(frozen=True, slots=True)
class Merged:
    id: str
    memory: Memory
    merged: tuple[str, ...]
    revision: int


def merge(
    desk: Desk,
    principal: Principal,
    ids: Sequence[str],
    node: Node = Node.HOTPATH,
    actor: str | None = None,
    thread: str | None = None,
) -> Merged:
    if len(ids) < 2:
        raise InvalidInput("Merging takes at least two ids.", field="ids")
    now = desk.clock()
    id = desk.new_id()
    originals = find(desk, principal, ids, lambda m: m.is_live(now))
    _hold_together(originals)
    summary = merged_memory(id, originals, now)
    indexes, _ = index_all(desk, [summary])

    def decide() -> tuple[Changeset, None]:
        revision = desk.store.counters(principal.scope).revision
        current = find(desk, principal, ids, lambda m: m.is_live(now))
        if [memory.content for memory in current] != [memory.content for memory in originals]:
            raise InvalidInput("One of the memories changed meanwhile; look again before merging.")
        new = added(summary, indexes[0], event=Event.MERGE, node=node)
        old = [supersede(memory, id, now, Event.MERGE, node) for memory in current]
        changeset = Changeset(
            principal.scope, now, actor or principal.actor, (new, *old), revision, thread
        )
        return changeset, None

    revision, _ = desk.decide(decide)
    return Merged(id, summary, tuple(ids), revision)


def _hold_together(originals: Sequence[Memory]) -> None:
    if any(memory.kind is Kind.SOUL for memory in originals):
        raise InvalidInput("A soul cannot be merged; update it instead.", field="ids")
    if len(merged_content(originals)) > MAX_CONTENT:
        raise InvalidInput("The merged memory would be too long.", field="ids")


def merged_memory(id: str, originals: Sequence[Memory], now: datetime) -> Memory:
    """As important and as guarded as the most important and most guarded of them."""
    content = merged_content(originals)
    return Memory(
        id=id,
        user_id=originals[0].user_id,
        kind=Kind.SUMMARY,
        content=content,
        summary=merged_summary(originals),
        category=_shared_category(originals),
        tags=keywords(content),
        metadata={"merged_from": [memory.id for memory in originals]},
        importance=max(memory.importance for memory in originals),
        confidence=min(memory.confidence for memory in originals),
        stability=Stability.STABLE,
        sensitivity=max((m.sensitivity for m in originals), key=list(Sensitivity).index),
        pinned=any(memory.pinned for memory in originals),
        agent_id=_shared([memory.agent_id for memory in originals]),
        thread_id=_shared([memory.thread_id for memory in originals]),
        valid_from=min(memory.valid_from or memory.created_at for memory in originals),
        created_at=now,
        updated_at=now,
        arrived_at=now,
    )


def merged_content(originals: Sequence[Memory]) -> str:
    distinct = dict.fromkeys(memory.content for memory in originals)
    return "\n".join(f"- {content}" for content in distinct)


def merged_summary(originals: Sequence[Memory]) -> str:
    first = summarise(originals[0].content, limit=100)
    return f"Combined {len(originals)} memories: {first}"


def _shared_category(originals: Sequence[Memory]) -> str:
    return _shared([memory.category for memory in originals]) or POLICIES[Kind.SUMMARY].category


def _shared(values: Sequence[str | None]) -> str | None:
    return values[0] if len(set(values)) == 1 else None
