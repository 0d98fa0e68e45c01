"""A server from its start to its end: alive, ready, counted, written down, ended calmly."""

import json
import logging
import re
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import pytest

import commonplace
from commonplace import User
from commonplace.surfaces.rest.monitoring import LOGGER_NAME, JsonLogFormatter
from commonplace.surfaces.rest.routes import ROUTES
from commonplace.surfaces.rest.server import free_port, listening_socket
from support.rest_server import PATIENCE, running


@pytest.fixture
def book(tmp_path):
    with commonplace.open(str(tmp_path / "memory.db"), embedder="hashing") as opened:
        yield opened


@pytest.fixture
def server(book):
    with running(book) as server:
        yield server


def test_serve_healthz_and_readyz_answer_ok(server):
    assert server.ask("GET", "/healthz").data == {"status": "ok"}
    assert server.ask("GET", "/readyz").data == {"status": "ready"}


def test_serve_readyz_fails_when_the_store_is_closed(server, book):
    book.close()
    assert server.ask("GET", "/healthz").status == 200
    answer = server.ask("GET", "/readyz")
    assert (answer.status, answer.data["code"]) == (503, "store_closed")


def test_serve_metrics_are_prometheus_text_without_content(server):
    server.ask("POST", "/v1/memories", {"content": "The gate is green"})
    server.ask("GET", "/v1/memories/nowhere")
    answer = server.ask("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    text = answer.body.decode()
    counted = 'commonplace_http_requests_total{method="GET",route="/v1/memories/{id}",status="404"}'
    assert f"{counted} 1" in text
    assert 'commonplace_http_request_seconds_count{route="/v1/memories"} 1' in text
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) \w+ .+|\w+({.*})? [\d.]+", line), line
    assert "nowhere" not in text
    assert "gate" not in text


def test_serve_first_page_lists_all_routes_and_loads_nothing(server):
    answer = server.ask("GET", "/")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    text = answer.body.decode()
    assert not re.search(r"<script|src=|@import|url\(", text)
    for route in ROUTES:
        assert f"<code>{route.in_full()}</code>" in text
    assert f"http://127.0.0.1:{server.port}/v1/recall" in text


def test_serve_docs_page_loads_its_files_from_this_server_alone(server):
    page = server.ask("GET", "/docs", token=False)
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; connect-src 'self'")
    assert "http" not in policy
    text = page.body.decode()
    loaded = re.findall(r"(?:src|href)=([^ >]+)", text)
    assert len(loaded) == text.count("src=") + text.count("href=") == 4
    for file in loaded:
        answer = server.ask("GET", file, token=False)
        assert answer.status == 200, file
        assert answer.headers["content-type"].split("/")[0] in ("text", "image")
    assert b"SwaggerUIBundle" in server.ask("GET", "/docs/swagger-ui-bundle.js").body
    assert b'url: "/openapi.json"' in server.ask("GET", "/docs/start.js").body
    for unknown in ("/docs/redoc.standalone.js", "/docs/..%2F__init__.py", "/docs/core.py"):
        assert server.ask("GET", unknown).status == 404


def test_openapi_subjects_begin_with_recall_and_cover_every_route(server):
    described = server.ask("GET", "/openapi.json").data
    subjects = [tag["name"] for tag in described["tags"]]
    assert subjects[:3] == ["recall", "remember", "forget"]
    operations = [each for path in described["paths"].values() for each in path.values()]
    used = dict.fromkeys(operation["tags"][0] for operation in operations)
    assert list(used) == subjects
    assert next(iter(described["paths"])) == "/v1/recall"


def test_openapi_describes_each_route_by_its_own_subject(server):
    paths = server.ask("GET", "/openapi.json").data["paths"]
    described = {
        (method, path): operation["summary"]
        for path, operations in paths.items()
        for method, operation in operations.items()
    }
    assert described["delete", "/v1/artifacts/{id}"] == "Forget an artifact"
    assert described["get", "/v1/edges/{id}"] == "One edge whole"
    shared = [text for text in described.values() if list(described.values()).count(text) > 1]
    # The same operation under two paths: a proposal is also a question for consent.
    assert len(set(shared)) <= 3, set(shared)


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.setFormatter(JsonLogFormatter())
        self.lines = []

    def emit(self, record):
        self.lines.append(self.format(record))


