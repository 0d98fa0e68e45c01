"""Made-up queries are refused or answered, with no other error, and no file is opened."""

import sys
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.errors import BadCypher
from support.cypher_soups import CANARY, checked_query, reading, run_many, soup, spelt, text
from support.small_graph import NOW, small_graph

PATH = "/canary.csv"
SEEDS = st.integers(0, 2**64)
PARAMS = {"p": "x", "q": [1]}


def passes(query, params) -> bool:
    try:
        checked_query(query, params)
    except BadCypher:
        return False
    return True


@settings(deadline=None, max_examples=3000)
@given(SEEDS)
def test_cypher_checker_survives_random_word_sequences(seed):
    passes(soup(Random(seed), PATH), PARAMS)


@settings(deadline=None, max_examples=1000)
@given(SEEDS)
def test_cypher_checker_accepts_hostile_string_literals(seed):
    assert passes(*reading(Random(seed), PATH))


@settings(deadline=None, max_examples=500)
@given(st.text(max_size=60))
def test_cypher_checker_refuses_or_accepts_any_text_with_a_complete_error(made_up):
    """No other error than the one that says what is wrong."""
    try:
        checked_query(made_up, {})
    except BadCypher as refused:
        told = refused.as_dict()
        assert all(told[each] for each in ("code", "message", "remedy"))


@pytest.fixture(scope="module")
def canary(tmp_path_factory):
    path = tmp_path_factory.mktemp("canary") / "canary.csv"
    path.write_text(CANARY)
    return path


def test_cypher_execution_of_fuzzed_queries_opens_no_file(engine, canary):
    """With the name of a file that could be read; the audit hook sees every file that is opened."""
    opened = []
    watching = True

    def watch(event, given):
        if watching and event == "open":
            opened.append(str(given[0]))

    sys.addaudithook(watch)
    try:
        seen: Counter[str] = run_many(engine, canary, Random(7), 400)
    finally:
        watching = False
    assert seen["answered"] > 50
    assert opened == [str(canary)]  # by the test itself, at the end


def test_cypher_strings_round_trip_as_parameters_and_literals(engine):
    """As a parameter and written out."""
    chance = Random(3)
    for _ in range(100):
        sent = [text(chance, PATH) for _ in range(5)]
        query = f"RETURN $sent AS a, [{', '.join(spelt(each) for each in sent)}] AS b"
        [row] = engine.run("small", small_graph, NOW, query, {"sent": sent}, verbose=True).rows
        assert row == (sent, sent)
