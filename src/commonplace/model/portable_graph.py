"""The graph as lines of JSON: what was told, and the nodes and edges that were folded from it.

What nodes and edges are found by travels as text; vectors are made anew where it arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Mentioned, Node
from commonplace.model.graph.note import Note
from commonplace.model.graph.steps import Extraction
from commonplace.model.graph.telling import Cited, EdgeTelling, NodeTelling
from commonplace.model.graph.whole import WholeGraph
from commonplace.model.portable_fields import once, read
from commonplace.model.portable_graph_fields import (
    ARTIFACT,
    EDGE,
    EDGE_TELLING,
    EXTRACTION,
    MARKS,
    NODE,
    NODE_TELLING,
    NOTE,
)
from commonplace.model.salience import Marks
from commonplace.model.scope import Scope


def graph_lines(graph: WholeGraph, owner: str) -> Iterator[dict[str, Any]]:
    """``owner``: the key of the user's own scope, which a line does not name."""
    for each in graph.nodes:
        told = {**_fields(each, "user_id"), "mentioned": _mentioned_out(each.mentioned)}
        yield {"type": "node", "node_type": told.pop("type"), **told, **_found_by(graph, each.id)}
    for telling in graph.node_tellings:
        told = _fields(telling, "source")
        cited = _cited_out(telling.source, owner)
        yield {"type": "node_telling", "node_type": told.pop("type"), **told, "source": cited}
    for relation in graph.edges:
        told = _fields(relation, "user_id")
        yield {
            "type": "edge",
            "edge_type": told.pop("type"),
            **told,
            **_found_by(graph, relation.id),
        }
    for said in graph.edge_tellings:
        told = _fields(said, "source")
        cited = _cited_out(said.source, owner)
        yield {"type": "edge_telling", "edge_type": told.pop("type"), **told, "source": cited}
    for note in graph.notes:
        cited = _cited_out(note.source, owner)
        yield {"type": "note", **_fields(note, "source"), "source": cited}
    for made in graph.artifacts:
        cited = _cited_out(made.source, owner)
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


def _mentioned_out(mentioned: Mentioned) -> dict[str, Any]:
    return {**_fields(mentioned), "days": [day.isoformat() for day in mentioned.days]}


def _cited_out(source: Cited | None, owner: str) -> dict[str, Any] | None:
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
        self._node_tellings: dict[str, NodeTelling] = {}
        self._edge_tellings: dict[str, EdgeTelling] = {}
        self._notes: dict[str, Note] = {}
        self._artifacts: dict[str, Artifact] = {}
        self._extractions: dict[tuple[str, str], Extraction] = {}
        self._marks: dict[str, Marks] = {}
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
            node_tellings=tuple(self._node_tellings.values()),
            edge_tellings=tuple(self._edge_tellings.values()),
            notes=tuple(self._notes.values()),
            artifacts=tuple(self._artifacts.values()),
            extractions=tuple(self._extractions.values()),
            marks=self._marks,
            texts=self._texts,
        )

    def _take_node(self, record: Mapping[str, Any]) -> None:
        values = read(record, NODE, "A node")
        values["type"] = values.pop("node_type")
        text = values.pop("found_by")
        made = Node(user_id=self._user_id, **values)
        once(self._nodes, made.id, made)
        if made.stands_for_itself:
            once(self._keys, (made.type, made.subtype, made.key), made.id)
        if made.is_owner and sum(each.is_owner for each in self._nodes.values()) > 1:
            raise InvalidInput("A graph has one owner.")
        self._note_text(made.id, text)

    def _take_edge(self, record: Mapping[str, Any]) -> None:
        values = read(record, EDGE, "An edge")
        values["type"] = values.pop("edge_type")
        text = values.pop("found_by")
        made = Edge(user_id=self._user_id, **values)
        self._know(self._nodes, made.a, made.b)
        once(self._edges, made.id, made)
        self._note_text(made.id, text)

    def _note_text(self, id: str, text: str) -> None:
        if text:
            self._texts[id] = text

    def _take_node_telling(self, record: Mapping[str, Any]) -> None:
        whole = {"not_called": [], **record}  # which older exports do not have
        values = read(whole, NODE_TELLING, "A telling of a node")
        values["type"] = values.pop("node_type")
        told = NodeTelling(**{**values, "source": self._cited(values["source"])})
        self._know(self._nodes, told.node)
        once(self._node_tellings, told.id, told)

    def _take_edge_telling(self, record: Mapping[str, Any]) -> None:
        whole = {"beside": False, **record}  # which older exports do not have
        values = read(whole, EDGE_TELLING, "A telling of an edge")
        values["type"] = values.pop("edge_type")
        told = EdgeTelling(**{**values, "source": self._cited(values["source"])})
        self._know(self._edges, told.edge)
        once(self._edge_tellings, told.id, told)

    def _take_note(self, record: Mapping[str, Any]) -> None:
        values = read(record, NOTE, "A note")
        note = Note(**{**values, "source": self._cited(values["source"])})
        self._know(self._edges if note.about in self._edges else self._nodes, note.about)
        once(self._notes, note.id, note)

    def _take_artifact(self, record: Mapping[str, Any]) -> None:
        values = read(record, ARTIFACT, "An artifact")
        values["source"] = self._cited(values["source"])
        made = Artifact(user_id=self._user_id, **values)
        once(self._artifacts, made.id, made)

    def _take_extraction(self, record: Mapping[str, Any]) -> None:
        whole = {"heard": [], **record}  # which older exports do not have: then all counts as new
        values = read(whole, EXTRACTION, "An extraction")
        extraction = Extraction(**{**values, "scope": values["scope"] or self._owner})
        once(self._extractions, (extraction.scope, extraction.source), extraction)

    def _take_marks(self, record: Mapping[str, Any]) -> None:
        values = read(record, MARKS, "What readings have left")
        once(self._marks, values.pop("id"), Marks(**values))

    def _cited(self, values: Mapping[str, Any] | None) -> Cited | None:
        if values is None:
            return None
        return Cited(**{**values, "scope": values["scope"] or self._owner})

    def _know(self, known: Mapping[str, object], *ids: str) -> None:
        for id in ids:
            if id not in known:
                raise InvalidInput(f"It refers to {id!r}, which no earlier line defines.")
