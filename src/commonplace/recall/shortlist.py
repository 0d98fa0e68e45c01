"""Visit 1: the best of all candidates, judged by the index alone. Every candidate is filtered
before it is scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
from numpy.typing import NDArray

from commonplace.desk import Desk, Vector
from commonplace.language.detect import script
from commonplace.model.kinds import POLICIES
from commonplace.model.scope import Principal
from commonplace.model.titles import mentioned
from commonplace.recall.arms import Heard, Listening, listen
from commonplace.recall.fuse import WEIGHTS, Floats, parts_of, totals
from commonplace.recall.plan import Plan, Understood
from commonplace.recall.rank import (
    Floors,
    Ranked,
    best_slots,
    can_be_answered,
    floors_at,
    in_order,
    relevant,
)
from commonplace.store.index import ScopeIndex

_MENTIONING = 5  # the best, whose mentions of titles are followed

_WEIGHT_OF_KIND = {
    str(kind): policy.recall_weight
    for kind, policy in POLICIES.items()
    if policy.recall_weight != 1
}


@dataclass(frozen=True, slots=True)
class Shortlist:
    ranked: tuple[Ranked, ...]  # best first
    nearest: float | None  # the best similarity of all candidates, relevant or not
    is_all: bool  # there are no further candidates


def shortlist(
    desk: Desk,
    principal: Principal,
    plan: Plan,
    understood: Understood,
    vectors: tuple[Vector, ...] | None,
    most: int,
) -> Shortlist:
    now = desk.clock()
    with desk.index.reading(principal.scope) as index:
        visible = index.visible(plan.within.visibility(principal), now)
        mask = index.candidates(plan.filters, plan.within.visibility(principal), now)
        mask = plan.within.narrowed(index, mask)
        heard = listen(Listening(index, understood, vectors, mask, visible, now, desk.calibration))
        judged = _Judged(desk, index, plan, heard)
        slots = judged.best(most)
        ranked = judged.ranked(index, slots)
        has_titles = bool(index.titles)
    if ranked and has_titles:
        ranked = _with_mentioned(desk, principal, judged, ranked)
    is_all = len(slots) == np.count_nonzero(judged.candidates)
    return Shortlist(tuple(in_order(ranked)), judged.nearest, is_all)


class _Judged:
    """All candidates of one moment, scored."""

    def __init__(self, desk: Desk, index: ScopeIndex, plan: Plan, heard: Heard):
        self.epoch = index.counters.epoch
        self.passages = index.passages
        self._heard = heard
        self._explain = plan.explain
        told = desk.calibration.similarities(heard.cosines, script(plan.query))
        self._similarities: Floats = np.full(index.size, np.nan) if told is None else told
        self._parts = _by_kind(parts_of(heard.signals), index)
        self._scores = totals(self._parts, index.size)
        self.candidates = self._relevant(plan, floors_at(desk.recall_floor))

    def _relevant(self, plan: Plan, floors: Floors) -> NDArray[np.bool_]:
        mask, known = self._heard.mask, self._heard.known
        fit = relevant(
            self._similarities,
            self._heard.held,
            known,
            self.passages,
            self._heard.named,
            plan.threshold,
            floors,
        )
        answerable = can_be_answered(self._similarities, known, mask, floors)
        if plan.threshold is None and not answerable:
            fit &= self._heard.named
        return mask & fit

    @property
    def nearest(self) -> float | None:
        mask = self._heard.mask
        told = self._similarities if mask.all() else self._similarities[mask]
        return None if not len(told) or np.isnan(told).all() else float(np.nanmax(told))

    def best(self, most: int) -> NDArray[np.int64]:
        return best_slots(self._scores, self.candidates, most)

    def ranked(self, index: ScopeIndex, slots: Sequence[int] | NDArray[np.int64]) -> list[Ranked]:
        at = np.asarray(slots, dtype=np.intp)
        columns = (self.passages, self._similarities, self._heard.held, self._scores)
        told = zip(at.tolist(), *(column[at].tolist() for column in columns), strict=True)
        return in_order(
            [
                Ranked(
                    index.ids[slot],
                    index.units[slot],
                    is_passage,
                    None if isnan(similarity) else round(similarity, 6),
                    held,
                    round(score, 6),
                    self._parts_at(slot) if self._explain else {},
                    bool(is_passage) and index.contexts.has_neighbours(slot),
                )
                for slot, is_passage, similarity, held, score in told
            ]
        )

    def _parts_at(self, slot: int) -> dict[str, float]:
        found = {name: round(float(part[slot]), 6) for name, part in self._parts.items()}
        return {name: part for name, part in found.items() if part}


def _by_kind(parts: Mapping[str, Floats], index: ScopeIndex) -> Mapping[str, Floats]:
    weights = np.array([_WEIGHT_OF_KIND.get(str(kind), 1.0) for kind in index.words["kind"].codes])
    if (weights == 1).all():
        return parts
    of_each = weights[index.coded["kind"][: index.size]]
    return {name: part * of_each for name, part in parts.items()}


def _with_mentioned(
    desk: Desk, principal: Principal, judged: _Judged, ranked: list[Ranked]
) -> list[Ranked]:
    """One hop: documents that the best hits mention by title are lifted among them."""
    best = [each for each in ranked[:_MENTIONING] if each.is_passage]
    texts = desk.store.passages(principal.scope, [each.unit for each in best])
    highest = max((each.score for each in ranked), default=0.0)
    lifts: dict[int, float] = {}
    with desk.index.reading(principal.scope) as index:
        if index.counters.epoch != judged.epoch or highest <= 0:
            return ranked
        for each in best:
            text = texts[each.unit].text if each.unit in texts else ""
            by = WEIGHTS.of("title") * each.score / highest
            own = each.id.partition("#")[0]
            for key in mentioned(text, index.titles):
                for source in index.titles[key] - {own}:
                    for slot in index.sources[source].slots:
                        lifts[slot] = max(lifts.get(slot, 0.0), by)
        known = len(judged.candidates)
        lifted = [slot for slot in lifts if slot < known and judged.candidates[slot]]
        met = {each.id for each in ranked}
        others = judged.ranked(index, [s for s in lifted if index.ids[s] not in met])
        by_id = {index.ids[slot]: lifts[slot] for slot in lifted}
    return [
        each.lifted("title", by_id[each.id]) if each.id in by_id else each
        for each in (*ranked, *others)
    ]
