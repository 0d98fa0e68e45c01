"""What a batch of turns means for the memories: their candidates, planned and decided.

`observe` decides about turns as they arrive; a model's reading of stored turns is decided in the
same way, later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from commonplace.engine.context import EngineContext
from commonplace.errors import CommonplaceError
from commonplace.language.safety.sensitive import redact_credentials
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import ChangesetStep
from commonplace.model.memory.candidate import MemoryCandidate
from commonplace.model.memory.kinds import Action, Kind
from commonplace.model.memory.memory import Memory, Sensitivity
from commonplace.model.sources.source import (
    ConversationTurn,
    Source,
    SourceType,
    SpeakerRole,
    utc_day,
)

with lazy_imports(__name__):
    from commonplace.engine.memories.candidates import (
        ObservationLimits,
        Skipped,
        SkipReason,
        TurnCandidates,
        candidate_fields,
        date_memory,
        make_skipped,
    )
    from commonplace.engine.memories.corrections import (
        Correction,
        apply_corrections,
        texts_of_corrections,
    )
    from commonplace.engine.memories.remember import (
        DecisionReview,
        MemoryBatch,
        Remembered,
        RememberRequest,
        keep_decision,
        load_batch_neighbourhood,
        plan_batch,
        prepare_batch,
        read_request,
    )
    from commonplace.engine.profile.proposals import (
        ProfileClaim,
        Proposed,
        propose_claims,
        read_claim,
    )


@dataclass(frozen=True, slots=True)
class ObservedMemory:
    """A memory from a turn, and the words of the turn that produced it."""

    trigger: str
    remembered: Remembered

    @property
    def kind(self) -> str:
        return self.remembered.memory.kind

    @property
    def category(self) -> str:
        return self.remembered.memory.category

    @property
    def importance(self) -> int:
        return self.remembered.memory.importance

    @property
    def confidence(self) -> float:
        return self.remembered.memory.confidence

    @property
    def sensitivity(self) -> Sensitivity:
        """High: found only by callers with clearance, or by id."""
        return self.remembered.memory.sensitivity


@dataclass(frozen=True, slots=True)
class PlannedCandidate:
    """A candidate, and the memory that it would become."""

    place: int  # of its turn in the batch
    candidate: MemoryCandidate
    asked: RememberRequest


@dataclass(frozen=True, slots=True)
class ObservationPlan:
    """The memories that a batch of turns would produce."""

    turns: Sequence[TurnCandidates]
    wanted: Sequence[PlannedCandidate]
    refused: Sequence[tuple[int, Skipped]]

    @property
    def memories(self) -> list[Memory]:
        return [each.asked.memory for each in self.wanted]

    def corrections(self, now: datetime) -> dict[int, Correction]:
        """By the position in ``wanted``."""
        return {
            number: Correction(
                each.candidate.corrects,
                _said_at(self.turns[each.place].turn, now),
                each.candidate.replaces,
            )
            for number, each in enumerate(self.wanted)
            if each.candidate.corrects or each.candidate.replaces
        }

    @property
    def is_empty(self) -> bool:
        return not self.wanted and not any(each.claims for each in self.turns)


@dataclass(frozen=True, slots=True)
class DecisionRules:
    """What differs where turns are read again later."""

    remaining: int | None = None  # how many memories may be stored; None: what is left today
    review: DecisionReview | None = None


@dataclass(slots=True)
class ObservationResult:
    """The result of a batch of turns, by the position of the turn."""

    kept: list[tuple[int, ObservedMemory]] = field(default_factory=list)
    skipped: list[tuple[int, Skipped]] = field(default_factory=list)
    proposed: list[tuple[int, Proposed]] = field(default_factory=list)
    corrected: int = 0  # memories that were superseded because a turn says that they are wrong
    steps: tuple[ChangesetStep, ...] = ()
    decided_on: int | None = None  # revision; None: the decision depends on nothing in the store

    @property
    def counted(self) -> int:
        """The number that counts towards the daily limit; a repeat does not."""
        return sum(each.remembered.action is not Action.REFRESHED for _, each in self.kept)


def plan_observation(
    engine: EngineContext, principal: Principal, turns: Sequence[TurnCandidates]
) -> ObservationPlan:
    """A candidate that its kind refuses is reported as skipped and does not stop the others."""
    now = engine.clock()
    wanted: list[PlannedCandidate] = []
    refused: list[tuple[int, Skipped]] = []
    for place, each in enumerate(turns):
        for candidate in each.wanted:
            try:
                request = read_request(
                    engine, principal, _turn_fields(principal, candidate, each.turn, now), now
                )
            except CommonplaceError as error:
                refused.append((place, make_skipped(candidate, SkipReason.REFUSED, str(error))))
                continue
            # A repeat updates only these fields: the others may have been set by hand.
            stated = request.mentioned & _STATED_FIELDS
            said_at = _said_at(each.turn, now) if each.turn.is_dated else None
            memory = date_memory(request.memory, said_at)
            asked = replace(request, memory=memory, mentioned=stated, said_at=said_at)
            wanted.append(PlannedCandidate(place, candidate, asked))
    return ObservationPlan(turns, wanted, refused)


def prepare_observation(
    engine: EngineContext,
    principal: Principal,
    plan: ObservationPlan,
    other_texts: Sequence[str] = (),
) -> MemoryBatch:
    """Calls the embedder once."""
    corrected = texts_of_corrections(plan.corrections(engine.clock()).values())
    requests = [each.asked for each in plan.wanted]
    return prepare_batch(engine, principal, requests, [*other_texts, *corrected])


_STATED_FIELDS = frozenset({"content", "metadata", "ttl_days", "valid_from", "valid_to"})


def _said_at(turn: ConversationTurn, now: datetime) -> datetime:
    return min(turn.at, now).astimezone(UTC)


def _turn_fields(
    principal: Principal, candidate: MemoryCandidate, turn: ConversationTurn, now: datetime
) -> dict[str, Any]:
    return candidate_fields(candidate, _said_at(turn, now)) | {
        "agent_id": _told_agent(principal, candidate, turn),
        "source_type": SourceType.CHAT,
        "thread_id": turn.thread,
        "role": turn.role,
        "actor_id": turn.speaker,
        "run_id": turn.run_id,
        "job_id": turn.job_id,
    }


def _told_agent(
    principal: Principal, candidate: MemoryCandidate, turn: ConversationTurn
) -> str | None:
    """A rule that the user tells an agent ("no emojis, please") is for that agent: it needs no
    decision of the owner, as one for all agents would."""
    is_told = candidate.kind is Kind.RULE and turn.role is SpeakerRole.USER
    return principal.agent if is_told and not principal.decides else None


@dataclass(frozen=True, slots=True)
class TurnLocation:
    """Where a turn is stored: the source as it will be, and the turn's passages in it."""

    source: Source
    passages: tuple[str, ...]  # empty until the source is processed


