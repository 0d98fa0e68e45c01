"""Which live memories say what an earlier one says. Counted beside the engine, without an embedder:
by its rules for two statements, and where the terms of one are all among those of the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

from commonplace.engine.memory_relation import relate_memories
from commonplace.language.text.filler import content_terms
from commonplace.model.memory.kinds import Kind, MemoryRelation
from commonplace.model.memory.memory import Memory

_SAME = (MemoryRelation.REPEAT, MemoryRelation.REWORDING)
_SHARED_TERMS = 0.5  # of the shorter of two: others are not compared
_FEWEST_TERMS = 2
_BY_DAY = (Kind.EVENT, Kind.LOG, Kind.SUMMARY, Kind.NOTE)  # the same on another day is another one


def duplicates(memories: Sequence[Memory]) -> list[tuple[Memory, Memory]]:
    """Each memory that is a duplicate, after the earliest one that says the same."""
    pairs: dict[str, tuple[Memory, Memory]] = {}
    for earlier, later in _candidates(memories):
        if later.id not in pairs and _say_the_same(earlier, later):
            pairs[later.id] = earlier, later
    return list(pairs.values())


def _candidates(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Memory]]:
    """Pairs of a kind with enough terms in common, the earlier one first."""
    by_term: dict[tuple[Kind, str], list[Memory]] = defaultdict(list)
    for later in sorted(memories, key=lambda each: (each.created_at, each.id)):
        terms = _terms(later.content)
        shared: dict[str, int] = defaultdict(int)
        met: dict[str, Memory] = {}
        for term in sorted(terms):
            for earlier in by_term[later.kind, term]:
                shared[earlier.id] += 1
                met[earlier.id] = earlier
            by_term[later.kind, term].append(later)
        for id, earlier in met.items():
            if shared[id] >= _SHARED_TERMS * min(len(terms), len(_terms(earlier.content))):
                yield earlier, later


@cache
def _terms(content: str) -> frozenset[str]:
    return content_terms(content)


def _say_the_same(earlier: Memory, later: Memory) -> bool:
    if later.kind in _BY_DAY and earlier.created_at.date() != later.created_at.date():
        return False
    one, other = _terms(earlier.content), _terms(later.content)
    is_contained = min(len(one), len(other)) >= _FEWEST_TERMS and (one <= other or other <= one)
    return is_contained or relate_memories(later, earlier, None).relation in _SAME
