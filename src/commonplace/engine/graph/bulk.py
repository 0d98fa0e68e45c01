"""Bulk graph edits: several nodes, relations and notes in one changeset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.graph.edit import (
    EditContext,
    find_existing,
    reassert_input,
    refuse_hidden_category,
    relation_sensitivity,
    run_edit,
)
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.engine.graph.user_assertions import (
    NodeInput,
    assert_node,
    assert_relation,
    attach_note,
    create_node,
    ensure_asserted,
)
from commonplace.engine.graph.visible_graph import visible_graph
from commonplace.model.changeset import ChangesetStep
from commonplace.model.graph.assertion import NoteLifetime
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.types import NODE_CATEGORY


@dataclass(frozen=True, slots=True)
class NodeUpsert:
    word: NodeInput
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationUpsert:
    """It holds beside others of its kind: it ends none, and none ends it."""

    from_node: str  # the id of a node
    to_node: str
    type: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class NotesUpsert:
    node: str  # its id
    contents: tuple[str, ...]


BulkItem = TypeVar("BulkItem", NodeUpsert, RelationUpsert, NotesUpsert)


def apply_bulk(
    engine: EngineContext, request: RequestContext, chosen: Callable[[], Sequence[BulkItem]]
) -> Sequence[BulkItem]:
    """``chosen`` is asked again when another writer was faster: what there is to say may be less
    by then. Notes count forever."""
    principal = request.principal
    said_at_first = chosen()
    if not any(map(_has_content, said_at_first)):
        return said_at_first

    def say(table: EditContext) -> Callable[[Sequence[ChangesetStep]], Sequence[BulkItem]]:
        said = chosen()
        edges = visible_graph(engine, principal, whole=True).snapshot.edges
        for each in said:
            _apply_item(table, edges, each)
        return lambda steps: said

    most = 1 + sum(map(_count_new_ids, said_at_first))  # the owner may come along
    return run_edit(_with_ordered_ids(engine, most), request, say)[1]


def _count_new_ids(said: NodeUpsert | RelationUpsert | NotesUpsert) -> int:
    match said:
        case NodeUpsert():
            return 2 + len(said.notes)
        case RelationUpsert():
            return 4  # its telling, its edge, and those of ends that nobody has vouched for
        case NotesUpsert():
            return 1 + len(said.contents)


def _has_content(said: NodeUpsert | RelationUpsert | NotesUpsert) -> bool:
    return not isinstance(said, NotesUpsert) or bool(said.contents)


def _apply_item(
    table: EditContext, edges: Mapping[str, Edge], said: NodeUpsert | RelationUpsert | NotesUpsert
) -> None:
    if not _has_content(said):
        return
    match said:
        case NodeUpsert():
            _attach_notes(table.work, _upsert_node(table, said.word), said.notes)
        case RelationUpsert():
            _upsert_relation(table, edges, said)
        case NotesUpsert():
            node = table.find(said.node, "entityName")
            ensure_asserted(table.work, node, said.node)
            _attach_notes(table.work, node, said.contents)


def _upsert_node(table: EditContext, word: NodeInput) -> Node:
    """One that is called so already, such as the owner, is told of anew."""
    refuse_hidden_category(table.principal, NODE_CATEGORY[word.type], "entityType")
    node = find_existing(table, word)
    if node is None:
        return create_node(table.work, word)
    is_seen = node.is_owner or node.id in table.known.nodes
    again = reassert_input(table.work, node, word, {}, is_seen)
    assert_node(table.work, node, again)
    return node.evolve(sensitivity=again.sensitivity)


def _upsert_relation(table: EditContext, edges: Mapping[str, Edge], said: RelationUpsert) -> None:
    a, b = table.find(said.from_node, "from"), table.find(said.to_node, "to")
    assert_relation(
        table.work,
        a,
        b,
        said.type,
        spoken_of=(said.from_node, said.to_node),
        description=said.description,
        sensitivity=relation_sensitivity(edges, a, b, said.type),
        beside=True,
    )


def _attach_notes(work: GraphUnitOfWork, node: Node, contents: Sequence[str]) -> None:
    for content in contents:
        attach_note(work, node, content, NoteLifetime.FOREVER)


def _with_ordered_ids(engine: EngineContext, most: int) -> EngineContext:
    """What is said at one moment is still said in an order: by its ids, of which so many sort as
    they are given out."""
    ids = iter(sorted(engine.new_id() for _ in range(most)))
    return replace(engine, new_id=lambda: next(ids, None) or engine.new_id())
