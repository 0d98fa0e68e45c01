"""Changes as they happen: events by revision, resumed where they broke off."""

import json
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest

from support.rest_server import PATIENCE, running


@pytest.fixture
def book(open_book):
    return open_book()


@pytest.fixture
def me(book):
    return book.user("ana")


@pytest.fixture
def server(book):
    with running(book) as server:
        yield server


class Stream:
    """What a browser's EventSource would hear."""

    def __init__(self, answer):
        self.answer = answer

    def next(self):
        """The next event: its kind, its number and what it tells. Comments only say that the
        stream goes on. None: it has ended."""
        told = {}
        while line := self.answer.readline().decode():
            name, _, value = line.rstrip("\n").partition(": ")
            if line == "\n" and told:
                return json.loads(told["data"]) | {"kind": told["event"], "id": told.get("id")}
            if name:
                told[name] = value
        return None


@contextmanager
def listening(server, query="", **headers):
    connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", f"/v1/changes/stream{query}", headers=server.authorization | sent)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.readline() == b": listening\n"
        answer.readline()
        yield Stream(answer)
    finally:
        connection.close()


def texts(event):
    return [change["text"] for change in event["changes"]]


def test_rest_stream_sends_changes_as_events(server, me):
    with listening(server) as stream:
        kept = server.ask("POST", "/v1/memories", {"content": "The gate is green"}).data
        event = stream.next()
        assert event["kind"] == "changes"
        assert event["id"] == str(event["revision"]) == str(kept["revision"])
        assert texts(event) == ["The gate is green"]
        me.update(kept["id"], content="The gate is red")  # not through this server
        assert texts(stream.next()) == ["The gate is red"]


def test_rest_stream_resumes_from_last_event_id_or_since(server, me):
    me.remember("The shed has a window")
    with listening(server) as stream:
        server.ask("POST", "/v1/memories", {"content": "The gate is green"})
        last = stream.next()["id"]
    me.remember("Told while nobody listened")
    with listening(server, last_event_id=last) as stream:
        event = stream.next()
        assert (event["since"], texts(event)) == (int(last), ["Told while nobody listened"])
    with listening(server, "?since=0") as stream:
        assert len(stream.next()["changes"]) == 3


@pytest.mark.parametrize("since", ["now", "-1", "9" * 30, "1.5"])
def test_rest_stream_refuses_an_invalid_since(server, since):
    answer = server.ask("GET", f"/v1/changes/stream?since={since}")
    assert (answer.status, answer.data["code"]) == (400, "invalid_input")


def test_rest_stream_does_not_advance_the_change_cursor(server, me):
    me.remember("The gate is green")
    with listening(server, "?since=0") as stream:
        assert stream.next()["changes"]
    assert len(server.ask("GET", "/v1/changes?thread=main").data["changes"]) == 1


def test_rest_stream_of_an_agent_shows_only_visible_changes(server, me):
    with listening(server, commonplace_agent="planner") as stream:
        me.remember("I prefer tea over coffee")
        me.remember("Diagnosis: anaemia", sensitivity="high")
        me.remember("I need to renew the passport by June")
        assert texts(stream.next()) == ["I need to renew the passport by June"]


def test_rest_stream_shows_no_changes_of_other_users(server, book, me):
    with listening(server) as stream:
        book.user("bob").remember("Bob's diary")
        me.remember("The gate is green")
        assert texts(stream.next()) == ["The gate is green"]


def test_rest_stream_ends_when_the_key_is_revoked(book, me):
    made = me.keys_create("laptop")
    with (
        running(book, serve_keyless=False) as server,
        listening(server, authorization=f"Bearer {made.token}") as stream,
    ):
        me.remember("The gate is green")
        assert stream.next()["kind"] == "changes"
        me.keys_revoke(made.id)
        me.remember("The gate is red")
        told = stream.next()
        assert (told["kind"], told["code"]) == ("problem", "unauthenticated")
        assert stream.next() is None


def test_rest_stream_counts_as_one_request_for_the_rate_limit(book, me):
    token = me.keys_create("laptop").token
    with (
        running(book, serve_keyless=False, serve_rate=1e-6) as server,
        listening(server, authorization=f"Bearer {token}") as stream,
    ):
        for text in ("The gate is green", "The gate is red"):
            me.remember(text, kind="note")
            assert texts(stream.next()) == [text]
        assert server.ask("GET", "/v1/me", key=token).status == 429


def test_rest_stream_ends_with_the_server(book):
    with running(book) as server, listening(server) as stream:
        server.server.should_exit = True
        assert stream.next() is None
