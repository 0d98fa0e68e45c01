"""Explore result: the response shapes, and why each hit was found.

Names and shapes are part of the public contract, and responses include every field. `explanation`
is set only on request.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from commonplace.model.graph.salience import SalienceState
from commonplace.model.graph.types import EdgeKind, NodeType


class MatchedBy(StrEnum):
    QUERY = "query"  # by vector similarity
    EXACT = "exact"  # by the same words
    FUZZY = "fuzzy"  # by similar words
    RELATIONSHIP = "relationship"  # through an edge that matched
    NODE = "node"  # through a node, storyline or macro that matched or is a hit
    OPEN = "open"  # there was no query


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreMatch:
    by: MatchedBy
    asked: str  # the query or text that matched
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreParts:
    """The contribution of each signal; their sum is the score."""

    semantic: float
    time: float
    salience: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    score: float
    parts: ScoreParts
    similarity: float  # the best of all matches
    semantic: float  # after rank fusion of several queries
    recency: float
    salience: float
    days_since_update: float
    matches: tuple[ExploreMatch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSummary:
    entity_key: str
    node_type: NodeType
    name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticNodeHit:
    entity_key: str
    node_type: NodeType
    name: str
    description: str
    notes_snippets: tuple[str, ...]
    salience: float
    state: SalienceState
    last_accessed_at: datetime | None
    suspicious: bool = False  # its words read like instructions to an agent
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipHit:
    entity_key: str
    from_entity_key: str
    to_entity_key: str
    relationship_kind: EdgeKind
    relationship_type: str
    description: str
    attitude: int
    proximity: int
    notes_snippets: tuple[str, ...]
    salience: float
    state: SalienceState
    suspicious: bool = False  # its words read like instructions to an agent
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StorylineRef:
    storyline_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroRef:
    macro_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHit:
    entity_key: str
    summary: str
    context_type: str
    source_type: str
    started_at: datetime
    ended_at: datetime | None
    relevance_score: float
    mentioned_nodes: tuple[NodeSummary, ...]
    storyline_refs: tuple[StorylineRef, ...] = ()
    macro_refs: tuple[MacroRef, ...] = ()
    brought_by: str | None = None  # the user who ingested it, if another
    suspicious: bool = False  # its words read like instructions to an agent
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopNode:
    entity_key: str
    name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopEntity:
    entity_key: str
    name: str
    type: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePreview:
    entity_key: str
    summary: str
    started_at: datetime
    context_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StorylineHit:
    storyline_id: str
    name: str
    description: str
    relevance_score: float
    source_count: int
    started_at: datetime
    last_source_at: datetime
    anchor: NodeSummary
    top_people: tuple[TopNode, ...]
    top_entities: tuple[TopEntity, ...]
    top_concepts: tuple[TopNode, ...]
    preview_sources: tuple[SourcePreview, ...]
    suspicious: bool = False  # its words read like instructions to an agent
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildStoryline:
    storyline_id: str
    name: str
    one_liner: str
    source_count: int
    started_at: datetime
    last_source_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroHit:
    macro_id: str
    name: str
    description: str
    relevance_score: float
    storyline_count: int
    total_source_count: int
    started_at: datetime
    last_event_at: datetime
    anchor: NodeSummary
    storylines: tuple[ChildStoryline, ...]
    suspicious: bool = False  # its words read like instructions to an agent
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRelatedNode:
    entity_key: str
    node_type: NodeType
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactHit:
    entity_key: str
    name: str
    description: str
    content_type: str
    created_at: datetime
    related_nodes: tuple[ResultRelatedNode, ...]
    suspicious: bool = False  # its words read like instructions to an agent
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    granularity: int
    query_used: tuple[str, ...]  # after widening


@dataclass(frozen=True, slots=True, kw_only=True)
class Semantic:
    people: tuple[SemanticNodeHit, ...] = ()
    concepts: tuple[SemanticNodeHit, ...] = ()
    entities: tuple[SemanticNodeHit, ...] = ()
    relationships: tuple[RelationshipHit, ...] = ()
    neighbors: tuple[NodeSummary, ...] = ()  # at the other end of the hits' relationships


@dataclass(frozen=True, slots=True, kw_only=True)
class Episodic:
    sources: tuple[SourceHit, ...] = ()
    storylines: tuple[StorylineHit | StorylineRef, ...] = ()  # refs: only for context
    macros: tuple[MacroHit | MacroRef, ...] = ()
    artifacts: tuple[ArtifactHit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreResult:
    meta: Meta
    semantic: Semantic
    episodic: Episodic


def hit_ids(result: ExploreResult) -> tuple[tuple[str, ...], ...]:
    """The hits of each kind, best first, for the access log. Neighbours, and storylines and macros
    of which only the name is given, do not count as read."""
    episodic = result.episodic
    return (
        *_keys_of(result),
        tuple(hit.storyline_id for hit in episodic.storylines if isinstance(hit, StorylineHit)),
        tuple(hit.macro_id for hit in episodic.macros if isinstance(hit, MacroHit)),
    )


def _keys_of(result: ExploreResult) -> tuple[tuple[str, ...], ...]:
    semantic, episodic = result.semantic, result.episodic
    return tuple(
        tuple(hit.entity_key for hit in hits)
        for hits in (
            semantic.people,
            semantic.concepts,
            semantic.entities,
            semantic.relationships,
            episodic.sources,
            episodic.artifacts,
        )
    )
