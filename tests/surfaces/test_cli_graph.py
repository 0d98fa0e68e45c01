"""The graph as a person reads it on a terminal: names first, ids beside them."""

from __future__ import annotations

import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

import commonplace
from commonplace.surfaces.cli.main import build
from commonplace.surfaces.cli.render import drawn
from support.clock import Clock

TALK = "Ana: Maya Stone is my manager.\nNoa: Good.\nAna: Maya Stone works at Northwind."


@pytest.fixture
def me():
    with commonplace.open(":memory:", embedder="hashing", clock=Clock(), worker="off") as opened:
        yield opened.user("ana")


@pytest.fixture
def dana(me):
    me.nodes_add("Acme", node_type="Entity", type="organization")
    return me.nodes_add("Dana Levi", description="A colleague", aliases=["Didi"]).id


def printed(answer):
    console = Console(width=120, highlight=False)
    with console.capture() as caught:
        console.print(drawn(answer))
    return caught.get()


def test_cli_graph_lists_show_names_aliases_ids_and_empty_results(me, dana):
    assert "No nodes of this type." in printed(me.concepts())
    told = printed(me.people())
    assert "Dana Levi [Person]" in told
    assert "also Didi" in told
    assert dana in told
    assert "Acme [organization]" in printed(me.entities())
    me.nodes_add("Noa")
    assert "more: --after node:" in printed(me.people(limit=1))
    assert "No relationships" in printed(me.edges())


def test_cli_node_shows_edges_from_the_side_of_the_node(me, dana):
    me.relate(dana, "Acme", "works-at", valid_from="2020-01-01")
    me.relate(dana, "Acme", "works-at", ended=True)
    me.relate(dana, "me", "manages")
    me.note(dana, "Prefers tea")
    told = printed(me.node(dana))
    first, _, before = told.partition("past and future")
    assert "ana" in first
    assert "—works-at→ Acme" in before
    assert "since 2020-01-01 until" in before
    assert "Prefers tea  user:ana" in told
    assert f"id {dana}" in told
    assert "←works-at— Dana Levi" in printed(me.node("Acme"))


def test_cli_graph_edits_show_results_and_undo_commands(me, dana):
    said = me.nodes_add("Dana Cohen")
    assert printed(said).startswith("✓ added Dana Cohen")
    assert printed(me.nodes_add("Dana Cohen", description="x")).startswith("↑ updated")
    merged = printed(me.merge([dana, said.id]))
    assert f"undo: split {said.id}" in merged
    assert "Dana Cohen [Person] and Dana Levi [Person]" in printed(me.split(said.id))
    berlin = me.nodes_add("Berlin", node_type="Entity", type="location").id
    haifa = me.nodes_add("Haifa", node_type="Entity", type="location").id
    lived = me.relate(dana, haifa, "lives-in", valid_from="2020-01-01")
    assert printed(lived).startswith("✓ related lives-in since 2020-01-01")
    moved = me.relate(dana, berlin, "lives-in")
    assert f"ends: {lived.id}" in printed(moved)
    assert "forever" in printed(me.note(dana, "x", lifetime="forever"))
    assert "node Dana Levi" in " ".join(printed(me.contributions()).split())


def test_cli_extract_explore_and_traverse_show_names_and_reasons(me):
    me.ingest(TALK, title="Talk", date="2026-02-01")
    assert printed(me.extract()).startswith("✓ extracted 1 source → ")
    told = printed(me.explore(queries=["Maya Stone"], granularity=1, return_explanations=True))
    for section in ("people", "relationships", "sources"):
        assert f"{section}\n" in told
    assert "—works-at→ Northwind" in told
    assert "similarity" in told
    maya = me.node("Maya Stone").node.id
    assert "Maya Stone —works-at→ Northwind" in printed(me.traverse(seed_nodes=[maya]))
    asked = me.traverse("cypher", cypher="MATCH (e:Entity) RETURN e.name AS thing")
    assert printed(asked).split() == ["thing", "Northwind", "1", "row"]
    assert "Nothing found" in printed(me.explore(text_matches=["zeppelin"], granularity=1))


def test_cli_artifacts_are_listed_and_shown_in_full(me):
    assert "No artifacts" in printed(me.artifacts())
    made = me.artifacts_create("Letter", "Dear Maya, …")
    assert printed(made).startswith("✓ stored Letter")
    assert f"id {made.id}" in printed(me.artifacts())
    assert "Dear Maya, …" in printed(me.artifact(made.id))


# ——— the commands that are not only an operation ———


def run(store, *words):
    typed = [*words, "--store", store, "--embedder", "hashing"]
    ran = CliRunner().invoke(build(typed), typed)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def test_cli_extract_all_covers_every_user(tmp_path):
    store = str(tmp_path / "memory.db")
    with commonplace.open(store, embedder="hashing", worker="off") as book:
        for user in ("ana", "bob"):
            book.user(user).ingest(TALK, title="Talk")
    assert "1 source →" in run(store, "extract", "--user", "ana")
    assert "1 source of 2 users" in run(store, "extract", "--all")
    told = json.loads(run(store, "people", "--user", "bob", "--json"))
    assert "Maya Stone" in [node["name"] for node in told["nodes"]]


def test_cli_graph_output_writes_a_file(tmp_path):
    store, file = str(tmp_path / "memory.db"), tmp_path / "graph.dot"
    run(store, "nodes", "add", "Dana Levi")
    shown = run(store, "graph", "--format", "dot")
    run(store, "graph", "--format", "dot", "--output", str(file))
    assert file.read_text() == shown
    assert shown.startswith("digraph memory {")
    assert shown.endswith("}\n")
    assert "Labels" in run(store, "traverse", "--schema")
