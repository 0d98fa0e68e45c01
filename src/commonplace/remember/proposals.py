"""What becomes of proposals: the owner's word, an import, an erasure."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.desk import Desk
from commonplace.errors import NotAllowed, NotFound
from commonplace.model.changes import Changeset, Propose, Settle, Step
from commonplace.model.consent import (
    MAX_OPEN,
    Decision,
    erased,
    proposing,
    rivals,
    settled,
    with_signal,
)
from commonplace.model.memory import Memory
from commonplace.model.profile import PREFIX
from commonplace.model.proposal import Proposal
from commonplace.model.scope import Principal
from commonplace.remember.alike import is_equal
from commonplace.remember.profile import open_proposals, standing, write_field


@dataclass(frozen=True, slots=True)
class Decided:
    id: str
    name: str
    value: Any
    decision: Decision
    field: str  # the id that says it now, or would have
    declined: tuple[str, ...]  # other proposals that this answers, too
    revision: int


def accept(desk: Desk, principal: Principal, id: str, thread: str | None = None) -> Decided:
    """The field, the proposal's end and that of its rivals are one change."""
    _owner_decides(principal)

    def decide() -> tuple[Changeset, Decided]:
        revision = desk.store.counters(principal.scope).revision
        waiting = open_proposals(desk, principal)
        chosen = _named(waiting, id)
        known = standing(desk, principal, [chosen.name]).get(chosen.field)
        told = {"proposal": chosen.id, "decision": Decision.ACCEPTED}
        step, _ = write_field(desk, principal, known, chosen.name, chosen.value, consent=told)
        others = rivals(chosen, waiting)
        steps = (
            *([step] if step else []),
            settled(chosen, Decision.ACCEPTED),
            *(settled(other, Decision.DECLINED) for other in others),
        )
        answer = _decided(chosen, Decision.ACCEPTED, others)
        return _changeset(desk, principal, steps, revision, thread), answer

    revision, answer = desk.decide(decide)
    return replace(answer, revision=revision)


def decline(desk: Desk, principal: Principal, id: str, thread: str | None = None) -> Decided:
    _owner_decides(principal)

    def decide() -> tuple[Changeset, Decided]:
        revision = desk.store.counters(principal.scope).revision
        chosen = _named(open_proposals(desk, principal), id)
        steps = (settled(chosen, Decision.DECLINED),)
        answer = _decided(chosen, Decision.DECLINED, ())
        return _changeset(desk, principal, steps, revision, thread), answer

    revision, answer = desk.decide(decide)
    return replace(answer, revision=revision)


def _changeset(
    desk: Desk, principal: Principal, steps: tuple[Step, ...], revision: int, thread: str | None
) -> Changeset:
    return Changeset(principal.scope, desk.clock(), principal.actor, steps, revision, thread)


def _decided(chosen: Proposal, decision: Decision, others: Sequence[Proposal]) -> Decided:
    declined = tuple(other.id for other in others)
    field = PREFIX + chosen.field
    return Decided(chosen.id, chosen.name, chosen.value, decision, field, declined, 0)


def _owner_decides(principal: Principal) -> None:
    """Nobody stands in for the owner here, not even an agent that may resolve conflicts."""
    if not principal.is_owner:
        raise NotAllowed(
            "Only the owner may accept or decline profile proposals.",
            remedy="Ask the owner to decide: profile proposals.",
        )


def _named(waiting: Sequence[Proposal], id: str) -> Proposal:
    for proposal in waiting:
        if proposal.id == id:
            return proposal
    raise NotFound(
        f"No open proposal {id!r}: unknown, decided or expired.",
        remedy="List them: profile proposals.",
        field="id",
    )


# ——— importing ———


def new_proposals(desk: Desk, principal: Principal, coming: Sequence[Proposal]) -> list[Propose]:
    """What waits in another memory waits here, too, until its own days are over; not what the
    profile says. One that waits here already gets the signals of the other."""
    now = desk.clock()
    taken = {proposal.id for proposal in desk.store.proposals(principal.scope)}
    waiting = {proposal.id: proposal for proposal in open_proposals(desk, principal)}
    fields = standing(desk, principal, [proposal.name for proposal in coming])
    wanted: dict[str, Proposal] = {}
    for proposal in coming:
        if not proposal.is_open(now) or _holds(fields.get(proposal.field), proposal, now):
            continue
        same = next((each for each in waiting.values() if _is_same(each, proposal)), None)
        if same is None and (proposal.id in taken or len(waiting) >= MAX_OPEN):
            continue
        joined = _joined(same, proposal) if same else proposal
        if joined is not same:
            waiting[joined.id] = wanted[joined.id] = joined
    return [proposing(proposal) for proposal in wanted.values()]


def _holds(field: Memory | None, proposal: Proposal, now: datetime) -> bool:
    says = field.metadata["value"] if field and field.is_live(now) else None
    values = says if proposal.adds and isinstance(says, list) else [says]
    return any(is_equal(proposal.value, value) for value in values if value is not None)


def _is_same(here: Proposal, there: Proposal) -> bool:
    return here.name == there.name and is_equal(here.value, there.value)


def _joined(here: Proposal, there: Proposal) -> Proposal:
    joined = here
    for signal in there.signals:
        joined = with_signal(joined, signal)
    if joined is here:
        return here
    return replace(joined, signals=tuple(sorted(joined.signals, key=lambda signal: signal.at)))


# ——— erasing ———


def proposals_among(desk: Desk, principal: Principal, ids: Sequence[str]) -> list[Proposal]:
    """Those of the ids that are proposals. To erase one is to decide, unless one made it oneself;
    to an agent that did not, it looks as if there were none."""
    named = [each for each in desk.store.proposals(principal.scope) if each.id in ids]
    return [each for each in named if principal.is_owner or _is_of(principal, each)]


def _is_of(principal: Principal, proposal: Proposal) -> bool:
    return all(signal.actor == principal.actor for signal in proposal.signals)


def erase_proposals(
    desk: Desk, principal: Principal, named: Sequence[Proposal], gone: Container[str]
) -> list[Settle]:
    """Those that are named, and those that came out of what is erased."""
    everyone = desk.store.proposals(principal.scope)
    doomed = {proposal.id: proposal for proposal in named}
    doomed |= {proposal.id: proposal for proposal in everyone if proposal.comes_from(gone)}
    return [erased(proposal) for proposal in doomed.values()]
