"""Service keys over HTTP: Commonplace-User names the user, on REST, MCP and the client."""

import asyncio
import json
import logging
import socket
import threading

import pytest

import commonplace
from commonplace import aio, errors
from support.rest_server import running

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def named(user):
    return {"commonplace-user": user}


@pytest.fixture
def book(tmp_path):
    with commonplace.open(str(tmp_path / "memory.db"), embedder="hashing") as opened:
        opened.user("carol").remember("Carol hides the diary")
        yield opened


@pytest.fixture
def server(book):
    book.user("carol").keys_create("so that there is one")
    with running(book, serve_keyless=False) as server:
        yield server


@pytest.fixture
def service(book):
    return book.service_keys_create("backend", users=["ana", "bob"]).token


def test_rest_service_key_acts_for_the_named_user(server, book, service):
    for user in ("ana", "bob"):
        body = {"content": f"{user} keeps bees"}
        made = server.ask("POST", "/v1/memories", body, named(user), key=service)
        assert made.status == 200
        assert server.ask("GET", "/v1/me", None, named(user), key=service).data["user_id"] == user
    assert [memory.content for memory in book.user("bob").list().memories] == ["bob keeps bees"]


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/me", "/v1/changes/stream"])
def test_rest_service_key_needs_the_header(server, service, path):
    answer = server.ask("GET", path, key=service)
    assert (answer.status, answer.data["code"]) == (400, "missing_field")
    assert "Commonplace-User" in answer.data["remedy"]


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/me", "/v1/changes/stream", "/metrics"])
@pytest.mark.parametrize("user", ["carol", "ANA", "ana,carol"])
def test_rest_service_key_is_refused_for_another_user(server, service, path, user):
    answer = server.ask("GET", path, None, named(user), key=service)
    assert (answer.status, answer.data["code"]) == (403, "not_allowed")
    assert answer.data["remedy"]
    assert b"diary" not in answer.body


@pytest.mark.parametrize("user", ["", " ", "x" * 300])
def test_rest_invalid_user_names_are_refused(server, book, user):
    anybody = book.service_keys_create("all").token
    answer = server.ask("GET", "/v1/memories", None, named(user), key=anybody)
    assert answer.status == 400
    assert answer.data["field"] == "user"


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/me", "/v1/changes/stream", "/metrics"])
def test_rest_ordinary_key_that_names_another_user_is_refused(server, book, path):
    his = book.user("bob").keys_create("laptop").token
    answer = server.ask("GET", path, None, named("carol"), key=his)
    assert (answer.status, answer.data["code"]) == (403, "not_allowed")
    assert server.ask("GET", "/v1/me", None, named("bob"), key=his).data["user_id"] == "bob"


def test_rest_user_header_given_twice_is_refused(server, service):
    raw = "GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    raw += f"Authorization: Bearer {service}\r\n"
    raw += "Commonplace-User: ana\r\nCommonplace-User: bob\r\n\r\n"
    answer = _sent(server.port, raw)
    assert answer.startswith("HTTP/1.1 400")
    assert "more than once" in answer


def _sent(port, text):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(text.encode("latin-1"))
        received = b""
        while piece := connection.recv(65536):
            received += piece
    return received.decode("utf-8")


def test_rest_admin_key_is_refused_a_user_where_none_is_meant(server, book):
    admin = book.admin_keys_create().token
    for path, status in (("/v1/admin/keys", 403), ("/v1/memories", 403), ("/metrics", 403)):
        assert server.ask("GET", path, None, named("ana"), key=admin).status == status
    assert server.ask("GET", "/v1/keys", None, named("ana"), key=admin).status == 200


def test_rest_service_key_administers_nothing(server, service):
    for method, path in (
        ("GET", "/v1/admin/keys"),
        ("POST", "/v1/admin/service-keys"),
        ("GET", "/v1/admin/service-keys"),
        ("GET", "/v1/keys"),
        ("POST", "/v1/keys"),
    ):
        body = {"label": "more"} if method == "POST" else None
        answer = server.ask(method, path, body, named("ana"), key=service)
        assert (answer.status, answer.data["code"]) == (403, "not_allowed"), path


def test_rest_admin_makes_lists_rotates_and_revokes_service_keys(server, book):
    admin = book.admin_keys_create().token
    body = {"label": "backend", "users": ["ana"], "for_agent": "planner"}
    made = server.ask("POST", "/v1/admin/service-keys", body, key=admin).data
    assert (made["users"], made["agent"], made["service"]) == (["ana"], "planner", True)
    path = f"/v1/admin/service-keys/{made['id']}"
    rotated = server.ask("POST", f"{path}/rotate", {}, key=admin).data
    assert server.ask("GET", "/v1/me", None, named("ana"), key=made["token"]).status == 401
    assert server.ask("GET", "/v1/me", None, named("ana"), key=rotated["token"]).status == 200
    server.ask("DELETE", f"/v1/admin/service-keys/{rotated['id']}", key=admin)
    assert server.ask("GET", "/v1/me", None, named("ana"), key=rotated["token"]).status == 401
    listed = server.ask("GET", "/v1/admin/service-keys", key=admin).data
    assert [key["state"] for key in listed] == ["revoked", "revoked"]
    assert all("token" not in key for key in listed)


