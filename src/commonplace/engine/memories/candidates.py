"""Memory candidates from turns and sources: select, limit, store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from commonplace.engine.access import can_see, proposes, visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.memories.conflicts import MAX_PROPOSED_BY_ONE
from commonplace.errors import CommonplaceError
from commonplace.language.safety.sensitive import redact_credentials
from commonplace.language.text.normalise import fold
from commonplace.language.text.sentences import split_sentences
from commonplace.lazy import lazy_imports
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
from commonplace.model.memory.memory import HEARSAY_FACET, Memory, Sensitivity, State
from commonplace.model.sources.source import ConversationTurn, Source, SpeakerRole
from commonplace.store.queries import NO_LIMIT, MemoryListing

with lazy_imports(__name__):
    from commonplace.engine.memories.conflicts import proposals_by
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
    from commonplace.engine.memory_relation import WriteDecision
    from commonplace.language.compare.compare import CompareVerdict, compare
    from commonplace.language.observe.own_words import remove_opt_outs, remove_recalled_lines
    from commonplace.language.observe.turn import find_candidates, to_hearsay

BOTH_CONFIDENCE = 0.9  # of what rules and a model both found
MIN_EXAMINED_CHARACTERS = 200  # a longer turn is examined even without a trigger


class SkipReason(StrEnum):
    """Why a candidate was not stored."""

    UNSURE = "unsure"  # confidence below 0.7
    TURN_FULL = "turn_full"  # the turn already produced three memories
    DAY_FULL = "day_full"  # the daily limit (setting observe_daily) is reached
    RECALLED = "recalled"  # the text is a line that this memory returned before
    REPEAT = "repeat"  # an active memory states it already
    SUSPICIOUS = "suspicious"  # looks like a prompt injection
    NOT_THE_OWNER = (
        "not_the_owner"  # only the owner gives instructions or changes the owner's statements
    )
    REFUSED = "refused"  # a rule of the kind refuses it
    UNGROUNDED = "ungrounded"  # the caller's item is not in the words of the turn
    ASKED_NOT_TO = "asked_not_to_keep_it"  # the speaker asked not to store it


@dataclass(frozen=True, slots=True)
class Skipped:
    content: str
    trigger: str  # the words of the turn that produced the candidate
    kind: str
    confidence: float
    reason: SkipReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TurnCandidates:
    """The candidates of one turn."""

    turn: ConversationTurn
    kept: ConversationTurn | None  # the turn as the conversation stores it; None: not stored
    wanted: tuple[MemoryCandidate, ...] = ()  # may become memories
    claims: tuple[MemoryCandidate, ...] = ()  # for profile fields
    forget: tuple[ForgetRequest, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    why_not: str = ""  # why the turn was not examined


SuspicionCheck = Callable[[str], bool]  # whether a text looks like a prompt injection


def select_candidates(
    turn: ConversationTurn,
    own_words: frozenset[str],
    *,
    is_the_user: bool,
    is_suspicious: SuspicionCheck,
) -> TurnCandidates:
    """``own_words``: category and kind names, which begin the bullet lines that this memory
    returns."""
    allowed, opted_out = _drop_unwanted(turn)
    if allowed is None:
        return TurnCandidates(turn, None, skipped=opted_out, why_not="asked not to keep it")
    own = replace(allowed, text=remove_recalled_lines(allowed.text, own_words))
    found = _find_candidates(own, is_the_user)
    kept = replace(allowed, text=redact_credentials(allowed.text, found))
    recalled = _skip_recalled(allowed, found, is_the_user) if own != allowed else ()
    if not found and (
        turn.role is not SpeakerRole.USER or len(own.text) <= MIN_EXAMINED_CHARACTERS
    ):
        return TurnCandidates(
            turn, kept, skipped=(*opted_out, *recalled), why_not=_reason_not_examined(own, allowed)
        )
    candidates, not_hearsay = _split_by_speaker(turn, found, is_the_user)
    turn_is_suspicious = is_suspicious(turn.text)
    refusals = [_check_refused(each, turn_is_suspicious, is_suspicious) for each in candidates]
    passed = [c for c, refused in zip(candidates, refusals, strict=True) if refused is None]
    over_limit = [make_skipped(each, SkipReason.TURN_FULL) for each in passed[MAX_STORED:]]
    return TurnCandidates(
        turn,
        kept,
        wanted=tuple(passed[:MAX_STORED]),
        claims=select_claims(passed, passed[:MAX_STORED]),
        forget=tuple(each for each in found if isinstance(each, ForgetRequest) and is_the_user),
        skipped=(*opted_out, *not_hearsay, *filter(None, refusals), *over_limit, *recalled),
    )


def join_candidates(
    selected: TurnCandidates, first: Sequence[MemoryCandidate], skipped: Sequence[Skipped]
) -> TurnCandidates:
    """``first``: those that a caller found in the turn; they come before what rules found."""
    if not first:
        return replace(selected, skipped=(*selected.skipped, *skipped))
    both = [
        any(_is_same_candidate(each, by_rules) for by_rules in selected.wanted) for each in first
    ]
    passed = [
        *(
            replace(each, confidence=max(each.confidence, BOTH_CONFIDENCE)) if is_both else each
            for each, is_both in zip(first, both, strict=True)
        ),
        *(c for c in selected.wanted if not any(_is_same_candidate(c, each) for each in first)),
    ]
    sensitive = [each for each in selected.claims if each not in passed]
    over_limit = [make_skipped(each, SkipReason.TURN_FULL) for each in passed[MAX_STORED:]]
    return replace(
        selected,
        wanted=tuple(passed[:MAX_STORED]),
        claims=select_claims([*passed, *sensitive], passed[:MAX_STORED]),
        skipped=(*selected.skipped, *skipped, *over_limit),
        why_not="",
    )


def _is_same_candidate(one: MemoryCandidate, other: MemoryCandidate) -> bool:
    same = (CompareVerdict.EQUAL, CompareVerdict.SAME)
    return one.kind is other.kind and (
        fold(one.content) == fold(other.content)
        or compare(other.content, one.content).verdict in same
    )


def _drop_unwanted(turn: ConversationTurn) -> tuple[ConversationTurn | None, tuple[Skipped, ...]]:
    """An opt-out is applied before anything else. The text that it covers is not repeated in the
    answer."""
    if turn.role is not SpeakerRole.USER:
        return turn, ()
    kept = remove_opt_outs(turn.text)
    skipped = tuple(
        Skipped(
            wish, wish, "", 1.0, SkipReason.ASKED_NOT_TO, "not stored in the conversation either"
        )
        for wish in kept.wishes
    )
    return (replace(turn, text=kept.text) if kept.text else None), skipped


def _find_candidates(
    turn: ConversationTurn, is_the_user: bool
) -> tuple[MemoryCandidate | ForgetRequest, ...]:
    if turn.role is SpeakerRole.SYSTEM:  # system prompts do not describe the user
        return ()
    speaker = None if is_the_user else turn.speaker
    return find_candidates(turn.text, role=turn.role, speaker=speaker, said_at=turn.at)


def _split_by_speaker(
    turn: ConversationTurn, found: Sequence[MemoryCandidate | ForgetRequest], is_the_user: bool
) -> tuple[list[MemoryCandidate], list[Skipped]]:
    """Statements of other speakers become hearsay; those that cannot are skipped."""
    candidates = [each for each in found if isinstance(each, MemoryCandidate)]
    if is_the_user or turn.role is not SpeakerRole.USER or turn.speaker is None:
        return candidates, []
    pairs = [(each, to_hearsay(each, turn.speaker)) for each in candidates]
    skipped = [
        make_skipped(each, SkipReason.NOT_THE_OWNER) for each, hearsay in pairs if hearsay is None
    ]
    return [hearsay for _, hearsay in pairs if hearsay is not None], skipped


def _skip_recalled(
    turn: ConversationTurn, own: Sequence[MemoryCandidate | ForgetRequest], is_the_user: bool
) -> tuple[Skipped, ...]:
    """Candidates in recalled lines, which would otherwise count as the user's own words."""
    own_contents = {each.content for each in own if isinstance(each, MemoryCandidate)}
    return tuple(
        make_skipped(each, SkipReason.RECALLED)
        for each in _find_candidates(turn, is_the_user)
        if isinstance(each, MemoryCandidate) and each.content not in own_contents
    )


