"""A picture as columns, which become CSV: what a child is filled with. Pure.

All edges are in it, those that are over as well: valid_from, valid_to, recorded_at and
invalidated_at are properties, and a query asks by them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any

from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import live_at
from commonplace.model.graph.picture import Picture
from commonplace.model.graph.standing import standing
from commonplace.model.graph.tellers import teller, teller_of
from commonplace.model.graph.words import NodeType
from commonplace.model.source import Source
from commonplace.model.team import Team
from commonplace.recall.cypher.cells import Columns, csv
from commonplace.recall.cypher.schema import LABELS, RELATIONSHIPS
from commonplace.recall.cypher.tables import filling, linking

Kind = tuple[str, str, str]  # a relationship, and the labels of its ends

_KINDS: frozenset[Kind] = frozenset(
    (one.name, a, b) for one in RELATIONSHIPS.values() for a, b in one.ends
)


@dataclass(frozen=True, slots=True)
class Filling:
    """A statement, and the CSV of the rows that it takes in."""

    statement: str
    csv: bytes


@dataclass(frozen=True, slots=True)
class Links:
    """Columns, not rows: a hundred thousand small things would be walked through by Python's
    collector of garbage again and again, which takes longer than all the rest."""

    a: list[str] = field(default_factory=list)
    b: list[str] = field(default_factory=list)
    told: list[Any] = field(default_factory=list)  # an edge, or when it was said

    def add(self, a: str, b: str, told: Any) -> None:
        self.a.append(a)
        self.b.append(b)
        self.told.append(told)


def fillings(picture: Picture, now: datetime) -> Iterator[Filling]:
    """Nodes of all labels, then what is between them."""
    for label, things in _things(picture):
        if things:
            columns = _COLUMNS[label](things, picture, now)
            yield Filling(filling(label), csv(columns, LABELS[label].properties, len(things)))
    for (kind, a, b), links in _links(picture).items():
        columns = _of_links(kind, links, picture, now)
        names = ("_a", "_b", *RELATIONSHIPS[kind].properties)
        yield Filling(linking(kind, a, b), csv(columns, names, len(links.told)))


def _things(picture: Picture) -> Iterator[tuple[str, Sequence[Any]]]:
    for type in NodeType:
        yield type.value, [node for node in picture.nodes.values() if node.type is type]
    yield "Source", list(picture.sources.values())
    yield "Artifact", list(picture.artifacts.values())
    yield "Team", list(picture.teams.values())


def _links(picture: Picture) -> Mapping[Kind, Links]:
    """By relationship and the labels of the ends. What has an end that is not seen is left out."""
    labels: dict[str, str] = {id: node.type.value for id, node in picture.nodes.items()}
    labels |= dict.fromkeys(picture.sources, "Source")
    labels |= dict.fromkeys(picture.artifacts, "Artifact")
    found: dict[Kind, Links] = defaultdict(Links)
    for kind, a, b, told in _all_links(picture):
        one, other = labels.get(a, ""), labels.get(b, "")
        if (kind, one, other) in _KINDS:
            found[kind, one, other].add(a, b, told)
        elif (kind, other, one) in _KINDS:  # told from the other end
            found[kind, other, one].add(b, a, told)
    return found


def _all_links(picture: Picture) -> Iterator[tuple[str, str, str, Any]]:
    """Edges are told of themselves, other links of when that was said."""
    for edge in picture.edges.values():
        yield edge.kind, edge.a, edge.b, edge
    for mention in picture.mentions:
        yield "mentions", mention.source, mention.node, mention.said_at
    for artifact in picture.artifacts.values():
        if artifact.source is not None:
            yield "produced", artifact.source.id, artifact.id, artifact.source.said_at


# ——— the columns of a table ———

# Properties, and where their values are found in what they are told of.
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
    "has_meso": "has_meso",
    "has_macro": "has_macro",
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


def _found(things: Sequence[Any], places: Mapping[str, str]) -> dict[str, Sequence[Any]]:
    return {name: list(map(attrgetter(place), things)) for name, place in places.items()}


def _of_nodes(nodes: Sequence[Node], picture: Picture, now: datetime) -> Columns:
    return {
        **_found(nodes, _NODE),
        **_life(nodes, picture, now),
        "created_by": [teller(node.created_by, node.user_id) for node in nodes],
        "notes": [_notes(node, picture, now) for node in nodes],
    }


def _of_links(kind: str, links: Links, picture: Picture, now: datetime) -> Columns:
    ends: Columns = {"_a": links.a, "_b": links.b}
    if isinstance(links.told[0], Edge):
        return {**ends, **_of_edges(links.told, picture, now)}
    keys = [f"{a} {kind} {b}" for a, b in zip(links.a, links.b, strict=True)]
    return {**ends, "entity_key": keys, "said_at": links.told}


def _of_edges(edges: Sequence[Edge], picture: Picture, now: datetime) -> Columns:
    return {
        **_found(edges, _EDGE),
        **_life(edges, picture, now),
        "recorded_by": [teller(edge.recorded_by, edge.user_id) for edge in edges],
        "notes": [_notes(edge, picture, now) for edge in edges],
    }


def _of_sources(sources: Sequence[Source], picture: Picture, now: datetime) -> Columns:
    return {
        **_found(sources, _SOURCE),
        **_life(sources, picture, now),
        "content": [_content(each.content_type.value) for each in sources],
        "provenance": [
            json.dumps(dict(each.provenance), ensure_ascii=False, default=str) for each in sources
        ],
        "started_at": [each.started_at or each.created_at for each in sources],
    }


def _of_artifacts(artifacts: Sequence[Artifact], picture: Picture, now: datetime) -> Columns:
    return {
        **_found(artifacts, _ARTIFACT),
        "created_by": [teller(each.created_by, each.user_id) for each in artifacts],
        "content": [_content(each.content_type, _output(each)) for each in artifacts],
    }


def _of_teams(teams: Sequence[Team], picture: Picture, now: datetime) -> Columns:
    settings = [json.dumps({"retention_days": team.retention_days}) for team in teams]
    return {**_found(teams, _TEAM), "settings": settings}


_COLUMNS: dict[str, Callable[[Sequence[Any], Picture, datetime], Columns]] = {
    **dict.fromkeys((type.value for type in NodeType), _of_nodes),
    "Source": _of_sources,
    "Artifact": _of_artifacts,
    "Team": _of_teams,
}


# ——— what several tables have ———


def _life(things: Sequence[Node | Edge | Source], picture: Picture, now: datetime) -> Columns:
    marks = [picture.marks_of(thing.id) for thing in things]
    saliences, states = [], []
    for thing, left in zip(things, marks, strict=True):
        stands = standing(thing, left, now)
        saliences.append(stands.salience)
        states.append(stands.state)
    return {**_found(marks, _MARKS), "salience": saliences, "state": states}


def _notes(about: Node | Edge, picture: Picture, now: datetime) -> tuple[tuple[Any, ...], ...]:
    """Live ones, newest first, each in the order of NOTE_FIELDS."""
    notes = picture.notes.get(about.id)
    if not notes:
        return ()
    return tuple(
        (
            n.content,
            teller_of(n, picture, about.user_id),
            n.date_added,
            n.source.id if n.source else None,
            n.expires_at,
        )
        for n in live_at(notes, now)
    )


def _content(type: str, output: str | None = None) -> tuple[tuple[Any, ...]]:
    """In the order of CONTENT_FIELDS. None has its text: it is read with `sources`."""
    return ((type, None, output),)


def _output(artifact: Artifact) -> str:
    output = artifact.output
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
