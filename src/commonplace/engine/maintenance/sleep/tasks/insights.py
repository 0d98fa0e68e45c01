"""What follows from the last days, in a model's words; at most once in a day.

A model is given only what the owner said to assistants: summaries of these conversations, and facts
from them. An insight rests on all of it, so it goes when any of it is erased. It is stored like any
other memory if it says something new, and replaces nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from commonplace.engine.follow_up_jobs import can_be_summarised
from commonplace.engine.llm.texts import (
    MAX_ACTIVITIES,
    MAX_FACTS,
    WrittenInsight,
    write_insights,
)
from commonplace.engine.maintenance.sleep.model_texts import ModelWork, erasures
from commonplace.engine.maintenance.sleep.task import (
    NOTHING_TO_DO,
    Batch,
    Decide,
    Night,
    NightAction,
)
from commonplace.engine.memories.remember import (
    MemoryBatch,
    load_batch_neighbourhood,
    plan_batch,
    prepare_batch,
    read_request,
)
from commonplace.engine.memories.write_plan import WritePlan
from commonplace.engine.memory_relation import WriteDecision
from commonplace.engine.prompt_injection import (
    is_injected_memory,
    is_prompt_injection,
    is_quoted,
)
from commonplace.engine.provenance.evidence import supporting_passages
from commonplace.model.changeset import AddMemory, ChangesetStep, LinkMemories
from commonplace.model.filters import OWNER_VISIBILITY, Filters
from commonplace.model.journal import JournalNode
from commonplace.model.memory.kinds import Action, Kind
from commonplace.model.memory.memory import Memory, Sensitivity
from commonplace.model.sleep import SLEEP_ACTOR
from commonplace.model.sources.source import THREAD_ORIGIN, Source
from commonplace.store.queries import MemoryListing, SourceListing

WHY = "what follows from the last days"
NOT_DUE, NOTHING_NEW = "not due", "nothing new"
LAST_DAYS = timedelta(days=7)
REST = timedelta(hours=24)
IMPORTANCE = 2
CATEGORY = "relationship_dynamic"
_KINDS = (Kind.FACT, Kind.EVENT)
_PAGE = 50


@dataclass(frozen=True, slots=True)
class _Material:
    """What the model is given, and the ids that it rests on."""

    activities: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def is_enough(self) -> bool:
        """An insight links two things."""
        return len(self.activities) + len(self.facts) >= 2


@dataclass(frozen=True, slots=True)
class PreparedInsights:
    outcome: str
    batch: MemoryBatch | None = None
    tokens: int = 0
    erasures: int = 0


def run_insights(night: Night) -> Decide:
    prepared = _prepare(night)

    def decide() -> Batch:
        idle = Batch(outcome=prepared.outcome, tokens=prepared.tokens)
        if prepared.batch is None:
            return idle if idle != Batch() else NOTHING_TO_DO
        with night.engine.store.read_session():
            if prepared.erasures != erasures(night) or not _is_due(night):
                return idle
            steps = _plan(night, prepared.batch)
        if not steps:
            return replace(idle, outcome=idle.outcome or NOTHING_NEW)
        made = sum(isinstance(each, AddMemory) for each in steps)
        return replace(idle, actions=(NightAction(WHY, steps, items=made),))

    return decide


def _prepare(night: Night) -> PreparedInsights:
    asked = ModelWork.begin(night, "insights")
    engine = night.engine
    with engine.store.read_session():
        if not asked.may_ask:
            return PreparedInsights(asked.outcome)
        if not _is_due(night):
            return PreparedInsights(NOT_DUE)
        material, known = _material(night), erasures(night)
        if not material.is_enough:
            return PreparedInsights(NOTHING_NEW)
        written = write_insights(engine, night.scope, material.activities, material.facts)
        asked.count(written)
    if not written:
        return PreparedInsights(asked.outcome or NOTHING_NEW, tokens=asked.tokens)
    requests = [
        read_request(engine, night.principal, _as_memory(each, material), night.now)
        for each in written
    ]
    batch = prepare_batch(engine, night.principal, requests)
    return PreparedInsights(asked.outcome, batch, asked.tokens, known)


def _as_memory(insight: WrittenInsight, material: _Material) -> dict[str, Any]:
    return {
        "kind": Kind.INSIGHT,
        "content": insight.text,
        "category": CATEGORY,
        "tags": list(insight.tags),
        "importance": IMPORTANCE,
        "evidence": list(material.evidence),
        "actor_id": SLEEP_ACTOR,
    }


def _is_due(night: Night) -> bool:
    """No insight of a night was stored within a day, whether it is still there or not."""
    filters = Filters(kinds=(Kind.INSIGHT,), actor_id=SLEEP_ACTOR, created_after=night.now - REST)
    listing = MemoryListing(filters=filters, visibility=OWNER_VISIBILITY, limit=1)
    return not night.engine.store.page(night.scope, listing)


# ——— what the model is given ———


def _material(night: Night) -> _Material:
    sources, memories = _activities(night), _facts(night)
    passages = (each for memory in memories for each in supporting_passages(memory))
    return _Material(
        tuple(source.summary for source in sources),
        tuple(memory.content for memory in memories),
        tuple(dict.fromkeys((*(source.id for source in sources), *passages))),
    )


def _activities(night: Night) -> Sequence[Source]:
    listing = SourceListing(
        visibility=OWNER_VISIBILITY,
        origin=THREAD_ORIGIN,
        said_after=night.now - LAST_DAYS,
        limit=_PAGE,
    )
    found = night.engine.live_source_page(night.scope, listing)
    usable = [each for each in found if _may_be_given(night, each)]
    return usable[:MAX_ACTIVITIES]


def _may_be_given(night: Night, source: Source) -> bool:
    """A conversation of the owner with assistants, and nobody else."""
    is_with_others = set(source.participants) - {night.scope.name}
    if is_with_others or not source.summary or not can_be_summarised(source, night.scope):
        return False
    return not is_prompt_injection(source)


def _facts(night: Night) -> Sequence[Memory]:
    """The newest. One without a source could not take an insight along when it is erased."""
    filters = Filters(kinds=_KINDS, created_after=night.now - LAST_DAYS)
    listing = MemoryListing(
        filters=filters, visibility=OWNER_VISIBILITY, now=night.now, limit=_PAGE
    )
    usable = [
        memory
        for memory in night.engine.store.page(night.scope, listing)
        if supporting_passages(memory)
        and memory.sensitivity is not Sensitivity.HIGH
        and not is_quoted(memory)
        and not is_injected_memory(night.engine, memory)
    ]
    return usable[:MAX_FACTS]


# ——— the decision ———


def _plan(night: Night, batch: MemoryBatch) -> tuple[ChangesetStep, ...]:
    around = load_batch_neighbourhood(night.engine, night.principal, batch)
    plan, _ = plan_batch(night.engine, night.principal, batch, around, refuses=_is_no_news)
    return tuple(
        replace(step, entry=replace(step.entry, node=JournalNode.WORKER))
        if isinstance(step, AddMemory | LinkMemories)
        else step
        for step in plan.all_steps()
    )


def _is_no_news(_place: int, _memory: Memory, decision: WriteDecision, _plan: WritePlan) -> bool:
    """What repeats, changes or contradicts a memory is not stored: it replaces nothing."""
    return decision.action is not Action.STORED
