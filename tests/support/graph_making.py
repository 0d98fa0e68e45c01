"""Nodes, edges, tellings and notes made by hand, for tests that speak to a store directly."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from commonplace.model.graph.assertion import CitedSource, EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.steps import (
    Extraction,
    PutArtifact,
    PutEdge,
    PutNode,
    PutNote,
    PutStory,
    RemoveEdge,
    RemoveNode,
    RemoveNotes,
    RemoveStories,
    SetExtraction,
)
from commonplace.model.graph.storylines import (
    STORY_CATEGORY,
    Macro,
    Story,
    Storyline,
    StorySource,
)
from commonplace.model.graph.types import NodeType, edge_kind_between
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.sources.source import SourceType
from support.clock import START
from support.making import EMBEDDER


def cited(source: str = "source:1", **fields: Any) -> CitedSource:
    made = {"scope": "user:ana", "source_type": SourceType.CHAT, "said_at": START}
    return CitedSource(**{**made, "id": source, **fields})


def a_node(name: str = "Mira", **fields: Any) -> Node:
    at = fields.pop("created_at", START)
    made = {
        "id": f"node:{uuid.uuid4()}",
        "user_id": "ana",
        "type": NodeType.PERSON,
        "key": name.casefold(),
        "created_by": "user:ana",
        "created_at": at,
        "updated_at": at,
    }
    return Node(**{**made, "name": name, **fields})


def a_node_telling(node: Node, **fields: Any) -> NodeAssertion:
    made = {
        "id": f"telling:{uuid.uuid4()}",
        "source": cited(),
        "by": "user:ana",
        "recorded_at": START,
        "type": node.type,
        "name": node.name,
        "key": node.key,
    }
    return NodeAssertion(**{**made, "node": node.id, **fields})


def an_edge(a: Node, b: Node, type: str = "friend", **fields: Any) -> Edge:
    at = fields.pop("created_at", START)
    made = {
        "id": f"edge:{uuid.uuid4()}",
        "user_id": a.user_id,
        "kind": edge_kind_between(a.type, b.type),
        "valid_from": at,
        "recorded_at": at,
        "recorded_by": "user:ana",
        "created_at": at,
        "updated_at": at,
    }
    return Edge(**{**made, "a": a.id, "b": b.id, "type": type, **fields})


def an_edge_telling(edge: Edge, **fields: Any) -> EdgeAssertion:
    made = {
        "id": f"telling:{uuid.uuid4()}",
        "source": cited(),
        "by": "user:ana",
        "recorded_at": START,
        "valid_from": START,
        "a": edge.a,
        "b": edge.b,
        "type": edge.type,
    }
    return EdgeAssertion(**{**made, "edge": edge.id, **fields})


def a_note(about: Node | Edge, content: str = "Plays the cello", **fields: Any) -> Note:
    made = {"id": f"note:{uuid.uuid4()}", "added_by": "user:ana", "date_added": START}
    return Note(**{**made, "about": about.id, "content": content, **fields})


def an_artifact(name: str = "The plan", **fields: Any) -> Artifact:
    made = {
        "id": f"artifact:{uuid.uuid4()}",
        "user_id": "ana",
        "content_type": "md_file",
        "output": "# Plan",
        "created_by": "agent:test",
        "created_at": START,
        "updated_at": START,
    }
    return Artifact(**{**made, "name": name, **fields})


def an_extraction(source: str = "source:1", **fields: Any) -> Extraction:
    made = {
        "scope": "user:ana",
        "started_at": START,
        "completed_at": START,
        "passages": 3,
        "digest": "d",
        "heard": ("0a1b2c", "3d4e5f", "0a1b2c"),
    }
    return Extraction(**{**made, "source": source, **fields})


# ——— steps ———


def vector_of(text: str) -> bytes:
    return EMBEDDER.embed([text])[0].astype("<f4").tobytes()


def putting_node(node: Node, *told: NodeAssertion, **more: Any) -> PutNode:
    """Told of once, where no tellings are given; found by its name."""
    before = more.pop("before", None)
    told = told if told or before else (a_node_telling(node),)
    entry = Entry(
        op=Op.UPDATE if before else Op.CREATE,
        event=Event.UPDATE if before else Event.ADD,
        subject=node.id,
        category=node.category,
        new_ref=node.ref,
    )
    found = {} if before else {"text": node.name, "vector": vector_of(node.name)}
    return PutNode(before, node, entry, **{**found, "assertions": told, **more})


def changing_node(before: Node, **fields: Any) -> PutNode:
    more = {
        name: fields.pop(name)
        for name in ("assertions", "removed_assertions", "text")
        if name in fields
    }
    after = before.evolve(version=before.version + 1, **fields)
    return putting_node(after, *more.pop("assertions", ()), before=before, **more)


def putting_edge(edge: Edge, *told: EdgeAssertion, **more: Any) -> PutEdge:
    before = more.pop("before", None)
    told = told if told or before else (an_edge_telling(edge),)
    entry = Entry(
        op=Op.UPDATE if before else Op.CREATE,
        event=Event.UPDATE if before else Event.ADD,
        subject=edge.id,
        category="relationships",
        new_ref=edge.ref,
    )
    found = {} if before else {"text": edge.type, "vector": vector_of(edge.type)}
    return PutEdge(before, edge, entry, **{**found, "assertions": told, **more})


def putting_note(note: Note) -> PutNote:
    return PutNote(note, Entry(op=Op.CREATE, event=Event.ADD, subject=note.id))


def putting_artifact(artifact: Artifact) -> PutArtifact:
    return PutArtifact(artifact, Entry(op=Op.CREATE, event=Event.ADD, subject=artifact.id))


def extracted(extraction: Extraction, *, gone: bool = False) -> SetExtraction:
    return SetExtraction(extraction, Entry(op=Op.CLASSIFY, subject=extraction.source), gone)


def going(subject: str, event: Event = Event.ERASE) -> Entry:
    return Entry(op=Op.DELETE, event=event, subject=subject, category="relationships")


def removing_node(node: Node, event: Event = Event.ERASE) -> RemoveNode:
    return RemoveNode(node.id, going(node.id, event))


def removing_edge(edge: Edge, event: Event = Event.ERASE) -> RemoveEdge:
    return RemoveEdge(edge.id, going(edge.id, event))


def removing_notes(*notes: Note, event: Event = Event.ERASE) -> RemoveNotes:
    return RemoveNotes(tuple(note.id for note in notes), going(notes[0].about, event))


def story_sources(*days: float, **fields: Any) -> tuple[StorySource, ...]:
    """A source for each of these days after the start, named after its day."""
    return tuple(
        StorySource(
            START + timedelta(days=day),
            **{"id": f"source:day-{day:g}", "scope": "user:ana", **fields},
        )
        for day in sorted(days)
    )


def a_storyline(anchor: str, *days: float, **fields: Any) -> Storyline:
    return Storyline(
        **{
            "id": f"storyline:{uuid.uuid4()}",
            "user_id": "ana",
            "anchor": anchor,
            "name": "Mira – storyline",
            "description": "Mira moved to Haifa.",
            "sources": story_sources(*(days or (0, 1, 2, 3, 5))),
            "created_at": START,
            "updated_at": START,
            **fields,
        }
    )


def a_macro(anchor: str, *storylines: Storyline, **fields: Any) -> Macro:
    return Macro(
        **{
            "id": f"macro:{uuid.uuid4()}",
            "user_id": "ana",
            "anchor": anchor,
            "name": "Mira – macro",
            "description": "Mira moved twice.",
            "storylines": tuple(each.id for each in storylines),
            "total_source_count": 10,
            "started_at": START,
            "last_event_at": START + timedelta(days=60),
            "created_at": START,
            "updated_at": START,
            **fields,
        }
    )


def putting_story(story: Story, before: Story | None = None) -> PutStory:
    entry = Entry(
        op=Op.UPDATE if before else Op.CREATE,
        node=JournalNode.WORKER,
        event=Event.UPDATE if before else Event.ADD,
        subject=story.id,
        category=STORY_CATEGORY,
        new_ref=story.ref,
    )
    return PutStory(before, story, entry, vector_of(story.search_text))


def changing_story(before: Story, **fields: Any) -> PutStory:
    return putting_story(before.evolve(version=before.version + 1, **fields), before)


def removing_stories(*stories: Story, event: Event = Event.ERASE) -> RemoveStories:
    return RemoveStories(tuple(story.id for story in stories), going(stories[0].id, event))
