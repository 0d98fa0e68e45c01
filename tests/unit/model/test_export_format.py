"""The export's format stays what it is: files from before are read, and are written the same."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import support
from commonplace.errors import InvalidInput
from commonplace.model.export.archive import ScopeExport, from_lines, to_lines
from commonplace.model.export.records import LINE_TYPES, record_codec
from commonplace.model.graph.assertion import CitedSource, EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import Artifact, Edge, Mentioned, Node
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.snapshot import WholeGraph
from commonplace.model.graph.steps import Extraction
from commonplace.model.graph.types import EdgeKind, NodeType
from commonplace.model.memory.memory import HeldValue, Sensitivity, State, Version
from commonplace.model.model_calls import ModelReading
from commonplace.model.sources.source import SourceType
from support.pure_values import (
    journal_rows,
    memories,
    moments,
    plain_values,
    proposals,
    shares,
    whole_sources,
    words,
)

# Of every type of line; written by the release before the codec, and never to be written anew.
FILE = Path(support.__path__[0], "export_format_1.jsonl").read_text("utf-8").splitlines()
RECORDS = [json.loads(line) for line in FILE]


def test_export_of_an_old_file_is_byte_identical():
    assert {record["type"] for record in RECORDS} == {"commonplace", *LINE_TYPES}
    assert list(to_lines("ana", from_lines(FILE, "ana"))) == FILE


def test_export_import_reassigns_the_owner():
    again = [json.loads(line) for line in to_lines("ben", from_lines(FILE, "ben"))]
    assert again[0] == {**RECORDS[0], "user_id": "ben"}
    joined = {"ben", "ana"}  # whoever imports a source takes part in it
    for before, after in zip(RECORDS[1:], again[1:], strict=True):
        assert set(after.pop("participants", joined)) >= joined
        before = {
            k: v for k, v in before.items() if (before["type"], k) != ("source", "participants")
        }
        assert after == before


OLDER = [
    ("held", "merged_into", None),
    ("node_telling", "not_called", []),
    ("edge_telling", "beside", False),
    ("extraction", "heard", []),
    ("source", "ttl_policy", "decay"),
]


@pytest.mark.parametrize(("type_", "name", "meant"), OLDER)
def test_export_import_applies_defaults_for_fields_of_older_files(type_, name, meant):
    older = [
        {k: v for k, v in record.items() if k != name}
        if record["type"] == type_ and not record.get("merged_into")
        else record
        for record in RECORDS
    ]
    lines = to_lines("ana", from_lines(map(json.dumps, older), "ana"))
    again = [record for record in map(json.loads, lines) if record["type"] == type_]
    changed = [record for record in again if not record.get("merged_into")]
    assert changed
    assert all(record[name] == meant for record in changed)


def test_export_writes_the_purge_date_of_hidden_passages_only():
    """So a file without any stays readable by older releases."""
    at = "2026-04-01T09:00:00+00:00"
    hidden = [
        {**record, "purge_at": at} if record["type"] == "passage" and not record["role"] else record
        for record in RECORDS
    ]
    assert hidden != RECORDS
    lines = to_lines("ana", from_lines(map(json.dumps, hidden), "ana"))
    assert list(map(json.loads, lines)) == hidden


REQUIRED = [
    (record["type"], name)
    for record in {record["type"]: record for record in RECORDS[1:]}.values()
    for name in record
    if name != "type" and not any((record["type"], name) == older[:2] for older in OLDER)
]


@pytest.mark.parametrize(("type_", "name"), REQUIRED)
def test_export_import_error_names_line_and_missing_field(type_, name):
    place = max(n for n, record in enumerate(RECORDS) if record["type"] == type_)
    without = {k: v for k, v in RECORDS[place].items() if k != name}
    lines = [*FILE[:place], json.dumps(without)]
    with pytest.raises(InvalidInput, match=rf"^Line {place + 1}: .* lacks {name}\.$"):
        from_lines(lines, "ana")


@pytest.mark.parametrize("type_", LINE_TYPES)
@pytest.mark.parametrize("name", ["colour", "user_id", "team_id"])
def test_export_import_error_names_line_and_unknown_field(type_, name):
    """An owner, too: whoever imports a file owns what is in it."""
    place = max(n for n, record in enumerate(RECORDS) if record["type"] == type_)
    lines = [*FILE[:place], json.dumps({**RECORDS[place], name: "ben"})]
    with pytest.raises(InvalidInput, match=rf"^Line {place + 1}: .* has no field '{name}'\.$"):
        from_lines(lines, "ana")


def test_export_codec_rules_name_existing_fields_only():
    for kind, rule in record_codec("ana").rules.items():
        named = {*rule.left_out, *rule.renamed, *rule.last, *rule.older, *rule.newer}
        named |= {name for name in (rule.inlined, rule.own_as_null) if name}
        assert named <= {field.name for field in fields(kind)}, kind


# ——— written, read and written: the same ———

several = st.lists(words, max_size=3, unique=True).map(tuple)
people = words.map("user:{}".format)
cited = st.builds(
    CitedSource,
    scope=st.sampled_from(["user:ana", "team:board"]),
    id=words,
    source_type=st.sampled_from(SourceType),
    said_at=moments,
    sensitivity=st.sampled_from(Sensitivity),
    passage=st.none() | st.integers(0, 9),
)
nodes = st.builds(
    Node,
    id=words.map("node:{}".format),
    user_id=st.just("ana"),
    type=st.sampled_from(NodeType),
    name=words,
    key=words,
    aliases=several,
    addresses=several,
    description=st.just("") | words,
    confidence=shares,
    mentioned=st.builds(
        Mentioned,
        first_at=moments,
        days=st.lists(st.dates(date(1900, 1, 1), date(2100, 1, 1)), max_size=2).map(tuple),
    ),
    stands=st.booleans(),
    purge_at=st.none() | moments,
    created_by=people,
    created_at=moments,
    updated_at=moments,
    version=st.integers(1, 9),
)


def _key(node):
    return node.type, node.subtype, node.key


@st.composite
def graphs(draw):
    """Edges, tellings and notes speak of nodes that are there."""
    known = draw(st.lists(nodes, min_size=1, max_size=3, unique_by=(lambda n: n.id, _key)))
    ids = st.sampled_from([node.id for node in known])
    edge = draw(
        st.builds(
            Edge,
            id=words.map("edge:{}".format),
            user_id=st.just("ana"),
            a=ids,
            b=ids,
            kind=st.sampled_from(EdgeKind),
            type=words,
            attitude=st.integers(1, 5),
            valid_from=moments,
            valid_to=st.none() | moments,
            recorded_at=moments,
            recorded_by=people,
            created_at=moments,
            updated_at=moments,
        )
    )
    of_node = st.builds(
        NodeAssertion,
        id=words,
        node=ids,
        source=st.none() | cited,
        by=people,
        recorded_at=moments,
        type=st.sampled_from(NodeType),
        name=st.just("") | words,
        key=st.just("") | words,
        not_called=several,
    )
    of_edge = st.builds(
        EdgeAssertion,
        id=words,
        edge=st.just(edge.id),
        a=ids,
        b=ids,
        type=words,
        source=st.none() | cited,
        by=people,
        recorded_at=moments,
        valid_from=moments,
        beside=st.booleans(),
        proximity=st.none() | st.integers(1, 5),
    )
    note = st.builds(
        Note,
        id=words,
        about=ids | st.just(edge.id),
        content=words,
        added_by=people,
        date_added=moments,
        source=st.none() | cited,
    )
    artifact = st.builds(
        Artifact,
        id=words.map("artifact:{}".format),
        user_id=st.just("ana"),
        name=words,
        content_type=words,
        output=plain_values | st.lists(plain_values, max_size=2),
        source=st.none() | cited,
        created_by=people,
        created_at=moments,
        updated_at=moments,
    )
    extraction = st.builds(
        Extraction,
        scope=st.sampled_from(["user:ana", "team:board"]),
        source=words,
        started_at=moments,
        completed_at=moments,
        passages=st.integers(0, 9),
        digest=words,
        heard=st.just(()) | st.just(("0a", "ff")),
    )
    stats = st.builds(AccessStats, salience=shares, touched_at=st.none() | moments)
    return WholeGraph(
        nodes=tuple(known),
        edges=(edge,),
        node_assertions=draw(st.lists(of_node, max_size=1).map(tuple)),
        edge_assertions=draw(st.lists(of_edge, max_size=1).map(tuple)),
        notes=draw(st.lists(note, max_size=1).map(tuple)),
        artifacts=draw(st.lists(artifact, max_size=1).map(tuple)),
        extractions=draw(st.lists(extraction, max_size=1).map(tuple)),
        marks=draw(st.dictionaries(ids, stats, max_size=2)),
        texts=draw(st.dictionaries(ids | st.just(edge.id), words, max_size=2)),
    )


@st.composite
def whole_scopes(draw):
    owned = draw(st.lists(memories, max_size=2, unique_by=lambda m: m.id))
    values = [
        HeldValue(
            each.evolve(id=f"held of {each.id}"[:200], state=State.ACTIVE),
            None,
            each.id,
            frozenset(draw(several)),
            draw(st.just("") | words),
            draw(st.none() | people),
            each.created_at,
        )
        for each in owned
    ]
    journal = draw(st.lists(journal_rows, max_size=2, unique_by=lambda row: row.seq))
    reading = st.builds(
        ModelReading,
        source_scope=st.sampled_from(["user:ana", "team:board"]),
        source=words,
        passages=st.integers(0, 9),
        digest=st.just("") | words,
        prompt=words,
        at=moments,
        heard=st.just(()) | st.just(("0a", "ff")),
    )
    return ScopeExport(
        memories=tuple(owned),
        versions=tuple(Version(each, each.created_at, None) for each in owned),
        links=(),
        journal=tuple(journal),
        revision=max([0, *(row.revision for row in journal)]),
        profile_numbers=0,
        held=tuple(values),
        sources=tuple(draw(st.lists(whole_sources(), max_size=1))),
        proposals=tuple(draw(st.lists(proposals(), max_size=1))),
        graph=draw(graphs()),
        readings=tuple(draw(st.lists(reading, max_size=1))),
    )


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(whole_scopes())
def test_export_round_trip_preserves_a_whole_scope(owned):
    lines = list(to_lines("ana", owned))
    taken = from_lines(lines, "ana")
    assert taken.graph == owned.graph
    assert list(to_lines("ana", taken)) == lines
