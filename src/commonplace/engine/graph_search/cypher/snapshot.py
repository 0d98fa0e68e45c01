"""Build the interpreter's graph from the caller's visible snapshot.

Properties are read lazily from the model's values. Ended edges are included: valid_from, valid_to,
recorded_at and invalidated_at are properties.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from operator import attrgetter
from typing import Any

from commonplace.engine.graph_search.cypher.schema import LABELS, RELATIONSHIPS, PropertyType
from commonplace.engine.graph_search.cypher.temporal.types import from_python
from commonplace.engine.graph_search.cypher.values import CypherGraph, CypherNode
from commonplace.model.graph.assertion import notes_live_at
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.salience import current_salience
from commonplace.model.graph.snapshot import GraphSnapshot, display_author, note_author
from commonplace.model.graph.storylines import Story
from commonplace.model.sources.source import Source

Getter = Callable[[Any], Any]

_LINKS: frozenset[tuple[str, str, str]] = frozenset(
    (one.name, a, b) for one in RELATIONSHIPS.values() for a, b in one.ends
)


def graph_of(snapshot: GraphSnapshot, now: datetime) -> CypherGraph:
    """Time-dependent properties (salience, state, live notes) are computed for ``now``."""
    with _gc_disabled():
        return _build_graph(snapshot, now)


@contextmanager
def _gc_disabled() -> Iterator[None]:
    """Garbage collection would take longer than building the graph, and find nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _build_graph(snapshot: GraphSnapshot, now: datetime) -> CypherGraph:
    graph = CypherGraph()
    readers = _Readers(snapshot, now)
    nodes: dict[str, CypherNode] = {}
    for label, items in _items_by_label(snapshot):
        reader = readers.of_label(label)
        for item in items:
            nodes[item.id] = graph.add_node(item.id, (label,), item, reader)
    edges, links = readers.of_edges(), readers.of_links()
    for kind, a, b, item in _relationships(snapshot):
        start, end = nodes.get(a), nodes.get(b)
        if start is None or end is None:  # an end is not visible
            continue
        if (kind, start.labels[0], end.labels[0]) not in _LINKS:
            start, end = end, start  # the schema has the other direction
            if (kind, start.labels[0], end.labels[0]) not in _LINKS:
                continue
        if isinstance(item, Edge):
            graph.add_relationship(item.id, kind, start, end, item, edges)
        else:
            key = f"{start.key} {kind} {end.key}"
            graph.add_relationship(key, kind, start, end, (key, item), links)
    return graph


def _items_by_label(snapshot: GraphSnapshot) -> Iterator[tuple[str, list[Any]]]:
    by_label: dict[str, list[Any]] = {}
    for node in snapshot.nodes.values():
        by_label.setdefault(node.type.value, []).append(node)
    yield from by_label.items()
    yield "Source", list(snapshot.sources.values())
    yield "Storyline", list(snapshot.storylines.values())
    yield "Macro", list(snapshot.macros.values())
    yield "Artifact", list(snapshot.artifacts.values())
    yield "Team", list(snapshot.teams.values())


def _relationships(snapshot: GraphSnapshot) -> Iterator[tuple[str, str, str, Any]]:
    """Type, ends, and the edge; for other links the time of the source."""
    for edge in snapshot.edges.values():
        yield edge.kind.value, edge.a, edge.b, edge
    for mention in snapshot.mentions:
        yield "mentions", mention.source, mention.node, mention.said_at
    for artifact in snapshot.artifacts.values():
        if artifact.source is not None:
            yield "produced", artifact.source.id, artifact.id, artifact.source.said_at
    for storyline in snapshot.storylines.values():
        yield "about", storyline.id, storyline.anchor, storyline.told_at
        for source in storyline.sources:
            yield "includes", storyline.id, source.id, source.said_at
    for macro in snapshot.macros.values():
        yield "rooted_in", macro.id, macro.anchor, macro.told_at
        for child in macro.storylines:
            yield "groups", macro.id, child, snapshot.storylines[child].told_at


# ——— properties, and the attributes they are read from ———

