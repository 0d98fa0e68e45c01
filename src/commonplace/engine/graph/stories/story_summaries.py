"""What storylines are written from: summaries of sources. How alike late sources are to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.stories.story_texts import macro_text
from commonplace.engine.llm.texts import DatedSummary
from commonplace.model.access.principal import Scope
from commonplace.model.graph.storylines import (
    ATTACHED_ABOVE,
    FIRST_SUMMARIES,
    STORYLINE_NAME,
    Storyline,
    StorySource,
    find_late_sources,
)
from commonplace.model.memory.memory import State


def read_summaries(
    engine: EngineContext, sources: Sequence[StorySource], without: Collection[str] = ()
) -> list[DatedSummary]:
    """Of the newest sources, oldest first. ``without``: sources that lose words by this decision,
    whose stored summary may still tell them."""
    chosen = [source for source in sorted(sources) if source.id not in without][-FIRST_SUMMARIES:]
    texts = _summary_texts(engine, chosen)
    return [
        DatedSummary(texts[source.id], source.said_at.date())
        for source in chosen
        if texts.get(source.id)
    ]


def _summary_texts(engine: EngineContext, sources: Iterable[StorySource]) -> dict[str, str]:
    """By source. A team's source is stored with its team."""
    by_scope: dict[str, list[str]] = {}
    for source in sources:
        by_scope.setdefault(source.scope, []).append(source.id)
    return {
        stored.id: stored.summary
        for scope, ids in by_scope.items()
        for stored in engine.live_sources(Scope(scope), ids)
        if stored.state is State.ACTIVE
    }


def macro_text_of(anchor: str, name: str, storylines: Iterable[Storyline]) -> str:
    """By rules. ``anchor``: whose macro it is; storylines of others are told under their names."""
    own: list[DatedSummary] = []
    tied: dict[str, list[DatedSummary]] = {}
    for each in sorted(storylines, key=lambda each: (each.started_at, each.id)):
        other = each.name.removesuffix(STORYLINE_NAME.format(""))
        texts = own if each.anchor == anchor else tied.setdefault(other, [])
        start, end = each.started_at.date(), each.last_source_at.date()
        texts.append(DatedSummary(each.description, start, end))
    return macro_text(name, own, tied)


def find_unlike_sources(
    engine: EngineContext, existing: Sequence[Storyline], sources: Sequence[StorySource]
) -> set[str]:
    """Sources that came after the storyline of their time was closed, and tell of something else.
    Where the similarity is unknown, time alone decides."""
    late = find_late_sources(existing, sources)
    texts = _summary_texts(engine, [source for source, _ in late])
    pairs = [(source.id, texts[source.id], line.search_text) for source, line in late]
    pairs = [(id, summary, text) for id, summary, text in pairs if summary]
    distinct = list(dict.fromkeys(text for _, *both in pairs for text in both))
    vectors = engine.embed_passages(distinct) if distinct else None
    if vectors is None:
        return set()
    rows = dict(zip(distinct, vectors, strict=True))
    return {
        id
        for id, summary, text in pairs
        if (alike := engine.similarity(float(np.dot(rows[summary], rows[text])), summary, text))
        is not None
        and alike <= ATTACHED_ABOVE
    }
