"""Graph rows: conversion of graph values, and recording of accesses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from commonplace.model.access.principal import Scope
from commonplace.model.graph.assertion import CitedSource, EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import Artifact, Edge, Mentioned, Node
from commonplace.model.graph.salience import NEVER_READ, AccessStats, add_access, salience_at
from commonplace.model.graph.steps import Extraction
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import SourceType
from commonplace.store.sql.rows import (
    Row,
    RowCodec,
    Session,
    instant,
    members,
    moment,
    named_columns,
    text_list,
    to_json,
)

_CITED = (
    "cited_scope",
    "cited_id",
    "cited_type",
    "cited_at",
    "cited_sensitivity",
    "cited_passage",
)
# Sources and mentions have columns of their own; "by" is stored under another name.
_NODE = RowCodec(Node, ("user_id", "mentioned"))
_MENTIONED = RowCodec(Mentioned, ("days",))
_EDGE = RowCodec(Edge, ("user_id",))
_NODE_ASSERTION = RowCodec(NodeAssertion, ("source", "by"))
_EDGE_ASSERTION = RowCodec(EdgeAssertion, ("source", "by"))
_CITED_SOURCE = RowCodec(CitedSource)
_NOTE = RowCodec(Note, ("source",))
_ARTIFACT = RowCodec(Artifact, ("user_id", "source"))
_EXTRACTION = RowCodec(Extraction, ("scope", "heard"))
_ACCESS_STATS = RowCodec(AccessStats)

NODE_COLUMNS = named_columns("n", _NODE.names, _MENTIONED.names, ("days",))
EDGE_COLUMNS = _EDGE.columns("e")
NODE_ASSERTION_COLUMNS = named_columns("t", _NODE_ASSERTION.names, ("teller",), _CITED)
EDGE_ASSERTION_COLUMNS = named_columns("t", _EDGE_ASSERTION.names, ("teller",), _CITED)
NOTE_COLUMNS = named_columns("o", _NOTE.names, _CITED)
ARTIFACT_COLUMNS = named_columns("f", _ARTIFACT.names, _CITED)
ACCESS_STATS_COLUMNS = named_columns("k", ("id",), _ACCESS_STATS.names)
EXTRACTION_COLUMNS = named_columns("x", ("source_scope", "heard"), _EXTRACTION.names)

_node_type, _source_type = members(NodeType), members(SourceType)
_sensitivity = members(Sensitivity)


# ——— nodes and edges ———


def node_values(node: Node) -> dict[str, Any]:
    """All columns but seq and text."""
    days = to_json([day.isoformat() for day in node.mentioned.days])
    return {**_NODE.values(node), **_MENTIONED.values(node.mentioned), "days": days}


def node_from(scope: Scope, row: Row) -> Node:
    width = len(_NODE.names)
    days = tuple(map(date.fromisoformat, json.loads(row[-1])))
    mentioned = Mentioned(days=days, **_MENTIONED.decode(row[width:-1]))
    return Node(user_id=scope.name, mentioned=mentioned, **_NODE.decode(row[:width]))


def edge_values(edge: Edge) -> dict[str, Any]:
    """All columns but seq and text."""
    return _EDGE.values(edge)


def edge_from(scope: Scope, row: Row) -> Edge:
    return Edge(user_id=scope.name, **_EDGE.decode(row))


# ——— assertions and cited sources ———


def _cited_values(source: CitedSource | None) -> dict[str, Any]:
    if source is None:
        return dict.fromkeys(_CITED)
    return dict(zip(_CITED, _CITED_SOURCE.values(source).values(), strict=True))


def _cited_from(row: Sequence[Any]) -> CitedSource | None:
    scope, id, source_type, said_at, sensitivity, passage = row
    if id is None:
        return None
    return CitedSource(
        scope=scope,
        id=id,
        source_type=_source_type(source_type),
        said_at=instant(said_at),
        sensitivity=_sensitivity(sensitivity),
        passage=passage,
    )


def node_assertion_values(assertion: NodeAssertion) -> dict[str, Any]:
    return {
        **_NODE_ASSERTION.values(assertion),
        "teller": assertion.by,
        **_cited_values(assertion.source),
    }


def node_assertion_from(row: Row) -> NodeAssertion:
    """Written out, like that of edges, because well-known nodes have thousands of assertions that
    are read for each new source: a generic decoder takes twice as long."""
    # fmt: off
    (id, node, recorded_at, type, name, key, subtype, aliases, not_called, addresses, description,
     confidence, sensitivity, stands, by, *cited) = row
    # fmt: on
    return NodeAssertion(
        id=id,
        node=node,
        source=_cited_from(cited),
        by=by,
        recorded_at=instant(recorded_at),
        type=_node_type(type),
        name=name,
        key=key,
        subtype=subtype,
        aliases=text_list(aliases),
        not_called=text_list(not_called),
        addresses=text_list(addresses),
        description=description,
        confidence=confidence,
        sensitivity=_sensitivity(sensitivity),
        stands=stands == 1,
    )


def edge_assertion_values(assertion: EdgeAssertion) -> dict[str, Any]:
    return {
        **_EDGE_ASSERTION.values(assertion),
        "teller": assertion.by,
        **_cited_values(assertion.source),
    }


def edge_assertion_from(row: Row) -> EdgeAssertion:
    # fmt: off
    (id, edge, a, b, type, recorded_at, valid_from, valid_to, ends, beside, attitude,
     proximity, description, confidence, sensitivity, stands, by, *cited) = row
    # fmt: on
    return EdgeAssertion(
        id=id,
        edge=edge,
        a=a,
        b=b,
        type=type,
        source=_cited_from(cited),
        by=by,
        recorded_at=instant(recorded_at),
        valid_from=instant(valid_from),
        valid_to=moment(valid_to),
        ends=ends == 1,
        beside=beside == 1,
        attitude=attitude,
        proximity=proximity,
        description=description,
        confidence=confidence,
        sensitivity=_sensitivity(sensitivity),
        stands=stands == 1,
    )


def note_values(note: Note) -> dict[str, Any]:
    """All columns but seq."""
    return {**_NOTE.values(note), **_cited_values(note.source)}


def note_from(row: Row) -> Note:
    width = len(_NOTE.names)
    return Note(source=_cited_from(row[width:]), **_NOTE.decode(row[:width]))


def artifact_values(artifact: Artifact) -> dict[str, Any]:
    """All columns but seq."""
    return {**_ARTIFACT.values(artifact), **_cited_values(artifact.source)}


def artifact_from(scope: Scope, row: Row) -> Artifact:
    width = len(_ARTIFACT.names)
    values = _ARTIFACT.decode(row[:width])
    return Artifact(user_id=scope.name, source=_cited_from(row[width:]), **values)


# ——— extractions and access statistics ———


def extraction_values(extraction: Extraction) -> dict[str, Any]:
    renamed = {"source_scope": extraction.scope, "heard": " ".join(extraction.heard)}
    return {**_EXTRACTION.values(extraction), **renamed}


def extraction_from(row: Row) -> Extraction:
    return Extraction(scope=row[0], heard=tuple(row[1].split()), **_EXTRACTION.decode(row[2:]))


def access_stats_values(id: str, marks: AccessStats) -> dict[str, Any]:
    return {"id": id, **_ACCESS_STATS.values(marks)}


def access_stats_from(row: Row) -> tuple[str, AccessStats]:
    return row[0], AccessStats(**_ACCESS_STATS.decode(row[1:]))


def record_accesses(session: Session, read: Mapping[str, bool], now: datetime) -> None:
    """``read``: the returned items, and whether each was a top hit. Removed items are skipped."""
    if not read:
        return
    ids = list(read)
    known = dict(map(access_stats_from, session.rows("marks", any=0, ids=ids)))
    rows: dict[str, Row] = {}
    for row in session.rows("readable", ids=ids):
        if (
            row[0] not in rows or row[1] < rows[row[0]][1]
        ):  # the date of a source, not of its extraction
            rows[row[0]] = row
    session.run_many(
        "put_marks",
        [
            access_stats_values(id, _after_access(known.get(id, NEVER_READ), row, now, read[id]))
            for id, row in sorted(rows.items())
        ],
    )


def _after_access(marks: AccessStats, row: Row, now: datetime, is_top: bool) -> AccessStats:
    _, made_at, confidence, ttl_policy, sources = row
    salience = salience_at(
        marks,
        instant(made_at),
        now,
        confidence=confidence,
        keep_forever=ttl_policy == TtlPolicy.KEEP_FOREVER,
        last_source_at=instant(json.loads(sources)[-1][0]) if sources else None,
    )
    return add_access(marks, salience, now, is_top=is_top)