def _reason_not_examined(own: ConversationTurn, turn: ConversationTurn) -> str:
    if turn.role is not SpeakerRole.USER:
        return f"said by the {turn.role}, and not the result of a job"
    if own != turn and not own.text.strip():
        return "all of it was recalled"
    return "short, with nothing that should be stored"


def _check_refused(
    candidate: MemoryCandidate, turn_is_suspicious: bool, is_suspicious: SuspicionCheck
) -> Skipped | None:
    """``turn_is_suspicious``: the turn looks like a prompt injection, so nothing in it is
    trusted."""
    if candidate.confidence < MIN_STORED_CONFIDENCE:
        return make_skipped(candidate, SkipReason.UNSURE)
    texts = (candidate.content, candidate.trigger, candidate.profile_value or "")
    if turn_is_suspicious or any(map(is_suspicious, texts)):
        return make_skipped(candidate, SkipReason.SUSPICIOUS)
    return None


def select_claims(
    passed: Sequence[MemoryCandidate], stored: Sequence[MemoryCandidate]
) -> tuple[MemoryCandidate, ...]:
    """A sensitive field waits for the owner's decision, whatever becomes of its memory. Other
    fields follow their memory, unless its sensitivity is high: every caller can read the
    profile."""
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
        "questions": candidate.questions or None,
        "ttl_days": candidate.ttl_days,
        "valid_from": _candidate_valid_from(candidate, said_at),
        "valid_to": candidate.valid_to,
    }


