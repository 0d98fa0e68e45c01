"""Memory stays bounded whatever a request contains: its size by route and rights, its JSON by
depth and number of values, all bodies together."""

import contextlib
import json
import socket
from pathlib import Path

import pytest

import commonplace
from commonplace.errors import InvalidInput, StoreBusy, TooLong
from commonplace.model.json_structure import MAX_DEPTH, MAX_TOKENS, check_json_structure
from commonplace.surfaces.rest.endpoints import MAX_LINES
from commonplace.surfaces.rest.routes import ROUTES
from commonplace.surfaces.rest.server_context import LargeBodies
from support.rest_server import PATIENCE, running
from support.served import Served

MEGABYTE = 1_000_000
MCP = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("bodies") / "memory.db")
    with commonplace.open(store, embedder="hashing") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(book):
    flags = {"serve_max_mb": 4, "serve_max_small_mb": 0.1}
    with running(book, serve_rate=0, **flags) as server:
        yield server


@pytest.fixture(scope="module")
def reader(book):
    return book.user("ana").keys_create("reader", read_only=True).token


# ——— structure ———


def lists(count):
    return b"[" + b"[]," * (count - 1) + b"[]]"


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": ' + lists(MAX_TOKENS // 3 - 2) + b"}",
        b"[" * MAX_DEPTH + b"]" * MAX_DEPTH,
        b'{"text": "' + b"[,{" * MAX_TOKENS + b'"}',
        b'["' + b'\\"[' * MAX_TOKENS + b'"]',
        "[\u2028, \u05d0]".encode(),
        b"",
    ],
)
def test_json_structure_within_the_limits_passes(text):
    check_json_structure(text, "body")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (lists(MAX_TOKENS), TooLong),
        (b'{"a":1,' * MAX_DEPTH + b'{"', InvalidInput),
        (b"[" * (MAX_DEPTH + 1), InvalidInput),
        (b"1," * (MAX_TOKENS + 1), TooLong),
        (b'""' * (MAX_TOKENS + 1), TooLong),
        (b"]" * (MAX_TOKENS + 1), TooLong),
    ],
)
def test_json_structure_beyond_the_limits_is_refused(text, error):
    with pytest.raises(error) as refused:
        check_json_structure(text, "body")
    assert refused.value.field == "body"


@pytest.mark.parametrize("path", ["/v1/sources", "/v1/memories/batch", "/v1/import", "/mcp"])
def test_rest_refuses_wide_and_deep_json(server, path):
    for raw in (lists(MEGABYTE), b"[" * MEGABYTE, b'{"a":' * 700_000):
        answer = server.ask("POST", path, None, MCP, raw=raw)
        assert answer.status in (400, 413)
        assert b"too many" in answer.body or b"too deeply" in answer.body


def test_rest_import_refuses_too_many_lines(server):
    plain = {"content-type": "application/octet-stream"}
    answer = server.ask("POST", "/v1/import", None, plain, raw=b"\n" * (MAX_LINES + 1))
    assert (answer.status, answer.data["code"]) == (413, "too_long")


def test_import_line_with_too_many_values_is_refused(book):
    with pytest.raises(InvalidInput):
        book.user("ana").import_([lists(MAX_TOKENS).decode()])


# ——— size ———


def test_rest_body_size_is_limited_by_route(server):
    large = {route.name for route in ROUTES if route.takes_large_body}
    assert large == {"ingest", "import", "remember-many", "observe-many"}
    pad = "x" * 200_000
    for path, body in (
        ("/v1/recall", {"query": "x", "filters": {"role": pad}}),
        ("/v1/memories", {"content": pad}),
    ):
        answer = server.ask("POST", path, body)
        assert (answer.status, answer.data["code"]) == (413, "too_long")
        assert "serve_max_small_mb" in answer.data["remedy"]
    one = {"kind": "note", "metadata": {"x": "y" * 2000}}
    items = {"items": [{**one, "content": f"The gate {n} is green"} for n in range(100)]}
    assert len(json.dumps(items)) > 200_000
    assert server.ask("POST", "/v1/memories/batch", items).status == 200
    whole = server.ask("POST", "/v1/memories/batch", None, MCP, raw=b" " * (5 * MEGABYTE))
    assert "serve_max_mb" in whole.data["remedy"]


@pytest.mark.parametrize("path", ["/v1/sources", "/v1/memories/batch", "/v1/memories"])
def test_rest_read_only_key_is_refused_before_its_body_is_read(server, reader, path):
    """The answer comes though the body never does."""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
        line.sendall(
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {reader}\r\n"
            "Content-Type: application/json\r\nContent-Length: 3000000\r\n\r\n{".encode()
        )
        assert line.recv(100).startswith(b"HTTP/1.1 403 ")


def test_rest_request_with_a_length_and_chunks_is_refused(server):
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
        line.sendall(
            b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG"
        )
        assert line.recv(100).startswith(b"HTTP/1.1 400 ")


def test_mcp_read_only_key_may_send_small_bodies_only(server, reader):
    answer = server.ask("POST", "/mcp", None, MCP, key=reader, raw=b" " * 200_000)
    assert answer.status == 413
    assert b"serve_max_small_mb" in answer.body


def test_large_bodies_together_are_limited_and_one_user_takes_half():
    bodies = LargeBodies(100)
    with bodies.held("ana") as ana, bodies.held("ana") as again, bodies.held("bob") as bob:
        ana(40)
        with pytest.raises(StoreBusy):
            again(20)
        again(10)
        bob(50)
        with bodies.held("carol") as carol, pytest.raises(StoreBusy):
            carol(1)
    with bodies.held("carol") as carol:
        carol(50)


# ——— memory of a process ———


def resident(process):
    """Megabytes."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * 4096 / MEGABYTE


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory is read from /proc")
def test_serve_memory_stays_bounded_for_large_json_bodies(tmp_path):
    """57 MB of lists, from keys that may write and from one that may not, at every door."""
    with Served(str(tmp_path / "memory.db"), serve_rate=0) as server:
        reader = server.ask("POST", "/v1/keys", {"label": "r", "read_only": True}).data["token"]
        server.ask("POST", "/v1/memories", {"content": "The gate is green"})
        before = resident(server.process)
        for raw in (lists(19 * MEGABYTE), b'{"a":' * (11 * MEGABYTE)):
            for path in ("/v1/recall", "/v1/sources", "/v1/import", "/mcp"):
                for key in (None, reader):
                    with contextlib.suppress(ConnectionError):
                        answer = server.ask("POST", path, None, MCP, key=key, raw=raw)
                        assert 400 <= answer.status < 500
        assert resident(server.process) - before < 200
