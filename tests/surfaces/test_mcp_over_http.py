"""Over HTTP: beside REST on the same port, with the same keys, doors and rates. Every request says
who it is from, in whichever session it comes."""

import json
import threading
from http.client import HTTPConnection

import pytest
from mcp.shared.exceptions import MCPError

import commonplace
from support.mcp_client import MODES, over_http
from support.rest_server import PATIENCE, running

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("mcp") / "memory.db")
    with commonplace.open(store, embedder="hashing") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(book):
    book.user("first").keys_create("so that there is one")
    with running(book, serve_keyless=False, serve_max_mb=0.2) as server:
        yield server


@pytest.fixture(params=MODES)
def speaking(request, server):
    return lambda key, **more: over_http(server.url, key, mode=request.param, **more)


def initialize(version="2025-11-25"):
    params = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def listing(id=2):
    return {"jsonrpc": "2.0", "id": id, "method": "tools/list"}


def began(server, key, version="2025-11-25"):
    """A session as older clients open it; its headers."""
    answer = server.ask("POST", "/mcp", initialize(version), JSON, key=key)
    assert answer.status == 200, answer.body
    session = {**JSON, "mcp-session-id": answer.headers["mcp-session-id"]}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert server.ask("POST", "/mcp", ready, session, key=key).status == 202
    return session


def said(answer):
    """The message in an answer, as JSON or as an event."""
    text = answer.body.decode()
    if answer.headers["content-type"].startswith("text/event-stream"):
        text = next(line[6:] for line in text.splitlines() if line.startswith("data: {"))
    return json.loads(text)


def refusal(answer, status, code):
    assert answer.status == status, answer.body
    error = said(answer)["error"]
    assert error["data"]["code"] == code
    assert error["message"].startswith(f"{code}: ")


# ——— keys ———


@pytest.mark.parametrize("key", [None, "cpk_wrong", "nonsense"])
def test_mcp_over_http_requires_a_valid_key(server, key):
    answer = server.ask("POST", "/mcp", initialize(), JSON, key=key)
    refusal(answer, 401, "unauthenticated")
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_mcp_over_http_refuses_an_admin_key(server, book):
    key = book.admin_keys_create("operations").token
    refusal(server.ask("POST", "/mcp", initialize(), JSON, key=key), 403, "not_allowed")


def test_mcp_client_sees_the_error_code_of_a_refused_key(speaking):
    with pytest.raises(BaseExceptionGroup) as refused, speaking("cpk_wrong") as client:
        client.data("profile")
    assert refused.group_contains(MCPError, match="unauthenticated")


def test_mcp_over_http_refuses_a_key_revoked_during_a_session(speaking, server, book):
    ana = book.user("ana")
    key = ana.keys_create("laptop")
    with speaking(key.token) as client:
        client.data("remember", content="The gate is green")
        ana.keys_revoke(key.id)
        with pytest.raises(MCPError, match="unauthenticated"):
            client.data("profile")


def test_mcp_read_only_key_can_only_read(speaking, book):
    ana = book.user("reader")
    ana.remember("The gate is green")
    with speaking(ana.keys_create("reader", read_only=True).token) as client:
        assert "green" in client.call("memory_query", query="gate").content[0].text
        told = client.refusal("remember", content="The gate is red")
        assert client.refusal("profile", name="city", value="Haifa")["code"] == "not_allowed"
    assert told["code"] == "not_allowed"


