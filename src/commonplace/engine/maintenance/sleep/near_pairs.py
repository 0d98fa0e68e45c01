"""Pairs of memories that may say the same: which are looked at in a night, and how they are found.

All pairs are compared as matrices of the scope's index; words are looked at only where the vectors
are near.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from commonplace.engine.context import EngineContext
from commonplace.engine.maintenance.sleep.tasks.volatile import merge_group
from commonplace.language.compare.duplicates import is_numeric_step, overlaps, terms_key
from commonplace.language.embedders.embedder import Calibration
from commonplace.language.text.detect import Script, detect_script
from commonplace.model.access.principal import Scope
from commonplace.model.filters import OWNER_VISIBILITY, Filters
from commonplace.model.memory.kinds import POLICIES, Stability
from commonplace.model.memory.memory import HEARSAY_FACET, Memory
from commonplace.model.profile.fields import is_profile_item
from commonplace.model.sleep import FINGERPRINT_REST, MAX_PAIRS_A_DAY, PairFingerprint
from commonplace.store.cache.scope_index import ScopeIndex
from commonplace.store.queries import NO_LIMIT, MemoryListing

MAX_AGE = timedelta(days=90)
TOUCHED = timedelta(hours=72)
IMPORTANT = 3
SIMILAR, TOO_SIMILAR = 0.70, 0.88  # from, and below; what is more similar was decided when written
EQUAL_TERMS = 1.0  # the score of a pair of equal terms, whatever its similarity
_ROWS_AT_ONCE = 256
_STEP = 0.001
_COSINES = np.arange(-1, 1 + _STEP, _STEP)

Floats = NDArray[np.float32]
PairKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two memories, the earlier first."""

    earlier: Memory
    later: Memory
    score: float  # calibrated similarity; EQUAL_TERMS

    @property
    def ids(self) -> PairKey:
        a, b = sorted((self.earlier.id, self.later.id))
        return a, b

    @property
    def has_equal_terms(self) -> bool:
        return self.score == EQUAL_TERMS

    def fingerprint(self, now: datetime) -> PairFingerprint:
        return PairFingerprint(*self.ids, round(self.score, 2), now)


# ——— which memories ———


def load_comparable(engine: EngineContext, scope: Scope, now: datetime) -> list[Memory]:
    """Oldest first."""
    filters = Filters(created_after=now - MAX_AGE - timedelta(microseconds=1))
    listing = MemoryListing(filters, OWNER_VISIBILITY, now=now, limit=NO_LIMIT)
    found = filter(is_comparable_at_night, engine.store.page(scope, listing))
    return sorted(found, key=lambda each: (each.created_at, each.id))


def is_comparable_at_night(memory: Memory) -> bool:
    """Volatile memories are merged otherwise; souls stand each for itself."""
    is_lasting = memory.stability is not Stability.VOLATILE
    return is_lasting and POLICIES[memory.kind].can_merge and not is_profile_item(memory.id)


