"""Graph expansion: sources reached by PageRank from nodes named in the query.

Only what the asker may see is walked: nodes and edges as `graph.seen` has them, and sources of
which the indexes show them a passage. Nothing that is read changes the order (salience by readings
is left out), and one web serves a whole day: the same question has the same answer.

A question of several hops names one thing and asks for another; the passages between them share no
words with it. A walk over nodes and sources finds these: it starts at the nodes that the question
names and, much less, at the sources of the best hits. Each of these choices was measured, and so
was what recall leaves out (docs/graph-in-recall.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time

import numpy as np

from commonplace.engine.access import visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.graph.visible_graph import limit_to_visibility
from commonplace.engine.graph_search.graph_view import GraphView, find_certain_nodes
from commonplace.engine.graph_search.pagerank import (
    DAMPING,
    Scores,
    TransitionMatrix,
    build_transition_matrix,
    has_scipy,
    pagerank,
)
from commonplace.engine.search.rank import WEIGHTS, Ranked
from commonplace.model.access.principal import Principal
from commonplace.model.graph.snapshot import GraphSnapshot, SourceMention
from commonplace.model.memory.lifecycle import PointInTime
from commonplace.model.sources.source import split_passage_id
from commonplace.store.cache.scope_index import Mask, ScopeIndex
from commonplace.store.queries import Counters

SOURCES_SHARE = 0.05  # what the best hit's source counts for, beside all nodes together
WIDELY_KNOWN = 0.02  # a node of more than this share of the sources tells nothing apart
ALWAYS_SPECIFIC = 3  # a node of so few sources always does
EXPANSION_TOLERANCE = 1e-4  # for an order of the best; a score that is told is walked for longer
MAX_SOURCES = 200
GRAPH_WEIGHT = WEIGHTS.of(
    "graph"
)  # what the best reached source is lifted by, of the best hit's score


def score_sources(
    view: GraphView,
    web: TransitionMatrix,
    *,
    names: Iterable[str],
    top_sources: Mapping[str, float],
) -> dict[str, float]:
    """The sources that are reached, as shares of the best of them. ``names``: nodes that the
    question names; ``top_sources``: with the best score of their passages."""
    weights = {id: specificity(view, id) for id in names}
    return score_sources_from(web, weights, top_sources)


def score_sources_from(
    web: TransitionMatrix, nodes: Mapping[str, float], top_sources: Mapping[str, float]
) -> dict[str, float]:
    """``nodes``: to start from, with what each counts for beside the others. Without one there is
    nothing that ranking did not know already."""
    whole = sum(nodes.values())
    seeds = {
        web.slots[id]: weight / whole
        for id, weight in nodes.items()
        if weight > 0 and id in web.slots
    }
    if not seeds:
        return {}
    highest = max(top_sources.values(), default=0.0)
    for source, score in top_sources.items():
        if source in web.slots and score > 0:
            seeds[web.slots[source]] = SOURCES_SHARE * score / highest
    return _best_scores(web, pagerank(web, seeds, DAMPING, EXPANSION_TOLERANCE))


def _best_scores(web: TransitionMatrix, reached: Scores) -> dict[str, float]:
    mine = reached[web.nodes :]
    if not len(mine) or not mine.max():
        return {}
    chosen = np.argsort(-mine, kind="stable")[:MAX_SOURCES]
    highest = float(mine.max())
    return {
        web.ids[web.nodes + slot]: float(mine[slot]) / highest
        for slot in chosen.tolist()
        if mine[slot]
    }


def specificity(view: GraphView, node: str) -> float:
    """The fewer sources speak of a node, the more it says that it is named."""
    sources = len(view.sources_of.get(node, ()))
    most = max(ALWAYS_SPECIFIC, WIDELY_KNOWN * len(view.sources))
    return 0.0 if sources > most else 1 / max(1, sources)


def lift_per_passage(
    graph: Mapping[str, float],
    passages: Mapping[str, int],
    highest: float,
    weight: float = GRAPH_WEIGHT,
) -> dict[str, float]:
    """By how much each passage of a source is lifted. A mention says which source speaks of
    something and not where, so a source's lift is shared among its passages: a paragraph gets all
    of it, a turn of a long conversation next to nothing. ``highest``: the best hit's score."""
    return {id: weight * highest * share / passages.get(id, 1) for id, share in graph.items()}


ADMITTED_LIFT = (
    0.2  # of the most that can be lifted: from here on what shares no words is an answer, too
)
STARTING_HITS = 20  # the best, from whose sources a walk starts, too

