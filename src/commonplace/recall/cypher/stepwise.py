"""A MATCH of several relationships, asked for one relationship at a time.

The engine judges a condition rightly on the last relationship of a pattern alone (apart.py), and
goes wrong on patterns that lead back to where they have been (circles.py). So each relationship
gets a MATCH of its own, and all that can be asked by then is asked there, before the next step; a
WITH between them keeps the engine from looking at them together.

    (a)-[r]-()-[s]-(c) WHERE r.attitude > 3

becomes MATCH (a)-[r]-(1) WHERE r.attitude > 3 WITH a, r, 1 MATCH (1)-[s]-(c) WHERE NOT r = s.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from commonplace.recall.cypher.circles import has_circle
from commonplace.recall.cypher.conditions import conditions_of, names_in, properties_of
from commonplace.recall.cypher.repeats import overlap, relationships, rivals, same
from commonplace.recall.cypher.scope import names_of_paths
from commonplace.recall.cypher.tree import Expression, Match, NodePattern, Path


@dataclass(frozen=True, slots=True)
class Step:
    path: Path  # of one relationship, or of none
    conditions: Sequence[Expression]  # that can be judged now
    repeats: Sequence[str]  # none of it may be true; in the engine's words


def goes_stepwise(match: Match, ways: Collection[str]) -> bool:
    """Whether the engine would go wrong, and it can be taken apart. A path of several hops cannot:
    by itself, it would be looked for from everywhere."""
    met = relationships(match.paths)
    if match.optional or len(met) < 2 or not all(_can_be_cut(path) for path in match.paths):
        return False
    if has_circle(match.paths) or any(one.properties for one in met.values()):
        return True
    asked = (name for condition in conditions_of(match.where) for name in names_in(condition))
    return any(name in ways for name in asked)


def _can_be_cut(path: Path) -> bool:
    if path.shortest or any(one.hops for one, _ in path.steps):
        return False
    return path.variable is None or len(path.steps) < 2


def stepwise(match: Match, known: Iterable[str], unnamed: Iterator[str]) -> Iterator[Step]:
    """``known``: names of the clauses before. ``unnamed``: names for what has none, which no
    caller can write."""
    paths = [_named(path, unnamed) for path in match.paths]
    rivals(relationships(paths))  # that there are not too many
    cut = [piece for path in paths for piece in _cut(path)]
    given = _lower(cut)
    waiting = [(one, set(names_in(one)) & given) for one in _conditions(paths, match.where)]
    done: list[Path] = []
    for piece in _in_order(cut, [names for _, names in waiting], known):
        done.append(piece)
        bound = _lower(done)
        ready = [one for one, names in waiting if names <= bound]
        waiting = [(one, names) for one, names in waiting if not names <= bound]
        yield Step(_bare(piece), ready, _repeats(done))


def _named(path: Path, unnamed: Iterator[str]) -> Path:
    def node(one: NodePattern) -> NodePattern:
        return one if one.variable else replace(one, variable=next(unnamed))

    start = node(path.start)
    steps = tuple(
        (one if one.variable else replace(one, variable=next(unnamed)), node(end))
        for one, end in path.steps
    )
    return replace(path, start=start, steps=steps)


def _cut(path: Path) -> Iterator[Path]:
    if len(path.steps) < 2:
        yield path
        return
    start = path.start
    for step in path.steps:
        yield Path(None, start, (step,))
        start = step[1]


def _conditions(paths: Iterable[Path], where: Expression | None) -> list[Expression]:
    """Those of WHERE, and the properties of the patterns."""
    found = list(conditions_of(where))
    for path in paths:
        found += properties_of(path.start)
        for one, end in path.steps:
            found += [*properties_of(one), *properties_of(end)]
    return found


def _bare(piece: Path) -> Path:
    """Their properties are conditions now."""
    steps = tuple(
        (replace(one, properties=None), replace(end, properties=None)) for one, end in piece.steps
    )
    return replace(piece, start=replace(piece.start, properties=None), steps=steps)


def _in_order(
    cut: Sequence[Path], wanted: Sequence[set[str]], known: Iterable[str]
) -> Iterator[Path]:
    """First that of which most is asked, then what hangs together with it: the fewer rows each
    step begins with, the better. ``wanted``: the names in each condition."""
    left = {number: _lower([piece]) for number, piece in enumerate(cut)}
    bound = {name.lower() for name in known}

    def worth(number: int) -> tuple[bool, int]:
        then = bound | left[number]
        judged = [names for names in wanted if names <= then and not names <= bound]
        return not bound.isdisjoint(left[number]), len(judged)

    while left:
        best = max(left, key=worth)  # the first of those that are worth the same
        bound |= left.pop(best)
        yield cut[best]


def _repeats(done: Sequence[Path]) -> list[str]:
    """The relationship of the last one, compared with those before it."""
    before = [one for path in done[:-1] for one, _ in path.steps]
    return [same(one, new) for new, _ in done[-1].steps for one in before if overlap(one, new)]


def _lower(paths: Iterable[Path]) -> set[str]:
    return {name.lower() for name in names_of_paths(paths)}
