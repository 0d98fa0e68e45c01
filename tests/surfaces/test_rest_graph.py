"""The graph over HTTP: states of a node, and answers that are text."""

import json
from xml.etree import ElementTree

import pytest

import commonplace
from support.clock import Clock
from support.rest_server import running


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def book(clock):
    with commonplace.open(":memory:", embedder="hashing", clock=clock, worker="off") as opened:
        yield opened


@pytest.fixture
def server(book):
    with running(book) as server:
        yield server


@pytest.fixture
def node(server):
    return "/v1/nodes/" + server.ask("POST", "/v1/nodes", {"name": "Dana Levi"}).data["id"]


def test_rest_node_etag_is_unchanged_by_reads_and_time(server, book, clock, node):
    etag = server.ask("GET", node).headers["etag"]
    assert server.ask("POST", "/v1/explore", {"queries": ["Dana Levi"], "granularity": 1}).data
    book.flush()
    clock.tick(days=3)
    assert server.ask("GET", node, headers={"if-none-match": etag}).status == 304
    server.ask("POST", "/v1/notes", {"about": ["Dana Levi"], "content": "Prefers tea"})
    assert server.ask("GET", node, headers={"if-none-match": etag}).status == 200


def test_rest_node_patch_with_an_old_etag_is_refused(server, node):
    etag = server.ask("GET", node).headers["etag"]
    changed = server.ask("PATCH", node, {"description": "A friend"}, {"if-match": etag})
    assert changed.status == 200
    late = server.ask("PATCH", node, {"description": "A foe"}, {"if-match": etag})
    assert (late.status, late.data["code"]) == (412, "changed_meanwhile")
    assert server.ask("GET", node).data["node"]["description"] == "A friend"


@pytest.mark.parametrize(
    ("wanted", "media_type", "read"),
    [
        ("json", "application/json", json.loads),
        ("dot", "text/vnd.graphviz", str),
        ("graphml", "application/xml", ElementTree.fromstring),
    ],
)
def test_rest_graph_has_the_media_type_of_the_format(server, node, wanted, media_type, read):
    answer = server.ask("GET", f"/v1/graph?format={wanted}")
    assert answer.headers["content-type"].partition(";")[0] == media_type
    text = answer.body.decode()
    assert "Dana Levi" in text
    assert read(text) is not None
    with commonplace.connect(server.url) as me:
        assert me.graph(format=wanted) == text


def test_rest_traverse_schema_is_plain_text(server):
    answer = server.ask("POST", "/v1/traverse", {"schema": True})
    assert answer.headers["content-type"].partition(";")[0] == "text/plain"
    with commonplace.connect(server.url) as me:
        assert me.traverse(schema=True) == answer.body.decode()


@pytest.fixture
def things(server, node):
    """Addresses of one of each, and the ids that they end with."""
    dana = node.rsplit("/", 1)[1]
    said = {"from_node": "me", "relationship_type": "friend", "to_node": dana}
    made = {
        "edges": server.ask("POST", "/v1/edges", said),
        "notes": server.ask("POST", "/v1/notes", {"about": [dana], "content": "Prefers tea"}),
        "artifacts": server.ask("POST", "/v1/artifacts", {"name": "Draft", "output": "Dear Dana"}),
    }
    return {"nodes": dana, **{kind: answer.data["id"] for kind, answer in made.items()}}


def test_rest_edge_get_supports_etag_and_404(server, things):
    shown = server.ask("GET", f"/v1/edges/{things['edges']}")
    assert shown.data["edge"]["relationship_type"] == "friend"
    again = {"if-none-match": shown.headers["etag"]}
    assert server.ask("GET", f"/v1/edges/{things['edges']}", headers=again).status == 304
    assert server.ask("GET", "/v1/edges/edge:nowhere").status == 404


@pytest.mark.parametrize("kind", ["nodes", "edges", "notes", "artifacts"])
def test_rest_graph_delete_is_restorable(server, book, things, kind):
    me, id = book.user(server.ask("GET", "/v1/me").data["user_id"]), things[kind]
    before = told(me)
    gone = server.ask("DELETE", f"/v1/{kind}/{id}")
    assert (gone.status, gone.data["ids"]) == (200, [id])
    assert gone.data["restorable_until"]
    assert told(me) != before
    assert server.ask("DELETE", f"/v1/{kind}/{id}").data["already"] == [id]
    assert server.ask("POST", "/v1/restore", {"ids": [id]}).status == 200
    assert told(me) == before
    assert server.ask("DELETE", f"/v1/{kind}/{kind[:-1]}:nowhere").status == 404


def told(me):
    dana = me.node("Dana Levi") if len(me.people().nodes) > 1 else None
    notes = [note.content for note in dana.notes] if dana else []
    edges = [edge.relationship_type for edge in me.edges().edges]
    return notes, edges, [each.name for each in me.artifacts().artifacts]


def test_rest_edge_delete_with_an_old_etag_is_refused(server, things):
    address = f"/v1/edges/{things['edges']}"
    etag = server.ask("GET", address).headers["etag"]
    server.ask("POST", "/v1/notes", {"about": [things["edges"]], "content": "Since school"})
    late = server.ask("DELETE", address, headers={"if-match": etag})
    assert (late.status, late.data["code"]) == (412, "changed_meanwhile")
    seen = server.ask("GET", address).headers["etag"]
    assert server.ask("DELETE", address, headers={"if-match": seen}).status == 200
