"""Inbox: open conflicts with both sides, and profile proposals awaiting a decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from commonplace.engine.access import can_see, visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.profile.open_proposals import open_proposals
from commonplace.engine.profile.signal_origins import SignalOrigins, load_signal_origins
from commonplace.engine.prompt_injection import is_prompt_injection, is_quoted
from commonplace.language.text.normalise import fold
from commonplace.model.access.principal import Principal
from commonplace.model.delta import BULLET_CHARACTERS, shorten
from commonplace.model.filters import Visibility
from commonplace.model.memory.kinds import instructs_agents
from commonplace.model.memory.memory import Conflict, HeldValue, Memory, group_conflicts
from commonplace.model.paging import take_page
from commonplace.model.profile.consent import (
    PROFILE_CATEGORY,
    count_independent,
    needs_consent,
    requires_owner,
)
from commonplace.model.profile.fields import PROFILE_PREFIX, Proposal
from commonplace.model.quotation import quote
from commonplace.store.queries import DisputedMemories, HeldQuery, JournalQuery

WITHHELD_TEXT = "(sensitive: shown only with cleared)"
_QUOTED_CHARACTERS = BULLET_CHARACTERS - len(quote(""))
INJECTION_TEXT = "(reads like instructions: shown only in the inbox)"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the conflicting values."""

    id: str
    text: str
    metadata: Mapping[str, Any]
    evidence: tuple[str, ...]
    confidence: float
    since: datetime  # start of its validity
    told_at: datetime
    source: str | None
    told_by: str | None
    is_live: bool  # False for a held value and a removed target


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """A conflict that waits for a decision. Answer it with resolve."""

    id: str
    kind: str
    category: str
    reason: str
    opened_at: datetime
    standing: tuple[Side, ...]
    held: tuple[Side, ...]  # oldest first
    is_alternative: bool = False  # another source's value: no decision is needed


def list_conflicts(
    engine: EngineContext,
    principal: Principal,
    limit: int,
    alternatives: bool = False,
    after: str | None = None,
) -> list[OpenConflict]:
    """Open conflicts, oldest first; with alternatives also the differing values of other
    sources."""
    held = engine.store.held(principal.scope)
    conflicts = [
        _open_conflict(engine, principal, conflict)
        for conflict in group_conflicts(
            held, engine.store.page(principal.scope, DisputedMemories())
        )
        if _may_see(principal, [*conflict.targets, *(h.memory for h in conflict.held)])
    ]
    if alternatives:
        conflicts += _open_alternatives(
            engine, principal, [each for each in held if each.alternative_to]
        )
    return take_page(sorted(conflicts, key=lambda q: (q.opened_at, q.id)), after, limit)


def load_disputes(
    engine: EngineContext, principal: Principal, memories: Sequence[Memory]
) -> dict[str, tuple[str, ...]]:
    """For each disputed memory, the texts held against it."""
    disputed = [memory for memory in memories if memory.conflict]
    if not disputed:
        return {}
    conflicts = sorted({str(memory.conflict) for memory in disputed})
    visibility = visibility_of(principal)
    texts: dict[str, list[str]] = {}
    for held in engine.store.held(principal.scope, HeldQuery(conflicts=conflicts)):
        is_hidden = not visibility.admits_category(held.memory.category)
        # What an agent proposes as an instruction is shown in the inbox alone, never in a prompt.
        is_proposal = instructs_agents(held.memory.kind, held.memory.category)
        if is_hidden or is_proposal or not held.memory.is_live(engine.clock()):
            continue
        text = held.memory.content if visibility.admits(held.memory) else WITHHELD_TEXT
        # Prompts show it.
        if is_quoted(held.memory):
            text = quote(shorten(text, _QUOTED_CHARACTERS))  # room for the fence in a summary
        text = INJECTION_TEXT if is_prompt_injection(held.memory) else text
        texts.setdefault(str(held.conflict), []).append(text)
    return {memory.id: tuple(texts.get(str(memory.conflict), ())) for memory in disputed}


