"""How present a thing of the graph is at a moment, and the state that follows. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node, TtlPolicy
from commonplace.model.salience import Marks, Presence, presence, salience_at
from commonplace.model.source import Source

SEMANTIC_DAYS = 90  # of what is ephemeral
EPISODIC_DAYS = 30


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
    keep_forever = _is_kept(thing)
    confidence = thing.confidence if isinstance(thing, Node | Edge) else None
    salience = salience_at(
        marks, thing.created_at, now, confidence=confidence, keep_forever=keep_forever
    )
    if _has_ended(thing, now):
        return Standing(salience, Presence.ARCHIVED)
    return Standing(salience, presence(marks, salience, keep_forever=keep_forever))


def _policy(thing: Node | Edge | Source | Artifact) -> TtlPolicy:
    return thing.ttl_policy if isinstance(thing, Node | Artifact) else TtlPolicy.DECAY


def _is_kept(thing: Node | Edge | Source | Artifact) -> bool:
    is_owner = isinstance(thing, Node) and thing.is_owner
    return is_owner or _policy(thing) is TtlPolicy.KEEP_FOREVER


def _has_ended(thing: Node | Edge | Source | Artifact, now: datetime) -> bool:
    if _policy(thing) is not TtlPolicy.EPHEMERAL or _is_kept(thing):
        return False
    days = SEMANTIC_DAYS if isinstance(thing, Node) else EPISODIC_DAYS
    return now >= thing.created_at + timedelta(days=days)
