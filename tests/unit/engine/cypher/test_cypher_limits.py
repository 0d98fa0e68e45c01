"""Limits of a query hold while it runs, and other threads go on meanwhile."""

import threading
import time

import pytest

from commonplace.engine.context import MAX_GRAPHS, EngineCaches
from commonplace.engine.graph_search.cypher.execution import budget as budgets
from commonplace.engine.graph_search.cypher.execution.budget import QueryLimits
from commonplace.engine.graph_search.cypher.query import CypherQueries
from commonplace.errors import BadCypher, QueryTooCostly
from commonplace.store.cache.bounded_cache import BoundedCache
from support.small_graph import NOW, small_graph

SECOND = QueryLimits(seconds=0.3)
ENDLESS = "UNWIND range(1, 3000) AS x UNWIND range(1, 3000) AS y UNWIND range(1, 3000) AS z "


def people(engine):
    return engine.run("small", small_graph, NOW, "MATCH (p:Person) RETURN count(*)").rows


RUNAWAYS = {
    "a count of billions": ENDLESS + "RETURN count(*)",
    "a filter that lets nothing through": ENDLESS + "WITH x WHERE x < 0 RETURN x",
    "a product of patterns": "MATCH (a), (b), (c), (d), (e), (f), (g), (h) RETURN count(*)",
    "paths without an end": "MATCH p = (a)-[*]-(b), q = (c)-[*]-(d) RETURN count(*)",
    "a list in lists": "WITH range(1, 3000) AS l "
    "RETURN [a IN l | [b IN l | [c IN l | 1][0]][0]][0]",
    "a quantifier": "WITH range(1, 3000) AS l RETURN all(a IN l WHERE all(b IN l WHERE "
    "none(c IN l WHERE c = 0)))",
    "a sum in a sum": "WITH range(1, 3000) AS l RETURN reduce(s = 0, a IN l | s + reduce(t = 0, "
    "b IN l | t + reduce(u = 0, c IN l | 1)))",
    "an order of many": ENDLESS + "RETURN x ORDER BY z LIMIT 3",
    "a subquery": "MATCH (a), (b), (c), (d) WHERE COUNT { (a)-[*]-(b)-[*]-(c) } < 0 RETURN a",
    "a skip of billions": ENDLESS + "RETURN x SKIP 9000000000",
}


@pytest.mark.parametrize("name", RUNAWAYS)
def test_cypher_deadline_ends_runaway_queries(engine, name):
    started = time.monotonic()
    with pytest.raises(QueryTooCostly, match=r"longer than 0\.3 seconds") as caught:
        engine.run("small", small_graph, NOW, RUNAWAYS[name], limits=SECOND)
    assert caught.value.remedy
    assert time.monotonic() - started < 30  # and not after minutes, on however slow a machine
    assert people(engine) == ((4,),)


SMALL = QueryLimits(seconds=60, memory=3_000_000)
BOMBS = {
    "a range": "RETURN range(1, 1000000000)",
    "a range backwards": "RETURN size(range(9223372036854775807, -9223372036854775807, -1))",
    "collected values": "UNWIND range(1, 50000) AS x UNWIND range(1, 50000) AS y RETURN collect(x)",
    "distinct values": "UNWIND range(1, 40000) AS x UNWIND range(1, 40000) AS y "
    "RETURN DISTINCT x * 40000 + y SKIP 100000000",
    "groups": "UNWIND range(1, 40000) AS x UNWIND range(1, 40000) AS y "
    "RETURN x * 40000 + y AS k, count(*) SKIP 100000000",
    "an order": "UNWIND range(1, 40000) AS x UNWIND range(1, 40000) AS y RETURN x ORDER BY y",
    "a union": "RETURN COUNT { UNWIND range(1, 40000) AS x UNWIND range(1, 40000) AS y "
    "RETURN x + 40000 * y AS z UNION RETURN 1 AS z }",
    "a text that doubles": "RETURN size(reduce(s = 'x', i IN range(1, 60) | s + s))",
    "a list that doubles": "RETURN size(reduce(s = [1], i IN range(1, 60) | s + s))",
    "a text of replacements": "WITH reduce(s = 'x', i IN range(1, 15) | s + s) AS s "
    "RETURN size(replace(s, 'x', s))",
    "long texts in a list": "WITH reduce(s = 'x', i IN range(1, 18) | s + s) AS s "
    "RETURN size([x IN range(1, 1000) | s + toString(x)])",
    "long texts in order": "WITH reduce(s = 'x', i IN range(1, 18) | s + s) AS s "
    "UNWIND range(1, 1000) AS x RETURN size(s + toString(x)) AS l ORDER BY s + toString(x)",
    "lists in a list": "WITH range(1, 2000) AS l RETURN size([a IN l | [b IN l | a + b]])",
    "a list of a pattern": "RETURN size([(a)-[*]-(b)-[*]-(c)-[*]-(d) | [a, b]])",
}


@pytest.mark.parametrize("name", BOMBS)
def test_cypher_memory_limit_ends_queries_that_hold_too_many_values(engine, name):
    with pytest.raises(QueryTooCostly, match="more memory"):
        engine.run("small", small_graph, NOW, BOMBS[name], limits=SMALL)
    assert people(engine) == ((4,),)


