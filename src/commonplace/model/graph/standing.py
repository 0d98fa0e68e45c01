"""How present a thing of the graph is at a moment, and the state that follows. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.salience import Marks, Presence, presence, salience_at
from commonplace.model.source import Source
from commonplace.model.ttl_policy import EPISODIC_DAYS, SEMANTIC_DAYS, TtlPolicy


@dataclass(frozen=True, slots=True)
class Standing:
    salience: float
    state: Presence

    @property
    def is_archived(self) -> bool:
        return self.state is Presence.ARCHIVED


def standing(thing: Node | Edge | Source | Artifact, marks: Marks, now: datetime) -> Standing:
    """The owner, and what is kept for ever, stay as present as can be; what is ephemeral is
    archived on its day, however often it was read."""
    policy = thing.ttl_policy if isinstance(thing, _WITH_POLICY) else TtlPolicy.DECAY
    is_kept = policy is TtlPolicy.KEEP_FOREVER or (isinstance(thing, Node) and thing.is_owner)
    confidence = thing.confidence if isinstance(thing, _TOLD) else None
    salience = salience_at(
        marks, thing.created_at, now, confidence=confidence, keep_forever=is_kept
    )
    if policy is TtlPolicy.EPHEMERAL and not is_kept and now >= _last_day(thing):
        return Standing(salience, Presence.ARCHIVED)
    return Standing(salience, presence(marks, salience, keep_forever=is_kept))


_TOLD = (Node, Edge)
_WITH_POLICY = (Node, Artifact, Source)


def _last_day(thing: Node | Edge | Source | Artifact) -> datetime:
    days = SEMANTIC_DAYS if isinstance(thing, Node) else EPISODIC_DAYS
    return thing.created_at + timedelta(days=days)
