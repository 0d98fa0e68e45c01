"""Export of the graph: nodes, edges, assertions, notes and artifacts as lines.

What nodes and edges are found by travels as text; vectors are made anew where it arrives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from datetime import date
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.model import validation
from commonplace.model.access.principal import Scope
from commonplace.model.export.records import (
    FieldReader,
    add_once,
    count,
    exact_text,
    fraction,
    one_of,
    optional,
    read_record,
    reference,
    when,
    whole_number,
)
from commonplace.model.graph.assertion import CitedSource, EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import (
    ARTIFACT_PREFIX,
    EDGE_PREFIX,
    NODE_PREFIX,
    Artifact,
    Edge,
    Mentioned,
    Node,
)
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.snapshot import WholeGraph
from commonplace.model.graph.steps import Extraction
from commonplace.model.graph.types import EdgeKind, NodeType
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import SourceType

MAX_NAME_LENGTH = 500  # PostgreSQL's index takes a third of a page, in any script
MAX_OUTPUT_LENGTH = 4_000_000
MAX_NAMES = 10_000
MAX_DAYS = 100_000
MAX_SENTENCES = 40_000_000  # no more than a source has letters
_MAX_NUMBER = 1e9
_HEX = re.compile(r"[0-9a-f]{1,64}")


def _prefixed(prefix: str) -> FieldReader:
    def reading(value: Any, field: str) -> str:
        id = validation.word(value, field)
        if not id.startswith(prefix):
            raise InvalidInput(f"{field} begins with {prefix}", field=field)
        return id

    return reading


def _empty_or(reading: FieldReader) -> FieldReader:
    return lambda value, field: "" if value == "" else reading(value, field)


def _list_of(reading: FieldReader, limit: int) -> FieldReader:
    def listed(value: Any, field: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > limit:
            raise InvalidInput(f"{field} must be a list of at most {limit:,}.", field=field)
        return tuple(reading(each, field) for each in value)

    return listed


def _day(value: Any, field: str) -> date:
    return validation.when(value, field).date()


def _digest(value: Any, field: str) -> str:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise InvalidInput(f"{field} holds digests: figures and the letters a to f.", field=field)
    return value


def _mentioned(value: Any, field: str) -> Mentioned:
    return Mentioned(**read_record(value, _MENTIONED, "What mentions a node"))


def _source(value: Any, field: str) -> dict[str, Any]:
    return read_record(value, _CITED, "A cited source")


def _output(value: Any, field: str) -> Any:
    """Checked like any JSON that comes in, and kept to the letter."""
    validation.metadata({"output": value}, field, MAX_OUTPUT_LENGTH)
    return value


def _number(value: Any, field: str) -> float:
    return validation.number(value, field, 0, _MAX_NUMBER)


_name, _text = exact_text(MAX_NAME_LENGTH), exact_text(validation.MAX_CONTENT)
_id = validation.word
_node, _edge = _prefixed(NODE_PREFIX), _prefixed(EDGE_PREFIX)
_degree = whole_number(1, 5)

_MENTIONED: dict[str, FieldReader] = {
    "source_count": count,
    "promotion_score": _number,
    "first_at": when,
    "last_at": when,
    "days": _list_of(_day, MAX_DAYS),
}
_CITED: dict[str, FieldReader] = {
    "scope": optional(reference),
    "id": _id,
    "source_type": one_of(SourceType),
    "said_at": validation.when,
    "sensitivity": one_of(Sensitivity),
    "passage": optional(count),
}
NODE: dict[str, FieldReader] = {
    "id": _node,
    "node_type": one_of(NodeType),
    "name": _name,
    "key": _name,
    "subtype": _empty_or(_name),
    "aliases": _list_of(_name, MAX_NAMES),
    "addresses": _list_of(_name, MAX_NAMES),
    "description": _empty_or(_text),
    "is_owner": validation.flag,
    "confidence": fraction,
    "sensitivity": one_of(Sensitivity),
    "ttl_policy": one_of(TtlPolicy),
    "mentioned": _mentioned,
    "is_dirty": validation.flag,
    "has_meso": validation.flag,
    "has_macro": validation.flag,
    "merged_into": optional(_node),
    "stands": validation.flag,
    "purge_at": when,
    "created_by": reference,
    "created_at": validation.when,
    "updated_at": validation.when,
    "version": whole_number(1),
    "found_by": _empty_or(_text),
}
NODE_ASSERTION: dict[str, FieldReader] = {
    "id": _id,
    "node": _node,
    "source": optional(_source),
    "by": reference,
    "recorded_at": validation.when,
    "node_type": one_of(NodeType),
    "name": _empty_or(_name),
    "key": _empty_or(_name),
    "subtype": _empty_or(_name),
    "aliases": _list_of(_name, MAX_NAMES),
    "not_called": _list_of(_name, MAX_NAMES),
    "addresses": _list_of(_name, MAX_NAMES),
    "description": _empty_or(_text),
    "confidence": fraction,
    "sensitivity": one_of(Sensitivity),
    "stands": validation.flag,
}
EDGE: dict[str, FieldReader] = {
    "id": _edge,
    "a": _node,
    "b": _node,
    "kind": one_of(EdgeKind),
    "edge_type": _name,
    "description": _empty_or(_text),
    "attitude": _degree,
    "proximity": _degree,
    "confidence": fraction,
    "sensitivity": one_of(Sensitivity),
    "valid_from": validation.when,
    "valid_to": when,
    "recorded_at": validation.when,
    "invalidated_at": when,
    "recorded_by": reference,
    "is_dirty": validation.flag,
    "stands": validation.flag,
    "purge_at": when,
    "created_at": validation.when,
    "updated_at": validation.when,
    "version": whole_number(1),
    "found_by": _empty_or(_text),
}
EDGE_ASSERTION: dict[str, FieldReader] = {
    "id": _id,
    "edge": _edge,
    "a": _node,
    "b": _node,
    "edge_type": _name,
    "source": optional(_source),
    "by": reference,
    "recorded_at": validation.when,
    "valid_from": validation.when,
    "valid_to": when,
    "ends": validation.flag,
    "beside": validation.flag,
    "attitude": optional(_degree),
    "proximity": optional(_degree),
    "description": _empty_or(_text),
    "confidence": fraction,
    "sensitivity": one_of(Sensitivity),
    "stands": validation.flag,
}
NOTE: dict[str, FieldReader] = {
    "id": _id,
    "about": _id,
    "content": _text,
    "added_by": reference,
    "date_added": validation.when,
    "expires_at": when,
    "source": optional(_source),
    "sensitivity": one_of(Sensitivity),
    "stands": validation.flag,
    "purge_at": when,
}
ARTIFACT: dict[str, FieldReader] = {
    "id": _prefixed(ARTIFACT_PREFIX),
    "name": _name,
    "content_type": _name,
    "output": _output,
    "description": _empty_or(_text),
    "source": optional(_source),
    "sensitivity": one_of(Sensitivity),
    "ttl_policy": one_of(TtlPolicy),
    "created_by": reference,
    "created_at": validation.when,
    "updated_at": validation.when,
    "purge_at": when,
}
EXTRACTION: dict[str, FieldReader] = {
    "scope": optional(reference),
    "source": _id,
    "started_at": validation.when,
    "completed_at": validation.when,
    "passages": count,
    "digest": _empty_or(_name),
    "heard": _list_of(_digest, MAX_SENTENCES),
    "stands": validation.flag,
}
ACCESS_STATS: dict[str, FieldReader] = {
    "id": _id,
    "salience": fraction,
    "touched_at": when,
    "access_count": count,
    "recall_frequency": count,
    "last_recall_interval": optional(_number),
    "decay_gradient": _number,
}


def graph_lines(graph: WholeGraph, owner: str) -> Iterator[dict[str, Any]]:
    """``owner``: the key of the user's own scope, which a line does not name."""
    for each in graph.nodes:
        told = {**_fields(each, "user_id"), "mentioned": _encode_mentioned(each.mentioned)}
        yield {"type": "node", "node_type": told.pop("type"), **told, **_found_by(graph, each.id)}
    for telling in graph.node_assertions:
        told = _fields(telling, "source")
        cited = _encode_cited(telling.source, owner)
        yield {"type": "node_telling", "node_type": told.pop("type"), **told, "source": cited}
    for relation in graph.edges:
        told = _fields(relation, "user_id")
        yield {
            "type": "edge",
            "edge_type": told.pop("type"),
            **told,
            **_found_by(graph, relation.id),
        }
    for said in graph.edge_assertions:
        told = _fields(said, "source")
        cited = _encode_cited(said.source, owner)
        yield {"type": "edge_telling", "edge_type": told.pop("type"), **told, "source": cited}
    for note in graph.notes:
        cited = _encode_cited(note.source, owner)
        yield {"type": "note", **_fields(note, "source"), "source": cited}
    for made in graph.artifacts:
        cited = _encode_cited(made.source, owner)
        yield {"type": "artifact", **_fields(made, "user_id", "source"), "source": cited}
    for extraction in graph.extractions:
        scope = None if extraction.scope == owner else extraction.scope
        yield {"type": "extraction", **_fields(extraction, "scope"), "scope": scope}
    for id, marks in sorted(graph.marks.items()):
        yield {"type": "marks", "id": id, **_fields(marks)}