@pytest.fixture
def lines():
    handler = Lines()
    logger = logging.getLogger(LOGGER_NAME)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler.lines
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_serve_log_has_a_line_per_request_without_content(book, lines, monkeypatch):
    def fails(*given, **named):
        raise RuntimeError(secret)

    monkeypatch.setattr(User, "stats", fails)
    secret = "xylophone"
    token = f"cpk_{secret}"
    with running(book) as server:
        server.ask("POST", "/v1/memories", {"content": secret})
        server.ask("GET", f"/v1/memories?filters=%7B%22thread_id%22%3A%22{secret}%22%7D")
        server.ask("GET", f"/v1/memories/{secret}-7")  # an id, not words
        server.ask("GET", f"/{secret}")
        server.ask("GET", "/v1/me", key=token)
        server.ask("POST", "/v1/recall", headers={"user-agent": secret}, raw=secret.encode())
        failed = server.ask("GET", "/v1/stats")
    assert len(lines) == 7
    assert secret not in "".join(lines)
    told = [json.loads(line) for line in lines]
    assert [(each["route"], each["status"]) for each in told] == [
        ("/v1/memories", 200),
        ("/v1/memories", 200),
        ("/v1/memories/{id}", 404),
        ("(none)", 404),
        ("/v1/me", 401),
        ("/v1/recall", 400),
        ("/v1/stats", 500),
    ]
    assert told[-1]["request"] == failed.headers["request-id"]
    assert told[-1]["exception"] == "RuntimeError"
    assert "test_serve_lifecycle.py:" in told[-1]["where"]


# ——— the end ———


def test_serve_shutdown_answers_requests_in_progress(book, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    remembers = User.remember

    def slowly(self, *given, **named):
        begun.set()
        assert go_on.wait(PATIENCE)
        return remembers(self, *given, **named)

    monkeypatch.setattr(User, "remember", slowly)
    with running(book) as server, ThreadPoolExecutor() as pool:
        under_way = pool.submit(server.ask, "POST", "/v1/memories", {"content": "The gate"})
        assert begun.wait(PATIENCE)
        server.server.should_exit = True
        draining = server.server.server_context.listeners
        while not draining.is_draining:  # bounded by the test's own time limit
            threading.Event().wait(0.01)
        go_on.set()
        assert under_way.result(PATIENCE).status == 200
    assert len(book.user("ana").list().memories) == 1


def test_serve_listening_socket_is_declared_as_tcp():
    """asyncio lets a connection wait for more to send, 40 ms and more, unless it is said to be of
    TCP; accepted connections are what the listening one is."""
    with listening_socket("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


def test_serve_connections_use_tcp_nodelay(server):
    connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        connection.request("GET", "/healthz")
        assert connection.getresponse().read()
        (kept,) = server.server.server_state.connections
        line = kept.transport.get_extra_info("socket")
        assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    finally:
        connection.close()


def test_free_port_returns_zero_when_the_port_is_taken():
    with listening_socket("127.0.0.1", 0) as taken:
        usual = taken.getsockname()[1]
        assert free_port("127.0.0.1", usual) == 0
    assert free_port("127.0.0.1", usual) == usual


def test_serve_on_a_taken_port_fails_with_a_remedy(server, tmp_path):
    command = [sys.executable, "-m", "commonplace", "serve", "--port", str(server.port)]
    ran = subprocess.run(
        [*command, "--store", str(tmp_path / "x.db"), "--embedder", "hashing"],
        capture_output=True,
        text=True,
        timeout=PATIENCE * 2,
    )
    assert ran.returncode == 1
    assert "bad_settings" in ran.stderr
    assert "--port" in ran.stderr
