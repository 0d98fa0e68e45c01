"""Postings: inverted indexes of terms (BM25) and of source titles and people.

Most postings lie in three flat arrays sorted by term; the newest wait beside them, term by term,
and are folded in when they have become many.

A forgotten source is called by nobody, so that a cache answers like one that was built without it.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from commonplace.model.sources.source import SourceType, file_title, title_key
from commonplace.store.queries import IndexedSource

K1 = 1.2
B = 0.75

_FOLD_AT_LEAST = 4096
_FOLD_SHARE = 0.2

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]


class _RecentPostings:
    """A term's newest postings; arrays, because numpy copies them at once."""

    __slots__ = ("counts", "slots")

    def __init__(self) -> None:
        self.slots = array("i")
        self.counts = array("i")

    def copy(self) -> _RecentPostings:
        other = _RecentPostings()
        other.slots, other.counts = self.slots[:], self.counts[:]
        return other


@dataclass(frozen=True, slots=True)
class CollectionStats:
    """How many texts there are, and of how many terms together."""

    texts: int
    terms: int

    @classmethod
    def of(cls, lengths: NDArray[np.integer], live: Mask) -> CollectionStats:
        texts = int(np.count_nonzero(live))
        lengths = lengths if texts == len(live) else lengths[live]
        return cls(texts, int(lengths.sum(dtype=np.int64)))

    @property
    def average(self) -> float:
        return max(float(self.terms) / max(self.texts, 1), 1e-9)

    def rarity(self, frequency: int) -> float:
        """The idf of a term that stands in so many."""
        return float(np.log1p((self.texts - frequency + 0.5) / (frequency + 0.5)))


def combine_stats(extents: Sequence[CollectionStats]) -> CollectionStats:
    return CollectionStats(sum(each.texts for each in extents), sum(each.terms for each in extents))


class Bm25Scorer:
    """BM25 scores that add up term by term, over texts of these lengths. ``extent`` is of all that
    are asked together, be they in this collection or in another one."""

    def __init__(self, lengths: NDArray[np.integer], extent: CollectionStats):
        self.lengths = lengths
        self.extent = extent
        self._average = extent.average
        self.scores: Floats = np.zeros(len(lengths), dtype=np.float32)

    def add(self, at: NDArray[np.intp], counts: NDArray[np.number], frequency: int) -> None:
        """A term that stands so often at these, and in so many of all."""
        if not len(at):
            return
        idf = self.extent.rarity(frequency)
        pull = K1 * (1 - B + B * self.lengths[at] / self._average)
        self.scores[at] += (idf * counts * (K1 + 1) / (counts + pull)).astype(np.float32)


