"""Which relationships count at all. Applied before anything is scored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from commonplace.language.normalise import fold_case
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.relationships import relationship


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipFilters:
    """None and empty mean "any"."""

    min_attitude: int | None = None
    max_attitude: int | None = None
    min_proximity: int | None = None
    max_proximity: int | None = None
    relationship_types: tuple[str, ...] = ()
    exclude_relationship_types: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self == NO_FILTERS


NO_FILTERS = RelationshipFilters()


def admitted(edges: Iterable[Edge], filters: RelationshipFilters) -> list[Edge]:
    wanted = _as_kept(filters.relationship_types)
    refused = _as_kept(filters.exclude_relationship_types)
    return [
        edge
        for edge in edges
        if _within(edge.attitude, filters.min_attitude, filters.max_attitude)
        and _within(edge.proximity, filters.min_proximity, filters.max_proximity)
        and (not wanted or _one_word(edge.type) in wanted)
        and _one_word(edge.type) not in refused
    ]


def _within(value: int, low: int | None, high: int | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _as_kept(types: Iterable[str]) -> frozenset[str]:
    """Who asks for "manages" means the edges that are kept the other way round, too."""
    written = [_one_word(each) for each in types]
    return frozenset([*written, *filter(None, (relationship(each).inverse for each in written))])


def _one_word(type: str) -> str:
    return "-".join(fold_case(type).replace("_", " ").split())
