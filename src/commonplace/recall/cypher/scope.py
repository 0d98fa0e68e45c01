"""Which names a clause leaves behind for the next one: what `*` stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commonplace.recall.cypher.tree import Clause, Path, Projection, Unwind, Variable


def names_after(before: tuple[str, ...], clause: Clause) -> tuple[str, ...]:
    """In the order in which they were given. Upper and lower case alike, as the engine has it."""
    if isinstance(clause, Projection):
        return tuple(_names_of_items(clause))
    given = (clause.variable,) if isinstance(clause, Unwind) else names_of_paths(clause.paths)
    names: dict[str, str] = {}
    for name in (*before, *given):
        names.setdefault(name.lower(), name)
    return tuple(names.values())


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
