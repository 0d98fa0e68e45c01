"""Visit 1: the best of all candidates, judged by the indexes alone. Every candidate is filtered
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
from commonplace.model.reach import Reading
from commonplace.model.scope import Principal
from commonplace.recall.arms import Heard, Listener, Listening, listen
from commonplace.recall.fuse import Floats, parts_of, totals
from commonplace.recall.mentions import MENTIONING, lifts_in, texts_of
from commonplace.recall.plan import Plan, Understood
from commonplace.recall.rank import (
    Evidence,
    Floors,
    Ranked,
    best_slots,
    can_be_answered,
    floors_at,
    in_order,
    nearest,
    relevant,
)
from commonplace.store.index import Mask, ScopeIndex

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


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks what, and where."""

    desk: Desk
    principal: Principal
    readings: Sequence[Reading]
    plan: Plan
    understood: Understood
    vectors: tuple[Vector, ...] | None


def shortlist(asking: Asking, most: int) -> Shortlist:
    desk = asking.desk
    with desk.index.holding(asking.readings) as indexes:
        judged = _judged(asking, indexes)
        best = best_slots(
            [each.scores for each in judged], [each.candidates for each in judged], most
        )
        ranked = [
            one
            for each, index, slots in zip(judged, indexes, best, strict=True)
            for one in each.ranked(index, slots)
        ]
        has_titles = any(index.titles for index in indexes)
    ranked = in_order(ranked)
    if ranked and has_titles:
        ranked = in_order(_with_mentioned(asking, judged, ranked))
    all_there = sum(int(np.count_nonzero(each.candidates)) for each in judged)
    closest = nearest([each.evidence for each in judged])
    return Shortlist(
        tuple(ranked), None if isnan(closest) else closest, sum(map(len, best)) == all_there
    )


def _judged(asking: Asking, indexes: Sequence[ScopeIndex]) -> list[_Judged]:
    desk, plan, now = asking.desk, asking.plan, asking.desk.clock()
    listeners = tuple(
        _listener(asking, reading, index)
        for reading, index in zip(asking.readings, indexes, strict=True)
    )
    heard = listen(Listening(listeners, asking.understood, asking.vectors, now, desk.calibration))
    evidence = [
        _evidence(desk, index, plan, each) for index, each in zip(indexes, heard, strict=True)
    ]
    found = _relevant(evidence, plan, floors_at(desk.recall_floor))
    told = zip(asking.readings, indexes, heard, evidence, found, strict=True)
    return [_Judged(*each, plan.explain) for each in told]


def _listener(asking: Asking, reading: Reading, index: ScopeIndex) -> Listener:
    """Of another's scope passages alone are found, and nothing but what may be seen is known."""
    plan, now = asking.plan, asking.desk.clock()
    visibility = plan.within.visibility(asking.principal, reading)
    visible = index.visible(visibility, now)
    mask = plan.within.narrowed(index, index.candidates(plan.filters, visibility, now))
    if reading.is_own:
        return Listener(index, mask, visible)
    return Listener(index, mask & index.passages, visible & index.passages, is_own=False)


def _evidence(desk: Desk, index: ScopeIndex, plan: Plan, heard: Heard) -> Evidence:
    told = desk.calibration.similarities(heard.cosines, script(plan.query))
    similarities: Floats = np.full(index.size, np.nan) if told is None else told
    return Evidence(similarities, heard.held, heard.known, index.passages, heard.named, heard.mask)


def _relevant(evidence: Sequence[Evidence], plan: Plan, floors: Floors) -> list[Mask]:
    fit = relevant(evidence, plan.threshold, floors)
    if plan.threshold is None and not can_be_answered(evidence, floors):
        fit = [mask & each.named for mask, each in zip(fit, evidence, strict=True)]
    return [each.candidates & mask for mask, each in zip(fit, evidence, strict=True)]


class _Judged:
    """All candidates of one reading at one moment, scored."""

    def __init__(
        self,
        reading: Reading,
        index: ScopeIndex,
        heard: Heard,
        evidence: Evidence,
        candidates: Mask,
        explain: bool,
    ):
        self.numbering = index.numbering
        self.evidence = evidence
        self.candidates = candidates
        self._reading = reading
        self._explain = explain
        self._parts = _by_kind(parts_of(heard.signals), index)
        self.scores = totals(self._parts, index.size)

    def is_candidate(self, slot: int) -> bool:
        """Slots that came since were not asked."""
        return slot < len(self.candidates) and bool(self.candidates[slot])

    def ranked(self, index: ScopeIndex, slots: Sequence[int] | NDArray[np.int64]) -> list[Ranked]:
        at, told = np.asarray(slots, dtype=np.intp), self.evidence
        columns = (told.passages, told.similarities, told.held, self.scores)
        rows = zip(at.tolist(), *(column[at].tolist() for column in columns), strict=True)
        return [
            Ranked(
                index.ids[slot],
                index.units[slot],
                self._reading,
                is_passage,
                None if isnan(similarity) else round(similarity, 6),
                held,
                round(score, 6),
                self._parts_at(slot) if self._explain else {},
                bool(is_passage) and index.contexts.has_neighbours(slot),
            )
            for slot, is_passage, similarity, held, score in rows
        ]

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
    asking: Asking, judged: Sequence[_Judged], ranked: list[Ranked]
) -> list[Ranked]:
    """Documents that the best hits mention by title are lifted among them, wherever they are."""
    texts = texts_of(asking.desk, ranked[:MENTIONING])
    highest = max((each.score for each in ranked), default=0.0)
    if highest <= 0:
        return ranked
    met, others = {each.id for each in ranked}, list[Ranked]()
    by_id: dict[str, float] = {}
    with asking.desk.index.holding(asking.readings) as indexes:
        for index, each in zip(indexes, judged, strict=True):
            if index.numbering is not each.numbering:  # built anew: its slots are others now
                return ranked
            lifts = lifts_in(index, texts, highest)
            lifted = [slot for slot in lifts if each.is_candidate(slot)]
            others += each.ranked(index, [s for s in lifted if index.ids[s] not in met])
            by_id |= {index.ids[slot]: lifts[slot] for slot in lifted}
    return [
        each.lifted("title", by_id[each.id]) if each.id in by_id else each
        for each in (*ranked, *others)
    ]
