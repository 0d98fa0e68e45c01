"""Graph benchmark: PageRank, explore and Cypher speed, and the graph in recall."""

from __future__ import annotations

import argparse
import sys
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.measure import Timing, interleaved
from benchmarks.quality.graph_recall import (
    NOW,
    invented_graph,
    measure_own_graph,
    measure_published_graphs,
)
from benchmarks.quality.run import data_folder
from benchmarks.report import Report, Table
from commonplace.api import make_embedder
from commonplace.engine.graph_search.cypher.execution.budget import QueryLimits
from commonplace.engine.graph_search.cypher.query import CypherQueries
from commonplace.engine.graph_search.cypher.snapshot import graph_of
from commonplace.engine.graph_search.explore import explore_snapshot
from commonplace.engine.graph_search.explore_candidates import ExploreInput
from commonplace.engine.graph_search.explore_request import read_explore_request
from commonplace.engine.graph_search.graph_view import GraphView
from commonplace.engine.graph_search.pagerank import (
    PageRankRequest,
    TransitionMatrix,
    build_transition_matrix,
    rank_from_seeds,
)
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.store.cache.bounded_cache import BoundedCache

COLD_ROUNDS, WARM_ROUNDS = 5, 50


@dataclass(frozen=True, slots=True)
class GraphSize:
    nodes: int = 10_000
    edges: int = 100_000
    sources: int = 2_000
    mentions: int = 20_000


LARGE_GRAPH = GraphSize()


def graph_speed_table(size: GraphSize = LARGE_GRAPH) -> Table:
    """In processor time, which hardly depends on what else the machine does, and in time as it
    passes."""
    snapshot = invented_graph(size.nodes, size.edges, size.sources, size.mentions)
    cold, warm = _cold_timings(snapshot), _warm_timings(snapshot)
    table = Table(
        "graph-speed",
        f"A graph of {size.nodes:,} nodes, {size.edges:,} edges, {size.mentions:,} mentions",
        ("reading", "cold p50 ms", "warm p50 ms", "warm p95 ms", "warm p50 ms of a processor"),
    )
    for name, timing in warm.items():
        table.add(name, cold[name].p50, timing.p50, timing.p95, timing.cpu_p50)
    table.notes.append("Cold: with making the matrix, or the table of spellings. Warm: kept.")
    return table


def _cold_timings(snapshot: GraphSnapshot) -> dict[str, Timing]:
    return interleaved(
        {
            "PageRank from one node": lambda turn: _walk_once(
                snapshot, build_transition_matrix(snapshot, NOW), turn
            ),
            "explore by a name": lambda turn: _explore_once(GraphView(snapshot), turn),
        },
        COLD_ROUNDS,
    )


def _warm_timings(snapshot: GraphSnapshot) -> dict[str, Timing]:
    web, view = build_transition_matrix(snapshot, NOW), GraphView(snapshot)
    return interleaved(
        {
            "PageRank from one node": lambda turn: _walk_once(snapshot, web, turn),
            "explore by a name": lambda turn: _explore_once(view, turn),
        },
        WARM_ROUNDS,
        warm_up=2,
    )


def _walk_once(snapshot: GraphSnapshot, web: TransitionMatrix, turn: int) -> object:
    return rank_from_seeds(web, snapshot, PageRankRequest(seeds=(_node_id(snapshot, turn),)))


def _explore_once(view: GraphView, turn: int) -> object:
    name = view.snapshot.nodes[_node_id(view.snapshot, turn)].name
    return explore_snapshot(
        view, read_explore_request(granularity=1, text_matches=[name]), ExploreInput(), NOW
    )


def _node_id(snapshot: GraphSnapshot, turn: int) -> str:
    return f"node:{turn * 97 % len(snapshot.nodes):06}"


CYPHER_COLD_ROUNDS, CYPHER_WARM_ROUNDS = 3, 20
_LONG_LIMITS = QueryLimits(seconds=120)  # what is measured is not to be cut short