def _candidate_valid_from(candidate: MemoryCandidate, said_at: datetime | None) -> datetime | None:
    """A statement is valid from the time of its turn, unless the text says otherwise."""
    until = candidate.valid_to
    has_ended = until is not None and (said_at is None or until <= said_at)
    return candidate.valid_from or (None if has_ended else said_at)


def date_memory(memory: Memory, said_at: datetime | None) -> Memory:
    """What was said earlier and arrives now has the date of its turn. `arrived_at` stays: what
    expires or is idle is counted from the arrival."""
    return memory.evolve(created_at=said_at, updated_at=said_at) if said_at else memory


@dataclass(slots=True)
class ObservationLimits:
    """Limits on what a batch of candidates may store. For a category that the agent cannot see, the
    outcome is the same as if the store had no such memory."""

    principal: Principal
    around: Neighbourhood
    remaining: int  # how many more memories may be stored
    refused: dict[int, tuple[SkipReason, str]] = field(default_factory=dict)
    taken: list[tuple[Kind, str | None]] = field(default_factory=list)

    def refuses(self, place: int, memory: Memory, decision: WriteDecision, plan: WritePlan) -> bool:
        is_hidden = not visibility_of(self.principal).admits_category(memory.category)
        if decision.action is Action.REFRESHED and not is_hidden:
            return False
        refusal = self._refusal(memory, decision, plan)
        if refusal is None:
            self.taken.append((memory.kind, memory.agent_id))
            return False
        self.refused[place] = refusal
        return True

    def _refusal(
        self, memory: Memory, decision: WriteDecision, plan: WritePlan
    ) -> tuple[SkipReason, str] | None:
        if decision.action is Action.STORED and self._is_stated(memory, plan):
            return SkipReason.REPEAT, "a memory states it already"
        if memory.facet == HEARSAY_FACET and _overrides_first_hand(decision):
            return SkipReason.NOT_THE_OWNER, "hearsay that contradicts a first-hand memory"
        if proposes(self.principal, memory) and (
            len(proposals_by(self.principal.actor, plan.held)) >= MAX_PROPOSED_BY_ONE
        ):
            return SkipReason.REFUSED, f"{MAX_PROPOSED_BY_ONE} proposals wait for a decision"
        most = POLICIES[memory.kind].max_live
        group = (memory.kind, memory.agent_id)
        live = self.around.live.get(group, 0) + self.taken.count(group)
        if most is not None and live >= most:
            return SkipReason.REFUSED, f"at most {most} {memory.kind} memories are live at a time"
        if len(self.taken) >= self.remaining:
            return SkipReason.DAY_FULL, "the daily limit (observe_daily) is reached"
        return None

    def _is_stated(self, memory: Memory, plan: WritePlan) -> bool:
        """True if a sentence of an active memory of any kind equals this text. An event may recur
        on another day."""
        text = fold(memory.content)
        return any(
            text in map(fold, (old.content, *split_sentences(old.content)))
            for old in plan.memories.values()
            if old.is_live(plan.now)
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
    """The slow part, outside the transaction: validate and embed. Candidates that their kind
    refuses are skipped, and so are sensitive profile fields, which need the owner's consent."""
    wanted: list[RememberRequest] = []
    known = (
        _known_statements(engine, principal, source)
        if any(c.otherwise for _, c in candidates)
        else ()
    )
    for passage, candidate in candidates:
        if candidate.confidence < MIN_STORED_CONFIDENCE or candidate.is_sensitive:
            continue
        if any(fold(each) in known for each in candidate.otherwise):
            continue  # stored under another name of its speaker
        fields = candidate_fields(candidate, said_at.get(passage)) | {
            "source_type": source.source_type,
            "thread_id": source.thread_id,
        }
        try:
            request = read_request(engine, principal, fields, engine.clock())
        except CommonplaceError:  # invalid for its kind: the source still has the text
            continue
        memory = _attach_source(request.memory, source, passage)
        memory = date_memory(memory, _past(said_at.get(passage), engine.clock()))
        wanted.append(replace(request, memory=memory, on_conflict=OnConflict.ALTERNATIVE))
    wanted = wanted[:MAX_MEMORIES_PER_SOURCE]
    return prepare_batch(engine, principal, wanted)


def _past(said_at: datetime | None, now: datetime) -> datetime | None:
    return min(said_at, now) if said_at else None


def store_candidates(
    engine: EngineContext, principal: Principal, source: Source, batch: MemoryBatch
) -> StoredCandidates:
    """Runs again if the decision is stale."""
    known = _known_statements(engine, principal, source)
    new = [n for n, each in enumerate(batch.requests) if fold(each.memory.content) not in known]
    if not new:
        return StoredCandidates()
    rest = batch.part(new)
    around = load_batch_neighbourhood(engine, principal, rest)
    limits = ObservationLimits(principal, around, len(new))
    plan, answers = plan_batch(engine, principal, rest, around, limits.refuses)
    return StoredCandidates(plan.all_steps(), tuple(each for each in answers if each is not None))


def _known_statements(engine: EngineContext, principal: Principal, source: Source) -> set[str]:
    """Texts of all memories from this source, forgotten ones included, so that those are not stored
    again."""
    listing = MemoryListing(
        filters=Filters(source_id=source.id),
        visibility=OWNER_VISIBILITY,
        states=tuple(State),
        limit=NO_LIMIT,
    )
    return {fold(memory.content) for memory in engine.store.page(principal.scope, listing)}


def _attach_source(memory: Memory, source: Source, passage: int) -> Memory:
    """The evidence is the passage's id, not its text, which would outlive the source."""
    is_sensitive = source.sensitivity is Sensitivity.HIGH
    return memory.evolve(
        source_id=source.id,
        sensitivity=Sensitivity.HIGH if is_sensitive else memory.sensitivity,
        evidence=(f"{source.id}#{passage}",),
    )
