"""Hostile text costs no more than its length: the work is counted, not timed."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
from tests.support.spotting import account, spotted

from commonplace.language.extracting.told import told_of
from commonplace.language.observing.own_words import LONGEST_SENTENCE, LOOKED_AT

HOSTILE = [
    "Dana and Noa and Ben and ",
    "my sister my brother my ",
    "I work at Acme and ",
    "Dana's sister Noa's brother Dan's ",
    "she said he said it said ",
    "I want to learn to want to ",
    "((((",
    "I ",
    "Dana, Noa, ",
    "\n",
    "אחותי של נועה ו",
]


def _calls(text: str) -> int:
    """How many functions are called, of Python's and of C's (each match is one)."""
    source = account(text)
    nodes = spotted(source)
    count = 0

    def counted(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    told_of(source, nodes)  # the patterns are compiled by now
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        told_of(source, nodes)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("piece", HOSTILE)
def test_twice_the_text_is_at_most_about_twice_the_work(piece: str) -> None:
    """In sentences that are as long as a sentence may be."""
    sentence = (piece * LONGEST_SENTENCE)[: LONGEST_SENTENCE - 20].rstrip() + ". "
    once, twice = (_calls((sentence * 60)[:size]) for size in (3_000, 6_000))
    assert twice <= 2.5 * once + 2_000


def test_a_sentence_without_an_end_is_not_read() -> None:
    source = account("I work at Acme and " * 1_700)
    assert told_of(source, spotted(source)).edges == ()


def test_no_more_than_a_readers_fill_is_read_of_a_passage() -> None:
    source = account("It rains.\n" * (LOOKED_AT // 10 + 1) + "Dana is my manager.")
    assert told_of(source, spotted(source)).edges == ()
