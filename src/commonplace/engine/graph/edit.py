"""Graph edits by owners and agents: nodes, relations, notes, merge, split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from commonplace.engine.access import require_may_identify_owner, visibility_of
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.graph.visible_graph import EDGE_IDS_REMEDY, ME
from commonplace.errors import CategoryNotAllowed, InvalidInput, NotFound
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Changeset, ChangesetStep
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.graph.assertion import Note, NoteLifetime
from commonplace.model.graph.elements import EDGE_PREFIX as OF_EDGE
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.steps import PutEdge, PutNode
from commonplace.model.graph.types import NODE_CATEGORY, NodeType, canonical_relationship
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity
from commonplace.store.queries import GraphQuery

with lazy_imports(__name__):
    from commonplace.engine.graph.graph_diff import diff_graph
    from commonplace.engine.graph.merge_split import mark_merged, mark_unmerged, split_assertions
    from commonplace.engine.graph.names import (
        NameIndex,
        build_name_index,
        find_namesake,
        name_key,
        name_taken_error,
        refuse_taken_address,
        refuse_taken_name,
    )
    from commonplace.engine.graph.remove import visibility_by_id
    from commonplace.engine.graph.unit_of_work import (
        GraphUnitOfWork,
        ensure_owner,
        load_or_create_owner,
        load_owner_name,
    )
    from commonplace.engine.graph.user_assertions import (
        NodeInput,
        assert_node,
        assert_relation,
        attach_note,
        create_node,
        ensure_asserted,
        update_node_input,
    )
    from commonplace.engine.graph.visible_graph import find_node, sees_node, visible_graph
    from commonplace.engine.transaction import run_transaction

EditResult = TypeVar("EditResult")
MAX_LISTED_EDGES = 5  # relationships listed in an error


@dataclass(frozen=True, slots=True)
class UpsertedNode:
    id: str
    node: Node
    is_new: bool
    revision: int


@dataclass(frozen=True, slots=True)
class UpsertedRelation:
    id: str
    edge: Edge
    is_new: bool
    closed: tuple[str, ...]  # edges that it contradicts and ends
    revision: int


@dataclass(frozen=True, slots=True)
class AddedNote:
    id: str
    note: Note
    revision: int


@dataclass(frozen=True, slots=True)
class MergedNodes:
    """The other ids are merged into the first one."""

    id: str
    node: Node
    merged: tuple[str, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class SplitNode:
    id: str  # the new node, or the one that is no longer merged
    node: Node
    rest: Node  # the node that it was part of
    revision: int


@dataclass(slots=True)
class EditContext:
    work: GraphUnitOfWork
    principal: Principal
    known: NameIndex  # visible to the caller
    all_names: NameIndex  # also those hidden from the caller: their names are taken

    def find(self, named: str, field: str) -> Node:
        if named.casefold() == ME:
            refuse_hidden_category(self.principal, NODE_CATEGORY[NodeType.PERSON], field)
            return load_or_create_owner(self.work, self.all_names)
        node = find_node(self.known, named, field)
        self.work.load([node.id])
        return node

    def is_owners(self, name: str) -> bool:
        """Whether this is a name of the owner, who may have no node yet."""
        owner = self.all_names.owner
        names = {
            load_owner_name(self.work.engine, self.work.scope),
            owner.name if owner else ME,
        }
        return name_key(name) in {ME, *map(name_key, names)}


def run_edit(
    engine: EngineContext,
    request: RequestContext,
    edit: Callable[[EditContext], Callable[[Sequence[ChangesetStep]], EditResult]],
) -> tuple[int, EditResult]:
    """``edit`` changes the unit of work and returns a function from the steps to the result."""

    principal = request.principal

    def decision() -> tuple[Changeset, EditResult]:
        revision = engine.store.counters(principal.own_scope).revision
        work = GraphUnitOfWork(engine, principal.own_scope, principal.actor, engine.clock())
        result_of = edit(_open_edit(work, principal))
        steps = diff_graph(work)
        changeset = Changeset(principal.own_scope, work.at, principal.actor, steps, revision)
        return changeset, result_of(steps)

    return run_transaction(engine, request, decision)


def _open_edit(work: GraphUnitOfWork, principal: Principal) -> EditContext:
    """The name indexes include the owner, even if the owner's node is created by this edit."""
    engine = work.engine
    ensure_owner(work)
    new = work.changed_nodes
    all_nodes = {**engine.graph_cache.of(principal.own_scope).snapshot.nodes, **new}
    sight = visibility_by_id(principal)
    visible = {
        **visible_graph(engine, principal, whole=True).snapshot.nodes,
        **{id: owner for id, owner in new.items() if sees_node(sight, owner)},
    }
    names = build_name_index(visible.values())
    all_names = names if len(visible) == len(all_nodes) else build_name_index(all_nodes.values())
    return EditContext(work, principal, names, all_names)


