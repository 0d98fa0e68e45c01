"""Types of nodes, kinds of edges, and the words for how close and how friendly an edge is."""

from __future__ import annotations

from enum import StrEnum


class NodeType(StrEnum):
    PERSON = "Person"  # one individual; a group is an Entity
    CONCEPT = "Concept"  # an idea, a topic, a goal, a preference
    ENTITY = "Entity"  # a thing with a name: organisation, place, project, product, event


CATEGORY = {
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


_ORDER = tuple(NodeType)
_KINDS = {
    (NodeType.PERSON, NodeType.PERSON): EdgeKind.HAS_RELATIONSHIP_WITH,
    (NodeType.PERSON, NodeType.CONCEPT): EdgeKind.ENGAGES_WITH,
    (NodeType.PERSON, NodeType.ENTITY): EdgeKind.ASSOCIATED_WITH,
    (NodeType.CONCEPT, NodeType.CONCEPT): EdgeKind.RELATES_TO,
    (NodeType.CONCEPT, NodeType.ENTITY): EdgeKind.INVOLVES,
    (NodeType.ENTITY, NodeType.ENTITY): EdgeKind.CONNECTED_TO,
}

UNMARKED = 3  # what attitude and proximity are while nothing says otherwise


def kind_between(one: NodeType, other: NodeType) -> EdgeKind:
    first, second = sorted((one, other), key=_ORDER.index)
    return _KINDS[first, second]


def is_in_order(one: NodeType, other: NodeType) -> bool:
    """Whether an edge between them begins at ``one``: a Person before a Concept before an Entity.
    Ends of one type stay as they were told."""
    return _ORDER.index(one) <= _ORDER.index(other)


def attitude_word(kind: EdgeKind, attitude: int) -> str:
    return _WORDS[kind][0][attitude - 1]


def proximity_word(kind: EdgeKind, proximity: int) -> str:
    return _WORDS[kind][1][proximity - 1]


_WORDS: dict[EdgeKind, tuple[tuple[str, ...], tuple[str, ...]]] = {
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
