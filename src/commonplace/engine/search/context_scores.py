"""Context scores: BM25 and cosines of units, their windows and sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from commonplace.store.cache.postings import Bm25Scorer, CollectionStats, combine_stats
from commonplace.store.cache.scope_index import Floats, Mask, ScopeIndex
from commonplace.store.cache.windows import ContextWindows

Value = TypeVar("Value")

_TIME_SHARE = 0.5  # weight of a matching period, relative to a term that occurs nowhere
_NAMES_ONLY = 0.5  # what a name counts for, alone
_EPSILON = 1e-6
_DIGITS = 5  # float32 rounding depends on a row's memory alignment beyond these digits


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """The candidates of one index, and which query terms count for which of them.

    A participant's name does not discriminate between the units of their own conversations:
    there, ``names`` are ignored.
    """

    mask: Mask
    names: frozenset[str]  # terms
    has_named_participant: Mask  # units of sources with a named participant
    proper: frozenset[str] = frozenset()  # capitalised terms
    of_time: frozenset[str] = frozenset()  # terms of a month or a year
    idle: frozenset[str] = frozenset()  # terms without content
    in_period: Mask | None = None  # units of that month or year
    # A unit with all terms of a long form counts as containing the abbreviation.
    long_forms: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    counted: Mask | None = None  # units in the term statistics; None: all live units

    def counts_for(self, term: str, slots: NDArray[np.intp]) -> Mask:
        eligible: Mask = self.mask[slots]
        return eligible & ~self.has_named_participant[slots] if term in self.names else eligible


@dataclass(frozen=True, slots=True)
class LexicalScores:
    unit: Floats  # BM25
    near: Floats
    wide: Floats
    held: Floats  # the share of the query's terms in the unit itself
    known: Floats  # the share of the query that its near window covers, see _LexicalScorer


@dataclass(frozen=True, slots=True)
class SemanticScores:
    unit: Floats  # cosines; NaN: unknown
    near: Floats
    session: Floats


def score_lexical(
    indexes: Sequence[ScopeIndex], terms: Sequence[str], queries: Sequence[ContextQuery]
) -> list[LexicalScores]:
    """Score every index. Term frequencies and text lengths are summed over all indexes, so that
    texts score as in a single one."""
    for index in indexes:
        index.postings.fold()
    extents = list(map(_stats_of, indexes, queries))
    extent = _PerWindow(*map(combine_stats, zip(*extents, strict=True)))
    is_flat = all(index.contexts.is_flat for index in indexes)
    scored = [_LexicalScorer(*each, extent, is_flat) for each in zip(indexes, queries, strict=True)]
    distinct = dict.fromkeys(terms)
    for term in distinct:
        _add_term(scored, term)
    return [each.result(len(distinct), len(each.query.names & distinct.keys())) for each in scored]


def _add_term(scored: Sequence[_LexicalScorer], term: str) -> None:
    """Look the term up in all indexes first: its frequency is the sum over them."""
    per_index = [each.holders(term) for each in scored]
    frequency = _PerWindow(*map(sum, zip(*(each.frequency for each in per_index), strict=True)))
    for each, holders in zip(scored, per_index, strict=True):
        each.add(term, holders, frequency)


class _PerWindow(NamedTuple, Generic[Value]):
    """One value each for units, near windows and wide windows."""

    unit: Value
    near: Value
    wide: Value


def _statistics_mask(index: ScopeIndex, query: ContextQuery) -> Mask:
    return index.live[: index.size] if query.counted is None else query.counted


def _stats_of(index: ScopeIndex, query: ContextQuery) -> _PerWindow[CollectionStats]:
    contexts, live = index.contexts, _statistics_mask(index, query)
    by_place = live[contexts.slots]
    return _PerWindow(
        CollectionStats.of(index.lengths[: index.size], live),
        CollectionStats.of(contexts.near.terms, by_place),
        CollectionStats.of(contexts.wide.terms, by_place),
    )


@dataclass(frozen=True, slots=True)
class _TermWindows:
    """The windows of one width that contain a term."""

    places: NDArray[np.int64]
    slots: NDArray[np.int64]
    counts: NDArray[np.float64]
    frequency: int  # in live units


@dataclass(frozen=True, slots=True)
class _TermHolders:
    """The units and windows of one index that contain a term."""

    slots: NDArray[np.intp]
    counts: NDArray[np.int32]
    live_count: int
    near: _TermWindows | None  # None: the units themselves, in a flat index
    wide: _TermWindows | None

    @property
    def frequency(self) -> _PerWindow[int]:
        near, wide = (
            self.live_count if windows is None else windows.frequency
            for windows in (self.near, self.wide)
        )
        return _PerWindow(self.live_count, near, wide)


class _LexicalScorer:
    """Accumulates the scores of one index, term by term.

    ``known`` is the share of the query's terms in the unit's near window, weighted by rarity.
    Participants and the time of the conversation count as contained. A capitalised term that is
    missing weighs double: a question about another person is not answered by this unit.

    ``is_flat``: no searched unit has neighbours, so that its windows score as it does itself.
    """

    def __init__(
        self,
        index: ScopeIndex,
        query: ContextQuery,
        extent: _PerWindow[CollectionStats],
        is_flat: bool,
    ):
        self.query = query
        self._is_flat = is_flat
        self._index = index
        self._live = _statistics_mask(index, query)
        contexts = index.contexts
        self._unit = Bm25Scorer(index.lengths[: index.size], extent.unit)
        self._near = Bm25Scorer(contexts.near.terms, extent.near)
        self._wide = Bm25Scorer(contexts.wide.terms, extent.wide)
        self._held: Floats = np.zeros(index.size, dtype=np.float32)
        self._known: Floats = np.zeros(index.size, dtype=np.float32)
        self._known_twice: Floats = np.zeros(index.size, dtype=np.float32)
        self._known_names: Floats = np.zeros(index.size, dtype=np.float32)
        self._weight = self._weight_of_names = 0.0
        if query.in_period is not None:
            self._cover(np.flatnonzero(query.in_period), extent.unit.weight(0) * _TIME_SHARE)

    def _cover(self, slots: NDArray[np.int64], weight: float) -> None:
        self._weight += weight
        self._known[slots] += weight

    def holders(self, term: str) -> _TermHolders:
        slots, counts = self._term_counts(term)
        indices = slots.astype(np.intp)
        is_live = self._live[indices]
        live_count = int(np.count_nonzero(is_live))
        if self._is_flat:
            return _TermHolders(indices, counts, live_count, None, None)
        contexts = self._index.contexts
        live_places = (contexts.places[indices[is_live]], counts[is_live])
        return _TermHolders(
            indices,
            counts,
            live_count,
            self._in_windows(contexts.near, *live_places),
            self._in_windows(contexts.wide, *live_places),
        )

    def _in_windows(
        self, windows: ContextWindows, places: NDArray[np.int64], counts: NDArray[np.int32]
    ) -> _TermWindows:
        counts_by_window = windows.counts(places, counts)
        holding = np.flatnonzero(counts_by_window > 0)
        slots = self._index.contexts.slots[holding]
        live_count = int(np.count_nonzero(self._live[slots]))
        return _TermWindows(holding, slots, counts_by_window[holding], live_count)

    def add(self, term: str, holders: _TermHolders, frequency: _PerWindow[int]) -> None:
        """``frequency``: summed over all indexes."""
        query = self.query
        weight = self._unit.extent.weight(0 if term in query.names else frequency.unit)
        if query.in_period is not None and term in query.of_time:
            weight = 0.0  # in_period counts instead
        if term in query.idle:
            weight = 0.0
        is_proper = term in query.proper
        self._weight += 2 * weight if is_proper else weight
        eligible = query.counts_for(term, holders.slots)
        among: NDArray[np.int64] = holders.slots[eligible]
        self._unit.add(among, holders.counts[eligible], frequency.unit)
        self._held[among] += 1
        if holders.near is not None:
            among = self._add_to(self._near, term, holders.near, frequency.near)
        covered: Mask | NDArray[np.int64] = among
        if term in query.names:
            covered = query.has_named_participant.copy()
            covered[among] = True
        self._known[covered] += weight
        if is_proper or term in query.names:
            self._known_names[covered] += weight
            self._weight_of_names += 2 * weight if is_proper else weight
        if is_proper:
            self._known_twice[covered] += weight
        if holders.wide is not None:
            self._add_to(self._wide, term, holders.wide, frequency.wide)

    def _term_counts(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Slots that contain the term or one of its long forms, with counts."""
        postings = self._index.postings
        postings_of_term = postings.of(term)
        long_forms = self.query.long_forms.get(term, ())
        if not long_forms:
            return postings_of_term
        counts = np.zeros(self._index.size, dtype=np.int32)
        counts[postings_of_term[0]] = postings_of_term[1]
        for terms in long_forms:
            counts = np.maximum(counts, self._phrase_counts(terms))
        holders = np.flatnonzero(counts).astype(np.int32)
        return holders, counts[holders]

    def _phrase_counts(self, terms: Sequence[str]) -> NDArray[np.int32]:
        """For every slot, the lowest count of any of these terms."""
        fewest = np.full(self._index.size, np.iinfo(np.int32).max, dtype=np.int32)
        for term in terms:
            slots, counts = self._index.postings.of(term)
            held = np.zeros(self._index.size, dtype=np.int32)
            held[slots] = counts
            fewest = np.minimum(fewest, held)
        return fewest

    def _add_to(
        self, collection: Bm25Scorer, term: str, windows: _TermWindows, frequency: int
    ) -> NDArray[np.int64]:
        """Return the slots whose windows contain the term and for which it counts."""
        places, slots, counts = windows.places, windows.slots, windows.counts
        eligible = self.query.counts_for(term, slots)
        if not eligible.all():
            places, slots, counts = places[eligible], slots[eligible], counts[eligible]
        collection.add(places, counts, frequency)
        return slots

    def result(self, terms: int, names: int) -> LexicalScores:
        places = self._index.contexts.places
        held: Floats = self._held / np.float32(max(terms, 1))
        if names:
            without_names = self.query.has_named_participant
            held[without_names] = self._held[without_names] / np.float32(max(terms - names, 1))
        unit = self._unit.scores
        near = unit if self._is_flat else self._near.scores[places]
        wide = unit if self._is_flat else self._wide.scores[places]
        return LexicalScores(unit, near, wide, held, self._known_share())

    def _known_share(self) -> Floats:
        """A unit that has only the names of a longer question is about the same person, and rarely
        about what is asked."""
        share: Floats = self._known / np.maximum(self._weight - self._known_twice, 1e-9)
        if self._weight - self._weight_of_names > _EPSILON:
            share[self._known - self._known_names <= _EPSILON] *= _NAMES_ONLY
        return share


