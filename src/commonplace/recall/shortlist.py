"""Visit 1: the best of all candidates, judged by the indexes alone. Every candidate is filtered
before it is scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan

import numpy as np
from numpy.typing import NDArray

from commonplace.desk import Desk, Vector, visibility_in
from commonplace.language.detect import script
from commonplace.model.kinds import POLICIES
from commonplace.model.reach import Reading
from commonplace.model.scope import Principal
from commonplace.recall.arms import Heard, Listener, Listening, listen
from commonplace.recall.fuse import Floats, parts_of, totals
from commonplace.recall.graph_arms import WEIGHT
from commonplace.recall.mentions import MENTIONING, texts_of
from commonplace.recall.mentions import lifts_in as lifts_of_titled
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
from commonplace.recall.reached import ADMITTED, lifts_by_source, named_in_graph, speaking_in
from commonplace.recall.reached import lifts_in as lifts_of_reached
from commonplace.store.index import Mask, ScopeIndex
from commonplace.store.port import Counters

_WEIGHT_OF_KIND = {
    str(kind): policy.recall_weight
    for kind, policy in POLICIES.items()
    if policy.recall_weight != 1
}
_NO_COUNTERS = Counters()


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
        counters = _own_counters(asking.readings, indexes)
    ranked = in_order(ranked)
    if ranked and has_titles:
        ranked = in_order(_with_mentioned(asking, judged, ranked))
    if ranked and asking.plan.within.passages and counters.graph:
        ranked = in_order(_with_reached(asking, judged, ranked, counters))
    closest = nearest([each.evidence for each in judged])
    return Shortlist(
        tuple(ranked),
        None if isnan(closest) else closest,
        sum(map(len, best)) == _all_there(judged),
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

    def is_candidate(self, slot: int, is_admitted: bool) -> bool:
        """Slots that came since were not asked. ``is_admitted``: relevant by itself or not."""
        asked = self.evidence.candidates if is_admitted else self.candidates
        return slot < len(asked) and bool(asked[slot])

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


@dataclass(frozen=True, slots=True)
class _Lift:
    """By how much slots of an index are lifted, for a reason."""

    reason: str
    of_slots: Callable[[ScopeIndex], Mapping[int, float]]
    admits: float = inf  # from so much on, also what is not relevant by itself


def _with_mentioned(
    asking: Asking, judged: Sequence[_Judged], ranked: list[Ranked]
) -> list[Ranked]:
    """Documents that the best hits mention by title are lifted among them, wherever they are."""
    texts = texts_of(asking.desk, ranked[:MENTIONING])
    highest = ranked[0].score
    if highest <= 0:
        return ranked
    lift = _Lift("title", lambda index: lifts_of_titled(index, texts, highest))
    return _lifted(asking, judged, ranked, lift)


def _with_reached(
    asking: Asking, judged: Sequence[_Judged], ranked: list[Ranked], counters: Counters
) -> list[Ranked]:
    """Passages to which the names in the question lead through the asker's graph. A threshold is
    a word about similarity: it is not got around."""
    desk, principal, highest = asking.desk, asking.principal, ranked[0].score
    named = named_in_graph(desk, principal, asking.plan.query, counters)
    if named is None or highest <= 0:
        return ranked
    with desk.index.holding(asking.readings) as indexes:
        seen = [
            (index, index.visible(visibility_in(principal, reading), desk.clock()))
            for reading, index in zip(asking.readings, indexes, strict=True)
        ]
        speaking = speaking_in(seen, named)
    by_source = lifts_by_source(desk, named, speaking, ranked)
    admits = ADMITTED * WEIGHT * highest if asking.plan.threshold is None else inf
    lift = _Lift("graph", lambda index: lifts_of_reached(index, by_source), admits)
    return _lifted(asking, judged, ranked, lift) if by_source else ranked


def _lifted(
    asking: Asking, judged: Sequence[_Judged], ranked: list[Ranked], lift: _Lift
) -> list[Ranked]:
    """With those that only now come among the best, wherever they are."""
    met, others = {each.id for each in ranked}, list[Ranked]()
    lowest = ranked[-1].score if len(ranked) < _all_there(judged) else -inf
    by_id: dict[str, float] = {}
    with asking.desk.index.holding(asking.readings) as indexes:
        for index, each in zip(indexes, judged, strict=True):
            if index.numbering is not each.numbering:  # built anew: its slots are others now
                return ranked
            by_slot = lift.of_slots(index)
            lifted = [
                slot
                for slot, by in by_slot.items()
                if each.is_candidate(slot, by >= lift.admits) and each.scores[slot] + by >= lowest
            ]
            others += each.ranked(index, [s for s in lifted if index.ids[s] not in met])
            by_id |= {index.ids[slot]: by_slot[slot] for slot in lifted}
    return [
        each.lifted(lift.reason, by_id[each.id]) if each.id in by_id else each
        for each in (*ranked, *others)
    ]


def _all_there(judged: Sequence[_Judged]) -> int:
    """How many candidates there are."""
    return sum(int(np.count_nonzero(each.candidates)) for each in judged)


def _own_counters(readings: Sequence[Reading], indexes: Sequence[ScopeIndex]) -> Counters:
    mine = (index for reading, index in zip(readings, indexes, strict=True) if reading.is_own)
    return next((index.counters for index in mine), _NO_COUNTERS)
