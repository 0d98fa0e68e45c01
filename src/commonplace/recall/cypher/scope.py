"""Which names a clause leaves behind for the next one: what `*` stands for. And which it may not
give again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from commonplace.recall.cypher.conditions import matchings_in
from commonplace.recall.cypher.tree import (
    Clause,
    Expression,
    Match,
    Path,
    Projection,
    Unwind,
    Variable,
)


def names_after(before: tuple[str, ...], clause: Clause) -> tuple[str, ...]:
    """In the order in which they were given. Upper and lower case alike, as the engine has it."""
    if isinstance(clause, Projection):
        return tuple(_names_of_items(clause))
    given = (clause.variable,) if isinstance(clause, Unwind) else names_of_paths(clause.paths)
    names: dict[str, str] = {}
    for name in (*before, *given):
        names.setdefault(name.lower(), name)
    return tuple(names.values())


def missing_after(before: frozenset[str], known: Iterable[str], clause: Clause) -> frozenset[str]:
    """The names, in lower case, of what may be null although it stands for a node or a
    relationship: an OPTIONAL MATCH did not find it, or it was made of something else."""
    if isinstance(clause, Projection):
        return frozenset(
            (item.name or item.told).lower()
            for item in clause.items
            if may_be_missing(item.expression, before)
        )
    if isinstance(clause, Unwind):
        return before | {clause.variable.lower()}
    found = {name.lower() for name in names_of_paths(clause.paths)} - {
        each.lower() for each in known
    }
    return before | found if clause.optional else before


def may_be_missing(expression: Expression, missing: frozenset[str]) -> bool:
    return not isinstance(expression, Variable) or expression.name.lower() in missing


def columns_of(part: Sequence[Clause]) -> list[str]:
    """As the caller spelt them."""
    last = part[-1]
    assert isinstance(last, Projection)
    return [item.name or item.told for item in last.items]


def named_again(before: Iterable[str], clause: Clause) -> str | None:
    """The first relationship of its patterns that has the name of something else. Cypher would
    match the same relationship again, which the engine cannot."""
    taken = {name.lower() for name in before}
    paths = clause.paths if isinstance(clause, Match) else ()
    for name in _relationships_in(paths):
        if name.lower() in taken:
            return name
        taken.add(name.lower())
    inner = (name for one in matchings_in(clause) for name in _relationships_in(one.paths))
    return next((name for name in inner if name.lower() in taken), None)


def _relationships_in(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        yield from (one.variable for one, _ in path.steps if one.variable)


def ways_of(paths: Iterable[Path]) -> frozenset[str]:
    """The names of paths and relationships, in lower case."""
    named = (path.variable for path in paths)
    steps = (relationship.variable for path in paths for relationship, _ in path.steps)
    return frozenset(name.lower() for name in (*named, *steps) if name)


def names_of_paths(paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(name for path in paths for name in _names_in(path) if name)


def _names_of_items(clause: Projection) -> Iterator[str]:
    for item in clause.items:
        if item.name:
            yield item.name
        elif isinstance(item.expression, Variable):
            yield item.expression.name


def _names_in(path: Path) -> Iterator[str | None]:
    yield path.variable
    yield path.start.variable
    for relationship, node in path.steps:
        yield relationship.variable
        yield node.variable
