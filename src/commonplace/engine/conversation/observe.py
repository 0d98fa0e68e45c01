"""observe: store conversation turns and the memories they give, in one transaction.

It makes the steps; the book puts them into one changeset with those that keep the turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.indexing import build_passage_indexing, passage_text_to_embed
from commonplace.engine.memories.candidates import (
    ObservationLimits,
    Skipped,
    SkipReason,
    TurnCandidates,
    candidate_fields,
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
from commonplace.engine.profile.proposals import ProfileClaim, Proposed, propose_claims, read_claim
from commonplace.engine.search.pack import Choice
from commonplace.engine.sources.thread import GrownThread, ThreadUpdate, grow_thread, thread_updates
from commonplace.engine.transaction import run_transaction
from commonplace.errors import CommonplaceError
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.safety.sensitive import redact_credentials
from commonplace.language.text.normalise import fold
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Bookkeeping, Changeset, ChangesetStep
from commonplace.model.journal import Entry, JournalStatus, Op
from commonplace.model.memory.candidate import MemoryCandidate
from commonplace.model.memory.kinds import BUILT_IN_CATEGORIES, Action, Kind
from commonplace.model.memory.memory import Memory, Sensitivity
from commonplace.model.sources.source import ConversationTurn, Source, SourceType, utc_day


@dataclass(frozen=True, slots=True)
class ObservedMemory:
    """A memory that a turn has left, and the words that gave it."""

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
        """High: only who is cleared finds it, and whoever knows its id."""
        return self.remembered.memory.sensitivity


@dataclass(frozen=True, slots=True)
class PlannedCandidate:
    """A candidate, and the memory that it would be."""

    place: int  # of its turn in the batch
    candidate: MemoryCandidate
    asked: RememberRequest


@dataclass(frozen=True, slots=True)
class ObservationPlan:
    """What a batch of turns would leave."""

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
    """What a batch of turns leaves, by the places of the turns."""

    kept: list[tuple[int, ObservedMemory]] = field(default_factory=list)
    skipped: list[tuple[int, Skipped]] = field(default_factory=list)
    proposed: list[tuple[int, Proposed]] = field(default_factory=list)
    steps: tuple[ChangesetStep, ...] = ()
    decided_on: int | None = None  # None: it rests on nothing that others could change

    @property
    def counted(self) -> int:
        """What the day is charged with: something heard again is not."""
        return sum(each.remembered.action is not Action.REFRESHED for _, each in self.kept)


def plan_observation(
    engine: EngineContext, principal: Principal, noticed: Sequence[TurnCandidates]
) -> ObservationPlan:
    """A candidate that its kind refuses is told, and hinders nothing."""
    now = engine.clock()
    wanted: list[PlannedCandidate] = []
    refused: list[tuple[int, Skipped]] = []
    for place, each in enumerate(noticed):
        for candidate in each.wanted:
            try:
                taken = read_request(
                    engine, principal, _turn_fields(candidate, each.turn, now), now
                )
            except CommonplaceError as error:
                refused.append((place, make_skipped(candidate, SkipReason.REFUSED, str(error))))
                continue
            # Of what stands, only its words are taken anew: the rest was perhaps set by hand.
            said = taken.mentioned & _STATED_FIELDS
            wanted.append(PlannedCandidate(place, candidate, replace(taken, mentioned=said)))
    return ObservationPlan(noticed, wanted, refused)


_STATED_FIELDS = frozenset({"content", "metadata", "ttl_days", "valid_from", "valid_to"})


def _turn_fields(
    candidate: MemoryCandidate, turn: ConversationTurn, now: datetime
) -> dict[str, Any]:
    return candidate_fields(candidate, min(turn.at, now)) | {
        "source_type": SourceType.CHAT,
        "thread_id": turn.thread,
        "role": turn.role,
        "actor_id": turn.speaker,
        "run_id": turn.run_id,
        "job_id": turn.job_id,
    }


@dataclass(frozen=True, slots=True)
class TurnLocation:
    """Where a turn is kept: the source as it will be, and the turn's passages in it."""

    source: Source
    passages: tuple[str, ...]  # none while its beginning is not processed


