"""Profile proposals: propose, corroborate, accept, decline, import, erase.

`propose` is the verb. `steps_for` weighs claims for a changeset of somebody else's: what was heard
in a conversation is kept and proposed in one transaction.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from commonplace.engine.access import can_see, can_see_source, visibility_of
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.profile.profile import (
    find_same_value,
    is_equal_value,
    load_fields,
    open_proposals,
    set_field,
    write_field,
)
from commonplace.engine.provenance.evidence import add_field_supports, supports_of_signals
from commonplace.engine.transaction import run_transaction
from commonplace.errors import LimitReached, NotAllowed, NotFound
from commonplace.model import validation
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Changeset, ChangesetStep, CloseProposals, PutProposal
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


class ProposalOutcome(StrEnum):
    WAITING = "waiting"  # for the owner, or for more signals
    APPLIED = "applied"  # the profile says so from now on
    HOLDS = "holds"  # the profile says so already; nothing was stored
    FULL = "full"  # too many wait already, or the list is long enough; nothing was stored


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileClaim:
    """What somebody says of the owner, checked, for one field of the profile."""

    name: str
    value: Any
    kind: SignalKind = SignalKind.HEARD
    confidence: float | None = None
    evidence: tuple[str, ...] = ()
    reason: str = ""
    thread: str | None = None
    source_id: str | None = None
    memory_id: str | None = None


@dataclass(frozen=True, slots=True)
class Proposed:
    id: str  # the proposal's while it waits, else the field's
    name: str
    value: Any
    outcome: ProposalOutcome
    signals: int  # independent ones, this one included
    ends_at: datetime | None  # until when it waits
    revision: int = 0
    reason: str = ""  # why there is no room


def read_claim(
    name: object,
    value: object,
    *,
    confidence: object = None,
    evidence: object = None,
    reason: object = None,
    **origin: Any,
) -> ProfileClaim:
    """From what a caller gives. With a confidence it is an insight, else something heard."""
    said = field_name(name)
    sure = None if confidence is None else validation.number(confidence, "confidence", 0, 1)
    kind = SignalKind.HEARD if sure is None else SignalKind.INSIGHT
    return ProfileClaim(
        name=said,
        value=read_field_value(said, value),
        confidence=sure,
        evidence=() if evidence is None else validation.texts(evidence, "evidence"),
        reason="" if reason is None else validation.text(reason, "reason", validation.MAX_SENTENCE),
        **{"kind": kind, **origin},
    )


def propose(engine: EngineContext, request: RequestContext, said: ProfileClaim) -> Proposed:
    """The owner's own word is consent: it is set."""
    principal = request.principal
    if principal.is_owner:
        _require_origin(engine, principal, said)
        change = set_field(engine, request, said.name, said.value)
        return Proposed(
            change.id, said.name, said.value, ProposalOutcome.APPLIED, 1, None, change.revision
        )

    def decide() -> tuple[Changeset, Proposed]:
        revision = engine.store.counters(principal.scope).revision
        _require_origin(engine, principal, said)
        steps, (answer,) = propose_claims(engine, principal, [said])
        if answer.outcome is ProposalOutcome.FULL:
            raise LimitReached(answer.reason, remedy=_MAKE_ROOM_REMEDY)
        at = engine.clock()
        changeset = Changeset(principal.scope, at, principal.actor, steps, revision, said.thread)
        return changeset, answer

    revision, answer = run_transaction(engine, request, decide)
    return replace(answer, revision=revision)


_MAKE_ROOM_REMEDY = "Let the owner decide on some (profile proposals), or shorten the list."


def _require_origin(engine: EngineContext, principal: Principal, said: ProfileClaim) -> None:
    """What it rests on, for whoever says so: else nothing could be erased with it."""
    scope = principal.scope
    if said.source_id:
        sources = engine.live_sources(scope, [said.source_id])
        if not any(can_see_source(principal, source) for source in sources):
            raise NotFound(f"There is no {said.source_id!r} here.", field="source_id")
    if said.memory_id:
        memories = engine.store.fetch(scope, [said.memory_id])
        if not any(can_see(principal, memory) for memory in memories):
            raise NotFound(f"There is no {said.memory_id!r} here.", field="memory_id")


