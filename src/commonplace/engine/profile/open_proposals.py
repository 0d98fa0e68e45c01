"""Open proposals, without what rests on forgotten items.

A signal that comes from a forgotten memory, source or turn does not count until that is restored. A
proposal without any other signal is hidden. Nothing is written: the stored proposal is unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.memory.memory import Memory, State
from commonplace.model.profile.fields import Proposal, Signal
from commonplace.model.sources.source import Source
from commonplace.store.queries import HiddenPassages, PassagesOf


def open_proposals(engine: EngineContext, principal: Principal) -> list[Proposal]:
    return standing_proposals(engine, principal.scope, engine.store.proposals(principal.scope))


def standing_proposals(
    engine: EngineContext, scope: Scope, stored: Sequence[Proposal]
) -> list[Proposal]:
    """The open ones of these, each with the signals that count."""
    now = engine.clock()
    proposals = [each for each in stored if each.is_open(now)]
    forgotten = load_forgotten_origins(engine, scope, proposals)
    return [each for proposal in proposals if (each := forgotten.leave(proposal)) is not None]


def with_stored_signals(proposal: Proposal, stored: Iterable[Proposal]) -> Proposal:
    """The proposal as it is written: with the stored signals that do not count now, because they
    count again when their origin is restored."""
    known = next((each for each in stored if each.id == proposal.id), proposal)
    added = [each for each in proposal.signals if each not in known.signals]
    return replace(proposal, signals=(*known.signals, *added), reason=known.reason)


@dataclass(frozen=True, slots=True)
class ForgottenOrigins:
    """Where signals come from that do not count."""

    ids: frozenset[str] = frozenset()  # memories and sources
    quotes: frozenset[tuple[str, str]] = frozenset()  # a source, and words only hidden turns have

    def leave(self, proposal: Proposal) -> Proposal | None:
        """What counts of a proposal."""
        signals = tuple(each for each in proposal.signals if not self._include(each))
        if not signals:
            return None
        is_first_left = signals[0] == proposal.signals[0]  # the reason is that of the first
        return replace(proposal, signals=signals, reason=proposal.reason if is_first_left else "")

    def _include(self, signal: Signal) -> bool:
        if signal.source_id in self.ids or signal.memory_id in self.ids:
            return True
        return any((signal.source_id, words) in self.quotes for words in signal.evidence)


def load_forgotten_origins(
    engine: EngineContext, scope: Scope, proposals: Iterable[Proposal], due: datetime | None = None
) -> ForgottenOrigins:
    """``due``: only what is to be purged by then."""
    signals = [signal for proposal in proposals for signal in proposal.signals]
    memories = sorted({each.memory_id for each in signals if each.memory_id})
    sources = sorted({each.source_id for each in signals if each.source_id})
    if not memories and not sources:
        return ForgottenOrigins()
    with engine.store.read_session():
        items: list[Memory | Source] = [*engine.store.fetch(scope, memories)]
        items += engine.live_sources(scope, sources)
        ids = {
            item.id
            for item in items
            if item.state is State.SOFT_DELETED and _is_due(item.purge_at, due)
        }
        return ForgottenOrigins(frozenset(ids), _hidden_quotes(engine, scope, signals, due))


def _hidden_quotes(
    engine: EngineContext, scope: Scope, signals: Sequence[Signal], due: datetime | None
) -> frozenset[tuple[str, str]]:
    """The quoted words that only hidden turns of their source have."""
    quoted = {(each.source_id, words) for each in signals for words in each.evidence}
    sources = sorted({source for source, _ in quoted if source})
    query = HiddenPassages(sources, purgeable_by=due)
    hidden = engine.store.passages(scope, query).values() if sources else ()
    found = {
        (passage.source_id, words)
        for source, words in quoted
        for passage in hidden
        if passage.source_id == source and words in passage.text
    }
    visible = {source: _visible_text(engine, scope, source) for source, _ in found}
    return frozenset((source, words) for source, words in found if words not in visible[source])


def _visible_text(engine: EngineContext, scope: Scope, source: str) -> str:
    return "\n".join(
        each.text for each in engine.store.passages(scope, PassagesOf(source)).values()
    )


def _is_due(purge_at: datetime | None, due: datetime | None) -> bool:
    return due is None or (purge_at is not None and purge_at <= due)
