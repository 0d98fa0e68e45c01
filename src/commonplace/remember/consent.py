"""Proposing what the profile should say.

`propose` is the verb. `steps_for` weighs claims for a changeset of somebody else's: what was heard
in a conversation is kept and proposed in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from commonplace.desk import Desk, can_see, can_see_source, visibility_of
from commonplace.errors import LimitReached, NotFound
from commonplace.model import check
from commonplace.model.changes import Changeset, Step
from commonplace.model.consent import (
    CATEGORY,
    MAX_OPEN,
    MAX_OPEN_BY_ONE,
    Decision,
    corroborated,
    heard_out,
    independent,
    is_agreed,
    needs_the_owner,
    proposing,
    rivals,
    settled,
    with_signal,
)
from commonplace.model.memory import Memory, Sensitivity
from commonplace.model.profile import ADDS_TO, PREFIX, field_name, field_of
from commonplace.model.profile_fields import field_value
from commonplace.model.proposal import PREFIX as PROPOSAL
from commonplace.model.proposal import Proposal, Signal, SignalKind
from commonplace.model.scope import Principal
from commonplace.remember.alike import the_same_among
from commonplace.remember.profile import open_proposals, set_field, standing, write_field
from commonplace.remember.unsay import also_resting_on, supports_of
from commonplace.store.port import JournalQuery


class Outcome(StrEnum):
    WAITING = "waiting"  # for the owner, or for more signals
    APPLIED = "applied"  # the profile says so from now on
    HOLDS = "holds"  # the profile says so already; nothing was stored
    FULL = "full"  # too many wait already, or the list is long enough; nothing was stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
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
    outcome: Outcome
    signals: int  # independent ones, this one included
    ends_at: datetime | None  # until when it waits
    revision: int = 0
    reason: str = ""  # why there is no room


def claim(
    name: object,
    value: object,
    *,
    confidence: object = None,
    evidence: object = None,
    reason: object = None,
    **origin: Any,
) -> Claim:
    """From what a caller gives. With a confidence it is an insight, else something heard."""
    said = field_name(name)
    sure = None if confidence is None else check.number(confidence, "confidence", 0, 1)
    kind = SignalKind.HEARD if sure is None else SignalKind.INSIGHT
    return Claim(
        name=said,
        value=field_value(said, value),
        confidence=sure,
        evidence=() if evidence is None else check.texts(evidence, "evidence"),
        reason="" if reason is None else check.text(reason, "reason", check.MAX_SENTENCE),
        **{"kind": kind, **origin},
    )


def propose(desk: Desk, principal: Principal, said: Claim) -> Proposed:
    """The owner's own word is consent: it is set."""
    if principal.is_owner:
        _must_be_there(desk, principal, said)
        change = set_field(desk, principal, said.name, said.value)
        return Proposed(change.id, said.name, said.value, Outcome.APPLIED, 1, None, change.revision)

    def decide() -> tuple[Changeset, Proposed]:
        revision = desk.store.counters(principal.scope).revision
        _must_be_there(desk, principal, said)
        steps, (answer,) = steps_for(desk, principal, [said])
        if answer.outcome is Outcome.FULL:
            raise LimitReached(answer.reason, remedy=_MAKE_ROOM)
        at = desk.clock()
        changeset = Changeset(principal.scope, at, principal.actor, steps, revision, said.thread)
        return changeset, answer

    revision, answer = desk.decide(decide)
    return replace(answer, revision=revision)


_MAKE_ROOM = "Let the owner decide on some (profile proposals), or shorten the list."


def _must_be_there(desk: Desk, principal: Principal, said: Claim) -> None:
    """What it rests on, for whoever says so: else nothing could be erased with it."""
    scope = principal.scope
    if said.source_id:
        sources = desk.sources(scope, [said.source_id])
        if not any(can_see_source(principal, source) for source in sources):
            raise NotFound(f"There is no {said.source_id!r} here.", field="source_id")
    if said.memory_id:
        memories = desk.store.fetch(scope, [said.memory_id])
        if not any(can_see(principal, memory) for memory in memories):
            raise NotFound(f"There is no {said.memory_id!r} here.", field="memory_id")


def steps_for(
    desk: Desk, principal: Principal, claims: Sequence[Claim]
) -> tuple[tuple[Step, ...], tuple[Proposed, ...]]:
    """What claims lead to, one after the other, as steps for the caller's own changeset. It must
    carry the revision from before this call, so that a stale decision is made again."""
    if not claims:
        return (), ()
    weighing = _Weighing(desk, principal, claims)
    answers = tuple(map(weighing.take, claims))
    return tuple(weighing.steps), answers


