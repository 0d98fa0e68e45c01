"""Two users send hostile texts of the largest allowed size; how long others wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from http.client import HTTPException

import commonplace
from commonplace.engine.sources.formats.input import MAX_CHARACTERS
from commonplace.model.validation import MAX_CONTENT
from support.hostile_texts import text_of
from support.served import Served

_MAIL = "From: a@b.c\nTo: d@e.f\nSubject: x\nContent-Type: text/{}\n\n{}"
_ASKED: tuple[tuple[str, str, dict[str, str] | None], ...] = (
    ("GET", "/healthz", None),
    ("POST", "/v1/recall", {"query": "where do I live?"}),
    ("POST", "/v1/memories", {"content": "I live in Haifa."}),
)


def _requests() -> list[tuple[str, bytes]]:
    room = MAX_CHARACTERS - 1000
    sources = {
        "html": text_of("<a ", room),
        "email": _MAIL.format("plain", text_of("-- \n", room)),
        "text": text_of("?", room),
        "whatsapp": f"[1/2/26, 10:00] Ana: {text_of(' ', room)}",
    }
    return [(f"/v1/sources?format={format}", text.encode()) for format, text in sources.items()]


def _attack(server: Served, key: str, path: str, body: bytes, over: threading.Event) -> None:
    while not over.is_set():
        try:
            server.ask("POST", path, raw=body, headers={"content-type": "text/plain"}, key=key)
            for unit in ("?", "\t"):
                content = {"content": text_of(unit, MAX_CONTENT)}
                server.ask("POST", "/v1/memories", content, key=key)
        except (OSError, HTTPException):  # the server has ended, or is slow to answer
            continue


def waits_under_attack(store: str, seconds: float) -> Mapping[str, list[float]]:
    """The seconds that each request of somebody else took, by path; all were answered."""
    with commonplace.open(store, embedder="hashing") as book:
        attackers = [book.user(f"attacker {n}").keys_create("x").token for n in range(2)]
        ana = book.user("ana")
        ana.remember("I live in Haifa.")
        key = ana.keys_create("x").token
    over = threading.Event()
    waits: dict[str, list[float]] = {path: [] for _, path, _ in _ASKED}
    with Served(store, serve_rate=0) as server:
        for number, (path, body) in enumerate(_requests()):
            given = (server, attackers[number % 2], path, body, over)
            threading.Thread(target=_attack, args=given, daemon=True).start()
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            for method, path, asked in _ASKED:
                began = time.monotonic()
                answer = server.ask(method, path, asked, key=key)
                waits[path].append(time.monotonic() - began)
                assert answer.status in (200, 201), answer.body
        over.set()
    return waits
