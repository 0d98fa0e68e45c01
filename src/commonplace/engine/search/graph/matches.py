"""Graph matches: items of the caller's graph that match a query, and how well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from commonplace.engine.access import visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.graph.visible_graph import visible_graph
from commonplace.engine.graph_search.asked_edges import find_asked_edges
from commonplace.engine.graph_search.graph_texts import (
    GraphItem,
    SearchableGraph,
    Terms,
    TextRequest,
    category_of,
    edge_terms,
    find_item,
    node_text,
)
from commonplace.engine.graph_search.graph_view import GraphView, match_named_nodes
from commonplace.engine.search.candidates import RecallRequest
from commonplace.engine.search.graph.graph_match import GraphMatch
from commonplace.engine.search.graph.story_matches import MIN_SIMILARITY, StorySearch
from commonplace.language.query.relations import idle_forms
from commonplace.language.query.story_questions import StoryQuestion, parse_story_question
from commonplace.language.text.terms import analyse
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.filters import Filters
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.storylines import is_story_id
from commonplace.model.graph.types import is_description

with lazy_imports(__name__):
    from commonplace.engine.graph.as_of import graph_as_of

MIN_EDGE_TERMS = 2  # an edge is found by its own words from this many on
CLOSEST = 20  # nodes and edges by similarity

# ——— the graph ———


def load_searchable_graph(engine: EngineContext, principal: Principal) -> SearchableGraph | None:
    """The caller's visible graph, as of the requested moment; None if there is none."""
    counters, scope = engine.store.counters(principal.own_scope), principal.own_scope
    if not counters.graph:
        return None
    if principal.team is not None or not engine.moment.is_now:
        return _load_graph(engine, principal)
    graph: SearchableGraph = engine.caches.graph_views.get_or_make(
        ("recall", scope.key, visibility_of(principal)),
        lambda: _load_graph(engine, principal),
        (counters.graph, counters.epoch_of_graph),
    )
    return graph


def _load_graph(engine: EngineContext, principal: Principal) -> SearchableGraph:
    visible = visible_graph(engine, principal).snapshot
    scope, moment = principal.own_scope, engine.moment
    snapshot = visible if moment.is_now else graph_as_of(engine, scope, visible, moment)
    whole = engine.graph_cache.of(principal.own_scope).snapshot
    known = frozenset(snapshot.nodes)
    mentions = tuple(mention for mention in whole.mentions if mention.node in known)
    analysed = engine.caches.graph_terms.get_or_make(
        (principal.own_scope.key, visibility_of(principal), engine.moment), dict
    )
    return SearchableGraph(
        GraphView(replace(snapshot, mentions=mentions), ()), engine.moment, analysed
    )


# ——— matching ———


def asks_for_story(request: RecallRequest) -> bool:
    return request.plan.within.graph and parse_story_question(request.plan.query) is not None


