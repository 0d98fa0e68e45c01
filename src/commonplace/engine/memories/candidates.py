"""Memory candidates from turns and sources: select, limit, store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from commonplace.engine.access import can_see, visibility_of
from commonplace.engine.comparison import WriteDecision
from commonplace.engine.context import EngineContext
from commonplace.engine.memories.neighbours import Neighbourhood
from commonplace.engine.memories.remember import (
    MemoryBatch,
    Remembered,
    RememberRequest,
    load_batch_neighbourhood,
    plan_batch,
    prepare_batch,
    read_request,
)
from commonplace.engine.memories.write_plan import WritePlan
from commonplace.errors import CommonplaceError
from commonplace.language.observe.own_words import remove_opt_outs, remove_recalled_lines
from commonplace.language.observe.turn import (
    HEARSAY_FACET,
    find_candidates,
    to_hearsay,
)
from commonplace.language.safety.sensitive import redact_credentials
from commonplace.language.text.normalise import fold
from commonplace.language.text.sentences import split_sentences
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import ChangesetStep
from commonplace.model.filters import OWNER_VISIBILITY, Filters
from commonplace.model.memory.candidate import (
    MAX_STORED,
    MIN_STORED_CONFIDENCE,
    ForgetRequest,
    MemoryCandidate,
)
from commonplace.model.memory.kinds import POLICIES, Action, Kind, OnConflict
from commonplace.model.memory.memory import Memory, Sensitivity, State
from commonplace.model.sources.source import ConversationTurn, Source, SpeakerRole
from commonplace.store.queries import NO_LIMIT, MemoryListing

MIN_EXAMINED_CHARACTERS = 200  # characters: a longer turn is looked at even without a trigger


class SkipReason(StrEnum):
    """Why a candidate was not stored."""

    UNSURE = "unsure"  # its confidence is below 0.7
    TURN_FULL = "turn_full"  # the turn has given three memories
    DAY_FULL = "day_full"  # the day has given as many as the setting observe_daily allows
    RECALLED = "recalled"  # it stands in lines that this memory gave out
    REPEAT = "repeat"  # a memory says so already
    SUSPICIOUS = "suspicious"  # reads like instructions that somebody planted
    NOT_THE_OWNER = "not_the_owner"  # only the owner gives orders, or changes what the owner said
    REFUSED = "refused"  # a rule of its kind refuses it
    ASKED_NOT_TO = "asked_not_to_keep_it"  # the speaker does not want it kept, in any form


@dataclass(frozen=True, slots=True)
class Skipped:
    content: str
    trigger: str  # the words of the turn
    kind: str
    confidence: float
    reason: SkipReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TurnCandidates:
    """Of one turn."""

    turn: ConversationTurn
    kept: ConversationTurn | None  # the turn as the conversation keeps it; None: it does not
    wanted: tuple[MemoryCandidate, ...] = ()  # may become memories
    claims: tuple[MemoryCandidate, ...] = ()  # about the profile
    forget: tuple[ForgetRequest, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    why_not: str = ""  # it was not looked at closely


SuspicionCheck = Callable[[str], bool]  # whether a text reads like instructions to an agent


def select_candidates(
    turn: ConversationTurn,
    own_words: frozenset[str],
    *,
    is_the_user: bool,
    is_suspicious: SuspicionCheck,
) -> TurnCandidates:
    """``own_words``: what bullets of this memory begin with."""
    may, unkept = _drop_unwanted(turn)
    if may is None:
        return TurnCandidates(turn, None, skipped=unkept, why_not="asked not to keep it")
    own = replace(may, text=remove_recalled_lines(may.text, own_words))
    found = _find_candidates(own, is_the_user)
    kept = replace(may, text=redact_credentials(may.text, found))
    recalled = _skip_recalled(may, found, is_the_user) if own != may else ()
    if not found and (
        turn.role is not SpeakerRole.USER or len(own.text) <= MIN_EXAMINED_CHARACTERS
    ):
        return TurnCandidates(
            turn, kept, skipped=(*unkept, *recalled), why_not=_reason_not_examined(own, may)
        )
    candidates, foreign = _split_by_speaker(turn, found, is_the_user)
    planted = is_suspicious(turn.text)
    sorted_out = [_check_refused(each, planted, is_suspicious) for each in candidates]
    passed = [c for c, refused in zip(candidates, sorted_out, strict=True) if refused is None]
    wanted = [each for each in passed if not each.is_sensitive]
    over = [make_skipped(each, SkipReason.TURN_FULL) for each in wanted[MAX_STORED:]]
    return TurnCandidates(
        turn,
        kept,
        wanted=tuple(wanted[:MAX_STORED]),
        claims=_select_claims(passed, wanted[:MAX_STORED]),
        forget=tuple(each for each in found if isinstance(each, ForgetRequest) and is_the_user),
        skipped=(*unkept, *foreign, *filter(None, sorted_out), *over, *recalled),
    )


def _drop_unwanted(turn: ConversationTurn) -> tuple[ConversationTurn | None, tuple[Skipped, ...]]:
    """A wish not to keep goes before everything. What it covers is not repeated in the answer."""
    if turn.role is not SpeakerRole.USER:
        return turn, ()
    may = remove_opt_outs(turn.text)
    left_out = tuple(
        Skipped(wish, wish, "", 1.0, SkipReason.ASKED_NOT_TO, "nor kept in the conversation")
        for wish in may.wishes
    )
    return (replace(turn, text=may.text) if may.text else None), left_out


def _find_candidates(
    turn: ConversationTurn, is_the_user: bool
) -> tuple[MemoryCandidate | ForgetRequest, ...]:
    if turn.role is SpeakerRole.SYSTEM:  # whoever set the agent up says nothing of the user
        return ()
    speaker = None if is_the_user else turn.speaker
    return find_candidates(turn.text, role=turn.role, speaker=speaker, said_at=turn.at)


def _split_by_speaker(
    turn: ConversationTurn, found: Sequence[MemoryCandidate | ForgetRequest], is_the_user: bool
) -> tuple[list[MemoryCandidate], list[Skipped]]:
    """What somebody else says is hearsay, and what cannot be that is left out."""
    candidates = [each for each in found if isinstance(each, MemoryCandidate)]
    if is_the_user or turn.role is not SpeakerRole.USER or turn.speaker is None:
        return candidates, []
    told = [(each, to_hearsay(each, turn.speaker)) for each in candidates]
    left_out = [
        make_skipped(each, SkipReason.NOT_THE_OWNER) for each, heard in told if heard is None
    ]
    return [heard for _, heard in told if heard is not None], left_out


def _skip_recalled(
    turn: ConversationTurn, own: Sequence[MemoryCandidate | ForgetRequest], is_the_user: bool
) -> tuple[Skipped, ...]:
    """What would be taken for the user's words if it were not known again."""
    said = {each.content for each in own if isinstance(each, MemoryCandidate)}
    return tuple(
        make_skipped(each, SkipReason.RECALLED)
        for each in _find_candidates(turn, is_the_user)
        if isinstance(each, MemoryCandidate) and each.content not in said
    )


