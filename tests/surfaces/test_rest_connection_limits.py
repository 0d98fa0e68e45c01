"""Nobody shuts others out: unfinished requests, idle connections, many connections, hung-up
clients. With raw sockets, and time-outs of a fraction of a second."""

import contextlib
import json
import logging
import os
import resource
import socket
import subprocess
import sys
from http.client import HTTPConnection
from shlex import quote

import pytest

import commonplace
from commonplace.surfaces.rest.monitoring import LOGGER_NAME
from commonplace.surfaces.rest.server_context import MAX_STREAMS
from support.rest_server import PATIENCE, running

SHORT = 0.2  # seconds
LONG = 600


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("limits") / "memory.db")
    with commonplace.open(store, embedder="hashing") as opened:
        yield opened


@contextlib.contextmanager
def serving(book, **flags):
    """Nothing ends by time but what a test says."""
    patient = {"serve_header_seconds": LONG, "serve_transfer_seconds": LONG}
    with running(book, serve_rate=0, **{**patient, "serve_idle_seconds": LONG, **flags}) as server:
        yield server


def opened(server):
    return socket.create_connection(("127.0.0.1", server.port), PATIENCE)


def heard(line):
    """Everything until the server closes."""
    said = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := line.recv(65536):
            said += piece
    return said


def head(server, length=None, path="/v1/memories", method="POST"):
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {server.token}",
    ]
    lines += [] if length is None else [f"Content-Length: {length}"]
    return "\r\n".join([*lines, "Content-Type: application/json", "", ""]).encode()


# ——— time ———


def test_connection_without_a_request_is_closed_in_time(book):
    with serving(book, serve_header_seconds=SHORT) as server, opened(server) as line:
        assert heard(line) == b""


def test_connection_with_unfinished_headers_is_answered_408_in_time(book):
    with serving(book, serve_header_seconds=SHORT) as server, opened(server) as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: local")
        said = heard(line)
        assert said.startswith(b"HTTP/1.1 408 ")
        problem = json.loads(said.split(b"\r\n\r\n")[1])
        assert problem["code"] == "invalid_input"
        assert "0.2 seconds" in problem["detail"]


def test_connection_is_not_prolonged_by_single_bytes_of_headers(book):
    with serving(book, serve_header_seconds=SHORT) as server, opened(server) as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\n")
        line.settimeout(SHORT / 10)
        said = b""
        for _ in range(1000):
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                line.sendall(b"X: y\r\n")
            try:
                said = line.recv(1000)
                break
            except TimeoutError:
                continue
        assert b"408" in said


def test_connection_second_request_has_the_header_time_out_too(book):
    with serving(book, serve_header_seconds=SHORT) as server, opened(server) as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        said = b""
        while b'"ok"' not in said:
            said += line.recv(1000)
        line.sendall(b"GET /he")
        assert b"408" in heard(line)


def test_connection_that_is_idle_is_closed_in_time(book):
    with serving(book, serve_idle_seconds=SHORT) as server, opened(server) as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert heard(line).endswith(b'{"status":"ok"}')


def test_connection_with_a_stalled_body_is_closed_in_time(book):
    with serving(book, serve_transfer_seconds=SHORT) as server, opened(server) as line:
        line.sendall(head(server, 1000) + b'{"content": ')
        assert heard(line) == b""
        assert server.ask("GET", "/healthz").status == 200


def test_connection_body_that_arrives_steadily_is_not_cut(book):
    """It takes longer than the time without progress, at more than the least rate."""
    body = json.dumps({"content": "The gate is green", "metadata": {"x": "y" * 2000}}).encode()
    with serving(book, serve_transfer_seconds=SHORT) as server, opened(server) as line:
        line.sendall(head(server, len(body)) + body[:1000])
        line.settimeout(SHORT * 2)
        with pytest.raises(TimeoutError):
            line.recv(1)
        line.settimeout(PATIENCE)
        line.sendall(body[1000:])
        assert line.recv(1000).startswith(b"HTTP/1.1 200")


def test_connection_whose_rest_of_the_body_nobody_wants_is_closed_in_time(book):
    with serving(book, serve_header_seconds=SHORT) as server, opened(server) as line:
        line.sendall(head(server, 1000, "/v1/nowhere"))
        said = heard(line)
        assert said.startswith(b"HTTP/1.1 404")


def test_connection_that_does_not_read_its_answer_is_closed_in_time(book):
    """An export is larger than what the kernel holds for a reader."""
    ana = book.user("ana")
    ana.remember_many([{"content": f"{n} " + "x" * 30_000, "kind": "note"} for n in range(20)])
    with serving(book, serve_transfer_seconds=SHORT) as server:
        server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.settimeout(PATIENCE)
        with line:
            line.connect(("127.0.0.1", server.port))
            line.sendall(head(server, None, "/v1/export", "GET"))
            assert line.recv(12).endswith(b"200")
            (held,) = server.server.server_state.connections
            while not held.transport.is_closing():
                assert server.ask("GET", "/healthz").status == 200
            assert not heard(line).endswith(b"0\r\n\r\n")
        assert server.ask("GET", "/healthz").status == 200