CacheKey = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class NamedNodes:
    """What a question names in the asker's graph."""

    who: CacheKey  # looks, and at which moment
    stamp: CacheKey  # of the graph
    view: GraphView
    nodes: Sequence[str]


@dataclass(frozen=True, slots=True)
class MentioningSources:
    """The sources that speak of nodes, as far as the asker may know of them."""

    passages: Mapping[str, int]  # how many there are of each
    titled: frozenset[SourceMention]  # a document that is called like a node speaks of it


@dataclass(frozen=True, slots=True)
class ExpansionGraph:
    """Where a walk goes: the nodes, and the sources that may be known of."""

    view: GraphView
    web: TransitionMatrix


def find_named_nodes(
    engine: EngineContext, principal: Principal, query: str, counters: Counters
) -> NamedNodes | None:
    """None: nothing in it is named, or scipy is not here to walk with.
    ``counters``: those of the asker's own index, so that the database is asked for the graph only
    when it has changed."""
    if not has_scipy() or principal.team is not None:
        return None  # a key for one team would be led by what another's sources tell
    sight, scope = visibility_of(principal.at(principal.own_scope)), principal.own_scope
    who, stamp = (scope.key, sight, engine.moment), (counters.graph, counters.epoch_of_graph)
    view: GraphView = engine.caches.graph_views.get_or_make(
        who,
        lambda: GraphView(
            _nodes_known_at(
                limit_to_visibility(engine.graph_cache.of(scope).snapshot, sight), engine.moment
            ),
            (),
        ),
        stamp,
    )
    nodes = find_certain_nodes(query, view)
    return NamedNodes(who, stamp, view, nodes) if nodes else None


def _nodes_known_at(snapshot: GraphSnapshot, then: PointInTime) -> GraphSnapshot:
    """The nodes that were known at the moment asked about; edges are asked one by one. Everything
    hangs on the owner: a way through them would lead everywhere."""
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
    """Of each index, with what of it may be seen."""
    passages: dict[str, int] = {}
    titled: set[SourceMention] = set()
    for index, visible in held:
        called = _title_mentions(index, named.view)
        passages |= _count_passages(index, visible, (*named.view.snapshot.mentions, *called))
        titled |= {mention for mention in called if mention.source in passages}
    return MentioningSources(passages, frozenset(titled))


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
    mine = index.coded["source_id"][: index.size][visible & index.passages]
    counts = np.bincount(mine, minlength=len(codes))
    speaking = dict.fromkeys(mention.source for mention in mentions)
    there = ((id, int(counts[codes[id]])) for id in speaking if id in codes)
    return {id: count for id, count in there if count}


def compute_source_lifts(
    engine: EngineContext, named: NamedNodes, speaking: MentioningSources, ranked: Sequence[Ranked]
) -> dict[str, float]:
    """By how much each passage of a source is lifted. ``ranked``: best first."""
    ground: ExpansionGraph = engine.caches.expansion_graphs.get_or_make(
        named.who,
        lambda: _build_expansion_graph(engine, named.view.snapshot, speaking),
        (named.stamp, frozenset(speaking.passages), speaking.titled, engine.clock().date()),
    )
    reached = score_sources(
        ground.view, ground.web, names=named.nodes, top_sources=_best_sources(ranked)
    )
    return lift_per_passage(reached, speaking.passages, ranked[0].score)


def _build_expansion_graph(
    engine: EngineContext, snapshot: GraphSnapshot, speaking: MentioningSources
) -> ExpansionGraph:
    now = engine.clock()
    ends = datetime.combine(now.date(), time.max, now.tzinfo)
    whole = replace(snapshot, mentions=(*snapshot.mentions, *speaking.titled))
    return ExpansionGraph(
        GraphView(whole, speaking.passages),
        build_transition_matrix(whole, ends, engine.moment, speaking.passages),
    )


def _best_sources(ranked: Iterable[Ranked]) -> dict[str, float]:
    found: dict[str, float] = {}
    for each, _ in zip(ranked, range(STARTING_HITS), strict=False):
        if each.is_passage:
            found.setdefault(split_passage_id(each.id)[0], each.score)
    return found


def graph_lifts(index: ScopeIndex, by_source: Mapping[str, float]) -> dict[int, float]:
    return {
        slot: by
        for source, by in by_source.items()
        if source in index.sources
        for slot in index.sources[source].slots
    }
