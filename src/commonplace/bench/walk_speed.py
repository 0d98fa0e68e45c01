"""How long explorations and walks take over a large graph, the first time and afterwards."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.bench.graph_data import NOW, made_up
from commonplace.bench.measure import Timing, interleaved
from commonplace.bench.report import Table
from commonplace.model.graph.picture import Picture
from commonplace.recall.explore.asked import asked_for
from commonplace.recall.explore.explore import explore
from commonplace.recall.explore.gather import Given
from commonplace.recall.explore.view import View
from commonplace.recall.walk import Walk, walked
from commonplace.recall.web import Web, web_of

COLD_ROUNDS, WARM_ROUNDS = 5, 50


@dataclass(frozen=True, slots=True)
class Size:
    nodes: int = 10_000
    edges: int = 100_000
    sources: int = 2_000
    mentions: int = 20_000


LARGE = Size()


def speed_table(size: Size = LARGE) -> Table:
    """In processor time, which hardly depends on what else the machine does, and in time as it
    passes."""
    picture = made_up(size.nodes, size.edges, size.sources, size.mentions)
    cold, warm = _cold(picture), _warm(picture)
    table = Table(
        "graph-speed",
        f"A graph of {size.nodes:,} nodes, {size.edges:,} edges, {size.mentions:,} mentions",
        ("reading", "cold p50 ms", "warm p50 ms", "warm p95 ms", "warm p50 ms of a processor"),
    )
    for name, timing in warm.items():
        table.add(name, cold[name].p50, timing.p50, timing.p95, timing.cpu_p50)
    table.notes.append("Cold: with making the matrix, or the table of spellings. Warm: kept.")
    return table


def _cold(picture: Picture) -> dict[str, Timing]:
    return interleaved(
        {
            "PageRank from one node": lambda turn: _walk(picture, web_of(picture, NOW), turn),
            "explore by a name": lambda turn: _explore(View(picture), turn),
        },
        COLD_ROUNDS,
    )


def _warm(picture: Picture) -> dict[str, Timing]:
    web, view = web_of(picture, NOW), View(picture)
    return interleaved(
        {
            "PageRank from one node": lambda turn: _walk(picture, web, turn),
            "explore by a name": lambda turn: _explore(view, turn),
        },
        WARM_ROUNDS,
        warm_up=2,
    )


def _walk(picture: Picture, web: Web, turn: int) -> object:
    return walked(web, picture, Walk(seeds=(_id(picture, turn),)))


def _explore(view: View, turn: int) -> object:
    name = view.picture.nodes[_id(view.picture, turn)].name
    return explore(view, asked_for(granularity=1, text_matches=[name]), Given(), NOW)


def _id(picture: Picture, turn: int) -> str:
    return f"node:{turn * 97 % len(picture.nodes):06}"
