"""Graph elements: nodes, edges and artifacts.

Two times: valid_from and valid_to are of the world, recorded_at and invalidated_at of the engine. A
contradiction ends one edge and begins another; neither is rewritten.
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
    """How often the sources speak of a node, by the sources' own dates."""

    source_count: int = 0
    promotion_score: float = 0.0
    first_at: datetime | None = None
    last_at: datetime | None = None
    days: tuple[date, ...] = ()  # distinct ones, in order

    @property
    def distinct_days(self) -> int:
        return len(self.days)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(UnratedItem):
    """All but its id, its owner and its lifecycle is folded from what was told of it."""

    id: str  # node:<uuid>; the seed's entity_key: it never changes
    user_id: str
    type: NodeType
    name: str
    key: str  # the name as it is compared (a Person's canonical_name); unique with the types
    subtype: str = ""  # of an Entity: organization, location, project, product, event …
    aliases: tuple[str, ...] = ()  # other names, as they were written
    addresses: tuple[str, ...] = ()  # of e-mail, by which a person is known again
    description: str = ""
    is_owner: bool = False
    confidence: float = 0.8
    sensitivity: Sensitivity = Sensitivity.NORMAL  # high: all that tells of it is
    ttl_policy: TtlPolicy = TtlPolicy.DECAY
    mentioned: Mentioned = Mentioned()
    is_dirty: bool = False  # notes came: the night describes it anew
    has_meso: bool = False
    has_macro: bool = False
    merged_into: str | None = None  # another node speaks for it
    stands: bool = True  # False: all that told of it is forgotten, and may come back
    purge_at: datetime | None = None  # it was forgotten by hand, and is gone from then on
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
        """Its name is its own: no other node of its type can have it."""
        return self.stands and self.merged_into is None and self.purge_at is None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)

    def evolve(self, **changes: Any) -> Self:
        return replace(self, **changes)

    # ——— what the delta header asks of every item ———

    @property
    def told(self) -> str:
        return f"{self.name} ({self.type})"

    def is_live(self, now: datetime) -> bool:
        return self.stands_for_itself


EDGE_PREFIX = "edge:"
MAX_SEARCHED_NOTES = 1000  # characters of notes that an edge is found by


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge(UnratedItem):
    """Found from either end. ``a`` is the end that its type speaks of first."""

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
    valid_to: datetime | None = None  # None: it holds
    recorded_at: datetime
    invalidated_at: datetime | None = None  # when the engine learned that it is over
    recorded_by: str
    is_dirty: bool = False
    stands: bool = True
    purge_at: datetime | None = None  # it was forgotten by hand, and is gone from then on
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
        """Whether it was true at ``as_of``, by what was known at ``known_at``."""
        at, known = then.as_of or now, then.known_at or now
        if self.recorded_at > known or (self.valid_from > at and not self.is_known_by_its_end):
            return False
        end = self.valid_to_known_at(known)
        return end is None or at < end

    @property
    def is_known_by_its_end(self) -> bool:
        """It was over as soon as it was told: "I used to live in Haifa". Since when it was so
        nobody said; before its end it was."""
        is_told_as_over = (
            self.invalidated_at is not None and self.invalidated_at <= self.recorded_at
        )
        return is_told_as_over and self.valid_to is not None and self.valid_to <= self.valid_from

    def valid_to_known_at(self, known: datetime) -> datetime | None:
        learned = self.invalidated_at is not None and self.invalidated_at <= known
        return self.valid_to if learned else None

    def search_text(self, notes: str) -> str:
        """What it is found by. ``notes``: the live ones, newest first."""
        words = (
            self.description,
            self.type,
            attitude_word(self.kind, self.attitude),
            proximity_word(self.kind, self.proximity),
            notes[:MAX_SEARCHED_NOTES],
        )
        return " ".join(word for word in words if word)

    # ——— what the delta header asks of every item ———

    @property
    def told(self) -> str:
        return self.description or self.type

    def is_live(self, now: datetime) -> bool:
        return self.stands and (self.valid_to is None or now < self.valid_to)


ARTIFACT_PREFIX = "artifact:"
ARTIFACT_CATEGORY = "knowledge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact(UnratedItem):
    id: str  # artifact:<uuid>
    user_id: str
    name: str
    content_type: str  # action, md_file, …
    output: Any  # text, or what JSON can hold
    description: str = ""
    source: CitedSource | None = None  # the conversation that produced it
    sensitivity: Sensitivity = Sensitivity.NORMAL
    ttl_policy: TtlPolicy = TtlPolicy.DECAY
    purge_at: datetime | None = None  # it was forgotten, and is gone from then on
    created_by: str
    created_at: datetime
    updated_at: datetime

    def evolve(self, **changes: Any) -> Self:
        return replace(self, **changes)

    # ——— what the delta header asks of every item ———

    @property
    def told(self) -> str:
        return f"{self.name}: {self.description}" if self.description else self.name

    def is_live(self, now: datetime) -> bool:
        return self.purge_at is None and not self.has_ended(now)

    # ——— its end ———

    def has_ended(self, now: datetime) -> bool:
        end = ephemeral_expiry(self.ttl_policy, self.created_at)
        return end is not None and end <= now
