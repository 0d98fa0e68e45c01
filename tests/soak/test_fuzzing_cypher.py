"""Made-up queries by the hundred thousand: what the reader lets through only reads."""

import os
import time
from collections import Counter
from random import Random

import pytest

from commonplace.errors import BadCypher
from commonplace.recall.cypher.cypher import Cypher
from support.cypher_soups import CANARY, held_to, reading, run_many, soup
from support.small_graph import NOW

pytestmark = pytest.mark.soak

SOUPS = int(os.environ.get("CYPHER_SOUPS", "200000"))
RUNS = int(os.environ.get("CYPHER_RUNS", "20000"))


def test_no_soup_gets_past_the_reader():
    chance = Random(20_26)
    seen: Counter[str] = Counter()
    for number in range(SOUPS):
        made = (soup(chance, "/canary"), {}) if number % 2 else reading(chance, "/canary")
        try:
            held_to(*made, NOW)
            seen["read"] += 1
        except BadCypher:
            seen["refused"] += 1
    print(f"\nmade-up queries: {SOUPS:,}; {dict(seen)}")
    assert seen["read"] > SOUPS / 4
    assert seen["refused"] > SOUPS / 4


def test_no_file_comes_out_of_the_engine(tmp_path):
    canary = tmp_path / "canary.csv"
    canary.write_text(CANARY)
    engine = Cypher(processes=1)
    started = time.monotonic()
    try:
        seen = run_many(engine, canary, Random(11), RUNS)
    finally:
        engine.close()
    print(f"\nqueries run: {RUNS:,} in {time.monotonic() - started:.0f} s; {dict(seen)}")
    assert seen["answered"] > RUNS / 4
