"""Why something is among the hits: how it was met, and what its score is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MetBy(StrEnum):
    QUERY = "query"  # its meaning is close
    EXACT = "exact"  # the words stand there
    FUZZY = "fuzzy"  # words like these stand there
    RELATIONSHIP = "relationship"  # an edge of it was met
    NODE = "node"  # a node of it was met, or is among the hits
    OPEN = "open"  # nothing was looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    by: MetBy
    asked: str  # the query or the text that met it
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What each signal adds to the score; they add up to it."""

    semantic: float
    time: float
    salience: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    score: float
    parts: Parts
    similarity: float  # the best of all matches
    semantic: float  # what of it counts, after several queries are fused
    recency: float
    salience: float
    days_since_update: float
    matches: tuple[Match, ...]
