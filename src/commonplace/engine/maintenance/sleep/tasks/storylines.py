"""Storylines: promoted, closed and joined by what their sources say now; then their texts.

A storyline of an archived node is not promoted; one that is there is still closed. A closed one is
never opened again: a later stretch of time is a storyline of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

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
from commonplace.model.graph.salience import current_salience
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.storylines import (
    Storyline,
    StorySource,
    closing_time,
    find_late_sources,
    fold_storylines,
)
from commonplace.store.queries import GraphQuery

PROMOTED, CLOSED, JOINED = "promoted", "closed", "other sources"


def run_storylines(night: Night) -> Decide:
    asked = ModelWork.begin(night, "storyline_text")
    written = write_stories(night, asked, lambda graph: dirty_stories(graph, graph.storylines))
    outcome, tokens = asked.outcome, asked.tokens

    def decide() -> Batch:
        with night.engine.store.read_session():
            graph = load_stories(night)
            if folded := _fold(night):
                return Batch(folded, has_more=True, outcome=outcome, tokens=tokens)
            dirty = dirty_stories(graph, graph.storylines)
            if not dirty:
                return NOTHING_TO_DO
            actions = renew_stories(night, graph, dirty, written)
        has_more = len(dirty) > len(actions)
        return Batch(actions, has_more=has_more, outcome=outcome, tokens=tokens)

    return decide


def _fold(night: Night) -> list[NightAction]:
    snapshot = night.engine.graph_cache.of(night.scope).snapshot
    marks = night.engine.store.graph_items(night.scope, GraphQuery(marks=None)).marks
    due = _anchors_to_fold(replace(snapshot, marks=marks), night.now)
    return fold_each(night, due, makes_macros=False)


def _anchors_to_fold(graph: GraphSnapshot, now: datetime) -> Iterator[tuple[str, str]]:
    """With what a night does there."""
    sources = graph.story_sources
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


def _change(
    existing: Sequence[Storyline], sources: Sequence[StorySource], now: datetime
) -> str | None:
    """What a night would change at one anchor. A late source was compared when it came: one that is
    not in its storyline was rejected."""
    late = {source.id for source, _ in find_late_sources(existing, sources)}
    sources = [source for source in sources if source.id not in late]
    fold = fold_storylines(existing, sources)
    if fold.new:
        return PROMOTED
    if fold.gone or any(fold.kept[each.id] != each.sources for each in existing):
        return JOINED
    last = max(sources, default=None)
    for storyline in existing:
        burst = fold.kept[storyline.id]
        if storyline.closed_at != closing_time(burst, now, is_last=burst[-1] == last):
            return CLOSED
    return None
