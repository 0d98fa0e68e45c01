"""What a source tells of relations now, beside what it told when it was last taken in: which of
them are the same. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from commonplace.model.graph.telling import EdgeTelling

CommonEnds = Callable[[EdgeTelling, EdgeTelling], int]  # how many are the same by now


@dataclass(frozen=True, slots=True)
class TellingAgain:
    telling: EdgeTelling
    is_out: bool  # it was taken out by hand, and no new sentence tells it


class _Likeness(NamedTuple):
    ends: int  # how many are the same
    worded: bool = False  # in the same words
    there: bool = False  # in the same passage


_MOST_LIKE_FIRST = (
    _Likeness(2, worded=True, there=True),
    _Likeness(2, worded=True),
    _Likeness(2, there=True),
    _Likeness(1, there=True),
    _Likeness(2),
)


def told_before(
    found: Sequence[TellingAgain], before: Sequence[EdgeTelling], common_ends: CommonEnds
) -> list[EdgeTelling | None]:
    """For each which one told it before: the very same, or else each for one, and rather the one
    that is most like it. What was taken out takes no other's place."""
    again = [_the_same(each.telling, before, common_ends) for each in found]
    told = {known.id for known in again if known is not None}
    free = [known for known in before if known.id not in told]
    for likeness in _MOST_LIKE_FIRST:
        for place, each in enumerate(found):
            if again[place] is not None or (each.is_out and likeness.ends < 2):
                continue
            like = [k for k in free if _is_like(each.telling, k, likeness, common_ends)]
            if like:
                free.remove(like[0])
                again[place] = like[0]
    return again


def reworded(known: EdgeTelling, telling: EdgeTelling) -> EdgeTelling:
    """Its edge stays the one that it was. What is more than another wording is known only now."""
    after = _as_known(known, telling)
    if replace(after, a=known.a, b=known.b) == known:
        return known
    worded = replace(
        known,
        a=after.a,
        b=after.b,
        source=after.source,
        description=after.description,
        confidence=after.confidence,
    )
    return after if after == worded else replace(after, recorded_at=telling.recorded_at)


def _the_same(
    telling: EdgeTelling, before: Sequence[EdgeTelling], common_ends: CommonEnds
) -> EdgeTelling | None:
    for known in before:
        same = replace(_as_known(known, telling), a=known.a, b=known.b)
        if same == known and common_ends(telling, known) == 2:
            return known
    return None


def _is_like(
    telling: EdgeTelling, known: EdgeTelling, likeness: _Likeness, common_ends: CommonEnds
) -> bool:
    return (
        (telling.type, telling.ends) == (known.type, known.ends)
        and common_ends(telling, known) >= likeness.ends
        and (not likeness.worded or telling.description == known.description)
        and (not likeness.there or _passage(telling) == _passage(known))
    )


def _as_known(known: EdgeTelling, telling: EdgeTelling) -> EdgeTelling:
    return replace(telling, id=known.id, edge=known.edge, recorded_at=known.recorded_at)


def _passage(telling: EdgeTelling) -> int | None:
    return telling.source.passage if telling.source else None
