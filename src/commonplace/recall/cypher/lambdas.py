"""Lists that are gone through item by item, within one another: what the engine cannot do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commonplace.errors import BadCypher
from commonplace.recall.cypher.conditions import names_in, parts_of
from commonplace.recall.cypher.tree import Comprehension, Expression, Quantified, Reduced


def check_within(around: Iterable[str], variable: str, asked: Iterable[Expression | None]) -> None:
    """The engine does not find the variable of an outer list within what is asked of an inner."""
    outer = {name for name in around if name != variable.lower()}
    named = (name for each in asked if each is not None for name in names_in(each))
    if (name := next((name for name in named if name in outer), None)) is not None:
        raise BadCypher(
            f"A list within a list cannot ask of {name}, which goes through the outer one.",
            remedy=f"UNWIND the outer list AS {name} first, and collect(…) what comes of it.",
        )


def check_reduced(items: Expression) -> None:
    """Over items that are made with the values of a row, the engine takes those of other rows."""
    for made in _made_in(items):
        asked = [each for each in _asked_of(made) if each is not None]
        own = {each.variable.lower() for each in _made_in(items)}
        if any(name not in own for each in asked for name in names_in(each)):
            raise BadCypher(
                "reduce() cannot go through a list that is made of other values on the spot.",
                remedy="Make the list before: WITH …, [x IN … | …] AS xs, and reduce that.",
            )


def _made_in(items: Expression) -> Iterator[Comprehension | Quantified | Reduced]:
    for part in parts_of(items):
        if isinstance(part, Comprehension | Quantified | Reduced):
            yield part


def _asked_of(made: Comprehension | Quantified | Reduced) -> tuple[Expression | None, ...]:
    if isinstance(made, Comprehension):
        return made.where, made.result
    return (made.where,) if isinstance(made, Quantified) else (made.step,)