def test_cypher_memory_limit_ignores_values_that_are_not_held(engine):
    query = "UNWIND range(1, 300) AS x UNWIND range(1, 1000) AS y RETURN count(*)"
    assert engine.run("small", small_graph, NOW, query, limits=SMALL).rows == ((300_000,),)
    query = "UNWIND range(1, 300) AS x RETURN sum(size([y IN range(1, 1000) | y + x]))"
    assert engine.run("small", small_graph, NOW, query, limits=SMALL).rows == ((300_000,),)


def test_cypher_step_limit_ends_a_query(engine):
    with pytest.raises(QueryTooCostly, match="more than 10,000 steps"):
        engine.run("small", small_graph, NOW, RUNAWAYS["a count of billions"],
                   limits=QueryLimits(steps=10_000))  # fmt: skip


def test_cypher_row_limit_stops_the_computation(engine):
    """The ones after them would never end."""
    answer = engine.run("small", small_graph, NOW, ENDLESS + "RETURN x, y, z")
    assert (len(answer.rows), answer.truncated) == (1_000, True)


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|aa)+$", "(.*)*x", "([a-z]+)*=", "(x+x+)+y"],
)
def test_cypher_regular_expressions_take_linear_time(engine, pattern):
    query = "WITH reduce(s = 'a', i IN range(1, 15) | s + s) AS s RETURN s + '!' =~ $pattern"
    assert engine.run("small", small_graph, NOW, query, {"pattern": pattern}).rows == ((False,),)


def test_cypher_regular_expressions_that_are_too_large_are_refused(engine):
    with pytest.raises(BadCypher, match="regular expression"):
        engine.run("small", small_graph, NOW, "RETURN 'a' =~ '((a{100}){100}){100}'")
    with pytest.raises(BadCypher, match="at most 1,000 characters"):
        engine.run("small", small_graph, NOW, "RETURN 'a' =~ $x", {"x": "a" * 1001})


def test_cypher_values_nested_too_deeply_end_the_query(engine):
    deep = "WITH reduce(s = [], i IN range(1, 5000) | [s]) AS s "
    for wanted in ("s", "s = s", "size(list_distinct([s, s]))"):
        with pytest.raises(QueryTooCostly, match="nested"):
            engine.run("small", small_graph, NOW, deep + f"RETURN {wanted}")


def test_cypher_runaway_query_yields_to_other_threads(engine, monkeypatch):
    """The other thread makes progress between any two looks at the clock of the runaway: counted,
    not timed. Each turn that is given up is one in which it may run."""
    turns = []
    monkeypatch.setattr(budgets.time, "sleep", lambda seconds: turns.append(progress[0]))
    monkeypatch.setattr(budgets, "YIELD_SECONDS", 0.0)
    progress, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            progress[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        with pytest.raises(QueryTooCostly):
            engine.run("small", small_graph, NOW, RUNAWAYS["a count of billions"], limits=SECOND)
    finally:
        stop.set()
        thread.join()
    assert len(turns) > 20
    assert turns[-1] > turns[0]
    assert len(set(turns)) > 10  # it went on again and again, not once at the end


@pytest.mark.parametrize("descending", [False, True])
def test_sorted_in_turns_equals_sorted(descending, monkeypatch):
    monkeypatch.setattr(budgets, "SORT_CHUNK", 7)
    for count in (0, 1, 7, 8, 50, 101):
        values = [(number * 37 % 10, number) for number in range(count)]
        found = budgets.sorted_in_turns(
            values, lambda one: one[0], budgets.QueryBudget(), descending
        )
        assert found == sorted(values, key=lambda one: one[0], reverse=descending)


def test_cypher_graph_cache_loads_once_per_key_and_evicts_the_oldest():
    queries, loaded = CypherQueries(EngineCaches().cypher_graphs), []

    def load():
        loaded.append(1)
        return small_graph()

    def ask(key):
        queries.run(key, load, NOW, "RETURN 1")

    for key in ("a", "a", "b", "a", "b"):
        ask(key)
    assert len(loaded) == 2
    for number in range(MAX_GRAPHS - 1):
        ask(str(number))
    ask("b")
    assert len(loaded) == 2 + MAX_GRAPHS - 1
    ask("a")
    assert len(loaded) == 2 + MAX_GRAPHS


def test_cypher_graph_cache_keeps_graphs_of_different_keys_apart(engine):
    empty = small_graph(nodes={}, edges={}, notes={}, mentions=())
    count = "MATCH (p:Person) RETURN count(*)"
    for _ in range(2):
        assert engine.run("full", small_graph, NOW, count).rows == ((4,),)
        assert engine.run("empty", lambda: empty, NOW, count).rows == ((0,),)


def test_cypher_invalid_query_does_not_load_the_graph():
    def load():
        raise AssertionError("loaded")

    with pytest.raises(BadCypher):
        CypherQueries(BoundedCache()).run("x", load, NOW, "RETURN x")
