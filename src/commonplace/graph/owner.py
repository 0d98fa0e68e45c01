"""The owner's own node: there is exactly one, as soon as anything is in the graph."""

from __future__ import annotations

from commonplace.desk import Desk
from commonplace.graph.canvas import Canvas
from commonplace.graph.known import Known, key_of
from commonplace.language.extracting.found import Owner
from commonplace.model.graph.node import PREFIX, Node, TtlPolicy
from commonplace.model.graph.words import NodeType
from commonplace.model.scope import Scope

NAME_FIELD = "profile:preferred_name"


def name_of_owner(desk: Desk, scope: Scope) -> str:
    """As their profile has it, or else as they are called here."""
    for field in desk.store.fetch(scope, [NAME_FIELD]):
        if value := str(field.metadata.get("value") or ""):
            return value
    return scope.name


def owner_node(canvas: Canvas, known: Known) -> Node:
    """Made when it is first needed."""
    if known.owner is not None:
        canvas.load([known.owner.id])
        return known.owner
    made = next((node for node in canvas.changed_nodes.values() if node.is_owner), None)
    if made is None:
        name = name_of_owner(canvas.desk, canvas.scope)
        made = Node(
            id=PREFIX + canvas.desk.new_id(),
            user_id=canvas.scope.name,
            type=NodeType.PERSON,
            name=name,
            key=key_of(name),
            is_owner=True,
            confidence=1.0,
            ttl_policy=TtlPolicy.KEEP_FOREVER,
            created_by=canvas.by,
            created_at=canvas.at,
            updated_at=canvas.at,
        )
        canvas.put(made)
    return made


def renamed_owner(canvas: Canvas, known: Known, name: str) -> None:
    """They call themself otherwise now. Nobody's node is made for that alone."""
    if known.owner is not None and known.owner.name != name:
        canvas.load([known.owner.id])
        canvas.put(known.owner.evolve(name=name, key=key_of(name)))


def as_reader(desk: Desk, scope: Scope, node: Node | None) -> Owner:
    """Whom "I" means in what the owner says, and by which names others speak of them."""
    name = name_of_owner(desk, scope)
    return Owner(
        name=name,
        names=frozenset({name, scope.name, *(node.names if node else ())}),
        addresses=frozenset(node.addresses if node else ()),
    )
