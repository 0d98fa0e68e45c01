"""Others are answered while hostile texts of the largest allowed size come in."""

from __future__ import annotations

import asyncio
import threading
import time
from http.client import HTTPException
from pathlib import Path

import pytest

import commonplace
from commonplace.engine.sources.formats.input import MAX_CHARACTERS
from commonplace.errors import StoreBusy
from commonplace.model.validation import MAX_CONTENT
from commonplace.operations.table import BY_NAME
from commonplace.surfaces.rest.request_checks import HEAVY_BODY, HeavyOperations
from support.hostile_texts import text_of
from support.served import Served

SECONDS = 8.0  # of watching
PATIENCE = 5.0  # seconds for an answer; 1 is promised on a machine that does nothing else
MAIL = "From: a@b.c\nTo: d@e.f\nSubject: x\nContent-Type: text/{}\n\n{}"


def hostile_requests() -> list[tuple[str, bytes]]:
    room = MAX_CHARACTERS - 1000
    sources = {
        "html": text_of("<a ", room),
        "email": MAIL.format("plain", text_of("-- \n", room)),
        "text": text_of("?", room),
        "whatsapp": f"[1/2/26, 10:00] Ana: {text_of(' ', room)}",
    }
    return [(f"/v1/sources?format={format}", text.encode()) for format, text in sources.items()]


def attack(server: Served, key: str, path: str, body: bytes, over: threading.Event) -> None:
    while not over.is_set():
        try:
            server.ask("POST", path, raw=body, headers={"content-type": "text/plain"}, key=key)
            for unit in ("?", "\t"):
                content = {"content": text_of(unit, MAX_CONTENT)}
                server.ask("POST", "/v1/memories", content, key=key)
        except (OSError, HTTPException):  # the server has ended, or is slow to answer
            continue


def test_serve_answers_others_while_hostile_texts_come_in(tmp_path: Path):
    store = str(tmp_path / "memory.db")
    with commonplace.open(store, embedder="hashing") as book:
        attackers = [book.user(f"attacker {n}").keys_create("x").token for n in range(2)]
        ana = book.user("ana")
        ana.remember("I live in Haifa.")
        key = ana.keys_create("x").token
    over = threading.Event()
    slowest = {"/healthz": 0.0, "/v1/recall": 0.0}
    with Served(store, serve_rate=0) as server:
        for number, (path, body) in enumerate(hostile_requests()):
            given = (server, attackers[number % 2], path, body, over)
            threading.Thread(target=attack, args=given, daemon=True).start()
        ends = time.monotonic() + SECONDS
        while time.monotonic() < ends:
            for path, method in (("/healthz", "GET"), ("/v1/recall", "POST")):
                asked = {"query": "where do I live?"} if method == "POST" else None
                began = time.monotonic()
                answer = server.ask(method, path, asked, key=key)
                slowest[path] = max(slowest[path], time.monotonic() - began)
                assert answer.status == 200, answer.body
        over.set()
    assert max(slowest.values()) < PATIENCE, slowest


# ——— turns of heavy operations ———


async def _begins(turn: object) -> bool:
    """Whether it may run now, without waiting."""
    try:
        await asyncio.wait_for(turn.__aenter__(), 0.05)  # type: ignore[attr-defined]
    except TimeoutError:
        return False
    return True


def test_heavy_operations_of_one_user_wait_for_each_other():
    async def scenario() -> list[bool]:
        heavy = HeavyOperations()
        ingest = BY_NAME["ingest"]
        turns = [heavy.turn(ingest, user) for user in ("ana", "ana", "dan", "tal")]
        return [await _begins(turn) for turn in turns]

    assert asyncio.run(scenario()) == [True, False, True, False]


def test_heavy_operations_leave_light_ones_alone():
    async def scenario() -> list[bool]:
        heavy = HeavyOperations(at_once=1)
        recall = BY_NAME["recall"]
        turns = [heavy.turn(BY_NAME["extract"], "ana"), heavy.turn(recall, "ana")]
        turns.append(heavy.turn(recall, "dan", size=HEAVY_BODY + 1))
        return [await _begins(turn) for turn in turns]

    assert asyncio.run(scenario()) == [True, True, False]


def test_heavy_operations_are_refused_when_too_many_wait_or_too_long():
    async def scenario() -> None:
        heavy = HeavyOperations(at_once=1, waiting=2, seconds=0.01)
        ingest = BY_NAME["ingest"]
        async with heavy.turn(ingest, "ana"):
            with pytest.raises(StoreBusy):  # it took too long
                async with heavy.turn(ingest, "dan"):
                    pass
        async with heavy.turn(ingest, "dan"):  # and its place is free again
            pass
        full = HeavyOperations(waiting=1)
        async with full.turn(ingest, "ana"):
            with pytest.raises(StoreBusy):
                async with full.turn(ingest, "dan"):
                    pass

    asyncio.run(scenario())
