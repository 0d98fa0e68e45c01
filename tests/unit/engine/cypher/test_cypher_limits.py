"""Limits of a query hold while it runs, and other threads go on meanwhile."""

import json
import os
import subprocess
import sys
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


NESTED_LISTS = "WITH reduce(s = [1], x IN range(1, 30) | [s, s]) AS s "
NESTED_MAPS = "WITH reduce(s = {k: 1}, x IN range(1, 24) | {a: s, b: s}) AS s "
LONG_TEXT = "WITH reduce(s = 'ab', x IN range(1, 24) | s + s) AS s "
LONG_LIST = "WITH range(1, 1000000) AS l UNWIND range(1, 1000) AS i "
MANY = "UNWIND range(1, 1000000) AS i "
USES_OF_NESTED_VALUES = (
    "RETURN s",
    "RETURN s = s",
    "RETURN s <> s",
    "RETURN s IN [s]",
    "RETURN [s] < [s]",
    "RETURN CASE s WHEN s THEN 1 END",
    "RETURN DISTINCT s",
    "RETURN s UNION RETURN 1 AS s",
    "UNWIND [s, [s]] AS t RETURN count(t) AS c, t ORDER BY t",
    "RETURN max(s)",
    "RETURN collect(s)",
    "RETURN count(DISTINCT s)",
    "RETURN nullIf(s, s)",
    "RETURN list_contains([s], s)",
    "RETURN size(list_sort([s, s]))",
    "RETURN size(list_distinct([s, s]))",
    "RETURN size([x IN [1, 2] | s])",
)
LARGE_VALUES = (
    LONG_TEXT + "UNWIND range(1, 100000) AS i WITH s + toString(i) AS t RETURN count(DISTINCT t)",
    LONG_TEXT + "WITH left(s, 60000) AS s " + MANY + "RETURN count(DISTINCT s + toString(i))",
    LONG_TEXT + "WITH left(s, 60000) AS s " + MANY + "RETURN count(DISTINCT [[s + toString(i)]])",
    LONG_TEXT + "WITH left(s, 60000) AS s " + MANY + "RETURN count(DISTINCT {a: s + toString(i)})",
    LONG_TEXT + "WITH left(s, 60000) AS s " + MANY + "RETURN size(collect(DISTINCT s + i))",
    LONG_TEXT + "WITH left(s, 60000) AS s " + MANY + "RETURN i, max(s + toString(i))",
    LONG_TEXT + "WITH left(s, 60000) AS s " + MANY + "WITH DISTINCT [s + i] AS t RETURN count(*)",
    LONG_TEXT + "WITH left(s, 60000) AS s " + MANY + "RETURN [s + i] AS k, count(*)",
    LONG_TEXT + "WITH left(s, 60000) AS s " + MANY + "RETURN i ORDER BY [s + i] LIMIT 900000",
    LONG_TEXT + "WITH left(s, 900) AS s RETURN size([i IN range(1, 1000000) | s + toString(i)])",
    LONG_TEXT + "WITH " + ", ".join(f"left(s, 2000000) + '{n}' AS a{n}" for n in range(400))
    + " RETURN 1",
    LONG_TEXT + "RETURN [" + ", ".join(f"s + '{n}'" for n in range(400)) + "]",
    "WITH range(1, 120) AS l RETURN size([x IN range(1, 1500000) | l + x])",
)  # fmt: skip
LINEAR_OPERATIONS = (
    LONG_TEXT + MANY + "WITH s CONTAINS 'x' + toString(i) AS t RETURN count(t)",
    LONG_TEXT + MANY + "RETURN count(s STARTS WITH s)",
    LONG_TEXT + MANY + "RETURN count(s ENDS WITH s)",
    LONG_TEXT + MANY + "RETURN count(s =~ '.*x')",
    LONG_TEXT + "WITH left(s, 100000) AS s " + MANY + "RETURN count(s =~ '(a|b)*a(a|b){12}x')",
    LONG_TEXT + "WITH s, left(s, size(s) - 1) + 'b' AS t " + MANY + "RETURN count(s = t)",
    LONG_TEXT + "WITH s, left(s, size(s) - 1) + 'b' AS t " + MANY + "RETURN count(s < t)",
    LONG_TEXT + MANY + "RETURN sum(size(toUpper(s)))",
    LONG_TEXT + MANY + "RETURN sum(size(reverse(s)))",
    LONG_TEXT + MANY + "RETURN sum(size(replace(s, 'x', 'y')))",
    LONG_LIST + "RETURN count(l = l)",
    LONG_LIST + "RETURN count(-1 IN l)",
    LONG_LIST + "RETURN count(DISTINCT l)",
    LONG_LIST + "RETURN max(l)",
    LONG_LIST + "RETURN sum(size(tail(l)))",
    LONG_LIST + "RETURN sum(size(l[1..]))",
)
LONG_OPERATIONS = (
    *(NESTED_LISTS + use for use in USES_OF_NESTED_VALUES),
    *(NESTED_MAPS + use for use in USES_OF_NESTED_VALUES if "<" not in use),
    *LINEAR_OPERATIONS,
)
SECONDS = dict.fromkeys(LONG_OPERATIONS, 0.2) | dict.fromkeys(LARGE_VALUES, 60)
CHILD = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from commonplace.engine.graph_search.cypher.execution.budget import QueryLimits
from commonplace.engine.graph_search.cypher.query import CypherQueries
from commonplace.errors import QueryTooCostly
from commonplace.store.cache.bounded_cache import BoundedCache
from support.small_graph import NOW, small_graph

def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

