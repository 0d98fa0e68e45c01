"""Graph elements: nodes, edges and artifacts.

Edges are bitemporal: valid_from and valid_to are valid time (the world), recorded_at and
invalidated_at are transaction time (the engine). A contradiction ends one edge and begins another;
neither is rewritten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Self

from commonplace.model.delta import UnratedItem
from commonplace.model.graph.assertion import CitedSource
from commonplace.model.graph.types import (
    NEUTRAL,
    NODE_CATEGORY,
    EdgeKind,
    NodeType,
    attitude_word,
    proximity_word,
)
from commonplace.model.memory.kinds import TtlPolicy, ephemeral_expiry
from commonplace.model.memory.lifecycle import PointInTime
from commonplace.model.memory.memory import Sensitivity

NODE_PREFIX = "node:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentioned:
    """Statistics of a node's mentions in sources, by the sources' own dates."""

    source_count: int = 0
    promotion_score: float = 0.0
    first_at: datetime | None = None
    last_at: datetime | None = None
    days: tuple[date, ...] = ()  # distinct, ascending

    @property
    def distinct_days(self) -> int:
        return len(self.days)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(UnratedItem):
    """All fields but the id, the owner and the lifecycle are computed from its assertions."""

    id: str  # node:<uuid>; the seed's entity_key: it never changes
    user_id: str
    type: NodeType
    name: str
    key: str  # comparison key of the name (a Person's canonical_name); unique per type, subtype
    subtype: str = ""  # of an Entity: organization, location, project, product, event …
    aliases: tuple[str, ...] = ()  # other names, as they were written
    addresses: tuple[str, ...] = ()  # e-mail addresses; they identify a person
    description: str = ""
    is_owner: bool = False
    confidence: float = 0.8
    sensitivity: Sensitivity = Sensitivity.NORMAL  # high: all its assertions are
    ttl_policy: TtlPolicy = TtlPolicy.DECAY
    mentioned: Mentioned = Mentioned()
    is_dirty: bool = False  # has new notes: maintenance rewrites its description
    has_meso: bool = False
    has_macro: bool = False
    merged_into: str | None = None  # the node that it was merged into
    stands: bool = True  # False: inactive, all its sources are forgotten and may be restored
    purge_at: datetime | None = None  # set when a user forgot it: the time of its removal
    created_by: str
    created_at: datetime
    updated_at: datetime
    version: int = 1

    @property
    def ref(self) -> str:
        return f"{self.id}@{self.version}"

    @property
    def category(self) -> str:
        return NODE_CATEGORY[self.type]

    @property
    def stands_for_itself(self) -> bool:
        """Active and not merged: its name is taken, no other node of its type can have it."""
        return self.stands and self.merged_into is None and self.purge_at is None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)

    def evolve(self, **changes: Any) -> Self:
        return replace(self, **changes)

    # ——— DeltaItem ———

    @property
    def headline(self) -> str:
        return f"{self.name} ({self.type})"

    def is_live(self, now: datetime) -> bool:
        return self.stands_for_itself


EDGE_PREFIX = "edge:"
MAX_SEARCHED_NOTES = 1000  # characters of notes in an edge's search text


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge(UnratedItem):
    """Reachable from both ends. ``a`` is the subject of the relationship type."""

    id: str  # edge:<uuid>
    user_id: str
    a: str
    b: str
    kind: EdgeKind
    type: str  # one word: friend, works-at, part-of
    description: str = ""
    attitude: int = NEUTRAL  # 1 to 5
    proximity: int = NEUTRAL
    confidence: float = 0.8
    sensitivity: Sensitivity = Sensitivity.NORMAL
    valid_from: datetime
    valid_to: datetime | None = None  # None: still valid
    recorded_at: datetime
    invalidated_at: datetime | None = None  # when the engine learned of its end
    recorded_by: str
    is_dirty: bool = False
    stands: bool = True
    purge_at: datetime | None = None  # set when a user forgot it: the time of its removal
    created_at: datetime
    updated_at: datetime
    version: int = 1

    @property
    def ref(self) -> str:
        return f"{self.id}@{self.version}"

    @property
    def ends(self) -> tuple[str, str]:
        return self.a, self.b

    def evolve(self, **changes: Any) -> Self:
        return replace(self, **changes)

    def holds(self, then: PointInTime, now: datetime) -> bool:
        """Whether it was valid at ``as_of``, as known at ``known_at``."""
        known = then.known_at or self._present(now)
        at = then.as_of or (now if then.known_at else known)
        if self.recorded_at > known or (self.valid_from > at and not self.is_known_by_its_end):
            return False
        end = self.valid_to_known_at(known)
        return end is None or at < end

    def _present(self, now: datetime) -> datetime:
        """Now, or what was recorded last about it: the clock may have been set back since."""
        return max(now, self.recorded_at, self.invalidated_at or now)

    @property
    def is_known_by_its_end(self) -> bool:
        """Asserted as already over ("I used to live in Haifa"): its start is unknown, so it counts
        as valid at any time before its end."""
        is_recorded_as_over = (
            self.invalidated_at is not None and self.invalidated_at <= self.recorded_at
        )
        return (
            is_recorded_as_over and self.valid_to is not None and self.valid_to <= self.valid_from
        )

    def valid_to_known_at(self, known: datetime) -> datetime | None:
        learned = self.invalidated_at is not None and self.invalidated_at <= known
        return self.valid_to if learned else None

    def search_text(self, notes: str) -> str:
        """The text that is embedded and searched. ``notes``: the live ones, newest first."""
        words = (
            self.description,
            self.type,
            attitude_word(self.kind, self.attitude),
            proximity_word(self.kind, self.proximity),
            notes[:MAX_SEARCHED_NOTES],
        )
        return " ".join(word for word in words if word)

    # ——— DeltaItem ———

    @property
    def headline(self) -> str:
        return self.description or self.type

    def is_live(self, now: datetime) -> bool:
        return self.stands and (self.valid_to is None or self._present(now) < self.valid_to)


ARTIFACT_PREFIX = "artifact:"
ARTIFACT_CATEGORY = "knowledge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact(UnratedItem):
    id: str  # artifact:<uuid>
    user_id: str
    name: str
    content_type: str  # action, md_file, …
    output: Any  # text or any JSON value
    description: str = ""
    source: CitedSource | None = None  # the conversation that produced it
    sensitivity: Sensitivity = Sensitivity.NORMAL
    ttl_policy: TtlPolicy = TtlPolicy.DECAY
    purge_at: datetime | None = None  # set when it was forgotten: the time of its removal
    created_by: str
    created_at: datetime
    updated_at: datetime

    def evolve(self, **changes: Any) -> Self:
        return replace(self, **changes)

    # ——— DeltaItem ———

    @property
    def headline(self) -> str:
        return f"{self.name}: {self.description}" if self.description else self.name

    def is_live(self, now: datetime) -> bool:
        return self.purge_at is None and not self.has_ended(now)

    def has_ended(self, now: datetime) -> bool:
        end = ephemeral_expiry(self.ttl_policy, self.created_at)
        return end is not None and end <= now
