"""Asked edges: relationships that a question asks for, at somebody whom it names. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from commonplace.engine.graph_search.graph_view import GraphView
from commonplace.language.query.relations import (
    AskedRelation,
    find_asked_relations,
    question_forms,
)
from commonplace.model.graph.elements import Edge

EdgesAt = Callable[[str], Sequence[Edge]]  # of a node, those that hold


@dataclass(frozen=True, slots=True)
class AskedEdge:
    edge: Edge
    holder: str  # the end that the question speaks of
    words: frozenset[str]  # of the question, by which it asks for the edge

    @property
    def answer(self) -> str:
        """The end that the question asks for."""
        return self.edge.b if self.edge.a == self.holder else self.edge.a


def find_asked_edges(
    view: GraphView, question: str, holders: Sequence[str], edges_at: EdgesAt
) -> list[AskedEdge]:
    """``holders``: the nodes that the question names, with the owner if it says "my" or "I". A role
    names somebody, too: "where does my sister live?" asks at the sister."""
    if not holders:
        return []
    asked = find_asked_relations(question_forms(question), view.edge_types)
    roles = [each for each in asked if each.group]
    verbs = [each for each in asked if not each.group]
    in_role = list(_edges_of(view, holders, roles, edges_at))
    people = dict.fromkeys(each.answer for each in in_role if each.answer not in holders)
    role_words = frozenset[str]().union(*(each.words for each in roles))
    by_verb = [
        *_edges_of(view, people, verbs, edges_at, role_words),
        *_edges_of(view, holders, verbs, edges_at),
    ]
    return [*by_verb, *in_role]


def _edges_of(
    view: GraphView,
    holders: Iterable[str],
    asked: Sequence[AskedRelation],
    edges_at: EdgesAt,
    words: frozenset[str] = frozenset(),
) -> Iterator[AskedEdge]:
    by_type: dict[str, list[AskedRelation]] = {}
    for each in asked:
        by_type.setdefault(each.type, []).append(each)
    for holder in holders if by_type else ():
        for edge in edges_at(holder):
            for each in by_type.get(edge.type, ()):
                if _fits(view, each, edge, holder):
                    yield AskedEdge(edge, holder, each.words | words)


def _fits(view: GraphView, asked: AskedRelation, edge: Edge, holder: str) -> bool:
    """Whether the other end has the role that is asked for: "my son" is not "my mother"."""
    if not asked.group:
        return True
    if asked.relation.turned and (edge.a if asked.is_turned else edge.b) == holder:
        return False
    other = view.snapshot.nodes[edge.b if edge.a == holder else edge.a]
    said = "\n".join((edge.description, other.description, *other.names))
    return not asked.contradicts(question_forms(said))