def test_connection_of_a_stream_outlives_all_time_outs(book):
    short = dict.fromkeys(
        ("serve_header_seconds", "serve_transfer_seconds", "serve_idle_seconds"), SHORT
    )
    with serving(book, **short) as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=SHORT * 4)
        connection.request("GET", "/v1/changes/stream", headers=server.authorization)
        stream = connection.getresponse()
        assert stream.readline() == b": listening\n"
        stream.readline()
        with pytest.raises(TimeoutError):
            stream.readline()
        connection.sock.settimeout(PATIENCE)
        connection.close()


# ——— number ———


def test_connections_without_requests_do_not_shut_others_out(book):
    with serving(book, serve_connections=20) as server, contextlib.ExitStack() as lines:
        for _ in range(60):
            line = lines.enter_context(opened(server))
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
        for _ in range(30):
            assert server.ask("GET", "/healthz").status == 200
        assert len(server.server.server_state.connections) <= 21


def test_connections_of_one_address_are_limited_and_the_longest_waiting_goes(book):
    with serving(book, serve_connections_per_address=3) as server, contextlib.ExitStack() as lines:
        first, *others = (lines.enter_context(opened(server)) for _ in range(4))
        assert heard(first) == b""
        for line in others:
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert line.recv(100).startswith(b"HTTP/1.1 200")


def test_connections_with_running_requests_are_never_closed_for_a_new_one(book):
    with serving(book, serve_connections=2) as server, contextlib.ExitStack() as lines:
        busy = [lines.enter_context(opened(server)) for _ in range(2)]
        for line in busy:
            line.sendall(head(server, None, "/v1/changes/stream", "GET"))
            assert b"200 OK" in line.recv(100)
        with opened(server) as late:
            said = heard(late)
        assert said.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1" in said
        assert json.loads(said.split(b"\r\n\r\n")[1])["code"] == "rate_limited"
        server.server.server_context.listeners.drain()
        assert b"listening" in busy[0].recv(1000)


def test_streams_of_one_user_are_limited(book):
    bob = book.user("bob").keys_create("x").token
    with serving(book) as server, contextlib.ExitStack() as lines:
        for _ in range(MAX_STREAMS):
            line = lines.enter_context(opened(server))
            line.sendall(head(server, None, "/v1/changes/stream", "GET"))
            assert b"200 OK" in line.recv(100)
            while b"listening" not in line.recv(1000):
                continue
        for path in ("/v1/changes/stream", "/mcp"):
            answer = server.ask("GET", path, headers={"accept": "text/event-stream"})
            assert answer.status == 429
            assert b"rate_limited" in answer.body
        assert server.ask("HEAD", "/v1/changes/stream", key=bob).status == 200
        assert server.ask("GET", "/v1/me").status == 200
        server.server.server_context.listeners.drain()


@pytest.fixture
def small_process(tmp_path):
    """A server that may open 1,024 descriptors, and its port."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    program = f"{quote(sys.executable)} -m commonplace serve --port {port} --embedder hashing"
    command = f"ulimit -n 1024; exec {program} --store {quote(str(tmp_path / 'memory.db'))}"
    variables = {
        "COMMONPLACE_SERVE_CONNECTIONS": "100000",
        "COMMONPLACE_SERVE_CONNECTIONS_PER_ADDRESS": "100000",
        "COMMONPLACE_SERVE_HEADER_SECONDS": str(LONG),
    }
    process = subprocess.Popen(
        ["sh", "-c", command],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert b"listens" in process.stdout.readline()
        yield port
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()


def test_connections_of_an_attacker_leave_descriptors_for_others(small_process):
    """1,050 connections without a finished header, at 1,024 descriptors."""
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 2048:
        pytest.skip("this process may not open enough itself")
    with contextlib.ExitStack() as lines:
        for _ in range(1050):
            line = socket.create_connection(("127.0.0.1", small_process), PATIENCE)
            lines.enter_context(line)
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
        for _ in range(20):
            connection = HTTPConnection("127.0.0.1", small_process, timeout=PATIENCE)
            connection.request("GET", "/readyz")
            assert connection.getresponse().status == 200
            connection.close()


# ——— clients that hang up ———


class Records(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/sources", "/mcp"])
def test_client_that_hangs_up_is_no_server_error_in_log_and_metrics(book, path):
    handler = Records()
    logger = logging.getLogger(LOGGER_NAME)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with serving(book) as server:
            for _ in range(5):
                with opened(server) as line:
                    line.sendall(head(server, 1000, path) + b"{")
                    assert server.ask("GET", "/healthz").status == 200  # so the other has arrived
            numbers = server.ask("GET", "/metrics").body.decode()
            while f'route="{path}",status="499"}} 5' not in numbers:
                numbers = server.ask("GET", "/metrics").body.decode()
    finally:
        logger.removeHandler(handler)
    assert 'status="500"' not in numbers
    assert [r for r in handler.records if r.levelno > logging.INFO or r.exc_info] == []