class Postings:
    def __init__(self) -> None:
        self._number_of: dict[str, int] = {}  # term → number
        self._starts = np.zeros(1, dtype=np.int64)
        self._slots: Ints = np.zeros(0, dtype=np.int32)
        self._counts: Ints = np.zeros(0, dtype=np.int32)
        self._new: dict[int, _RecentPostings] = {}  # term's number → what is not folded in yet
        self._waiting = 0
        self._by_beginning: dict[int, tuple[int, dict[str, list[str]]]] = {}

    def copy(self) -> Postings:
        """One that goes its own way. Folded arrays are replaced as a whole, so they are shared."""
        other = copy(self)
        other._number_of = dict(self._number_of)
        other._new = {number: few.copy() for number, few in self._new.items()}
        other._by_beginning = {
            letters: (seen, {beginning: [*terms] for beginning, terms in by.items()})
            for letters, (seen, by) in self._by_beginning.items()
        }
        return other

    def add(self, slot: int, counts: Mapping[str, int]) -> None:
        for term, count in counts.items():
            number = self._number_of.setdefault(term, len(self._number_of))
            new = self._new.get(number)
            if new is None:
                new = self._new[number] = _RecentPostings()
            new.slots.append(slot)
            new.counts.append(count)
        self._waiting += len(counts)

    def add_many(self, documents: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Slots with their words, equal words side by side. Many at once are folded in directly."""
        if sum(len(words) for _, words in documents) < _FOLD_AT_LEAST:
            for slot, words in documents:
                self.add(slot, Counter(words))
            return
        flat = [word for _, words in documents for word in words]
        for word in dict.fromkeys(flat):
            self._number_of.setdefault(word, len(self._number_of))
        terms = np.fromiter(map(self._number_of.__getitem__, flat), np.int64, len(flat))
        slots = np.repeat(
            np.array([slot for slot, _ in documents], np.int32),
            [len(words) for _, words in documents],
        )
        is_first = np.ones(len(flat), dtype=bool)
        is_first[1:] = (terms[1:] != terms[:-1]) | (slots[1:] != slots[:-1])
        firsts = np.flatnonzero(is_first)
        counts = np.diff(firsts, append=len(flat)).astype(np.int32)
        self._merge(terms[firsts], slots[firsts], counts)

    def fold(self) -> None:
        if self._waiting < max(_FOLD_AT_LEAST, _FOLD_SHARE * len(self._slots)):
            return
        new = self._new.values()
        terms = np.repeat(np.array(list(self._new)), [len(few.slots) for few in new])
        slots, counts = (
            np.concatenate([np.array(part, np.int32) for part in parts])
            for parts in ([few.slots for few in new], [few.counts for few in new])
        )
        self._merge(terms, slots, counts)
        self._new, self._waiting = {}, 0

    def _merge(self, terms: NDArray[np.int64], slots: Ints, counts: Ints) -> None:
        lengths = np.diff(self._starts)
        terms = np.concatenate([np.repeat(np.arange(len(lengths)), lengths), terms])
        order = np.argsort(terms, kind="stable")
        self._slots = np.concatenate([self._slots, slots])[order]
        self._counts = np.concatenate([self._counts, counts])[order]
        sizes = np.bincount(terms, minlength=len(self._number_of))
        self._starts = np.concatenate([[0], np.cumsum(sizes)])

    def of(self, term: str) -> tuple[Ints, Ints]:
        """Slots that hold the term, and how often."""
        number = self._number_of.get(term)
        if number is None:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        slots, counts = self._folded(number)
        new = self._new.get(number)
        if new is not None:
            slots = np.concatenate([slots, np.array(new.slots, np.int32)])
            counts = np.concatenate([counts, np.array(new.counts, np.int32)])
        return slots, counts

    def _folded(self, number: int) -> tuple[Ints, Ints]:
        if number + 1 >= len(self._starts):
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        start, end = self._starts[number], self._starts[number + 1]
        return self._slots[start:end], self._counts[start:end]

    def bm25(
        self, terms: Sequence[str], live: Mask, lengths: Ints, mask: Mask
    ) -> tuple[Floats, Floats]:
        """Scores over all slots, and the share of distinct query terms each one holds.

        Statistics come from everything live in the scope, so that a filter changes who is scored
        but not how.
        """
        self.fold()
        held = np.zeros(len(live), dtype=np.uint16)
        wanted = list(dict.fromkeys(terms))
        collection = Bm25Scorer(lengths, CollectionStats.of(lengths, live))
        for term in wanted if collection.extent.texts else ():
            slots, counts = self.of(term)
            at = slots.astype(np.intp)  # numpy is several times slower with any other index
            frequency = int(np.count_nonzero(live[at]))
            if not mask.all():
                candidates = mask[at]
                at, counts = at[candidates], counts[candidates]
            collection.add(at, counts, frequency)
            held[at] += 1
        return collection.scores, np.divide(held, max(len(wanted), 1), dtype=np.float32)

    def beginning_with(self, letters: str) -> list[str]:
        """Terms that begin alike, also those of the dead; all of the same number of letters are
        kept apart once."""
        if len(letters) not in self._by_beginning:
            self._by_beginning[len(letters)] = (0, {})
        seen, by = self._by_beginning[len(letters)]
        for term in islice(self._number_of, seen, None):
            by.setdefault(term[: len(letters)], []).append(term)
        self._by_beginning[len(letters)] = (len(self._number_of), by)
        return by.get(letters, [])

    def by_slot(self) -> dict[int, dict[str, int]]:
        held: dict[int, dict[str, int]] = {}
        for term in self._number_of:
            slots, counts = self.of(term)
            for slot, count in zip(slots.tolist(), counts.tolist(), strict=True):
                held.setdefault(slot, {})[term] = count
        return held

    @property
    def nbytes(self) -> int:
        arrays = self._starts.nbytes + self._slots.nbytes + self._counts.nbytes
        return arrays + 120 * len(self._number_of) + 100 * self._waiting


class VisibleTerms:
    """The vocabulary of those whom the asker may see, in every scope that is asked. What is dead or
    hidden teaches no spelling: it would show in the answer."""

    def __init__(self, seen: Sequence[tuple[Postings, Mask]]):
        self._seen = seen

    def __contains__(self, term: str) -> bool:
        return any(visible[postings.of(term)[0]].any() for postings, visible in self._seen)

    def beginning_with(self, letters: str) -> list[str]:
        terms = (postings.beginning_with(letters) for postings, _ in self._seen)
        return [term for term in dict.fromkeys(chain.from_iterable(terms)) if term in self]


_DOCUMENT_TYPES = (SourceType.TEXT_IMPORT, SourceType.FILE)  # texts mention them by title

NameIndex = dict[str, set[str]]  # name → ids of sources


@dataclass(slots=True)
class SourceEntry:
    """A source as its passages share it."""

    told: IndexedSource
    slots: list[int] = field(default_factory=list)
    speakers: set[str] = field(default_factory=set)
    sessions: dict[str | None, int] = field(default_factory=dict)  # name → number

    def copy(self) -> SourceEntry:
        return SourceEntry(self.told, [*self.slots], set(self.speakers), dict(self.sessions))

    @property
    def people(self) -> set[str]:
        """Who brought it in is named by what they say in it."""
        return self.speakers | (set(json.loads(self.told.participants)) - {self.told.user_id})

    @property
    def titles(self) -> list[str]:
        key = title_key(self.told.title)
        is_document = key and self.told.source_type in _DOCUMENT_TYPES
        return [key] if is_document and not self._is_called_like_any_file(key) else []

    def _is_called_like_any_file(self, key: str) -> bool:
        """A file's name of one word ("notes", "plan") is a word of every text."""
        from_its_name = key == title_key(file_title(self.told.external_id))
        return self.told.source_type == SourceType.FILE and from_its_name and " " not in key


class SourceNames:
    def __init__(self) -> None:
        self.by_id: dict[str, SourceEntry] = {}
        self.titles: NameIndex = {}  # of documents, by title_key
        self.people: NameIndex = {}  # who takes part in which

    def copy(self) -> SourceNames:
        other = SourceNames()
        other.by_id = {id: known.copy() for id, known in self.by_id.items()}
        other.titles = {name: set(ids) for name, ids in self.titles.items()}
        other.people = {name: set(ids) for name, ids in self.people.items()}
        return other

    def take(self, told: IndexedSource) -> SourceEntry:
        known = self.by_id.setdefault(told.id, SourceEntry(told))
        _remove_names(self.titles, known.titles, told.id)
        _remove_names(self.people, known.people, told.id)
        known.told = told
        self._call(known)
        return known

    def empty(self, source: SourceEntry) -> list[int]:
        """All its passages are replaced: the slots of the old ones. Its sessions are other ones
        from now on, so that no window reaches from a new passage to an old one."""
        _remove_names(self.people, source.people, source.told.id)
        gone, source.slots, source.speakers, source.sessions = source.slots, [], set(), {}
        self._call(source)
        return gone

    def drop(self, id: str) -> list[int]:
        """As if it had never been told of; the slots of its passages."""
        gone = self.by_id.pop(id)
        _remove_names(self.titles, gone.titles, id)
        _remove_names(self.people, gone.people, id)
        return gone.slots

    def hear(self, source: SourceEntry, speaker: str | None) -> None:
        if speaker and speaker not in source.speakers:
            source.speakers.add(speaker)
            self._call(source)

    def _call(self, source: SourceEntry) -> None:
        if source.told.state == "active":
            _add_names(self.titles, source.titles, source.told.id)
            _add_names(self.people, source.people, source.told.id)


def _add_names(names: NameIndex, called: Iterable[str], id: str) -> None:
    for name in called:
        names.setdefault(name, set()).add(id)


def _remove_names(names: NameIndex, called: Iterable[str], id: str) -> None:
    for name in called:
        if name in names:
            names[name].discard(id)
            if not names[name]:
                del names[name]