def upsert_node(
    engine: EngineContext,
    request: RequestContext,
    type: NodeType,
    name: str,
    fields: Mapping[str, Any],
    ttl_policy: TtlPolicy | None = None,
) -> UpsertedNode:
    """Update the node of this type and name, or create it. ``fields``: other fields of a NodeInput;
    omitted ones stay as they are. A node hidden from the caller is returned as if it were new,
    with the given fields only."""
    principal = request.principal
    refuse_hidden_category(principal, NODE_CATEGORY[type], "type")

    def edit(context: EditContext) -> Callable[[Sequence[ChangesetStep]], tuple[Node, bool]]:
        node_input = NodeInput(type=type, name=name, **fields)
        node = find_existing(context, node_input)
        if node is not None:
            _check_identity(context, node, fields)
        _refuse_taken_names(context, node, type, node_input.subtype, fields)
        if node is None:
            new = create_node(context.work, node_input, ttl_policy or TtlPolicy.DECAY)
            return lambda steps: (_node_after(steps, new), True)
        is_visible = node.is_owner or node.id in context.known.nodes
        node_input = reassert_input(context.work, node, node_input, fields, is_visible)
        _reassert(context.work, node, node_input, ttl_policy)
        if not is_visible:
            shown = _present_as_new(node, node_input, ttl_policy or TtlPolicy.DECAY, context.work)
            return lambda steps: (shown, True)
        is_new = node.id not in context.work.nodes  # the owner's node, created by this edit
        return lambda steps: (_node_after(steps, node), is_new)

    revision, (node, is_new) = run_edit(engine, request, edit)
    return UpsertedNode(node.id, node, is_new, revision)


def find_existing(context: EditContext, node_input: NodeInput) -> Node | None:
    """A primary name matches even a hidden node, because it is unique; aliases match visible nodes
    only."""
    if node_input.type is NodeType.PERSON and context.is_owners(node_input.name):
        return load_or_create_owner(context.work, context.all_names)
    all_names = context.all_names
    id = all_names.by_primary_name(node_input.type, node_input.subtype, name_key(node_input.name))
    node = all_names.nodes[id] if id else None
    node = node or find_namesake(
        context.known, node_input.type, node_input.subtype, node_input.name
    )
    if node is not None:
        context.work.load([node.id])
    return node


def reassert_input(
    work: GraphUnitOfWork,
    node: Node,
    node_input: NodeInput,
    fields: Mapping[str, Any],
    is_visible: bool,
) -> NodeInput:
    """A primary name is asserted in its existing spelling; any other name is asserted as an alias,
    without renaming the node."""
    changes = dict(fields)
    if node.key == node_input.key and not node.is_owner:
        changes["name"] = node.name if is_visible else node_input.name
    elif not node.is_owner:
        spelling = next(each for each in node.names if name_key(each) == node_input.key)
        changes["aliases"] = (spelling, *node_input.aliases)
    level = node.sensitivity if is_visible else node_input.sensitivity
    return update_node_input(work, node, changes, node_input.name, level)