_NODE = {
    "entity_key": "id",
    "user_id": "user_id",
    "name": "name",
    "canonical_name": "key",
    "description": "description",
    "aliases": "aliases",
    "is_dirty": "is_dirty",
    "confidence": "confidence",
    "sensitivity": "sensitivity",
    "source_count": "mentioned.source_count",
    "promotion_score": "mentioned.promotion_score",
    "first_mentioned_at": "mentioned.first_at",
    "last_mentioned_at": "mentioned.last_at",
    "distinct_source_days": "mentioned.distinct_days",
    "distinct_days": "mentioned.days",
    "ttl_policy": "ttl_policy",
    "created_at": "created_at",
    "updated_at": "updated_at",
    "is_owner": "is_owner",  # of a Person
    "type": "subtype",  # of an Entity
}
_EDGE = {
    "entity_key": "id",
    "user_id": "user_id",
    "relationship_kind": "kind",
    "relationship_type": "type",
    "description": "description",
    "is_dirty": "is_dirty",
    "attitude": "attitude",
    "proximity": "proximity",
    "valid_from": "valid_from",
    "valid_to": "valid_to",
    "recorded_at": "recorded_at",
    "invalidated_at": "invalidated_at",
    "confidence": "confidence",
    "sensitivity": "sensitivity",
    "created_at": "created_at",
    "updated_at": "updated_at",
}
_SOURCE = {
    "entity_key": "id",
    "user_id": "user_id",
    "team_id": "team_id",
    "name": "title",
    "source_type": "source_type",
    "context_type": "context_type",
    "ended_at": "ended_at",
    "participants": "participants",
    "summary": "summary",
    "keywords": "keywords",
    "tags": "tags",
    "processing_status": "status",
    "processing_started_at": "processing_started_at",
    "processing_completed_at": "processing_completed_at",
    "extraction_started_at": "extraction_started_at",
    "extraction_completed_at": "extraction_completed_at",
    "sensitivity": "sensitivity",
    "ttl_policy": "ttl_policy",
    "created_at": "created_at",
    "updated_at": "updated_at",
}
_ARTIFACT = {
    "entity_key": "id",
    "user_id": "user_id",
    "name": "name",
    "description": "description",
    "sensitivity": "sensitivity",
    "ttl_policy": "ttl_policy",
    "created_at": "created_at",
    "updated_at": "updated_at",
}
_STORY = {
    "entity_key": "id",
    "user_id": "user_id",
    "team_id": "team_id",
    "name": "name",
    "description": "description",
    "anchor_entity_key": "anchor",
    "is_dirty": "is_dirty",
    "ttl_policy": "ttl_policy",
    "started_at": "started_at",
    "created_at": "created_at",
    "updated_at": "updated_at",
}
_STORYLINE = {
    **_STORY,
    "storyline_id": "id",
    "source_count": "source_count",
    "last_source_at": "last_source_at",
    "closed_at": "closed_at",
}
_MACRO = {
    **_STORY,
    "macro_id": "id",
    "storyline_count": "storyline_count",
    "total_source_count": "total_source_count",
    "last_event_at": "last_event_at",
}
_TEAM = {
    "entity_key": "id",
    "team_id": "id",
    "name": "name",
    "created_at": "created_at",
    "created_by": "created_by",
}
_MARKS = {
    "access_count": "access_count",
    "recall_frequency": "recall_frequency",
    "last_recall_interval": "last_recall_interval",
    "decay_gradient": "decay_gradient",
    "last_accessed_at": "touched_at",
}


class SnapshotReader:
    """Reads the properties of items of one label or type."""

    def __init__(self, getters: Mapping[str, Getter]) -> None:
        self._getters = getters

    def get(self, item: Any, key: str) -> Any:
        getter = self._getters.get(key)
        return None if getter is None else getter(item)

    def all(self, item: Any) -> dict[str, Any]:
        found = ((key, getter(item)) for key, getter in self._getters.items())
        return {key: value for key, value in found if value is not None}


