"""How long queries in Cypher take over a large graph, how long it takes to load, and its memory."""

from __future__ import annotations

import tracemalloc
from functools import partial

from commonplace.bench.graph_data import NOW, made_up
from commonplace.bench.measure import Timing, interleaved
from commonplace.bench.report import Table
from commonplace.bench.walk_speed import LARGE, Size
from commonplace.engine.graph_search.cypher.execution.budget import QueryLimits
from commonplace.engine.graph_search.cypher.query import CypherQueries
from commonplace.engine.graph_search.cypher.snapshot import graph_of
from commonplace.model.graph.picture import Picture

COLD_ROUNDS, WARM_ROUNDS = 3, 20
_PATIENT = QueryLimits(seconds=120)  # what is measured is not to be cut short

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


def cypher_table(size: Size = LARGE) -> Table:
    picture = made_up(size.nodes, size.edges, size.sources, size.mentions)
    table = Table(
        "cypher-speed",
        f"Cypher over {size.nodes:,} nodes, {size.edges:,} edges, {size.mentions:,} mentions",
        ("query", "p50 ms", "p95 ms"),
    )
    for name, timing in (_cold(picture) | _warm(picture)).items():
        table.add(name, timing.p50, timing.p95)
    table.notes.append("A graph is loaded once for each revision, visibility and day.")
    table.notes.append(f"A loaded graph takes {_megabytes(picture):.0f} MB beside the snapshot.")
    return table


def _cold(picture: Picture) -> dict[str, Timing]:
    return interleaved(
        {
            "cold: the graph": lambda turn: graph_of(picture, NOW),
            "cold: the graph, one node": lambda turn: _alone(picture),
        },
        COLD_ROUNDS,
    )


def _warm(picture: Picture) -> dict[str, Timing]:
    queries = CypherQueries()
    asked = {name: partial(_asked, queries, picture, query) for name, query in QUERIES.items()}
    return interleaved(asked, WARM_ROUNDS, warm_up=1)


def _alone(picture: Picture) -> None:
    _asked(CypherQueries(), picture, QUERIES["one node by its key"], 0)


def _asked(queries: CypherQueries, picture: Picture, query: str, turn: int) -> object:
    return queries.run("bench", lambda: picture, NOW, query, limits=_PATIENT)


def _megabytes(picture: Picture) -> float:
    tracemalloc.start()
    try:
        graph = graph_of(picture, NOW)
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del graph
    return size / 1e6