def propose_claims(
    engine: EngineContext, principal: Principal, claims: Sequence[ProfileClaim]
) -> tuple[tuple[ChangesetStep, ...], tuple[Proposed, ...]]:
    """What claims lead to, one after the other, as steps for the caller's own changeset. It must
    carry the revision from before this call, so that a stale decision is made again."""
    if not claims:
        return (), ()
    weighing = _ProposalRound(engine, principal, claims)
    answers = tuple(map(weighing.take, claims))
    return tuple(weighing.steps), answers


class _ProposalRound:
    """The open proposals and the fields in question, as they will be after each claim."""

    def __init__(self, engine: EngineContext, principal: Principal, claims: Sequence[ProfileClaim]):
        self.engine = engine
        self.principal = principal
        self.now = engine.clock()
        self.open = {proposal.id: proposal for proposal in open_proposals(engine, principal)}
        self.fields = load_fields(engine, principal, [each.name for each in claims])
        self.steps: list[ChangesetStep] = []

    def take(self, said: ProfileClaim) -> Proposed:
        known = self.fields.get(target_field(said.name))
        if known and self._can_see(known) and (held := self._held(known, said.name, said.value)):
            self._corroborate(known, held[0], [self._signal(said)])
            return Proposed(known.id, said.name, said.value, ProposalOutcome.HOLDS, 0, None)
        found = self._same_as(said)
        if full := self._is_full(said, known, found):
            return Proposed("", said.name, said.value, ProposalOutcome.FULL, 0, None, reason=full)
        proposal = add_signal(found, self._signal(said)) if found else self._new(said)
        applies = self._applies(proposal, known)
        if applies:
            self._apply(proposal, known)
        elif proposal is not found:
            self.open[proposal.id] = proposal
            self.steps.append(build_proposal(proposal))
        return self._answer(said, proposal, applies)

    def _can_see(self, field: Memory) -> bool:
        """Else the answer would betray what a hidden field says."""
        return can_see(self.principal, field)

    def _held(self, field: Memory, name: str, value: Any) -> list[Any]:
        """What the field says that is this value: it in the field's own words, or nothing."""
        if not field.is_live(self.now):
            return []
        says = field.metadata["value"]
        values = says if name in LIST_ADDITIONS and isinstance(says, list) else [says]
        place = find_same_value(self.engine, value, values)
        return [] if place is None else [values[place]]

    def _corroborate(self, field: Memory, value: Any, signals: Sequence[Signal]) -> None:
        """Said again from elsewhere, it outlives what it was first heard in."""
        after = add_field_supports(field, value, supports_of_signals(signals))
        if after:
            self.fields[field.id.removeprefix(PROFILE_PREFIX)] = after
            self.steps.append(build_corroboration(after))

    def _same_as(self, said: ProfileClaim) -> Proposal | None:
        candidates = [each for each in self.open.values() if each.name == said.name]
        place = find_same_value(self.engine, said.value, [each.value for each in candidates])
        return None if place is None else candidates[place]

    def _is_full(self, said: ProfileClaim, known: Memory | None, found: Proposal | None) -> str:
        """Why there is no room; empty while there is."""
        says = known.metadata["value"] if known and known.is_live(self.now) else None
        if (
            said.name in LIST_ADDITIONS
            and isinstance(says, list)
            and len(says) >= validation.MAX_LIST
        ):
            return f"{target_field(said.name).capitalize()} has {len(says)} entries already."
        if found is None and len(self.open) >= MAX_OPEN:
            return f"{MAX_OPEN} proposals wait already."
        own = [each for each in self.open.values() if each.by == self.principal.actor]
        if found is None and len(own) >= MAX_OPEN_BY_ONE:
            return f"{MAX_OPEN_BY_ONE} proposals of {self.principal.actor} wait already."
        return ""

    def _signal(self, said: ProfileClaim) -> Signal:
        return Signal(
            actor=self.principal.actor,
            at=self.now,
            kind=said.kind,
            confidence=said.confidence,
            thread=said.thread,
            evidence=said.evidence,
            source_id=said.source_id,
            memory_id=said.memory_id,
        )

    def _new(self, said: ProfileClaim) -> Proposal:
        return Proposal(
            id=PROPOSAL + self.engine.new_id(),
            name=said.name,
            value=said.value,
            signals=(self._signal(said),),
            reason=said.reason,
            proposed_at=self.now,
            ends_at=self.now + self.engine.lifetimes.proposed,
        )

    def _applies(self, proposal: Proposal, known: Memory | None) -> bool:
        """Not against a word of the owner's, nor to what the owner has marked as sensitive."""
        if not has_enough_signals(proposal.name, proposal.signals):
            return False
        if known and known.sensitivity is Sensitivity.HIGH:
            return False
        query = JournalQuery(subject=PROFILE_PREFIX + proposal.field, events_only=True)
        rows = self.engine.store.journal(self.principal.scope, query)
        lately = self.now - self.engine.lifetimes.proposed
        is_live = known is not None and known.is_live(self.now)
        return (
            not requires_owner(proposal, rows, is_live, lately)
            and has_enough_signals(proposal.name, counted_signals(proposal, rows, lately))
            and not (known and proposal.adds and self._was_taken_off(known, proposal))
        )

    def _was_taken_off(self, known: Memory, proposal: Proposal) -> bool:
        """Whether an earlier list had the goal: only the owner makes one shorter."""
        if not known.is_live(self.now) or self._held(known, proposal.name, proposal.value):
            return False
        versions = self.engine.store.versions(self.principal.scope, [known.id])
        said = [version.memory.metadata["value"] for version in versions]
        before = [each for value in said if isinstance(value, list) for each in value]
        return proposal.value.casefold() in {each.casefold() for each in before}

    def _apply(self, proposal: Proposal, known: Memory | None) -> None:
        self._write(proposal, known)
        outdone = competing_proposals(proposal, self.open.values())
        if self.open.pop(proposal.id, None):
            self.steps.append(build_settlement(proposal, ProposalDecision.APPLIED))
        for rival in outdone:
            del self.open[rival.id]
            self.steps.append(build_settlement(rival, ProposalDecision.OUTDONE))

    def _write(self, proposal: Proposal, known: Memory | None) -> None:
        if known and (held := self._held(known, proposal.name, proposal.value)):
            self._corroborate(known, held[0], proposal.signals)
            return  # which whoever proposed it may not see
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

    def _answer(self, said: ProfileClaim, proposal: Proposal, applied: bool) -> Proposed:
        """Who may not see the profile is answered as if nobody else had spoken of it."""
        sees = visibility_of(self.principal).admits_category(PROFILE_CATEGORY)
        told = proposal if sees else self._without_others(said, proposal)
        name, value, count = told.name, told.value, count_independent(told.signals)
        if applied and has_enough_signals(name, told.signals):
            return Proposed(
                PROFILE_PREFIX + told.field, name, value, ProposalOutcome.APPLIED, count, None
            )
        return Proposed(told.id, name, value, ProposalOutcome.WAITING, count, told.ends_at)

    def _without_others(self, said: ProfileClaim, proposal: Proposal) -> Proposal:
        own = tuple(each for each in proposal.signals if each.actor == self.principal.actor)
        own = own or (self._signal(said),)
        ends_at = own[0].at + self.engine.lifetimes.proposed
        return replace(proposal, value=said.value, signals=own, ends_at=ends_at)


