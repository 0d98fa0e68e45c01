"""How much of each layer is said, for so many tokens. Pure: numbers in, places out.

Soul and rules are paid first, from the whole budget. Of what they leave, the stable layers have at
most a fixed share, however much or little the volatile ones hold: else a recalled line more or
less would reword the beginning of the prompt, and no prefix cache would hold. Stable layers are
filled in their order, so that each depends on those before it alone. A volatile layer has a share
of its own first, then what is left goes to the earlier ones: the later ones shrink first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from commonplace.recall.context.layers import Keep

STABLE_SHARE = 0.6  # of what soul and rules leave
BLOCK = 8  # at most so many make way together, and the beginning stands still in between
PATIENCE = 3  # too long ones in a row
LEAST_CUT = 6  # tokens of an item that are worth showing


class Costs(Protocol):
    """Of a layer's items, in the order they are shown. Asked one by one: counting is dear."""

    def __len__(self) -> int: ...
    def __getitem__(self, place: int, /) -> int: ...


@dataclass(frozen=True, slots=True)
class Wish:
    """What a layer would cost."""

    costs: Costs
    heading: int = 0
    keep: Keep = Keep.FIRST
    share: float = 0.0
    older: int = 0  # items that are older than the first of these and were not even asked for


@dataclass(frozen=True, slots=True)
class Kept:
    """Of a layer. ``cut``: the last item is shortened to so many tokens."""

    places: tuple[int, ...] = ()
    cost: int = 0
    cut: int | None = None


NOTHING = Kept()


def stable_room(budget: int, outranking: Sequence[Kept]) -> int:
    return int(max(0, budget - spent(outranking)) * STABLE_SHARE)


def spent(kept: Sequence[Kept]) -> int:
    return sum(each.cost for each in kept)


def share_out(wishes: Sequence[Wish], room: int) -> list[Kept]:
    """What each layer keeps; together they cost no more than the room."""
    kept = [_kept(wish, int(wish.share * room)) if wish.share else NOTHING for wish in wishes]
    for place, wish in enumerate(wishes):
        left = room - spent(kept)
        kept[place] = _kept(wish, kept[place].cost + left)
    return kept


def _kept(wish: Wish, room: int) -> Kept:
    left = room - wish.heading
    if left <= 0 or not len(wish.costs):
        return NOTHING
    match wish.keep:
        case Keep.WHOLE:
            found = _whole(wish.costs, left)
        case Keep.NEWEST:
            found = _newest(wish, left)
        case _:
            found = _first(wish.costs, left)
    return Kept(found.places, found.cost + wish.heading, found.cut) if found.places else NOTHING


def _first(costs: Costs, room: int) -> Kept:
    """In their order; one that is too long is left out, and does not stand in the others' way.
    When several in a row are, there is no room."""
    places: list[int] = []
    spent = missed = 0
    for place in range(len(costs)):
        if spent + costs[place] <= room:
            places.append(place)
            spent, missed = spent + costs[place], 0
        else:
            missed += 1
        if missed == PATIENCE:
            break
    return Kept(tuple(places), spent)


def _whole(costs: Costs, room: int) -> Kept:
    spent = 0
    for place in range(len(costs)):
        left = room - spent
        if costs[place] > left:
            before = tuple(range(place))
            if left < LEAST_CUT:
                return Kept(before, spent)
            return Kept((*before, place), room, left)
        spent += costs[place]
    return Kept(tuple(range(len(costs))), spent)


def _newest(wish: Wish, room: int) -> Kept:
    """The newest, from a place that moves in blocks: what comes is added at the end, and the
    beginning stays as it is until a whole block makes way."""
    places: list[int] = []
    spent, left_out = 0, -1  # the newest that there is no room for
    for place in range(len(wish.costs) - 1, -1, -1):
        cost = wish.costs[place]
        if cost > room:
            continue
        if spent + cost > room:
            left_out = place
            break
        places.append(place)
        spent += cost
    begins = _next_block(wish.older + left_out + 1, len(places)) - wish.older
    found = tuple(each for each in reversed(places) if each >= begins)
    return Kept(found, sum(wish.costs[each] for each in found))


def _next_block(number: int, fitting: int) -> int:
    """At most half of those that fit make way: 1, 2, 4 or 8 at a time, counted from the oldest."""
    block = 1
    while 2 * block <= min(BLOCK, fitting // 2):
        block *= 2
    return -(-number // block) * block
