"""remember: check, compose, embed, look around, decide, link, apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from commonplace.desk import Desk, index_all
from commonplace.model.changes import Changeset, Step, added, connected
from commonplace.model.memory import Memory
from commonplace.model.scope import Principal
from commonplace.remember.compose import compose
from commonplace.remember.decide import Action, Relation, hold_to_limits, relate
from commonplace.remember.draft import callers_metadata, draft_from
from commonplace.remember.link import links_for, within_batch
from commonplace.remember.neighbours import look_around

VECTOR_QUEUED = (
    "The embedder is down: the text is stored and found by its words, its vector follows."
)


@dataclass(frozen=True, slots=True)
class Remembered:
    id: str
    memory: Memory
    relation: Relation
    action: Action
    revision: int
    warnings: tuple[str, ...] = ()
    conflict: str | None = None
    is_override: bool = False

    @property
    def memory_type(self) -> str:
        return self.memory.kind

    @property
    def is_new(self) -> bool:
        return self.relation is Relation.NEW

    @property
    def has_metadata(self) -> bool:
        return bool(self.memory.metadata)


def remember(
    desk: Desk, principal: Principal, given: Sequence[Mapping[str, Any]]
) -> list[Remembered]:
    """All of them in one transaction, or none."""
    for each in given:
        callers_metadata(each.get("metadata") or {})
    drafts = [draft_from(each) for each in given]
    now = desk.clock()
    memories = [compose(draft, desk.new_id(), principal, now) for draft in drafts]
    indexes, vectors = index_all(desk, memories)
    warnings = () if vectors is not None else (VECTOR_QUEUED,)

    def decide() -> tuple[Changeset, list[Remembered]]:
        around = look_around(desk, principal.scope, memories, vectors)
        hold_to_limits(memories, around.live_by_kind)
        steps: list[Step] = []
        answers = []
        for place, memory in enumerate(memories):
            near = around.neighbours[place]
            decision = relate(memory, near)
            best = near[0].similarity if near else None
            steps.append(added(memory, indexes[place], similarity=best))
            neighbours = [*near, *within_batch(desk, memories, vectors, place)]
            steps += [connected(link) for link in links_for(memory, neighbours, now)]
            answers.append(
                Remembered(memory.id, memory, decision.relation, decision.action, 0, warnings)
            )
        changeset = Changeset(principal.scope, now, principal.actor, tuple(steps), around.revision)
        return changeset, answers

    revision, answers = desk.decide(decide)
    return [replace(answer, revision=revision) for answer in answers]
