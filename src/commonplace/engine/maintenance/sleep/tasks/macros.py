"""Macros: what several storylines of one node say over months; made weekly, with their texts."""

from __future__ import annotations

from commonplace.engine.maintenance.sleep.model_texts import ModelWork
from commonplace.engine.maintenance.sleep.story_writing import (
    dirty_stories,
    fold_each,
    load_stories,
    renew_stories,
    write_stories,
)
from commonplace.engine.maintenance.sleep.task import (
    NOTHING_TO_DO,
    Batch,
    Decide,
    Night,
    NightAction,
)
from commonplace.model.graph.snapshot import GraphSnapshot

COLLECTED = "its storylines"


def run_macros(night: Night) -> Decide:
    asked = ModelWork.begin(night, "macro_text")
    written = write_stories(night, asked, lambda graph: dirty_stories(graph, graph.macros))
    outcome, tokens = asked.outcome, asked.tokens

    def decide() -> Batch:
        with night.engine.store.read_session():
            graph = load_stories(night)
            if folded := _fold(night, graph):
                return Batch(folded, has_more=True, outcome=outcome, tokens=tokens)
            dirty = dirty_stories(graph, graph.macros)
            if not dirty:
                return NOTHING_TO_DO
            actions = renew_stories(night, graph, dirty, written)
        has_more = len(dirty) > len(actions)
        return Batch(actions, has_more=has_more, outcome=outcome, tokens=tokens)

    return decide


def _fold(night: Night, graph: GraphSnapshot) -> list[NightAction]:
    anchors = {each.anchor for each in graph.storylines.values()}
    anchors |= {each.anchor for each in graph.macros.values()}
    return fold_each(night, ((anchor, COLLECTED) for anchor in sorted(anchors)), makes_macros=True)
