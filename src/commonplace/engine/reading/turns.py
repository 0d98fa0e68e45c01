"""What a model found in a window of a conversation, as memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from commonplace.engine.context import EngineContext
from commonplace.engine.conversation.observation import (
    DecisionRules,
    ObservationPlan,
    ObservationResult,
    TurnLocation,
    decide_observation,
    plan_observation,
    prepare_observation,
)
from commonplace.engine.memories.candidates import TurnCandidates, select_claims
from commonplace.engine.memories.decided import is_found_by_rules
from commonplace.engine.memories.remember import MemoryBatch
from commonplace.engine.reading.pair_checks import says_no_more
from commonplace.engine.reading.prepared import PreparedWindow
from commonplace.engine.reading.review import ModelReview, conflict_handling
from commonplace.language.grounding.values import GroundedMemory
from commonplace.model.access.principal import Principal
from commonplace.model.filters import OWNER_VISIBILITY, Filters
from commonplace.model.journal import MAIN_THREAD
from commonplace.model.memory.candidate import MAX_STORED, MemoryCandidate
from commonplace.model.memory.memory import State
from commonplace.model.sources.source import (
    ConversationTurn,
    Passage,
    Source,
    SpeakerRole,
    utc_day,
)
from commonplace.store.queries import NO_LIMIT, MemoryListing


@dataclass(frozen=True, slots=True)
class PreparedTurns:
    """The memories of a window, before they are compared with what is stored."""

    principal: Principal
    source: Source
    plan: ObservationPlan
    batch: MemoryBatch
    passages: tuple[Passage, ...]  # by the position of their candidates in the plan
    skipped: Mapping[str, int]  # by reason

    @property
    def locations(self) -> dict[int, TurnLocation]:
        return {
            place: TurnLocation(self.source, (passage.id,))
            for place, passage in enumerate(self.passages)
        }


def prepare_turns(
    engine: EngineContext,
    principal: Principal,
    prepared: PreparedWindow,
    memories: Sequence[GroundedMemory],
) -> PreparedTurns:
    """The slow part: validates and embeds. ``principal``: who observed the turns."""
    by_number = prepared.by_number
    known = [each for each in memories if each.passage in by_number]
    ids = {each.key: each.memory.id for each in prepared.known}
    chosen, skipped = _choose(known, by_number, ids)
    chosen = _with_covered(engine, principal, prepared.source, chosen)
    passages = tuple(by_number[number] for number in dict.fromkeys(n for n, _ in chosen))
    turns = [
        _turn_candidates(
            prepared.source, passage, [each for n, each in chosen if n == passage.number]
        )
        for passage in passages
    ]
    plan = plan_observation(engine, principal, turns)
    plan = replace(
        plan,
        wanted=[
            replace(
                each, asked=replace(each.asked, on_conflict=conflict_handling(each.asked.memory))
            )
            for each in plan.wanted
        ],
    )
    batch = prepare_observation(engine, principal, plan)
    return PreparedTurns(principal, prepared.source, plan, batch, passages, skipped)


def _choose(
    memories: Iterable[GroundedMemory], by_number: Mapping[int, Passage], ids: Mapping[str, str]
) -> tuple[list[tuple[int, MemoryCandidate]], Counter[str]]:
    """At most three of a turn, with the number of their passage. ``ids``: of known memories."""
    taken: Counter[int] = Counter()
    skipped: Counter[str] = Counter()
    chosen = []
    for each in memories:
        turn = by_number[each.passage].turn
        candidate = each.as_candidate(ids)
        if not candidate.is_stored:
            skipped["unsure"] += 1
        elif taken[turn] >= MAX_STORED:
            skipped["turn_full"] += 1
        else:
            taken[turn] += 1
            chosen.append((each.passage, candidate))
    return chosen, skipped


def _with_covered(
    engine: EngineContext,
    principal: Principal,
    source: Source,
    chosen: Sequence[tuple[int, MemoryCandidate]],
) -> list[tuple[int, MemoryCandidate]]:
    """A finding takes the place of what the rules made of the same passage, if that says no
    more."""
    listing = MemoryListing(
        filters=Filters(source_id=source.id), visibility=OWNER_VISIBILITY, limit=NO_LIMIT
    )
    stored = engine.store.page(principal.own_scope, listing) if chosen else []

    def covered_by(number: int, found: MemoryCandidate) -> tuple[str, ...]:
        return tuple(
            old.id
            for old in stored
            if f"{source.id}#{number}" in old.evidence
            and says_no_more(old.content, f"{found.content} {found.trigger}")
            and is_found_by_rules(engine, principal.own_scope, old.id)
        )

    return [
        (number, replace(found, replaces=(*found.replaces, *covered_by(number, found))))
        for number, found in chosen
    ]


def _turn_candidates(
    source: Source, passage: Passage, candidates: Sequence[MemoryCandidate]
) -> TurnCandidates:
    turn = ConversationTurn(
        text=passage.text,
        thread=source.thread_id or MAIN_THREAD,
        at=source.local_time(passage.at),
        is_dated=True,
        role=SpeakerRole(passage.role or SpeakerRole.USER),
        speaker=passage.speaker,
        session=passage.session,
    )
    claims = select_claims(candidates, candidates)
    return TurnCandidates(turn, None, wanted=tuple(candidates), claims=claims)


def decide_turns(engine: EngineContext, prepared: PreparedTurns) -> ObservationResult:
    """Runs again if the decision is stale."""
    if prepared.plan.is_empty:
        return ObservationResult(skipped=list(prepared.plan.refused))
    review = ModelReview(engine, prepared.principal, prepared.source.id)
    rules = DecisionRules(_remaining(engine, prepared), review)
    return decide_observation(
        engine, prepared.principal, prepared.plan, prepared.batch, prepared.locations, rules
    )


def is_of_today(engine: EngineContext, passage: Passage) -> bool:
    return utc_day(min(passage.at, engine.clock())) == utc_day(engine.clock())


def _remaining(engine: EngineContext, prepared: PreparedTurns) -> int | None:
    """The daily limit counts on the day of the turns. None: that is today."""
    day = prepared.passages[-1].at
    if is_of_today(engine, prepared.passages[-1]):
        return None
    start = day.replace(hour=0, minute=0, second=0, microsecond=0)
    listing = MemoryListing(
        filters=Filters(source_id=prepared.source.id, created_after=start),
        visibility=OWNER_VISIBILITY,
        states=(State.ACTIVE, State.SUPERSEDED),
        limit=NO_LIMIT,
    )
    stored = engine.store.page(prepared.principal.scope, listing)
    same_day = sum(utc_day(memory.created_at) == utc_day(day) for memory in stored)
    return max(0, engine.observe_daily - same_day)