QUERIES = {
    "one node by its key": "MATCH (n {entity_key: 'node:000097'}) RETURN n",
    "its neighbours": "MATCH ({entity_key: 'node:000097'})-[r]-(x) RETURN x.name, type(r)",
    "its best friends": (
        "MATCH (:Person {entity_key: 'node:000099'})-[r]-(x) WHERE r.valid_to IS NULL "
        "AND r.attitude >= 3 RETURN x.name, r.relationship_type ORDER BY r.salience DESC LIMIT 10"
    ),
    "two hops away": (
        "MATCH (:Person {entity_key: 'node:000099'})--()--(y) RETURN count(DISTINCT y)"
    ),
    "three hops away": (
        "MATCH (:Person {entity_key: 'node:000099'})--()--()--(y) RETURN count(DISTINCT y)"
    ),
    "the shortest path": (
        "MATCH p = shortestPath((a:Person {entity_key: 'node:000099'})-[*..4]-"
        "(b:Person {entity_key: 'node:007776'})) RETURN length(p)"
    ),
    "all edges counted by type": (
        "MATCH ()-[r]->() RETURN r.relationship_type AS type, count(*) AS n ORDER BY n DESC"
    ),
}


def cypher_table(size: GraphSize = LARGE_GRAPH) -> Table:
    snapshot = invented_graph(size.nodes, size.edges, size.sources, size.mentions)
    table = Table(
        "cypher-speed",
        f"Cypher over {size.nodes:,} nodes, {size.edges:,} edges, {size.mentions:,} mentions",
        ("query", "p50 ms", "p95 ms"),
    )
    for name, timing in (_cold_cypher(snapshot) | _warm_cypher(snapshot)).items():
        table.add(name, timing.p50, timing.p95)
    table.notes.append("A graph is loaded once for each revision, visibility and day.")
    table.notes.append(f"A loaded graph takes {_megabytes(snapshot):.0f} MB beside the snapshot.")
    return table


def _cold_cypher(snapshot: GraphSnapshot) -> dict[str, Timing]:
    return interleaved(
        {
            "cold: the graph": lambda turn: graph_of(snapshot, NOW),
            "cold: the graph, one node": lambda turn: _run_in_new_engine(snapshot),
        },
        CYPHER_COLD_ROUNDS,
    )


def _warm_cypher(snapshot: GraphSnapshot) -> dict[str, Timing]:
    queries = CypherQueries(BoundedCache())
    asked = {name: partial(_run_query, queries, snapshot, query) for name, query in QUERIES.items()}
    return interleaved(asked, CYPHER_WARM_ROUNDS, warm_up=1)


def _run_in_new_engine(snapshot: GraphSnapshot) -> None:
    _run_query(CypherQueries(BoundedCache()), snapshot, QUERIES["one node by its key"], 0)


def _run_query(queries: CypherQueries, snapshot: GraphSnapshot, query: str, turn: int) -> object:
    return queries.run("bench", lambda: snapshot, NOW, query, limits=_LONG_LIMITS)


def _megabytes(snapshot: GraphSnapshot) -> float:
    tracemalloc.start()
    try:
        graph = graph_of(snapshot, NOW)
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del graph
    return size / 1e6


SPEED, CYPHER, ARMS, OWN = PARTS = ("speed", "cypher", "arms", "own")


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    report = Report(machine={})
    parts = (asked.only,) if asked.only else PARTS
    if SPEED in parts:
        report.tables.append(graph_speed_table())
    if CYPHER in parts:
        report.tables.append(cypher_table())
    for part, measuring in ((ARMS, measure_published_graphs), (OWN, measure_own_graph)):
        if part in parts:
            model = make_embedder(asked.embedder)
            report.tables += measuring(data_folder(asked.data), model, lambda: None)
    report.print(Console(width=None if sys.stdout.isatty() else 120))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks walks", description=__doc__)
    parser.add_argument("--only", choices=PARTS, help="default: all")
    parser.add_argument("--embedder", default="wordllama", metavar="NAME", help="(%(default)s)")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="folder of the data sets (COMMONPLACE_BENCH_DATA)",
    )
    return parser