class _Readers:
    """The readers of one snapshot."""

    def __init__(self, snapshot: GraphSnapshot, now: datetime) -> None:
        self._snapshot = snapshot
        self._now = now

    def of_label(self, label: str) -> SnapshotReader:
        getters = {
            "Source": self._source,
            "Storyline": lambda: self._story(_STORYLINE),
            "Macro": lambda: self._story(_MACRO),
            "Artifact": self._artifact,
            "Team": self._team,
        }
        label_getters = getters.get(label, self._node)()
        return _reader(LABELS[label].properties, label_getters)

    def of_edges(self) -> SnapshotReader:
        getters = {
            **_getters_of(_EDGE),
            **self._usage(),
            "recorded_by": lambda edge: display_author(edge.recorded_by, edge.user_id),
            "notes": self._notes,
        }
        return _reader(RELATIONSHIPS["connected_to"].properties, getters)

    def of_links(self) -> SnapshotReader:
        getters: dict[str, Getter] = {
            "entity_key": lambda link: link[0],
            "said_at": lambda link: link[1],
        }
        return _reader(RELATIONSHIPS["mentions"].properties, getters)

    def _node(self) -> dict[str, Getter]:
        of_storylines = {storyline.anchor for storyline in self._snapshot.storylines.values()}
        of_macros = {macro.anchor for macro in self._snapshot.macros.values()}
        return {
            **_getters_of(_NODE),
            **self._usage(),
            "created_by": lambda node: display_author(node.created_by, node.user_id),
            "notes": self._notes,
            "has_meso": lambda node: node.id in of_storylines,
            "has_macro": lambda node: node.id in of_macros,
        }

    def _source(self) -> dict[str, Getter]:
        return {
            **_getters_of(_SOURCE),
            **self._usage(),
            "content": lambda source: _content(source.content_type.value),
            "provenance": lambda source: _json(dict(source.provenance)),
            "started_at": lambda source: source.started_at or source.created_at,
        }

    def _story(self, paths: Mapping[str, str]) -> dict[str, Getter]:
        return {**_getters_of(paths), **self._usage()}

    def _artifact(self) -> dict[str, Getter]:
        return {
            **_getters_of(_ARTIFACT),
            "created_by": lambda artifact: display_author(artifact.created_by, artifact.user_id),
            "content": lambda artifact: _content(artifact.content_type, _output(artifact)),
        }

    def _team(self) -> dict[str, Getter]:
        settings = "settings"
        return {
            **_getters_of(_TEAM),
            settings: lambda team: _json({"retention_days": team.retention_days}),
        }

    def _usage(self) -> dict[str, Getter]:
        """Access statistics and salience."""
        marks_of, now = self._snapshot.marks_of, self._now

        def of_marks(path: str) -> Getter:
            get = attrgetter(path)
            return lambda item: get(marks_of(item.id))

        def salience_of(item: Node | Edge | Source | Story) -> Any:
            return current_salience(item, marks_of(item.id), now)

        return {
            **{name: of_marks(path) for name, path in _MARKS.items()},
            "salience": lambda item: salience_of(item).salience,
            "state": lambda item: salience_of(item).state,
        }

    def _notes(self, about: Node | Edge) -> list[dict[str, Any]]:
        """Live notes, newest first."""
        notes = self._snapshot.notes.get(about.id)
        if not notes:
            return []
        return [
            {
                "content": note.content,
                "added_by": note_author(note, self._snapshot, about.user_id),
                "date_added": _moment(note.date_added),
                "source_entity_key": note.source.id if note.source else None,
                "expires_at": _moment(note.expires_at),
            }
            for note in notes_live_at(notes, self._now)
        ]


def _getters_of(paths: Mapping[str, str]) -> dict[str, Getter]:
    return {name: attrgetter(path) for name, path in paths.items()}


def _reader(
    properties: Mapping[str, PropertyType], getters: Mapping[str, Getter]
) -> SnapshotReader:
    """In the order of the schema. A declared property without a getter is always null."""
    return SnapshotReader(
        {
            name: _converted(getters[name], _CONVERSIONS.get(type))
            for name, type in properties.items()
            if name in getters
        }
    )


def _converted(getter: Getter, convert: Callable[[Any], Any] | None) -> Getter:
    if convert is None:
        return getter

    def get(item: Any) -> Any:
        value = getter(item)
        return None if value is None else convert(value)

    return get


def _moment(value: datetime | None) -> Any:
    return None if value is None else from_python(value)


def _text(value: Any) -> str:
    return value if type(value) is str else str(value)


_CONVERSIONS: dict[PropertyType, Callable[[Any], Any]] = {
    PropertyType.TEXT: _text,
    PropertyType.NUMBER: float,
    PropertyType.INTEGER: int,
    PropertyType.TIME: from_python,
    PropertyType.TEXTS: lambda values: [_text(each) for each in values],
    PropertyType.DAYS: lambda values: [from_python(each) for each in values],
}


def _content(type: str, output: str | None = None) -> dict[str, Any]:
    """The text of a source is not included; `sources` returns it."""
    return {"type": str(type), "content": None, "output": output}


def _output(artifact: Artifact) -> str:
    output = artifact.output
    return output if isinstance(output, str) else _json(output)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