def hide_unseen_disputes(
    engine: EngineContext, principal: Principal, memories: Sequence[Memory]
) -> list[Memory]:
    """A memory looks undisputed to an agent that may not see any value held against it."""
    if principal.is_owner:
        return list(memories)
    disputes = load_disputes(engine, principal, memories)
    return [m if disputes.get(m.id) else m.evolve(conflict=None) for m in memories]


def summarise_dispute(values: Sequence[str]) -> str | None:
    """The newest value and a count, so that many values do not push the memory out of a budget."""
    if not values:
        return None
    more = f" (and {len(values) - 1} more)" if len(values) > 1 else ""
    return f"{shorten(values[-1])}{more}"


def list_held_values(
    engine: EngineContext, principal: Principal, memory: Memory
) -> tuple[Side, ...]:
    """The values that are pending in the memory's conflict."""
    if memory.conflict is None:
        return ()
    return _load_sides(engine, principal, HeldQuery(conflicts=[memory.conflict]))


def list_alternatives(engine: EngineContext, principal: Principal, id: str) -> tuple[Side, ...]:
    return _load_sides(engine, principal, HeldQuery(alternative_to=[id]))


def _distinct(held: Iterable[HeldValue]) -> list[HeldValue]:
    """An alternative is stored once per source; equal texts for one memory are listed once."""
    first_by_text: dict[tuple[str | None, str], HeldValue] = {}
    for each in held:
        first_by_text.setdefault(
            (each.alternative_to or each.memory.id, fold(each.memory.content)), each
        )
    return list(first_by_text.values())


def _load_sides(engine: EngineContext, principal: Principal, query: HeldQuery) -> tuple[Side, ...]:
    """The owner sees that a value is held, even if its text is withheld."""
    held = engine.store.held(principal.scope, query)
    visibility = visibility_of(principal)
    visible = (each for each in held if can_see(principal, each.memory))
    return tuple(_held_side(each, visibility) for each in _distinct(visible))


def _may_see(principal: Principal, memories: Sequence[Memory]) -> bool:
    """The owner sees that there is a conflict, even if its text is withheld."""
    visibility = visibility_of(principal)
    return principal.is_owner or all(visibility.admits(memory) for memory in memories)


def _open_conflict(engine: EngineContext, principal: Principal, conflict: Conflict) -> OpenConflict:
    visibility = visibility_of(principal)
    first = conflict.held[0].memory
    is_visible = all(
        visibility.admits(m) for m in [*conflict.targets, *(h.memory for h in conflict.held)]
    )
    return OpenConflict(
        id=conflict.id,
        kind=str(first.kind),
        category=first.category,
        reason=conflict.held[-1].reason if is_visible else WITHHELD_TEXT,
        opened_at=conflict.opened_at,
        standing=tuple(_target_side(engine, memory, visibility) for memory in conflict.targets),
        held=tuple(_held_side(held, visibility) for held in conflict.held),
    )


def _open_alternatives(
    engine: EngineContext, principal: Principal, held: Sequence[HeldValue]
) -> list[OpenConflict]:
    targets = {
        m.id: m for m in engine.store.fetch(principal.scope, [str(h.alternative_to) for h in held])
    }
    visibility = visibility_of(principal)
    visible = (
        each
        for each in held
        if each.alternative_to in targets
        and _may_see(principal, [each.memory, targets[each.alternative_to]])
    )
    return [
        OpenConflict(
            id=each.memory.id,
            kind=str(each.memory.kind),
            category=each.memory.category,
            reason=each.reason
            if visibility.admits(each.memory)
            and visibility.admits(targets[str(each.alternative_to)])
            else WITHHELD_TEXT,
            opened_at=each.held_at,
            standing=(_target_side(engine, targets[str(each.alternative_to)], visibility),),
            held=(_held_side(each, visibility),),
            is_alternative=True,
        )
        for each in _distinct(visible)
    ]


def _target_side(engine: EngineContext, memory: Memory, visibility: Visibility) -> Side:
    asserted_by = f"agent:{memory.agent_id}" if memory.agent_id else None
    return _visible_side(
        memory, visibility, memory.created_at, asserted_by, memory.is_live(engine.clock())
    )