class _Weighing:
    """The open proposals and the fields in question, as they will be after each claim."""

    def __init__(self, desk: Desk, principal: Principal, claims: Sequence[Claim]):
        self.desk = desk
        self.principal = principal
        self.now = desk.clock()
        self.open = {proposal.id: proposal for proposal in open_proposals(desk, principal)}
        self.fields = standing(desk, principal, [each.name for each in claims])
        self.steps: list[Step] = []

    def take(self, said: Claim) -> Proposed:
        known = self.fields.get(field_of(said.name))
        if known and self._sees(known) and (held := self._held(known, said.name, said.value)):
            self._corroborate(known, held[0], [self._signal(said)])
            return Proposed(known.id, said.name, said.value, Outcome.HOLDS, 0, None)
        found = self._same_as(said)
        if full := self._is_full(said, known, found):
            return Proposed("", said.name, said.value, Outcome.FULL, 0, None, reason=full)
        proposal = with_signal(found, self._signal(said)) if found else self._new(said)
        applies = self._applies(proposal, known)
        if applies:
            self._apply(proposal, known)
        elif proposal is not found:
            self.open[proposal.id] = proposal
            self.steps.append(proposing(proposal))
        return self._answer(said, proposal, applies)

    def _sees(self, field: Memory) -> bool:
        """Else the answer would betray what a hidden field says."""
        return can_see(self.principal, field)

    def _held(self, field: Memory, name: str, value: Any) -> list[Any]:
        """What the field says that is this value: it in the field's own words, or nothing."""
        if not field.is_live(self.now):
            return []
        says = field.metadata["value"]
        values = says if name in ADDS_TO and isinstance(says, list) else [says]
        place = the_same_among(self.desk, value, values)
        return [] if place is None else [values[place]]

    def _corroborate(self, field: Memory, value: Any, signals: Sequence[Signal]) -> None:
        """Said again from elsewhere, it outlives what it was first heard in."""
        after = also_resting_on(field, value, supports_of(signals))
        if after:
            self.fields[field.id.removeprefix(PREFIX)] = after
            self.steps.append(corroborated(after))

    def _same_as(self, said: Claim) -> Proposal | None:
        candidates = [each for each in self.open.values() if each.name == said.name]
        place = the_same_among(self.desk, said.value, [each.value for each in candidates])
        return None if place is None else candidates[place]

    def _is_full(self, said: Claim, known: Memory | None, found: Proposal | None) -> str:
        """Why there is no room; empty while there is."""
        says = known.metadata["value"] if known and known.is_live(self.now) else None
        if said.name in ADDS_TO and isinstance(says, list) and len(says) >= check.MAX_LIST:
            return f"{field_of(said.name).capitalize()} has {len(says)} entries already."
        if found is None and len(self.open) >= MAX_OPEN:
            return f"{MAX_OPEN} proposals wait already."
        own = [each for each in self.open.values() if each.by == self.principal.actor]
        if found is None and len(own) >= MAX_OPEN_BY_ONE:
            return f"{MAX_OPEN_BY_ONE} proposals of {self.principal.actor} wait already."
        return ""

    def _signal(self, said: Claim) -> Signal:
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

    def _new(self, said: Claim) -> Proposal:
        return Proposal(
            id=PROPOSAL + self.desk.new_id(),
            name=said.name,
            value=said.value,
            signals=(self._signal(said),),
            reason=said.reason,
            proposed_at=self.now,
            ends_at=self.now + self.desk.lifetimes.proposed,
        )

    def _applies(self, proposal: Proposal, known: Memory | None) -> bool:
        """Not against a word of the owner's, nor to what the owner has marked as sensitive."""
        if not is_agreed(proposal.name, proposal.signals):
            return False
        if known and known.sensitivity is Sensitivity.HIGH:
            return False
        query = JournalQuery(subject=PREFIX + proposal.field, events_only=True)
        rows = self.desk.store.journal(self.principal.scope, query)
        lately = self.now - self.desk.lifetimes.proposed
        is_live = known is not None and known.is_live(self.now)
        return (
            not needs_the_owner(proposal, rows, is_live, lately)
            and is_agreed(proposal.name, heard_out(proposal, rows, lately))
            and not (known and proposal.adds and self._was_taken_off(known, proposal))
        )

    def _was_taken_off(self, known: Memory, proposal: Proposal) -> bool:
        """Whether an earlier list had the goal: only the owner makes one shorter."""
        if not known.is_live(self.now) or self._held(known, proposal.name, proposal.value):
            return False
        versions = self.desk.store.versions(self.principal.scope, [known.id])
        said = [version.memory.metadata["value"] for version in versions]
        before = [each for value in said if isinstance(value, list) for each in value]
        return proposal.value.casefold() in {each.casefold() for each in before}

    def _apply(self, proposal: Proposal, known: Memory | None) -> None:
        self._write(proposal, known)
        outdone = rivals(proposal, self.open.values())
        if self.open.pop(proposal.id, None):
            self.steps.append(settled(proposal, Decision.APPLIED))
        for rival in outdone:
            del self.open[rival.id]
            self.steps.append(settled(rival, Decision.OUTDONE))

    def _write(self, proposal: Proposal, known: Memory | None) -> None:
        if known and (held := self._held(known, proposal.name, proposal.value)):
            self._corroborate(known, held[0], proposal.signals)
            return  # which whoever proposed it may not see
        step, after = write_field(
            self.desk,
            self.principal,
            known,
            proposal.name,
            proposal.value,
            consent={"proposal": proposal.id, "decision": Decision.APPLIED},
            supports=supports_of(proposal.signals),
        )
        self.fields[proposal.field] = after
        self.steps += [step] if step else []

    def _answer(self, said: Claim, proposal: Proposal, applied: bool) -> Proposed:
        """Who may not see the profile is answered as if nobody else had spoken of it."""
        sees = visibility_of(self.principal).admits_category(CATEGORY)
        told = proposal if sees else self._without_others(said, proposal)
        name, value, count = told.name, told.value, independent(told.signals)
        if applied and is_agreed(name, told.signals):
            return Proposed(PREFIX + told.field, name, value, Outcome.APPLIED, count, None)
        return Proposed(told.id, name, value, Outcome.WAITING, count, told.ends_at)

    def _without_others(self, said: Claim, proposal: Proposal) -> Proposal:
        own = tuple(each for each in proposal.signals if each.actor == self.principal.actor)
        own = own or (self._signal(said),)
        ends_at = own[0].at + self.desk.lifetimes.proposed
        return replace(proposal, value=said.value, signals=own, ends_at=ends_at)
