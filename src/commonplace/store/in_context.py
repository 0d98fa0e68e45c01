"""What an index says about a query, of every unit by itself and among its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from commonplace.store.contexts import Windows
from commonplace.store.index import Floats, Mask, ScopeIndex
from commonplace.store.postings import Collection

_TIME_SHARE = 0.5  # what the time weighs beside a word that nobody has said
_DIGITS = 5  # single precision rounds by a row's place in memory; beyond these digits it shows


@dataclass(frozen=True, slots=True)
class Asked:
    """Who may be found, and to whom which words of the query speak.

    A participant's name says nothing about the units of a conversation that they take part in:
    there, ``names`` count for nothing.
    """

    mask: Mask
    names: frozenset[str]  # terms
    takes_part: Mask  # units of sources in which somebody who is named takes part
    proper: frozenset[str] = frozenset()  # terms that are written like names
    of_time: frozenset[str] = frozenset()  # terms that say a month or a year
    idle: frozenset[str] = frozenset()  # terms that say nothing about what is asked for
    at_the_time: Mask | None = None  # units of that month or year
    # A unit that holds all terms of a long form holds the abbreviation's terms as well.
    long_forms: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)

    def hears(self, term: str, slots: NDArray[np.intp]) -> Mask:
        heard: Mask = self.mask[slots]
        return heard & ~self.takes_part[slots] if term in self.names else heard


@dataclass(frozen=True, slots=True)
class Words:
    unit: Floats  # BM25
    near: Floats
    wide: Floats
    held: Floats  # the share of the query's terms that a unit holds itself
    known: Floats  # how much of the query its near window knows, see _Scored


@dataclass(frozen=True, slots=True)
class Meaning:
    unit: Floats  # cosines; NaN: unknown
    near: Floats
    session: Floats


def words_in_context(index: ScopeIndex, terms: Sequence[str], asked: Asked) -> Words:
    index.postings.fold()
    scored = _Scored(index, asked)
    for term in dict.fromkeys(terms):
        scored.add(term)
    return scored.words(len(set(terms)), len(asked.names & set(terms)))


class _Scored:
    """Adds up term by term.

    How much of a query a unit *knows* is the share of its terms that the near window holds, each
    as heavy as it is rare. Who takes part is known there, and so is the time at which it was said.
    A word written like a name that is not held weighs double: a question about somebody else is no
    question for this unit.
    """

    def __init__(self, index: ScopeIndex, asked: Asked):
        self._index = index
        self._asked = asked
        self._live = index.live[: index.size]
        contexts = index.contexts
        by_place = self._live[contexts.slots]
        self._unit = Collection(index.lengths[: index.size], self._live)
        self._near = Collection(contexts.near.terms, by_place)
        self._wide = Collection(contexts.wide.terms, by_place)
        self._held: Floats = np.zeros(index.size, dtype=np.float32)
        self._known: Floats = np.zeros(index.size, dtype=np.float32)
        self._known_twice: Floats = np.zeros(index.size, dtype=np.float32)
        self._weight = 0.0
        if asked.at_the_time is not None:
            self._know(np.flatnonzero(asked.at_the_time), self._unit.rarity(0) * _TIME_SHARE)

    def _know(self, slots: NDArray[np.int64], worth: float) -> None:
        self._weight += worth
        self._known[slots] += worth

    def add(self, term: str) -> None:
        slots, counts = self._holders(term)
        at = slots.astype(np.intp)
        alive = self._live[at]
        frequency = int(np.count_nonzero(alive))
        rarity = self._unit.rarity(0 if term in self._asked.names else frequency)
        if self._asked.at_the_time is not None and term in self._asked.of_time:
            rarity = 0.0  # whether it was said then counts instead
        if term in self._asked.idle:
            rarity = 0.0
        is_proper = term in self._asked.proper
        self._weight += 2 * rarity if is_proper else rarity
        heard = self._asked.hears(term, at)
        self._unit.add(at[heard], counts[heard], frequency)
        self._held[at[heard]] += 1
        contexts = self._index.contexts
        places = contexts.places[at[alive]]
        holders = self._add_to(self._near, contexts.near, term, places, counts[alive])
        knowing: Mask | NDArray[np.int64] = holders
        if term in self._asked.names:
            knowing = self._asked.takes_part.copy()
            knowing[holders] = True
        self._known[knowing] += rarity
        if is_proper:
            self._known_twice[knowing] += rarity
        self._add_to(self._wide, contexts.wide, term, places, counts[alive])

    def _holders(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Slots that hold the term or say it in its long form, and how often."""
        postings = self._index.postings
        said = postings.of(term)
        long_forms = self._asked.long_forms.get(term, ())
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
        self,
        collection: Collection,
        windows: Windows,
        term: str,
        places: NDArray[np.int64],
        counts: NDArray[np.int32],
    ) -> NDArray[np.int64]:
        """Returns the slots whose windows hold the term, of those who hear it."""
        found = windows.counts(places, counts)
        holders = np.flatnonzero(found > 0)
        among = self._index.contexts.slots[holders]
        frequency = int(np.count_nonzero(self._live[among]))
        heard = self._asked.hears(term, among)
        if not heard.all():
            holders, among = holders[heard], among[heard]
        collection.add(holders, found[holders], frequency)
        return among

    def words(self, terms: int, names: int) -> Words:
        places = self._index.contexts.places
        held: Floats = self._held / np.float32(max(terms, 1))
        if names:
            deaf = self._asked.takes_part
            held[deaf] = self._held[deaf] / np.float32(max(terms - names, 1))
        return Words(
            self._unit.scores,
            self._near.scores[places],
            self._wide.scores[places],
            held,
            self._known / np.maximum(self._weight - self._known_twice, 1e-9),
        )


def meaning_in_context(
    index: ScopeIndex, query: Floats, bare: Floats | None, asked: Asked
) -> Meaning:
    """``bare`` is the query without names, for those who do not hear them."""
    cosines = np.round(_cosines(index, query, bare, asked), _DIGITS)
    has_none = np.flatnonzero(~np.isfinite(cosines))
    unit = cosines.copy()
    unit[has_none] = np.nan
    if not (asked.mask & index.passages).any():
        return Meaning(unit, unit, unit)
    near, session = index.contexts.window_cosines(cosines), index.contexts.session_cosines(cosines)
    near, session = np.round(near, _DIGITS), np.round(session, _DIGITS)
    for context in (near, session):
        context[has_none] = np.nan
    return Meaning(unit, near, session)


def _cosines(index: ScopeIndex, query: Floats, bare: Floats | None, asked: Asked) -> Floats:
    """Of every candidate, and where there are passages also of their neighbours."""
    wanted = asked.mask
    if (asked.mask & index.passages).any():
        wanted = index.live[: index.size]
    if bare is None or not asked.takes_part.any():
        return index.cosines(query, wanted)
    if asked.takes_part[wanted].all():
        return index.cosines(bare, wanted)
    cosines = index.cosines(query, wanted & ~asked.takes_part)
    without = index.cosines(bare, wanted & asked.takes_part)
    return np.where(asked.takes_part, without, cosines)
