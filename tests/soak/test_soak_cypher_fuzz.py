"""Made-up queries by the hundred thousand, and patterns by the thousand."""

import os
import time
from collections import Counter
from random import Random

import pytest

from commonplace.engine.graph_search.cypher.execution.budget import QueryLimits
from commonplace.engine.graph_search.cypher.query import CypherQueries
from commonplace.errors import BadCypher
from commonplace.store.cache.bounded_cache import BoundedCache
from support.cypher_soups import CANARY, checked_query, reading, run_many, soup
from support.cypher_walks import made_up, matches, tangle
from support.small_graph import NOW

pytestmark = pytest.mark.soak

SOUPS = int(os.environ.get("CYPHER_SOUPS", "200000"))
PATTERNS = int(os.environ.get("CYPHER_PATTERNS", "3000"))
RUNS = int(os.environ.get("CYPHER_RUNS", "20000"))


def test_cypher_fuzz_parses_or_refuses_every_query():
    chance = Random(20_26)
    seen: Counter[str] = Counter()
    for number in range(SOUPS):
        made = (soup(chance, "/canary"), {}) if number % 2 else reading(chance, "/canary")
        try:
            checked_query(*made)
            seen["read"] += 1
        except BadCypher:
            seen["refused"] += 1
    print(f"\nmade-up queries: {SOUPS:,}; {dict(seen)}")
    assert seen["read"] > SOUPS / 8
    assert seen["refused"] > SOUPS / 4


def test_cypher_fuzz_reads_no_file(tmp_path):
    canary = tmp_path / "canary.csv"
    canary.write_text(CANARY)
    engine = CypherQueries(BoundedCache())
    started = time.monotonic()
    seen = run_many(engine, canary, Random(11), RUNS)
    print(f"\nqueries run: {RUNS:,} in {time.monotonic() - started:.0f} s; {dict(seen)}")
    assert seen["answered"] > RUNS / 4


def test_cypher_fuzz_patterns_match_the_reference():
    queries, limits = (
        CypherQueries(BoundedCache()),
        QueryLimits(seconds=120, rows=10**6, size=10**9),
    )
    for seed in range(PATTERNS):
        chance, snapshot = Random(seed + 10_000), tangle(Random(seed // 20))
        start = chance.choice(sorted(snapshot.nodes))
        pattern = made_up(chance, several_hops=0.25)
        where = " AND ".join([f"s.entity_key = '{start}'", *pattern.conditions()])
        ends = ", ".join(f"{end}.entity_key" for end in pattern.ends())
        query = f"MATCH {pattern.spelt()} WHERE {where} RETURN {ends}"
        rows = queries.run(str(seed // 20), lambda: snapshot, NOW, query, limits=limits).rows  # noqa: B023
        assert sorted(rows) == sorted(matches(snapshot, start, pattern)), query
