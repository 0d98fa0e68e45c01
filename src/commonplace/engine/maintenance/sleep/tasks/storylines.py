"""Storylines: promoted, closed and joined by what their sources say now; then their texts.

A storyline of an archived node is not promoted; one that is there is still closed. A closed one is
never opened again: a later stretch of time is a storyline of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from commonplace.engine.graph.storylines import fold_anchor
from commonplace.engine.maintenance.sleep.model_texts import ModelWork
from commonplace.engine.maintenance.sleep.story_writing import (
    dirty_stories,
    load_stories,
    renew_stories,
    write_stories,
)
from commonplace.engine.maintenance.sleep.task import (
    ACTIONS_AT_ONCE,
    NOTHING_TO_DO,
    Action,
    Batch,
    Decide,
    Night,
)
from commonplace.model.graph.salience import current_salience
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.steps import PutStory, RemoveStories
from commonplace.model.graph.storylines import (
    Storyline,
    StorySource,
    closing_time,
    fold_storylines,
)
from commonplace.model.sleep import SleepTask

PROMOTED, CLOSED, JOINED = "promoted", "closed", "other sources"


def run_storylines(night: Night) -> Decide:
    asked = ModelWork.begin(night, SleepTask.STORYLINES, "storyline_text")
    written = write_stories(night, asked, lambda graph: dirty_stories(graph.storylines))
    outcome, tokens = asked.outcome, asked.tokens

    def decide() -> Batch:
        with night.engine.store.read_session():
            graph = load_stories(night)
            if folded := _fold(night, graph):
                return Batch(folded, has_more=True, outcome=outcome, tokens=tokens)
            dirty = dirty_stories(graph.storylines)
            if not dirty:
                return NOTHING_TO_DO
            actions = renew_stories(night, graph, dirty, written)
        has_more = len(dirty) == ACTIONS_AT_ONCE
        return Batch(actions, has_more=has_more, outcome=outcome, tokens=tokens)

    return decide


def _fold(night: Night, graph: GraphSnapshot) -> list[Action]:
    actions: list[Action] = []
    for anchor, why in _anchors_to_fold(graph, night.now):
        steps = tuple(fold_anchor(night.engine, night.scope, [anchor], night.now, promotes=True))
        if steps:
            stories = [each for each in steps if isinstance(each, PutStory | RemoveStories)]
            actions.append(Action(why, steps, items=max(1, len(stories))))
        if len(actions) == ACTIONS_AT_ONCE:
            break
    return actions


def _anchors_to_fold(graph: GraphSnapshot, now: datetime) -> Iterator[tuple[str, str]]:
    sources = _sources_by_node(graph)
    existing: dict[str, list[Storyline]] = {}
    for storyline in graph.storylines.values():
        existing.setdefault(storyline.anchor, []).append(storyline)
    for anchor in sorted(sources.keys() | existing.keys()):
        why = _change(existing.get(anchor, ()), sources.get(anchor, ()), now)
        if why and (why != PROMOTED or _may_be_promoted(graph, anchor, now)):
            yield anchor, why


def _may_be_promoted(graph: GraphSnapshot, anchor: str, now: datetime) -> bool:
    node = graph.nodes.get(anchor)
    if node is None or node.is_owner:
        return False
    return not current_salience(node, graph.marks_of(anchor), now).is_archived


def _sources_by_node(graph: GraphSnapshot) -> Mapping[str, Collection[StorySource]]:
    found: dict[str, dict[str, StorySource]] = {}
    for each in graph.mentions:
        source = StorySource(each.said_at, each.source, each.scope, each.weight, each.is_sensitive)
        found.setdefault(each.node, {})[each.source] = source
    return {node: list(sources.values()) for node, sources in found.items()}


def _change(
    existing: Sequence[Storyline], sources: Collection[StorySource], now: datetime
) -> str | None:
    """What a night would change at one anchor."""
    fold = fold_storylines(existing, sources)
    if fold.new:
        return PROMOTED
    if fold.gone:
        return JOINED
    for storyline in existing:
        burst = fold.kept[storyline.id]
        if burst != storyline.sources:
            return JOINED
        if storyline.is_open and closing_time(burst, now) is not None:
            return CLOSED
    return None
