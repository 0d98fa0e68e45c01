"""What a MATCH asks, taken apart into single conditions, and what each of them names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import reduce

from commonplace.recall.cypher.tree import (
    Clause,
    Expression,
    Joined,
    Matching,
    NodePattern,
    Property,
    RelationshipPattern,
    Variable,
)


def conditions_of(where: Expression | None) -> Iterator[Expression]:
    """a AND b AND c, one by one."""
    waiting = [where] if where is not None else []
    while waiting:
        one = waiting.pop()
        if isinstance(one, Joined) and one.sign == "AND":
            waiting += [one.right, one.left]
        else:
            yield one


def properties_of(one: NodePattern | RelationshipPattern) -> Iterator[Expression]:
    """-[r {attitude: 5}]- as conditions. What has properties has a name."""
    for key, value in one.properties.items if one.properties else ():
        assert one.variable is not None
        yield Joined(Property(Variable(one.variable), key), "=", value)


def names_in(expression: Expression) -> Iterator[str]:
    """In lower case; the nodes of its patterns as well."""
    for part in parts_of(expression):
        if isinstance(part, Variable):
            yield part.name.lower()
        elif isinstance(part, NodePattern) and part.variable:
            yield part.variable.lower()


def matchings_in(clause: Clause) -> Iterator[Matching]:
    return (part for part in parts_of(clause) if isinstance(part, Matching))


def parts_of(whole: Expression | Clause) -> Iterator[object]:
    """All that it is made of. Not by recursion: what is read may be nested deeper than Python's
    calls."""
    waiting: list[object] = [whole]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, tuple):
            waiting += part
        elif is_dataclass(part):
            waiting += [getattr(part, field.name) for field in fields(part)]


def all_of(conditions: Sequence[Expression]) -> Expression | None:
    return reduce(lambda a, b: Joined(a, "AND", b), conditions) if conditions else None
