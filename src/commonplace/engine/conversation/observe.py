"""observe: store conversation turns and the memories they give, in one transaction.

The steps of the memories and those of the stored turns form one changeset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.search.pack import Choice
from commonplace.errors import CommonplaceError
from commonplace.language.safety.passwords import may_be_answer
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.safety.secrets import redact_secrets
from commonplace.language.safety.sensitive import redact_credentials
from commonplace.language.text.normalise import fold
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Bookkeeping, Changeset, ChangesetStep
from commonplace.model.journal import Entry, JournalStatus, Op
from commonplace.model.memory.candidate import MemoryCandidate
from commonplace.model.memory.kinds import BUILT_IN_CATEGORIES, Action, Kind
from commonplace.model.memory.memory import Memory, Sensitivity
from commonplace.model.sources.source import (
    ConversationTurn,
    Passage,
    Source,
    SourceType,
    SpeakerRole,
    utc_day,
)
from commonplace.store.queries import HiddenPassages

with lazy_imports(__name__):
    from commonplace.engine.indexing import build_passage_indexing, passage_text_to_embed
    from commonplace.engine.memories.candidates import (
        ObservationLimits,
        Skipped,
        SkipReason,
        TurnCandidates,
        candidate_fields,
        date_memory,
        make_skipped,
        select_candidates,
    )
    from commonplace.engine.memories.remember import (
        MemoryBatch,
        Remembered,
        RememberRequest,
        load_batch_neighbourhood,
        log_repeats,
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
    from commonplace.engine.sources.thread import (
        GrownThread,
        ThreadUpdate,
        grow_thread,
        last_passage,
        thread_updates,
    )
    from commonplace.engine.transaction import run_transaction


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

    @property
    def is_empty(self) -> bool:
        return not self.wanted and not any(each.claims for each in self.turns)


@dataclass(slots=True)
class ObservationResult:
    """The result of a batch of turns, by the position of the turn."""

    kept: list[tuple[int, ObservedMemory]] = field(default_factory=list)
    skipped: list[tuple[int, Skipped]] = field(default_factory=list)
    proposed: list[tuple[int, Proposed]] = field(default_factory=list)
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
                    engine, principal, _turn_fields(candidate, each.turn, now), now
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


_STATED_FIELDS = frozenset({"content", "metadata", "ttl_days", "valid_from", "valid_to"})


def _said_at(turn: ConversationTurn, now: datetime) -> datetime:
    return min(turn.at, now).astimezone(UTC)


def _turn_fields(
    candidate: MemoryCandidate, turn: ConversationTurn, now: datetime
) -> dict[str, Any]:
    return candidate_fields(candidate, _said_at(turn, now)) | {
        "source_type": SourceType.CHAT,
        "thread_id": turn.thread,
        "role": turn.role,
        "actor_id": turn.speaker,
        "run_id": turn.run_id,
        "job_id": turn.job_id,
    }


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
) -> ObservationResult:
    """``locations``: those of the turns, by position. Runs again if the decision is stale."""
    result = ObservationResult(skipped=list(plan.refused))
    if plan.is_empty:
        return result
    counters = engine.store.counters(principal.scope)
    result.decided_on = counters.revision
    if plan.wanted:
        remaining = engine.observe_daily - counters.observed_on(utc_day(engine.clock()))
        located = [
            replace(each.asked, memory=_attach_turn(each.asked.memory, locations[each.place]))
            for each in plan.wanted
        ]
        result.steps = _store_planned(
            engine, principal, plan, replace(batch, requests=located), remaining, result
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
    result: ObservationResult,
) -> tuple[ChangesetStep, ...]:
    around = load_batch_neighbourhood(engine, principal, batch)
    limits = ObservationLimits(principal, around, remaining)
    write_plan, answers = plan_batch(engine, principal, batch, around, limits.refuses)
    for place, (wanted, answer) in enumerate(zip(plan.wanted, answers, strict=True)):
        if answer is None:
            skipped = make_skipped(wanted.candidate, *limits.refused[place])
            result.skipped.append((wanted.place, skipped))
        else:
            result.kept.append((wanted.place, ObservedMemory(wanted.candidate.trigger, answer)))
    return write_plan.all_steps()


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


def is_owner_speaking(
    engine: EngineContext, principal: Principal, turns: Sequence[ConversationTurn]
) -> list[bool]:
    """For each turn, whether its user is the owner: no speaker is named, or the owner is."""
    names = {fold(principal.user_id)}
    if any(turn.speaker and fold(turn.speaker) not in names for turn in turns):
        fields = engine.store.fetch(principal.scope, ["profile:preferred_name"])
        names |= {fold(str(each.metadata.get("value", ""))) for each in fields}
    return [turn.speaker is None or fold(turn.speaker) in names for turn in turns]


CandidateLookup = Callable[[str], Choice]


@dataclass(frozen=True, slots=True)
class Observed:
    """The result of one turn."""

    stored: tuple[ObservedMemory, ...]
    conflicts: tuple[ObservedMemory, ...]  # pending until a person decides
    skipped: tuple[Skipped, ...]
    proposals: tuple[Proposed, ...]  # for the profile
    forget: tuple[Choice, ...]  # candidates to forget: nothing was forgotten
    source_id: str | None  # of the thread's conversation; None: the turn was not stored
    passages: tuple[str, ...]  # of this turn; empty until the source is processed
    revision: int
    why_not: str = ""  # why the turn was not examined

    @property
    def looked_closely(self) -> bool:
        return not self.why_not


def observe_turns(
    engine: EngineContext,
    request: RequestContext,
    turns: Sequence[ConversationTurn],
    look_up: CandidateLookup,
) -> list[Observed]:
    """All turns in one transaction, with one call to the embedder."""
    principal = request.principal
    candidates = _select_turn_candidates(engine, principal, turns)
    choices = [tuple(look_up(each.query) for each in selected.forget) for selected in candidates]
    plan = plan_observation(engine, principal, candidates)
    stored = {place: selected.kept for place, selected in enumerate(candidates) if selected.kept}
    updates = thread_updates(engine, principal, list(stored.values()))
    passages = [passage for update in updates for passage in update.passages]
    texts = [passage_text_to_embed(*each) for each in passages]
    batch = prepare_batch(engine, principal, [each.asked for each in plan.wanted], texts)
    passage_indexes = [
        build_passage_indexing(*each, batch.comparer.vectors.get(text))
        for each, text in zip(passages, texts, strict=True)
    ]

    def decision() -> tuple[Changeset, tuple[ObservationResult, dict[int, TurnLocation]]]:
        rest = iter(passage_indexes)
        grown = [
            grow_thread(engine, principal, update, list(islice(rest, len(update.passages))))
            for update in updates
        ]
        locations = _locate_turns(stored, updates, grown)
        news = _without_removed_turns(engine, principal, plan, locations)
        result = decide_observation(engine, principal, news, batch, locations)
        changeset = Changeset(
            principal.scope,
            engine.clock(),
            principal.actor,
            (*(step for each in grown for step in each.steps), *result.steps),
            result.decided_on,
            updates[0].thread if len(updates) == 1 else None,
            observed=result.counted,
        )
        return changeset, (result, locations)

    revision, (result, locations) = run_transaction(engine, request, decision)
    log_repeats(
        engine, principal, [each.remembered for _, each in result.kept], batch.common_thread
    )
    answers = [
        _observed_answer(selected, place, result, choices[place], locations.get(place), revision)
        for place, selected in enumerate(candidates)
    ]
    _log_turns(engine, principal, turns, answers)
    return answers


def _select_turn_candidates(
    engine: EngineContext, principal: Principal, turns: Sequence[ConversationTurn]
) -> list[TurnCandidates]:
    own_words = BUILT_IN_CATEGORIES | frozenset(Kind) | frozenset(engine.categories().categories)
    own = is_owner_speaking(engine, principal, turns)
    redacted = [
        _without_answer(engine, principal, turn, turns[:place]) for place, turn in enumerate(turns)
    ]
    return [
        select_candidates(turn, own_words, is_the_user=is_own, is_suspicious=is_suspicious)
        for turn, is_own in zip(redacted, own, strict=True)
    ]


def _without_answer(
    engine: EngineContext,
    principal: Principal,
    turn: ConversationTurn,
    earlier: Sequence[ConversationTurn],
) -> ConversationTurn:
    """A short turn may be a password that was asked for: the turn before tells. The store is read
    only if it may be one."""
    if turn.role is not SpeakerRole.USER or not may_be_answer(turn.text):
        return turn
    before: ConversationTurn | Passage | None = next(
        (each for each in reversed(earlier) if each.thread == turn.thread), None
    )
    if before is None:
        before = last_passage(engine, principal, turn.thread)
    if before is None or (before.speaker, before.role) == (turn.speaker, turn.role):
        return turn
    return replace(turn, text=redact_secrets(turn.text, before.text))


def _locate_turns(
    stored: Mapping[int, ConversationTurn],
    updates: Sequence[ThreadUpdate],
    grown: Sequence[GrownThread],
) -> dict[int, TurnLocation]:
    """The location of each stored turn, by its position in the batch."""
    by_thread = {update.thread: (update, each) for update, each in zip(updates, grown, strict=True)}
    turn_numbers: Counter[str] = Counter()
    locations = {}
    for place, turn in stored.items():
        update, each = by_thread[turn.thread]
        turn_numbers[turn.thread] += 1
        numbers = update.of_turn(turn_numbers[turn.thread]) if each.passages else []
        locations[place] = TurnLocation(each.source, tuple(each.passages[n] for n in numbers))
    return locations


def _without_removed_turns(
    engine: EngineContext,
    principal: Principal,
    plan: ObservationPlan,
    locations: Mapping[int, TurnLocation],
) -> ObservationPlan:
    """A turn that is sent again, and that was forgotten or erased, gives no memories."""
    sent_again = [n for n, each in enumerate(plan.turns) if each.turn.is_dated and n in locations]
    if not sent_again:
        return plan
    sources = sorted({locations[place].source.id for place in sent_again})
    found = engine.store.passages(principal.scope, HiddenPassages(sources)).values()
    hidden = {passage.id for passage in found}
    removed = {n for n in sent_again if hidden.intersection(locations[n].passages)}
    return replace(
        plan,
        wanted=[each for each in plan.wanted if each.place not in removed],
        turns=[
            replace(each, claims=()) if place in removed else each
            for place, each in enumerate(plan.turns)
        ],
    )


def _observed_answer(
    selected: TurnCandidates,
    place: int,
    result: ObservationResult,
    forget: tuple[Choice, ...],
    location: TurnLocation | None,
    revision: int,
) -> Observed:
    kept = [
        replace(each, remembered=replace(each.remembered, revision=revision))
        for turn, each in result.kept
        if turn == place
    ]
    return Observed(
        stored=tuple(k for k in kept if k.remembered.action is not Action.PENDING),
        conflicts=tuple(k for k in kept if k.remembered.action is Action.PENDING),
        skipped=(*selected.skipped, *(each for turn, each in result.skipped if turn == place)),
        proposals=tuple(
            replace(each, revision=revision) for turn, each in result.proposed if turn == place
        ),
        forget=forget,
        source_id=location.source.id if location else None,
        passages=location.passages if location else (),
        revision=revision,
        why_not=selected.why_not,
    )


def _log_turns(
    engine: EngineContext,
    principal: Principal,
    turns: Sequence[ConversationTurn],
    answers: Sequence[Observed],
) -> None:
    """Journal the outcome of each turn as counts, for operators."""
    for turn, answer in zip(turns, answers, strict=True):
        kept = answer.stored or answer.conflicts or answer.proposals
        counts = {
            "stored": len(answer.stored),
            "held": len(answer.conflicts),
            "proposed": len(answer.proposals),
            **Counter(str(each.reason) for each in answer.skipped),
        }
        entry = Entry(
            op=Op.CLASSIFY,
            status=JournalStatus.OK if kept else JournalStatus.SKIPPED,
            subject=answer.source_id,
            meta={name: count for name, count in counts.items() if count},
        )
        engine.access_log.record_later(
            Bookkeeping(
                principal.scope,
                engine.clock(),
                entries=(entry,),
                thread_id=turn.thread,
                actor=principal.actor,
            )
        )
