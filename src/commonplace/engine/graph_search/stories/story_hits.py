"""Storylines and macros as hits of explore."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from commonplace.engine.graph_search.explore_candidates import MAX_TOP_NODES, ScoredItem
from commonplace.engine.graph_search.explore_request import ExploreRequest
from commonplace.engine.graph_search.explore_result import (
    ChildStoryline,
    Explanation,
    MacroHit,
    NodeSummary,
    SourcePreview,
    StorylineHit,
    TopEntity,
    TopNode,
)
from commonplace.engine.graph_search.graph_view import GraphView
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.sentences import split_sentences
from commonplace.model.graph.elements import Node
from commonplace.model.graph.salience import current_salience
from commonplace.model.graph.storylines import Storyline
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.lifecycle import source_date


class StoryHitBuilder:
    """``view``: of a snapshot in which every source of a storyline may be read."""

    def __init__(self, view: GraphView, request: ExploreRequest, now: datetime):
        self._view, self._request, self._now = view, request, now
        self._snapshot = view.snapshot

    def storyline(self, hit: ScoredItem, previews: Sequence[str]) -> StorylineHit:
        storyline = self._snapshot.storylines[hit.id]
        top = self._top_nodes(storyline)
        shown = [self._preview(id) for id in previews]
        return StorylineHit(
            storyline_id=storyline.id,
            name=storyline.name,
            description=storyline.description,
            relevance_score=hit.score,
            source_count=storyline.source_count,
            started_at=storyline.started_at,
            last_source_at=storyline.last_source_at,
            anchor=self._anchor(storyline.anchor),
            top_people=_of_type(top, NodeType.PERSON),
            top_entities=tuple(map(_top_entity, _first(top, NodeType.ENTITY))),
            top_concepts=_of_type(top, NodeType.CONCEPT),
            preview_sources=tuple(shown),
            suspicious=_is_any_suspicious(
                storyline.name, storyline.description, *(each.summary for each in shown)
            ),
            explanation=self._explanation(hit),
        )

    def macro(self, hit: ScoredItem) -> MacroHit:
        macro = self._snapshot.macros[hit.id]
        children = [self._snapshot.storylines[id] for id in macro.storylines]
        return MacroHit(
            macro_id=macro.id,
            name=macro.name,
            description=macro.description,
            relevance_score=hit.score,
            storyline_count=macro.storyline_count,
            total_source_count=macro.total_source_count,
            started_at=macro.started_at,
            last_event_at=macro.last_event_at,
            anchor=self._anchor(macro.anchor),
            storylines=tuple(map(present_child, children)),
            suspicious=_is_any_suspicious(
                macro.name, macro.description, *(each.headline for each in children)
            ),
            explanation=self._explanation(hit),
        )

    def _anchor(self, id: str) -> NodeSummary:
        return summarise_node(self._snapshot.nodes[id])

    def _preview(self, id: str) -> SourcePreview:
        source = self._snapshot.sources[id]
        return SourcePreview(
            entity_key=source.id,
            summary=source.summary or source.title,
            started_at=source_date(source),
            context_type=source.context_type or "",
        )

    def _top_nodes(self, storyline: Storyline) -> list[Node]:
        """The nodes that most of its sources mention, besides the anchor and the owner; then the
        most salient."""
        counts = Counter(
            node for source in storyline.sources for node in self._view.nodes_in.get(source.id, ())
        )
        left_out = {storyline.anchor, self._view.owner}
        nodes = self.most_salient(id for id in counts if id not in left_out)
        return sorted(nodes, key=lambda node: -counts[node.id])

    def most_salient(self, ids: Iterable[str]) -> list[Node]:
        """Archived nodes are left out unless requested."""
        found = []
        for id in ids:
            node = self._snapshot.nodes.get(id)
            if node is None:
                continue
            current = current_salience(node, self._snapshot.marks_of(id), self._now)
            if self._request.include_archived or not current.is_archived:
                found.append((-current.salience, node.name, node.id, node))
        return [node for *_, node in sorted(found, key=lambda each: each[:3])]

    def _explanation(self, hit: ScoredItem) -> Explanation | None:
        return hit.explanation if self._request.return_explanations else None


def present_child(storyline: Storyline) -> ChildStoryline:
    return ChildStoryline(
        storyline_id=storyline.id,
        name=storyline.name,
        one_liner=first_sentence(storyline.description),
        source_count=storyline.source_count,
        started_at=storyline.started_at,
        last_source_at=storyline.last_source_at,
    )


def first_sentence(text: str) -> str:
    return next(iter(split_sentences(text)), "")


def summarise_node(node: Node) -> NodeSummary:
    return NodeSummary(
        entity_key=node.id, node_type=node.type, name=node.name, description=node.description
    )


def _first(nodes: Iterable[Node], type: NodeType) -> list[Node]:
    return [node for node in nodes if node.type is type][:MAX_TOP_NODES]


def _of_type(nodes: Iterable[Node], type: NodeType) -> tuple[TopNode, ...]:
    return tuple(
        TopNode(entity_key=node.id, name=node.name, description=node.description)
        for node in _first(nodes, type)
    )


def _top_entity(node: Node) -> TopEntity:
    return TopEntity(
        entity_key=node.id, name=node.name, type=node.subtype, description=node.description
    )


def _is_any_suspicious(*words: str) -> bool:
    return is_suspicious("\n".join(words))
