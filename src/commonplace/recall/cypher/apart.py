"""What a MATCH asks of its relationships, put so that the engine answers it rightly.

*None is matched twice* within one MATCH: Cypher says so, and the engine does not. So whoever asks
for the colleagues of Bob's colleagues does not get Bob. The next MATCH may well match one again,
and so may a shortest path, which is looked for by itself.

*They are judged last.* Where a condition on one relationship can be judged before the step to the
next, the engine takes that step from the wrong rows. So such conditions become one, which names
every relationship, and so is judged after the last step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import reduce
from itertools import combinations

from commonplace.errors import BadCypher
from commonplace.recall.cypher.tree import (
    Clause,
    Expression,
    Joined,
    Match,
    Path,
    Property,
    RelationshipPattern,
    Variable,
)
from commonplace.recall.cypher.values import quoted

MOST = 20  # relationships of one MATCH: each is compared with each

Place = tuple[int, int]  # which path, and which step of it
Patterns = dict[Place, RelationshipPattern]


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
    met = _relationships(paths)
    if len(met) > MOST:
        raise BadCypher(
            f"A MATCH has {len(met)} relationships; the limit is {MOST}.",
            remedy="Write it as several MATCH clauses.",
        )
    rivals = [(a, b) for a, b in combinations(met, 2) if _overlap(met[a], met[b])]
    steps = [place for place, one in met.items() if one.hops is None]
    early, late = _split(where, ways)
    if not rivals and (len(steps) < 2 or not (late or any(one.properties for one in met.values()))):
        return Asked(paths, where, None, ())
    named = _named(met, {*steps, *(place for pair in rivals for place in pair)}, unnamed)
    late += [condition for one in named.values() for condition in _properties(one)]
    alone = set(steps) - {place for pair in rivals for place in pair}
    repeats = [_same(named[a], named[b]) for a, b in rivals]
    repeats += [f"{_number(named[place])} IS NULL" for place in sorted(alone)]
    return Asked(_with(paths, named), _all_of(early), _all_of(late), repeats)


def must_part(one: Clause | None, following: Clause) -> bool:
    """Whether the engine must not look at both together, since it would judge one of them before
    the steps of the other."""
    if not isinstance(one, Match) or not isinstance(following, Match) or following.optional:
        return False
    asks = any(each.where or _asks_by_itself(each) for each in (one, following))
    return asks and bool(_relationships(one.paths)) and bool(_relationships(following.paths))


def _asks_by_itself(match: Match) -> bool:
    met = _relationships(match.paths)
    return len(met) > 1 or any(each.properties for each in met.values())


def _relationships(paths: Sequence[Path]) -> Patterns:
    return {
        (at, step): one
        for at, path in enumerate(paths)
        if path.shortest is None
        for step, (one, _) in enumerate(path.steps)
    }


# ——— conditions ———


def _split(
    where: Expression | None, ways: Collection[str]
) -> tuple[list[Expression], list[Expression]]:
    """What is asked of nodes, and what is asked of relationships as well."""
    early: list[Expression] = []
    late: list[Expression] = []
    for condition in _conditions(where):
        (late if any(name in ways for name in _names_in(condition)) else early).append(condition)
    return early, late


def _conditions(where: Expression | None) -> Iterator[Expression]:
    waiting = [where] if where is not None else []
    while waiting:
        one = waiting.pop()
        if isinstance(one, Joined) and one.sign == "AND":
            waiting += [one.right, one.left]
        else:
            yield one


def _names_in(expression: Expression) -> Iterator[str]:
    """Not by recursion: what is read may be nested deeper than Python's calls."""
    waiting: list[object] = [expression]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Variable):
            yield part.name.lower()
        elif isinstance(part, tuple):
            waiting += part
        elif is_dataclass(part):
            waiting += [getattr(part, field.name) for field in fields(part)]


def _all_of(conditions: Sequence[Expression]) -> Expression | None:
    return reduce(lambda a, b: Joined(a, "AND", b), conditions) if conditions else None


def _properties(one: RelationshipPattern) -> Iterator[Expression]:
    """-[r {attitude: 5}]- as conditions."""
    for key, value in one.properties.items if one.properties else ():
        yield Joined(Property(Variable(_name(one)), key), "=", value)


# ——— names ———


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


def _name(one: RelationshipPattern) -> str:
    assert one.variable is not None
    return one.variable


# ——— the same one twice ———


def _overlap(one: RelationshipPattern, other: RelationshipPattern) -> bool:
    return not (one.types and other.types) or bool(set(one.types) & set(other.types))


def _same(one: RelationshipPattern, other: RelationshipPattern) -> str:
    """By the engine's own numbers: it compares no lists of relationships of unlike types."""
    if one.hops and other.hops:
        return f"list_has_any({_numbers(one)}, {_numbers(other)})"
    if one.hops or other.hops:
        several, single = (one, other) if one.hops else (other, one)
        return f"list_contains({_numbers(several)}, {_number(single)})"
    return f"{_number(one)} = {_number(other)}"


def _number(one: RelationshipPattern) -> str:
    return f"id({quoted(_name(one))})"


def _numbers(one: RelationshipPattern) -> str:
    return f"properties(rels({quoted(_name(one))}), '_id')"
