"""Postings: inverted indexes of terms (BM25) and of source titles and people.

Most postings are in three flat arrays sorted by term. New ones are collected per term and merged
into the arrays when there are many.

A forgotten source has no names in the index, so that a cache answers like one built without it.
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

_OTHER_TEXTS, _OTHER_HOLDERS = 1000, 3  # a collection as large as people's are after a year
_FOLD_AT_LEAST = 4096
_FOLD_SHARE = 0.2

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]


class _RecentPostings:
    """A term's newest postings; arrays, because numpy copies them quickly."""

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
    """The number of texts, and of all their terms."""

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
        """The idf of a term with this document frequency."""
        return float(np.log1p((self.texts - frequency + 0.5) / (frequency + 0.5)))

    def weight(self, frequency: int) -> float:
        """How much of a question a term stands for: its idf as if many more texts were there, of
        which a few have it. In a store of one text a term of that text is not a common one."""
        texts, frequency_there = self.texts + _OTHER_TEXTS, frequency + _OTHER_HOLDERS
        return float(np.log1p((texts - frequency_there + 0.5) / (frequency_there + 0.5)))


def combine_stats(stats: Sequence[CollectionStats]) -> CollectionStats:
    return CollectionStats(sum(each.texts for each in stats), sum(each.terms for each in stats))


class Bm25Scorer:
    """BM25 scores, accumulated term by term, over texts of these lengths. ``extent``: statistics of
    all collections that are searched together, not only of this one."""

    def __init__(self, lengths: NDArray[np.integer], extent: CollectionStats):
        self.lengths = lengths
        self.extent = extent
        self._average = extent.average
        self.scores: Floats = np.zeros(len(lengths), dtype=np.float32)

    def add(self, at: NDArray[np.intp], counts: NDArray[np.number], frequency: int) -> None:
        """Adds a term with ``counts`` occurrences at these texts, and its document frequency."""
        if not len(at):
            return
        idf = self.extent.rarity(frequency)
        length_norm = K1 * (1 - B + B * self.lengths[at] / self._average)
        self.scores[at] += (idf * counts * (K1 + 1) / (counts + length_norm)).astype(np.float32)


