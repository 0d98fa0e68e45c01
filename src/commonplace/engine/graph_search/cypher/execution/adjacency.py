"""The relationships of a node in the direction that a pattern asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from commonplace.engine.graph_search.cypher.execution.planning import PatternHop
from commonplace.engine.graph_search.cypher.values import CypherNode, CypherRelationship

Sources = Callable[[CypherNode], Sequence[tuple[Sequence[CypherRelationship], bool]]]
_TURNED = {"->": "<-", "<-": "->", "-": "-"}


def oriented(
    relationships: Iterable[CypherRelationship], arrow: str
) -> Iterator[tuple[CypherRelationship, CypherNode, CypherNode]]:
    """Each with its left and its right end; without an arrow in both directions."""
    for one in relationships:
        if arrow != "<-":
            yield one, one.start, one.end
        if arrow == "<-" or (arrow == "-" and one.start is not one.end):
            yield one, one.end, one.start


def oriented_list(
    value: list[CypherRelationship], hop: PatternHop
) -> Iterator[tuple[list[CypherRelationship], CypherNode, CypherNode]]:
    """A list that is bound already, where it is a path of the length and direction asked for."""
    hops = hop.pattern.hops
    assert hops
    if not value or len(value) < hops.least or len(value) > (hops.most or len(value)):
        return
    for _, first, _ in oriented(value[:1], hop.pattern.arrow):
        at = first
        for one in value:
            ends = {start: end for _, start, end in oriented((one,), hop.pattern.arrow)}
            if at not in ends:
                break
            at = ends[at]
        else:
            yield value, first, at


def sources_of(hop: PatternHop, forwards: bool) -> Sources:
    """The lists of relationships of a node in which to look, each with whether they go out."""
    arrow = hop.pattern.arrow if forwards else _TURNED[hop.pattern.arrow]
    types, outwards, inwards = hop.pattern.types, arrow != "<-", arrow != "->"

    def of_types(node: CypherNode) -> list[tuple[Sequence[CypherRelationship], bool]]:
        found: list[tuple[Sequence[CypherRelationship], bool]] = []
        for type in types:
            if outwards and type in node.outgoing:
                found.append((node.outgoing[type], True))
            if inwards and type in node.incoming:
                found.append((node.incoming[type], False))
        return found

    def of_all(node: CypherNode) -> list[tuple[Sequence[CypherRelationship], bool]]:
        found: list[tuple[Sequence[CypherRelationship], bool]] = []
        if outwards:
            found += [(each, True) for each in node.outgoing.values()]
        if inwards:
            found += [(each, False) for each in node.incoming.values()]
        return found

    return of_types if types else of_all


def neighbours_of(
    hop: PatternHop, forwards: bool
) -> Callable[[CypherNode], Iterator[tuple[CypherRelationship, CypherNode]]]:
    sources, both_ways = sources_of(hop, forwards), hop.pattern.arrow == "-"

    def neighbours(node: CypherNode) -> Iterator[tuple[CypherRelationship, CypherNode]]:
        for relationships, outgoing in sources(node):
            for one in relationships:
                other = one.end if outgoing else one.start
                if not (both_ways and not outgoing and other is node):
                    yield one, other

    return neighbours


def ways_back(
    reached: dict[CypherNode, list[tuple[CypherRelationship, CypherNode]]],
    start: CypherNode,
    end: CypherNode,
) -> Iterator[list[CypherRelationship]]:
    """All ways from the start to the end, by the relationships through which each was reached."""
    waiting: list[tuple[CypherNode, tuple[CypherRelationship, ...]]] = [(end, ())]
    while waiting:
        node, trail = waiting.pop()
        if node is start and trail:
            yield list(trail)
            continue
        for one, before in reached[node]:
            waiting.append((before, (one, *trail)))
