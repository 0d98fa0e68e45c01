"""Places of storylines that a question asks for: before other hits, after what is newer.

A storyline is written at night. What was said since its last source is newer, so the newest of it
comes first. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from commonplace.engine.search.pack import Hit
from commonplace.language.text.terms import analyse

MAX_NEWER = 2  # newer hits before the storyline
_LESS = 1e-6  # scores are rounded to this
_KNOWLEDGE = ("node", "edge", "artifact")  # computed: their dates tell of no event
_PART = "newest"  # what a place adds to a score


@dataclass(frozen=True, slots=True)
class StorySubject:
    """What the stories tell of."""

    told_at: datetime  # the date of the last of their sources
    names: Collection[frozenset[str]] = ()  # the terms of each name; empty: everything
    sources: Collection[str] = ()  # that mention it
    said_at: Mapping[str, datetime] = field(default_factory=dict)  # of sources; a memory is later


def place_stories(hits: Sequence[Hit], stories: Sequence[Hit], subject: StorySubject) -> list[Hit]:
    """``hits``: the others, best first."""
    newer = _find_newer(hits, subject)
    rest = [hit for hit in hits if hit not in newer]
    first = [*(replace(hit, weak=False) for hit in newer), *stories]
    score, placed = (rest[0].score if rest else 0.0), []
    for hit in reversed(first):
        raised = _raise(hit, round(score + _LESS, 6))
        score = raised.score
        placed.append(raised)
    return [*reversed(placed), *rest]


def _find_newer(hits: Sequence[Hit], subject: StorySubject) -> list[Hit]:
    """One of each source, the newest first."""
    found: dict[str, Hit] = {}
    said = [hit for hit in hits if hit.kind not in _KNOWLEDGE]
    for hit in (each for each in said if _is_newer(each, subject)):
        found.setdefault(hit.citation.source if hit.citation else hit.id, hit)
    return sorted(found.values(), key=lambda hit: hit.date, reverse=True)[:MAX_NEWER]


def _is_newer(hit: Hit, subject: StorySubject) -> bool:
    source = hit.citation.source if hit.citation else ""
    is_later = subject.said_at.get(source, hit.date) > subject.told_at
    if not is_later or not subject.names:
        return is_later
    said = frozenset(analyse(hit.text))
    return source in subject.sources or any(name <= said for name in subject.names)


def _raise(hit: Hit, least: float) -> Hit:
    if hit.score >= least:
        return hit
    parts = None if hit.parts is None else {**hit.parts, _PART: round(least - hit.score, 6)}
    return replace(hit, score=least, parts=parts)