def decide_observation(
    engine: EngineContext,
    principal: Principal,
    plan: ObservationPlan,
    batch: MemoryBatch,
    homes: Mapping[int, TurnLocation],
) -> ObservationResult:
    """``homes`` are those of the turns, by place. To be decided again when another was faster."""
    left = ObservationResult(skipped=list(plan.refused))
    if plan.is_empty:
        return left
    counters = engine.store.counters(principal.scope)
    left.decided_on = counters.revision
    if plan.wanted:
        room = engine.observe_daily - counters.observed_on(utc_day(engine.clock()))
        at_home = [
            replace(each.asked, memory=_attach_turn(each.asked.memory, homes[each.place]))
            for each in plan.wanted
        ]
        left.steps = _store_planned(
            engine, principal, plan, replace(batch, asked=at_home), room, left
        )
    claims = _profile_claims(plan, homes, left)
    steps, proposed = propose_claims(engine, principal, [said for _, said in claims])
    left.proposed = [(place, told) for (place, _), told in zip(claims, proposed, strict=True)]
    left.steps += steps
    return left


def _attach_turn(memory: Memory, home: TurnLocation) -> Memory:
    """What is said in a conversation that is guarded is guarded itself. What it rests on is
    its turn, by its id: its words would outlive the conversation when that is erased."""
    guarded = home.source.sensitivity is Sensitivity.HIGH
    return memory.evolve(
        source_id=home.source.id,
        sensitivity=Sensitivity.HIGH if guarded else memory.sensitivity,
        evidence=home.passages or (home.source.id,),
    )


def _store_planned(
    engine: EngineContext,
    principal: Principal,
    plan: ObservationPlan,
    batch: MemoryBatch,
    room: int,
    left: ObservationResult,
) -> tuple[ChangesetStep, ...]:
    around = load_batch_neighbourhood(engine, principal, batch)
    gate = ObservationLimits(principal, around, room)
    ledger, answers = plan_batch(engine, principal, batch, around, gate.refuses)
    for place, (wanted, answer) in enumerate(zip(plan.wanted, answers, strict=True)):
        if answer is None:
            why = make_skipped(wanted.candidate, *gate.refused[place])
            left.skipped.append((wanted.place, why))
        else:
            left.kept.append((wanted.place, ObservedMemory(wanted.candidate.trigger, answer)))
    return ledger.all_steps()


def _profile_claims(
    plan: ObservationPlan, homes: Mapping[int, TurnLocation], left: ObservationResult
) -> list[tuple[int, ProfileClaim]]:
    """For the profile. A field that is kept as a memory, too, is claimed only with it."""
    kept = {(place, each.trigger): each.remembered.id for place, each in left.kept}
    claims: list[tuple[int, ProfileClaim]] = []
    for place, noticed in enumerate(plan.turns):
        for candidate in noticed.claims:
            memory = kept.get((place, candidate.trigger))
            if memory is None and not candidate.is_sensitive:
                continue
            try:
                said = _profile_claim(candidate, noticed, homes[place].source, memory)
            except CommonplaceError as error:
                left.skipped.append(
                    (place, make_skipped(candidate, SkipReason.REFUSED, str(error)))
                )
                continue
            claims.append((place, said))
    return claims


def _profile_claim(
    candidate: MemoryCandidate, noticed: TurnCandidates, home: Source, memory: str | None
) -> ProfileClaim:
    return read_claim(
        candidate.profile_field,
        candidate.profile_value,
        evidence=[redact_credentials(candidate.trigger, noticed.wanted)],
        thread=noticed.turn.thread,
        source_id=home.id,
        memory_id=None if candidate.is_sensitive else memory,
    )


def is_owner_speaking(
    engine: EngineContext, principal: Principal, turns: Sequence[ConversationTurn]
) -> list[bool]:
    """Of each turn, whether a user who speaks in it is the owner: no name is given, or theirs."""
    names = {fold(principal.user_id)}
    if any(turn.speaker and fold(turn.speaker) not in names for turn in turns):
        called = engine.store.fetch(principal.scope, ["profile:preferred_name"])
        names |= {fold(str(each.metadata.get("value", ""))) for each in called}
    return [turn.speaker is None or fold(turn.speaker) in names for turn in turns]


CandidateLookup = Callable[[str], Choice]


