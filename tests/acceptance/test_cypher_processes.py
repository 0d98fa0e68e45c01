"""The processes in which queries run: what they cannot do, how they end, and what comes after."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

import commonplace
from commonplace.errors import QueryEngineFailed, QueryTooCostly, StoreClosed
from commonplace.recall.cypher.cypher import Cypher, Limits
from commonplace.recall.cypher.messages import Message
from commonplace.recall.cypher.pool import Pool
from commonplace.recall.cypher.project import fillings
from support.small_graph import NOW, small_graph

PATIENCE = 60.0  # seconds
ENDLESS = "UNWIND range(1, 3000000) AS x UNWIND range(1, 3000000) AS y RETURN count(*)"


@pytest.fixture
def engine():
    made = Cypher(processes=1)
    yield made
    made.close()


@pytest.fixture(scope="module")
def bombed():
    """One for all bombs: it has to survive them one after another."""
    made = Cypher(processes=1)
    yield made
    made.close()


@pytest.fixture(scope="module")
def pool():
    made = Pool(1)
    yield made
    made.close()


def people(engine, **more):
    query = "MATCH (p:Person) RETURN count(*)"
    return engine.run("small", small_graph, NOW, query, **more).rows


def children_of(pid: int) -> set[int]:
    return {child.pid for child in psutil.Process(pid).children(recursive=True)}


def wait_until_gone(pids) -> None:
    found = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    _, alive = psutil.wait_procs(found, timeout=PATIENCE)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def test_a_query_that_does_not_end_is_killed_and_the_next_one_is_answered(engine):
    assert people(engine) == ((4,),)
    [before] = children_of(os.getpid()) & set(engine.pids())
    with pytest.raises(QueryTooCostly, match="longer than 1 second"):
        engine.run("small", small_graph, NOW, ENDLESS, limits=Limits(seconds=1))
    wait_until_gone([before])
    assert people(engine) == ((4,),)
    assert engine.pids() != [before]


BOMBS = [
    "UNWIND range(1, 1000000000) AS x RETURN count(x)",
    "RETURN range(1, 1000000000)",
    "UNWIND range(1, 30000000) AS x RETURN collect(x)",
    "WITH range(1, 30000) AS l RETURN [a IN l | [b IN l | [c IN l | c]]]",
    "MATCH (a), (b), (c), (d), (e), (f), (g), (h) RETURN collect([a, b, c, d, e, f, g, h])",
]


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_query_that_takes_all_memory_ends_in_an_error_and_the_next_one_is_answered(bombed, bomb):
    with pytest.raises((QueryTooCostly, QueryEngineFailed)) as caught:
        bombed.run("small", small_graph, NOW, bomb, limits=Limits(seconds=1))
    assert caught.value.remedy
    assert people(bombed) == ((4,),)


def test_a_child_that_dies_is_an_error_that_may_pass_and_it_passes(engine):
    people(engine)
    [child] = engine.pids()
    os.kill(child, signal.SIGKILL)
    with pytest.raises(QueryEngineFailed) as caught:
        people(engine)
    assert caught.value.retryable
    assert people(engine) == ((4,),)


def test_closing_ends_the_children_and_answers_no_more(engine):
    people(engine)
    children = engine.pids()
    engine.close()
    wait_until_gone(children)
    with pytest.raises(StoreClosed):
        people(engine)


PARENT = """
    import sys, time
    from support.small_graph import NOW, small_graph
    from commonplace.recall.cypher.cypher import Cypher, Limits
    engine = Cypher(processes=1)
    engine.run("small", small_graph, NOW, "RETURN 1")
    print(*engine.pids(), flush=True)
    sys.stdin.read()
