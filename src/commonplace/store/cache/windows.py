"""Context windows: the order of passages within sessions, and their neighbours.

A chat turn is often too short to be matched alone, so it is scored with its neighbours. Every slot
of an index has a place here: the passages of one session are adjacent and in order, a memory is a
session of its own. The window of a place extends some places back and some ahead, nearest first, up
to a number of terms, and never beyond the session.

A log of short turns between a user and an assistant is made of exchanges: a turn of the user and
the reply to it, which repeats what was said in other words. There the near window of a user's turn
is its exchange, and no turn has a wider window: the turns before speak of something else.

Everything is updated incrementally and must equal a rebuild.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]

_VECTORS_AT_ONCE = 4096
_NUMBER_BITS = 24  # limits the number of passages of a session
_BEST_OF_SESSION = 3
# A term in more than one of this many places, or an index with few places, is counted faster over
# all places at once.
_FREQUENT_SHARE = 12
_FEW_PLACES = 4096
LONG_UNITS = 60  # average terms of units that need no context
SHORT_TURNS = 24  # average terms of turns in a log of exchanges
REPLY_TERMS = 40  # a longer reply is content of its own
OTHER_SPEAKER, OWNER, ASSISTANT = range(3)


@dataclass(frozen=True, slots=True)
class WindowSize:
    """The extent of a window, and its maximum of terms."""

    back: int
    ahead: int
    most_terms: int

    @property
    def nearest_first(self) -> list[int]:
        steps = [*range(-self.back, 0), *range(1, self.ahead + 1)]
        return sorted(steps, key=lambda step: (abs(step), step))


NEAR_WINDOW = WindowSize(back=2, ahead=1, most_terms=120)
WIDE_WINDOW = WindowSize(back=5, ahead=3, most_terms=200)


class ContextWindows:
    """The windows of one size, by place."""

    def __init__(self, window: WindowSize):
        self.window = window
        self.back: Ints = np.zeros(0, np.int64)
        self.ahead: Ints = np.zeros(0, np.int64)
        self.terms: Ints = np.zeros(0, np.int64)  # the number of terms of each
        self._spans: tuple[Ints, Ints] | None = None

    def copy(self) -> ContextWindows:
        other = copy(self)
        other.back, other.ahead, other.terms = (
            array.copy() for array in (self.back, self.ahead, self.terms)
        )
        return other

    def insert_places(self, at: Ints) -> None:
        self.back, self.ahead, self.terms = (
            np.insert(array, at, 0) for array in (self.back, self.ahead, self.terms)
        )

    def recompute(
        self, places: Ints, sessions: Ints, lengths: Ints, most_back: Ints, most_ahead: Ints
    ) -> None:
        """Of these places, each with its limits; ``sessions`` and ``lengths`` are of all places."""
        mine, total = sessions[places], lengths[places].copy()
        limits = {-1: most_back, 1: most_ahead}
        reached = {-1: np.zeros(len(places), np.int64), 1: np.zeros(len(places), np.int64)}
        open_ = {-1: np.ones(len(places), bool), 1: np.ones(len(places), bool)}
        for step in self.window.nearest_first:
            side = 1 if step > 0 else -1
            other = np.clip(places + step, 0, len(sessions) - 1)
            fits = (other == places + step) & (sessions[other] == mine)
            fits &= open_[side] & (abs(step) <= limits[side])
            fits &= total + lengths[other] <= self.window.most_terms
            open_[side] = fits  # a window has no holes
            total[fits] += lengths[other][fits]
            reached[side][fits] = abs(step)
        self.back[places], self.ahead[places], self.terms[places] = reached[-1], reached[1], total
        self._spans = None

    def counts(self, places: Ints, counts: NDArray[np.int32]) -> NDArray[np.float64]:
        """Occurrences of a term in each window, given its places and its counts there."""
        size = len(self.back)
        if len(places) * _FREQUENT_SHARE + _FEW_PLACES > size:
            by_place = np.bincount(places, weights=counts, minlength=size)
            return self.sums(np.asarray(by_place, dtype=np.float64))
        steps = np.arange(-self.window.ahead, self.window.back + 1)
        holders = places[:, None] + steps  # places whose window could include the term's place
        inside = (holders >= 0) & (holders < size)
        holders = np.where(inside, holders, 0)
        inside &= np.where(steps > 0, self.back[holders] >= steps, self.ahead[holders] >= -steps)
        weights = np.repeat(counts, np.count_nonzero(inside, axis=1))
        totals = np.bincount(holders[inside], weights=weights, minlength=size)
        return np.asarray(totals, dtype=np.float64)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of each window's values."""
        running = np.zeros(len(values) + 1)
        np.cumsum(values, out=running[1:])
        firsts, ends = self._first_and_end()
        summed: NDArray[np.float64] = running[ends] - running[firsts]
        return summed

    def _first_and_end(self) -> tuple[Ints, Ints]:
        """The place where each window begins, and the one after its last."""
        if self._spans is None:
            at = np.arange(len(self.back))
            self._spans = (at - self.back, at + self.ahead + 1)
        return self._spans


