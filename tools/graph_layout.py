"""Where the nodes of a small graph stand in a picture. Pure, and the same on every machine: nothing
but the four operations and square roots, which all machines round alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

Point = tuple[float, float]
Pair = tuple[str, str]

_ROUNDS = 300
_FAR = 3  # steps between two that nothing connects, as they are drawn
_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class Frame:
    width: float
    height: float
    margin: Point  # how much room a label needs around its middle


def placed(names: Sequence[str], edges: Iterable[Pair], frame: Frame) -> dict[str, Point]:
    """As far from one another as they are in the graph; then in the frame, and no label on another.

    Each node in turn goes where the others would have it (stress majorisation); that settles,
    from the same beginning always at the same place.
    """
    steps = _steps(names, edges)
    at = _around_a_square(names)
    for _ in range(_ROUNDS):
        for one in names:
            at[one] = _wanted(one, at, steps)
    return _apart(_into(at, frame), frame)


def _steps(names: Sequence[str], edges: Iterable[Pair]) -> dict[Pair, int]:
    """How many edges lie between any two."""
    beside: dict[str, set[str]] = {name: set() for name in names}
    for a, b in edges:
        beside[a].add(b)
        beside[b].add(a)
    found: dict[Pair, int] = {}
    for start in names:
        reached, edge_of_it, depth = {start}, {start}, 0
        while edge_of_it:
            found |= {(start, other): depth for other in edge_of_it}
            edge_of_it = {far for near in edge_of_it for far in beside[near]} - reached
            reached |= edge_of_it
            depth += 1
        found |= {(start, other): _FAR for other in names if other not in reached}
    return found


def _around_a_square(names: Sequence[str]) -> dict[str, Point]:
    """No two at one place, and no three in one line for long."""
    side = len(names)
    return {
        name: (float(place * place % (4 * side)), float(place * (place + 3) % (3 * side + 1)))
        for place, name in enumerate(names)
    }


def _wanted(one: str, at: Mapping[str, Point], steps: Mapping[Pair, int]) -> Point:
    total = x = y = 0.0
    for other, (ox, oy) in at.items():
        if other == one:
            continue
        steps_apart = steps[one, other]
        dx, dy = at[one][0] - ox, at[one][1] - oy
        length = max(sqrt(dx * dx + dy * dy), _LEAST)
        weight = 1.0 / (steps_apart * steps_apart)
        total += weight
        x += weight * (ox + steps_apart * dx / length)
        y += weight * (oy + steps_apart * dy / length)
    return (x / total, y / total) if total else at[one]


def _into(at: Mapping[str, Point], frame: Frame) -> dict[str, Point]:
    left, top = (min(point[axis] for point in at.values()) for axis in (0, 1))
    right, bottom = (max(point[axis] for point in at.values()) for axis in (0, 1))
    (mx, my) = frame.margin
    sx = (frame.width - 2 * mx) / max(right - left, _LEAST)
    sy = (frame.height - 2 * my) / max(bottom - top, _LEAST)
    return {name: (mx + (x - left) * sx, my + (y - top) * sy) for name, (x, y) in at.items()}


def _apart(at: Mapping[str, Point], frame: Frame) -> dict[str, Point]:
    """Labels are wide and low: who stands too near moves up or down."""
    (mx, my), placed_at = frame.margin, dict(at)
    for _ in range(_ROUNDS):
        for one in placed_at:
            for other in placed_at:
                (x, y), (ox, oy) = placed_at[one], placed_at[other]
                if one == other or abs(x - ox) >= 2 * mx or abs(y - oy) >= 2 * my:
                    continue
                up = -1.0 if (y, one) < (oy, other) else 1.0
                placed_at[one] = (x, min(max(y + up, my), frame.height - my))
                placed_at[other] = (ox, min(max(oy - up, my), frame.height - my))
    return {name: (round(x), round(y)) for name, (x, y) in placed_at.items()}
