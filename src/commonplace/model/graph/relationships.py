"""What is known of types of relationship: whether it holds both ways, and for one at a time.

A type that is not here is taken as told: from one end to the other, as many as there are.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Relationship:
    is_mutual: bool = False  # the same from either end
    is_single: bool = False  # ``a`` has one at a time: another ends the one before
    inverse: str | None = None  # the same said from the other end; the one given here is kept
    undoes: str | None = None  # what is over by it, where that was told of the same two
    opposite: str | None = None  # of the same two not both hold at once
    ends_also: str | None = None  # when it is over, so is this


RELATIONSHIPS: dict[str, Relationship] = {
    "friend": Relationship(is_mutual=True),
    "colleague": Relationship(is_mutual=True),
    "neighbour": Relationship(is_mutual=True),
    "classmate": Relationship(is_mutual=True),
    "roommate": Relationship(is_mutual=True),
    "sibling": Relationship(is_mutual=True),
    "cousin": Relationship(is_mutual=True),
    "relative": Relationship(is_mutual=True),
    "acquaintance": Relationship(is_mutual=True),
    "rival": Relationship(is_mutual=True),
    "conflict": Relationship(is_mutual=True),
    "co-founder": Relationship(is_mutual=True),
    "competitor": Relationship(is_mutual=True),
    "partners-with": Relationship(is_mutual=True),
    "ex-partner": Relationship(is_mutual=True),
    "partner": Relationship(is_mutual=True, is_single=True, ends_also="spouse"),
    "spouse": Relationship(is_mutual=True, is_single=True),
    "works-at": Relationship(is_single=True),
    "lives-in": Relationship(is_single=True),
    "reports-to": Relationship(is_single=True),
    "studies-at": Relationship(is_single=True),
    "located-in": Relationship(is_single=True),
    "child-of": Relationship(),
    "likes": Relationship(opposite="dislikes"),
    "dislikes": Relationship(opposite="likes"),
    "manages": Relationship(inverse="reports-to"),
    "parent-of": Relationship(inverse="child-of"),
    "employs": Relationship(inverse="works-at"),
    "declined-offer": Relationship(undoes="works-at"),
}
_AS_TOLD = Relationship()


def relationship(type: str) -> Relationship:
    return RELATIONSHIPS.get(type, _AS_TOLD)


def spellings(type: str) -> tuple[str, ...]:
    """A type as it is kept, and those that say the same from the other end."""
    return (type, *(name for name, each in RELATIONSHIPS.items() if each.inverse == type))


def decided_with(type: str) -> tuple[str, ...]:
    """The types that are decided on together, of the same two: one contradicts or ends another."""
    kind = relationship(type)
    others = {kind.opposite, kind.ends_also, kind.undoes}
    others |= {
        name for name, each in RELATIONSHIPS.items() if type in (each.ends_also, each.undoes)
    }
    return (type, *sorted(other for other in others if other))


def as_kept(a: str, b: str, type: str) -> tuple[str, str, str]:
    """One form for what can be said from both ends. The ends of what is mutual are in order."""
    if inverse := relationship(type).inverse:
        a, b, type = b, a, inverse
    if relationship(type).is_mutual and b < a:
        a, b = b, a
    return a, b, type
