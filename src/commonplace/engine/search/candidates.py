"""Candidates: filter and score the indexes, lift title and graph matches, keep the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan

import numpy as np
from numpy.typing import NDArray

from commonplace.engine.access import visibility_in
from commonplace.engine.context import EngineContext, Vector
from commonplace.engine.search.arms import IndexSignals, SearchedIndex, SearchInput, run_arms
from commonplace.engine.search.graph.expansion import (
    ADMITTED_LIFT,
    GRAPH_WEIGHT,
    compute_source_lifts,
    find_mentioning_sources,
    find_named_nodes,
)
from commonplace.engine.search.graph.expansion import graph_lifts as lifts_of_reached
from commonplace.engine.search.plan import ParsedQuery, RecallPlan
from commonplace.engine.search.rank import (
    WEIGHTS,
    Evidence,
    Floats,
    Ranked,
    Relevance,
    best_slots,
    floors_at,
    judge_relevance,
    nearest_similarity,
    sort_ranked,
    sum_parts,
    weight_signals,
)
from commonplace.language.query.profile_questions import asks_for_rules
from commonplace.language.text.detect import detect_script
from commonplace.language.text.terms import analyse
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal, ReadableScope
from commonplace.model.memory.kinds import POLICIES, Kind
from commonplace.model.sources.source import find_mentioned_titles
from commonplace.store.cache.scope_index import ScopeIndex
from commonplace.store.queries import Counters, PassagesByUnit

with lazy_imports(__name__):
    from commonplace.engine.graph_search.pagerank import has_scipy

MENTIONING_HITS = 5  # the best hits, whose title mentions are followed
ARCHIVED_SHARE = 0.5  # of the score of a passage, if its source is archived
_ASKED_BEFORE = 0.3  # share of the best match that the question before a turn has


def load_passage_texts(engine: EngineContext, best: Sequence[Ranked]) -> list[tuple[Ranked, str]]:
    """The passages among the best hits, with their texts."""
    passages = [each for each in best if each.is_passage]
    units: dict[ReadableScope, list[int]] = {}
    for each in passages:
        units.setdefault(each.reading, []).append(each.unit)
    texts = {
        (reading, unit): passage.text
        for reading, unit_numbers in units.items()
        for unit, passage in engine.store.passages(
            reading.scope, PassagesByUnit(unit_numbers)
        ).items()
    }
    return [(each, texts.get((each.reading, each.unit), "")) for each in passages]


def title_lifts(
    index: ScopeIndex, texts: Iterable[tuple[Ranked, str]], highest: float
) -> dict[int, float]:
    """The lift of each slot whose title a hit mentions, in proportion to that hit's score."""
    lifts: dict[int, float] = {}
    for each, text in texts:
        by = WEIGHTS.of("title") * each.score / highest
        own = each.id.partition("#")[0]
        for key in find_mentioned_titles(text, index.titles):
            for source in index.titles[key] - {own}:
                for slot in index.sources[source].slots:
                    lifts[slot] = max(lifts.get(slot, 0.0), by)
    return lifts


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
class RecallRequest:
    """A plan with its caller, scopes and embedded query."""

    engine: EngineContext
    principal: Principal
    readings: Sequence[ReadableScope]
    plan: RecallPlan
    understood: ParsedQuery
    vectors: tuple[Vector, ...] | None
    asked: ParsedQuery | None = None  # the query that this is another wording of
    archived: frozenset[str] = frozenset()  # sources whose passages count half

    @property
    def about_the_asker(self) -> bool:
        """Another wording may not say so any more: it widens nothing."""
        parsed = (self.understood, self.asked)
        return any(each is not None and each.question.about_the_asker for each in parsed)

    @property
    def asked_terms(self) -> frozenset[str]:
        return frozenset(analyse(self.plan.query))


def select_candidates(request: RecallRequest, limit: int) -> Shortlist:
    engine = request.engine
    with engine.index.holding(request.readings) as indexes:
        scored = _score_indexes(request, indexes)
        best = best_slots(
            [each.scores for each in scored], [each.candidates for each in scored], limit
        )
        ranked = [
            one
            for each, index, slots in zip(scored, indexes, best, strict=True)
            for one in each.ranked(index, slots)
        ]
        has_titles = any(index.titles for index in indexes)
        has_passages = any(index.passages.any() for index in indexes)
        counters = _own_counters(request.readings, indexes)
    ranked = sort_ranked(ranked)
    if asks_for_rules(request.plan.query):
        ranked = sort_ranked(_lift_rules(request, scored, ranked))
    if ranked and has_titles:
        ranked = sort_ranked(_lift_mentioned(request, scored, ranked))
    if ranked and has_passages and request.plan.within.passages and counters.graph:
        ranked = sort_ranked(_lift_reached(request, scored, ranked, counters))
    closest = nearest_similarity([each.evidence for each in scored])
    return Shortlist(
        tuple(ranked),
        None if isnan(closest) else round(closest, 4),
        sum(map(len, best)) == _count_candidates(scored),
    )


