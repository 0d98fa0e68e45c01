"""Several things that are said at once: all of them come into the graph, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from commonplace.desk import Desk
from commonplace.graph.canvas import Canvas
from commonplace.graph.own_word import NodeWord, new_node, note, relate, say_of, vouch_for
from commonplace.graph.saying import (
    Table,
    already_there,
    decide,
    guarded,
    refuse_unseen,
    said_again,
)
from commonplace.graph.seen import seen
from commonplace.model.changes import Step
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import Lifetime
from commonplace.model.graph.words import CATEGORY
from commonplace.model.scope import Principal


@dataclass(frozen=True, slots=True)
class NodeSaid:
    word: NodeWord
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationSaid:
    """It holds beside others of its kind: it ends none, and none ends it."""

    from_node: str  # the id of a node
    to_node: str
    type: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class NotesSaid:
    node: str  # its id
    contents: tuple[str, ...]


Said = TypeVar("Said", NodeSaid, RelationSaid, NotesSaid)


def say_together(
    desk: Desk, principal: Principal, chosen: Callable[[], Sequence[Said]]
) -> Sequence[Said]:
    """``chosen`` is asked again when another writer was faster: what there is to say may be less
    by then. Notes count forever."""
    said_at_first = chosen()
    if not any(map(_says_something, said_at_first)):
        return said_at_first

    def say(table: Table) -> Callable[[Sequence[Step]], Sequence[Said]]:
        said = chosen()
        edges = seen(desk, principal, whole=True).picture.edges
        for each in said:
            _say(table, edges, each)
        return lambda steps: said

    most = 1 + sum(map(_ids_of, said_at_first))  # the owner may come along
    return decide(_in_order(desk, most), principal, say)[1]


def _ids_of(said: NodeSaid | RelationSaid | NotesSaid) -> int:
    match said:
        case NodeSaid():
            return 2 + len(said.notes)
        case RelationSaid():
            return 4  # its telling, its edge, and those of ends that nobody has vouched for
        case NotesSaid():
            return 1 + len(said.contents)


def _says_something(said: NodeSaid | RelationSaid | NotesSaid) -> bool:
    return not isinstance(said, NotesSaid) or bool(said.contents)


def _say(
    table: Table, edges: Mapping[str, Edge], said: NodeSaid | RelationSaid | NotesSaid
) -> None:
    if not _says_something(said):
        return
    match said:
        case NodeSaid():
            _note_all(table.canvas, _node(table, said.word), said.notes)
        case RelationSaid():
            _relate(table, edges, said)
        case NotesSaid():
            node = table.find(said.node, "entityName")
            vouch_for(table.canvas, node, said.node)
            _note_all(table.canvas, node, said.contents)


def _node(table: Table, word: NodeWord) -> Node:
    """One that is called so already, such as the owner, is told of anew."""
    refuse_unseen(table.principal, CATEGORY[word.type], "entityType")
    node = already_there(table, word)
    if node is None:
        return new_node(table.canvas, word)
    is_seen = node.is_owner or node.id in table.known.nodes
    again = said_again(table.canvas, node, word, {}, is_seen)
    say_of(table.canvas, node, again)
    return node.evolve(sensitivity=again.sensitivity)


def _relate(table: Table, edges: Mapping[str, Edge], said: RelationSaid) -> None:
    a, b = table.find(said.from_node, "from"), table.find(said.to_node, "to")
    relate(
        table.canvas,
        a,
        b,
        said.type,
        spoken_of=(said.from_node, said.to_node),
        description=said.description,
        sensitivity=guarded(edges, a, b, said.type),
        beside=True,
    )


def _note_all(canvas: Canvas, node: Node, contents: Sequence[str]) -> None:
    for content in contents:
        note(canvas, node, content, Lifetime.FOREVER)


def _in_order(desk: Desk, most: int) -> Desk:
    """What is said at one moment is still said in an order: by its ids, of which so many sort as
    they are given out."""
    ids = iter(sorted(desk.new_id() for _ in range(most)))
    return replace(desk, new_id=lambda: next(ids, None) or desk.new_id())
