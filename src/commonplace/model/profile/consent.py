"""Consent rules: which profile proposals apply, wait for the owner or end.

The owner's own word holds at once. Whatever others propose waits for the owner, but for two benign
things: a tone and a further goal apply by themselves once enough speaks for them. Fields that have
no name here wait, too: what they are about cannot be known, so it is taken for sensitive.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from commonplace.model.access.principal import OWNER_ACTOR_PREFIX
from commonplace.model.changeset import AmendMemory, CloseProposals, PutProposal
from commonplace.model.journal import Entry, Event, JournalNode, JournalRow, Op
from commonplace.model.memory.memory import Memory
from commonplace.model.profile.fields import PROFILE_PREFIX, Proposal, Signal, SignalKind

SENSITIVE_FIELDS = frozenset({"preferred_name", "pronouns", "city", "language"})
BENIGN_FIELDS = frozenset({"tone", "goals_add"})

ENOUGH_SIGNALS = 2  # independent ones
SURE_INSIGHT = 0.8  # an insight this sure needs no second signal

# Two proposals are one when their values say the same. That is judged as for memories, with each
# threshold this much higher: better to ask about two values than to count one for the other.
STRICTER_BY = 0.05

MAX_OPEN = 100  # proposals of one user
MAX_OPEN_BY_ONE = 20  # of them by one agent, so that none fills the places of all
MAX_SIGNALS = 50  # kept with one proposal

PROFILE_CATEGORY = "profile"


class ProposalDecision(StrEnum):
    """How a proposal came to its end."""

    ACCEPTED = "accepted"  # by the owner
    DECLINED = "declined"  # by the owner, also by accepting another value
    APPLIED = "applied"  # enough signals spoke for it
    OUTDONE = "outdone"  # enough signals spoke for another value
    ENDED = "ended"  # nobody decided in time


def needs_consent(name: str) -> bool:
    return name not in BENIGN_FIELDS


def has_enough_signals(name: str, signals: Sequence[Signal]) -> bool:
    """Whether it applies without the owner."""
    if needs_consent(name):
        return False
    return any(map(_is_sure, signals)) or count_independent(signals) >= ENOUGH_SIGNALS


def _is_sure(signal: Signal) -> bool:
    return signal.kind is SignalKind.INSIGHT and (signal.confidence or 0.0) >= SURE_INSIGHT


def count_independent(signals: Iterable[Signal]) -> int:
    """How many signals do not stem from each other.

    Those of one agent are one, unless they rest on other words from another source or memory:
    threads and days are the agent's own to choose. Those of several agents are one when they rest
    on the same words: a message that is forwarded, or heard by two, was said once. What is one
    with one of them is one with all of them.
    """
    told = list(signals)
    founded = {signal.actor for signal in told if _evidence_origin(signal)}
    groups: list[set[object]] = []
    for signal in told:
        if signal.actor in founded and not _evidence_origin(signal):
            continue  # a mere word beside what can be looked up
        marks = _signal_marks(signal)
        joined = [group for group in groups if group & marks]
        groups = [group for group in groups if not group & marks]
        groups.append(marks.union(*joined))
    return len(groups)


def _signal_marks(signal: Signal) -> set[object]:
    origin = (signal.actor, _evidence_origin(signal))
    return {origin, *(" ".join(words.casefold().split()) for words in signal.evidence)}


def _evidence_origin(signal: Signal) -> tuple[str | None, str | None] | None:
    """Where its words can be looked up."""
    there = signal.evidence and (signal.source_id or signal.memory_id)
    return (signal.source_id, signal.memory_id) if there else None


def add_signal(proposal: Proposal, signal: Signal) -> Proposal:
    """The same proposal when the signal tells nothing new; its days are counted from the first."""
    known = any(replace(each, at=signal.at) == signal for each in _signals_of_day(proposal, signal))
    if known or len(proposal.signals) >= MAX_SIGNALS:
        return proposal
    return replace(proposal, signals=(*proposal.signals, signal))


def _signals_of_day(proposal: Proposal, signal: Signal) -> list[Signal]:
    return [each for each in proposal.signals if each.at.date() == signal.at.date()]


def competing_proposals(decided: Proposal, others: Iterable[Proposal]) -> list[Proposal]:
    """Those that are answered when one is: a field has one value, a list has room for all."""
    if decided.adds:
        return []
    return [
        other
        for other in others
        if other.id != decided.id and other.field == decided.field and not other.adds
    ]


# ——— what the owner has said before, as the journal of a field has it ———


def requires_owner(
    proposal: Proposal, rows: Sequence[JournalRow], is_live: bool, lately: datetime
) -> bool:
    """Whether no number of signals is enough. What the owner set, accepted or restored is theirs
    to change; what they have lately declined or forgotten is theirs to bring back. A further goal
    changes nothing that they said."""
    if needs_consent(proposal.name):
        return True
    if not is_live and _was_forgotten(rows, lately):
        return True
    return not proposal.adds and (
        bool(_declined_proposals(rows, lately)) or (is_live and _was_written_by_owner(rows))
    )


def counted_signals(
    proposal: Proposal, rows: Sequence[JournalRow], lately: datetime
) -> tuple[Signal, ...]:
    """The signals that count. After a no to one goal, who had proposed it has no say in others for
    a while: nothing of the goal is kept by which it could be known again."""
    if not proposal.adds:
        return proposal.signals
    no = _declined_proposals(rows, lately)
    unheard = {row.actor for row in rows if _is_proposing(row) and row.entry.meta["proposal"] in no}
    return tuple(signal for signal in proposal.signals if signal.actor not in unheard)


def _declined_proposals(rows: Iterable[JournalRow], lately: datetime) -> set[str]:
    return {
        row.entry.meta["proposal"]
        for row in rows
        if row.entry.meta.get("decision") == ProposalDecision.DECLINED and row.ts > lately
    }


def _is_proposing(row: JournalRow) -> bool:
    return row.entry.op is Op.PROPOSE and "proposal" in row.entry.meta


def _was_forgotten(rows: Iterable[JournalRow], lately: datetime) -> bool:
    return any(
        row.entry.event in (Event.DELETE, Event.ERASE) and _is_by_owner(row) and row.ts > lately
        for row in rows
    )


def _was_written_by_owner(rows: Iterable[JournalRow]) -> bool:
    """Whether the owner was the last to write the field. To erase something else is not to."""
    writing = [
        row
        for row in rows
        if row.entry.new_ref and row.entry.op in _WRITING and "rebuilt" not in row.entry.meta
    ]
    return bool(writing) and _is_by_owner(max(writing, key=lambda row: row.seq))


_WRITING = frozenset({Op.CREATE, Op.UPDATE, Op.RESTORE, Op.IMPORT})


def _is_by_owner(row: JournalRow) -> bool:
    return (row.actor or "").startswith(
        OWNER_ACTOR_PREFIX
    ) and row.entry.node is not JournalNode.WORKER


# ——— the steps that tell of it ———


def build_proposal(proposal: Proposal) -> PutProposal:
    return PutProposal(
        proposal, _consent_entry(proposal, Op.PROPOSE, {"signals": len(proposal.signals)})
    )


def build_corroboration(field: Memory) -> AmendMemory:
    """What the profile says was heard again: told, and no change."""
    entry = Entry(
        op=Op.PROPOSE,
        event=Event.CONSENT,
        subject=field.id,
        category=field.category,
        meta={"signals": 1},
    )
    return AmendMemory(field, entry)


def build_settlement(
    proposal: Proposal, decision: ProposalDecision, node: JournalNode = JournalNode.HOTPATH
) -> CloseProposals:
    return CloseProposals(
        (proposal.id,), _consent_entry(proposal, Op.RESOLVE, {"decision": decision}, node)
    )


def build_erasure(proposal: Proposal) -> CloseProposals:
    return CloseProposals(
        (proposal.id,), Entry(op=Op.DELETE, event=Event.ERASE, subject=proposal.id)
    )


def _consent_entry(
    proposal: Proposal, op: Op, told: dict[str, object], node: JournalNode = JournalNode.HOTPATH
) -> Entry:
    """Told of the field, so that its history says who wanted what; and without the value."""
    return Entry(
        op=op,
        event=Event.CONSENT,
        node=node,
        subject=PROFILE_PREFIX + proposal.field,
        category=PROFILE_CATEGORY,
        meta={"proposal": proposal.id, **told},
    )
