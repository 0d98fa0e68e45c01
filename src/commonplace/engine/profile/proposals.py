"""Profile proposals: propose, corroborate, accept, decline, import, erase.

`propose` is the verb. `propose_claims` returns steps for another changeset, so that `observe`
stores turns and proposes fields in one transaction.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from commonplace.engine.access import can_see, can_see_source, visibility_of
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.errors import LimitReached, NotAllowed, NotFound
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.lazy import lazy_imports
from commonplace.model import validation
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Changeset, ChangesetStep, CloseProposals, PutProposal
from commonplace.model.memory.kinds import INSTRUCTION_CATEGORIES
from commonplace.model.memory.memory import Memory, Sensitivity
from commonplace.model.profile.consent import (
    MAX_OPEN,
    MAX_OPEN_BY_ONE,
    PROFILE_CATEGORY,
    ProposalDecision,
    add_signal,
    build_corroboration,
    build_erasure,
    build_proposal,
    build_settlement,
    competing_proposals,
    count_independent,
    counted_signals,
    has_enough_signals,
    requires_owner,
)
from commonplace.model.profile.fields import (
    LIST_ADDITIONS,
    PROFILE_PREFIX,
    Proposal,
    Signal,
    SignalKind,
    field_name,
    read_field_value,
    target_field,
)
from commonplace.model.profile.fields import PROPOSAL_PREFIX as PROPOSAL
from commonplace.store.queries import JournalQuery

with lazy_imports(__name__):
    from commonplace.engine.profile.open_proposals import (
        open_proposals,
        standing_proposals,
        with_stored_signals,
    )
    from commonplace.engine.profile.profile import (
        find_same_value,
        is_equal_value,
        load_fields,
        set_field,
        write_field,
    )
    from commonplace.engine.profile.signal_origins import load_signal_origins
    from commonplace.engine.provenance.evidence import add_field_supports, supports_of_signals
    from commonplace.engine.transaction import run_transaction
    from commonplace.language.fields.categories import categorise


class ProposalOutcome(StrEnum):
    WAITING = "waiting"  # for the owner's decision, or for more signals
    APPLIED = "applied"  # the profile has the value from now on
    HOLDS = "holds"  # the profile has the value already; nothing was stored
    FULL = "full"  # too many open proposals, or the list is full; nothing was stored


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileClaim:
    """A validated claim about the owner, for one profile field."""

    name: str
    value: Any
    kind: SignalKind = SignalKind.HEARD
    confidence: float | None = None
    evidence: tuple[str, ...] = ()
    reason: str = ""
    thread: str | None = None
    source_id: str | None = None
    memory_id: str | None = None
    is_said_now: bool = False  # by the owner, in a turn that is stored with this claim


@dataclass(frozen=True, slots=True)
class Proposed:
    id: str  # of the proposal while it is open, else of the field
    name: str
    value: Any
    outcome: ProposalOutcome
    signals: int  # independent ones, this one included
    ends_at: datetime | None  # when the proposal expires
    revision: int = 0
    reason: str = ""  # why the outcome is FULL


def read_claim(
    name: object,
    value: object,
    *,
    confidence: object = None,
    evidence: object = None,
    reason: object = None,
    **origin: Any,
) -> ProfileClaim:
    """Validate a caller's claim. With a confidence it is an insight, otherwise a statement from a
    conversation."""
    field = field_name(name)
    checked_confidence = (
        None if confidence is None else validation.number(confidence, "confidence", 0, 1)
    )
    kind = SignalKind.HEARD if checked_confidence is None else SignalKind.INSIGHT
    return ProfileClaim(
        name=field,
        value=read_field_value(field, value),
        confidence=checked_confidence,
        evidence=() if evidence is None else validation.texts(evidence, "evidence"),
        reason="" if reason is None else validation.text(reason, "reason", validation.MAX_SENTENCE),
        **{"kind": kind, **origin},
    )


def propose(engine: EngineContext, request: RequestContext, claim: ProfileClaim) -> Proposed:
    """A proposal by the owner is consent: the field is set."""
    principal = request.principal
    if principal.is_owner:
        _require_origin(engine, principal, claim)
        change = set_field(engine, request, claim.name, claim.value)
        return Proposed(
            change.id, claim.name, claim.value, ProposalOutcome.APPLIED, 1, None, change.revision
        )

    def decide() -> tuple[Changeset, Proposed]:
        revision = engine.store.counters(principal.scope).revision
        _require_origin(engine, principal, claim)
        steps, (answer,) = propose_claims(engine, principal, [claim])
        if answer.outcome is ProposalOutcome.FULL:
            raise LimitReached(answer.reason, remedy=_MAKE_ROOM_REMEDY)
        at = engine.clock()
        changeset = Changeset(principal.scope, at, principal.actor, steps, revision, claim.thread)
        return changeset, answer

    revision, answer = run_transaction(engine, request, decide)
    return replace(answer, revision=revision)


_MAKE_ROOM_REMEDY = "Let the owner decide on some (profile proposals), or shorten the list."


def _require_origin(engine: EngineContext, principal: Principal, claim: ProfileClaim) -> None:
    """The claimed origin must exist and be visible to the caller: erasing the origin must erase the
    proposal."""
    scope = principal.scope
    if claim.source_id:
        sources = engine.live_sources(scope, [claim.source_id])
        if not any(can_see_source(principal, source) for source in sources):
            raise NotFound(f"There is no {claim.source_id!r} here.", field="source_id")
    if claim.memory_id:
        memories = engine.store.fetch(scope, [claim.memory_id])
        if not any(can_see(principal, memory) for memory in memories):
            raise NotFound(f"There is no {claim.memory_id!r} here.", field="memory_id")


def propose_claims(
    engine: EngineContext, principal: Principal, claims: Sequence[ProfileClaim]
) -> tuple[tuple[ChangesetStep, ...], tuple[Proposed, ...]]:
    """Decide the claims one after the other and return steps for the caller's changeset. That
    changeset must carry the revision from before this call, so that a stale decision is
    repeated."""
    if not claims:
        return (), ()
    proposal_round = _ProposalRound(engine, principal, claims)
    answers = tuple(map(proposal_round.decide, claims))
    return tuple(proposal_round.steps), answers


class _ProposalRound:
    """The state of the open proposals and the fields after each claim."""

    def __init__(self, engine: EngineContext, principal: Principal, claims: Sequence[ProfileClaim]):
        self.engine = engine
        self.principal = principal
        self.now = engine.clock()
        self.stored = engine.store.proposals(principal.scope)
        standing = standing_proposals(engine, principal.scope, self.stored)
        self.open = {proposal.id: proposal for proposal in standing}
        self.fields = load_fields(engine, principal, [each.name for each in claims])
        self.steps: list[ChangesetStep] = []
        self.said_now: set[Signal] = set()

    def decide(self, claim: ProfileClaim) -> Proposed:
        known = self.fields.get(target_field(claim.name))
        if (
            known
            and self._can_see(known)
            and (matches := self._matching_values(known, claim.name, claim.value))
        ):
            self._corroborate(known, matches[0], [self._signal(claim)])
            return Proposed(known.id, claim.name, claim.value, ProposalOutcome.HOLDS, 0, None)
        same = self._same_as(claim)
        if reason := self._reached_limit(claim, known, same):
            return Proposed(
                "", claim.name, claim.value, ProposalOutcome.FULL, 0, None, reason=reason
            )
        proposal = add_signal(same, self._signal(claim)) if same else self._new(claim)
        if claim.is_said_now:
            self.said_now.add(self._signal(claim))
        applies = self._applies(proposal, known)
        if applies:
            self._apply(proposal, known)
        elif proposal is not same:
            self.open[proposal.id] = proposal
            self.steps.append(build_proposal(with_stored_signals(proposal, self.stored)))
        return self._answer(claim, proposal, applies)

    def _can_see(self, field: Memory) -> bool:
        """Otherwise the answer would reveal the value of a hidden field."""
        return can_see(self.principal, field)

    def _matching_values(self, field: Memory, name: str, value: Any) -> list[Any]:
        """The field's value, or its list entry, that equals this value, in the field's wording;
        else empty."""
        if not field.is_live(self.now):
            return []
        current = field.metadata["value"]
        values = current if name in LIST_ADDITIONS and isinstance(current, list) else [current]
        place = find_same_value(self.engine, value, values)
        return [] if place is None else [values[place]]

    def _corroborate(self, field: Memory, value: Any, signals: Sequence[Signal]) -> None:
        """A value with support from several origins outlives the first of them."""
        after = add_field_supports(field, value, supports_of_signals(signals))
        if after:
            self.fields[field.id.removeprefix(PROFILE_PREFIX)] = after
            self.steps.append(build_corroboration(after))

    def _same_as(self, claim: ProfileClaim) -> Proposal | None:
        candidates = [each for each in self.open.values() if each.name == claim.name]
        place = find_same_value(self.engine, claim.value, [each.value for each in candidates])
        return None if place is None else candidates[place]

    def _reached_limit(
        self, claim: ProfileClaim, known: Memory | None, same: Proposal | None
    ) -> str:
        """The limit that is reached; empty if none is."""
        current = known.metadata["value"] if known and known.is_live(self.now) else None
        if (
            claim.name in LIST_ADDITIONS
            and isinstance(current, list)
            and len(current) >= validation.MAX_LIST
        ):
            return f"{target_field(claim.name).capitalize()} has {len(current)} entries already."
        if same is None and len(self.open) >= MAX_OPEN:
            return f"{MAX_OPEN} proposals wait already."
        own = [each for each in self.open.values() if each.by == self.principal.actor]
        if same is None and len(own) >= MAX_OPEN_BY_ONE:
            return f"{MAX_OPEN_BY_ONE} proposals of {self.principal.actor} wait already."
        return ""

    def _signal(self, claim: ProfileClaim) -> Signal:
        return Signal(
            actor=self.principal.actor,
            at=self.now,
            kind=claim.kind,
            confidence=claim.confidence,
            thread=claim.thread,
            evidence=claim.evidence,
            source_id=claim.source_id,
            memory_id=claim.memory_id,
        )

    def _new(self, claim: ProfileClaim) -> Proposal:
        return Proposal(
            id=PROPOSAL + self.engine.new_id(),
            name=claim.name,
            value=claim.value,
            signals=(self._signal(claim),),
            reason=claim.reason,
            proposed_at=self.now,
            ends_at=self.now + self.engine.lifetimes.proposed,
        )

    def _applies(self, proposal: Proposal, known: Memory | None) -> bool:
        """Never against the owner's own statement or decision, not to a field with sensitivity
        high, and no instruction to agents: every prompt contains the profile."""
        proposal = replace(proposal, signals=self._grounded(proposal.signals))
        if not has_enough_signals(proposal.name, proposal.signals):
            return False
        if known and known.sensitivity is Sensitivity.HIGH:
            return False
        if categorise(proposal.value) in INSTRUCTION_CATEGORIES or is_suspicious(proposal.value):
            return False
        query = JournalQuery(subject=PROFILE_PREFIX + proposal.field, events_only=True)
        rows = self.engine.store.journal(self.principal.scope, query)
        since = self.now - self.engine.lifetimes.proposed
        is_live = known is not None and known.is_live(self.now)
        return (
            not requires_owner(proposal, rows, is_live, since)
            and has_enough_signals(proposal.name, counted_signals(proposal, rows, since))
            and not (known and proposal.adds and self._was_removed(known, proposal))
        )

    def _grounded(self, signals: Sequence[Signal]) -> tuple[Signal, ...]:
        """The signals as they count. What is said now is not stored yet: its origin is the
        conversation."""
        stored = [each for each in signals if each not in self.said_now]
        said = [replace(each, memory_id=None) for each in signals if each in self.said_now]
        origins = load_signal_origins(self.engine, self.principal.scope, stored)
        return (*origins.ground(stored), *said)

    def _was_removed(self, known: Memory, proposal: Proposal) -> bool:
        """True if an earlier list had the goal: only the owner removes goals, and that decision
        stays."""
        if not known.is_live(self.now) or self._matching_values(
            known, proposal.name, proposal.value
        ):
            return False
        versions = self.engine.store.versions(self.principal.scope, [known.id])
        values = [version.memory.metadata["value"] for version in versions]
        before = [each for value in values if isinstance(value, list) for each in value]
        return proposal.value.casefold() in {each.casefold() for each in before}

    def _apply(self, proposal: Proposal, known: Memory | None) -> None:
        self._write(proposal, known)
        competing = competing_proposals(proposal, self.open.values())
        if self.open.pop(proposal.id, None):
            self.steps.append(build_settlement(proposal, ProposalDecision.APPLIED))
        for rival in competing:
            del self.open[rival.id]
            self.steps.append(build_settlement(rival, ProposalDecision.OUTDONE))

    def _write(self, proposal: Proposal, known: Memory | None) -> None:
        if known and (matches := self._matching_values(known, proposal.name, proposal.value)):
            self._corroborate(known, matches[0], proposal.signals)
            return  # the field may be hidden from the proposer
        step, after = write_field(
            self.engine,
            self.principal,
            known,
            proposal.name,
            proposal.value,
            consent={"proposal": proposal.id, "decision": ProposalDecision.APPLIED},
            supports=supports_of_signals(proposal.signals),
        )
        self.fields[proposal.field] = after
        self.steps += [step] if step else []

    def _answer(self, claim: ProfileClaim, proposal: Proposal, applied: bool) -> Proposed:
        """A caller who may not see the profile gets an answer based on their own signals only."""
        can_see_profile = visibility_of(self.principal).admits_category(PROFILE_CATEGORY)
        shown = proposal if can_see_profile else self._without_others(claim, proposal)
        signals = self._grounded(shown.signals)
        name, value, count = shown.name, shown.value, count_independent(signals)
        if applied and has_enough_signals(name, signals):
            return Proposed(
                PROFILE_PREFIX + shown.field, name, value, ProposalOutcome.APPLIED, count, None
            )
        return Proposed(shown.id, name, value, ProposalOutcome.WAITING, count, shown.ends_at)

    def _without_others(self, claim: ProfileClaim, proposal: Proposal) -> Proposal:
        own = tuple(each for each in proposal.signals if each.actor == self.principal.actor)
        own = own or (self._signal(claim),)
        ends_at = own[0].at + self.engine.lifetimes.proposed
        return replace(proposal, value=claim.value, signals=own, ends_at=ends_at)


@dataclass(frozen=True, slots=True)
class Decided:
    id: str
    name: str
    value: Any
    decision: ProposalDecision
    field: str  # id of the field that was, or would have been, set
    declined: tuple[str, ...]  # other proposals that this decision closes
    revision: int


def accept_proposal(
    engine: EngineContext, request: RequestContext, id: str, thread: str | None = None
) -> Decided:
    """One changeset sets the field and closes the proposal and its competitors."""
    principal = request.principal
    _require_owner(principal)

    def decide() -> tuple[Changeset, Decided]:
        revision = engine.store.counters(principal.scope).revision
        proposals = open_proposals(engine, principal)
        chosen = _find_open(proposals, id)
        known = load_fields(engine, principal, [chosen.name]).get(chosen.field)
        consent = {"proposal": chosen.id, "decision": ProposalDecision.ACCEPTED}
        step, _ = write_field(engine, principal, known, chosen.name, chosen.value, consent=consent)
        others = competing_proposals(chosen, proposals)
        steps = (
            *([step] if step else []),
            build_settlement(chosen, ProposalDecision.ACCEPTED),
            *(build_settlement(other, ProposalDecision.DECLINED) for other in others),
        )
        answer = _decision_answer(chosen, ProposalDecision.ACCEPTED, others)
        return _proposal_changeset(engine, principal, steps, revision, thread), answer

    revision, answer = run_transaction(engine, request, decide)
    return replace(answer, revision=revision)


def decline_proposal(
    engine: EngineContext, request: RequestContext, id: str, thread: str | None = None
) -> Decided:
    principal = request.principal
    _require_owner(principal)

    def decide() -> tuple[Changeset, Decided]:
        revision = engine.store.counters(principal.scope).revision
        chosen = _find_open(open_proposals(engine, principal), id)
        steps = (build_settlement(chosen, ProposalDecision.DECLINED),)
        answer = _decision_answer(chosen, ProposalDecision.DECLINED, ())
        return _proposal_changeset(engine, principal, steps, revision, thread), answer

    revision, answer = run_transaction(engine, request, decide)
    return replace(answer, revision=revision)


def _proposal_changeset(
    engine: EngineContext,
    principal: Principal,
    steps: tuple[ChangesetStep, ...],
    revision: int,
    thread: str | None,
) -> Changeset:
    return Changeset(principal.scope, engine.clock(), principal.actor, steps, revision, thread)


def _decision_answer(
    chosen: Proposal, decision: ProposalDecision, others: Sequence[Proposal]
) -> Decided:
    declined = tuple(other.id for other in others)
    field = PROFILE_PREFIX + chosen.field
    return Decided(chosen.id, chosen.name, chosen.value, decision, field, declined, 0)


def _require_owner(principal: Principal) -> None:
    """Only the owner in person, not an agent that may resolve conflicts."""
    if not principal.is_owner:
        raise NotAllowed(
            "Only the owner may accept or decline profile proposals.",
            remedy="Ask the owner to decide: profile proposals.",
        )


def _find_open(proposals: Sequence[Proposal], id: str) -> Proposal:
    for proposal in proposals:
        if proposal.id == id:
            return proposal
    raise NotFound(
        f"No open proposal {id!r}: unknown, decided or expired.",
        remedy="List them: profile proposals.",
        field="id",
    )


# ——— importing ———


def import_proposals(
    engine: EngineContext, principal: Principal, imported: Sequence[Proposal]
) -> list[PutProposal]:
    """Imported proposals stay open here until they expire, unless the profile has the value. A
    proposal that is open here already gets the signals of the imported one."""
    now = engine.clock()
    stored = engine.store.proposals(principal.scope)
    known_ids = {proposal.id for proposal in stored}
    standing = standing_proposals(engine, principal.scope, stored)
    open_here = {proposal.id: proposal for proposal in standing}
    fields = load_fields(engine, principal, [proposal.name for proposal in imported])
    changed: dict[str, Proposal] = {}
    for proposal in imported:
        if not proposal.is_open(now) or _has_value(fields.get(proposal.field), proposal, now):
            continue
        same = next(
            (each for each in open_here.values() if _is_same_proposal(each, proposal)), None
        )
        if same is None and (proposal.id in known_ids or len(open_here) >= MAX_OPEN):
            continue
        joined = _join_signals(same, proposal) if same else proposal
        if joined is not same:
            open_here[joined.id] = changed[joined.id] = joined
    return [build_proposal(with_stored_signals(each, stored)) for each in changed.values()]


def _has_value(field: Memory | None, proposal: Proposal, now: datetime) -> bool:
    current = field.metadata["value"] if field and field.is_live(now) else None
    values = current if proposal.adds and isinstance(current, list) else [current]
    return any(is_equal_value(proposal.value, value) for value in values if value is not None)


def _is_same_proposal(one: Proposal, other: Proposal) -> bool:
    return one.name == other.name and is_equal_value(one.value, other.value)


def _join_signals(proposal: Proposal, imported: Proposal) -> Proposal:
    joined = proposal
    for signal in imported.signals:
        joined = add_signal(joined, signal)
    if joined is proposal:
        return proposal
    return replace(joined, signals=tuple(sorted(joined.signals, key=lambda signal: signal.at)))


# ——— erasing ———


def find_proposals(
    engine: EngineContext, principal: Principal, ids: Sequence[str]
) -> list[Proposal]:
    """The proposals among these ids. Erasing a proposal decides about it, so an agent finds only
    its own."""
    named = [each for each in engine.store.proposals(principal.scope) if each.id in ids]
    return [each for each in named if principal.is_owner or _is_made_by(principal, each)]


def _is_made_by(principal: Principal, proposal: Proposal) -> bool:
    return all(signal.actor == principal.actor for signal in proposal.signals)


def erase_proposals(
    engine: EngineContext,
    principal: Principal,
    named: Sequence[Proposal],
    gone: Container[str],
    passages: Sequence[tuple[str, str]] = (),
) -> list[CloseProposals]:
    """Erase the named proposals and those that originate from erased items. ``passages``: sources
    and erased texts of them, which proposals quote."""
    stored = engine.store.proposals(principal.scope)
    erased = {proposal.id: proposal for proposal in named}
    erased |= {proposal.id: proposal for proposal in stored if proposal.comes_from(gone)}
    erased |= {proposal.id: proposal for proposal in stored if _quotes_any(proposal, passages)}
    return [build_erasure(proposal) for proposal in erased.values()]


def _quotes_any(proposal: Proposal, passages: Sequence[tuple[str, str]]) -> bool:
    return any(
        signal.source_id == source and words in text
        for signal in proposal.signals
        for words in signal.evidence
        for source, text in passages
    )
