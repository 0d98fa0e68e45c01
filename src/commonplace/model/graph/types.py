"""Graph types: node types, edge kinds, relationship types; comparison of names.

A relationship type that is not listed is directed and multi-valued.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class NodeType(StrEnum):
    PERSON = "Person"  # one individual; a group is an Entity
    CONCEPT = "Concept"  # an idea, a topic, a goal, a preference
    ENTITY = "Entity"  # a thing with a name: organisation, place, project, product, event


NODE_CATEGORY = {
    NodeType.PERSON: "relationships",
    NodeType.CONCEPT: "interests",
    NodeType.ENTITY: "knowledge",
}


class EdgeKind(StrEnum):
    """Follows from the types of the two ends."""

    HAS_RELATIONSHIP_WITH = "has_relationship_with"
    ENGAGES_WITH = "engages_with"
    ASSOCIATED_WITH = "associated_with"
    RELATES_TO = "relates_to"
    INVOLVES = "involves"
    CONNECTED_TO = "connected_to"


_TYPE_ORDER = tuple(NodeType)
_EDGE_KINDS = {
    (NodeType.PERSON, NodeType.PERSON): EdgeKind.HAS_RELATIONSHIP_WITH,
    (NodeType.PERSON, NodeType.CONCEPT): EdgeKind.ENGAGES_WITH,
    (NodeType.PERSON, NodeType.ENTITY): EdgeKind.ASSOCIATED_WITH,
    (NodeType.CONCEPT, NodeType.CONCEPT): EdgeKind.RELATES_TO,
    (NodeType.CONCEPT, NodeType.ENTITY): EdgeKind.INVOLVES,
    (NodeType.ENTITY, NodeType.ENTITY): EdgeKind.CONNECTED_TO,
}

NEUTRAL = 3  # the default of attitude and proximity


def edge_kind_between(one: NodeType, other: NodeType) -> EdgeKind:
    first, second = sorted((one, other), key=_TYPE_ORDER.index)
    return _EDGE_KINDS[first, second]


def is_type_order(one: NodeType, other: NodeType) -> bool:
    """Whether an edge between them begins at ``one``: Person before Concept before Entity. Ends of
    the same type keep their given order."""
    return _TYPE_ORDER.index(one) <= _TYPE_ORDER.index(other)


def attitude_word(kind: EdgeKind, attitude: int) -> str:
    return _DEGREE_WORDS[kind][0][attitude - 1]


def proximity_word(kind: EdgeKind, proximity: int) -> str:
    return _DEGREE_WORDS[kind][1][proximity - 1]


_DEGREE_WORDS: dict[EdgeKind, tuple[tuple[str, ...], tuple[str, ...]]] = {
    EdgeKind.HAS_RELATIONSHIP_WITH: (
        ("hostile", "unfriendly", "neutral", "friendly", "close"),
        ("stranger", "acquaintance", "familiar", "known-well", "intimate-knowledge"),
    ),
    EdgeKind.ENGAGES_WITH: (
        ("dislikes", "skeptical", "neutral", "interested", "passionate"),
        ("unfamiliar", "aware", "understands", "experienced", "expert"),
    ),
    EdgeKind.ASSOCIATED_WITH: (
        ("negative-view", "unfavorable", "neutral", "favorable", "strongly-positive"),
        ("distant", "aware-of", "familiar-with", "involved-with", "deeply-connected"),
    ),
    EdgeKind.RELATES_TO: (
        ("contradicts", "conflicts", "independent", "complementary", "integral"),
        ("loosely-related", "somewhat-related", "related", "closely-related", "inseparable"),
    ),
    EdgeKind.INVOLVES: (
        ("peripheral", "minor", "relevant", "important", "central"),
        ("tangential", "mentioned", "involved", "key-component", "essential"),
    ),
    EdgeKind.CONNECTED_TO: (
        ("adversarial", "competing", "independent", "cooperative", "integrated"),
        (
            "distantly-connected",
            "indirectly-connected",
            "connected",
            "closely-linked",
            "tightly-coupled",
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class RelationshipType:
    is_mutual: bool = False  # symmetric
    is_single: bool = False  # single-valued: ``a`` has one at a time, a new one ends the previous
    inverse: str | None = None  # the type as seen from the other end, which is the stored one
    same_as: str | None = None  # the stored word for it
    undoes: str | None = None  # it ends this type between the same two nodes
    opposite: str | None = None  # cannot hold at the same time between the same two nodes
    ends_also: str | None = None  # this type ends together with it


RELATIONSHIP_TYPES: dict[str, RelationshipType] = {
    "friend": RelationshipType(is_mutual=True),
    "colleague": RelationshipType(is_mutual=True),
    "neighbour": RelationshipType(is_mutual=True),
    "classmate": RelationshipType(is_mutual=True),
    "roommate": RelationshipType(is_mutual=True),
    "sibling": RelationshipType(is_mutual=True),
    "cousin": RelationshipType(is_mutual=True),
    "relative": RelationshipType(is_mutual=True),
    "acquaintance": RelationshipType(is_mutual=True),
    "rival": RelationshipType(is_mutual=True),
    "conflict": RelationshipType(is_mutual=True),
    "co-founder": RelationshipType(is_mutual=True),
    "competitor": RelationshipType(is_mutual=True),
    "partners-with": RelationshipType(is_mutual=True),
    "ex-partner": RelationshipType(is_mutual=True),
    "partner": RelationshipType(is_mutual=True, is_single=True, ends_also="spouse"),
    "spouse": RelationshipType(is_mutual=True, is_single=True),
    "works-at": RelationshipType(is_single=True),
    "lives-in": RelationshipType(is_single=True),
    "reports-to": RelationshipType(is_single=True),
    "studies-at": RelationshipType(is_single=True),
    "located-in": RelationshipType(is_single=True),
    "child": RelationshipType(),
    "child-of": RelationshipType(same_as="child"),
    "grandchild-of": RelationshipType(same_as="grandchild"),
    "likes": RelationshipType(opposite="dislikes"),
    "dislikes": RelationshipType(opposite="likes"),
    "manages": RelationshipType(inverse="reports-to"),
    "parent-of": RelationshipType(inverse="child"),
    "employs": RelationshipType(inverse="works-at"),
    "declined-offer": RelationshipType(undoes="works-at"),
}
_DEFAULT_TYPE = RelationshipType()


def relationship_type(type: str) -> RelationshipType:
    return RELATIONSHIP_TYPES.get(type, _DEFAULT_TYPE)


def stored_type(type: str) -> str:
    """The word under which it is stored: "child" for "child-of"."""
    return relationship_type(type).same_as or type


def equivalent_types(type: str) -> tuple[str, ...]:
    """A stored type, other words for it, and its inverses."""
    known = RELATIONSHIP_TYPES.items()
    return (type, *(name for name, each in known if type in (each.inverse, each.same_as)))


def interacting_types(type: str) -> tuple[str, ...]:
    """The type and those that contradict or end it, or that it ends, between the same two nodes."""
    kind = relationship_type(type)
    others = {kind.opposite, kind.ends_also, kind.undoes}
    others |= {
        name for name, each in RELATIONSHIP_TYPES.items() if type in (each.ends_also, each.undoes)
    }
    return (type, *sorted(other for other in others if other))


def canonical_relationship(a: str, b: str, type: str) -> tuple[str, str, str]:
    """The stored form: inverse types are turned around, the ends of mutual types are sorted."""
    type = stored_type(type)
    if inverse := relationship_type(type).inverse:
        a, b, type = b, a, inverse
    if relationship_type(type).is_mutual and b < a:
        a, b = b, a
    return a, b, type


_DESCRIPTION = re.compile(
    r"^(?:my|our|your|his|her|their|the|a|an)\s|['’]s\s|\s(?:of|from|at)\s|\sשל(?:י|נו|ו|ה|ך)?(?:\s|$)",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"['’]s\s|s['’]\s|\sשל\s", re.IGNORECASE)


def comparable_name(name: str) -> str:
    """The comparison key of a name: case-folded, with single spaces."""
    return " ".join(name.casefold().split())


def names_someone_else(name: str) -> bool:
    """Whether it is a possessive such as "Sarah's husband": it contains another person's name."""
    return _POSSESSIVE.search(name) is not None


def is_description(name: str) -> bool:
    """Whether it describes instead of naming: no part of it is a name of the one described."""
    return _DESCRIPTION.search(name) is not None
