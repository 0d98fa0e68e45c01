"""Which slots hold which term, and BM25 with the scope's own statistics.

Most postings lie in three flat arrays sorted by term; the newest wait in small lists and are
folded in when they have become many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75

_FOLD_AT_LEAST = 4096
_FOLD_SHARE = 0.2

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]


class Postings:
    def __init__(self) -> None:
        self._number_of: dict[str, int] = {}  # term → number
        self._starts = np.zeros(1, dtype=np.int64)
        self._slots: Ints = np.zeros(0, dtype=np.int32)
        self._counts: Ints = np.zeros(0, dtype=np.int32)
        self._new_terms: list[int] = []
        self._new_slots: list[int] = []
        self._new_counts: list[int] = []
        self._new_of: dict[int, list[int]] = {}  # term → positions in the new lists

    def add(self, slot: int, counts: Mapping[str, int]) -> None:
        for term, count in counts.items():
            number = self._number_of.setdefault(term, len(self._number_of))
            self._new_of.setdefault(number, []).append(len(self._new_terms))
            self._new_terms.append(number)
            self._new_slots.append(slot)
            self._new_counts.append(count)

    def _fold(self) -> None:
        waiting = len(self._new_terms)
        if waiting < max(_FOLD_AT_LEAST, _FOLD_SHARE * len(self._slots)):
            return
        lengths = np.diff(self._starts)
        terms = np.concatenate(
            [np.repeat(np.arange(len(lengths)), lengths), np.array(self._new_terms)]
        )
        order = np.argsort(terms, kind="stable")
        self._slots = np.concatenate([self._slots, np.array(self._new_slots, np.int32)])[order]
        self._counts = np.concatenate([self._counts, np.array(self._new_counts, np.int32)])[order]
        sizes = np.bincount(terms, minlength=len(self._number_of))
        self._starts = np.concatenate([[0], np.cumsum(sizes)])
        self._new_terms, self._new_slots, self._new_counts, self._new_of = [], [], [], {}

    def of(self, term: str) -> tuple[Ints, Ints]:
        """Slots that hold the term, and how often."""
        number = self._number_of.get(term)
        if number is None:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        slots, counts = self._folded(number)
        new = self._new_of.get(number)
        if new:
            slots = np.concatenate([slots, np.array([self._new_slots[i] for i in new], np.int32)])
            counts = np.concatenate(
                [counts, np.array([self._new_counts[i] for i in new], np.int32)]
            )
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
        self._fold()
        scores = np.zeros(len(live), dtype=np.float32)
        held = np.zeros(len(live), dtype=np.float32)
        wanted = list(dict.fromkeys(terms))
        total = int(np.count_nonzero(live))
        if not total or not wanted:
            return scores, held
        all_live, all_admitted = total == len(live), bool(mask.all())
        in_all = (lengths if all_live else lengths[live]).sum(dtype=np.int64)
        average = max(float(in_all) / total, 1e-9)
        for term in wanted:
            slots, counts = self.of(term)
            frequency = len(slots) if all_live else int(np.count_nonzero(live[slots]))
            if not all_admitted:
                candidates = mask[slots]
                slots, counts = slots[candidates], counts[candidates]
            if not len(slots):
                continue
            idf = np.log1p((total - frequency + 0.5) / (frequency + 0.5))
            pull = K1 * (1 - B + B * lengths[slots] / average)
            scores[slots] += (idf * counts * (K1 + 1) / (counts + pull)).astype(np.float32)
            held[slots] += 1 / len(wanted)
        return scores, held

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
        return arrays + 120 * len(self._number_of) + 100 * len(self._new_terms)