@dataclass(frozen=True, slots=True)
class Observed:
    """What one turn has left."""

    stored: tuple[ObservedMemory, ...]
    conflicts: tuple[ObservedMemory, ...]  # held until a person decides
    skipped: tuple[Skipped, ...]
    proposals: tuple[Proposed, ...]  # for the profile
    forget: tuple[Choice, ...]  # what may be meant: nothing was forgotten
    source_id: str | None  # of the thread's conversation; None: the turn was not to be kept
    passages: tuple[str, ...]  # of this turn in it; none while its beginning is not processed
    revision: int
    why_not: str = ""  # why it was not looked at closely

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
    noticed = _select_turn_candidates(engine, principal, turns)
    choices = [tuple(look_up(each.query) for each in seen.forget) for seen in noticed]
    plan = plan_observation(engine, principal, noticed)
    said = {place: seen.kept for place, seen in enumerate(noticed) if seen.kept}
    talks = thread_updates(engine, principal, list(said.values()))
    passages = [passage for talk in talks for passage in talk.passages]
    spoken = [passage_text_to_embed(*each) for each in passages]
    batch = prepare_batch(engine, principal, [each.asked for each in plan.wanted], spoken)
    of_passages = [
        build_passage_indexing(*each, batch.scales.vectors.get(text))
        for each, text in zip(passages, spoken, strict=True)
    ]

    def decision() -> tuple[Changeset, tuple[ObservationResult, dict[int, TurnLocation]]]:
        rest = iter(of_passages)
        grown = [
            grow_thread(engine, principal, talk, list(islice(rest, len(talk.passages))))
            for talk in talks
        ]
        homes = _locate_turns(said, talks, grown)
        left = decide_observation(engine, principal, plan, batch, homes)
        changeset = Changeset(
            principal.scope,
            engine.clock(),
            principal.actor,
            (*(step for each in grown for step in each.steps), *left.steps),
            left.decided_on,
            talks[0].thread if len(talks) == 1 else None,
            observed=left.counted,
        )
        return changeset, (left, homes)

    revision, (left, homes) = run_transaction(engine, request, decision)
    log_repeats(engine, principal, [each.remembered for _, each in left.kept], batch.common_thread)
    answers = [
        _observed_answer(seen, place, left, choices[place], homes.get(place), revision)
        for place, seen in enumerate(noticed)
    ]
    _log_turns(engine, principal, turns, answers)
    return answers


def _select_turn_candidates(
    engine: EngineContext, principal: Principal, turns: Sequence[ConversationTurn]
) -> list[TurnCandidates]:
    own_words = BUILT_IN_CATEGORIES | frozenset(Kind) | frozenset(engine.categories().categories)
    own = is_owner_speaking(engine, principal, turns)
    return [
        select_candidates(turn, own_words, is_the_user=is_own, is_suspicious=is_suspicious)
        for turn, is_own in zip(turns, own, strict=True)
    ]


def _locate_turns(
    said: Mapping[int, ConversationTurn],
    talks: Sequence[ThreadUpdate],
    grown: Sequence[GrownThread],
) -> dict[int, TurnLocation]:
    """Of each turn that is kept, by its place in the batch."""
    by_thread = {talk.thread: (talk, each) for talk, each in zip(talks, grown, strict=True)}
    met: Counter[str] = Counter()
    homes = {}
    for place, turn in said.items():
        talk, each = by_thread[turn.thread]
        met[turn.thread] += 1
        own = talk.of_turn(met[turn.thread]) if each.passages else []
        homes[place] = TurnLocation(each.source, tuple(each.passages[n] for n in own))
    return homes


def _observed_answer(
    seen: TurnCandidates,
    place: int,
    left: ObservationResult,
    forget: tuple[Choice, ...],
    home: TurnLocation | None,
    revision: int,
) -> Observed:
    kept = [
        replace(each, remembered=replace(each.remembered, revision=revision))
        for turn, each in left.kept
        if turn == place
    ]
    return Observed(
        stored=tuple(k for k in kept if k.remembered.action is not Action.PENDING),
        conflicts=tuple(k for k in kept if k.remembered.action is Action.PENDING),
        skipped=(*seen.skipped, *(each for turn, each in left.skipped if turn == place)),
        proposals=tuple(
            replace(each, revision=revision) for turn, each in left.proposed if turn == place
        ),
        forget=forget,
        source_id=home.source.id if home else None,
        passages=home.passages if home else (),
        revision=revision,
        why_not=seen.why_not,
    )


def _log_turns(
    engine: EngineContext,
    principal: Principal,
    turns: Sequence[ConversationTurn],
    answers: Sequence[Observed],
) -> None:
    """What became of each turn, in numbers, for those who look after the engine."""
    for turn, answer in zip(turns, answers, strict=True):
        kept = answer.stored or answer.conflicts or answer.proposals
        told = {
            "stored": len(answer.stored),
            "held": len(answer.conflicts),
            "proposed": len(answer.proposals),
            **Counter(str(each.reason) for each in answer.skipped),
        }
        entry = Entry(
            op=Op.CLASSIFY,
            status=JournalStatus.OK if kept else JournalStatus.SKIPPED,
            subject=answer.source_id,
            meta={name: count for name, count in told.items() if count},
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