"""


def started(script: str) -> subprocess.Popen[str]:
    path = [str(Path(commonplace.__file__).parents[1]), str(Path(__file__).parents[1])]
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
    )


def test_children_end_with_a_parent_that_is_killed():
    """Their input ends: no signal, no list of processes, nothing that the parent has to do."""
    with started(PARENT) as parent:
        assert parent.stdout
        children = [int(pid) for pid in parent.stdout.readline().split()]
        assert children
        assert all(psutil.pid_exists(pid) for pid in children)
        parent.kill()
    wait_until_gone(children)


FORKED = """
    import os, warnings
    from support.small_graph import NOW, small_graph
    from commonplace.recall.cypher.cypher import Cypher
    warnings.simplefilter("ignore")
    engine = Cypher(processes=1)
    ask = lambda: engine.run("small", small_graph, NOW, "MATCH (p:Person) RETURN count(*)").rows
    before = ask(), engine.pids()
    child = os.fork()
    if child == 0:
        right = ask() == before[0] and engine.pids() != before[1]
        engine.close()
        os._exit(0 if right else 1)
    _, status = os.waitpid(child, 0)
    print(status, ask() == before[0] and engine.pids() == before[1])
    engine.close()
"""


def test_a_fork_has_children_of_its_own():
    with started(FORKED) as forking:
        told, _ = forking.communicate(timeout=PATIENCE)
    assert told.split() == ["0", "True"]


# ——— what the engine would do, if a query got past the reader ———


def past_the_reader(pool, statement):
    question = {"key": "small", "query": statement, "in_order": False, "rows": 10, "size": 10_000}
    return pool.ask(
        "small",
        lambda: fillings(small_graph(), NOW),
        Message({"do": "query", **question}),
        PATIENCE,
    )


def test_no_file_can_be_read(pool, tmp_path):
    canary = tmp_path / "canary.csv"
    canary.write_text("a secret\n")
    for statement in (
        f"LOAD FROM '{canary}' (header=false) RETURN *",
        f"LOAD WITH HEADERS (a STRING) FROM '{canary}' RETURN a",
        f"COPY Team FROM '{canary}'",
        "LOAD FROM '/proc/self/environ' (file_format='csv', header=false) RETURN *",
        f"ATTACH '{tmp_path}/other' AS other (dbtype lbug)",
        "LOAD EXTENSION httpfs",
        "INSTALL httpfs",
        "LOAD FROM 'http://127.0.0.1:1/x.csv' RETURN *",
    ):
        reply = past_the_reader(pool, statement)
        assert reply["failed"] == "engine", statement
        assert "secret" not in str(reply)


def test_no_file_can_be_written(pool, tmp_path):
    for statement in (
        f"COPY (MATCH (p:Person) RETURN p.name) TO '{tmp_path}/out.csv'",
        f"COPY (MATCH (p:Person) RETURN p.name) TO '{tmp_path}/out.parquet'",
        f"EXPORT DATABASE '{tmp_path}/out'",
    ):
        assert past_the_reader(pool, statement)["failed"] == "engine", statement
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_nothing_can_be_changed(pool):
    for statement in (
        "CREATE (:Team {entity_key: 'x'})",
        "MATCH (p:Person) DETACH DELETE p",
        "MATCH (p:Person) SET p.name = 'x'",
        "DROP TABLE mentions",
        "CREATE NODE TABLE X(a STRING, PRIMARY KEY(a))",
    ):
        assert past_the_reader(pool, statement)["failed"] == "engine", statement
    assert past_the_reader(pool, "MATCH (p:Person) RETURN count(*)")["rows"] == [[4]]


# ——— graphs in a child ———


def test_a_graph_is_taken_in_once_for_each_key(engine):
    loaded = []

    def load():
        loaded.append(1)
        return small_graph()

    for key in ("one", "one", "two", "one", "two"):
        engine.run(key, load, NOW, "RETURN 1")
    assert len(loaded) == 2
    engine.run("three", load, NOW, "RETURN 1")  # "one" was asked longest ago, and makes room
    engine.run("two", load, NOW, "RETURN 1")
    assert len(loaded) == 3
    engine.run("one", load, NOW, "RETURN 1")
    assert len(loaded) == 4


def test_two_graphs_in_one_child_do_not_mix(engine):
    empty = small_graph(nodes={}, edges={}, notes={}, mentions=())
    count = "MATCH (p:Person) RETURN count(*)"
    for _ in range(2):
        assert engine.run("full", small_graph, NOW, count).rows == ((4,),)
        assert engine.run("empty", lambda: empty, NOW, count).rows == ((0,),)
