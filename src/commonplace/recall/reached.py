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
from commonplace.model.graph.picture import Mention, Picture
from commonplace.model.scope import Principal
from commonplace.model.source import split_passage_id
from commonplace.model.time_travel import Then
from commonplace.recall.explore.named import surely_named
from commonplace.recall.explore.view import View, Views
from commonplace.recall.graph_arms import graph_scores, lifts
from commonplace.recall.latest import Latest
from commonplace.recall.rank import Ranked
from commonplace.recall.web import Web, can_walk, web_of
from commonplace.store.index import Mask, ScopeIndex
from commonplace.store.port import Counters

ADMITTED = (
    0.2  # of the most that can be lifted: from here on what shares no words is an answer, too
)
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
class Speaking:
    """The sources that speak of nodes, as far as the asker may know of them."""

    passages: Mapping[str, int]  # how many there are of each
    titled: frozenset[Mention]  # a document that is called like a node speaks of it


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
    nodes = surely_named(query, view)
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


def speaking_in(held: Iterable[tuple[ScopeIndex, Mask]], named: Named) -> Speaking:
    """Of each index, with what of it may be seen."""
    passages: dict[str, int] = {}
    titled: set[Mention] = set()
    for index, visible in held:
        called = _titled_in(index, named.view)
        passages |= _passages_in(index, visible, (*named.view.picture.mentions, *called))
        titled |= {mention for mention in called if mention.source in passages}
    return Speaking(passages, frozenset(titled))


def _titled_in(index: ScopeIndex, view: View) -> list[Mention]:
    nodes = view.called_like_titles
    return [
        Mention(source, node, view.picture.nodes[node].created_at)
        for title in nodes.keys() & index.titles.keys()
        for source in index.titles[title]
        for node in nodes[title]
    ]


def _passages_in(index: ScopeIndex, visible: Mask, mentions: Iterable[Mention]) -> dict[str, int]:
    codes = index.words["source_id"].codes
    mine = index.coded["source_id"][: index.size][visible & index.passages]
    counts = np.bincount(mine, minlength=len(codes))
    speaking = dict.fromkeys(mention.source for mention in mentions)
    there = ((id, int(counts[codes[id]])) for id in speaking if id in codes)
    return {id: count for id, count in there if count}


def lifts_by_source(
    desk: Desk, named: Named, speaking: Speaking, ranked: Sequence[Ranked]
) -> dict[str, float]:
    """By how much each passage of a source is lifted. ``ranked``: best first."""
    ground = desk.made.get(Grounds).get(
        named.who,
        lambda: _ground(desk, named.view.picture, speaking),
        (named.stamp, frozenset(speaking.passages), speaking.titled, desk.clock().date()),
    )
    reached = graph_scores(
        ground.view, ground.web, names=named.nodes, top_sources=_best_sources(ranked)
    )
    return lifts(reached, speaking.passages, ranked[0].score)


def _ground(desk: Desk, picture: Picture, speaking: Speaking) -> Ground:
    now = desk.clock()
    ends = datetime.combine(now.date(), time.max, now.tzinfo)
    whole = replace(picture, mentions=(*picture.mentions, *speaking.titled))
    return Ground(View(whole, speaking.passages), web_of(whole, ends, desk.then, speaking.passages))


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