def update_node(
    engine: EngineContext,
    request: RequestContext,
    named: str,
    changes: dict[str, Any],
    ttl_policy: TtlPolicy | None,
) -> UpsertedNode:
    """``changes``: fields of a NodeInput. Omitted fields keep the caller's earlier values. Values
    that only a source asserts are not copied, because they must go with the source."""

    def edit(context: EditContext) -> Callable[[Sequence[ChangesetStep]], Node]:
        node = context.find(named, "id")
        if node.is_owner and "name" in changes:
            raise InvalidInput(
                "The owner's name is set in the profile.",
                remedy="Set the profile's preferred_name.",
                field="name",
            )
        if changes:
            _check_identity(context, node, changes)
            node_input = update_node_input(context.work, node, changes, named)
            _refuse_taken_name(context, node, node_input)
            _refuse_taken_names(context, node, node_input.type, node_input.subtype, changes)
            if node_input.type is not node.type:
                _change_type(context, node, node_input.type)
            assert_node(context.work, node, node_input)
        if ttl_policy is not None:
            context.work.put(node.evolve(ttl_policy=ttl_policy))
        return lambda steps: _node_after(steps, node)

    revision, node = run_edit(engine, request, edit)
    return UpsertedNode(node.id, node, False, revision)


def _check_identity(context: EditContext, node: Node, changes: Mapping[str, Any]) -> None:
    for field in ("aliases", "addresses", "not_called"):
        if changes.get(field):
            require_may_identify_owner(context.principal, node, field)


def _change_type(context: EditContext, node: Node, type: NodeType) -> None:
    """Loads the relations, too: the kind of an edge depends on the types of its ends."""
    if node.is_owner:
        raise InvalidInput("The owner's node must be a Person.", field="node_type")
    refuse_hidden_category(context.principal, NODE_CATEGORY[type], "node_type")
    context.work.load_relations([node.id])
    context.work.put(node)


def upsert_relation(
    engine: EngineContext,
    request: RequestContext,
    from_node: str,
    to_node: str,
    type: str,
    **fields: Any,
) -> UpsertedRelation:
    principal = request.principal

    def edit(
        context: EditContext,
    ) -> Callable[[Sequence[ChangesetStep]], tuple[Edge, bool, tuple[str, ...]]]:
        edges = visible_graph(engine, principal, whole=True).snapshot.edges
        a, b = context.find(from_node, "from_node"), context.find(to_node, "to_node")
        assertion = assert_relation(
            context.work,
            a,
            b,
            type,
            referred_to_as=(from_node, to_node),
            sensitivity=relation_sensitivity(edges, a, b, type),
            known=edges.values(),
            **fields,
        )

        def result_of(steps: Sequence[ChangesetStep]) -> tuple[Edge, bool, tuple[str, ...]]:
            put = [step for step in steps if isinstance(step, PutEdge)]
            mine = next(s for s in put if assertion.id in {each.id for each in s.assertions})
            others = [s for s in put if s is not mine and s.after.id in edges]
            closed = tuple(s.after.id for s in others if _is_closed(s))
            return mine.after, mine.after.id not in edges, closed

        return result_of

    revision, (edge, is_new, closed) = run_edit(engine, request, edit)
    return UpsertedRelation(edge.id, edge, is_new, closed, revision)


def relation_sensitivity(edges: Mapping[str, Edge], a: Node, b: Node, type: str) -> Sensitivity:
    """The sensitivity of the same relation, if the caller may see one."""
    _, _, kept = canonical_relationship(a.id, b.id, type)
    same = [e for e in edges.values() if set(e.ends) == {a.id, b.id} and e.type == kept]
    is_guarded = same and all(e.sensitivity is Sensitivity.HIGH for e in same)
    return Sensitivity.HIGH if is_guarded else Sensitivity.NORMAL


