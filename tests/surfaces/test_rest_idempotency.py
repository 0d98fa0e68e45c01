"""An Idempotency-Key over HTTP: sent twice, done once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from commonplace import User
from support.rest_server import running


@pytest.fixture
def server(open_book):
    with running(open_book()) as server:
        yield server


def remember(server, content, key, **headers):
    sent = {"idempotency-key": key, **headers}
    return server.ask("POST", "/v1/memories", {"content": content}, sent)


def count(server):
    return len(server.ask("GET", "/v1/memories").data["memories"])


def test_idempotency_key_replays_the_answer_of_the_same_request(server):
    first = remember(server, "The gate is green", "k1")
    again = remember(server, "The gate is green", "k1")
    assert (again.status, again.body) == (200, first.body)
    assert count(server) == 1


def test_idempotency_key_with_another_body_is_refused(server):
    remember(server, "The gate is green", "k1")
    answer = remember(server, "The gate is red", "k1")
    assert (answer.status, answer.data["code"]) == (409, "idempotency_conflict")
    elsewhere = server.ask("POST", "/v1/profile/notes", {"text": "x"}, {"idempotency-key": "k1"})
    assert elsewhere.data["code"] == "idempotency_conflict"
    assert count(server) == 1


def test_idempotency_key_of_a_refused_request_can_be_used_again(server):
    assert remember(server, "  ", "k1").data["code"] == "bad_text"
    assert remember(server, "The gate is green", "k1").status == 200


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
def test_idempotency_key_must_be_short_and_printable(server, key):
    answer = remember(server, "The gate is green", key)
    assert (answer.status, answer.data["code"]) == (400, "invalid_input")


def test_idempotency_key_is_ignored_by_reads(server):
    remember(server, "The gate is green", "k1")
    answer = server.ask("POST", "/v1/recall", {"query": "gate"}, {"idempotency-key": "k1"})
    assert answer.status == 200


def test_idempotency_key_does_not_replay_a_key_token(server):
    sent = {"idempotency-key": "k1"}
    made = server.ask("POST", "/v1/keys", {"label": "laptop"}, sent)
    assert made.data["token"]
    again = server.ask("POST", "/v1/keys", {"label": "laptop"}, sent)
    assert (again.status, again.data["code"]) == (409, "idempotency_conflict")
    assert len(server.ask("GET", "/v1/keys").data) == 1


def test_idempotency_key_of_concurrent_requests_runs_once(server, monkeypatch):
    """The second comes while the first is under way: it is told to come again, and then gets the
    first one's answer."""
    begun, go_on = threading.Event(), threading.Event()
    remembers = User.remember

    def slowly(self, *given, **named):
        begun.set()
        assert go_on.wait(30)
        return remembers(self, *given, **named)

    monkeypatch.setattr(User, "remember", slowly)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(remember, server, "The gate is green", "k1")
        assert begun.wait(30)
        second = remember(server, "The gate is green", "k1")
        go_on.set()
        told = first.result(30)
    assert (second.status, second.data["code"]) == (503, "store_busy")
    assert second.data["retryable"]
    assert remember(server, "The gate is green", "k1").body == told.body
    assert count(server) == 1