def choose_pool(memories: Sequence[Memory], now: datetime) -> set[str]:
    """Touched lately, important, or in the top decile of retrieval. One of a pair is in it."""
    read = sorted((each.access_count for each in memories if each.access_count), reverse=True)
    often = read[min(len(read), max(1, len(memories) // 10)) - 1] if read else None
    return {
        each.id
        for each in memories
        if now - max(each.created_at, each.updated_at) <= TOUCHED
        or each.importance >= IMPORTANT
        or (often is not None and each.access_count >= often)
    }


def comparison_group(memory: Memory) -> tuple[object, ...]:
    """Only memories of one kind that the same readers may see are compared; hearsay is nobody's own
    statement."""
    return memory.kind, memory.facet == HEARSAY_FACET, *merge_group(memory)


# ——— which pairs ———


@dataclass(frozen=True, slots=True)
class NightlyPairs:
    pairs: Sequence[DuplicatePair]
    is_all: bool  # False: the limit of a day left some for the next


def find_pairs(engine: EngineContext, scope: Scope, now: datetime) -> NightlyPairs:
    """Equal terms first, then the most similar; without pairs that rest."""
    memories = load_comparable(engine, scope, now)
    pool = choose_pool(memories, now)
    kept = engine.store.fingerprints(scope)
    resting = {
        (each.a, each.b, each.score) for each in kept if now - each.checked_at < FINGERPRINT_REST
    }
    today = sum(each.checked_at.date() == now.date() for each in kept)
    left = max(0, MAX_PAIRS_A_DAY - today)
    chosen: list[DuplicatePair] = []
    known: set[PairKey] = set()
    for pair in _candidates(engine, scope, memories, pool):
        if pair.ids in known or (*pair.ids, round(pair.score, 2)) in resting:
            continue
        if len(chosen) == left:
            return NightlyPairs(chosen, is_all=False)
        known.add(pair.ids)
        chosen.append(pair)
    return NightlyPairs(chosen, is_all=True)


def _candidates(
    engine: EngineContext, scope: Scope, memories: Sequence[Memory], pool: Collection[str]
) -> Iterator[DuplicatePair]:
    groups: dict[tuple[object, ...], list[Memory]] = {}
    for memory in memories:
        groups.setdefault(comparison_group(memory), []).append(memory)
    yield from (pair for group in groups.values() for pair in equal_terms(group, pool))
    with engine.index.reading(scope) as index:
        calibration = engine.calibration
        near = [
            found
            for group in groups.values()
            for found in _near_in_group(index, calibration, group, pool)
        ]
    near.sort(key=lambda each: (-each.score, each.ids))
    yield from filter(_is_worth_a_look, near)


def equal_terms(memories: Sequence[Memory], pool: Collection[str]) -> Iterator[DuplicatePair]:
    """Neighbouring ones of each set that has a member in the pool: many equal memories do not make
    a pair for each two of them."""
    alike: dict[tuple[str, ...], list[Memory]] = {}
    for memory in memories:
        if key := terms_key(memory.content):
            alike.setdefault(key, []).append(memory)
    for same in alike.values():
        if any(each.id in pool for each in same):
            for earlier, later in pairwise(same):
                yield DuplicatePair(earlier, later, EQUAL_TERMS)


def _is_worth_a_look(pair: DuplicatePair) -> bool:
    one, other = pair.earlier.content, pair.later.content
    return overlaps(terms_key(one), terms_key(other)) or is_numeric_step(one, other)


def _near_in_group(
    index: ScopeIndex,
    calibration: Calibration,
    memories: Sequence[Memory],
    pool: Collection[str],
) -> Iterator[DuplicatePair]:
    slots = [index.slot_of_id.get(each.id) for each in memories]
    there = [
        (slot, memory)
        for slot, memory in zip(slots, memories, strict=True)
        if slot is not None and index.has_vector[slot]
    ]
    rows = [place for place, (_, memory) in enumerate(there) if memory.id in pool]
    if len(there) < 2 or not rows:
        return
    vectors = index.vectors[[slot for slot, _ in there]]
    texts = [memory.searchable_text for _, memory in there]
    in_pool = np.zeros(len(there), dtype=bool)
    in_pool[rows] = True
    for one, other, score in near_places(vectors, np.array(rows), in_pool, texts, calibration):
        yield DuplicatePair(there[one][1], there[other][1], score)


def near_places(
    vectors: Floats,
    rows: NDArray[np.intp],
    is_row: NDArray[np.bool_],
    texts: Sequence[str],
    calibration: Calibration,
) -> Iterator[tuple[int, int, float]]:
    """Places of two texts, the earlier first, and their calibrated similarity, where it is in the
    band. One of the two is among the ``rows``."""
    scripts = np.array([str(detect_script(text)) for text in texts])
    maps = {str(script): script for script in calibration.knots}
    lowest = min((_lowest_cosine(calibration, each) for each in maps.values()), default=2.0)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        block = rows[start : start + _ROWS_AT_ONCE]
        cosines = vectors[block] @ vectors.T
        at, others = np.nonzero(cosines >= lowest)
        ones = block[at]
        # A pair of two rows is found twice.
        is_new = (others > ones) | ((others < ones) & ~is_row[others])
        ones, others, found = ones[is_new], others[is_new], cosines[at[is_new], others[is_new]]
        scores = np.full(len(found), np.nan)
        for name, script in maps.items():
            for second in maps:
                both = (scripts[ones] == name) & (scripts[others] == second)
                if both.any():
                    scores[both] = _lower(calibration, found[both], script, maps[second])
        for place in np.flatnonzero((scores >= SIMILAR) & (scores < TOO_SIMILAR)).tolist():
            one, other = sorted((int(ones[place]), int(others[place])))
            yield one, other, float(scores[place])


def _lowest_cosine(calibration: Calibration, script: Script) -> float:
    """From which cosine two texts of this script can be similar."""
    similarities = calibration.similarities(_COSINES, script)
    if similarities is None or similarities[-1] < SIMILAR:
        return float(_COSINES[-1]) + 1
    return float(_COSINES[int(np.argmax(similarities >= SIMILAR))]) - _STEP


def _lower(
    calibration: Calibration, cosines: Floats, one: Script, other: Script
) -> NDArray[np.float64]:
    """As `Calibration.similarities_between`: the lower of both maps."""
    found = [calibration.similarities(cosines, each) for each in {one, other}]
    lower: NDArray[np.float64] = np.min([each for each in found if each is not None], axis=0)
    return lower
