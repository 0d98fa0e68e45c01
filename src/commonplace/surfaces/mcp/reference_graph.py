"""The operations of the MCP reference memory server on our graph.

Entities are nodes, relations are edges, observations are notes without expiry. Deleting forgets an
item: the owner can restore it for 30 days.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from commonplace.api import User
from commonplace.api.commonplace import apply_graph_edits, load_visible_graph
from commonplace.api.graph import read_name, read_relationship_type, read_text
from commonplace.errors import InvalidInput, NotFound
from commonplace.lazy import lazy_imports
from commonplace.model import validation
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.types import NodeType, canonical_relationship
from commonplace.model.quotation import quote

with lazy_imports(__name__):
    from commonplace.engine.graph.bulk import NodeUpsert, NotesUpsert, RelationUpsert
    from commonplace.engine.graph.names import name_key
    from commonplace.engine.graph.user_assertions import NodeInput

Json = dict[str, Any]
RelationKey = tuple[frozenset[str], str]  # the ends of a relation and its type

_CONCEPTS = frozenset({"concept", "topic", "goal", "preference", "interest", "idea"})
_PLAIN = "entity"  # an entity without a type


# ——— reading ———


def read_graph(user: User) -> Json:
    return _graph_data(load_visible_graph(user), lambda node: True)


def search_nodes(user: User, query: str) -> Json:
    """Nodes that contain the query text; if there are none, semantically similar nodes."""
    snapshot, query_text = load_visible_graph(user), _text(query, "query").casefold()
    found = {id for id, node in snapshot.nodes.items() if query_text in _words(snapshot, node)}
    if not found and query_text.strip():
        semantic = user.explore(queries=[{"query": query}], granularity=1).semantic
        hits = (*semantic.people, *semantic.concepts, *semantic.entities)
        found = {hit.entity_key for hit in hits}
    return _graph_data(snapshot, lambda node: node.id in found)


def _words(snapshot: GraphSnapshot, node: Node) -> str:
    notes = (note.content for note in snapshot.notes.get(node.id, ()))
    return "\n".join((node.name, *node.aliases, _type(node), node.description, *notes)).casefold()


def open_nodes(user: User, names: Sequence[str]) -> Json:
    snapshot = load_visible_graph(user)
    find = _names(snapshot)
    found = {node.id for name in _texts(names, "names") for node in find.find(name)}
    return _graph_data(snapshot, lambda node: node.id in found)


def _graph_data(snapshot: GraphSnapshot, is_wanted: Callable[[Node], bool]) -> Json:
    """These entities with all their relations."""
    nodes = [node for node in snapshot.nodes.values() if is_wanted(node)]
    ids = {node.id for node in nodes}
    edges = [edge for edge in snapshot.edges.values() if ids & set(edge.ends)]
    return {
        "entities": [_entity(snapshot, node) for node in sorted(nodes, key=_node_order)],
        "relations": [_relation(snapshot, edge) for edge in sorted(edges, key=_edge_order)],
    }


def _node_order(node: Node) -> tuple[datetime, str]:
    return node.created_at, node.id


def _edge_order(edge: Edge) -> tuple[datetime, str]:
    return edge.recorded_at, edge.id


class SourceWords(str):
    """An observation that a source may have worded: the same data, but fenced in texts."""

    __slots__ = ()


def _entity(snapshot: GraphSnapshot, node: Node) -> Json:
    is_mentioned = node.mentioned.source_count > 0
    described = [_observation(node.description, is_mentioned)] if node.description else []
    notes = [_observation(n.content, n.source is not None) for n in snapshot.notes.get(node.id, ())]
    return {"name": node.name, "entityType": _type(node), "observations": [*described, *notes]}


def _observation(text: str, from_source: bool) -> str:
    return SourceWords(text) if from_source else text


def _type(node: Node) -> str:
    return node.subtype or _PLAIN if node.type is NodeType.ENTITY else node.type.lower()


def _relation(snapshot: GraphSnapshot, edge: Edge) -> Json:
    """Edges are stored in one direction; the sentence has the original wording."""
    first, other = snapshot.nodes[edge.a].name, snapshot.nodes[edge.b].name
    for start, end in ((first, other), (other, first)):
        word = edge.description.removeprefix(f"{start} ").removesuffix(f" {end}")
        if word and edge.description == _sentence(start, word, end):
            return {"from": start, "to": end, "relationType": word}
    return {"from": first, "to": other, "relationType": edge.type}


def _sentence(start: str, word: str, end: str) -> str:
    return f"{start} {word} {end}"


# ——— writing: a call is checked first and applied in one transaction ———


def create_entities(user: User, entities: Sequence[Json]) -> Json:
    """Create entities with new names, ignoring case; existing ones are unchanged."""
    given = [_read_entity(each) for each in _list(entities, "entities")]
    inputs = [
        NodeUpsert(_node_input(each), tuple(dict.fromkeys(each["observations"]))) for each in given
    ]
    first: dict[str, int] = {}  # normalised name -> index
    for place, each in enumerate(given):
        first.setdefault(name_key(each["name"]), place)

    def new(snapshot: GraphSnapshot) -> list[NodeUpsert]:
        names = _names(snapshot)
        return [inputs[place] for key, place in first.items() if not names.find(key)]

    created = [first[name_key(each.node_input.name)] for each in apply_graph_edits(user, new)]
    return {"entities": [given[place] for place in created]}


def _node_input(entity: Json) -> NodeInput:
    type, subtype = _our_type(entity["entityType"])
    return NodeInput(type=type, name=entity["name"], subtype=subtype)


def _our_type(word: str) -> tuple[NodeType, str]:
    plain = word.strip().casefold()
    if plain == "person":
        return NodeType.PERSON, ""
    if plain in _CONCEPTS:
        return NodeType.CONCEPT, ""
    return NodeType.ENTITY, "" if plain in ("", _PLAIN) else validation.word(plain, "entityType")


def create_relations(user: User, relations: Sequence[Json]) -> Json:
    """Create new relations between existing entities. Each is valid until it is deleted: a new
    employer does not end an earlier one."""
    given = [_read_relation(each) for each in _list(relations, "relations")]
    new_relations: dict[RelationUpsert, Json] = {}

    def new(snapshot: GraphSnapshot) -> list[RelationUpsert]:
        names, known = _names(snapshot), set(map(_edge_key, snapshot.edges.values()))
        new_relations.clear()
        for each in given:
            upsert, form = _relation_input(names, each)
            if form not in known:
                known.add(form)
                new_relations[upsert] = each
        return [*new_relations]

    return {"relations": [new_relations[each] for each in apply_graph_edits(user, new)]}


def _relation_input(names: NodeNames, given: Json) -> tuple[RelationUpsert, RelationKey]:
    start, end = _find_node(names, given["from"]), _find_node(names, given["to"])
    word = given["relationType"]
    sentence = read_text(_sentence(start.name, word, end.name), "relationType")
    upsert = RelationUpsert(start.id, end.id, read_relationship_type(word), sentence)
    return upsert, _relation_key(start.id, end.id, word)


def _relation_key(start: str, end: str, word: str) -> RelationKey:
    """The canonical form of a relation: works-at and its inverse employs are one."""
    a, b, type = canonical_relationship(start, end, read_relationship_type(word))
    return frozenset((a, b)), type


def _edge_key(edge: Edge) -> RelationKey:
    return frozenset(edge.ends), edge.type


def add_observations(user: User, observations: Sequence[Json]) -> Json:
    given = [_read_observation(each, "contents") for each in _list(observations, "observations")]

    def new(snapshot: GraphSnapshot) -> list[NotesUpsert]:
        names, known = _names(snapshot), dict[str, set[str]]()
        upserts = []
        for name, contents in given:
            node = _find_node(names, name)
            there = known.setdefault(node.id, {*_entity(snapshot, node)["observations"]})
            added = tuple(text for text in dict.fromkeys(contents) if text not in there)
            there.update(added)
            upserts.append(NotesUpsert(node.id, added))
        return upserts

    added = [list(each.contents) for each in apply_graph_edits(user, new)]
    names = [name for name, _ in given]
    return {
        "results": [
            {"entityName": name, "addedObservations": texts}
            for name, texts in zip(names, added, strict=True)
        ]
    }


# ——— deleting: missing items are ignored ———


def delete_entities(user: User, names: Sequence[str]) -> Json:
    find = _names(load_visible_graph(user))
    nodes = [node for name in _texts(names, "entityNames") for node in find.find(name)]
    return _forget(user, "Entities", [node.id for node in nodes])


def delete_observations(user: User, deletions: Sequence[Json]) -> Json:
    given = [_read_observation(each, "observations") for each in _list(deletions, "deletions")]
    snapshot = load_visible_graph(user)
    names = _names(snapshot)
    ids = [
        note.id
        for name, texts in given
        for node in names.find(name)
        for note in snapshot.notes.get(node.id, ())
        if note.content in texts or quote(note.content) in texts  # as it was read
    ]
    return _forget(user, "Observations", ids)


def delete_relations(user: User, relations: Sequence[Json]) -> Json:
    given = [_read_relation(each) for each in _list(relations, "relations")]
    snapshot = load_visible_graph(user)
    names = _names(snapshot)
    keys = {
        _relation_key(start.id, end.id, each["relationType"])
        for each in given
        for start in names.find(each["from"])
        for end in names.find(each["to"])
    }
    return _forget(
        user, "Relations", [e.id for e in snapshot.edges.values() if _edge_key(e) in keys]
    )


def _forget(user: User, what: str, ids: Iterable[str]) -> Json:
    if named := list(dict.fromkeys(ids)):
        user.forget(named)
    return {"success": True, "message": f"{what} deleted successfully"}


# ——— by name ———


@dataclass(frozen=True, slots=True)
class NodeNames:
    """Nodes by normalised name."""

    first: dict[str, list[Node]]
    other: dict[str, list[Node]]  # by alias

    def find(self, name: str) -> list[Node]:
        """Nodes with exactly this name; else ignoring case; else by alias."""
        key = name_key(name)
        alike = self.first.get(key, [])
        exact = [node for node in alike if node.name == name]
        besides = self.other.get(key, [])
        return exact or alike or (besides if len(besides) == 1 else [])


def _names(snapshot: GraphSnapshot) -> NodeNames:
    names = NodeNames({}, {})
    for node in snapshot.nodes.values():
        names.first.setdefault(name_key(node.name), []).append(node)
        for key in {name_key(alias) for alias in node.aliases}:
            names.other.setdefault(key, []).append(node)
    return names


def _find_node(names: NodeNames, name: str) -> Node:
    found = names.find(name)
    if not found:
        raise NotFound(
            f"Entity with name {name} not found.", remedy="Create it first: create_entities."
        )
    return found[0]


# ——— arguments ———


def _read_entity(each: Any) -> Json:
    given = _map(each, "entities")
    return {
        "name": read_name(given.get("name"), "name"),
        "entityType": _text(given.get("entityType"), "entityType"),
        "observations": _contents(given.get("observations"), "observations"),
    }


def _read_relation(each: Any) -> Json:
    given = _map(each, "relations")
    relation = {name: _text(given.get(name), name) for name in ("from", "to", "relationType")}
    read_relationship_type(relation["relationType"])
    return relation


def _read_observation(each: Any, contents: str) -> tuple[str, list[str]]:
    given = _map(each, "observations")
    return _text(given.get("entityName"), "entityName"), _contents(given.get(contents), contents)


def _contents(given: Any, field: str) -> list[str]:
    """Texts, normalised like notes."""
    return [read_text(each, field) for each in _list(given, field)]


def _map(given: Any, field: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{field} must be a list of objects.", field=field)
    return given


def _list(given: Any, field: str) -> list[Any]:
    if not isinstance(given, list):
        raise InvalidInput(f"{field} must be a list.", field=field)
    return given


def _texts(given: Any, field: str) -> list[str]:
    return [_text(each, field) for each in _list(given, field)]


def _text(given: Any, field: str) -> str:
    if not isinstance(given, str):
        raise InvalidInput(f"{field} must be a text.", field=field)
    return given
