"""Hostile text costs no more than its length: the work is counted, not timed."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from commonplace.language.extract.extract import extract_from_nodes
from commonplace.language.observe.own_words import MAX_CHARACTERS, MAX_SENTENCE_CHARACTERS
from tests.support.spotting import account, spotted

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

    extract_from_nodes(source, nodes)  # the patterns are compiled by now
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        extract_from_nodes(source, nodes)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("piece", HOSTILE)
def test_extraction_work_is_linear_in_hostile_text(piece: str) -> None:
    """In sentences that are as long as a sentence may be."""
    sentence = (piece * MAX_SENTENCE_CHARACTERS)[: MAX_SENTENCE_CHARACTERS - 20].rstrip() + ". "
    once, twice = (_calls((sentence * 60)[:size]) for size in (3_000, 6_000))
    assert twice <= 2.5 * once + 2_000


def test_extraction_skips_a_sentence_without_an_end() -> None:
    source = account("I work at Acme and " * 1_700)
    assert extract_from_nodes(source, spotted(source)).edges == ()


def test_extraction_reads_a_bounded_part_of_a_passage() -> None:
    source = account("It rains.\n" * (MAX_CHARACTERS // 10 + 1) + "Dana is my manager.")
    assert extract_from_nodes(source, spotted(source)).edges == ()