class Postings:
    def __init__(self) -> None:
        self._number_of: dict[str, int] = {}  # term → number
        self._starts = np.zeros(1, dtype=np.int64)
        self._slots: Ints = np.zeros(0, dtype=np.int32)
        self._counts: Ints = np.zeros(0, dtype=np.int32)
        self._new: dict[
            int, _RecentPostings
        ] = {}  # term's number → postings that are not merged yet
        self._pending = 0  # postings in _new
        self._by_prefix: dict[int, tuple[int, dict[str, list[str]]]] = {}

    def copy(self) -> Postings:
        """An independent copy. The flat arrays are only replaced as a whole, so they are shared."""
        other = copy(self)
        other._number_of = dict(self._number_of)
        other._new = {number: few.copy() for number, few in self._new.items()}
        other._by_prefix = {
            length: (seen, {prefix: [*terms] for prefix, terms in by.items()})
            for length, (seen, by) in self._by_prefix.items()
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
        self._pending += len(counts)

    def add_many(self, documents: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Slots with their words, equal words adjacent. Large batches are merged directly."""
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
        if self._pending < max(_FOLD_AT_LEAST, _FOLD_SHARE * len(self._slots)):
            return
        new = self._new.values()
        terms = np.repeat(np.array(list(self._new)), [len(few.slots) for few in new])
        slots, counts = (
            np.concatenate([np.array(part, np.int32) for part in parts])
            for parts in ([few.slots for few in new], [few.counts for few in new])
        )
        self._merge(terms, slots, counts)
        self._new, self._pending = {}, 0

    def _merge(self, terms: NDArray[np.int64], slots: Ints, counts: Ints) -> None:
        lengths = np.diff(self._starts)
        terms = np.concatenate([np.repeat(np.arange(len(lengths)), lengths), terms])
        order = np.argsort(terms, kind="stable")
        self._slots = np.concatenate([self._slots, slots])[order]
        self._counts = np.concatenate([self._counts, counts])[order]
        sizes = np.bincount(terms, minlength=len(self._number_of))
        self._starts = np.concatenate([[0], np.cumsum(sizes)])

    def of(self, term: str) -> tuple[Ints, Ints]:
        """Slots that contain the term, and its counts."""
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
        """Scores over all slots, and the share of distinct query terms that each contains.

        Statistics come from all live slots of the scope, so that a filter changes which slots are
        scored, but not their scores.
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
        """Terms with this prefix, including those of dead slots. Terms are grouped by prefix once
        for each prefix length, and then incrementally."""
        if len(letters) not in self._by_prefix:
            self._by_prefix[len(letters)] = (0, {})
        seen, by = self._by_prefix[len(letters)]
        for term in islice(self._number_of, seen, None):
            by.setdefault(term[: len(letters)], []).append(term)
        self._by_prefix[len(letters)] = (len(self._number_of), by)
        return by.get(letters, [])

    def by_slot(self) -> dict[int, dict[str, int]]:
        terms: dict[int, dict[str, int]] = {}
        for term in self._number_of:
            slots, counts = self.of(term)
            for slot, count in zip(slots.tolist(), counts.tolist(), strict=True):
                terms.setdefault(slot, {})[term] = count
        return terms

    @property
    def nbytes(self) -> int:
        arrays = self._starts.nbytes + self._slots.nbytes + self._counts.nbytes
        return arrays + 120 * len(self._number_of) + 100 * self._pending


class VisibleTerms:
    """The terms of the slots that the caller may see, in all searched scopes. Dead and hidden slots
    must not influence spelling correction: the answer would disclose them."""

    def __init__(self, seen: Sequence[tuple[Postings, Mask]]):
        self._seen = seen

    def __contains__(self, term: str) -> bool:
        return any(visible[postings.of(term)[0]].any() for postings, visible in self._seen)

    def beginning_with(self, letters: str) -> list[str]:
        terms = (postings.beginning_with(letters) for postings, _ in self._seen)
        return [term for term in dict.fromkeys(chain.from_iterable(terms)) if term in self]


_DOCUMENT_TYPES = (SourceType.TEXT_IMPORT, SourceType.FILE)  # other texts may mention their titles

NameIndex = dict[str, set[str]]  # name → ids of sources


@dataclass(slots=True)
class SourceEntry:
    """A source, with the slots, speakers and sessions of its passages."""

    row: IndexedSource
    slots: list[int] = field(default_factory=list)
    speakers: set[str] = field(default_factory=set)
    sessions: dict[str | None, int] = field(default_factory=dict)  # name → number

    def copy(self) -> SourceEntry:
        return SourceEntry(self.row, [*self.slots], set(self.speakers), dict(self.sessions))

    @property
    def people(self) -> set[str]:
        """Speakers and participants. The contributor is included only as a speaker."""
        return self.speakers | (set(json.loads(self.row.participants)) - {self.row.user_id})

    @property
    def titles(self) -> list[str]:
        key = title_key(self.row.title)
        is_document = key and self.row.source_type in _DOCUMENT_TYPES
        return [key] if is_document and not self._is_generic_file_name(key) else []

    def _is_generic_file_name(self, key: str) -> bool:
        """A file name of one word ("notes", "plan") is an ordinary word of any text."""
        from_its_name = key == title_key(file_title(self.row.external_id))
        return self.row.source_type == SourceType.FILE and from_its_name and " " not in key


class SourceNames:
    def __init__(self) -> None:
        self.by_id: dict[str, SourceEntry] = {}
        self.titles: NameIndex = {}  # of documents, by title_key
        self.people: NameIndex = {}  # participants and speakers

    def copy(self) -> SourceNames:
        other = SourceNames()
        other.by_id = {id: entry.copy() for id, entry in self.by_id.items()}
        other.titles = {name: set(ids) for name, ids in self.titles.items()}
        other.people = {name: set(ids) for name, ids in self.people.items()}
        return other

    def put(self, row: IndexedSource) -> SourceEntry:
        entry = self.by_id.setdefault(row.id, SourceEntry(row))
        _remove_names(self.titles, entry.titles, row.id)
        _remove_names(self.people, entry.people, row.id)
        entry.row = row
        self._add_names_of(entry)
        return entry

    def empty(self, source: SourceEntry) -> list[int]:
        """Removes all its passages, which were replaced, and returns their slots. New passages get
        new sessions, so that no window includes both old and new ones."""
        _remove_names(self.people, source.people, source.row.id)
        removed, source.slots, source.speakers, source.sessions = source.slots, [], set(), {}
        self._add_names_of(source)
        return removed

    def drop(self, id: str) -> list[int]:
        """Removes the source and returns the slots of its passages."""
        removed = self.by_id.pop(id)
        _remove_names(self.titles, removed.titles, id)
        _remove_names(self.people, removed.people, id)
        return removed.slots

    def add_speaker(self, source: SourceEntry, speaker: str | None) -> None:
        if speaker and speaker not in source.speakers:
            source.speakers.add(speaker)
            self._add_names_of(source)

    def _add_names_of(self, source: SourceEntry) -> None:
        if source.row.state == "active":
            _add_names(self.titles, source.titles, source.row.id)
            _add_names(self.people, source.people, source.row.id)


def _add_names(index: NameIndex, names: Iterable[str], id: str) -> None:
    for name in names:
        index.setdefault(name, set()).add(id)


def _remove_names(index: NameIndex, names: Iterable[str], id: str) -> None:
    for name in names:
        if name in index:
            index[name].discard(id)
            if not index[name]:
                del index[name]
