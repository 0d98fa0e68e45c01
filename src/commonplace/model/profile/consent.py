"""Consent rules: which profile proposals apply, stay pending for the owner or expire.

Values set by the owner apply at once. Proposals of others wait for the owner, with two exceptions:
a tone and an additional goal apply without the owner once they have enough signals. Fields that are
not listed here wait, too: their subject is unknown, so they are treated as sensitive.
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
# Up to this length, these apply without the owner: a longer text says more than a tone or a goal.
MAX_WITHOUT_OWNER = {"tone": 80, "goals_add": 120}
BENIGN_FIELDS = frozenset(MAX_WITHOUT_OWNER)

ENOUGH_SIGNALS = 2  # independent ones
SURE_INSIGHT = 0.8  # an insight of this confidence needs no second signal

# Proposals with equivalent values are one proposal. Equivalence is decided as for memories, with
# each threshold this much higher: better ask about two values than count one for the other.
STRICTER_BY = 0.05

MAX_OPEN = 100  # proposals of one user
MAX_OPEN_BY_ONE = 20  # by one agent, so that no agent uses up the limit of all
MAX_SIGNALS = 50  # stored with one proposal

PROFILE_CATEGORY = "profile"


class ProposalDecision(StrEnum):
    """How a proposal was closed."""

    ACCEPTED = "accepted"  # by the owner
    DECLINED = "declined"  # by the owner, also by accepting another value
    APPLIED = "applied"  # it had enough signals
    OUTDONE = "outdone"  # another value had enough signals
    ENDED = "ended"  # expired without a decision


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
    """The number of independent signals.

    Signals of one agent count once, unless they have different evidence from different sources or
    memories: an agent chooses its threads and days itself. Signals of several agents count once
    when they quote the same words: a message that was forwarded, or seen by two agents, was said
    once. The relation is transitive.
    """
    all_signals = list(signals)
    with_evidence = {signal.actor for signal in all_signals if _evidence_origin(signal)}
    groups: list[set[object]] = []
    for signal in all_signals:
        if signal.actor in with_evidence and not _evidence_origin(signal):
            continue  # its other signals can be verified, this one cannot
        marks = _signal_marks(signal)
        joined = [group for group in groups if group & marks]
        groups = [group for group in groups if not group & marks]
        groups.append(marks.union(*joined))
    return len(groups)


def _signal_marks(signal: Signal) -> set[object]:
    origin = (signal.actor, _evidence_origin(signal))
    return {origin, *(" ".join(words.casefold().split()) for words in signal.evidence)}


def _evidence_origin(signal: Signal) -> tuple[str | None, str | None] | None:
    """The source and memory in which its evidence can be verified."""
    is_cited = signal.evidence and (signal.source_id or signal.memory_id)
    return (signal.source_id, signal.memory_id) if is_cited else None


def add_signal(proposal: Proposal, signal: Signal) -> Proposal:
    """Unchanged when the signal repeats one of the same day, or the limit is reached."""
    known = any(replace(each, at=signal.at) == signal for each in _signals_of_day(proposal, signal))
    if known or len(proposal.signals) >= MAX_SIGNALS:
        return proposal
    return replace(proposal, signals=(*proposal.signals, signal))


def _signals_of_day(proposal: Proposal, signal: Signal) -> list[Signal]:
    return [each for each in proposal.signals if each.at.date() == signal.at.date()]


def competing_proposals(decided: Proposal, others: Iterable[Proposal]) -> list[Proposal]:
    """The proposals that are closed together with one: a field has one value; list additions do not
    compete."""
    if decided.adds:
        return []
    return [
        other
        for other in others
        if other.id != decided.id and other.field == decided.field and not other.adds
    ]


# ——— earlier decisions of the owner, from the journal of a field ———


def requires_owner(
    proposal: Proposal, rows: Sequence[JournalRow], is_live: bool, lately: datetime
) -> bool:
    """Whether only the owner can apply it, whatever the signals. Only the owner changes a value
    that they set, accepted or restored, and brings back one that they recently declined or forgot.
    An additional goal changes no value of the owner's."""
    if needs_consent(proposal.name) or len(proposal.value) > MAX_WITHOUT_OWNER[proposal.name]:
        return True
    if not is_live and _was_forgotten(rows, lately):
        return True
    return not proposal.adds and (
        bool(_declined_proposals(rows, lately)) or (is_live and _was_written_by_owner(rows))
    )


def counted_signals(
    proposal: Proposal, rows: Sequence[JournalRow], lately: datetime
) -> tuple[Signal, ...]:
    """The signals that count. After a goal was declined, signals of its proposers are ignored for a
    while: nothing of the goal is stored by which a repetition could be detected."""
    if not proposal.adds:
        return proposal.signals
    declined = _declined_proposals(rows, lately)
    ignored = {
        row.actor for row in rows if _is_proposing(row) and row.entry.meta["proposal"] in declined
    }
    return tuple(signal for signal in proposal.signals if signal.actor not in ignored)


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
    """Whether the owner was the last to write the field. Rebuilds after an erasure do not count."""
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


# ——— changeset steps ———


def build_proposal(proposal: Proposal) -> PutProposal:
    return PutProposal(
        proposal, _consent_entry(proposal, Op.PROPOSE, {"signals": len(proposal.signals)})
    )


def build_corroboration(field: Memory) -> AmendMemory:
    """Journals that the present value was stated again; the field does not change."""
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
    proposal: Proposal, op: Op, meta: dict[str, object], node: JournalNode = JournalNode.HOTPATH
) -> Entry:
    """An entry about the field, so that its history shows who proposed what; without the value."""
    return Entry(
        op=op,
        event=Event.CONSENT,
        node=node,
        subject=PROFILE_PREFIX + proposal.field,
        category=PROFILE_CATEGORY,
        meta={"proposal": proposal.id, **meta},
    )