class GraphSearch:
    """One query against one graph."""

    def __init__(self, request: RecallRequest, graph: SearchableGraph):
        self._request, self._graph = request, graph
        self._now = request.engine.clock()
        understood = request.understood
        idle = idle_forms() | understood.idle
        self.terms: Terms = frozenset(t for t in understood.terms if t not in idle)

    @cached_property
    def asked_story(self) -> StoryQuestion | None:
        return parse_story_question(self._request.plan.query)

    def matches(self) -> list[GraphMatch]:
        """The best match of each item, best first."""
        answers = list(self._asked_edges())
        answered = {end for match in answers for end in getattr(match.item, "ends", ())}
        stories = StorySearch(
            self.asked_story,
            self._graph,
            self.terms,
            self._named,
            answered - {self._graph.owner},
            self._now,
            self._similarity,
            is_overview=self._request.understood.is_overview,
            include_archived=self._request.plan.include_archived,
        )
        found = [
            *answers,
            *self._named_nodes(answered),
            *self._by_words(),
            *self._by_meaning(),
            *stories.matches(),
        ]
        best: dict[str, GraphMatch] = {}
        for match in found:
            if match.item.id not in best and self._is_admitted(match):
                best[match.item.id] = match
        return sorted(
            best.values(),
            key=lambda m: (
                not m.is_asked_story,
                not m.is_sure,
                m.is_along,
                -m.evidence,
                m.item.id,
            ),
        )

    def _is_admitted(self, match: GraphMatch) -> bool:
        item, threshold = match.item, self._request.plan.threshold
        is_archived = self._graph.is_archived(item, self._now)
        if is_archived and not self._request.plan.include_archived:
            return False
        if isinstance(item, Artifact) and item.has_ended(self._now):
            return False
        if isinstance(item, Edge) and not item.holds(self._graph.then, self._now):
            return False
        if not _admits(self._request.plan.filters, item, category_of(self._graph, item)):
            return False
        if threshold is None or match.similarity is None:
            return True
        return match.similarity >= threshold

    # ——— nodes ———

    @cached_property
    def _named(self) -> dict[str, Terms]:
        """The nodes that the query names, with the terms of their names."""
        named = match_named_nodes(self._graph.view, self._request.plan.query)
        nodes = self._graph.snapshot.nodes
        return {
            id: frozenset(term for name in nodes[id].names for term in analyse(name))
            for id in named
            if id != self._graph.owner
        }

    @cached_property
    def _rest(self) -> Terms:
        """The terms of the query beside the names."""
        return self.terms.difference(*self._named.values())

    def _named_nodes(self, answered: set[str]) -> Iterator[GraphMatch]:
        """``answered``: the ends of edges that answer the question; their text repeats it."""
        for id, names in self._named.items():
            node = self._graph.snapshot.nodes[id]
            request = TextRequest(self._now, self.terms)
            text = set(analyse(node_text(self._graph, node, request))) | names
            held = len(self.terms & text) / len(self.terms) if self.terms else 1.0
            is_sure = id not in answered and self._rest <= text
            yield GraphMatch(node, held, self._similarity(id), is_named=True, is_sure=is_sure)

    def _by_words(self) -> Iterator[GraphMatch]:
        """Items whose own words, with their names, hold all terms of the query."""
        for id, terms in self._graph.terms.items():
            if self.terms.isdisjoint(terms):
                continue
            item, missing = self._item(id), self.terms - terms
            names = self._graph.view.terms_of_names(id) if isinstance(item, Node) else frozenset()
            is_enough = len(self.terms) >= MIN_EDGE_TERMS or not isinstance(item, Edge)
            if not is_enough or not missing <= names:
                continue
            said = self._graph.live_terms(id, self._now)
            if self.terms & said and self.terms <= said | names:
                yield GraphMatch(item, 1.0, self._similarity(id))

    # ——— edges ———

    def _asked_edges(self) -> Iterator[GraphMatch]:
        """Edges with a relationship that the question asks for, at somebody whom it names."""
        holders, graph = list(self._named), self._graph
        of_the_user = self._request.understood.question.of_the_user
        if graph.owner and (of_the_user or (self.asked_story and not holders)):  # "how is work?"
            holders.append(graph.owner)
        for asked in find_asked_edges(
            graph.view,
            self._request.plan.query,
            holders,
            lambda node: graph.edges_at(node, self._now),
        ):
            edge = asked.edge
            if asked.holder == graph.owner and self._is_of_others(edge):
                continue
            names = frozenset[str]().union(*(self._named.get(end, ()) for end in edge.ends))
            if self._rest <= asked.words | names | edge_terms(graph, edge):
                yield GraphMatch(edge, 1.0, self._similarity(edge.id), is_answer=True)

    def _is_of_others(self, edge: Edge) -> bool:
        """Whether the query names somebody else: "how is Otis related to me?" asks for no other
        relative."""
        return bool(self._named) and self._named.keys().isdisjoint(edge.ends)

    # ——— meaning ———

    @cached_property
    def _similarities(self) -> Mapping[str, float]:
        """The calibrated similarity of each visible item. Vectors are those of today, so
        a point in time is searched by words."""
        request, vectors = self._request, self._request.vectors
        if not vectors or not vectors[0].any() or not self._graph.then.is_now:
            return {}
        cached = request.engine.graph_cache.of(request.principal.own_scope)
        if not len(cached.ids):
            return {}
        found = request.engine.similarities(
            np.vecdot(cached.matrix, vectors[0]), request.plan.query
        )
        if found is None:
            return {}
        snapshot = self._graph.snapshot
        return {
            id: float(similarity)
            for id, similarity in zip(cached.ids, found, strict=True)
            if id in snapshot.nodes or id in snapshot.edges or snapshot.story(id)
        }

    def _similarity(self, id: str) -> float | None:
        found = self._similarities.get(id)
        return None if found is None else round(found, 6)

    def _by_meaning(self) -> Iterator[GraphMatch]:
        near = [
            each
            for each in self._similarities.items()
            if each[1] >= MIN_SIMILARITY and not is_story_id(each[0])
        ]
        for id, _ in sorted(near, key=lambda each: (-each[1], each[0]))[:CLOSEST]:
            item = self._item(id)
            held = len(self.terms & self._all_terms(item)) / max(1, len(self.terms))
            is_by_words = (
                isinstance(item, Edge)
                or _is_described(item)  # "my sister" is like "my son"
                or self._graph.has_expired_notes(id, self._now)
            )
            if held or not is_by_words:
                yield GraphMatch(item, held, self._similarity(id))

    def _all_terms(self, item: GraphItem) -> Terms:
        if isinstance(item, Edge):
            return edge_terms(self._graph, item)
        return self._graph.live_terms(item.id, self._now)

    def _item(self, id: str) -> GraphItem:
        item = find_item(self._graph, id)
        if item is None:
            raise LookupError(f"{id} is not in the graph that was searched")
        return item


def _is_described(item: GraphItem) -> bool:
    return isinstance(item, Node) and all(map(is_description, item.names))


def _admits(filters: Filters, item: GraphItem, category: str) -> bool:
    created, updated = item.created_at, item.updated_at
    return (
        (not filters.categories or category in filters.categories)
        and (filters.created_after is None or created > filters.created_after)
        and (filters.created_before is None or created < filters.created_before)
        and (filters.updated_after is None or updated > filters.updated_after)
        and (filters.updated_before is None or updated < filters.updated_before)
    )
