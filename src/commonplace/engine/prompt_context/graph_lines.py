"""People and things that matter, and core beliefs: chosen from the caller's graph, a line each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.as_of import graph_as_of
from commonplace.engine.graph.visible_graph import visible_graph
from commonplace.engine.prompt_context.layers import LAYER_BY_NAME, ContextLine, LayerName
from commonplace.engine.prompt_context.profile_truth import OwnPlace
from commonplace.engine.prompt_injection import is_quoted
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.normalise import fold
from commonplace.model.access.principal import Principal
from commonplace.model.delta import shorten
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.salience import current_salience
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.types import NodeType, is_description, relationship_type
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.quotation import quote_if

MAX_RELATIONS = 4  # of a node, in its line
MAX_BELIEFS = 10
_MAX_CHARACTERS = 160  # of a line
_SALIENCE_DIGITS = 1  # coarse, so that decay does not change the choice with every hour

_VERB = re.compile(r"(?:[^s]s|-(?:at|in|to|with|for|on|from|about|by))$")  # likes, works-at
_NOUN_OF = re.compile(r"-of$")  # client-of
_OWN = re.compile(r"^(?:my|our)\s+(?P<role>.+)$", re.IGNORECASE)  # "My husband"
_PLACE_OF_OWNER = {
    "works-at": "where the user works",
    "lives-in": "where the user lives",
    "studies-at": "where the user studies",
}
_INVERSE_NOUN = {
    "child": "parent",
    "parent": "child",
    "grandchild": "grandparent",
    "grandparent": "grandchild",
}


@dataclass(frozen=True, slots=True)
class GraphLines:
    people: tuple[ContextLine, ...] = ()
    beliefs: tuple[ContextLine, ...] = ()


def load_graph_lines(
    engine: EngineContext,
    principal: Principal,
    asks_for: Callable[[str], bool],
    places: Mapping[str, OwnPlace],
) -> GraphLines:
    """From what the caller may see and asks for, by category. ``places``: those that the profile
    names, by relation; what was told before is left out."""
    if not principal.is_in_own_scope or not engine.store.counters(principal.own_scope).graph:
        return GraphLines()
    visible = visible_graph(engine, principal).snapshot
    snapshot = graph_as_of(engine, principal.own_scope, visible, engine.moment)
    chosen = _NodeChooser(snapshot, engine, places)
    people = [node for node in chosen.people() if asks_for(node.category)]
    beliefs = [node for node in chosen.beliefs() if asks_for(node.category)]
    return GraphLines(
        tuple(_lines(people, chosen.describe)), tuple(_lines(beliefs, _describe_belief))
    )


class _NodeChooser:
    """Chooses nodes of one snapshot by the salience of their edges."""

    def __init__(
        self, snapshot: GraphSnapshot, engine: EngineContext, places: Mapping[str, OwnPlace]
    ):
        self._snapshot = snapshot
        self._places = places
        self._now: datetime = engine.clock()
        self._edges: dict[str, list[Edge]] = {}
        for edge in snapshot.edges.values():
            if not edge.holds(engine.moment, self._now) or self._is_archived(edge):
                continue
            if not self._is_former_place(edge):
                for end in edge.ends:
                    self._edges.setdefault(end, []).append(edge)

    def _is_former_place(self, edge: Edge) -> bool:
        place = self._places.get(edge.type)
        if place is None or not self._snapshot.nodes[edge.a].is_owner:
            return False
        names = {fold(name) for name in self._snapshot.nodes[edge.b].names}
        return edge.recorded_at < place.since and place.name not in names

    def people(self) -> list[Node]:
        """The nodes with the most salient edges, in the order in which they became known, so that
        a new one comes last."""
        most = LAYER_BY_NAME[LayerName.PEOPLE].most or 0
        nodes = [self._snapshot.nodes[id] for id in self._edges]
        found = [
            node
            for node in nodes
            if not node.is_owner and not self._is_archived(node) and self._relations(node)
        ]
        best = sorted(found, key=self._rank)[:most]
        return sorted(best, key=lambda node: (node.created_at, node.key, node.id))

    def beliefs(self) -> list[Node]:
        concepts = [
            node
            for node in self._snapshot.nodes.values()
            if node.type is NodeType.CONCEPT and node.ttl_policy is TtlPolicy.KEEP_FOREVER
        ]
        return sorted(concepts, key=lambda node: (node.created_at, node.key, node.id))[:MAX_BELIEFS]

    def describe(self, node: Node) -> str:
        """ "Pieter: husband; works at Solvay"."""
        name = _OWN.sub(r"the user's \g<role>", node.name)
        return f"{name}: {'; '.join(self._relations(node)[:MAX_RELATIONS])}"

    def _relations(self, node: Node) -> list[str]:
        own = [edge for edge in self._edges[node.id] if self._is_with_owner(edge)]
        others = [edge for edge in self._edges[node.id] if not self._is_with_owner(edge)]
        said = [self._say_to_owner(node, edge) for edge in _closest_first(own)]
        said += [self._say(node, edge) for edge in _closest_first(others)]
        return list(dict.fromkeys(filter(None, said)))

    def _rank(self, node: Node) -> tuple[float, bool, int, bool, datetime, str, str]:
        edges = self._edges[node.id]
        own = [edge for edge in edges if self._is_with_owner(edge)]
        salience = max(round(self._salience(edge), _SALIENCE_DIGITS) for edge in own or edges)
        closest = max(edge.proximity for edge in own or edges)
        is_person = node.type is NodeType.PERSON
        return -salience, not own, -closest, not is_person, node.created_at, node.key, node.id

    def _salience(self, edge: Edge) -> float:
        return current_salience(edge, self._snapshot.marks_of(edge.id), self._now).salience

    def _is_archived(self, item: Node | Edge) -> bool:
        return current_salience(item, self._snapshot.marks_of(item.id), self._now).is_archived

    def _is_with_owner(self, edge: Edge) -> bool:
        return any(self._snapshot.nodes[end].is_owner for end in edge.ends)

    def _say_to_owner(self, node: Node, edge: Edge) -> str:
        is_subject, words = edge.a == node.id, edge.type.replace("-", " ")
        noun = _NOUN_OF.sub("", edge.type)
        if noun != edge.type or noun in _INVERSE_NOUN:
            return _role(node) or (noun if is_subject else _INVERSE_NOUN.get(noun, words))
        if not is_subject and edge.type in _PLACE_OF_OWNER:
            return _PLACE_OF_OWNER[edge.type]
        if _VERB.search(edge.type):
            it = "them" if node.type is NodeType.PERSON else "it"
            return f"{words} the user" if is_subject else f"the user {words} {it}"
        return (_role(node) if node.type is NodeType.PERSON else "") or words

    def _say(self, node: Node, edge: Edge) -> str:
        """What an edge to another node says; empty where the other is its subject."""
        other = self._snapshot.nodes[edge.b if edge.a == node.id else edge.a]
        words = edge.type.replace("-", " ")
        if edge.a != node.id and not relationship_type(edge.type).is_mutual:
            return ""
        if _VERB.search(edge.type) or _NOUN_OF.search(edge.type):
            return f"{words} {other.name}"
        return f"{words} of {other.name}"


def _closest_first(edges: Iterable[Edge]) -> Sequence[Edge]:
    return sorted(edges, key=lambda edge: (-edge.proximity, edge.recorded_at, edge.id))


def _role(node: Node) -> str:
    """What the owner calls a person: "husband", of "my husband"."""
    found = (_OWN.match(alias) for alias in node.aliases if is_description(alias))
    return next((match["role"] for match in found if match), "")


def _describe_belief(node: Node) -> str:
    return f"{node.name}: {node.description}" if node.description else node.name


def _lines(nodes: Iterable[Node], describe: Callable[[Node], str]) -> Iterator[ContextLine]:
    for node in nodes:
        text = shorten(describe(node), _MAX_CHARACTERS)
        if not is_suspicious(text):
            yield ContextLine(f"- {quote_if(is_quoted(node), text)}", node.id)