def test_mcp_agent_key_fixes_agent_name_and_allowlist(speaking, book):
    """The name comes from the key: no argument and no header makes it another one."""
    ana = book.user("owner of a planner")
    tea = ana.remember("I prefer tea over coffee").id
    ana.remember("I need to renew the passport by June")
    key = ana.keys_create("planner", for_agent="planner").token
    with speaking(key) as client:
        assert client.data("recall", query="tea or coffee")["hits"] == []
        assert client.data("recall", query="passport")["hits"]
        assert client.refusal("show", id=tea)["code"] == "not_found"
        told = client.refusal("recall", query="tea", categories=["preferences"])
        assert told["code"] == "category_not_allowed"
        assert client.refusal("memory_query", query="tea", agent="stylist")["code"] == "not_allowed"
    with (
        pytest.raises(BaseExceptionGroup) as refused,
        speaking(key, headers={"commonplace-agent": "stylist"}) as client,
    ):
        client.data("profile")
    assert refused.group_contains(MCPError, match="not_allowed")


def test_mcp_agent_header_narrows_an_owner_key(speaking, book):
    ana = book.user("narrowed")
    ana.remember("I prefer tea over coffee")
    key = ana.keys_create("laptop").token
    with speaking(key, headers={"commonplace-agent": "planner"}) as client:
        assert client.data("recall", query="tea or coffee")["hits"] == []


# ——— two users ———


def test_mcp_tools_show_nothing_of_another_user(speaking, book):
    ana, bo = book.user("ana of two"), book.user("bo of two")
    memory = ana.remember("The safe opens with 36-24-36").id
    held = ana.remember("The door code is 4411").id
    conflict = ana.remember("The door code is 5522").conflict
    source = ana.ingest(b"Tal: The spare keys are in the blue drawer.", external_id="k").id
    before = ana.revision
    with speaking(bo.keys_create("bo").token) as client:
        for tool, arguments in (
            ("show", {"id": memory}),
            ("show", {"id": source}),
            ("show", {"id": f"{source}#1"}),
            ("forget", {"ids": [memory]}),
            ("forget", {"ids": [source]}),
            ("forget", {"ids": [memory], "undo": True}),
            ("update", {"id": held, "importance": 5}),
            ("conflicts", {"conflict": conflict, "choice": "override"}),
            ("recall", {"query": "keys", "sources": [source]}),
            ("memory_query", {"query": "safe", "filters": {"user_id": "ana of two"}}),
        ):
            theirs = client.refusal(tool, **arguments)
            nowhere = {n: "nowhere" if n in ("id", "conflict") else v for n, v in arguments.items()}
            # What only an owner decides an agent is refused, there or not.
            code = "not_allowed" if tool == "conflicts" else "not_found"
            assert theirs["code"] == client.refusal(tool, **nowhere)["code"] == code, tool
            assert set(theirs) == set(client.refusal(tool, **nowhere))
        for query in ("safe", "door code", "spare keys"):
            assert client.data("recall", query=query)["hits"] == []
        assert client.data("show")["memories"] == []
        assert client.data("conflicts")["result"] == []
        assert "36-24-36" not in str(client.call("context", query="safe"))
    assert ana.revision == before


def test_mcp_session_is_bound_to_key_and_agent(server, book):
    """Not even to another key of the same user: it may have other rights."""
    ana, bo = book.user("ana with a session"), book.user("bo without")
    first, second = (ana.keys_create(label).token for label in ("one", "two"))
    session = began(server, first)
    assert server.ask("POST", "/mcp", listing(), session, key=first).status == 200
    for key in (second, bo.keys_create("bo").token):
        assert server.ask("POST", "/mcp", listing(), session, key=key).status == 404
        assert server.ask("DELETE", "/mcp", None, session, key=key).status == 404
    narrowed = {**session, "commonplace-agent": "planner"}
    assert server.ask("POST", "/mcp", listing(), narrowed, key=first).status == 404
    assert server.ask("POST", "/mcp", listing(), session, key=first).status == 200


# ——— versions, doors, limits ———


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_mcp_supports_earlier_protocol_versions(server, book, version):
    key = book.user("earlier").keys_create(version).token
    answer = server.ask("POST", "/mcp", initialize(version), JSON, key=key)
    assert said(answer)["result"]["protocolVersion"] == version
    session = {**began(server, key, version), "mcp-protocol-version": version}
    assert len(said(server.ask("POST", "/mcp", listing(), session, key=key))["result"]["tools"]) > 9


