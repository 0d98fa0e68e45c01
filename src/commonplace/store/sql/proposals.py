"""Proposals on any SQL database: the steps of a changeset that are about them, and their rows."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any

from commonplace.model.changes import Settle
from commonplace.model.journal import Event
from commonplace.model.proposal import Proposal, Signal, SignalKind
from commonplace.model.scope import Scope
from commonplace.store.sql.rows import Row, instant, micros, to_json
from commonplace.store.sql.session import Session


class SqlProposals(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """One consistent view of one scope."""

    def proposals(self, scope: Scope) -> list[Proposal]:
        with self._reading(scope) as session:
            return [_proposal_from(row) for row in session.rows("proposals")]


def insert_proposals(session: Session, proposals: Sequence[Proposal]) -> None:
    session.run_many("insert_proposal", [_values(proposal) for proposal in proposals])


def settle(session: Session, step: Settle) -> None:
    session.run("delete_proposals", ids=list(step.ids))
    if step.entry.event is Event.ERASE:
        for id in step.ids:
            session.run("silence_proposal", id=id)


def _values(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "name": proposal.name,
        "value": to_json(proposal.value),
        "signals": to_json([_signal_values(signal) for signal in proposal.signals]),
        "reason": proposal.reason,
        "proposed_at": micros(proposal.proposed_at),
        "ends_at": micros(proposal.ends_at),
    }


def _signal_values(signal: Signal) -> dict[str, Any]:
    return {**asdict(signal), "at": micros(signal.at)}


def _proposal_from(row: Row) -> Proposal:
    id, name, value, signals, reason, proposed_at, ends_at = row
    return Proposal(
        id=id,
        name=name,
        value=json.loads(value),
        signals=tuple(map(_signal_from, json.loads(signals))),
        reason=reason,
        proposed_at=instant(proposed_at),
        ends_at=instant(ends_at),
    )


def _signal_from(values: dict[str, Any]) -> Signal:
    told = {
        "at": instant(values["at"]),
        "kind": SignalKind(values["kind"]),
        "evidence": tuple(values["evidence"]),
    }
    return Signal(**{**values, **told})
