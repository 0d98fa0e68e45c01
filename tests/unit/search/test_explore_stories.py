"""How many storylines, macros and sources explore returns, and which."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.engine.graph.visible_graph import limit_stories_to_sources
from commonplace.engine.graph_search.explore import explore_snapshot
from commonplace.engine.graph_search.explore_candidates import ExploreInput
from commonplace.engine.graph_search.explore_request import read_explore_request
from commonplace.engine.graph_search.explore_result import MacroRef, StorylineRef
from commonplace.engine.graph_search.graph_view import GraphView
from commonplace.model.graph.storylines import StorySource
from commonplace.model.graph.types import NodeType
from support.clock import START
from support.graph_making import a_macro, a_storyline
from support.pictures import NEVER_READ, a_node, a_picture, a_source

NAMES = ("Harbour", "Kitchen", "Thesis", "Garden", "Marathon", "Choir", "Boat")
DAYS = 6


def a_full_snapshot(stories=7, **changes):
    """Storylines, each of its own anchor and sources, and a macro of each. Later ones are newer."""
    nodes = [a_node(name, NodeType.ENTITY) for name in NAMES[:stories]]
    sources, storylines, macros, mentions = [], [], [], []
    for n, node in enumerate(nodes):
        own = [
            a_source(f"{n}-{day}", started_at=START - timedelta(days=60 - 7 * n - day))
            for day in range(DAYS)
        ]
        told = tuple(StorySource(s.started_at, s.id, "user:ana") for s in own)
        storyline = a_storyline(
            node.id,
            id=f"storyline:{n}",
            name=f"{node.name} – storyline",
            description="",
            sources=told,
        )
        macro = a_macro(
            node.id,
            storyline,
            id=f"macro:{n}",
            name=f"{node.name} – macro",
            description="",
            last_event_at=told[-1].said_at,
        )
        sources += own
        storylines.append(storyline)
        macros.append(macro)
        mentions += [(source, node) for source in own]
    snapshot = a_picture(
        nodes, sources=sources, mentions=mentions, marks=changes.pop("marks", None)
    )
    fields = {
        "storylines": {each.id: each for each in storylines},
        "macros": {each.id: each for each in macros},
        **changes,
    }
    return replace(snapshot, **fields)


def explored(granularity, snapshot=None, **asked):
    request = read_explore_request(granularity=granularity, **asked)
    view = GraphView(a_full_snapshot() if snapshot is None else snapshot)
    return explore_snapshot(view, request, ExploreInput(), START)


def test_explore_micro_names_three_storylines_and_two_macros():
    found = explored(1).episodic
    assert len(found.sources) == 5
    assert [type(each) for each in found.storylines] == [StorylineRef] * 3
    assert [type(each) for each in found.macros] == [MacroRef] * 2


def test_explore_meso_returns_five_storylines_with_ten_sources_in_all():
    found = explored(2).episodic
    assert [each.storyline_id for each in found.storylines] == [
        f"storyline:{n}" for n in (6, 5, 4, 3, 2)
    ], "the newest first"
    assert {len(each.preview_sources) for each in found.storylines} == {2}
    shown = {each.entity_key for hit in found.storylines for each in hit.preview_sources}
    assert {each.entity_key for each in found.sources} == shown
    assert len(found.sources) == 10
    assert [type(each) for each in found.macros] == [MacroRef] * 2


def test_explore_meso_shows_more_sources_of_fewer_storylines():
    (hit,) = explored(2, a_full_snapshot(1)).episodic.storylines
    assert [each.entity_key for each in hit.preview_sources] == [
        f"source:0-{day}" for day in (5, 4, 3, 2, 1)
    ]


def test_explore_macro_returns_five_macros_their_storylines_and_no_sources():
    found = explored(3)
    assert [each.macro_id for each in found.episodic.macros] == [
        f"macro:{n}" for n in (6, 5, 4, 3, 2)
    ]
    children = [each.storyline_id for hit in found.episodic.macros for each in hit.storylines]
    assert [each.storyline_id for each in found.episodic.storylines] == children
    assert found.episodic.sources == ()
    anchors = {hit.anchor.entity_key for hit in found.episodic.macros}
    assert {node.entity_key for node in found.semantic.entities} == anchors


@pytest.mark.parametrize(("granularity", "kind"), [(2, "storylines"), (3, "macros")])
def test_explore_returns_stories_of_what_is_asked_for_only(granularity, kind):
    found = explored(granularity, text_matches=["Garden"]).episodic
    (hit,) = getattr(found, kind)
    assert hit.anchor.name == "Garden"


def test_explore_leaves_archived_storylines_out_unless_asked_for():
    snapshot = a_full_snapshot(3, marks={"storyline:2": NEVER_READ})
    closed = snapshot.storylines["storyline:2"].evolve(closed_at=START)
    snapshot = replace(snapshot, storylines={**snapshot.storylines, "storyline:2": closed})
    shown = [each.storyline_id for each in explored(2, snapshot).episodic.storylines]
    assert "storyline:2" not in shown
    shown = explored(2, snapshot, include_archived=True).episodic.storylines
    assert "storyline:2" in [each.storyline_id for each in shown]


def test_storyline_with_a_source_that_may_not_be_read_is_hidden_with_its_macro():
    snapshot = a_full_snapshot()
    readable = snapshot.sources.keys() - {"source:6-0"}
    limited = limit_stories_to_sources(snapshot, readable)
    assert "storyline:6" not in limited.storylines
    assert "macro:6" not in limited.macros
    assert limited.storylines.keys() == snapshot.storylines.keys() - {"storyline:6"}
