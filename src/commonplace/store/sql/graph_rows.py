"""Graph rows: conversion of graph values, and recording of accesses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from commonplace.model.access.principal import Scope
from commonplace.model.graph.assertion import CitedSource, EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import Artifact, Edge, Mentioned, Node
from commonplace.model.graph.salience import NEVER_READ, AccessStats, add_access, salience_at
from commonplace.model.graph.steps import Extraction
from commonplace.model.graph.types import EdgeKind, NodeType
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import SourceType
from commonplace.store.sql.rows import Row, Session, exact_micros, instant, micros, moment, to_json

_CITED = (
    "cited_scope",
    "cited_id",
    "cited_type",
    "cited_at",
    "cited_sensitivity",
    "cited_passage",
)
_MENTIONED = ("source_count", "promotion_score", "first_at", "last_at", "days")
_LISTS = frozenset({"aliases", "addresses", "not_called"})
_FLAGS = frozenset({"is_owner", "is_dirty", "has_meso", "has_macro", "stands", "ends", "beside"})


def _columns(kind: type, left_out: Iterable[str] = ()) -> tuple[str, ...]:
    """The columns that are called and kept as the fields are."""
    folded = {"user_id", "source", "mentioned", "by", *left_out}
    return tuple(f.name for f in fields(kind) if f.name not in folded)


_NODE = _columns(Node)
_EDGE = _columns(Edge)
_NODE_ASSERTION = _columns(NodeAssertion)
_EDGE_ASSERTION = _columns(EdgeAssertion)
_NOTE = _columns(Note)
_ARTIFACT = _columns(Artifact)
_ACCESS_STATS = _columns(AccessStats)


def _named(letter: str, *names: Sequence[str]) -> str:
    return ", ".join(f"{letter}.{name}" for group in names for name in group)


NODE_COLUMNS = _named("n", _NODE, _MENTIONED)
EDGE_COLUMNS = _named("e", _EDGE)
NODE_ASSERTION_COLUMNS = _named("t", _NODE_ASSERTION, ("teller",), _CITED)
EDGE_ASSERTION_COLUMNS = _named("t", _EDGE_ASSERTION, ("teller",), _CITED)
NOTE_COLUMNS = _named("o", _NOTE, _CITED)
ARTIFACT_COLUMNS = _named("f", _ARTIFACT, _CITED)
ACCESS_STATS_COLUMNS = _named("k", ("id",), _ACCESS_STATS)
EXTRACTION_COLUMNS = (
    "x.source_scope, x.source, x.started_at, x.completed_at, x.passages, x.digest, x.heard, "
    "x.stands"
)

_Decoder = Callable[[Any], Any]


def _members(kind: type[StrEnum]) -> _Decoder:
    """By their words: calling the enumeration takes five times as long, and a node that thousands
    of sources tell of has as many rows."""
    return {str(member): member for member in kind}.__getitem__


_node_type, _source_type = _members(NodeType), _members(SourceType)
_sensitivity = _members(Sensitivity)


def _list(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


_DECODERS: dict[str, _Decoder] = {
    **dict.fromkeys(_LISTS, _list),
    **dict.fromkeys(_FLAGS, bool),
    "kind": _members(EdgeKind),
    "sensitivity": _sensitivity,
    "ttl_policy": _members(TtlPolicy),
    "output": json.loads,
}
_NODE_TYPE: Mapping[str, _Decoder] = {"type": _node_type}  # the type of an edge is any word


def _is_moment(name: str) -> bool:
    return name.endswith("_at") or name in ("valid_from", "valid_to", "date_added")


def _decoder(name: str, own: Mapping[str, _Decoder]) -> _Decoder | None:
    return moment if _is_moment(name) else own.get(name) or _DECODERS.get(name)


class _RowDecoder:
    """Which places of a row are kept otherwise than as they are: found once, since a graph has a
    hundred thousand rows."""

    def __init__(self, names: Sequence[str], own: Mapping[str, _Decoder] | None = None):
        self._names = names
        places = enumerate(_decoder(name, own or {}) for name in names)
        self._places = [(place, decode) for place, decode in places if decode is not None]

    def __call__(self, row: Row) -> dict[str, Any]:
        values = list(row)
        for place, decode in self._places:
            values[place] = decode(values[place])
        return dict(zip(self._names, values, strict=True))


_decoded_node = _RowDecoder(_NODE, _NODE_TYPE)
_decoded_edge = _RowDecoder(_EDGE)
_decoded_note = _RowDecoder(_NOTE)
_decoded_artifact = _RowDecoder(_ARTIFACT)
_decoded_access_stats = _RowDecoder(_ACCESS_STATS)


def _encoded(item: Any, names: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in names:
        value = getattr(item, name)
        if _is_moment(name):
            value = micros(value)
        elif name in _LISTS or name == "output":
            value = to_json(value)
        elif name in _FLAGS:
            value = int(value)
        elif isinstance(value, str):
            value = str(value)  # of an enumeration, the word
        values[name] = value
    return values


# ——— nodes and edges ———


def node_values(node: Node) -> dict[str, Any]:
    """All but seq and text."""
    told = node.mentioned
    return {
        **_encoded(node, _NODE),
        "source_count": told.source_count,
        "promotion_score": told.promotion_score,
        "first_at": micros(told.first_at),
        "last_at": micros(told.last_at),
        "days": to_json([day.isoformat() for day in told.days]),
    }


def node_from(scope: Scope, row: Row) -> Node:
    values = _decoded_node(row[: len(_NODE)])
    source_count, promotion_score, first_at, last_at, days = row[len(_NODE) :]
    mentioned = Mentioned(
        source_count=source_count,
        promotion_score=promotion_score,
        first_at=moment(first_at),
        last_at=moment(last_at),
        days=tuple(map(date.fromisoformat, json.loads(days))),
    )
    return Node(user_id=scope.name, mentioned=mentioned, **values)


def edge_values(edge: Edge) -> dict[str, Any]:
    """All but seq and text."""
    return _encoded(edge, _EDGE)


def edge_from(scope: Scope, row: Row) -> Edge:
    return Edge(user_id=scope.name, **_decoded_edge(row))


# ——— what was told, and by which source ———


def _cited_values(source: CitedSource | None) -> dict[str, Any]:
    if source is None:
        return dict.fromkeys(_CITED)
    return {
        "cited_scope": source.scope,
        "cited_id": source.id,
        "cited_type": str(source.source_type),
        "cited_at": exact_micros(source.said_at),
        "cited_sensitivity": str(source.sensitivity),
        "cited_passage": source.passage,
    }


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


def node_assertion_values(told: NodeAssertion) -> dict[str, Any]:
    return {**_encoded(told, _NODE_ASSERTION), "teller": told.by, **_cited_values(told.source)}


def node_assertion_from(row: Row) -> NodeAssertion:
    """Spelt out, as tellings of edges are, since of those who are well known thousands are read for
    each new source: any other way takes twice as long."""
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
        aliases=_list(aliases),
        not_called=_list(not_called),
        addresses=_list(addresses),
        description=description,
        confidence=confidence,
        sensitivity=_sensitivity(sensitivity),
        stands=stands == 1,
    )


def edge_assertion_values(told: EdgeAssertion) -> dict[str, Any]:
    return {**_encoded(told, _EDGE_ASSERTION), "teller": told.by, **_cited_values(told.source)}


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
    """All but seq."""
    return {**_encoded(note, _NOTE), **_cited_values(note.source)}


def note_from(row: Row) -> Note:
    width = len(_NOTE)
    return Note(source=_cited_from(row[width:]), **_decoded_note(row[:width]))


def artifact_values(artifact: Artifact) -> dict[str, Any]:
    """All but seq."""
    return {**_encoded(artifact, _ARTIFACT), **_cited_values(artifact.source)}


def artifact_from(scope: Scope, row: Row) -> Artifact:
    width = len(_ARTIFACT)
    values = _decoded_artifact(row[:width])
    return Artifact(user_id=scope.name, source=_cited_from(row[width:]), **values)


# ——— what was read ———


def extraction_values(extraction: Extraction) -> dict[str, Any]:
    return {
        "source_scope": extraction.scope,
        "source": extraction.source,
        "started_at": micros(extraction.started_at),
        "completed_at": micros(extraction.completed_at),
        "passages": extraction.passages,
        "digest": extraction.digest,
        "heard": " ".join(extraction.heard),
        "stands": int(extraction.stands),
    }


def extraction_from(row: Row) -> Extraction:
    scope, source, started_at, completed_at, passages, digest, heard, stands = row
    return Extraction(
        scope=scope,
        source=source,
        started_at=instant(started_at),
        completed_at=instant(completed_at),
        passages=passages,
        digest=digest,
        heard=tuple(heard.split()),
        stands=bool(stands),
    )


def access_stats_values(id: str, marks: AccessStats) -> dict[str, Any]:
    return {"id": id, **_encoded(marks, _ACCESS_STATS)}


def access_stats_from(row: Row) -> tuple[str, AccessStats]:
    return row[0], AccessStats(**_decoded_access_stats(row[1:]))


def record_accesses(session: Session, read: Mapping[str, bool], now: datetime) -> None:
    """``read``: what was shown, and whether it was among the first. What is gone leaves no mark."""
    if not read:
        return
    ids = list(read)
    known = dict(map(access_stats_from, session.rows("marks", any=0, ids=ids)))
    rows: dict[str, Row] = {}
    for row in session.rows("readable", ids=ids):
        if row[0] not in rows or row[1] < rows[row[0]][1]:  # a source's own date, not its reading's
            rows[row[0]] = row
    session.run_many(
        "put_marks",
        [
            access_stats_values(id, _after_access(known.get(id, NEVER_READ), row, now, read[id]))
            for id, row in sorted(rows.items())
        ],
    )


def _after_access(marks: AccessStats, row: Row, now: datetime, is_top: bool) -> AccessStats:
    _, made_at, confidence, ttl_policy = row
    salience = salience_at(
        marks,
        instant(made_at),
        now,
        confidence=confidence,
        keep_forever=ttl_policy == TtlPolicy.KEEP_FOREVER,
    )
    return add_access(marks, salience, now, is_top=is_top)
