"""merge: several memories become one summary; also finds memories by id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.engine.access import can_see, require_may_change_instruction
from commonplace.engine.composition import supersede_memory
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.indexing import index_memories
from commonplace.engine.profile.profile import require_profile_owner
from commonplace.engine.transaction import run_transaction
from commonplace.errors import InvalidInput, NotAllowed, NotFound
from commonplace.language.text.sentences import summarise
from commonplace.language.text.terms import extract_keywords
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Changeset, build_add
from commonplace.model.journal import Event
from commonplace.model.memory.kinds import MERGED_KIND, POLICIES, Stability, instructs_agents
from commonplace.model.memory.memory import Memory, Sensitivity
from commonplace.model.profile.fields import is_profile_item
from commonplace.model.validation import MAX_CONTENT


def find_memories(
    engine: EngineContext,
    principal: Principal,
    ids: Sequence[str],
    acceptable: Callable[[Memory], bool] = lambda memory: True,
) -> list[Memory]:
    """The memories to change, in this order; NotFound names the first that this caller cannot see.

    Profile items can be changed by their owner only, rules and souls for all agents by those who
    decide.
    """
    found = {memory.id: memory for memory in engine.store.fetch(principal.scope, ids)}
    for id in ids:
        memory = found.get(id)
        if memory is None or not can_see(principal, memory) or not acceptable(memory):
            raise NotFound(f"There is no {id!r} here.", field="ids")
        if is_profile_item(id):
            require_profile_owner(principal)
        require_may_change_instruction(engine, principal, memory)
    return [found[id] for id in ids]


@dataclass(frozen=True, slots=True)
class Merged:
    id: str
    memory: Memory
    merged: tuple[str, ...]
    revision: int


def merge_memories(
    engine: EngineContext,
    request: RequestContext,
    ids: Sequence[str],
    thread: str | None = None,
) -> Merged:
    principal = request.principal
    if len(ids) < 2:
        raise InvalidInput("Merging takes at least two ids.", field="ids")
    now = engine.clock()
    id = engine.new_id()
    originals = find_memories(engine, principal, ids, lambda m: m.is_live(now))
    _check_mergeable(originals)
    summary = build_summary(id, originals, now)
    _require_may_merge(principal, [*originals, summary])
    indexes, _ = index_memories(engine, [summary])

    def decide() -> tuple[Changeset, None]:
        revision = engine.store.counters(principal.scope).revision
        current = find_memories(engine, principal, ids, lambda m: m.is_live(now))
        if [memory.content for memory in current] != [memory.content for memory in originals]:
            raise InvalidInput("One of the memories changed meanwhile; look again before merging.")
        new = build_add(summary, indexes[0], event=Event.MERGE)
        old = [supersede_memory(memory, id, now, Event.MERGE) for memory in current]
        changeset = Changeset(principal.scope, now, principal.actor, (new, *old), revision, thread)
        return changeset, None

    revision, _ = run_transaction(engine, request, decide)
    return Merged(id, summary, tuple(ids), revision)


def _require_may_merge(principal: Principal, memories: Sequence[Memory]) -> None:
    """All agents see a summary, also one of rules that only one agent follows."""
    if principal.decides:
        return
    for memory in memories:
        if instructs_agents(memory.kind, memory.category):
            raise NotAllowed(
                f"{principal.agent} may not merge rules: all agents would see the summary.",
                remedy="Update one of them and forget the others, or ask the owner to merge them.",
                field="ids",
            )


def _check_mergeable(originals: Sequence[Memory]) -> None:
    for memory in originals:
        if not POLICIES[memory.kind].can_merge:
            message = f"A {memory.kind} cannot be merged; update it instead."
            raise InvalidInput(message, field="ids")
    if len(merge_content(originals)) > MAX_CONTENT:
        raise InvalidInput("The merged memory would be too long.", field="ids")


def can_be_merged(originals: Sequence[Memory]) -> bool:
    try:
        _check_mergeable(originals)
    except InvalidInput:
        return False
    return True


def build_summary(id: str, originals: Sequence[Memory], now: datetime) -> Memory:
    """The summary has the highest importance and sensitivity of the originals."""
    content = merge_content(originals)
    return Memory(
        id=id,
        user_id=originals[0].user_id,
        kind=MERGED_KIND,
        content=content,
        summary=summarise_merge(originals),
        category=_common_category(originals),
        tags=extract_keywords(content),
        metadata={"merged_from": [memory.id for memory in originals]},
        importance=max(memory.importance for memory in originals),
        confidence=min(memory.confidence for memory in originals),
        stability=Stability.STABLE,
        sensitivity=max((m.sensitivity for m in originals), key=list(Sensitivity).index),
        pinned=any(memory.pinned for memory in originals),
        agent_id=_common_value([memory.agent_id for memory in originals]),
        thread_id=_common_value([memory.thread_id for memory in originals]),
        valid_from=min(memory.valid_from or memory.created_at for memory in originals),
        created_at=now,
        updated_at=now,
        arrived_at=now,
    )


def merge_content(originals: Sequence[Memory]) -> str:
    distinct = dict.fromkeys(memory.content for memory in originals)
    return "\n".join(f"- {content}" for content in distinct)


def summarise_merge(originals: Sequence[Memory]) -> str:
    first = summarise(originals[0].content, limit=100)
    return f"Combined {len(originals)} memories: {first}"


def _common_category(originals: Sequence[Memory]) -> str:
    return (
        _common_value([memory.category for memory in originals]) or POLICIES[MERGED_KIND].category
    )


def _common_value(values: Sequence[str | None]) -> str | None:
    return values[0] if len(set(values)) == 1 else None
