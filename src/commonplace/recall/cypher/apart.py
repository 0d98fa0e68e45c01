"""What a MATCH asks of its relationships, put so that the engine answers it rightly.

Where a condition on one relationship can be judged before the step to the next, the engine takes
that step from the wrong rows. Most patterns are therefore asked for step by step (stepwise.py).
Those that cannot be, since they are optional, have a name or go several hops, are *judged last*:
what is asked of their relationships becomes one condition, which names every relationship, and so
is judged after the last step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from commonplace.recall.cypher.circles import has_circle, opened
from commonplace.recall.cypher.conditions import all_of, conditions_of, names_in, properties_of
from commonplace.recall.cypher.repeats import (
    Patterns,
    Place,
    number,
    relationships,
    rivals,
    same,
)
from commonplace.recall.cypher.tree import Expression, Match, Path


@dataclass(frozen=True, slots=True)
class Asked:
    paths: Sequence[Path]
    early: Expression | None  # of nodes: the sooner it is judged, the better
    late: Expression | None  # of relationships
    repeats: Sequence[str]  # none of it may be true; in the engine's words


def told_apart(
    paths: Sequence[Path], where: Expression | None, ways: Collection[str], unnamed: Iterator[str]
) -> Asked:
    """``ways``: names of relationships and paths, in lower case. ``unnamed``: names for what has
    none, which no caller can write."""
    met = relationships(paths)
    pairs = rivals(met)
    steps = [place for place, one in met.items() if one.hops is None]
    early, late = _split(where, ways)
    asks = late or has_circle(paths) or any(one.properties for one in met.values())
    if not pairs and (len(steps) < 2 or not asks):
        return Asked(paths, where, None, ())
    paths, circles = opened(paths, unnamed)
    late += circles
    compared = {place for pair in pairs for place in pair}
    named = _named(met, {*steps, *compared}, unnamed)
    late += [condition for one in named.values() for condition in properties_of(one)]
    repeats = [same(named[a], named[b]) for a, b in pairs]
    repeats += [f"{number(named[place])} IS NULL" for place in sorted(set(steps) - compared)]
    return Asked(_with(paths, named), all_of(early), all_of(late), repeats)


def must_part(run: Sequence[Match], following: Match) -> bool:
    """Whether the engine must not look at ``following`` together with the MATCH clauses just
    before it, since it would judge one of them before the steps of another."""
    if following.optional or not run:
        return False
    before = sum(len(relationships(one.paths)) for one in run)
    after = len(relationships(following.paths))
    if before == 0 or before + after < 2:
        return False
    together = (*run, following)
    asks = any(one.where or _asks_by_itself(one) for one in together)
    return asks or has_circle([path for one in together for path in one.paths])


def _asks_by_itself(match: Match) -> bool:
    met = relationships(match.paths)
    return len(met) > 1 or any(each.properties for each in met.values())


def _split(
    where: Expression | None, ways: Collection[str]
) -> tuple[list[Expression], list[Expression]]:
    """What is asked of nodes, and what is asked of relationships as well."""
    early: list[Expression] = []
    late: list[Expression] = []
    for condition in conditions_of(where):
        (late if any(name in ways for name in names_in(condition)) else early).append(condition)
    return early, late


def _named(met: Patterns, needing: Collection[Place], unnamed: Iterator[str]) -> Patterns:
    return {
        place: replace(one, variable=next(unnamed))
        if place in needing and one.variable is None
        else one
        for place, one in met.items()
    }


def _with(paths: Iterable[Path], named: Patterns) -> list[Path]:
    """Their properties are conditions now."""
    bare = {place: replace(one, properties=None) for place, one in named.items()}
    return [
        replace(
            path,
            steps=tuple(
                (bare.get((at, step), one), node) for step, (one, node) in enumerate(path.steps)
            ),
        )
        for at, path in enumerate(paths)
    ]
