"""The graph in recall: what hangs on the names in a question and on the best hits. Pure.

A question of several hops names one thing and asks for another; the passages between them share no
words with it. A walk over nodes and sources finds these: it starts at the nodes that the question
names and, much less, at the sources of the best hits. Each of these choices was measured, and so
was what recall leaves out (docs/graph-in-recall.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from commonplace.recall.explore.view import View
from commonplace.recall.fuse import WEIGHTS
from commonplace.recall.walk import DAMPING, Scores, pagerank
from commonplace.recall.web import Web

SOURCES_SHARE = 0.05  # what the best hit's source counts for, beside all nodes together
WIDELY_KNOWN = 0.02  # a node of more than this share of the sources tells nothing apart
ALWAYS_TELLING = 3  # a node of so few sources always does
ENOUGH = 1e-4  # for an order of the best; a score that is told is walked for longer
MOST_SOURCES = 200
WEIGHT = WEIGHTS.of("graph")  # what the best reached source is lifted by, of the best hit's score


def graph_scores(
    view: View,
    web: Web,
    *,
    names: Iterable[str],
    top_sources: Mapping[str, float],
) -> dict[str, float]:
    """The sources that are reached, as shares of the best of them. ``names``: nodes that the
    question names; ``top_sources``: with the best score of their passages."""
    weights = {id: specificity(view, id) for id in names}
    return scores_from(web, weights, top_sources)


def scores_from(
    web: Web, nodes: Mapping[str, float], top_sources: Mapping[str, float]
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


def specificity(view: View, node: str) -> float:
    """The fewer sources speak of a node, the more it says that it is named."""
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