def decide_observation(
    engine: EngineContext,
    principal: Principal,
    plan: ObservationPlan,
    batch: MemoryBatch,
    locations: Mapping[int, TurnLocation],
    rules: DecisionRules | None = None,
) -> ObservationResult:
    """``locations``: those of the turns, by position. Runs again if the decision is stale."""
    rules = rules or DecisionRules()
    result = ObservationResult(skipped=list(plan.refused))
    if plan.is_empty:
        return result
    counters = engine.store.counters(principal.scope)
    result.decided_on = counters.revision
    if plan.wanted:
        today = engine.observe_daily - counters.observed_on(utc_day(engine.clock()))
        remaining = today if rules.remaining is None else rules.remaining
        located = [
            replace(each.asked, memory=_attach_turn(each.asked.memory, locations[each.place]))
            for each in plan.wanted
        ]
        result.steps = _store_planned(
            engine, principal, plan, replace(batch, requests=located), remaining, rules, result
        )
    claims = _profile_claims(plan, locations, result)
    steps, proposed = propose_claims(engine, principal, [claim for _, claim in claims])
    result.proposed = [(place, each) for (place, _), each in zip(claims, proposed, strict=True)]
    result.steps += steps
    return result


def _attach_turn(memory: Memory, location: TurnLocation) -> Memory:
    """A memory from a sensitive conversation is sensitive. Its evidence is the turn's id, not its
    text, which would outlive the conversation."""
    is_sensitive = location.source.sensitivity is Sensitivity.HIGH
    return memory.evolve(
        source_id=location.source.id,
        sensitivity=Sensitivity.HIGH if is_sensitive else memory.sensitivity,
        evidence=location.passages or (location.source.id,),
    )


def _store_planned(
    engine: EngineContext,
    principal: Principal,
    plan: ObservationPlan,
    batch: MemoryBatch,
    remaining: int,
    rules: DecisionRules,
    result: ObservationResult,
) -> tuple[ChangesetStep, ...]:
    around = load_batch_neighbourhood(engine, principal, batch)
    limits = ObservationLimits(principal, around, remaining)
    review = rules.review or keep_decision
    write_plan, answers = plan_batch(engine, principal, batch, around, limits.refuses, review)
    corrections = plan.corrections(engine.clock())
    result.corrected = apply_corrections(engine, principal, write_plan, answers, corrections)
    for place, (wanted, answer) in enumerate(zip(plan.wanted, answers, strict=True)):
        if answer is None:
            refusal = limits.refused.get(place, _LEFT_AS_IT_IS)
            skipped = make_skipped(wanted.candidate, *refusal)
            result.skipped.append((wanted.place, skipped))
        else:
            result.kept.append((wanted.place, ObservedMemory(wanted.candidate.trigger, answer)))
    return write_plan.all_steps()


_LEFT_AS_IT_IS = (SkipReason.REPEAT, "a person decided about it")


def _profile_claims(
    plan: ObservationPlan, locations: Mapping[int, TurnLocation], result: ObservationResult
) -> list[tuple[int, ProfileClaim]]:
    """Claims for profile fields. A field that is also a memory is claimed only if that memory was
    stored."""
    stored = {(place, each.trigger): each.remembered.id for place, each in result.kept}
    claims: list[tuple[int, ProfileClaim]] = []
    for place, turn in enumerate(plan.turns):
        for candidate in turn.claims:
            memory = stored.get((place, candidate.trigger))
            if memory is None and not candidate.is_sensitive:
                continue
            try:
                claim = _profile_claim(candidate, turn, locations[place].source, memory)
            except CommonplaceError as error:
                result.skipped.append(
                    (place, make_skipped(candidate, SkipReason.REFUSED, str(error)))
                )
                continue
            claims.append((place, claim))
    return claims


def _profile_claim(
    candidate: MemoryCandidate, turn: TurnCandidates, source: Source, memory: str | None
) -> ProfileClaim:
    return read_claim(
        candidate.profile_field,
        candidate.profile_value,
        evidence=[redact_credentials(candidate.trigger, turn.wanted)],
        thread=turn.turn.thread,
        source_id=source.id,
        memory_id=None if candidate.is_sensitive else memory,
        is_said_now=True,
    )
