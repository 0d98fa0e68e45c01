"""Which sources become notes, and on which nodes."""

from __future__ import annotations

from datetime import timedelta

from commonplace.engine.maintenance.sleep.tasks.consolidation import (
    group_by_nodes,
    sources_to_consolidate,
)
from commonplace.model.graph.elements import Node
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.snapshot import GraphSnapshot, SourceMention
from commonplace.model.graph.storylines import Storyline, StorySource
from commonplace.model.graph.types import NodeType
from commonplace.model.sources.source import ContentType, Source, SourceType
from support.clock import START

FADED = AccessStats(salience=0.1)


def a_source(id, days=60, **fields):
    at = START - timedelta(days=days)
    made = {
        "id": id,
        "user_id": "ana",
        "origin": "test",
        "external_id": id,
        "source_type": SourceType.CHAT,
        "content_type": ContentType.CONVERSATION,
        "summary": "Sarah Chen has a zither.",
        "created_at": at,
        "updated_at": at,
    }
    return Source(**{**made, **fields})


def a_node(id, **fields):
    made = {"type": NodeType.PERSON, "name": id, "key": id, "created_by": "test"}
    return Node(id=id, user_id="ana", created_at=START, updated_at=START, **{**made, **fields})


def a_graph(sources, mentions, marks=None, storylines=()):
    nodes = {node for of_source in mentions.values() for node in of_source}
    return GraphSnapshot(
        nodes={id: a_node(id, is_owner=id == "me") for id in nodes},
        sources={source.id: source for source in sources},
        mentions=tuple(
            SourceMention(source, node, START) for source, all in mentions.items() for node in all
        ),
        marks={source.id: FADED for source in sources} if marks is None else marks,
        storylines={each.id: each for each in storylines},
    )


def due(graph):
    return [source.id for source in sources_to_consolidate(graph, START)]


def test_old_sources_of_low_salience_are_due_oldest_first():
    sources = [a_source("a", 8), a_source("b", 9), a_source("c", 7), a_source("d", 30)]
    graph = a_graph(sources, {each.id: ["x" + each.id] for each in sources})
    assert due(graph) == ["d", "b", "a"]
    read = a_graph(sources, {"a": ["x"]}, marks={"a": AccessStats(salience=0.9)})
    assert due(read) == []


def test_five_that_share_a_node_are_due_whatever_their_age():
    sources = [a_source(str(n), 1) for n in range(5)]
    assert due(a_graph(sources, {each.id: ["x"] for each in sources})) == [*"01234"]
    assert due(a_graph(sources[:4], {each.id: ["x"] for each in sources[:4]})) == []
    only_one_is_read = {each.id: FADED for each in sources[:4]} | {"4": AccessStats(salience=0.9)}
    assert due(a_graph(sources, {each.id: ["x"] for each in sources}, only_one_is_read)) == []


def test_sources_without_nodes_or_summary_and_archived_ones_are_not_due():
    sources = [a_source("a"), a_source("b", summary=" "), a_source("c")]
    marks = {"a": FADED, "b": FADED, "c": AccessStats(salience=0.1, archived_at=START)}
    assert due(a_graph(sources, {"b": ["x"], "c": ["x"]}, marks)) == []


def test_sources_of_an_open_storyline_stay():
    story = Storyline(
        id="storyline:1",
        user_id="ana",
        anchor="x",
        name="x",
        sources=(StorySource(START, "a", "user:ana"),),
        created_at=START,
        updated_at=START,
    )
    source = a_source("a")
    assert due(a_graph([source], {"a": ["x"]}, storylines=[story])) == []
    closed = story.evolve(closed_at=START)
    assert due(a_graph([source], {"a": ["x"]}, storylines=[closed])) == ["a"]


def test_sources_are_grouped_by_the_nodes_that_they_share():
    sources = [a_source(id) for id in "abcd"]
    nodes = {"a": ["x"], "b": ["y"], "c": ["x", "z"], "d": ["z", "y"]}
    groups = group_by_nodes(sources, nodes)
    assert [{each.id for each in group} for group in groups] == [{*"abcd"}]
    apart = group_by_nodes(sources[:3], nodes)
    assert sorted(sorted(each.id for each in group) for group in apart) == [["a", "c"], ["b"]]