def _reason_not_examined(own: ConversationTurn, turn: ConversationTurn) -> str:
    if turn.role is not SpeakerRole.USER:
        return f"said by the {turn.role}, and no finished job"
    if own != turn and not own.text.strip():
        return "all of it was recalled"
    return "short, and nothing in it asks to be kept"


def _check_refused(
    candidate: MemoryCandidate, planted: bool, is_suspicious: SuspicionCheck
) -> Skipped | None:
    """``planted``: something in its turn is suspicious, which makes no order of it believable."""
    if candidate.confidence < MIN_STORED_CONFIDENCE:
        return make_skipped(candidate, SkipReason.UNSURE)
    said = (candidate.content, candidate.trigger, candidate.profile_value or "")
    if (planted and POLICIES[candidate.kind].is_instruction) or any(map(is_suspicious, said)):
        return make_skipped(candidate, SkipReason.SUSPICIOUS)
    return None


def _select_claims(
    passed: Sequence[MemoryCandidate], stored: Sequence[MemoryCandidate]
) -> tuple[MemoryCandidate, ...]:
    """Sensitive fields wait for the owner and are no memories; the others are both, unless the
    memory is guarded: the profile shows to all what it holds."""
    return tuple(
        each
        for each in passed
        if each.profile_field
        and each.profile_value
        and (each.is_sensitive or (each in stored and each.sensitivity is not Sensitivity.HIGH))
    )


def make_skipped(candidate: MemoryCandidate, reason: SkipReason, detail: str = "") -> Skipped:
    return Skipped(
        candidate.content,
        candidate.trigger,
        candidate.kind,
        candidate.confidence,
        reason,
        detail,
    )


def candidate_fields(candidate: MemoryCandidate, said_at: datetime | None) -> dict[str, Any]:
    return {
        "kind": candidate.kind,
        "content": candidate.content,
        "metadata": dict(candidate.metadata) or None,
        "category": candidate.category,
        "facet": candidate.facet,
        "importance": candidate.importance,
        "confidence": candidate.confidence,
        "sensitivity": candidate.sensitivity,
        "evidence": candidate.evidence or None,
        "ttl_days": candidate.ttl_days,
        "valid_from": _candidate_valid_from(candidate, said_at),
        "valid_to": candidate.valid_to,
    }


def _candidate_valid_from(candidate: MemoryCandidate, said_at: datetime | None) -> datetime | None:
    """What is said holds since it was said, unless the words say otherwise."""
    until = candidate.valid_to
    over = until is not None and (said_at is None or until <= said_at)
    return candidate.valid_from or (None if over else said_at)


