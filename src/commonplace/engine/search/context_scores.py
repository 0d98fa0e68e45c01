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

_TIME_SHARE = 0.5  # what the time weighs beside a word that nobody has said
_DIGITS = 5  # single precision rounds by a row's place in memory; beyond these digits it shows


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """Who may be found, and to whom which words of the query speak.

    A participant's name says nothing about the units of a conversation that they take part in:
    there, ``names`` count for nothing.
    """

    mask: Mask
    names: frozenset[str]  # terms
    has_named_participant: Mask  # units of sources in which somebody who is named takes part
    proper: frozenset[str] = frozenset()  # terms that are written like names
    of_time: frozenset[str] = frozenset()  # terms that say a month or a year
    idle: frozenset[str] = frozenset()  # terms that say nothing about what is asked for
    in_period: Mask | None = None  # units of that month or year
    # A unit that holds all terms of a long form holds the abbreviation's terms as well.
    long_forms: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    counted: Mask | None = None  # units that statistics are of; None: all that live

    def counts_for(self, term: str, slots: NDArray[np.intp]) -> Mask:
        heard: Mask = self.mask[slots]
        return heard & ~self.has_named_participant[slots] if term in self.names else heard


@dataclass(frozen=True, slots=True)
class LexicalScores:
    unit: Floats  # BM25
    near: Floats
    wide: Floats
    held: Floats  # the share of the query's terms that a unit holds itself
    known: Floats  # how much of the query its near window knows, see _Scored


@dataclass(frozen=True, slots=True)
class SemanticScores:
    unit: Floats  # cosines; NaN: unknown
    near: Floats
    session: Floats


def score_lexical(
    indexes: Sequence[ScopeIndex], terms: Sequence[str], asked: Sequence[ContextQuery]
) -> list[LexicalScores]:
    """Of each index. How rare a term is, and how long texts are, is counted over all of them, so
    that texts score as if they stood in one."""
    for index in indexes:
        index.postings.fold()
    extents = list(map(_stats_of, indexes, asked))
    extent = _PerWindow(*map(combine_stats, zip(*extents, strict=True)))
    scored = [_LexicalScorer(*each, extent) for each in zip(indexes, asked, strict=True)]
    distinct = dict.fromkeys(terms)
    for term in distinct:
        _add_term(scored, term)
    return [each.words(len(distinct), len(each.asked.names & distinct.keys())) for each in scored]


def _add_term(scored: Sequence[_LexicalScorer], term: str) -> None:
    """First all say where they hold it, for it is as rare as it is in all of them."""
    found = [each.holders(term) for each in scored]
    frequency = _PerWindow(*map(sum, zip(*(each.frequency for each in found), strict=True)))
    for each, holders in zip(scored, found, strict=True):
        each.add(term, holders, frequency)


class _PerWindow(NamedTuple, Generic[Value]):
    """The same of units, of near windows and of wide ones."""

    unit: Value
    near: Value
    wide: Value


def _statistics_mask(index: ScopeIndex, asked: ContextQuery) -> Mask:
    return index.live[: index.size] if asked.counted is None else asked.counted


def _stats_of(index: ScopeIndex, asked: ContextQuery) -> _PerWindow[CollectionStats]:
    contexts, live = index.contexts, _statistics_mask(index, asked)
    by_place = live[contexts.slots]
    return _PerWindow(
        CollectionStats.of(index.lengths[: index.size], live),
        CollectionStats.of(contexts.near.terms, by_place),
        CollectionStats.of(contexts.wide.terms, by_place),
    )


@dataclass(frozen=True, slots=True)
class _TermWindows:
    """The windows of one reach that hold a term."""

    places: NDArray[np.int64]
    slots: NDArray[np.int64]
    counts: NDArray[np.float64]
    frequency: int  # among the living


@dataclass(frozen=True, slots=True)
class _TermHolders:
    """Where one index holds a term."""

    slots: NDArray[np.intp]
    counts: NDArray[np.int32]
    living: int
    near: _TermWindows
    wide: _TermWindows

    @property
    def frequency(self) -> _PerWindow[int]:
        return _PerWindow(self.living, self.near.frequency, self.wide.frequency)