def _held_side(held: HeldValue, visibility: Visibility) -> Side:
    return _visible_side(held.memory, visibility, held.held_at, held.actor, False)


def _visible_side(
    memory: Memory,
    visibility: Visibility,
    asserted_at: datetime,
    asserted_by: str | None,
    live: bool,
) -> Side:
    is_visible = visibility.admits(memory)
    return Side(
        id=memory.id,
        text=memory.content if is_visible else WITHHELD_TEXT,
        metadata=memory.metadata if is_visible else {},
        evidence=memory.evidence if is_visible else (),
        confidence=memory.confidence,
        since=memory.valid_from or memory.created_at,
        told_at=asserted_at,
        source=memory.source_id or memory.source_type,
        told_by=asserted_by,
        is_live=live,
    )


@dataclass(frozen=True, slots=True)
class OpenProposal:
    id: str
    name: str
    value: Any
    stands: Any  # the current value in the profile; None: not set
    needs_owner: bool  # False: further signals suffice
    signals: int  # independent ones
    by: tuple[str, ...]  # who proposed it
    reason: str
    evidence: tuple[str, ...]  # the text that supports it
    proposed_at: datetime
    ends_at: datetime


def list_proposals(
    engine: EngineContext, principal: Principal, limit: int, after: str | None = None
) -> list[OpenProposal]:
    """Oldest first. An agent that may see the field sees the proposed value, but only its own
    evidence: the rest comes from conversations of others."""
    proposals, fields = _open_proposals(engine, principal)
    page = take_page(proposals, after, limit)
    signals = [signal for proposal in page for signal in proposal.signals]
    origins = load_signal_origins(engine, principal.scope, signals)
    return [
        _present_proposal(engine, principal, each, fields.get(each.field), origins) for each in page
    ]


def count_proposals(engine: EngineContext, principal: Principal) -> int:
    return len(load_open_proposals(engine, principal))


def load_open_proposals(engine: EngineContext, principal: Principal) -> list[Proposal]:
    """Those that the caller may see."""
    return _open_proposals(engine, principal)[0]


def _open_proposals(
    engine: EngineContext, principal: Principal
) -> tuple[list[Proposal], dict[str, Memory]]:
    """The open proposals that the caller may see, and the current fields that they concern."""
    if not visibility_of(principal).admits_category(PROFILE_CATEGORY):
        return [], {}
    proposals = open_proposals(engine, principal)
    ids = sorted({PROFILE_PREFIX + proposal.field for proposal in proposals})
    fields = engine.store.fetch(principal.scope, ids)
    hidden = {memory.id for memory in fields if not can_see(principal, memory)}
    visible = [each for each in proposals if PROFILE_PREFIX + each.field not in hidden]
    return visible, {memory.id.removeprefix(PROFILE_PREFIX): memory for memory in fields}


def _present_proposal(
    engine: EngineContext,
    principal: Principal,
    proposal: Proposal,
    field: Memory | None,
    origins: SignalOrigins,
) -> OpenProposal:
    is_live = field is not None and field.is_live(engine.clock())
    own = [s for s in proposal.signals if principal.is_owner or s.actor == principal.actor]
    return OpenProposal(
        id=proposal.id,
        name=proposal.name,
        value=proposal.value,
        stands=field.metadata["value"] if field and is_live else None,
        needs_owner=_needs_owner(engine, principal, proposal, is_live),
        signals=count_independent(origins.ground(proposal.signals)),
        by=_unique(signal.actor for signal in proposal.signals),
        reason=proposal.reason if proposal.signals[0] in own else "",
        evidence=_unique(text for signal in own for text in signal.evidence),
        proposed_at=proposal.proposed_at,
        ends_at=proposal.ends_at,
    )


def _needs_owner(
    engine: EngineContext, principal: Principal, proposal: Proposal, is_live: bool
) -> bool:
    if needs_consent(proposal.name):  # most fields: no journal query
        return True
    query = JournalQuery(subject=PROFILE_PREFIX + proposal.field, events_only=True)
    rows = engine.store.journal(principal.scope, query)
    return requires_owner(proposal, rows, is_live, engine.clock() - engine.lifetimes.proposed)


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