def _is_closed(step: PutEdge) -> bool:
    before = step.before
    return before is not None and before.valid_to is None and step.after.valid_to is not None


def add_note(
    engine: EngineContext,
    request: RequestContext,
    about: Sequence[str],
    content: str,
    lifetime: NoteLifetime,
) -> AddedNote:
    """On a node (its id or name), on an edge (its id), or on the relation of two nodes."""

    principal = request.principal

    def edit(context: EditContext) -> Callable[[Sequence[ChangesetStep]], Note]:
        note = attach_note(
            context.work, _note_subject(engine, principal, context, about), content, lifetime
        )
        return lambda steps: note

    revision, note = run_edit(engine, request, edit)
    return AddedNote(note.id, note, revision)


def _note_subject(
    engine: EngineContext, principal: Principal, context: EditContext, about: Sequence[str]
) -> Node | Edge:
    edges = visible_graph(engine, principal, whole=True).snapshot.edges
    if len(about) == 1 and about[0].startswith(OF_EDGE):
        edge = edges.get(about[0])
        if edge is None:
            raise NotFound(
                f"There is no {about[0]!r} in the graph.", remedy=EDGE_IDS_REMEDY, field="about"
            )
        context.work.load_edges([edge.id])
        return edge
    nodes = [context.find(each, "about") for each in about]
    if len(nodes) == 1:
        ensure_asserted(context.work, nodes[0], about[0])
        return nodes[0]
    ends = {node.id for node in nodes}
    between = [edge for edge in edges.values() if set(edge.ends) == ends]
    now = [edge for edge in between if edge.valid_to is None]
    chosen = _only_edge(now or between)
    context.work.load_edges([chosen.id])
    return chosen


def _only_edge(between: Sequence[Edge]) -> Edge:
    if not between:
        raise NotFound(
            "These two nodes have no relationship.", remedy="Add one first: relate.", field="about"
        )
    if len(between) > 1:
        listed = ", ".join(f"{edge.id} ({edge.type})" for edge in between[:MAX_LISTED_EDGES])
        raise InvalidInput(
            "These two nodes have several relationships.",
            remedy=f"Give the id of the one you mean: {listed}.",
            field="about",
        )
    return between[0]


def merge_nodes(engine: EngineContext, request: RequestContext, ids: Sequence[str]) -> MergedNodes:
    if len(ids) < 2:
        raise InvalidInput("Merging takes at least two ids.", field="ids")
    principal = request.principal

    def edit(
        context: EditContext,
    ) -> Callable[[Sequence[ChangesetStep]], tuple[Node, tuple[str, ...]]]:
        keep, *others = (context.find(id, "ids") for id in ids)
        for node in (keep, *others):
            require_may_identify_owner(principal, node, "ids")
        for other in others:
            mark_merged(context.work, keep, other)
        return lambda steps: (_node_after(steps, keep), tuple(other.id for other in others))

    revision, (node, merged) = run_edit(engine, request, edit)
    return MergedNodes(node.id, node, merged, revision)


def split_node(
    engine: EngineContext,
    request: RequestContext,
    id: str,
    name: str | None,
    names: Sequence[str],
    sources: Sequence[str],
) -> SplitNode:
    """Undo the merge of a merged node; else move the assertions with these names, or of these
    sources, to a new node."""

    principal = request.principal

    def edit(context: EditContext) -> Callable[[Sequence[ChangesetStep]], tuple[Node, Node]]:
        merged = _merged_node(engine, principal, context, id)
        if merged is not None:
            rest = context.find(context.work.root(str(merged.merged_into)), "id")
            require_may_identify_owner(principal, rest, "id")
            mark_unmerged(context.work, merged)
            return lambda steps: (_node_after(steps, merged), _node_after(steps, rest))
        node = context.find(id, "id")
        require_may_identify_owner(principal, node, "id")
        if name is None or not (names or sources):
            raise InvalidInput(
                "split needs a name for the new node, and names or sources.",
                field="name",
            )
        node_input = NodeInput(type=node.type, subtype=node.subtype, name=name)
        if taken := context.all_names.by_primary_name(
            node_input.type, node_input.subtype, name_key(name)
        ):
            raise name_taken_error(
                node_input.name, taken if taken in context.known.nodes else None, "name"
            )
        other = split_assertions(context.work, node, name, names=names, sources=sources)
        return lambda steps: (_node_after(steps, other), _node_after(steps, node))

    revision, (node, rest) = run_edit(engine, request, edit)
    return SplitNode(node.id, node, rest, revision)


