"""An edge: how two nodes relate, over one stretch of time.

Two times: valid_from and valid_to are of the world, recorded_at and invalidated_at of the engine. A
contradiction ends one edge and begins another; neither is rewritten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from commonplace.model.graph.words import (
    UNMARKED,
    EdgeKind,
    attitude_word,
    proximity_word,
)
from commonplace.model.memory import Sensitivity
from commonplace.model.time_travel import Then
from commonplace.model.unrated import Unrated

PREFIX = "edge:"
SEARCHED_NOTES = 1000  # characters of notes that an edge is found by


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge(Unrated):
    """Found from either end. ``a`` is the end that its type speaks of first."""

    id: str  # edge:<uuid>
    user_id: str
    a: str
    b: str
    kind: EdgeKind
    type: str  # one word: friend, works-at, part-of
    description: str = ""
    attitude: int = UNMARKED  # 1 to 5
    proximity: int = UNMARKED
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

    def holds(self, then: Then, now: datetime) -> bool:
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
            notes[:SEARCHED_NOTES],
        )
        return " ".join(word for word in words if word)

    # ——— what the delta header asks of every item ———

    @property
    def told(self) -> str:
        return self.description or self.type

    def is_live(self, now: datetime) -> bool:
        return self.stands and (self.valid_to is None or now < self.valid_to)
