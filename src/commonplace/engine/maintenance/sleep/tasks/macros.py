"""Macros: what several storylines of one node say over months; made weekly, with their texts."""

from __future__ import annotations

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
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.steps import PutStory, RemoveStories
from commonplace.model.sleep import SleepTask

COLLECTED = "its storylines"


def run_macros(night: Night) -> Decide:
    asked = ModelWork.begin(night, SleepTask.MACROS, "macro_text")
    written = write_stories(night, asked, lambda graph: dirty_stories(graph.macros))
    outcome, tokens = asked.outcome, asked.tokens

    def decide() -> Batch:
        with night.engine.store.read_session():
            graph = load_stories(night)
            if folded := _fold(night, graph):
                return Batch(folded, has_more=True, outcome=outcome, tokens=tokens)
            dirty = dirty_stories(graph.macros)
            if not dirty:
                return NOTHING_TO_DO
            actions = renew_stories(night, graph, dirty, written)
        has_more = len(dirty) == ACTIONS_AT_ONCE
        return Batch(actions, has_more=has_more, outcome=outcome, tokens=tokens)

    return decide


def _fold(night: Night, graph: GraphSnapshot) -> list[Action]:
    """Each anchor by itself, so that each macro is one action."""
    anchors = {each.anchor for each in graph.storylines.values()}
    anchors |= {each.anchor for each in graph.macros.values()}
    actions: list[Action] = []
    for anchor in sorted(anchors):
        steps = tuple(fold_anchor(night.engine, night.scope, [anchor], night.now, promotes=True))
        if steps:
            stories = [each for each in steps if isinstance(each, PutStory | RemoveStories)]
            actions.append(Action(COLLECTED, steps, items=max(1, len(stories))))
        if len(actions) == ACTIONS_AT_ONCE:
            break
    return actions
