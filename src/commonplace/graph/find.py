"""A node that a caller names: by its id, by a name, or as "me"."""

from __future__ import annotations

from commonplace.errors import InvalidInput, NotFound
from commonplace.graph.known import Known, key_of
from commonplace.graph.resolve import SEVERAL, resolve
from commonplace.model.graph.node import PREFIX, Node
from commonplace.model.graph.words import NodeType

ME = "me"


def find_node(known: Known, named: str, field: str = "id", type: NodeType | None = None) -> Node:
    """``known``: what the caller may see. An id that another node speaks for is that other's."""
    if named.startswith(PREFIX):
        node = known.nodes.get(named)
    elif named.casefold() == ME:
        node = known.owner
    else:
        node = _by_name(known, named, field, type)
    if node is None or (type is not None and node.type is not type):
        raise NotFound(f"There is no {named!r} in the graph.", field=field)
    return node


def _by_name(known: Known, name: str, field: str, type: NodeType | None) -> Node | None:
    """Whoever is called just so; else whoever could be meant."""
    types, key = [type] if type else list(NodeType), key_of(name)
    exact = [id for each in types for id in known.by_key.get((each, key), ())]
    found = exact or [resolve(known, each, [name]) for each in types]
    met = [id for id in found if id is not None and id is not SEVERAL]
    if SEVERAL in found or len(set(met)) > 1:
        raise InvalidInput(
            f"Several nodes are called {name!r}.",
            remedy="Name the one that is meant by its id; people, concepts and entities list them.",
            field=field,
        )
    return known.nodes[met[0]] if met else None
