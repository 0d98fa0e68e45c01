"""Two servers on one store are one service: what ends at one has ended at the other."""

from __future__ import annotations

import socket

import pytest

from support.rest_server import PATIENCE
from support.served import Served
from support.whole import open_plainly


@pytest.fixture
def servers(store_url):
    with open_plainly(store_url) as book:
        owner = book.user("ana").keys_create("owner").token
    with Served(store_url) as one, Served(store_url) as other:
        yield one, other, owner


def test_api_key_revoked_or_rotated_is_refused_by_another_server(servers):
    one, other, owner = servers
    for end in ("revoke", "rotate"):
        made = one.ask("POST", "/v1/keys", {"label": "bot"}, key=owner).data
        assert other.ask("GET", "/v1/me", key=made["token"]).status == 200
        if end == "revoke":
            answer = one.ask("DELETE", f"/v1/keys/{made['id']}", key=owner)
        else:
            answer = one.ask("POST", f"/v1/keys/{made['id']}/rotate", {}, key=owner)
        assert answer.status == 200
        assert other.ask("GET", "/v1/me", key=made["token"]).status == 401


def test_change_stream_ends_when_its_api_key_is_revoked_on_another_server(servers):
    one, other, owner = servers
    made = one.ask("POST", "/v1/keys", {"label": "bot"}, key=owner).data
    with socket.create_connection(("127.0.0.1", other.port), PATIENCE) as line:
        line.sendall(
            b"GET /v1/changes/stream HTTP/1.1\r\nHost: localhost\r\n"
            b"Authorization: Bearer " + made["token"].encode() + b"\r\n\r\n"
        )
        heard = line.recv(1000)
        while b": listening" not in heard:
            heard += line.recv(1000)
        one.ask("POST", "/v1/memories", {"content": "The gate is green"}, key=owner)
        while b"event: changes" not in heard:
            heard += line.recv(1000)
        one.ask("DELETE", f"/v1/keys/{made['id']}", key=owner)
        one.ask("POST", "/v1/memories", {"content": "The gate is blue"}, key=owner)
        while not heard.endswith(b"0\r\n\r\n"):
            piece = line.recv(1000)
            assert piece, "it ends with a proper end"
            heard += piece
    assert b"unauthenticated" in heard
    assert b"green" in heard
    assert b"blue" not in heard


def test_idempotency_key_is_honoured_across_servers(servers):
    one, other, owner = servers
    key = {"idempotency-key": "once"}
    sent = {"content": "The gate is green", "kind": "note"}
    first = one.ask("POST", "/v1/memories", sent, key, key=owner)
    again = other.ask("POST", "/v1/memories", sent, key, key=owner)
    assert (again.status, again.body) == (200, first.body)
    assert len(one.ask("GET", "/v1/memories", key=owner).data["memories"]) == 1


def test_recall_sees_writes_of_another_server_at_once(servers):
    one, other, owner = servers
    for number in range(5):
        told = {"content": f"Locker {number} holds the red lamp", "kind": "note"}
        id = one.ask("POST", "/v1/memories", told, key=owner).data["id"]
        found = other.ask("POST", "/v1/recall", {"query": f"locker {number}"}, key=owner)
        assert id in [hit["id"] for hit in found.data["hits"]]