@dataclass(slots=True)
class ObservationLimits:
    """An agent that tells of a category it does not see is treated as if nothing were there."""

    principal: Principal
    around: Neighbourhood
    remaining: int  # how many more are taken
    refused: dict[int, tuple[SkipReason, str]] = field(default_factory=dict)
    taken: list[Kind] = field(default_factory=list)

    def refuses(
        self, place: int, memory: Memory, decision: WriteDecision, ledger: WritePlan
    ) -> bool:
        blind = not visibility_of(self.principal).admits_category(memory.category)
        if decision.action is Action.REFRESHED and not blind:
            return False
        why = self._refusal(memory, decision, ledger)
        if why is None:
            self.taken.append(memory.kind)
            return False
        self.refused[place] = why
        return True

    def _refusal(
        self, memory: Memory, decision: WriteDecision, ledger: WritePlan
    ) -> tuple[SkipReason, str] | None:
        if decision.action is Action.STORED and self._is_stated(memory, ledger):
            return SkipReason.REPEAT, "a memory says so already"
        if memory.facet == HEARSAY_FACET and _overrides_first_hand(decision):
            return SkipReason.NOT_THE_OWNER, "hearsay, against what is known at first hand"
        most = POLICIES[memory.kind].max_live
        live = self.around.live_by_kind.get(memory.kind, 0) + self.taken.count(memory.kind)
        if most is not None and live >= most:
            return SkipReason.REFUSED, f"at most {most} {memory.kind} memories are live at a time"
        if len(self.taken) >= self.remaining:
            return SkipReason.DAY_FULL, "the day has given as many as observe_daily allows"
        return None

    def _is_stated(self, memory: Memory, ledger: WritePlan) -> bool:
        """Whether a sentence of what stands, of whatever kind, says just this. An event may come
        again, on another day."""
        said = fold(memory.content)
        return any(
            said in map(fold, (old.content, *split_sentences(old.content)))
            for old in ledger.standing.values()
            if old.is_live(ledger.now)
            and can_see(self.principal, old)
            and not (memory.kind is old.kind and POLICIES[memory.kind].recurs)
        )


def _overrides_first_hand(decision: WriteDecision) -> bool:
    replaces = decision.action in (Action.SUPERSEDED, Action.PENDING, Action.OVERRIDDEN)
    return replaces and any(other.facet != HEARSAY_FACET for other in decision.others)


MAX_MEMORIES_PER_SOURCE = 50


@dataclass(frozen=True, slots=True)
class StoredCandidates:
    steps: tuple[ChangesetStep, ...] = ()
    memories: tuple[Remembered, ...] = ()


def prepare_candidates(
    engine: EngineContext,
    principal: Principal,
    source: Source,
    candidates: Sequence[tuple[int, MemoryCandidate]],
    said_at: Mapping[int, datetime],
) -> MemoryBatch:
    """The slow part: what may be kept, embedded. What a kind refuses is left out, and so is what
    only its owner's consent lets in (a sensitive field of the profile)."""
    wanted: list[RememberRequest] = []
    told = (
        _known_statements(engine, principal, source)
        if any(c.otherwise for _, c in candidates)
        else ()
    )
    for passage, candidate in candidates:
        if candidate.confidence < MIN_STORED_CONFIDENCE or candidate.is_sensitive:
            continue
        if any(fold(each) in told for each in candidate.otherwise):
            continue  # it was told before its speaker had this name
        fields = candidate_fields(candidate, said_at.get(passage)) | {
            "source_type": source.source_type,
            "thread_id": source.thread_id,
        }
        try:
            taken = read_request(engine, principal, fields, engine.clock())
        except CommonplaceError:  # it does not fit its kind: the source keeps it anyway
            continue
        memory = _attach_source(taken.memory, source, passage)
        wanted.append(replace(taken, memory=memory, wish=OnConflict.ALTERNATIVE))
    wanted = wanted[:MAX_MEMORIES_PER_SOURCE]
    return prepare_batch(engine, principal, wanted)


def store_candidates(
    engine: EngineContext, principal: Principal, source: Source, batch: MemoryBatch
) -> StoredCandidates:
    """To be decided again when another was faster."""
    told = _known_statements(engine, principal, source)
    new = [n for n, each in enumerate(batch.asked) if fold(each.memory.content) not in told]
    if not new:
        return StoredCandidates()
    rest = batch.part(new)
    around = load_batch_neighbourhood(engine, principal, rest)
    gate = ObservationLimits(principal, around, len(new))
    ledger, answers = plan_batch(engine, principal, rest, around, gate.refuses)
    return StoredCandidates(ledger.all_steps(), tuple(each for each in answers if each is not None))


def _known_statements(engine: EngineContext, principal: Principal, source: Source) -> set[str]:
    """By this source, and whatever became of it: what was forgotten does not come back."""
    listing = MemoryListing(
        filters=Filters(source_id=source.id),
        visibility=OWNER_VISIBILITY,
        states=tuple(State),
        limit=NO_LIMIT,
    )
    return {fold(memory.content) for memory in engine.store.page(principal.scope, listing)}


def _attach_source(memory: Memory, source: Source, passage: int) -> Memory:
    """It rests on its passage, by its id: its words would outlive the source otherwise."""
    guarded = source.sensitivity is Sensitivity.HIGH
    return memory.evolve(
        source_id=source.id,
        sensitivity=Sensitivity.HIGH if guarded else memory.sensitivity,
        evidence=(f"{source.id}#{passage}",),
    )
