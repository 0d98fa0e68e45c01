"""Hits as they are told, with what hangs on them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.language.suspicious import is_suspicious
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import snippets
from commonplace.model.graph.standing import standing
from commonplace.model.graph.words import NodeType
from commonplace.recall.explore.asked import Asked
from commonplace.recall.explore.cut import MENTIONED_NODES, NEIGHBORS, RELATED_NODES
from commonplace.recall.explore.explanation import Explanation
from commonplace.recall.explore.filters import admitted
from commonplace.recall.explore.result import (
    ArtifactHit,
    Episodic,
    ExploreResult,
    Meta,
    NodeSummary,
    RelatedNode,
    RelationshipHit,
    Semantic,
    SemanticNodeHit,
    SourceHit,
)
from commonplace.recall.explore.score import Scored
from commonplace.recall.explore.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was chosen, best first."""

    nodes: Sequence[Scored]
    edges: Sequence[Scored]
    sources: Sequence[Scored]
    artifacts: Sequence[Scored]


def told(
    view: View, asked: Asked, found: Found, query_used: tuple[str, ...], now: datetime
) -> ExploreResult:
    telling = _Telling(view, asked, now)
    nodes = [telling.node(hit) for hit in found.nodes]
    return ExploreResult(
        meta=Meta(granularity=asked.granularity, query_used=query_used),
        semantic=Semantic(
            people=tuple(n for n in nodes if n.node_type is NodeType.PERSON),
            concepts=tuple(n for n in nodes if n.node_type is NodeType.CONCEPT),
            entities=tuple(n for n in nodes if n.node_type is NodeType.ENTITY),
            relationships=tuple(map(telling.edge, found.edges)),
            neighbors=telling.neighbors(found),
        ),
        episodic=Episodic(
            sources=tuple(map(telling.source, found.sources)),
            artifacts=tuple(map(telling.artifact, found.artifacts)),
        ),
    )


class _Telling:
    def __init__(self, view: View, asked: Asked, now: datetime):
        self._view, self._asked, self._now = view, asked, now
        self._picture = view.picture

    def node(self, hit: Scored) -> SemanticNodeHit:
        node, marks = self._picture.nodes[hit.id], self._picture.marks_of(hit.id)
        stands = standing(node, marks, self._now)
        return SemanticNodeHit(
            entity_key=node.id,
            node_type=node.type,
            name=node.name,
            description=node.description,
            notes_snippets=self._snippets(node.id),
            salience=stands.salience,
            state=stands.state,
            last_accessed_at=marks.touched_at if marks.access_count else None,
            suspicious=_is_planted(node.name, node.description, *self._snippets(node.id)),
            explanation=self._explanation(hit),
        )

    def edge(self, hit: Scored) -> RelationshipHit:
        edge = self._picture.edges[hit.id]
        stands = standing(edge, self._picture.marks_of(hit.id), self._now)
        return RelationshipHit(
            entity_key=edge.id,
            from_entity_key=edge.a,
            to_entity_key=edge.b,
            relationship_kind=edge.kind,
            relationship_type=edge.type,
            description=edge.description,
            attitude=edge.attitude,
            proximity=edge.proximity,
            notes_snippets=self._snippets(edge.id),
            salience=stands.salience,
            state=stands.state,
            suspicious=_is_planted(edge.description, *self._snippets(edge.id)),
            explanation=self._explanation(hit),
        )

    def source(self, hit: Scored) -> SourceHit:
        source = self._picture.sources[hit.id]
        return SourceHit(
            entity_key=source.id,
            summary=source.summary or source.title,
            context_type=source.context_type or "",
            source_type=str(source.source_type),
            started_at=source.started_at or source.created_at,
            ended_at=source.ended_at,
            relevance_score=hit.score,
            mentioned_nodes=tuple(
                _summary(node)
                for node in self._most_salient(self._view.nodes_in.get(source.id, ()))[
                    :MENTIONED_NODES
                ]
            ),
            suspicious=_is_planted(source.title, source.summary),
            explanation=self._explanation(hit),
        )

    def artifact(self, hit: Scored) -> ArtifactHit:
        artifact = self._picture.artifacts[hit.id]
        produced_by = artifact.source.id if artifact.source else ""
        related = self._most_salient(self._view.nodes_in.get(produced_by, ()))
        return ArtifactHit(
            entity_key=artifact.id,
            name=artifact.name,
            description=artifact.description,
            content_type=artifact.content_type,
            created_at=artifact.created_at,
            related_nodes=tuple(
                RelatedNode(entity_key=node.id, node_type=node.type, name=node.name)
                for node in related[:RELATED_NODES]
            ),
            suspicious=_is_planted(artifact.name, artifact.description),
            explanation=self._explanation(hit),
        )

    def neighbors(self, found: Found) -> tuple[NodeSummary, ...]:
        """First the other ends of the relationships that are shown, so that each has its names;
        then the most salient ones that the nodes are joined to otherwise."""
        hits = {hit.id for hit in found.nodes}
        shown = [self._picture.edges[hit.id] for hit in found.edges]
        near = dict.fromkeys(end for edge in shown for end in edge.ends if end not in hits)
        touching = {e.id: e for hit in found.nodes for e in self._view.edges_at.get(hit.id, ())}
        holding = (e for e in touching.values() if e.holds(self._asked.then, self._now))
        allowed = admitted(holding, self._asked.relationship_filters)
        others = {end for edge in allowed for end in edge.ends} - hits - near.keys()
        nodes = [*(self._picture.nodes[id] for id in near), *self._most_salient(others)]
        return tuple(map(_summary, nodes[:NEIGHBORS]))

    def _most_salient(self, ids: Iterable[str]) -> list[Node]:
        """Without what is archived."""
        found = []
        for id in ids:
            node = self._picture.nodes.get(id)
            if node is None:
                continue
            stands = standing(node, self._picture.marks_of(id), self._now)
            if self._asked.include_archived or not stands.is_archived:
                found.append((-stands.salience, node.name, node.id, node))
        return [node for *_, node in sorted(found, key=lambda each: each[:3])]

    def _snippets(self, about: str) -> tuple[str, ...]:
        return snippets(self._picture.notes.get(about, ()), self._asked.then.known_at or self._now)

    def _explanation(self, hit: Scored) -> Explanation | None:
        return hit.explanation if self._asked.return_explanations else None


def _is_planted(*words: str) -> bool:
    return is_suspicious("\n".join(words))


def _summary(node: Node) -> NodeSummary:
    return NodeSummary(
        entity_key=node.id, node_type=node.type, name=node.name, description=node.description
    )
