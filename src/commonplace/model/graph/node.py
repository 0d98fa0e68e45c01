"""A node: a person, a concept or a thing, as one user knows it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Self

from commonplace.model.graph.words import CATEGORY, NodeType
from commonplace.model.memory import Sensitivity
from commonplace.model.ttl_policy import TtlPolicy
from commonplace.model.unrated import Unrated

PREFIX = "node:"


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
class Node(Unrated):
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
        return CATEGORY[self.type]

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