class _LexicalScorer:
    """Adds up term by term.

    How much of a query a unit *knows* is the share of its terms that the near window holds, each
    as heavy as it is rare. Who takes part is known there, and so is the time at which it was said.
    A word written like a name that is not held weighs double: a question about somebody else is no
    question for this unit.
    """

    def __init__(self, index: ScopeIndex, asked: ContextQuery, extent: _PerWindow[CollectionStats]):
        self.asked = asked
        self._index = index
        self._live = _statistics_mask(index, asked)
        contexts = index.contexts
        self._unit = Bm25Scorer(index.lengths[: index.size], extent.unit)
        self._near = Bm25Scorer(contexts.near.terms, extent.near)
        self._wide = Bm25Scorer(contexts.wide.terms, extent.wide)
        self._held: Floats = np.zeros(index.size, dtype=np.float32)
        self._known: Floats = np.zeros(index.size, dtype=np.float32)
        self._known_twice: Floats = np.zeros(index.size, dtype=np.float32)
        self._weight = 0.0
        if asked.in_period is not None:
            self._know(np.flatnonzero(asked.in_period), extent.unit.rarity(0) * _TIME_SHARE)

    def _know(self, slots: NDArray[np.int64], worth: float) -> None:
        self._weight += worth
        self._known[slots] += worth

    def holders(self, term: str) -> _TermHolders:
        slots, counts = self._saying(term)
        at = slots.astype(np.intp)
        alive = self._live[at]
        contexts = self._index.contexts
        standing = (contexts.places[at[alive]], counts[alive])
        return _TermHolders(
            at,
            counts,
            int(np.count_nonzero(alive)),
            self._in_windows(contexts.near, *standing),
            self._in_windows(contexts.wide, *standing),
        )

    def _in_windows(
        self, windows: ContextWindows, places: NDArray[np.int64], counts: NDArray[np.int32]
    ) -> _TermWindows:
        found = windows.counts(places, counts)
        holding = np.flatnonzero(found > 0)
        slots = self._index.contexts.slots[holding]
        living = int(np.count_nonzero(self._live[slots]))
        return _TermWindows(holding, slots, found[holding], living)

    def add(self, term: str, holders: _TermHolders, frequency: _PerWindow[int]) -> None:
        """``frequency`` is that in all indexes together."""
        asked = self.asked
        rarity = self._unit.extent.rarity(0 if term in asked.names else frequency.unit)
        if asked.in_period is not None and term in asked.of_time:
            rarity = 0.0  # whether it was said then counts instead
        if term in asked.idle:
            rarity = 0.0
        is_proper = term in asked.proper
        self._weight += 2 * rarity if is_proper else rarity
        heard = asked.counts_for(term, holders.slots)
        self._unit.add(holders.slots[heard], holders.counts[heard], frequency.unit)
        self._held[holders.slots[heard]] += 1
        among = self._add_to(self._near, term, holders.near, frequency.near)
        knowing: Mask | NDArray[np.int64] = among
        if term in asked.names:
            knowing = asked.has_named_participant.copy()
            knowing[among] = True
        self._known[knowing] += rarity
        if is_proper:
            self._known_twice[knowing] += rarity
        self._add_to(self._wide, term, holders.wide, frequency.wide)

    def _saying(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Slots that hold the term or say it in its long form, and how often."""
        postings = self._index.postings
        said = postings.of(term)
        long_forms = self.asked.long_forms.get(term, ())
        if not long_forms:
            return said
        counts = np.zeros(self._index.size, dtype=np.int32)
        counts[said[0]] = said[1]
        for terms in long_forms:
            counts = np.maximum(counts, self._saying_all(terms))
        holders = np.flatnonzero(counts).astype(np.int32)
        return holders, counts[holders]

    def _saying_all(self, terms: Sequence[str]) -> NDArray[np.int32]:
        """Of every slot, how often it can say all of these."""
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
        """Returns the slots whose windows hold the term, of those who hear it."""
        places, slots, counts = windows.places, windows.slots, windows.counts
        heard = self.asked.counts_for(term, slots)
        if not heard.all():
            places, slots, counts = places[heard], slots[heard], counts[heard]
        collection.add(places, counts, frequency)
        return slots

    def words(self, terms: int, names: int) -> LexicalScores:
        places = self._index.contexts.places
        held: Floats = self._held / np.float32(max(terms, 1))
        if names:
            deaf = self.asked.has_named_participant
            held[deaf] = self._held[deaf] / np.float32(max(terms - names, 1))
        return LexicalScores(
            self._unit.scores,
            self._near.scores[places],
            self._wide.scores[places],
            held,
            self._known / np.maximum(self._weight - self._known_twice, 1e-9),
        )


def score_semantic(
    index: ScopeIndex, query: Floats, bare: Floats | None, asked: ContextQuery
) -> SemanticScores:
    """``bare`` is the query without names, for those who do not hear them."""
    cosines = np.round(_cosines(index, query, bare, asked), _DIGITS)
    has_none = np.flatnonzero(~np.isfinite(cosines))
    unit = cosines.copy()
    unit[has_none] = np.nan
    if not (asked.mask & index.passages).any():
        return SemanticScores(unit, unit, unit)
    near, session = index.contexts.window_cosines(cosines), index.contexts.session_cosines(cosines)
    near, session = np.round(near, _DIGITS), np.round(session, _DIGITS)
    for context in (near, session):
        context[has_none] = np.nan
    return SemanticScores(unit, near, session)


def _cosines(index: ScopeIndex, query: Floats, bare: Floats | None, asked: ContextQuery) -> Floats:
    """Of every candidate, and where there are passages also of their neighbours."""
    wanted = asked.mask
    if (asked.mask & index.passages).any():
        wanted = index.live[: index.size]
    if bare is None or not asked.has_named_participant.any():
        return index.cosines(query, wanted)
    if asked.has_named_participant[wanted].all():
        return index.cosines(bare, wanted)
    cosines = index.cosines(query, wanted & ~asked.has_named_participant)
    without = index.cosines(bare, wanted & asked.has_named_participant)
    return np.where(asked.has_named_participant, without, cosines)
