"""Fusion of the lists that several wordings of one question found. Pure.

Reciprocal rank fusion: an item gets 1 / (60 + its place) of each list that it is in. The question
itself counts most. A wording may come from a language model, so none of them can take away what the
question finds surely.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from commonplace.engine.search.pack import Hit
from commonplace.engine.search.rank import Ranked
from commonplace.engine.search.supersession import (
    EDGE_KIND,
    Settled,
    mark_older_values,
    put_current_first,
)

RRF_K = 60  # as in the paper (Cormack et al. 2009): the first places differ little
QUERY_WEIGHT = 2.0  # of the question itself; 1 for each other wording


def fuse(settled: Sequence[Settled]) -> Settled:
    """One list of several, that of the question first. A passage that one of them merged with its
    memory has no place of its own."""
    if len(settled) == 1:
        return settled[0]
    merged = {memory: each for one in reversed(settled) for memory, each in one.passages.items()}
    told = {each.id for one in settled for each in one.passages.values()}
    points: defaultdict[str, float] = defaultdict(float)
    best: dict[str, Ranked] = {}
    for number, one in enumerate(settled):
        weight = 1.0 if number else QUERY_WEIGHT
        for place, each in enumerate((each for each in one.ranked if each.id not in told), 1):
            points[each.id] += weight / (RRF_K + place)
            best[each.id] = _better(best.get(each.id), each)
    order = sorted(points, key=lambda id: (-points[id], id))
    scores = sorted((each.score for each in best.values()), reverse=True)
    ranked = [_with_score(best[id], score) for id, score in zip(order, scores, strict=True)]
    return Settled(ranked, merged)


def _better(known: Ranked | None, found: Ranked) -> Ranked:
    """An item as the list shows it that says most for it."""
    if known is None:
        return found
    first, other = (found, known) if found.score > known.score else (known, found)
    return replace(first, weak=False) if first.weak and not other.weak else first


def _with_score(ranked: Ranked, score: float) -> Ranked:
    """The scores stay those of the lists, in the order of the fusion: what is placed among the hits
    by its score (the graph, proposals) needs their scale."""
    if ranked.score == score:
        return ranked
    factor = score / ranked.score if ranked.score > 0 else 0.0
    parts = {name: round(part * factor, 6) for name, part in ranked.parts.items()}
    return replace(ranked, score=score, parts=parts)


def keep_found(found: Sequence[Hit], fused: Sequence[Hit], k: int) -> list[Hit]:
    """The fused hits, among which each sure hit of the question alone has its place."""
    sure = {hit.id: hit for hit in found if not hit.weak}
    shown = {id for hit in fused for id in (hit.id, *hit.evidence)}
    missing = [hit for hit in sure.values() if hit.id not in shown]
    if not missing:
        return list(fused)
    needed = [hit for hit in fused if not sure.keys().isdisjoint((hit.id, *hit.evidence))]
    others = [hit for hit in fused if hit not in needed][: max(0, k - len(needed) - len(missing))]
    hits = [hit for hit in fused if hit in needed or hit in others]
    for hit in missing:
        place = next((n for n, each in enumerate(hits) if each.score < hit.score), len(hits))
        hits.insert(place, hit)
    # Relations are compared by the time when they were told, which was done before.
    said = {hit.id: hit.date for hit in hits if hit.kind != EDGE_KIND}
    return put_current_first(mark_older_values(hits, said))
