"""One user's 60 Cypher queries at once do not hold up others: nobody else gets 503 or waits."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import quantiles

import pytest

import commonplace
from support.served import Served

pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]

QUERIES_AT_ONCE = 60
PEOPLE = 200
SECONDS = 20.0
WAIT = 1.0  # seconds that somebody else may wait for an answer, at most
HEAVY = "MATCH (a:Person), (b:Person), (c:Person) WHERE a.name < b.name RETURN count(c)"


def test_parallel_cypher_of_one_user_does_not_hold_up_others(store_url, capsys):
    with commonplace.open(store_url, embedder="hashing") as book:
        ana, bob = book.user("ana"), book.user("bob")
        for n in range(PEOPLE):
            ana.nodes_add(f"Person {n}")
        bob.remember("The gate code is 4711")
        hers, his = ana.keys_create("x").token, bob.keys_create("x").token
    with Served(store_url, "--no-worker", serve_rate=0) as server:
        end = time.monotonic() + SECONDS
        begun = threading.Barrier(QUERIES_AT_ONCE + 1)

        def attack():
            statuses = []
            begun.wait()
            while time.monotonic() < end:
                body = {"cypher": HEAVY, "mode": "cypher"}
                statuses.append(server.ask("POST", "/v1/traverse", body, key=hers).status)
            return statuses

        with ThreadPoolExecutor(QUERIES_AT_ONCE) as attackers:
            running = [attackers.submit(attack) for _ in range(QUERIES_AT_ONCE)]
            begun.wait()
            answers = []
            while time.monotonic() < end:
                for path, key in (("/v1/recall", his), ("/healthz", None)):
                    body = {"query": "What is the gate code?"} if key else None
                    asked = time.monotonic()
                    status = server.ask("POST" if key else "GET", path, body, key=key).status
                    answers.append((path, status, time.monotonic() - asked))
            theirs = [status for each in running for status in each.result()]
    with capsys.disabled():
        print(f"\nCypher: {len(theirs)} queries, statuses {sorted(set(theirs))}")
        for path in ("/v1/recall", "/healthz"):
            waits = [seconds for asked, _, seconds in answers if asked == path]
            p95 = quantiles(waits, n=20)[-1] if len(waits) > 1 else waits[0]
            print(f"{path}: {len(waits)} requests, 95 % within {p95:.2f} s, max {max(waits):.2f} s")
    assert {status for _, status, _ in answers} == {200}
    assert max(seconds for *_, seconds in answers) <= WAIT