def _score_indexes(request: RecallRequest, indexes: Sequence[ScopeIndex]) -> list[_ScoredIndex]:
    engine, plan, now = request.engine, request.plan, request.engine.clock()
    others = _sources_of_others(request, indexes)
    searched = tuple(
        _searched_index(request, reading, index, others)
        for reading, index in zip(request.readings, indexes, strict=True)
    )
    signals = run_arms(
        SearchInput(searched, request.understood, request.vectors, now, engine.calibration)
    )
    evidence = [
        _collect_evidence(request, index, each)
        for index, each in zip(indexes, signals, strict=True)
    ]
    asks = request.understood.question.is_asked or request.understood.is_overview
    floors = floors_at(engine.recall_floor, asks=asks, wide=plan.wide)
    judged = judge_relevance(
        evidence, plan.threshold, floors, strict=plan.strict or request.understood.says_nothing
    )
    rows = zip(request.readings, indexes, signals, evidence, judged, strict=True)
    return [_ScoredIndex(*each, request.archived, plan.explain) for each in rows]


def _sources_of_others(request: RecallRequest, indexes: Sequence[ScopeIndex]) -> frozenset[str]:
    """Sources that do not answer: what another user brought says nothing about the reader. Sources
    that the caller names are searched all the same."""
    if not request.about_the_asker or request.plan.within.sources:
        return frozenset()
    reader = request.principal.user_id
    return frozenset(
        id
        for reading, index in zip(request.readings, indexes, strict=True)
        for id, source in index.sources.items()
        if not reading.is_own and source.row.user_id != reader
    )


def _searched_index(
    request: RecallRequest,
    reading: ReadableScope,
    index: ScopeIndex,
    left_out: frozenset[str],
) -> SearchedIndex:
    """In another user's scope only visible passages are searched and counted."""
    plan, now = request.plan, request.engine.clock()
    visibility = plan.within.visibility(request.principal, reading)
    visible = index.visible(visibility, now)
    mask = plan.within.narrowed(index, index.candidates(plan.filters, visibility, now))
    if left_out:
        mask = mask & ~index.from_sources(left_out)
    if reading.is_own:
        return SearchedIndex(index, mask, visible)
    return SearchedIndex(index, mask & index.passages, visible & index.passages, is_own=False)


def _collect_evidence(request: RecallRequest, index: ScopeIndex, signals: IndexSignals) -> Evidence:
    similarities_or_none = request.engine.calibration.similarities(
        signals.cosines, detect_script(request.plan.query)
    )
    similarities: Floats = (
        np.full(index.size, np.nan) if similarities_or_none is None else similarities_or_none
    )
    follows = signals.signals.get("follows")
    fits = signals.signals.get("answer") if request.understood.question.of_the_user else None
    return Evidence(
        similarities,
        signals.held,
        signals.known,
        signals.named,
        signals.mask,
        None if fits is None else fits > 0,
        None if follows is None else follows > _ASKED_BEFORE,
    )


class _ScoredIndex:
    """The scored candidates of one scope, at one moment."""

    def __init__(
        self,
        reading: ReadableScope,
        index: ScopeIndex,
        signals: IndexSignals,
        evidence: Evidence,
        judged: Relevance,
        archived: frozenset[str],
        explain: bool,
    ):
        self.numbering = index.numbering
        self.evidence = evidence
        self.candidates = judged.relevant
        self._passages = index.passages
        self._weak = judged.weak
        self._reading = reading
        self._explain = explain
        self._shares = _shares_of_passages(index, archived)
        weighted = _weight_by_kind(weight_signals(signals.signals), index)
        self._parts = _weight_by_share(weighted, self._shares)
        self.scores = sum_parts(self._parts, index.size)

    def is_candidate(self, slot: int, is_admitted: bool) -> bool:
        """False for slots added after scoring. ``is_admitted``: skip the relevance check."""
        mask = self.evidence.candidates if is_admitted else self.candidates
        return slot < len(mask) and bool(mask[slot])

    def weight_lifts(self, by_slot: Mapping[int, float]) -> Mapping[int, float]:
        """The lifts of archived passages count half, too."""
        shares = self._shares
        if shares is None:
            return by_slot
        return {
            slot: by * float(shares[slot]) if slot < len(shares) else by
            for slot, by in by_slot.items()
        }

    def ranked(self, index: ScopeIndex, slots: Sequence[int] | NDArray[np.int64]) -> list[Ranked]:
        at, evidence = np.asarray(slots, dtype=np.intp), self.evidence
        columns = (
            self._passages,
            evidence.similarities,
            evidence.held,
            self.scores,
            self._weak,
        )
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
                weak,
            )
            for slot, is_passage, similarity, held, score, weak in rows
        ]

    def _parts_at(self, slot: int) -> dict[str, float]:
        found = {name: round(float(part[slot]), 6) for name, part in self._parts.items()}
        return {name: part for name, part in found.items() if part}