@dataclass(frozen=True, slots=True)
class Decided:
    id: str
    name: str
    value: Any
    decision: ProposalDecision
    field: str  # the id that says it now, or would have
    declined: tuple[str, ...]  # other proposals that this answers, too
    revision: int


def accept_proposal(
    engine: EngineContext, request: RequestContext, id: str, thread: str | None = None
) -> Decided:
    """The field, the proposal's end and that of its rivals are one change."""
    principal = request.principal
    _require_owner(principal)

    def decide() -> tuple[Changeset, Decided]:
        revision = engine.store.counters(principal.scope).revision
        waiting = open_proposals(engine, principal)
        chosen = _find_open(waiting, id)
        known = load_fields(engine, principal, [chosen.name]).get(chosen.field)
        told = {"proposal": chosen.id, "decision": ProposalDecision.ACCEPTED}
        step, _ = write_field(engine, principal, known, chosen.name, chosen.value, consent=told)
        others = competing_proposals(chosen, waiting)
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
    """Nobody stands in for the owner here, not even an agent that may resolve conflicts."""
    if not principal.is_owner:
        raise NotAllowed(
            "Only the owner may accept or decline profile proposals.",
            remedy="Ask the owner to decide: profile proposals.",
        )


def _find_open(waiting: Sequence[Proposal], id: str) -> Proposal:
    for proposal in waiting:
        if proposal.id == id:
            return proposal
    raise NotFound(
        f"No open proposal {id!r}: unknown, decided or expired.",
        remedy="List them: profile proposals.",
        field="id",
    )


