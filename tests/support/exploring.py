"""explore over a picture made by hand, and its hits by id."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from commonplace.engine.graph_search.explore import explore_snapshot
from commonplace.engine.graph_search.explore_candidates import ExploreInput
from commonplace.engine.graph_search.explore_request import read_explore_request
from commonplace.engine.graph_search.explore_result import ExploreResult
from commonplace.engine.graph_search.graph_view import GraphView
from commonplace.model.graph.snapshot import GraphSnapshot
from support.clock import START


def explored(
    snapshot: GraphSnapshot,
    given: ExploreInput | None = None,
    now: datetime = START,
    granularity: int = 1,
    **asked: Any,
) -> ExploreResult:
    return explore_snapshot(
        GraphView(snapshot),
        read_explore_request(granularity=granularity, **asked),
        given or ExploreInput(),
        now,
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