def test_mcp_answers_an_unknown_protocol_version_with_a_known_one(server, book):
    key = book.user("earlier").keys_create("unknown").token
    answer = server.ask("POST", "/mcp", initialize("1999-01-01"), JSON, key=key)
    assert said(answer)["result"]["protocolVersion"] == "2025-11-25"


def test_mcp_over_http_refuses_foreign_hosts_and_origins(server, book):
    key = book.user("rebound").keys_create("x").token
    for headers, status in (
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
    ):
        answer = server.ask("POST", "/mcp", initialize(), {**JSON, **headers}, key=key)
        assert answer.status == status


def test_mcp_over_http_refuses_a_too_large_request(server, book):
    key = book.user("large").keys_create("x").token
    body = initialize() | {"more": "x" * 300_000}
    assert server.ask("POST", "/mcp", body, JSON, key=key).status == 413
    pieces = (b"x" * 50_000 for _ in range(6))
    assert server.ask("POST", "/mcp", None, JSON, key=key, raw=pieces).status == 413


def test_mcp_and_rest_share_the_rate_limit_of_a_key(tmp_path):
    with (
        commonplace.open(str(tmp_path / "rates.db"), embedder="hashing") as book,
        running(book, serve_rate=1) as server,
    ):
        answers = [server.ask("GET", "/v1/me"), server.ask("POST", "/mcp", initialize(), JSON)]
        answers += [server.ask("POST", "/mcp", initialize(), JSON) for _ in range(3)]
    assert [answer.status for answer in answers[:2]] == [200, 200]
    limited = next(answer for answer in answers if answer.status == 429)
    assert said(limited)["error"]["data"]["retryable"]
    assert limited.headers["retry-after"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000])
@pytest.mark.parametrize("version", [None, "2026-07-28", "2025-11-25", "nonsense"])
def test_mcp_over_http_refuses_malformed_bodies_and_keeps_serving(server, book, body, version):
    key = book.user("garbage").keys_create("x").token
    headers = {**JSON, **({"mcp-protocol-version": version} if version else {})}
    assert 400 <= server.ask("POST", "/mcp", None, headers, key=key, raw=body).status < 500
    assert server.ask("POST", "/mcp", initialize(), JSON, key=key).status == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "HEAD", "DELETE", "OPTIONS"])
def test_mcp_over_http_refuses_other_methods_without_a_session(server, book, method):
    key = book.user("methods").keys_create(method).token
    assert 400 <= server.ask(method, "/mcp", None, JSON, key=key).status < 500


def test_mcp_requests_are_counted_in_metrics(server, book):
    key = book.user("watcher").keys_create("x").token
    assert 'route="/mcp"' in server.ask("GET", "/metrics", key=key).body.decode()


# ——— with others ———


def test_mcp_writes_appear_in_the_rest_change_stream(speaking, server, book):
    ana = book.user("listener")
    key = ana.keys_create("x").token
    connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request(
        "GET", "/v1/changes/stream?since=0", None, {"authorization": f"Bearer {key}"}
    )
    stream = connection.getresponse()
    with speaking(key) as client:
        client.data("remember", content="The gate is green")
    lines = iter(stream.readline, b"")
    assert any(b"The gate is green" in line for line in lines)
    connection.close()


def test_mcp_open_streams_end_with_the_server(tmp_path):
    with commonplace.open(str(tmp_path / "end.db"), embedder="hashing") as book:
        with running(book) as server:
            session = began(server, None)
            connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
            connection.request("GET", "/mcp", None, session | server.authorization)
            stream = connection.getresponse()
            assert stream.status == 200
            rest = []
            reading = threading.Thread(target=lambda: rest.append(stream.read()))
            reading.start()
        reading.join(PATIENCE)
        assert rest, "the stream came to its end"
        connection.close()
