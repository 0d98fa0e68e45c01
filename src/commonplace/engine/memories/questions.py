"""Questions by which a model's memory is found: without those that another memory answers better.

A question is searched like the memory's own text, in whatever words. One that is about something
else would put the memory before the one that answers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from commonplace.engine.context import EngineContext
from commonplace.model.access.principal import Principal
from commonplace.model.filters import NO_FILTERS, Visibility
from commonplace.model.memory.candidate import MemoryCandidate

# As far as another text may be more similar to a question. Of 500 questions that careful people
# wrote in quite other words than their memories, 4 in 1000 are further (MiniLM), or 26 (wordllama).
MAX_LEAD = 0.3


def without_misleading_questions(
    engine: EngineContext, principal: Principal, candidates: Sequence[MemoryCandidate]
) -> list[MemoryCandidate]:
    """Outside a transaction: it embeds. While the embedder is down, or for scripts that it does not
    know, questions stay."""
    asking = [each for each in candidates if each.questions]
    questions = [question for each in asking for question in each.questions]
    texts = engine.embed_passages([each.content for each in asking]) if asking else None
    asked = None if texts is None else engine.embed_queries(questions)
    if texts is None or asked is None:
        return list(candidates)
    owners = [place for place, each in enumerate(asking) for _ in each.questions]
    own = np.sum(asked * texts[owners], axis=1)
    others = np.maximum(
        _nearest_stored(engine, principal, asked), _nearest_new(asked, texts, owners)
    )
    kept: dict[int, list[str]] = {place: [] for place in range(len(asking))}
    for question, place, mine, other in zip(questions, owners, own, others, strict=True):
        content = asking[place].content
        similar = engine.similarity(float(mine), question, content)
        leading = engine.similarity(float(other), question, content)
        if similar is None or leading is None or leading - similar <= MAX_LEAD:
            kept[place].append(question)
    changed = {
        id(each): replace(each, questions=tuple(kept[place])) for place, each in enumerate(asking)
    }
    return [changed.get(id(each), each) for each in candidates]


def _nearest_stored(engine: EngineContext, principal: Principal, asked: np.ndarray) -> np.ndarray:
    """By its text; −1 where nothing is stored."""
    with engine.index.reading(principal.own_scope) as index:
        live = index.candidates(NO_FILTERS, Visibility(cleared=True), engine.clock())
        cosines = index.cosines_of_many(asked.astype(np.float32), live & ~index.passages)
    nearest: np.ndarray = cosines.max(axis=1, initial=-1.0)
    return nearest


def _nearest_new(asked: np.ndarray, texts: np.ndarray, owners: Sequence[int]) -> np.ndarray:
    cosines = asked @ texts.T
    cosines[np.arange(len(owners)), owners] = -1.0
    nearest: np.ndarray = cosines.max(axis=1, initial=-1.0)
    return nearest
