"""The graph over HTTP: states of a node, and answers that are text."""

import json
import queue
import threading
from contextlib import closing
from http.client import HTTPConnection
from xml.etree import ElementTree

import pytest

import commonplace
from commonplace.engine.graph_search.cypher.execution import budget as budgets
from commonplace.errors import QueryTooCostly
from support.clock import Clock
from support.rest_server import PATIENCE, running


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


def test_rest_cypher_query_ends_when_the_client_closes_the_connection(server, monkeypatch):
    """Observed where the query counts its steps: nobody is left to read an answer."""
    started, ends = threading.Event(), queue.Queue()
    check = budgets.QueryBudget._check

    class RecordedEnd(QueryTooCostly):
        def __init__(self, message, **more):
            super().__init__(message, **more)
            ends.put(message)

    def checked(budget):
        started.set()
        check(budget)

    monkeypatch.setattr(budgets.QueryBudget, "_check", checked)
    monkeypatch.setattr(budgets, "QueryTooCostly", RecordedEnd)
    endless = "UNWIND range(1, 1000000000000) AS x WITH x WHERE x < 0 RETURN x"
    asked = json.dumps({"mode": "cypher", "cypher": endless})
    connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    headers = {"content-type": "application/json", "authorization": f"Bearer {server.token}"}
    with closing(connection):
        connection.request("POST", "/v1/traverse", asked, headers)
        assert started.wait(PATIENCE)
    assert ends.get(timeout=PATIENCE) == "The caller closed the connection."
