"""Expired notes of nodes and edges are removed, from search texts and vectors, too."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.remove import remove_expired_notes
from commonplace.engine.maintenance.sleep.task import Batch, Decide, Night, NightAction
from commonplace.model.access.principal import Scope
from commonplace.model.graph.steps import RemoveNotes
from commonplace.model.sleep import SLEEP_ACTOR

EXPIRED_NOTES = "expired notes"


def run_notes(night: Night) -> Decide:
    def decide() -> Batch:
        found = remove_notes(night.engine, night.scope, night.now, night.actions_at_once)
        return Batch(found, has_more=bool(found))

    return decide


def remove_notes(
    engine: EngineContext, scope: Scope, now: datetime, limit: int
) -> Sequence[NightAction]:
    """One action for all: several notes may be about one node. A note that has expired is shown
    nowhere, so there is nothing to undo."""
    steps = remove_expired_notes(engine, scope, SLEEP_ACTOR, now, limit)
    if not steps:
        return ()
    removed = sum(len(step.ids) for step in steps if isinstance(step, RemoveNotes))
    return [NightAction(EXPIRED_NOTES, steps, items=removed, can_be_undone=False)]
