"""Graphs made by hand, as the readings of them (explore, traverse) take them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from commonplace.model.graph.assertion import CitedSource, Note
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.snapshot import GraphSnapshot, SourceMention
from commonplace.model.graph.types import NodeType, edge_kind_between
from commonplace.model.sources.source import ContentType, Source, SourceType
from support.clock import START

NEVER_READ = AccessStats(salience=0.005, access_count=1, touched_at=START)  # archived


def a_node(name: str, type: NodeType = NodeType.PERSON, **fields: Any) -> Node:
    made = {
        "id": f"node:{name.lower().replace(' ', '-')}",
        "user_id": "ana",
        "key": name.casefold(),
        "created_by": "ana",
        "created_at": START,
        "updated_at": START,
    }
    return Node(name=name, type=type, **{**made, **fields})


def an_edge(a: Node, b: Node, type: str = "friend", **fields: Any) -> Edge:
    made = {
        "id": f"edge:{a.id[5:]}-{type}-{b.id[5:]}",
        "user_id": "ana",
        "kind": edge_kind_between(a.type, b.type),
        "valid_from": START,
        "recorded_at": START,
        "recorded_by": "ana",
        "created_at": START,
        "updated_at": START,
    }
    return Edge(a=a.id, b=b.id, type=type, **{**made, **fields})


def a_source(name: str, **fields: Any) -> Source:
    made = {
        "id": f"source:{name}",
        "user_id": "ana",
        "origin": "file",
        "external_id": name,
        "source_type": SourceType.MEETING,
        "content_type": ContentType.MEETING,
        "summary": f"About {name}.",
        "created_at": START,
        "updated_at": START,
        "started_at": START,
    }
    return Source(**{**made, **fields})


def an_artifact(name: str, source: Source | None = None, **fields: Any) -> Artifact:
    cited = source and CitedSource(
        scope="user:ana", id=source.id, source_type=source.source_type, said_at=START
    )
    made = {
        "id": f"artifact:{name.lower().replace(' ', '-')}",
        "user_id": "ana",
        "content_type": "md_file",
        "output": "…",
        "created_by": "ana",
        "created_at": START,
        "updated_at": START,
    }
    return Artifact(name=name, source=cited, **{**made, **fields})


def a_note(about: Node | Edge, content: str, number: int = 0, **fields: Any) -> Note:
    made = {"added_by": "ana", "date_added": START + timedelta(minutes=number - 60)}
    return Note(
        id=f"note:{about.id}:{number}", about=about.id, content=content, **{**made, **fields}
    )


def a_picture(
    nodes: Iterable[Node] = (),
    edges: Iterable[Edge] = (),
    *,
    sources: Iterable[Source] = (),
    mentions: Sequence[tuple[Source, Node]] = (),
    artifacts: Iterable[Artifact] = (),
    notes: Iterable[Note] = (),
    marks: dict[str, AccessStats] | None = None,
    said_at: datetime = START,
    revision: int = 1,
) -> GraphSnapshot:
    by_subject: dict[str, tuple[Note, ...]] = {}
    for note in notes:
        by_subject[note.about] = (*by_subject.get(note.about, ()), note)
    return GraphSnapshot(
        revision=revision,
        nodes={node.id: node for node in nodes},
        edges={edge.id: edge for edge in edges},
        sources={source.id: source for source in sources},
        mentions=tuple(SourceMention(source.id, node.id, said_at) for source, node in mentions),
        artifacts={artifact.id: artifact for artifact in artifacts},
        notes=by_subject,
        marks=marks or {},
    )


def two_hops():
    """Where was the director of a film born? One source has the film, another the director."""
    film, director, town = (
        a_node(name, NodeType.ENTITY) for name in ("The Long Road", "Ines Moreau", "Lorient")
    )
    about_film, about_her, other = a_source("film"), a_source("her"), a_source("other")
    mentions = [(about_film, film), (about_film, director), (about_her, director)]
    mentions += [(about_her, town)]
    return a_picture(
        [film, director, town],
        [an_edge(film, director, "directed-by"), an_edge(director, town, "born-in")],
        sources=[about_film, about_her, other],
        mentions=mentions,
    )
