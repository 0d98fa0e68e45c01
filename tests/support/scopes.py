"""Sources and memories put straight into any scope: into a team's, into another user's."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from commonplace.api import Commonplace
from commonplace.engine.indexing import index_memories, index_passages
from commonplace.engine.search.plan import RecallPlan
from commonplace.engine.search.recall import Recalled, recall
from commonplace.model.access.principal import Principal, ReadableScope, Scope
from commonplace.model.changeset import AddSource, Changeset, build_add
from commonplace.model.journal import Event, Op
from commonplace.model.memory.memory import Memory
from commonplace.model.sources.source import Passage, ProcessingStatus, Source
from support.clock import START
from support.sources import a_source, told_of

ANA = Principal("ana")
GARDENERS = Scope("team:gardeners")


@dataclass(frozen=True)
class Said:
    text: str
    speaker: str | None = None
    minute: int = 0
    session: str | None = None
    role: str | None = None


def bring(book: Commonplace, scope: Scope, said: Sequence[Said | str], **fields: Any) -> Source:
    """A source with its passages, in one write."""
    turns = [Said(each) if isinstance(each, str) else each for each in said]
    if scope.key.startswith("team:"):
        fields.setdefault("team_id", scope.name)
    source = a_source(
        fields.pop("external_id", str(uuid.uuid4())),
        status=ProcessingStatus.PROCESSED,
        passages=len(turns),
        **fields,
    )
    passages = [
        Passage(
            source_id=source.id,
            number=number,
            turn=number,
            text=turn.text,
            speaker=turn.speaker,
            role=turn.role,
            at=START + timedelta(minutes=turn.minute),
            session=turn.session,
        )
        for number, turn in enumerate(turns, 1)
    ]
    found = index_passages(book._engine, [(source, passage) for passage in passages])
    step = AddSource(
        source,
        b"raw",
        told_of(source, Op.CREATE, Event.ADD),
        passages=tuple(zip(passages, found, strict=True)),
    )
    book._engine.store.apply(Changeset(scope, START, "user:test", (step,)))
    return source


def keep(book: Commonplace, scope: Scope, memories: Sequence[Memory]) -> None:
    found, _ = index_memories(book._engine, memories)
    steps = tuple(build_add(memory, index) for memory, index in zip(memories, found, strict=True))
    book._engine.store.apply(Changeset(scope, START, "user:test", steps))


def own(principal: Principal = ANA) -> ReadableScope:
    return ReadableScope(principal.scope)


def of_team(scope: Scope = GARDENERS) -> ReadableScope:
    return ReadableScope(scope, is_own=False)


def as_guest(scope: Scope, *sources: Source) -> ReadableScope:
    return ReadableScope(scope, is_own=False, sources=frozenset(each.id for each in sources))


def ask(
    book: Commonplace, query: str, *reach: ReadableScope, principal: Principal = ANA, **more: Any
) -> Recalled:
    """What recall answers to somebody of this reach."""
    (found,) = recall(
        book._engine, principal, [RecallPlan(query, **{"k": 20, **more})], scopes=reach
    )
    return found


def told(answer: Recalled) -> list[tuple[str, float, float | None]]:
    return [(hit.id, hit.score, hit.similarity) for hit in answer.hits]