engine = CypherQueries(BoundedCache())
engine.run("small", small_graph, NOW, "RETURN 'a' =~ 'a'")
before = megabytes()
for query, seconds in json.load(sys.stdin).items():
    started = time.thread_time()
    try:
        engine.run("small", small_graph, NOW, query, limits=QueryLimits(seconds=seconds))
        how = "answered"
    except QueryTooCostly as error:
        how = error.message
    print(json.dumps([query, how, time.thread_time() - started, megabytes() - before]), flush=True)
"""


@pytest.fixture(scope="module")
def ends_of_costly_queries():
    """By query: how it ended, its seconds of processor time, and the megabytes that the process
    had taken at most. In a child, which cannot take the machine with it."""
    told = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(SECONDS),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )
    return {query: end for query, *end in map(json.loads, told.stdout.splitlines())}


@pytest.mark.parametrize("query", LONG_OPERATIONS)
def test_cypher_limits_end_long_operations_on_large_values(ends_of_costly_queries, query):
    how, seconds, megabytes = ends_of_costly_queries[query]
    assert how != "answered"
    assert seconds < 1.2  # the limit is 0.2 seconds, and one operation may pass it
    assert megabytes < 512


@pytest.mark.parametrize("query", LARGE_VALUES)
def test_cypher_memory_limit_counts_what_is_within_values(ends_of_costly_queries, query):
    how, _, megabytes = ends_of_costly_queries[query]
    assert "more memory" in how
    assert megabytes < 512  # the limit is 256 MB, of values as they are estimated


def test_cypher_memory_limit_counts_a_list_that_all_rows_share_once(engine):
    query = (
        "WITH range(1, 1500) AS l UNWIND l AS x WITH x, l ORDER BY -x "
        "RETURN x, max(size(l)) LIMIT 1"
    )
    assert engine.run("small", small_graph, NOW, query, limits=SMALL).rows == ((1_500, 1_500),)


def test_cypher_range_under_unwind_makes_no_list(engine):
    query = "UNWIND range(1, 300000) AS x WITH x ORDER BY -x LIMIT 3 RETURN x"
    rows = engine.run("small", small_graph, NOW, query, limits=SMALL).rows
    assert rows == ((300_000,), (299_999,), (299_998,))
    query = "UNWIND range(10, 1, -4) AS x RETURN collect(x), count(*)"
    assert engine.run("small", small_graph, NOW, query).rows == (([10, 6, 2], 3),)
    query = "UNWIND range(1, null) AS x RETURN x"
    assert engine.run("small", small_graph, NOW, query).rows == ()


def test_cypher_memory_errors_name_the_limit_and_a_remedy(engine):
    with pytest.raises(QueryTooCostly, match=r"takes 32,000 MB .* the 64 MB") as caught:
        engine.run("small", small_graph, NOW, "RETURN range(1, 1000000000)")
    assert "shorter lists" in caught.value.remedy
    query = "UNWIND range(1, 300000) AS x WITH x ORDER BY -x RETURN x LIMIT 3"
    with pytest.raises(QueryTooCostly, match="more memory than the 3 MB") as caught:
        engine.run("small", small_graph, NOW, query, limits=SMALL)
    assert "a LIMIT in the same WITH" in caught.value.remedy


def test_cypher_machine_without_memory_ends_the_query(engine, monkeypatch):
    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr(budgets.QueryBudget, "step", exhausted)
    with pytest.raises(QueryTooCostly, match="memory"):
        engine.run("small", small_graph, NOW, "UNWIND [1] AS x RETURN x")


def test_cypher_first_row_beyond_the_size_of_an_answer_is_an_error(engine):
    tight = QueryLimits(size=1_000)
    with pytest.raises(QueryTooCostly, match=r"first row is larger .* 1,000 characters"):
        engine.run("small", small_graph, NOW, "RETURN range(1, 1000)", limits=tight)
    query = "UNWIND [1, 1000] AS n RETURN [x IN range(1, n) | x]"
    answer = engine.run("small", small_graph, NOW, query, limits=tight)
    assert (answer.rows, answer.truncated) == ((([1],),), True)


def test_cypher_size_of_an_answer_counts_texts_as_they_are_shown(engine):
    query = "WITH reduce(s = 'x', i IN range(1, 12) | s + s) AS s RETURN s"
    tight = QueryLimits(size=1_000)
    (row,) = engine.run("small", small_graph, NOW, query, limits=tight).rows
    assert len(row[0]) == 500
    with pytest.raises(QueryTooCostly, match="first row"):
        engine.run("small", small_graph, NOW, query, verbose=True, limits=tight)


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


class CountingClock:
    """Five milliseconds later at each look; counts how often other threads were let run."""

    def __init__(self):
        self.seconds, self.yields = 0.0, 0

    def monotonic(self):
        self.seconds += 0.005
        return self.seconds

    def sleep(self, seconds):
        assert seconds == 0
        self.yields += 1


def test_cypher_runaway_query_yields_to_other_threads(engine, monkeypatch):
    """At each check of the clock after 4 ms, and a check at least every 512 steps: counted by a
    clock of the test, so that no load of the machine matters."""
    clock = CountingClock()
    monkeypatch.setattr(budgets, "time", clock)
    limits = QueryLimits(seconds=10**9, steps=200_000)
    with pytest.raises(QueryTooCostly, match="more than 200,000 steps"):
        engine.run("small", small_graph, NOW, RUNAWAYS["a count of billions"], limits=limits)
    assert clock.yields >= limits.steps // budgets.CHECK_INTERVAL // 2  # some steps come together


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
