"""Absorb a memory: another one says the same, and takes over what it was supported by.

The other one keeps its words. It gets the evidence, tags, questions, and the higher importance and
confidence; the absorbed memory becomes history.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from commonplace.engine.composition import supersede_memory
from commonplace.engine.context import EngineContext
from commonplace.engine.indexing import index_memories
from commonplace.engine.memories.conflicts import held_values_about, transfer_held_values
from commonplace.engine.provenance.contributions import (
    add_contributor_evidence,
    copy_contributions,
    hold_contributions,
    refresh_memory,
)
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import ChangesetStep, build_change
from commonplace.model.journal import Event, JournalNode, Op
from commonplace.model.memory.kinds import Stability
from commonplace.model.memory.memory import Memory

_WORKER = JournalNode.WORKER


def absorb_memory(
    engine: EngineContext, principal: Principal, kept: Memory, same: Memory, now: datetime
) -> list[ChangesetStep]:
    """``same`` is absorbed: superseded after what supports it is stored with the kept one."""
    after = _joined(kept, same, now)
    contributions = copy_contributions(engine, principal, kept, same, now)
    if contributions:
        after = add_contributor_evidence(after, same)
    steps: list[ChangesetStep] = []
    if after.evolve(updated_at=kept.updated_at) != kept:
        reworded = after.indexed_texts != kept.indexed_texts
        index = index_memories(engine, [after])[0][0] if reworded else None
        meta = {"absorbs": same.id}
        steps.append(
            build_change(
                kept, after, op=Op.MERGE, event=Event.MERGE, node=_WORKER, index=index, meta=meta
            )
        )
    steps += hold_contributions(kept, contributions)
    steps.append(supersede_memory(same, kept.id, now, Event.MERGE, _WORKER))
    about = held_values_about(engine, principal, same)
    steps += transfer_held_values(same, about, after).steps
    return steps


def can_absorb(kept: Memory, same: Memory) -> bool:
    """Nothing that is pinned or permanent ends, no question is open about either, and no field of
    the one that ends has another value in the other."""
    is_protected = same.pinned or same.stability is Stability.PERMANENT
    is_open = kept.conflict is not None or same.conflict is not None
    return not is_protected and not is_open and _agrees(kept.metadata, same.metadata)


def _agrees(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(name, value) == value for name, value in other.items())


def _joined(kept: Memory, same: Memory, now: datetime) -> Memory:
    by_owner = same.agent_id is None
    after = refresh_memory(kept, same, frozenset(), now, by_owner=by_owner)
    began = [each.valid_from or each.created_at for each in (kept, same)]
    ends = (kept.expires_at, same.expires_at)
    return after.evolve(
        content=kept.content,
        summary=kept.summary,
        importance=max(kept.importance, same.importance),
        tags=tuple(dict.fromkeys((*kept.tags, *same.tags))),
        valid_from=min(began),
        expires_at=None if None in ends else max(filter(None, ends)),
    )


def preference(memory: Memory, is_decided: bool) -> tuple[Any, ...]:
    """Of two memories that say the same, the one that stays is the greater: what is pinned, what a
    person decided, what is more important; else the one that was stored first."""
    return (
        memory.pinned,
        memory.stability is Stability.PERMANENT,
        is_decided,
        memory.importance,
        -memory.created_at.timestamp(),
        memory.id,
    )
