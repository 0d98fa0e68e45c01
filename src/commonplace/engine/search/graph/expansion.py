"""Graph expansion: sources reached by PageRank from nodes named in the query.

The graph contains only what the caller may see: the nodes and edges of `graph.visible_graph`, and
sources with a visible passage. Reads do not change the order (access counts are left out of the
salience), and one transition matrix is used for a whole day, so that answers are reproducible.

A multi-hop question names one thing and asks for another; the passages between them share no words
with it. PageRank over nodes and sources finds these. It starts at the nodes named in the question
and, with less weight, at the sources of the best hits. These choices were measured
(docs/graph-in-recall.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time

import numpy as np

from commonplace.engine.access import visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.search.rank import WEIGHTS, Ranked
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.graph.snapshot import GraphSnapshot, SourceMention
from commonplace.model.memory.lifecycle import PointInTime
from commonplace.model.parameters import WALK_DAMPING
from commonplace.model.sources.source import split_passage_id
from commonplace.store.cache.scope_index import Mask, ScopeIndex
from commonplace.store.queries import Counters

with lazy_imports(__name__):
    from commonplace.engine.graph.visible_graph import limit_to_visibility
    from commonplace.engine.graph_search.graph_view import GraphView, find_certain_nodes
    from commonplace.engine.graph_search.pagerank import (
        Scores,
        TransitionMatrix,
        build_transition_matrix,
        pagerank,
    )

SOURCES_SHARE = 0.05  # seed weight of the best hit's source; all nodes together have 1
WIDELY_KNOWN = 0.02  # a node in more than this share of the sources is not specific
ALWAYS_SPECIFIC = 3  # a node in at most this many sources is always specific
EXPANSION_TOLERANCE = 1e-4  # enough for ranking; published scores use a smaller tolerance
MAX_SOURCES = 200
GRAPH_WEIGHT = WEIGHTS.of(
    "graph"
)  # lift of the best reached source, as a share of the best hit's score


def score_sources(
    view: GraphView,
    matrix: TransitionMatrix,
    *,
    names: Iterable[str],
    top_sources: Mapping[str, float],
) -> dict[str, float]:
    """The reached sources, scored as shares of the best. ``names``: nodes named in the question;
    ``top_sources``: with the best score of their passages."""
    weights = {id: specificity(view, id) for id in names}
    return score_sources_from(matrix, weights, top_sources)


def score_sources_from(
    matrix: TransitionMatrix, nodes: Mapping[str, float], top_sources: Mapping[str, float]
) -> dict[str, float]:
    """``nodes``: the seeds with their relative weights. Without a seed node the result is empty:
    sources alone add nothing to the ranking."""
    whole = sum(nodes.values())
    seeds = {
        matrix.slots[id]: weight / whole
        for id, weight in nodes.items()
        if weight > 0 and id in matrix.slots
    }
    if not seeds:
        return {}
    highest = max(top_sources.values(), default=0.0)
    for source, score in top_sources.items():
        if source in matrix.slots and score > 0:
            seeds[matrix.slots[source]] = SOURCES_SHARE * score / highest
    return _best_scores(matrix, pagerank(matrix, seeds, WALK_DAMPING, EXPANSION_TOLERANCE))


def _best_scores(matrix: TransitionMatrix, reached: Scores) -> dict[str, float]:
    scores = reached[matrix.nodes :]
    if not len(scores) or not scores.max():
        return {}
    chosen = np.argsort(-scores, kind="stable")[:MAX_SOURCES]
    highest = float(scores.max())
    return {
        matrix.ids[matrix.nodes + slot]: float(scores[slot]) / highest
        for slot in chosen.tolist()
        if scores[slot]
    }


def specificity(view: GraphView, node: str) -> float:
    """Inverse source frequency of a node; 0 for widely mentioned nodes."""
    sources = len(view.sources_of.get(node, ()))
    most = max(ALWAYS_SPECIFIC, WIDELY_KNOWN * len(view.sources))
    return 0.0 if sources > most else 1 / max(1, sources)


def lift_per_passage(
    graph: Mapping[str, float],
    passages: Mapping[str, int],
    highest: float,
    weight: float = GRAPH_WEIGHT,
) -> dict[str, float]:
    """The lift for each passage of a source. A mention names the source but not the passage, so a
    source's lift is divided by its number of passages: a single paragraph gets all of it, a turn of
    a long conversation almost nothing. ``highest``: the best hit's score."""
    return {id: weight * highest * share / passages.get(id, 1) for id, share in graph.items()}


ADMITTED_LIFT = 0.2  # share of the highest lift that admits a passage without common words
STARTING_HITS = 20  # the best hits, whose sources are seeds, too

CacheKey = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class NamedNodes:
    """The nodes of the caller's graph that a question names."""

    viewer: CacheKey  # scope, visibility and moment
    stamp: CacheKey  # of the graph
    view: GraphView
    nodes: Sequence[str]