def _weight_by_kind(parts: Mapping[str, Floats], index: ScopeIndex) -> Mapping[str, Floats]:
    weights = np.array([_WEIGHT_OF_KIND.get(str(kind), 1.0) for kind in index.words["kind"].codes])
    if (weights == 1).all():
        return parts
    of_each = weights[index.coded["kind"][: index.size]]
    return {name: part * of_each for name, part in parts.items()}


def _shares_of_passages(index: ScopeIndex, archived: frozenset[str]) -> Floats | None:
    """None: none is of an archived source. Memories that were made from one keep their weight."""
    if archived.isdisjoint(index.sources):
        return None
    is_archived = index.passages & index.from_sources(archived)
    return np.where(is_archived, ARCHIVED_SHARE, 1.0)


def _weight_by_share(parts: Mapping[str, Floats], shares: Floats | None) -> Mapping[str, Floats]:
    if shares is None:
        return parts
    return {name: part * shares for name, part in parts.items()}


@dataclass(frozen=True, slots=True)
class _Lift:
    """A named addition to the scores of some slots."""

    reason: str
    of_slots: Callable[[ScopeIndex], Mapping[int, float]]
    admits: float = inf  # a lift this high admits slots that are not relevant by themselves


def _lift_rules(
    request: RecallRequest, scored: Sequence[_ScoredIndex], ranked: list[Ranked]
) -> list[Ranked]:
    """Rules, where the query asks how the assistant should answer or act, in whatever words."""
    by, ids = WEIGHTS.of("instructs"), set[str]()

    def rules(index: ScopeIndex) -> Mapping[int, float]:
        slots = np.flatnonzero(index.of_kind(Kind.RULE)).tolist()
        ids.update(index.ids[slot] for slot in slots)
        return dict.fromkeys(slots, by)

    lifted = _apply_lift(request, scored, ranked, _Lift("instructs", rules, by))
    return [replace(each, weak=False) if each.id in ids else each for each in lifted]


def _lift_mentioned(
    request: RecallRequest, scored: Sequence[_ScoredIndex], ranked: list[Ranked]
) -> list[Ranked]:
    """Lift documents whose titles the best hits mention."""
    texts = load_passage_texts(request.engine, ranked[:MENTIONING_HITS])
    highest = ranked[0].score
    if highest <= 0:
        return ranked
    lift = _Lift("title", lambda index: title_lifts(index, texts, highest))
    return _apply_lift(request, scored, ranked, lift)


def _lift_reached(
    request: RecallRequest, scored: Sequence[_ScoredIndex], ranked: list[Ranked], counters: Counters
) -> list[Ranked]:
    """Lift passages that are reachable in the caller's graph from nodes named in the query. With a
    similarity threshold no irrelevant passage is admitted."""
    engine, principal, highest = request.engine, request.principal, ranked[0].score
    named = find_named_nodes(engine, principal, request.plan.query, counters)
    if named is None or highest <= 0:
        return ranked
    with engine.index.holding(request.readings) as indexes:
        seen = [
            (index, index.visible(visibility_in(principal, reading), engine.clock()))
            for reading, index in zip(request.readings, indexes, strict=True)
        ]
        mentioning = find_mentioning_sources(seen, named)
    if not mentioning.passages or not has_scipy():
        return ranked
    by_source = compute_source_lifts(engine, named, mentioning, ranked)
    admits = ADMITTED_LIFT * GRAPH_WEIGHT * highest if request.plan.threshold is None else inf
    lift = _Lift("graph", lambda index: lifts_of_reached(index, by_source), admits)
    return _apply_lift(request, scored, ranked, lift) if by_source else ranked


def _apply_lift(
    request: RecallRequest, scored: Sequence[_ScoredIndex], ranked: list[Ranked], lift: _Lift
) -> list[Ranked]:
    """Lift ranked items, and add candidates that the lift moves into the shortlist."""
    ranked_ids, others = {each.id for each in ranked}, list[Ranked]()
    lowest = ranked[-1].score if 0 < len(ranked) < _count_candidates(scored) else -inf
    by_id: dict[str, float] = {}
    with request.engine.index.holding(request.readings) as indexes:
        for index, each in zip(indexes, scored, strict=True):
            if index.numbering is not each.numbering:  # rebuilt: slot numbers changed
                return ranked
            by_slot = each.weight_lifts(lift.of_slots(index))
            lifted = [
                slot
                for slot, by in by_slot.items()
                if each.is_candidate(slot, by >= lift.admits) and each.scores[slot] + by >= lowest
            ]
            others += each.ranked(index, [s for s in lifted if index.ids[s] not in ranked_ids])
            by_id |= {index.ids[slot]: by_slot[slot] for slot in lifted}
    return [
        each.lifted(lift.reason, by_id[each.id]) if each.id in by_id else each
        for each in (*ranked, *others)
    ]


def _count_candidates(scored: Sequence[_ScoredIndex]) -> int:
    return sum(int(np.count_nonzero(each.candidates)) for each in scored)


def _own_counters(readings: Sequence[ReadableScope], indexes: Sequence[ScopeIndex]) -> Counters:
    own = (index for reading, index in zip(readings, indexes, strict=True) if reading.is_own)
    return next((index.counters for index in own), _NO_COUNTERS)