class SessionContexts:
    def __init__(self) -> None:
        self.slots: Ints = np.zeros(0, np.int64)  # by place
        self.places: Ints = np.zeros(0, np.int64)  # by slot
        self.sessions: Ints = np.zeros(0, np.int64)  # by place, as numbers
        self.lengths: Ints = np.zeros(0, np.int64)  # by place, in terms
        self.speakers: Ints = np.zeros(0, np.int64)  # by place
        self.in_log: Mask = np.zeros(0, bool)  # by place: in a log of short exchanges
        self.norms: Floats = np.zeros(0, np.float32)  # of the sum of the near window's vectors
        self.near = ContextWindows(NEAR_WINDOW)
        self.wide = ContextWindows(WIDE_WINDOW)
        self._keys: Ints = np.zeros(0, np.int64)  # by place: session and number in one, sorted
        self._blocks: tuple[Ints, Ints, Mask] | None = None

    @property
    def size(self) -> int:
        return len(self.slots)

    def copy(self) -> SessionContexts:
        """An independent copy. Arrays that are only replaced as a whole are shared."""
        other = copy(self)
        other.norms = self.norms.copy()
        other.near, other.wide = self.near.copy(), self.wide.copy()
        return other

    def add(
        self, sessions: Ints, numbers: Ints, lengths: Ints, speakers: Ints, vectors: Floats
    ) -> None:
        """Adds the next slots, each with its session and its number there. ``vectors`` are of all
        slots, including these."""
        if not len(sessions):
            return
        keys = (sessions << _NUMBER_BITS) + numbers
        arranged = np.argsort(keys, kind="stable")
        spots = np.searchsorted(self._keys, keys[arranged])
        new = np.arange(self.size, self.size + len(keys))
        self.slots = np.insert(self.slots, spots, new[arranged])
        self.sessions = np.insert(self.sessions, spots, sessions[arranged])
        self.lengths = np.insert(self.lengths, spots, lengths[arranged])
        self.speakers = np.insert(self.speakers, spots, speakers[arranged])
        self.in_log = np.insert(self.in_log, spots, False)
        self._keys = np.insert(self._keys, spots, keys[arranged])
        self.norms = np.insert(self.norms, spots, 0)
        for windows in (self.near, self.wide):
            windows.insert_places(spots)
        self.places = np.empty(self.size, np.int64)
        self.places[self.slots] = np.arange(self.size)
        self._blocks = None
        touched = self._of_sessions(sessions)
        self._find_logs(touched)
        self._compute_windows(touched)
        self._compute_norms(touched, vectors)

    def _find_logs(self, places: Ints) -> None:
        """Of these places, which are all of their sessions."""
        _, block = np.unique(self.sessions[places], return_inverse=True)
        turns = np.bincount(block)
        replies = np.bincount(block, weights=self.speakers[places] == ASSISTANT)
        is_log = (replies > 0) & (
            np.bincount(block, weights=self.lengths[places]) <= SHORT_TURNS * turns
        )
        self.in_log[places] = is_log[block]

    def _compute_windows(self, places: Ints) -> None:
        is_log, is_answered = self.in_log[places], self._has_short_reply(places)
        none = np.zeros(len(places), np.int64)
        for windows, in_a_log in ((self.near, is_answered.astype(np.int64)), (self.wide, none)):
            most_back = np.where(is_log, 0, windows.window.back)
            most_ahead = np.where(is_log, in_a_log, windows.window.ahead)
            windows.recompute(places, self.sessions, self.lengths, most_back, most_ahead)

    def _has_short_reply(self, places: Ints) -> Mask:
        after = np.minimum(places + 1, self.size - 1)
        is_reply = (self.speakers[after] == ASSISTANT) & (self.lengths[after] <= REPLY_TERMS)
        answered: Mask = (self.speakers[places] == OWNER) & is_reply
        return answered

    def exchanges(self) -> tuple[Ints, Ints]:
        """The slots of turns that have a short reply, and of the replies."""
        answered = np.flatnonzero(self.in_log & (self.near.ahead > 0))
        return self.slots[answered], self.slots[answered + 1]

    def logged(self) -> Mask:
        """By slot: turns of a log of short exchanges."""
        mask: Mask = self.in_log[self.places]
        return mask

    def update_norms(self, slots: Sequence[int], vectors: Floats) -> None:
        """For slots whose vectors came late."""
        if slots:
            self._compute_norms(
                self._of_sessions(self.sessions[self.places[np.array(slots)]]), vectors
            )

    def _of_sessions(self, sessions: Ints) -> Ints:
        """All places of these sessions."""
        if len(sessions) * 4 > self.size:
            return np.flatnonzero(np.isin(self.sessions, sessions))
        wanted = np.unique(sessions)
        firsts = np.searchsorted(self.sessions, wanted)
        ends = np.searchsorted(self.sessions, wanted, side="right")
        return np.concatenate([np.arange(a, b) for a, b in zip(firsts, ends, strict=True)])

    def _compute_norms(self, places: Ints, vectors: Floats) -> None:
        """The norm of the sum of each near window's vectors: with it, the cosine of a window
        follows from those of its slots."""
        steps = range(-NEAR_WINDOW.back, NEAR_WINDOW.ahead + 1)
        for start in range(0, len(places), _VECTORS_AT_ONCE):
            at = places[start : start + _VECTORS_AT_ONCE]
            summed = np.zeros((len(at), vectors.shape[1]))
            for step in steps:
                reached = self.near.ahead[at] >= step if step > 0 else self.near.back[at] >= -step
                summed[reached] += vectors[self.slots[at[reached] + step]]
            self.norms[at] = np.linalg.norm(summed, axis=1)

    # ——— scores for a query ———

    def window_cosines(self, cosines: Floats) -> Floats:
        """The cosine of each slot's near window, given those of the slots; NaN counts as 0."""
        by_place = self._by_place(cosines)
        scores = self.near.sums(by_place) / np.maximum(self.norms, 1e-9)
        _, _, is_long = self._session_blocks()
        scores = np.where(is_long, by_place, scores)
        return self._by_slot(scores.astype(np.float32))

    def session_cosines(self, cosines: Floats) -> Floats:
        """The mean of the three best cosines of each slot's session; in a log, its own."""
        values = self._by_place(cosines)
        starts, block, is_long = self._session_blocks()
        left, total, taken = values.copy(), np.zeros(len(starts)), np.zeros(len(starts))
        for _ in range(_BEST_OF_SESSION):
            best = np.maximum.reduceat(left, starts) if len(starts) else left
            some = best > -np.inf
            total[some] += best[some]
            taken += some
            is_best = np.flatnonzero(left == best[block])
            where = block[is_best]  # ascending: a step marks the first of each session
            left[is_best[np.flatnonzero(np.diff(where, prepend=-1))]] = -np.inf
        mean = (total / np.maximum(taken, 1))[block]
        alone = is_long | self.in_log
        return self._by_slot(np.where(alone, values, mean).astype(np.float32))

    def _session_blocks(self) -> tuple[Ints, Ints, Mask]:
        """The start of each session, the session of each place, and the places of sessions whose
        units are long enough to need no context."""
        if self._blocks is None:
            is_first = np.ones(self.size, bool)
            is_first[1:] = self.sessions[1:] != self.sessions[:-1]
            starts = np.flatnonzero(is_first)
            block = np.cumsum(is_first) - 1
            sizes = np.diff(starts, append=self.size)
            total = np.add.reduceat(self.lengths, starts) if len(starts) else starts
            long = total > LONG_UNITS * sizes
            self._blocks = (starts, block, long[block] if len(starts) else is_first)
        return self._blocks

    def _by_place(self, cosines: Floats) -> NDArray[np.float64]:
        """Without a cosine: 0."""
        values = cosines[self.slots].astype(np.float64)
        values[~np.isfinite(values)] = 0.0
        return values

    def _by_slot(self, by_place: NDArray[np.float32]) -> Floats:
        values: Floats = by_place[self.places]
        return values

    @property
    def is_flat(self) -> bool:
        """Every unit is a session of its own: each window is its unit."""
        return len(self._session_blocks()[0]) == self.size

    def has_neighbours(self, slot: int) -> bool:
        place = self.places[slot]
        return bool(self.wide.back[place] + self.wide.ahead[place] > 0)

    @property
    def nbytes(self) -> int:
        by_place = (self.slots, self.places, self.sessions, self.lengths, self.speakers, self._keys)
        windows = sum(3 * w.back.nbytes for w in (self.near, self.wide))
        others = self.norms.nbytes + self.in_log.nbytes
        return sum(array.nbytes for array in by_place) + others + windows
