"""60 Cypher queries at once, of one user or of four, do not hold up others: nobody else gets 503 or
waits."""

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


@pytest.mark.parametrize("users", [1, 4])
def test_parallel_cypher_does_not_hold_up_others(store_url, capsys, users):
    with commonplace.open(store_url, embedder="hashing") as book:
        attackers = [book.user(f"attacker {n}") for n in range(users)]
        for attacker in attackers:
            for n in range(PEOPLE):
                attacker.nodes_add(f"Person {n}")
        bob = book.user("bob")
        bob.remember("The gate code is 4711")
        keys, his = [each.keys_create("x").token for each in attackers], bob.keys_create("x").token
    with Served(store_url, "--no-worker", serve_rate=0) as server:
        end = time.monotonic() + SECONDS
        begun = threading.Barrier(QUERIES_AT_ONCE + 1)

        def attack(key):
            statuses = []
            begun.wait()
            while time.monotonic() < end:
                body = {"cypher": HEAVY, "mode": "cypher"}
                try:
                    statuses.append(server.ask("POST", "/v1/traverse", body, key=key).status)
                except OSError:  # queries of one user wait for each other
                    statuses.append(0)
            return statuses

        with ThreadPoolExecutor(QUERIES_AT_ONCE) as pool:
            running = [pool.submit(attack, keys[n % users]) for n in range(QUERIES_AT_ONCE)]
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
        print(f"\nCypher of {users}: {len(theirs)} queries, statuses {sorted(set(theirs))}")
        for path in ("/v1/recall", "/healthz"):
            waits = [seconds for asked, _, seconds in answers if asked == path]
            p95 = quantiles(waits, n=20)[-1] if len(waits) > 1 else waits[0]
            print(f"{path}: {len(waits)} requests, 95 % within {p95:.2f} s, max {max(waits):.2f} s")
    assert {status for _, status, _ in answers} == {200}
    assert max(seconds for *_, seconds in answers) <= WAIT
