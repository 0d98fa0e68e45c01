"""Steps for storylines and macros: with vectors of new texts; a node's flags that it has some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from commonplace.engine.context import EngineContext
from commonplace.model.delta import DERIVED
from commonplace.model.graph.elements import Node
from commonplace.model.graph.steps import PutNode, PutStory
from commonplace.model.graph.storylines import STORY_CATEGORY, Story
from commonplace.model.journal import Entry, Event, JournalNode, Op


def build_flag_step(node: Node, flags: Mapping[str, bool], at: datetime) -> PutNode:
    after = node.evolve(**flags, version=node.version + 1, updated_at=at)
    entry = Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        node=JournalNode.WORKER,
        subject=node.id,
        category=node.category,
        new_ref=after.ref,
        meta=DERIVED,
    )
    return PutNode(node, after, entry)


def has_other_flags(node: Node, flags: Mapping[str, bool]) -> bool:
    return any(getattr(node, name) != value for name, value in flags.items())


def embed_stories(engine: EngineContext, steps: Sequence[PutStory]) -> list[PutStory]:
    """One embedder call for all texts that are new."""
    new = [place for place, step in enumerate(steps) if has_new_text(step)]
    vectors = engine.embed_passages([steps[p].after.search_text for p in new]) if new else None
    if vectors is None:
        return list(steps)
    embedded = {place: row.astype("<f4").tobytes() for place, row in zip(new, vectors, strict=True)}
    return [replace(step, vector=embedded.get(place)) for place, step in enumerate(steps)]


def has_new_text(step: PutStory) -> bool:
    return step.before is None or step.before.search_text != step.after.search_text


def story_entry(op: Op, event: Event, story: Story, meta: Mapping[str, Any] | None = None) -> Entry:
    return Entry(
        op=op,
        event=event,
        node=JournalNode.WORKER,
        subject=story.id,
        category=STORY_CATEGORY,
        old_ref=story.ref if op is Op.DELETE else None,
        new_ref=story.ref if op is not Op.DELETE else None,
        meta=meta or {},
    )
