"""Memories and changesets made by hand, for tests that speak to a store directly."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from commonplace.engine.indexing import build_indexing
from commonplace.language.embedders.hashing import HashingEmbedder
from commonplace.model.access.key import Key, token_digest
from commonplace.model.access.principal import Scope
from commonplace.model.access.team import AddKey
from commonplace.model.changeset import (
    Applied,
    ChangeMemory,
    Changeset,
    ChangesetStep,
    HoldValues,
    IndexEntry,
    build_add,
    build_change,
)
from commonplace.model.jobs import Job
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import HeldValue, Memory
from commonplace.model.profile.fields import Proposal, Signal
from commonplace.store.port import Store
from support.clock import START

ANA = Scope.of_user("ana")
BOB = Scope.of_user("bob")
EMBEDDER = HashingEmbedder(32)


def a_memory(content: str = "The lamp is green", **fields: Any) -> Memory:
    at = fields.pop("created_at", START)
    made = {
        "id": str(uuid.uuid4()),
        "user_id": "ana",
        "kind": Kind.NOTE,
        "content": content,
        "summary": content,
        "category": "knowledge",
        "created_at": at,
        "updated_at": at,
        "arrived_at": at,
    }
    return Memory(**{**made, **fields})


def indexed(memory: Memory, *, vector: bool = True) -> IndexEntry:
    made = EMBEDDER.embed([memory.searchable_text])[0] if vector else None
    return build_indexing(memory, made)


def adding(memory: Memory, *, vector: bool = True) -> ChangesetStep:
    return build_add(memory, indexed(memory, vector=vector))


def updating(before: Memory, *, reindexed: bool = False, **fields: Any) -> ChangeMemory:
    after = before.evolve(**fields)
    index = indexed(after) if reindexed else None
    return build_change(before, after, op=Op.UPDATE, event=Event.UPDATE, index=index)


def a_held(content: str, *, conflict: str | None = None, **fields: Any) -> HeldValue:
    alternative_to = fields.pop("alternative_to", None)
    at = fields.pop("held_at", START)
    mentioned = frozenset(fields.pop("mentioned", ("content",)))
    reason = fields.pop("reason", "it differs")
    memory = a_memory(content, created_at=at, **fields)
    return HeldValue(memory, conflict, alternative_to, mentioned, reason, "user:test", at)


def holding(content: str, *targets: Memory, conflict: str = "question", **more: Any) -> HoldValues:
    """A value that waits in a question about the targets."""
    return HoldValues(
        conflict,
        (a_held(content, conflict=conflict),),
        Entry(op=Op.HOLD, event=Event.UPDATE, subject=targets[0].id),
        targets=tuple(target.id for target in targets),
        **more,
    )


def a_proposal(value: Any = "Berlin", **fields: Any) -> Proposal:
    at = fields.pop("proposed_at", START)
    made = {
        "id": f"proposal:{uuid.uuid4()}",
        "name": "city",
        "signals": (Signal(actor="agent:test", at=at),),
        "ends_at": at + timedelta(days=7),
    }
    return Proposal(**{**made, "value": value, "proposed_at": at, **fields})


def a_job(scope: Scope = ANA, **fields: Any) -> Job:
    at = fields.pop("created_at", START)
    made = {"kind": "count", "due_at": at, "created_at": at, "updated_at": at}
    return Job(**{"id": str(uuid.uuid4()), "scope": scope, **made, **fields})


def a_key(token: str = "a token", **fields: Any) -> AddKey:
    made = {"id": str(uuid.uuid4()), "user_id": "ana", "label": "laptop", "created_at": START}
    key = Key(**{**made, **fields})
    return AddKey(key, token_digest(token), Entry(op=Op.GRANT, subject=key.id))


def changeset(
    *steps: ChangesetStep,
    scope: Scope = ANA,
    at: datetime = START,
    decided_on: int | None = None,
    **more: Any,
) -> Changeset:
    return Changeset(scope, at, "user:test", steps, decided_on, **more)


def put(store: Store, memories: Sequence[Memory], scope: Scope = ANA) -> Applied:
    return store.apply(changeset(*map(adding, memories), scope=scope))
