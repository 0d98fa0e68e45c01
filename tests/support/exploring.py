"""explore over a picture made by hand, and its hits by id."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from commonplace.model.graph.picture import Picture
from commonplace.recall.explore.asked import asked_for
from commonplace.recall.explore.explore import explore
from commonplace.recall.explore.gather import Given
from commonplace.recall.explore.result import ExploreResult
from commonplace.recall.explore.view import View
from support.clock import START


def explored(
    picture: Picture,
    given: Given | None = None,
    now: datetime = START,
    granularity: int = 1,
    **asked: Any,
) -> ExploreResult:
    return explore(
        View(picture), asked_for(granularity=granularity, **asked), given or Given(), now
    )


def nodes_of(found: ExploreResult) -> list[str]:
    semantic = found.semantic
    return [
        hit.entity_key
        for hits in (semantic.people, semantic.concepts, semantic.entities)
        for hit in hits
    ]


def edges_of(found: ExploreResult) -> list[str]:
    return [hit.entity_key for hit in found.semantic.relationships]


def sources_of(found: ExploreResult) -> list[str]:
    return [hit.entity_key for hit in found.episodic.sources]


def names_of(hits: Any) -> list[str]:
    return [hit.name for hit in hits]
