"""An artifact: something that an agent made for a user. Always personal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from commonplace.model.graph.telling import Cited
from commonplace.model.memory import Sensitivity
from commonplace.model.ttl_policy import TtlPolicy, episodic_end
from commonplace.model.unrated import Unrated

PREFIX = "artifact:"
CATEGORY = "knowledge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact(Unrated):
    id: str  # artifact:<uuid>
    user_id: str
    name: str
    content_type: str  # action, md_file, …
    output: Any  # text, or what JSON can hold
    description: str = ""
    source: Cited | None = None  # the conversation that produced it
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
        end = episodic_end(self.ttl_policy, self.created_at)
        return end is not None and end <= now
