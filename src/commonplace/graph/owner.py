"""The owner's own node: there is exactly one, as soon as anything is in the graph."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, count

from commonplace.desk import Desk
from commonplace.graph.canvas import Canvas
from commonplace.graph.known import Known, key_of
from commonplace.language.extracting.found import Owner
from commonplace.language.names import bare
from commonplace.model.graph.node import PREFIX, Node
from commonplace.model.graph.words import NodeType
from commonplace.model.memory import Memory
from commonplace.model.scope import Scope
from commonplace.model.ttl_policy import TtlPolicy

NAME_FIELD = "profile:preferred_name"


def name_of_owner(desk: Desk, scope: Scope, coming: Iterable[Memory] = ()) -> str:
    """As their profile has it, here or in what is ``coming``, or else as they are called here."""
    come = (memory for memory in coming if memory.id == NAME_FIELD)
    for field in (*desk.store.fetch(scope, [NAME_FIELD]), *come):
        if value := str(field.metadata.get("value") or ""):
            return value
    return scope.name


def see_to_owner(canvas: Canvas) -> None:
    """They come with the first thing that comes into their graph, whatever it is."""
    if not has_owner(canvas.desk, canvas.scope):
        owner_node(canvas, canvas.known)


def has_owner(desk: Desk, scope: Scope) -> bool:
    return any(node.is_owner for node in desk.pictures.of(scope).picture.nodes.values())


def owner_node(canvas: Canvas, known: Known) -> Node:
    """Made when it is first needed."""
    if known.owner is not None:
        canvas.load([known.owner.id])
        return known.owner
    made = next((node for node in canvas.changed_nodes.values() if node.is_owner), None)
    if made is None:
        made = new_owner(canvas, known, name_of_owner(canvas.desk, canvas.scope))
        canvas.put(made)
    return made


def new_owner(canvas: Canvas, known: Known, name: str) -> Node:
    return Node(
        id=PREFIX + canvas.desk.new_id(),
        user_id=canvas.scope.name,
        type=NodeType.PERSON,
        name=name,
        key=_free_key(known, name),
        is_owner=True,
        confidence=1.0,
        ttl_policy=TtlPolicy.KEEP_FOREVER,
        created_by=canvas.by,
        created_at=canvas.at,
        updated_at=canvas.at,
    )


def renamed_owner(canvas: Canvas, known: Known, name: str) -> None:
    """They call themself otherwise now. Nobody's node is made for that alone. Somebody who has
    that name already keeps it, too: whether the two are one is for the owner to say."""
    if known.owner is not None and known.owner.name != name:
        canvas.load([known.owner.id])
        canvas.put(known.owner.evolve(name=name, key=_free_key(known, name)))


def _free_key(known: Known, name: str) -> str:
    key, owner = key_of(name), known.owner
    keys = chain((key,), (f"{key} {number}" for number in count(2)))
    taken = (None, owner.id if owner else None)
    return next(each for each in keys if known.called(NodeType.PERSON, "", each) in taken)


def as_reader(desk: Desk, scope: Scope, everybody: Iterable[Node]) -> Owner:
    """Whom "I" means in what the owner says, and by which names others speak of them."""
    people = [node for node in everybody if node.type is NodeType.PERSON]
    node = next((each for each in people if each.is_owner), None)
    name = name_of_owner(desk, scope)
    names = frozenset({name, scope.name, *(node.names if node else ())})
    firsts = {_first(each) for each in names}
    return Owner(
        name=name,
        names=names,
        addresses=frozenset(node.addresses if node else ()),
        others=frozenset(
            bare(other)
            for each in people
            if not each.is_owner
            for other in each.names
            if _first(other) in firsts
        ),
    )


def _first(name: str) -> str:
    """Only who shares it can be taken for the owner."""
    return name.casefold().partition(" ")[0]
