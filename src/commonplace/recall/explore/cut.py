"""How much of each is returned, by granularity. Pure."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from commonplace.recall.explore.score import Scored, in_order

MENTIONED_NODES = 10  # of a source
NEIGHBORS = 20
RELATED_NODES = 10  # of an artifact


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    sources: int
    nodes: int = 5  # people, concepts and entities together
    relationships: int = 10  # that touch one of these nodes
    storylines: int
    macros: int
    artifacts: int = 5


COUNTS = {
    1: Counts(sources=5, storylines=3, macros=2),
    2: Counts(sources=10, storylines=5, macros=2),  # its sources are those of its storylines
    3: Counts(sources=0, storylines=0, macros=5),  # its storylines are those of its macros
}


def best(hits: Sequence[Scored], most: int, first: Container[str]) -> list[Scored]:
    """In the order of their scores. Those that are in ``first`` get a place before any other."""
    ranked = in_order(hits)
    wanted = [hit for hit in ranked if hit.id in first]
    others = [hit for hit in ranked if hit.id not in first]
    return in_order([*wanted, *others][:most])