def _fields(item: Any, *left_out: str) -> dict[str, Any]:
    return {f.name: getattr(item, f.name) for f in fields(item) if f.name not in left_out}


def _found_by(graph: WholeGraph, id: str) -> dict[str, str]:
    return {"found_by": graph.texts.get(id, "")}


def _encode_mentioned(mentioned: Mentioned) -> dict[str, Any]:
    return {**_fields(mentioned), "days": [day.isoformat() for day in mentioned.days]}


def _encode_cited(source: CitedSource | None, owner: str) -> dict[str, Any] | None:
    if source is None:
        return None
    return {**_fields(source), "scope": None if source.scope == owner else source.scope}


class GraphReader:
    """Takes lines about the graph by their type. What belongs to a node or an edge comes after."""

    def __init__(self, user_id: str):
        self._user_id = user_id
        self._owner = Scope.of_user(user_id).key
        self._nodes: dict[str, Node] = {}
        self._keys: dict[tuple[str, str, str], str] = {}
        self._edges: dict[str, Edge] = {}
        self._node_tellings: dict[str, NodeAssertion] = {}
        self._edge_tellings: dict[str, EdgeAssertion] = {}
        self._notes: dict[str, Note] = {}
        self._artifacts: dict[str, Artifact] = {}
        self._extractions: dict[tuple[str, str], Extraction] = {}
        self._marks: dict[str, AccessStats] = {}
        self._texts: dict[str, str] = {}
        self.takers: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "node": self._take_node,
            "node_telling": self._take_node_telling,
            "edge": self._take_edge,
            "edge_telling": self._take_edge_telling,
            "note": self._take_note,
            "artifact": self._take_artifact,
            "extraction": self._take_extraction,
            "marks": self._take_marks,
        }

    def graph(self) -> WholeGraph:
        for each in self._nodes.values():
            if each.merged_into is not None:
                self._know(self._nodes, each.merged_into)
        return WholeGraph(
            nodes=tuple(self._nodes.values()),
            edges=tuple(self._edges.values()),
            node_assertions=tuple(self._node_tellings.values()),
            edge_assertions=tuple(self._edge_tellings.values()),
            notes=tuple(self._notes.values()),
            artifacts=tuple(self._artifacts.values()),
            extractions=tuple(self._extractions.values()),
            marks=self._marks,
            texts=self._texts,
        )

    def _take_node(self, record: Mapping[str, Any]) -> None:
        values = read_record(record, NODE, "A node")
        values["type"] = values.pop("node_type")
        text = values.pop("found_by")
        made = Node(user_id=self._user_id, **values)
        add_once(self._nodes, made.id, made)
        if made.stands_for_itself:
            add_once(self._keys, (made.type, made.subtype, made.key), made.id)
        if made.is_owner and sum(each.is_owner for each in self._nodes.values()) > 1:
            raise InvalidInput("A graph has one owner.")
        self._note_text(made.id, text)

    def _take_edge(self, record: Mapping[str, Any]) -> None:
        values = read_record(record, EDGE, "An edge")
        values["type"] = values.pop("edge_type")
        text = values.pop("found_by")
        made = Edge(user_id=self._user_id, **values)
        self._know(self._nodes, made.a, made.b)
        add_once(self._edges, made.id, made)
        self._note_text(made.id, text)

    def _note_text(self, id: str, text: str) -> None:
        if text:
            self._texts[id] = text

    def _take_node_telling(self, record: Mapping[str, Any]) -> None:
        whole = {"not_called": [], **record}  # which older exports do not have
        values = read_record(whole, NODE_ASSERTION, "A telling of a node")
        values["type"] = values.pop("node_type")
        told = NodeAssertion(**{**values, "source": self._cited(values["source"])})
        self._know(self._nodes, told.node)
        add_once(self._node_tellings, told.id, told)

    def _take_edge_telling(self, record: Mapping[str, Any]) -> None:
        whole = {"beside": False, **record}  # which older exports do not have
        values = read_record(whole, EDGE_ASSERTION, "A telling of an edge")
        values["type"] = values.pop("edge_type")
        told = EdgeAssertion(**{**values, "source": self._cited(values["source"])})
        self._know(self._edges, told.edge)
        add_once(self._edge_tellings, told.id, told)

    def _take_note(self, record: Mapping[str, Any]) -> None:
        values = read_record(record, NOTE, "A note")
        note = Note(**{**values, "source": self._cited(values["source"])})
        self._know(self._edges if note.about in self._edges else self._nodes, note.about)
        add_once(self._notes, note.id, note)

    def _take_artifact(self, record: Mapping[str, Any]) -> None:
        values = read_record(record, ARTIFACT, "An artifact")
        values["source"] = self._cited(values["source"])
        made = Artifact(user_id=self._user_id, **values)
        add_once(self._artifacts, made.id, made)

    def _take_extraction(self, record: Mapping[str, Any]) -> None:
        whole = {"heard": [], **record}  # which older exports do not have: then all counts as new
        values = read_record(whole, EXTRACTION, "An extraction")
        extraction = Extraction(**{**values, "scope": values["scope"] or self._owner})
        add_once(self._extractions, (extraction.scope, extraction.source), extraction)

    def _take_marks(self, record: Mapping[str, Any]) -> None:
        values = read_record(record, ACCESS_STATS, "What readings have left")
        add_once(self._marks, values.pop("id"), AccessStats(**values))

    def _cited(self, values: Mapping[str, Any] | None) -> CitedSource | None:
        if values is None:
            return None
        return CitedSource(**{**values, "scope": values["scope"] or self._owner})

    def _know(self, known: Mapping[str, object], *ids: str) -> None:
        for id in ids:
            if id not in known:
                raise InvalidInput(f"It refers to {id!r}, which no earlier line defines.")
