"""`commonplace mcp`: a process that a client starts and speaks to. Its output holds nothing but the
protocol; it survives nonsense, and ends when its input does."""

import json
import signal
import subprocess
from contextlib import contextmanager

import pytest

import commonplace
from support.mcp_client import MODES, command, connected

PATIENCE = 60
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture
def store(tmp_path):
    return str(tmp_path / "memory.db")


@contextmanager
def process(store, *more):
    started = command(store, *more)
    with subprocess.Popen(
        [started.command, *started.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=started.env,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def say(running, *messages):
    for message in messages:
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        running.stdin.write(raw + b"\n")
    running.stdin.flush()


def request(id, method, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def heard(running):
    return json.loads(running.stdout.readline())


def test_mcp_stdio_works_with_the_official_client_as_an_agent(store):
    with connected(command(store, "--user", "ana"), mode=MODES[0]) as client:
        client.data("remember", content="The gate is green")
        assert "green" in client.call("memory_query", query="gate").content[0].text
        assert client.refusal("show", id="nowhere")["code"] == "not_found"
        assert client.data("profile", name="city", value="Haifa")["outcome"] == "waiting"
    with commonplace.open(store, embedder="hashing") as book:
        ana = book.user("ana")
        (memory,) = ana.list().memories
        assert memory.content == "The gate is green"
        assert ana.history(memory.id)[0]["actor"] == "agent:mcp", "a program is not its owner"


def test_mcp_stdio_agent_flag_limits_categories(store):
    """Spoken to as clients did before 2026-07-28."""
    with commonplace.open(store, embedder="hashing") as book:
        book.user("ana").remember("I prefer tea over coffee")
    with connected(command(store, "--user", "ana", "--agent", "planner"), mode="legacy") as client:
        assert client.data("recall", query="tea")["hits"] == []
        assert client.refusal("memory_query", query="x", agent="stylist")["code"] == "not_allowed"


GARBAGE = (b"", b"{", b"nonsense", b"[]", b"\xff\xfe\x00", b'{"jsonrpc": "2.0"}', b"[" * 50_000)


def test_mcp_stdio_survives_garbage_concurrent_and_cancelled_calls(store):
    with process(store, "--as-owner") as running:
        say(running, *GARBAGE)  # before anything else
        greet(running)
        say(running, *GARBAGE, b'{"jsonrpc": "2.0", "id": 99, "method": "ping", "x": "\\ud800"}')
        calls = [
            request(id, "tools/call", name="remember", arguments={"content": f"Note {id} is here"})
            for id in range(1, 13)
        ]
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        say(running, *calls, cancelled | {"params": {"requestId": 12}})
        answers = {}
        while not set(range(1, 12)) <= set(answers):  # bounded by the test's own time limit
            message = heard(running)
            answers[message["id"]] = message
        for id in range(1, 12):
            assert answers[id]["result"]["isError"] is False, answers[id]
        assert 99 in answers, "what has an id is answered under it"
        say(running, request(13, "ping"))
        assert until(running, 13)["result"] == {}
        running.stdin.close()  # which ends it
        assert running.stdout.read() == b""
        assert running.wait(PATIENCE) == 0
    with commonplace.open(store, embedder="hashing") as book:
        me = book.user("me")
        kept = {memory.content: memory.id for memory in me.list().memories}
        assert {f"Note {id} is here" for id in range(1, 12)} <= set(kept)
        assert me.history(kept["Note 1 is here"])[0]["actor"] == "user:me", "as it was told to"


def greet(running):
    say(running, request(0, "initialize", **HELLO))
    assert "result" in until(running, 0)
    say(running, {"jsonrpc": "2.0", "method": "notifications/initialized"})


def until(running, id):
    while True:  # bounded by the test's own time limit
        message = heard(running)
        if message.get("id") == id:
            return message
        assert "error" in message, message


def test_mcp_stdio_signal_ends_the_process_and_loses_no_write(store):
    """Two of them side by side, on one store."""
    with process(store) as first, process(store) as second:
        for running, number in ((first, signal.SIGINT), (second, signal.SIGTERM)):
            greet(running)
            keep = {"content": f"The gate of {number.name} is green"}
            say(running, request(1, "tools/call", name="remember", arguments=keep))
            assert until(running, 1)["result"]["isError"] is False
            running.send_signal(number)  # while it waits for more
            assert running.wait(PATIENCE) == 0
    with commonplace.open(store, embedder="hashing") as book:
        kept = {memory.content for memory in book.user("me").list().memories}
    assert kept == {f"The gate of {name} is green" for name in ("SIGINT", "SIGTERM")}


def test_mcp_stdio_key_sets_the_agent_and_can_be_revoked(store):
    with commonplace.open(store, embedder="hashing") as book:
        ana = book.user("ana")
        ana.remember("I prefer tea over coffee")
        key = ana.keys_create("planner", for_agent="planner")
        started = command(store)
        started.env["COMMONPLACE_KEY"] = key.token
        with connected(started, mode=MODES[0]) as client:
            assert client.data("recall", query="tea")["hits"] == []
            assert client.data("remember", content="The gate is green")["id"]
            ana.keys_revoke(key.id)
            assert client.refusal("recall", query="tea")["code"] == "unauthenticated"
        assert ana.list().memories[0].content == "The gate is green"


def test_mcp_stdio_wrong_key_fails_at_start(store):
    with process(store, "--key", "cpk_wrong") as running:
        out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out) == (1, b"")
    assert b"unauthenticated" in err
    assert b"Traceback" not in err
