"""Explore answer: the selected items in the shapes of the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.engine.graph_search.explore_candidates import (
    MAX_MENTIONED_NODES,
    MAX_NEIGHBORS,
    MAX_RELATED_NODES,
    ScoredItem,
)
from commonplace.engine.graph_search.explore_request import ExploreRequest, filter_edges
from commonplace.engine.graph_search.explore_result import (
    ArtifactHit,
    Episodic,
    Explanation,
    ExploreResult,
    MacroHit,
    MacroRef,
    Meta,
    NodeSummary,
    RelationshipHit,
    ResultRelatedNode,
    Semantic,
    SemanticNodeHit,
    SourceHit,
    StorylineHit,
    StorylineRef,
)
from commonplace.engine.graph_search.graph_view import GraphView
from commonplace.engine.graph_search.stories.story_hits import StoryHitBuilder, summarise_node
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.model.graph.assertion import note_snippets
from commonplace.model.graph.elements import Node
from commonplace.model.graph.salience import current_salience
from commonplace.model.graph.types import NodeType
from commonplace.model.parameters import MACRO, MESO
from commonplace.model.sources.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreHits:
    """The selected items, best first."""

    nodes: Sequence[ScoredItem]
    edges: Sequence[ScoredItem]
    sources: Sequence[ScoredItem]
    artifacts: Sequence[ScoredItem]
    storylines: Sequence[ScoredItem] = ()
    macros: Sequence[ScoredItem] = ()
    previews: Mapping[str, Sequence[str]] = field(default_factory=dict)  # sources, by storyline


def build_result(
    view: GraphView,
    request: ExploreRequest,
    hits: ExploreHits,
    query_used: tuple[str, ...],
    now: datetime,
    reader: str | None = None,
) -> ExploreResult:
    builder = _ResultBuilder(view, request, now, reader)
    nodes = [builder.node(hit) for hit in hits.nodes]
    return ExploreResult(
        meta=Meta(granularity=request.granularity, query_used=query_used),
        semantic=Semantic(
            people=tuple(n for n in nodes if n.node_type is NodeType.PERSON),
            concepts=tuple(n for n in nodes if n.node_type is NodeType.CONCEPT),
            entities=tuple(n for n in nodes if n.node_type is NodeType.ENTITY),
            relationships=tuple(map(builder.edge, hits.edges)),
            neighbors=builder.neighbors(hits),
        ),
        episodic=Episodic(
            sources=tuple(map(builder.source, hits.sources)),
            storylines=builder.storylines(hits),
            macros=builder.macros(hits),
            artifacts=tuple(map(builder.artifact, hits.artifacts)),
        ),
    )


class _ResultBuilder:
    def __init__(self, view: GraphView, request: ExploreRequest, now: datetime, reader: str | None):
        self._view, self._request, self._now, self._reader = view, request, now, reader
        self._snapshot = view.snapshot
        self._stories = StoryHitBuilder(view, request, now)

    def node(self, hit: ScoredItem) -> SemanticNodeHit:
        node, marks = self._snapshot.nodes[hit.id], self._snapshot.marks_of(hit.id)
        current = current_salience(node, marks, self._now)
        return SemanticNodeHit(
            entity_key=node.id,
            node_type=node.type,
            name=node.name,
            description=node.description,
            notes_snippets=self._snippets(node.id),
            salience=current.salience,
            state=current.state,
            last_accessed_at=marks.touched_at if marks.access_count else None,
            suspicious=_is_any_suspicious(node.name, node.description, *self._snippets(node.id)),
            explanation=self._explanation(hit),
        )

    def edge(self, hit: ScoredItem) -> RelationshipHit:
        edge = self._snapshot.edges[hit.id]
        current = current_salience(edge, self._snapshot.marks_of(hit.id), self._now)
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
            salience=current.salience,
            state=current.state,
            suspicious=_is_any_suspicious(edge.description, *self._snippets(edge.id)),
            explanation=self._explanation(hit),
        )

    def source(self, hit: ScoredItem) -> SourceHit:
        source = self._snapshot.sources[hit.id]
        return SourceHit(
            entity_key=source.id,
            summary=source.summary or source.title,
            context_type=source.context_type or "",
            source_type=str(source.source_type),
            started_at=source.started_at or source.created_at,
            ended_at=source.ended_at,
            relevance_score=hit.score,
            mentioned_nodes=tuple(
                summarise_node(node)
                for node in self._most_salient(self._view.nodes_in.get(source.id, ()))[
                    :MAX_MENTIONED_NODES
                ]
            ),
            storyline_refs=tuple(self._storyline_ref(id) for id in self._storylines_of(source.id)),
            macro_refs=tuple(
                MacroRef(macro_id=id, name=self._snapshot.macros[id].name)
                for id in dict.fromkeys(
                    macro
                    for storyline in self._storylines_of(source.id)
                    for macro in self._view.macros_of.get(storyline, ())
                )
            ),
            brought_by=source.user_id if is_of_another(source, self._reader) else None,
            suspicious=_is_any_suspicious(source.title, source.summary),
            explanation=self._explanation(hit),
        )

    def artifact(self, hit: ScoredItem) -> ArtifactHit:
        artifact = self._snapshot.artifacts[hit.id]
        source_id = artifact.source.id if artifact.source else ""
        related = self._most_salient(self._view.nodes_in.get(source_id, ()))
        return ArtifactHit(
            entity_key=artifact.id,
            name=artifact.name,
            description=artifact.description,
            content_type=artifact.content_type,
            created_at=artifact.created_at,
            related_nodes=tuple(
                ResultRelatedNode(entity_key=node.id, node_type=node.type, name=node.name)
                for node in related[:MAX_RELATED_NODES]
            ),
            suspicious=_is_any_suspicious(artifact.name, artifact.description),
            explanation=self._explanation(hit),
        )

    # ——— storylines and macros ———

    def storylines(self, hits: ExploreHits) -> tuple[StorylineHit | StorylineRef, ...]:
        """Granularity 3 has those of its macros; only granularity 2 has them in full."""
        if self._request.granularity == MESO:
            build = self._stories.storyline
            return tuple(build(hit, hits.previews.get(hit.id, ())) for hit in hits.storylines)
        return tuple(self._storyline_ref(hit.id) for hit in hits.storylines)

    def macros(self, hits: ExploreHits) -> tuple[MacroHit | MacroRef, ...]:
        if self._request.granularity == MACRO:
            return tuple(map(self._stories.macro, hits.macros))
        macros = self._snapshot.macros
        return tuple(MacroRef(macro_id=each.id, name=macros[each.id].name) for each in hits.macros)

    def _storyline_ref(self, id: str) -> StorylineRef:
        return StorylineRef(storyline_id=id, name=self._snapshot.storylines[id].name)

    def _storylines_of(self, source: str) -> Sequence[str]:
        return self._view.storylines_of.get(source, ())

    def neighbors(self, hits: ExploreHits) -> tuple[NodeSummary, ...]:
        """First the other ends of the shown relationships, so that each end has a name; then the
        most salient of the other adjacent nodes."""
        node_ids = {hit.id for hit in hits.nodes}
        shown = [self._snapshot.edges[hit.id] for hit in hits.edges]
        shown_ends = dict.fromkeys(
            end for edge in shown for end in edge.ends if end not in node_ids
        )
        adjacent = {e.id: e for hit in hits.nodes for e in self._view.edges_at.get(hit.id, ())}
        holding = (e for e in adjacent.values() if e.holds(self._request.then, self._now))
        allowed = filter_edges(holding, self._request.relationship_filters)
        others = {end for edge in allowed for end in edge.ends} - node_ids - shown_ends.keys()
        nodes = [*(self._snapshot.nodes[id] for id in shown_ends), *self._most_salient(others)]
        return tuple(map(summarise_node, nodes[:MAX_NEIGHBORS]))

    def _most_salient(self, ids: Iterable[str]) -> list[Node]:
        return self._stories.most_salient(ids)

    def _snippets(self, about: str) -> tuple[str, ...]:
        return note_snippets(
            self._snapshot.notes.get(about, ()), self._request.then.known_at or self._now
        )

    def _explanation(self, hit: ScoredItem) -> Explanation | None:
        return hit.explanation if self._request.return_explanations else None


def is_of_another(source: Source, reader: str | None) -> bool:
    return reader is not None and source.user_id != reader


def _is_any_suspicious(*words: str) -> bool:
    return is_suspicious("\n".join(words))
