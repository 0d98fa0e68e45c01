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
    node_input: NodeInput
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationUpsert:
    """An additional relation: it does not end others of its type, and they do not end it."""

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
    """``chosen`` is called again after a write conflict: fewer items may be left then. Notes do not
    expire."""
    principal = request.principal
    first_items = chosen()
    if not any(map(_has_content, first_items)):
        return first_items

    def edit(context: EditContext) -> Callable[[Sequence[ChangesetStep]], Sequence[BulkItem]]:
        items = chosen()
        edges = visible_graph(engine, principal, whole=True).snapshot.edges
        for each in items:
            _apply_item(context, edges, each)
        return lambda steps: items

    most = 1 + sum(map(_count_new_ids, first_items))  # the owner's node may be new, too
    return run_edit(_with_ordered_ids(engine, most), request, edit)[1]


def _count_new_ids(item: NodeUpsert | RelationUpsert | NotesUpsert) -> int:
    match item:
        case NodeUpsert():
            return 2 + len(item.notes)
        case RelationUpsert():
            return 4  # its assertion, its edge, and assertions of both ends
        case NotesUpsert():
            return 1 + len(item.contents)


def _has_content(item: NodeUpsert | RelationUpsert | NotesUpsert) -> bool:
    return not isinstance(item, NotesUpsert) or bool(item.contents)


def _apply_item(
    context: EditContext, edges: Mapping[str, Edge], item: NodeUpsert | RelationUpsert | NotesUpsert
) -> None:
    if not _has_content(item):
        return
    match item:
        case NodeUpsert():
            _attach_notes(context.work, _upsert_node(context, item.node_input), item.notes)
        case RelationUpsert():
            _upsert_relation(context, edges, item)
        case NotesUpsert():
            node = context.find(item.node, "entityName")
            ensure_asserted(context.work, node, item.node)
            _attach_notes(context.work, node, item.contents)


def _upsert_node(context: EditContext, node_input: NodeInput) -> Node:
    """An existing node of this name, such as the owner, gets another assertion."""
    refuse_hidden_category(context.principal, NODE_CATEGORY[node_input.type], "entityType")
    node = find_existing(context, node_input)
    if node is None:
        return create_node(context.work, node_input)
    is_visible = node.is_owner or node.id in context.known.nodes
    merged_input = reassert_input(context.work, node, node_input, {}, is_visible)
    assert_node(context.work, node, merged_input)
    return node.evolve(sensitivity=merged_input.sensitivity)


def _upsert_relation(context: EditContext, edges: Mapping[str, Edge], item: RelationUpsert) -> None:
    a, b = context.find(item.from_node, "from"), context.find(item.to_node, "to")
    assert_relation(
        context.work,
        a,
        b,
        item.type,
        referred_to_as=(item.from_node, item.to_node),
        description=item.description,
        sensitivity=relation_sensitivity(edges, a, b, item.type),
        beside=True,
    )


def _attach_notes(work: GraphUnitOfWork, node: Node, contents: Sequence[str]) -> None:
    for content in contents:
        attach_note(work, node, content, NoteLifetime.FOREVER)


def _with_ordered_ids(engine: EngineContext, count: int) -> EngineContext:
    """Ids order the assertions of one moment, so ``count`` ids sort in the order of their use."""
    ids = iter(sorted(engine.new_id() for _ in range(count)))
    return replace(engine, new_id=lambda: next(ids, None) or engine.new_id())
