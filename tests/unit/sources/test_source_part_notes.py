"""What is noted about the parts of an original stays small, and comes back as it was written."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.engine.sources.originals import (
    MAX_RUNS,
    RECORD_KEY,
    IngestRecord,
    PartRun,
    build_provenance,
    caller_metadata_in,
    ingest_record_in,
    parsed_metadata_in,
)
from commonplace.errors import InvalidInput, TooLong
from commonplace.model.parameters import SourceFormat
from support.clock import START

TALK = PartRun(first=1, format=SourceFormat.CONVERSATION)


def test_ingest_record_round_trips_through_provenance():
    noted = IngestRecord(
        runs=(
            TALK,
            PartRun(first=3, format=SourceFormat.HTML, date=START),
            PartRun(first=9, received=START),
        ),
        name="/home/ana/a.jsonl",
        tags=("nature",),
        last="abc",
    )
    provenance = build_provenance({"channel": "garden"}, {"app": 3}, noted)
    assert ingest_record_in(provenance) == replace(noted, said=("app",))
    assert (parsed_metadata_in(provenance), caller_metadata_in(provenance)) == (
        {"channel": "garden"},
        {"app": 3},
    )


def test_ingest_record_joins_parts_with_equal_settings():
    noted = IngestRecord(runs=(TALK,))
    for part in range(2, 50):
        noted = noted.with_part(replace(TALK, first=part), f"digest {part}")
    assert (noted.runs, noted.last) == ((TALK,), "digest 49")
    assert noted.run_of(30) == TALK


def test_ingest_record_limits_runs_by_coarser_dates_without_losing_formats():
    noted = IngestRecord(runs=(TALK,))
    for part in range(2, 2 * MAX_RUNS):
        came = START + timedelta(minutes=part)
        noted = noted.with_part(replace(TALK, first=part, received=came), "d")
    assert len(noted.runs) == MAX_RUNS
    assert noted.run_of(2 * MAX_RUNS).received == START + timedelta(minutes=MAX_RUNS)
    with pytest.raises(InvalidInput):
        noted.with_part(PartRun(first=2 * MAX_RUNS, format=SourceFormat.HTML), "d")


def test_ingest_metadata_refuses_the_reserved_key_and_excess_size():
    with pytest.raises(InvalidInput):
        build_provenance({}, {RECORD_KEY: {}}, IngestRecord())
    with pytest.raises(TooLong):
        build_provenance({}, {f"n{number}": "x" * 1000 for number in range(100)}, IngestRecord())