def score_semantic(
    index: ScopeIndex, query: Floats, bare: Floats | None, target: ContextQuery
) -> SemanticScores:
    """``bare``: the query without names, for units of sources with a named participant."""
    cosines = np.round(_cosines(index, query, bare, target), _DIGITS)
    has_none = np.flatnonzero(~np.isfinite(cosines))
    unit = cosines.copy()
    unit[has_none] = np.nan
    index.raise_by_questions(unit, query)
    if not (target.mask & index.passages).any():
        return SemanticScores(unit, unit, unit)
    near, session = index.contexts.window_cosines(cosines), index.contexts.session_cosines(cosines)
    near, session = np.round(near, _DIGITS), np.round(session, _DIGITS)
    for context in (near, session):
        context[has_none] = np.nan
    return SemanticScores(unit, near, session)


def _cosines(index: ScopeIndex, query: Floats, bare: Floats | None, target: ContextQuery) -> Floats:
    """Cosines of every candidate; if passages are among them, of all live units (for windows)."""
    mask = target.mask
    if (target.mask & index.passages).any():
        mask = index.live[: index.size]
    if bare is None or not target.has_named_participant.any():
        return index.cosines(query, mask)
    if target.has_named_participant[mask].all():
        return index.cosines(bare, mask)
    cosines = index.cosines(query, mask & ~target.has_named_participant)
    without = index.cosines(bare, mask & target.has_named_participant)
    return np.where(target.has_named_participant, without, cosines)
