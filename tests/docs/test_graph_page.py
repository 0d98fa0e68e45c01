"""The page about the graph: its example runs, its queries and its commands are answered."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import commonplace
from commonplace.model.graph.types import NODE_CATEGORY, NodeType
from commonplace.surfaces.cli.main import build

PAGE = (Path(__file__).parents[2] / "docs/graph.md").read_text()


def block(kind: str, number: int = 0) -> str:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.S)[number]


EXAMPLE, ENDING = block("python").split("# Your own statements")


@pytest.fixture(scope="module")
def names():
    """What the example has made of three conversations, before anything is erased."""
    made = {}
    exec(compile(EXAMPLE, "docs/graph.md", "exec"), made)
    yield made
    made["book"].close()


@pytest.mark.parametrize("query", block("cypher").strip().splitlines())
def test_graph_page_cypher_queries_return_rows(names, query):
    assert names["me"].traverse("cypher", cypher=query).rows


def test_graph_page_example_runs():
    made = {}
    exec(compile(block("python"), "docs/graph.md", "exec"), made)
    made["book"].close()


def test_graph_page_commands_run(names, tmp_path, monkeypatch):
    store = str(tmp_path / "graph.db")
    for name, value in (("STORE", store), ("EMBEDDER", "hashing"), ("USER", "ana")):
        monkeypatch.setenv(f"COMMONPLACE_{name}", value)
    with commonplace.open(store, embedder="hashing", worker="off") as book:
        for text in (names["monday"], names["bens_news"]):
            book.user("ana").ingest(text)
    for line in block("sh").strip().splitlines():
        words = shlex.split(line.partition(" > ")[0])[1:]
        ran = CliRunner().invoke(build(words), words)
        assert ran.exit_code == 0, f"{line}: {ran.output}"
        assert ran.stdout, line
    assert ran.stdout.startswith("digraph memory {")


def test_graph_page_commands_of_storylines_run(tmp_path, monkeypatch):
    store = str(tmp_path / "graph.db")
    for name, value in (("STORE", store), ("EMBEDDER", "hashing"), ("USER", "ana")):
        monkeypatch.setenv(f"COMMONPLACE_{name}", value)
    with commonplace.open(store, embedder="hashing", worker="off") as book:
        me = book.user("ana")
        for day in range(1, 8):
            me.ingest(f"Ana: I work at Google. Day {day} there was long.", date=f"2026-03-0{day}")
        me.extract()
        me.sleep(tasks=["storylines"])
        (first, *_) = me.storylines(anchor="Google").storylines
    for line in block("sh", 1).strip().splitlines():
        words = [first.id if each == "storyline:…" else each for each in shlex.split(line)[1:]]
        ran = CliRunner().invoke(build(words), words)
        assert ran.exit_code == 0, f"{line}: {ran.output}"
        assert ran.stdout, line


def test_graph_page_names_the_category_of_each_node_type():
    for kind in NodeType:
        assert re.search(rf"\| \*\*{kind}\*\* \|.*\| `{NODE_CATEGORY[kind]}` \|", PAGE)


def test_graph_page_correction_commands_run(names, tmp_path, monkeypatch):
    """In the order of the table, in one memory."""
    store = str(tmp_path / "graph.db")
    for name, value in (("STORE", store), ("EMBEDDER", "hashing"), ("USER", "ana")):
        monkeypatch.setenv(f"COMMONPLACE_{name}", value)
    with commonplace.open(store, embedder="hashing", worker="off") as book:
        me = book.user("ana")
        sources = [me.ingest(names[each]).id for each in ("monday", "goodbye")]
        me.extract()
        for name in ("Wolt Ender", "Ben Cohen"):
            me.nodes_add(name)
        ids = {"source:…": sources[1], "node:…": me.nodes_add("Benny").id}
        ids["edge:…"] = me.relate("me", "Wolt Ender", "uses").id
    section = PAGE.partition("### Correct the graph")[2].partition("\n### ")[0]
    commands = re.findall(r"`commonplace (.*?)`", section)
    assert len(commands) == 17
    for command in commands:
        words = [ids.get(word, word) for word in shlex.split(command)]
        ran = CliRunner().invoke(build(words), words)
        assert ran.exit_code == 0, f"{command}: {ran.output}"
