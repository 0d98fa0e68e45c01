"""What is noted about the parts of an original stays small, and comes back as it was written."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.errors import InvalidInput, TooLong
from commonplace.ingest.detect import Format
from commonplace.ingest.noted import (
    MAX_RUNS,
    OURS,
    Noted,
    Run,
    noted_in,
    provenance_of,
    read_in,
    said_in,
)
from support.clock import START

TALK = Run(first=1, format=Format.CONVERSATION)


def test_what_was_noted_is_read_back():
    noted = Noted(
        runs=(TALK, Run(first=3, format=Format.HTML, date=START), Run(first=9, received=START)),
        name="/home/ana/a.jsonl",
        tags=("nature",),
        last="abc",
    )
    provenance = provenance_of({"channel": "garden"}, {"app": 3}, noted)
    assert noted_in(provenance) == replace(noted, said=("app",))
    assert (read_in(provenance), said_in(provenance)) == ({"channel": "garden"}, {"app": 3})


def test_parts_that_are_read_alike_are_noted_once():
    noted = Noted(runs=(TALK,))
    for part in range(2, 50):
        noted = noted.with_part(replace(TALK, first=part), f"digest {part}")
    assert (noted.runs, noted.last) == ((TALK,), "digest 49")
    assert noted.run_of(30) == TALK


def test_very_many_parts_are_dated_more_coarsely_and_no_format_is_lost():
    noted = Noted(runs=(TALK,))
    for part in range(2, 2 * MAX_RUNS):
        came = START + timedelta(minutes=part)
        noted = noted.with_part(replace(TALK, first=part, received=came), "d")
    assert len(noted.runs) == MAX_RUNS
    assert noted.run_of(2 * MAX_RUNS).received == START + timedelta(minutes=MAX_RUNS)
    with pytest.raises(InvalidInput):
        noted.with_part(Run(first=2 * MAX_RUNS, format=Format.HTML), "d")


def test_metadata_takes_neither_the_name_of_the_notes_nor_their_room():
    with pytest.raises(InvalidInput):
        provenance_of({}, {OURS: {}}, Noted())
    with pytest.raises(TooLong):
        provenance_of({}, {f"n{number}": "x" * 1000 for number in range(100)}, Noted())
