"""The graph in recall: what hangs on the names in a question and on the best hits. Pure.

A question of several hops names one thing and asks for another; the passages between them share no
words with it. A walk over nodes and sources finds these: it starts at the nodes that the question
names, at the ends of the edges that are closest to it and, much less, at the sources of the best
hits. Each of these choices was measured (docs/graph-in-recall.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from commonplace.recall.explore.view import View
from commonplace.recall.fuse import WEIGHTS
from commonplace.recall.walk import DAMPING, Scores, pagerank
from commonplace.recall.web import Web

CLOSE_EDGES = 5  # of those closest to the question, whose ends are seeds
SOURCES_SHARE = 0.05  # what the best hit's source counts for, beside all nodes together
WIDELY_KNOWN = 0.02  # a node of more than this share of the sources tells nothing apart
ALWAYS_TELLING = 3  # a node of so few sources always does
ENOUGH = 1e-4  # for an order of the best; a score that is told is walked for longer
MOST_SOURCES = 200
NOTHING: Mapping[str, float] = MappingProxyType({})
WEIGHT = WEIGHTS.of("graph")  # what the best reached source is lifted by, of the best hit's score


def graph_scores(
    view: View,
    web: Web,
    *,
    names: Iterable[str],
    top_sources: Mapping[str, float],
    close_edges: Mapping[str, float] = NOTHING,
) -> dict[str, float]:
    """The sources that are reached, as shares of the best of them. ``names``: nodes that the
    question names; ``close_edges``: with their similarity to it; ``top_sources``: with the best
    score of their passages. Without a node to start from there is nothing that ranking did not
    know already."""
    named = _node_seeds(view, names, close_edges)
    seeds = {web.slots[id]: weight for id, weight in named.items() if id in web.slots}
    if not seeds:
        return {}
    highest = max(top_sources.values(), default=0.0)
    for source, score in top_sources.items():
        if source in web.slots and score > 0:
            seeds[web.slots[source]] = SOURCES_SHARE * score / highest
    return _best(web, pagerank(web, seeds, DAMPING, ENOUGH))


def _best(web: Web, reached: Scores) -> dict[str, float]:
    mine = reached[web.nodes :]
    if not len(mine) or not mine.max():
        return {}
    chosen = np.argsort(-mine, kind="stable")[:MOST_SOURCES]
    highest = float(mine.max())
    return {
        web.ids[web.nodes + slot]: float(mine[slot]) / highest
        for slot in chosen.tolist()
        if mine[slot]
    }


def _node_seeds(
    view: View, names: Iterable[str], close_edges: Mapping[str, float]
) -> dict[str, float]:
    """All together 1. The fewer sources speak of a node, the more it says that it is named."""
    weights: dict[str, float] = {}
    for id in names:
        _add(weights, id, _specificity(view, id))
    closest = sorted(close_edges, key=lambda id: (-close_edges[id], id))[:CLOSE_EDGES]
    for edge in (view.picture.edges[id] for id in closest if id in view.picture.edges):
        for end in edge.ends:
            _add(weights, end, close_edges[edge.id] * _specificity(view, end))
    whole = sum(weights.values())
    return {id: weight / whole for id, weight in weights.items() if weight > 0}


def _add(weights: dict[str, float], id: str, weight: float) -> None:
    weights[id] = weights.get(id, 0.0) + weight


def _specificity(view: View, node: str) -> float:
    sources = len(view.sources_of.get(node, ()))
    most = max(ALWAYS_TELLING, WIDELY_KNOWN * len(view.sources))
    return 0.0 if sources > most else 1 / max(1, sources)


def lifts(
    graph: Mapping[str, float],
    passages: Mapping[str, int],
    highest: float,
    weight: float = WEIGHT,
) -> dict[str, float]:
    """By how much each passage of a source is lifted. A mention says which source speaks of
    something and not where, so a source's lift is shared among its passages: a paragraph gets all
    of it, a turn of a long conversation next to nothing. ``highest``: the best hit's score."""
    return {id: weight * highest * share / passages.get(id, 1) for id, share in graph.items()}


def fused(
    ranked: Sequence[tuple[str, float]], graph: Mapping[str, float], weight: float = WEIGHT
) -> list[tuple[str, float]]:
    """Ids of passages or sources with scores, best first, with what the graph adds to each."""
    highest = max((score for _, score in ranked), default=0.0)
    passages = Counter(id.partition("#")[0] for id, _ in ranked)
    lift = lifts(graph, passages, highest, weight)
    told = [(id, score + lift.get(id.partition("#")[0], 0.0)) for id, score in ranked]
    return sorted(told, key=lambda each: (-each[1], each[0]))
