"""`commonplace serve` as a process: how it begins, whom it lets in, and how it ends."""

import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading

import pytest

import commonplace
from support.program import run
from support.rest_server import PATIENCE
from support.served import Served

TOKEN = re.compile(r"cpk_[\w.-]+")


@pytest.fixture
def store(tmp_path):
    return str(tmp_path / "served.db")


def refused_to_start(store, *options):
    command = [sys.executable, "-m", "commonplace", "serve", "--store", store, "--port", "0"]
    ran = subprocess.run(
        [*command, "--embedder", "hashing", *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE * 2,
    )
    assert ran.returncode == 1, ran
    assert "Traceback" not in ran.stderr
    return ran.stderr


# ——— the beginning ———


def test_serve_prints_the_first_admin_key_once(store):
    with Served(store) as first:
        assert first.ask("GET", "/healthz").status == 200
        told = first.complaints
        (token,) = set(TOKEN.findall(told))
        assert "It is not shown again" in told
        assert f"{first.url}/v1/keys" in told
        whose = {"commonplace-user": "bob"}
        made = first.ask("POST", "/v1/keys", {"label": "laptop"}, whose, key=token)
        bobs = made.data["token"]
        first.tell_to_stop()
        assert first.exit_code() == 0
        assert first.complaints.count(token) == 1, "no line of the log holds it"
    with Served(store) as second:
        assert second.ask("GET", "/v1/me", key=bobs).data["user_id"] == "bob"
        assert not TOKEN.search(second.complaints)


@pytest.fixture(scope="module")
def carols(tmp_path_factory):
    with Served(str(tmp_path_factory.mktemp("carol") / "served.db"), user="carol") as server:
        yield server


def test_serve_on_loopback_names_the_user_without_a_key(carols):
    assert "'carol'" in carols.who
    assert carols.ask("GET", "/v1/me").data["user_id"] == "carol"
    assert "user=carol" in carols.ask("GET", "/v1/doctor").body.decode()


def test_serve_on_other_addresses_requires_an_api_key(store):
    told = refused_to_start(store, "--host", "0.0.0.0")
    assert "commonplace keys create" in told
    with commonplace.open(store, embedder="hashing") as book:
        token = book.user("ana").keys_create("laptop").token
    with Served(store, "--host", "0.0.0.0") as server:
        assert "needs an API key" in server.who
        assert server.ask("GET", "/v1/memories").status == 401
        assert server.ask("GET", "/v1/memories", key=token).status == 200


def test_serve_prints_a_keys_create_command_usable_from_another_shell(tmp_path):
    store, elsewhere = str(tmp_path / "a b.db"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    with commonplace.open(store, embedder="hashing") as book:
        book.user("ana").keys_create("laptop")
    with Served(store, "--host", "0.0.0.0") as server:
        command = server.who.split("`")[1].replace("LABEL", "phone").replace("NAME", "bob")
        program, *arguments = shlex.split(command)
        assert program == "commonplace"
        made = run([*arguments, "--embedder", "hashing"], environment={}, folder=elsewhere)
        (token,) = set(TOKEN.findall(made.stdout))
        assert server.ask("GET", "/v1/me", key=token).data["user_id"] == "bob"


def test_serve_refuses_foreign_hosts_and_origins(carols):
    assert carols.ask("GET", "/v1/stats", headers={"host": "evil.example"}).status == 421
    foreign = {"origin": "https://evil.example"}
    assert carols.ask("GET", "/v1/stats", headers=foreign).status == 403
    preflight = {**foreign, "access-control-request-method": "POST"}
    answer = carols.ask("OPTIONS", "/v1/memories", headers=preflight)
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_serve_refuses_cross_site_embedding(carols):
    """An image or a script of a page sends no Origin; browsers tell where it stands all the
    same. Following a link is the person's own doing."""
    embedded = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert carols.ask("GET", "/v1/changes", headers=embedded).status == 403
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert carols.ask("GET", "/healthz", headers=followed).status == 200
    own = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
    assert carols.ask("GET", "/healthz", headers=own).status == 200


HEADERS = [
    "accept",
    "authorization",
    "commonplace-agent",
    "commonplace-user",
    "content-type",
    "cookie",
    "expect",
    "host",
    "idempotency-key",
    "if-match",
    "last-event-id",
    "mcp-session-id",
    "origin",
    "referer",
    "traceparent",
    "user-agent",
    "x-forwarded-for",
]


def test_serve_log_holds_no_request_content(carols):
    """A word in every place of a request, also of one that is no HTTP."""
    word = "xylophone"
    fields = {"content": word, "kind": "note", "tags": [word], "metadata": {word: word}}
    assert carols.ask("POST", "/v1/memories", fields).status == 200
    for body in ({word: word}, {"content": word, "kind": word}, {"content": word * 10_000}):
        assert carols.ask("POST", "/v1/memories", body).status == 400
    carols.ask("POST", "/v1/recall", {"query": word, "thread": word, "filters": {"role": word}})
    carols.ask("POST", "/v1/sources", {"original": f"Tal: {word}", "title": word})
    carols.ask("POST", f"/v1/sources?title={word}", raw=word.encode())
    carols.ask("GET", f"/v1/memories?after={word}&{word}={word}")
    carols.ask("GET", f"/v1/memories/{word}/history")
    carols.ask("PUT", f"/v1/profile/{word}", {"value": word})
    carols.ask(word.upper(), f"/{word}")
    carols.ask("GET", "/v1/changes/stream", headers={"last-event-id": word})
    for name in HEADERS:
        carols.ask("GET", "/v1/stats", headers={name: word})
        carols.ask("POST", "/v1/memories", {"content": word}, {name: word})
    with socket.create_connection(("127.0.0.1", carols.port), PATIENCE) as line:
        line.sendall(f"{word} {word}\r\n{word}\r\n\r\n".encode())
        assert b"400" in line.recv(1000)
    told = carols.complaints
    assert '"route": "/v1/memories/{id}/history"' in told
    assert word not in told.lower()


# ——— work beside serving ———


def test_serve_runs_jobs_unless_no_worker_is_set(store):
    talk = {"original": "Tal: The spare keys are in the blue drawer.", "wait": False}
    with Served(store, "--no-worker") as idle:
        assert idle.ask("POST", "/v1/sources", talk).status == 200
        assert idle.ask("GET", "/v1/jobs").data, "nobody does it here"
    with Served(store, "--worker") as busy:
        for _ in range(PATIENCE * 20):
            if not busy.ask("GET", "/v1/jobs").data:
                break
            threading.Event().wait(0.05)
        assert busy.ask("GET", "/v1/jobs").data == []
        found = busy.ask("POST", "/v1/recall", {"query": "where are the spare keys?"})
        assert found.data["hits"]
        busy.tell_to_stop()
        assert busy.exit_code() == 0


# ——— the end ———


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_answers_a_started_request_before_shutdown(store, number):
    body = json.dumps({"content": "The gate is green"}).encode()
    with Served(store) as server:
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
            head = (
                "POST /v1/memories HTTP/1.1\r\nHost: localhost\r\n"
                f"Authorization: Bearer {server.token}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            line.sendall(head.encode() + body[:10])
            assert server.ask("GET", "/healthz").status == 200  # so the one before has arrived
            server.tell_to_stop(number)
            line.sendall(body[10:])
            assert line.recv(1000).startswith(b"HTTP/1.1 200")
        assert server.exit_code() == 0, server.complaints
        assert "gate" not in server.complaints
    with commonplace.open(store, embedder="hashing") as book:
        assert book.user("ana").list().memories[0].content == "The gate is green"


def test_serve_ends_streams_on_shutdown(store):
    with Served(store) as server:
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
            head = "GET /v1/changes/stream HTTP/1.1\r\nHost: localhost\r\n"
            line.sendall(f"{head}Authorization: Bearer {server.token}\r\n\r\n".encode())
            heard = line.recv(1000)
            while b": listening" not in heard:
                heard += line.recv(1000)
            server.tell_to_stop()
            rest = b""
            while piece := line.recv(1000):
                rest += piece
            assert rest.endswith(b"0\r\n\r\n"), "the answer came to its proper end"
        assert server.exit_code() == 0, server.complaints


def test_serve_stops_after_the_given_time(store):
    with Served(store, "--for", "0.5") as server:
        assert server.exit_code() == 0


# ——— something to look at ———


def test_serve_demo_is_filled_once(tmp_path):
    store = str(tmp_path / "demo.db")
    with Served(store, "--demo") as first:
        assert "'demo'" in first.who
        assert "was filled" in first.next_line()
        assert len(first.ask("GET", "/v1/memories").data["memories"]) >= 20
        assert len(first.ask("GET", "/v1/sources").data["sources"]) == 2
        assert len(first.ask("GET", "/v1/conflicts").data) == 1
        assert len(first.ask("GET", "/v1/profile/proposals").data) == 1
        page = first.ask("GET", "/docs")
        assert page.headers["content-type"].startswith("text/html")
        first.tell_to_stop(signal.SIGINT)
        assert first.exit_code() == 0
        assert not TOKEN.search(first.complaints), "nobody looks after a demonstration"
    with Served(store, "--demo") as second:
        assert "is ready" in second.next_line()