@dataclass(frozen=True, slots=True)
class MentioningSources:
    """The visible sources that mention nodes."""

    passages: Mapping[str, int]  # number of passages of each source
    by_title: frozenset[SourceMention]  # documents titled with a node's name


@dataclass(frozen=True, slots=True)
class ExpansionGraph:
    """The graph that PageRank runs on: nodes and visible sources."""

    view: GraphView
    matrix: TransitionMatrix


def find_named_nodes(
    engine: EngineContext, principal: Principal, query: str, counters: Counters
) -> NamedNodes | None:
    """None if the query names no node.
    ``counters``: those of the caller's own index, so that the graph is read from the database only
    after a change."""
    if principal.team is not None:
        return None  # other teams' sources would influence the results of a team's key
    visibility, scope = visibility_of(principal.at(principal.own_scope)), principal.own_scope
    viewer, stamp = (
        (scope.key, visibility, engine.moment),
        (counters.graph, counters.epoch_of_graph),
    )
    view: GraphView = engine.caches.graph_views.get_or_make(
        viewer,
        lambda: GraphView(
            _nodes_known_at(
                limit_to_visibility(engine.graph_cache.of(scope).snapshot, visibility),
                engine.moment,
            ),
            (),
        ),
        stamp,
    )
    nodes = find_certain_nodes(query, view)
    return NamedNodes(viewer, stamp, view, nodes) if nodes else None


def _nodes_known_at(snapshot: GraphSnapshot, then: PointInTime) -> GraphSnapshot:
    """The nodes known at a point in time; edges are checked one by one. The owner's node is left
    out: nearly every node is connected to it."""
    known_at = then.known_at
    nodes = {
        id: node
        for id, node in snapshot.nodes.items()
        if not node.is_owner and (known_at is None or node.created_at <= known_at)
    }
    return replace(snapshot, nodes=nodes)


def find_mentioning_sources(
    held: Iterable[tuple[ScopeIndex, Mask]], named: NamedNodes
) -> MentioningSources:
    """``held``: each index with its mask of visible units."""
    passages: dict[str, int] = {}
    by_title: set[SourceMention] = set()
    for index, visible in held:
        mentions = _title_mentions(index, named.view)
        passages |= _count_passages(index, visible, (*named.view.snapshot.mentions, *mentions))
        by_title |= {mention for mention in mentions if mention.source in passages}
    return MentioningSources(passages, frozenset(by_title))


def _title_mentions(index: ScopeIndex, view: GraphView) -> list[SourceMention]:
    nodes = view.nodes_by_title
    return [
        SourceMention(source, node, view.snapshot.nodes[node].created_at)
        for title in nodes.keys() & index.titles.keys()
        for source in index.titles[title]
        for node in nodes[title]
    ]


def _count_passages(
    index: ScopeIndex, visible: Mask, mentions: Iterable[SourceMention]
) -> dict[str, int]:
    codes = index.words["source_id"].codes
    source_codes = index.coded["source_id"][: index.size][visible & index.passages]
    counts = np.bincount(source_codes, minlength=len(codes))
    mentioning = dict.fromkeys(mention.source for mention in mentions)
    there = ((id, int(counts[codes[id]])) for id in mentioning if id in codes)
    return {id: count for id, count in there if count}


def compute_source_lifts(
    engine: EngineContext,
    named: NamedNodes,
    mentioning: MentioningSources,
    ranked: Sequence[Ranked],
) -> dict[str, float]:
    """The lift for each passage of a source. ``ranked``: best first."""
    graph: ExpansionGraph = engine.caches.expansion_graphs.get_or_make(
        named.viewer,
        lambda: _build_expansion_graph(engine, named.view.snapshot, mentioning),
        (named.stamp, frozenset(mentioning.passages), mentioning.by_title, engine.clock().date()),
    )
    reached = score_sources(
        graph.view, graph.matrix, names=named.nodes, top_sources=_best_sources(ranked)
    )
    return lift_per_passage(reached, mentioning.passages, ranked[0].score)


def _build_expansion_graph(
    engine: EngineContext, snapshot: GraphSnapshot, mentioning: MentioningSources
) -> ExpansionGraph:
    now = engine.clock()
    end_of_day = datetime.combine(now.date(), time.max, now.tzinfo)
    with_titles = replace(snapshot, mentions=(*snapshot.mentions, *mentioning.by_title))
    return ExpansionGraph(
        GraphView(with_titles, mentioning.passages),
        build_transition_matrix(with_titles, end_of_day, engine.moment, mentioning.passages),
    )


def _best_sources(ranked: Iterable[Ranked]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for each, _ in zip(ranked, range(STARTING_HITS), strict=False):
        if each.is_passage:
            scores.setdefault(split_passage_id(each.id)[0], each.score)
    return scores


def graph_lifts(index: ScopeIndex, by_source: Mapping[str, float]) -> dict[int, float]:
    return {
        slot: by
        for source, by in by_source.items()
        if source in index.sources
        for slot in index.sources[source].slots
    }