def test_rest_rate_limit_is_per_acting_user(book):
    service = book.service_keys_create("backend", users=["ana", "bob"]).token
    with running(book, serve_keyless=False, serve_rate=1e-6) as server:

        def status(user):
            return server.ask("GET", "/v1/me", None, named(user), key=service).status

        assert [status("ana"), status("ana"), status("bob"), status("bob")] == [200, 429, 200, 429]
        # Names that the key may not use have one limit together.
        assert [status("carol"), status("dora")] == [403, 429]


def test_rest_idempotency_key_is_per_acting_user(server, book, service):
    def remember(user):
        sent = {**named(user), "idempotency-key": "order-1"}
        body = {"content": "The parcel is here"}
        return server.ask("POST", "/v1/memories", body, sent, key=service).data["id"]

    assert remember("ana") == remember("ana") != remember("bob")
    assert len(book.user("ana").list().memories) == 1


def test_mcp_over_http_acts_for_the_named_user(server, book, service):
    refused = server.ask("POST", "/mcp", INITIALIZE, {**JSON, **named("carol")}, key=service)
    assert refused.status == 403
    assert server.ask("POST", "/mcp", INITIALIZE, JSON, key=service).status == 400
    his = book.user("bob").keys_create("laptop").token
    assert server.ask("POST", "/mcp", INITIALIZE, {**JSON, **named("carol")}, key=his).status == 403
    begun = server.ask("POST", "/mcp", INITIALIZE, {**JSON, **named("ana")}, key=service)
    session = {**JSON, "mcp-session-id": begun.headers["mcp-session-id"]}
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "remember", "arguments": {"content": "Ana keeps bees"}},
    }
    stored = server.ask("POST", "/mcp", call, {**session, **named("ana")}, key=service)
    assert stored.status == 200
    assert [memory.content for memory in book.user("ana").list().memories] == ["Ana keeps bees"]
    # A session belongs to the user for whom it began.
    taken = server.ask("POST", "/mcp", call, {**session, **named("bob")}, key=service)
    assert taken.status == 404
    assert book.user("bob").list().memories == ()


def test_remote_client_names_the_user(server, book, service):
    with commonplace.connect(server.url, service, user="ana") as ana:
        ana.remember("Ana keeps bees")
        assert ana.recall("bees").hits
    assert len(book.user("ana").list().memories) == 1
    with (
        commonplace.connect(server.url, service, user="carol") as carol,
        pytest.raises(errors.NotAllowed),
    ):
        carol.list()
    with pytest.raises(errors.InvalidInput):
        commonplace.connect(server.url, service, user="a\nb")


@pytest.mark.parametrize("user", ["José", "נועה", "voilà", "100%", "Jos%C3%A9", "%41na", "田中 実"])
def test_rest_users_may_have_names_in_any_letters(server, book, user):
    """The last byte of voilà is a no-break space in Latin-1."""
    everyone = book.service_keys_create("all users").token
    raw = named(user.encode())
    assert server.ask("GET", "/v1/me", None, raw, key=everyone).data["user_id"] == user
    with commonplace.connect(server.url, everyone, user=user) as them:
        them.remember("the bees are mine")
        them.agent("planner é").list()
    assert len(book.user(user).list().memories) == 1


def test_rest_user_header_that_is_not_utf8_is_refused(server, book):
    everyone = book.service_keys_create("all users").token
    answer = server.ask("GET", "/v1/me", None, named("José".encode("latin-1")), key=everyone)
    assert (answer.status, answer.data["field"]) == (400, "user")
    assert answer.data["detail"] == "The header for user is not UTF-8."


def test_async_remote_client_names_the_user(server, service):
    async def told():
        async with await aio.connect(server.url, service, user="ana") as ana:
            return await ana.remember("Ana keeps bees")

    assert asyncio.run(told()).id


def test_logs_of_acting_requests_hold_no_content(server, service, caplog):
    with caplog.at_level(logging.DEBUG):
        body = {"content": "The vault code is 4711"}
        server.ask("POST", "/v1/memories", body, named("ana"), key=service)
        server.ask("POST", "/v1/memories", body, named("carol"), key=service)
    written = "\n".join(str(record.__dict__) for record in caplog.records)
    for secret in ("vault", "4711", service, "carol"):
        assert secret not in written


def test_concurrent_requests_of_one_service_key_keep_users_apart(server, book, service):
    def write(user):
        for number in range(5):
            body = {"content": f"{user} counted {number} birds"}
            server.ask("POST", "/v1/memories", body, named(user), key=service)

    threads = [threading.Thread(target=write, args=(user,)) for user in ("ana", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for user in ("ana", "bob"):
        told = json.dumps([m.content for m in book.user(user).list().memories])
        assert ("ana" in told, "bob" in told) == (user == "ana", user == "bob")