def _merged_node(
    engine: EngineContext, principal: Principal, context: EditContext, id: str
) -> Node | None:
    """The node of this id, if it is merged and the caller may see it and its merge root."""
    sight = OWNER_VISIBILITY if principal.is_owner else visibility_of(principal)
    found = engine.store.graph_items(principal.own_scope, GraphQuery(nodes=[id])).nodes
    if not found or found[0].merged_into is None or not sees_node(sight, found[0]):
        return None
    context.work.load([id])
    return found[0] if context.work.root(id) in context.known.nodes else None


def _reassert(
    work: GraphUnitOfWork, node: Node, node_input: NodeInput, ttl: TtlPolicy | None
) -> None:
    if ttl is not None:
        work.put(node.evolve(ttl_policy=ttl))
    assert_node(work, node, node_input)


def _refuse_taken_name(context: EditContext, node: Node, node_input: NodeInput) -> None:
    name = node_input.name if node_input.is_named else node.name
    if not node.is_owner:
        _refuse_owner_names(context, node_input.type, [name], "name")
    other = context.all_names.by_primary_name(node_input.type, node_input.subtype, name_key(name))
    if other is not None and other != node.id:
        raise name_taken_error(name, other if other in context.known.nodes else None, "name")


def _refuse_taken_names(
    context: EditContext, node: Node | None, type: NodeType, subtype: str, fields: Mapping[str, Any]
) -> None:
    """Refuse given aliases and addresses that other nodes have."""
    aliases, addresses = fields.get("aliases", ()), fields.get("addresses", ())
    if node is None or not node.is_owner:
        _refuse_owner_names(context, type, aliases, "aliases")
    refuse_taken_name(context.known, node, type, subtype, aliases, "aliases")
    refuse_taken_address(context.known, node, addresses)


def _refuse_owner_names(
    context: EditContext, type: NodeType, names: Iterable[str], field: str
) -> None:
    owner_names = [name for name in names if type is NodeType.PERSON and context.is_owners(name)]
    if owner_names:
        raise InvalidInput(
            f"{owner_names[0]!r} is a name of the owner.",
            remedy="Use `me` for the owner's node; give another person a longer name.",
            field=field,
        )


def refuse_hidden_category(principal: Principal, category: str, field: str) -> None:
    if not visibility_of(principal).admits_category(category):
        raise CategoryNotAllowed(
            f"{principal.agent} may not read the category {category!r}.", field=field
        )


def _present_as_new(
    node: Node, node_input: NodeInput, ttl_policy: TtlPolicy, work: GraphUnitOfWork
) -> Node:
    """Only the given fields, and nothing that others know about the node."""
    return Node(
        id=node.id,
        user_id=node.user_id,
        type=node_input.type,
        subtype=node_input.subtype,
        name=node_input.name,
        key=name_key(node_input.name),
        aliases=node_input.aliases,
        addresses=node_input.addresses,
        description=node_input.description,
        confidence=node_input.confidence,
        ttl_policy=ttl_policy,
        created_by=work.by,
        created_at=work.at,
        updated_at=work.at,
    )


def _node_after(steps: Sequence[ChangesetStep], node: Node) -> Node:
    put = [step.after for step in steps if isinstance(step, PutNode) and step.after.id == node.id]
    return put[-1] if put else node
