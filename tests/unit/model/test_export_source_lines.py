"""Sources as lines of JSON come back as they were, and a wrong line is named by its number."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.errors import InvalidInput
from commonplace.model.export import records
from commonplace.model.export.archive import ScopeExport, from_lines, to_lines
from commonplace.model.export.records import WholeSource
from commonplace.model.sources.source import (
    ContentType,
    Passage,
    Source,
    SourceType,
    original_digest,
)
from support.clock import START
from support.pure_values import whole_sources


def by_name(whole):
    return whole.source.origin, whole.source.external_id


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(whole_sources(), max_size=2, unique_by=(by_name, lambda whole: whole.source.id)))
def test_source_export_lines_round_trip(wholes):
    owned = ScopeExport((), (), (), (), 0, 0, sources=tuple(wholes))
    lines = list(to_lines("ana", owned))
    assert all("\n" not in line for line in lines)
    assert from_lines(lines, "ana") == owned


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(whole_sources(), st.sampled_from(["ben", "ana"]))
def test_source_import_makes_the_importer_owner_and_participant(whole, importer):
    lines = to_lines("ana", ScopeExport((), (), (), (), 0, 0, sources=(whole,)))
    taken = from_lines(lines, importer).sources[0].source
    assert taken.user_id == importer
    assert importer in taken.participants
    assert set(whole.source.participants) <= set(taken.participants)


ID = "source:00000000-0000-0000-0000-000000000001"
RAW = b"Hay is cheap. So is straw."


def passage(number):
    return Passage(source_id=ID, number=number, turn=1, text="Hay is cheap.", at=START)


WHOLE = WholeSource(
    Source(
        id=ID,
        user_id="ana",
        origin="file",
        external_id="/home/ana/hay.txt",
        source_type=SourceType.FILE,
        content_type=ContentType.TEXT_NOTE,
        created_at=START,
        updated_at=START,
        participants=("ana",),
        passages=2,
        digest=original_digest(RAW),
    ),
    (RAW,),
    (passage(1), passage(2)),
)
LINES = list(to_lines("ana", ScopeExport((), (), (), (), 0, 0, sources=(WHOLE,))))
HEADER, SOURCE, ORIGINAL, FIRST, SECOND = LINES


def having(line, **fields):
    return json.dumps({**json.loads(line), **fields})


def without(line, name):
    return json.dumps({key: value for key, value in json.loads(line).items() if key != name})


TWICE = having(SOURCE, id="source:2")  # another id, the same name where it is from

WRONG = {
    "a wrong id": ([HEADER, having(SOURCE, id="m1")], 2),
    "an id of a passage": ([HEADER, having(SOURCE, id=ID + "#1")], 2),
    "an unknown field": ([HEADER, having(SOURCE, colour="red")], 2),
    "a team of its own choice": ([HEADER, having(SOURCE, team_id="board")], 2),
    "an owner of its own choice": ([HEADER, having(SOURCE, user_id="ben")], 2),
    "a field too few": ([HEADER, without(SOURCE, "origin")], 2),
    "an unknown type of source": ([HEADER, having(SOURCE, source_type="rumour")], 2),
    "an unknown status": ([HEADER, having(SOURCE, status="done")], 2),
    "a state that no source has": ([HEADER, having(SOURCE, state="superseded")], 2),
    "forgotten for ever": ([HEADER, having(SOURCE, state="soft_deleted")], 2),
    "alive with an end": ([HEADER, having(SOURCE, purge_at="2026-03-01")], 2),
    "participants that are no list": ([HEADER, having(SOURCE, participants="ana")], 2),
    "provenance that is no map": ([HEADER, having(SOURCE, provenance=[1])], 2),
    "no parts": ([HEADER, having(SOURCE, parts=0)], 2),
    "an absurd number of parts": ([HEADER, having(SOURCE, parts=10**9)], 2),
    "a negative number of passages": ([HEADER, having(SOURCE, passages=-1)], 2),
    "an absurd name": ([HEADER, having(SOURCE, external_id="x" * 5000)], 2),
    "a name of too many bytes": ([HEADER, having(SOURCE, external_id="漢" * 700)], 2),
    "a name of nothing but space": ([HEADER, having(SOURCE, external_id="  ")], 2),
    "an absurd title": ([HEADER, having(SOURCE, title="x" * 33_000)], 2),
    "a title of spaces without end": ([HEADER, having(SOURCE, title="x" + " " * 33_000)], 2),
    "a NUL byte": ([HEADER, having(SOURCE, title="a\x00b")], 2),
    "the same source twice": ([HEADER, SOURCE, SOURCE], 3),
    "the same name twice": ([HEADER, SOURCE, TWICE], 3),
    "an original of nothing": ([HEADER, ORIGINAL], 2),
    "no base64": ([HEADER, SOURCE, having(ORIGINAL, raw="a*b=")], 3),
    "half of base64": ([HEADER, SOURCE, having(ORIGINAL, raw="abc")], 3),
    "base64 that is no text": ([HEADER, SOURCE, having(ORIGINAL, raw=[1])], 3),
    "base64 of other letters": ([HEADER, SOURCE, having(ORIGINAL, raw="é===")], 3),
    "the same part twice": ([HEADER, SOURCE, ORIGINAL, ORIGINAL], 4),
    "a part too many": ([HEADER, SOURCE, ORIGINAL, having(ORIGINAL, part=2)], 4),
    "a passage of nothing": ([HEADER, FIRST], 2),
    "a passage of another source": ([HEADER, SOURCE, having(FIRST, source_id="source:9")], 3),
    "the second passage first": ([HEADER, SOURCE, SECOND], 3),
    "the same passage twice": ([HEADER, SOURCE, FIRST, FIRST], 4),
    "a passage too many": ([HEADER, SOURCE, FIRST, SECOND, having(FIRST, number=3)], 5),
    "a passage without words": ([HEADER, SOURCE, having(FIRST, text=" ")], 3),
    "an absurd passage": ([HEADER, SOURCE, having(FIRST, text="x" * 33_000)], 3),
    "a passage at no time": ([HEADER, SOURCE, having(FIRST, at=None)], 3),
    "a speaker of a page": ([HEADER, SOURCE, having(FIRST, speaker="x" * 300)], 3),
    "a mark that is no mark": ([HEADER, SOURCE, having(FIRST, suspicious="no")], 3),
}


@pytest.mark.parametrize("name", WRONG)
def test_source_import_error_names_the_line_number(name):
    lines, number = WRONG[name]
    with pytest.raises(InvalidInput, match=rf"^Line {number}\b") as caught:
        from_lines(lines, "ana")
    assert "commonplace export" in caught.value.remedy


def test_source_import_refuses_an_oversized_original_before_decoding(monkeypatch):
    monkeypatch.setattr(records, "MAX_RAW_LENGTH", len(RAW))
    with pytest.raises(InvalidInput, match=r"^Line 3: raw is larger"):
        from_lines(LINES, "ana")


OTHER_RAW = base64.b64encode(b"Hay is dear.").decode()


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([HEADER, SOURCE, FIRST, SECOND], id="no original"),
        pytest.param([HEADER, SOURCE, ORIGINAL, FIRST], id="a passage too few"),
        pytest.param(
            [HEADER, SOURCE, having(ORIGINAL, raw=OTHER_RAW), FIRST, SECOND], id="another original"
        ),
        pytest.param([HEADER, having(SOURCE, digest="0"), *LINES[2:]], id="another digest"),
    ],
)
def test_source_import_refuses_an_incomplete_source(lines):
    with pytest.raises(InvalidInput, match=ID):
        from_lines(lines, "ana")


def test_source_import_keeps_external_ids_verbatim():
    """A path in another Unicode form is another path: importing that file again would add it."""
    path = "/home/ana/cafe\u0301 .txt "
    lines = [HEADER, having(SOURCE, external_id=path, provenance={"name": path}), *LINES[2:]]
    source = from_lines(lines, "ana").sources[0].source
    assert (source.external_id, source.provenance["name"]) == (path, path)
