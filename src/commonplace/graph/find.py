"""A node that a caller names: by its id, by a name, or as "me"."""

from __future__ import annotations

from commonplace.desk import Desk
from commonplace.errors import InvalidInput, NotFound
from commonplace.graph.known import Known, key_of, known
from commonplace.graph.resolve import SEVERAL, resolve
from commonplace.graph.seen import seen
from commonplace.model.graph.node import PREFIX, Node
from commonplace.model.graph.words import NodeType
from commonplace.model.scope import Principal

ME = "me"
EDGES_ARE_LISTED = "edges lists relationships with their ids; node shows those of one node."
LOOK_AROUND = (
    "explore finds nodes; people, concepts and entities list them. One that is not there yet is "
    "put in first: nodes add, or over MCP relate with name."
)

OWNER_COMES = (
    "The owner's own node comes with the first thing in the graph: ingest a text, or say something "
    "with nodes add, relate or note."
)


def find_node(known: Known, named: str, field: str = "id", type: NodeType | None = None) -> Node:
    """``known``: what the caller may see. An id that another node speaks for is that other's."""
    if named.startswith(PREFIX):
        node = known.nodes.get(named)
    elif named.casefold() == ME:
        node = known.owner
    else:
        node = _by_name(known, named, field, type)
    if node is None or (type is not None and node.type is not type):
        remedy = OWNER_COMES if named.casefold() == ME else LOOK_AROUND
        raise NotFound(f"There is no {named!r} in the graph.", remedy=remedy, field=field)
    return node


def node_called(desk: Desk, principal: Principal, named: str) -> Node | None:
    """The node that a caller means who may have meant something else, where it is clear which."""
    if ":" in named:
        return None
    try:
        return find_node(known(seen(desk, principal).picture.nodes.values()), named)
    except (NotFound, InvalidInput):
        return None


def _by_name(known: Known, name: str, field: str, type: NodeType | None) -> Node | None:
    """Whose first name it is; else who is called so, too; else whoever could be meant."""
    types, key = [type] if type else list(NodeType), key_of(name)
    exact = [id for each in types for id in known.by_key.get((each, key), ())]
    first = [id for id in exact if known.nodes[id].key == key]
    guessed = [] if exact else [resolve(known, each, [name]) for each in types]
    found = [*(first or exact), *guessed]
    met = [id for id in found if id is not None and id is not SEVERAL]
    if SEVERAL in found or len(set(met)) > 1:
        raise InvalidInput(
            f"Several nodes have the name {name!r}.",
            remedy="Give the id of the one you mean; people, concepts and entities list them.",
            field=field,
        )
    return known.nodes[met[0]] if met else None
