"""The inbox of what others would have the profile say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from commonplace.desk import Desk, can_see, visibility_of
from commonplace.model.consent import CATEGORY, independent, needs_the_owner, waits_for_the_owner
from commonplace.model.memory import Memory
from commonplace.model.paging import page
from commonplace.model.profile import PREFIX
from commonplace.model.proposal import Proposal
from commonplace.model.scope import Principal
from commonplace.store.port import JournalQuery


@dataclass(frozen=True, slots=True)
class OpenProposal:
    id: str
    name: str
    value: Any
    stands: Any  # what the profile says now; None: nothing
    needs_owner: bool  # False: further signals are enough, too
    signals: int  # independent ones
    by: tuple[str, ...]  # who proposed it
    reason: str
    evidence: tuple[str, ...]  # the words that it rests on
    proposed_at: datetime
    ends_at: datetime


def list_proposals(
    desk: Desk, principal: Principal, limit: int, after: str | None = None
) -> list[OpenProposal]:
    """Oldest first. An agent that may see the field sees what it might become, but of the words
    behind it only its own: they come from conversations of others."""
    waiting, fields = _open(desk, principal)
    asked_for = page(waiting, after, limit)
    return [_shown(desk, principal, each, fields.get(each.field)) for each in asked_for]


def count_proposals(desk: Desk, principal: Principal) -> int:
    return len(_open(desk, principal)[0])


def _open(desk: Desk, principal: Principal) -> tuple[list[Proposal], dict[str, Memory]]:
    """Those that the caller may see, and the fields that they are about."""
    if not visibility_of(principal).admits_category(CATEGORY):
        return [], {}
    now = desk.clock()
    waiting = [each for each in desk.store.proposals(principal.scope) if each.is_open(now)]
    ids = sorted({PREFIX + proposal.field for proposal in waiting})
    found = desk.store.fetch(principal.scope, ids)
    hidden = {memory.id for memory in found if not can_see(principal, memory)}
    seen = [each for each in waiting if PREFIX + each.field not in hidden]
    return seen, {memory.id.removeprefix(PREFIX): memory for memory in found}


def _shown(
    desk: Desk, principal: Principal, proposal: Proposal, field: Memory | None
) -> OpenProposal:
    is_live = field is not None and field.is_live(desk.clock())
    own = [s for s in proposal.signals if principal.is_owner or s.actor == principal.actor]
    return OpenProposal(
        id=proposal.id,
        name=proposal.name,
        value=proposal.value,
        stands=field.metadata["value"] if field and is_live else None,
        needs_owner=_needs_owner(desk, principal, proposal, is_live),
        signals=independent(proposal.signals),
        by=_once(signal.actor for signal in proposal.signals),
        reason=proposal.reason if proposal.signals[0] in own else "",
        evidence=_once(words for signal in own for words in signal.evidence),
        proposed_at=proposal.proposed_at,
        ends_at=proposal.ends_at,
    )


def _needs_owner(desk: Desk, principal: Principal, proposal: Proposal, is_live: bool) -> bool:
    if waits_for_the_owner(proposal.name):  # as most do, without a look at the journal
        return True
    query = JournalQuery(subject=PREFIX + proposal.field, events_only=True)
    rows = desk.store.journal(principal.scope, query)
    return needs_the_owner(proposal, rows, is_live, desk.clock() - desk.lifetimes.proposed)


def _once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
