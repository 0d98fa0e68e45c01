"""Several hops from the names in a question, through the asker's own graph: which sources they lead
to, and by how much the passages of those are lifted.

Only what the asker may see is walked: nodes and edges as `graph.seen` has them, and sources of
which the indexes show them a passage. Nothing that is read changes the order (salience by readings
is left out), and one web serves a whole day: the same question has the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time

import numpy as np

from commonplace.desk import Desk, visibility_of
from commonplace.graph.seen import within_sight
from commonplace.model.graph.picture import Picture
from commonplace.model.scope import Principal
from commonplace.model.source import split_passage_id
from commonplace.model.time_travel import Then
from commonplace.recall.explore.named import named_nodes
from commonplace.recall.explore.view import View, Views
from commonplace.recall.graph_arms import graph_scores, lifts
from commonplace.recall.latest import Latest
from commonplace.recall.rank import Ranked
from commonplace.recall.web import Web, can_walk, web_of
from commonplace.store.index import Mask, ScopeIndex
from commonplace.store.port import Counters

ADMITTED = 0.2  # of the best hit's score: a lift by which what shares no words is an answer, too
STARTING = 20  # the best, from whose sources a walk starts, too

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """What a question names in the asker's graph."""

    who: Key  # looks, and at which moment
    stamp: Key  # of the graph
    view: View
    nodes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a walk goes: the nodes, and the sources that may be known of."""

    view: View
    web: Web


class Grounds(Latest[Ground]):
    """Those that were walked last."""


def named_in_graph(
    desk: Desk, principal: Principal, query: str, counters: Counters
) -> Named | None:
    """None: nothing in it is named, or scipy is not here to walk with.
    ``counters``: those of the asker's own index, so that the database is asked for the graph only
    when it has changed."""
    if not can_walk() or principal.team is not None:
        return None  # a key for one team would be led by what another's sources tell
    sight, scope = visibility_of(principal.at(principal.home)), principal.home
    who, stamp = (scope.key, sight, desk.then), (counters.graph, counters.epoch_of_graph)
    view = desk.made.get(Views).get(
        who,
        lambda: View(_known(within_sight(desk.pictures.of(scope).picture, sight), desk.then), ()),
        stamp,
    )
    nodes = named_nodes(query, view)
    return Named(who, stamp, view, nodes) if nodes else None


def _known(picture: Picture, then: Then) -> Picture:
    """The nodes that were known at the moment asked about; edges are asked one by one. Everything
    hangs on the owner: a way through them would lead everywhere."""
    known_at = then.known_at
    nodes = {
        id: node
        for id, node in picture.nodes.items()
        if not node.is_owner and (known_at is None or node.created_at <= known_at)
    }
    return replace(picture, nodes=nodes)


def passages_in(index: ScopeIndex, visible: Mask, named: Named) -> dict[str, int]:
    """How many passages the asker may know of, of each source that speaks of a node."""
    codes = index.words["source_id"].codes
    mine = index.coded["source_id"][: index.size][visible & index.passages]
    counts = np.bincount(mine, minlength=len(codes))
    speaking = dict.fromkeys(mention.source for mention in named.view.picture.mentions)
    there = ((id, int(counts[codes[id]])) for id in speaking if id in codes)
    return {id: count for id, count in there if count}


def lifts_by_source(
    desk: Desk, named: Named, passages: Mapping[str, int], ranked: Sequence[Ranked]
) -> dict[str, float]:
    """By how much each passage of a source is lifted. ``ranked``: best first."""
    day, picture = desk.clock().date(), named.view.picture
    ends = datetime.combine(day, time.max, desk.clock().tzinfo)
    ground = desk.made.get(Grounds).get(
        named.who,
        lambda: Ground(View(picture, passages), web_of(picture, ends, desk.then, passages)),
        (named.stamp, frozenset(passages), day),
    )
    reached = graph_scores(
        ground.view, ground.web, names=named.nodes, top_sources=_best_sources(ranked)
    )
    return lifts(reached, passages, ranked[0].score)


def _best_sources(ranked: Iterable[Ranked]) -> dict[str, float]:
    found: dict[str, float] = {}
    for each, _ in zip(ranked, range(STARTING), strict=False):
        if each.is_passage:
            found.setdefault(split_passage_id(each.id)[0], each.score)
    return found


def lifts_in(index: ScopeIndex, by_source: Mapping[str, float]) -> dict[int, float]:
    return {
        slot: by
        for source, by in by_source.items()
        if source in index.sources
        for slot in index.sources[source].slots
    }
