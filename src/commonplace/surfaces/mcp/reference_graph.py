"""The nine tools of the MCP reference memory server, as they mean something in our graph.

Entities are nodes, relations are edges, observations are notes that count forever. What is deleted
is forgotten: the owner can restore it for 30 days.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from commonplace.book import User
from commonplace.book.pictured import pictured
from commonplace.book.verbs.graph import relation_word
from commonplace.errors import InvalidInput, NotFound
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import Lifetime
from commonplace.model.graph.picture import Picture
from commonplace.model.graph.relationships import as_kept
from commonplace.model.graph.words import NodeType

Json = dict[str, Any]
Form = tuple[frozenset[str], str]  # the ends of a relation and its word

_CONCEPTS = frozenset({"concept", "topic", "goal", "preference", "interest", "idea"})
_PLAIN = "entity"  # a thing of which nobody said what it is


# ——— reading ———


def read_graph(user: User) -> Json:
    return _told(pictured(user), lambda node: True)


def search_nodes(user: User, query: str) -> Json:
    """Where the words stand; where they stand nowhere, what is close to what they mean."""
    picture, wanted = pictured(user), _text(query, "query").casefold()
    found = {id for id, node in picture.nodes.items() if wanted in _words(picture, node)}
    if not found and wanted.strip():
        semantic = user.explore(queries=[{"query": query}], granularity=1).semantic
        hits = (*semantic.people, *semantic.concepts, *semantic.entities)
        found = {hit.entity_key for hit in hits}
    return _told(picture, lambda node: node.id in found)


def _words(picture: Picture, node: Node) -> str:
    notes = (note.content for note in picture.notes.get(node.id, ()))
    return "\n".join((node.name, *node.aliases, _type(node), node.description, *notes)).casefold()


def open_nodes(user: User, names: Sequence[str]) -> Json:
    wanted = set(_texts(names, "names"))
    return _told(pictured(user), lambda node: node.name in wanted)


def _told(picture: Picture, is_wanted: Callable[[Node], bool]) -> Json:
    """These entities, and every relation that one of them has."""
    nodes = [node for node in picture.nodes.values() if is_wanted(node)]
    ids = {node.id for node in nodes}
    edges = [edge for edge in picture.edges.values() if ids & set(edge.ends)]
    return {
        "entities": [_entity(picture, node) for node in _in_order(nodes)],
        "relations": [_relation(picture, edge) for edge in _in_order(edges)],
    }


def _in_order(items: Iterable[Any]) -> list[Any]:
    """As they came."""
    return sorted(items, key=lambda item: (item.created_at, item.id))


def _entity(picture: Picture, node: Node) -> Json:
    described = [node.description] if node.description else []
    notes = [note.content for note in picture.notes.get(node.id, ())]
    return {"name": node.name, "entityType": _type(node), "observations": [*described, *notes]}


def _type(node: Node) -> str:
    return node.subtype or _PLAIN if node.type is NodeType.ENTITY else node.type.lower()


def _relation(picture: Picture, edge: Edge) -> Json:
    """An edge is kept in one form, whichever way round it was told; its sentence has the words."""
    first, other = picture.nodes[edge.a].name, picture.nodes[edge.b].name
    for start, end in ((first, other), (other, first)):
        word = edge.description.removeprefix(f"{start} ").removesuffix(f" {end}")
        if word and edge.description == _sentence(start, word, end):
            return {"from": start, "to": end, "relationType": word}
    return {"from": first, "to": other, "relationType": edge.type}


def _sentence(start: str, word: str, end: str) -> str:
    return f"{start} {word} {end}"


# ——— writing ———


def create_entities(user: User, entities: Sequence[Json]) -> Json:
    """Those whose names are new; what is there stays as it is."""
    given = [_entity_given(each) for each in _list(entities, "entities")]
    known = {node.name for node in pictured(user).nodes.values()}
    created: list[Json] = []
    for each in given:
        if each["name"] in known:
            continue
        known.add(each["name"])
        node_type, subtype = _our_type(each["entityType"])
        id = user.nodes_add(each["name"], node_type=node_type, type=subtype).id
        for observation in dict.fromkeys(each["observations"]):
            user.note([id], observation, lifetime=Lifetime.FOREVER)
        created.append(each)
    return {"entities": created}


def _our_type(word: str) -> tuple[NodeType, str | None]:
    plain = word.strip().casefold()
    if plain == "person":
        return NodeType.PERSON, None
    if plain in _CONCEPTS:
        return NodeType.CONCEPT, None
    return NodeType.ENTITY, None if plain in ("", _PLAIN) else plain


def create_relations(user: User, relations: Sequence[Json]) -> Json:
    """Those that are new. Both ends have to be there."""
    given = [_relation_given(each) for each in _list(relations, "relations")]
    picture = pictured(user)
    known = set(map(_form, picture.edges.values()))
    created: list[Json] = []
    for each, ends in [(each, _ends(picture, each)) for each in given]:
        form = _kept(*ends, each["relationType"])
        if form not in known:
            sentence = _sentence(each["from"], each["relationType"], each["to"])
            user.relate(*ends, each["relationType"], description=sentence)
            known.add(form)
            created.append(each)
    return {"relations": created}


def _ends(picture: Picture, relation: Json) -> tuple[str, str]:
    return _named(picture, relation["from"]).id, _named(picture, relation["to"]).id


def _kept(start: str, end: str, word: str) -> Form:
    """The one form that a relation is kept in, however it is told: works-at is employs, seen from
    the other end."""
    a, b, type = as_kept(start, end, relation_word(word))
    return frozenset((a, b)), type


def _form(edge: Edge) -> Form:
    return frozenset(edge.ends), edge.type


def add_observations(user: User, observations: Sequence[Json]) -> Json:
    given = [_observed(each, "contents") for each in _list(observations, "observations")]
    picture = pictured(user)
    nodes = {name: _named(picture, name) for name, _ in given}
    results = []
    for name, contents in given:
        known = set(_entity(picture, nodes[name])["observations"])
        added = [text for text in dict.fromkeys(contents) if text not in known]
        for text in added:
            user.note([nodes[name].id], text, lifetime=Lifetime.FOREVER)
        results.append({"entityName": name, "addedObservations": added})
    return {"results": results}


# ——— deleting ———


def delete_entities(user: User, names: Sequence[str]) -> Json:
    wanted = set(_texts(names, "entityNames"))
    return _forgotten(user, "Entities", [n.id for n in _nodes(user) if n.name in wanted])


def delete_observations(user: User, deletions: Sequence[Json]) -> Json:
    wanted = dict[str, set[str]]()
    for name, texts in (_observed(each, "observations") for each in _list(deletions, "deletions")):
        wanted.setdefault(name, set()).update(texts)
    picture = pictured(user)
    ids = [
        note.id
        for node in picture.nodes.values()
        for note in picture.notes.get(node.id, ())
        if note.content in wanted.get(node.name, ())
    ]
    return _forgotten(user, "Observations", ids)


def delete_relations(user: User, relations: Sequence[Json]) -> Json:
    given = [_relation_given(each) for each in _list(relations, "relations")]
    picture = pictured(user)
    names = {node.name for node in picture.nodes.values()}
    known = [each for each in given if {each["from"], each["to"]} <= names]
    gone = {_kept(*_ends(picture, each), each["relationType"]) for each in known}
    return _forgotten(user, "Relations", [e.id for e in picture.edges.values() if _form(e) in gone])


def _forgotten(user: User, what: str, ids: Sequence[str]) -> Json:
    """What is not there is gone already."""
    if ids:
        user.forget(list(ids))
    return {"success": True, "message": f"{what} deleted successfully"}


def _nodes(user: User) -> Iterable[Node]:
    return pictured(user).nodes.values()


def _named(picture: Picture, name: str) -> Node:
    found = [node for node in picture.nodes.values() if node.name == name]
    if not found:
        raise NotFound(
            f"Entity with name {name} not found.", remedy="Create it first: create_entities."
        )
    return found[0]


# ——— what is given ———


def _entity_given(each: Any) -> Json:
    given = _map(each, "entities")
    return {
        "name": _text(given.get("name"), "name"),
        "entityType": _text(given.get("entityType"), "entityType"),
        "observations": _texts(given.get("observations"), "observations"),
    }


def _relation_given(each: Any) -> Json:
    given = _map(each, "relations")
    return {name: _text(given.get(name), name) for name in ("from", "to", "relationType")}


def _observed(each: Any, contents: str) -> tuple[str, list[str]]:
    given = _map(each, "observations")
    return _text(given.get("entityName"), "entityName"), _texts(given.get(contents), contents)


def _map(given: Any, field: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{field} holds what is no object.", field=field)
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