# ——— importing ———


def import_proposals(
    engine: EngineContext, principal: Principal, coming: Sequence[Proposal]
) -> list[PutProposal]:
    """What waits in another memory waits here, too, until its own days are over; not what the
    profile says. One that waits here already gets the signals of the other."""
    now = engine.clock()
    taken = {proposal.id for proposal in engine.store.proposals(principal.scope)}
    waiting = {proposal.id: proposal for proposal in open_proposals(engine, principal)}
    fields = load_fields(engine, principal, [proposal.name for proposal in coming])
    wanted: dict[str, Proposal] = {}
    for proposal in coming:
        if not proposal.is_open(now) or _says_already(fields.get(proposal.field), proposal, now):
            continue
        same = next((each for each in waiting.values() if _is_same_proposal(each, proposal)), None)
        if same is None and (proposal.id in taken or len(waiting) >= MAX_OPEN):
            continue
        joined = _join_signals(same, proposal) if same else proposal
        if joined is not same:
            waiting[joined.id] = wanted[joined.id] = joined
    return [build_proposal(proposal) for proposal in wanted.values()]


def _says_already(field: Memory | None, proposal: Proposal, now: datetime) -> bool:
    says = field.metadata["value"] if field and field.is_live(now) else None
    values = says if proposal.adds and isinstance(says, list) else [says]
    return any(is_equal_value(proposal.value, value) for value in values if value is not None)


def _is_same_proposal(here: Proposal, there: Proposal) -> bool:
    return here.name == there.name and is_equal_value(here.value, there.value)


def _join_signals(here: Proposal, there: Proposal) -> Proposal:
    joined = here
    for signal in there.signals:
        joined = add_signal(joined, signal)
    if joined is here:
        return here
    return replace(joined, signals=tuple(sorted(joined.signals, key=lambda signal: signal.at)))


# ——— erasing ———


def find_proposals(
    engine: EngineContext, principal: Principal, ids: Sequence[str]
) -> list[Proposal]:
    """Those of the ids that are proposals. To erase one is to decide, unless one made it oneself;
    to an agent that did not, it looks as if there were none."""
    named = [each for each in engine.store.proposals(principal.scope) if each.id in ids]
    return [each for each in named if principal.is_owner or _is_made_by(principal, each)]


def _is_made_by(principal: Principal, proposal: Proposal) -> bool:
    return all(signal.actor == principal.actor for signal in proposal.signals)


def erase_proposals(
    engine: EngineContext, principal: Principal, named: Sequence[Proposal], gone: Container[str]
) -> list[CloseProposals]:
    """Those that are named, and those that came out of what is erased."""
    everyone = engine.store.proposals(principal.scope)
    doomed = {proposal.id: proposal for proposal in named}
    doomed |= {proposal.id: proposal for proposal in everyone if proposal.comes_from(gone)}
    return [build_erasure(proposal) for proposal in doomed.values()]
