"""Graph edits by owners and agents: nodes, relations, notes, merge, split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from commonplace.engine.access import visibility_of
from commonplace.engine.context import EngineContext, RequestContext
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
from commonplace.engine.graph.visible_graph import (
    EDGE_IDS_REMEDY,
    ME,
    find_node,
    sees_node,
    visible_graph,
)
from commonplace.engine.transaction import run_transaction
from commonplace.errors import CategoryNotAllowed, InvalidInput, NotFound
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

EditResult = TypeVar("EditResult")
MAX_LISTED_EDGES = 5  # relationships that an error tells the ids of


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
    closed: tuple[str, ...]  # edges that it contradicts: they are over now
    revision: int


@dataclass(frozen=True, slots=True)
class AddedNote:
    id: str
    note: Note
    revision: int


@dataclass(frozen=True, slots=True)
class MergedNodes:
    """The first of the ids speaks for the others from now on."""

    id: str
    node: Node
    merged: tuple[str, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class SplitNode:
    id: str  # of the new one, or of the one that speaks for itself again
    node: Node
    rest: Node  # of the one that it was part of
    revision: int


@dataclass(slots=True)
class EditContext:
    """What a decision has before it."""

    work: GraphUnitOfWork
    principal: Principal
    known: NameIndex  # what the caller may see of it
    all_names: NameIndex  # also those who have a name that the caller cannot have

    def find(self, named: str, field: str) -> Node:
        if named.casefold() == ME:
            refuse_hidden_category(self.principal, NODE_CATEGORY[NodeType.PERSON], field)
            return load_or_create_owner(self.work, self.all_names)
        node = find_node(self.known, named, field)
        self.work.load([node.id])
        return node

    def is_owners(self, name: str) -> bool:
        """Whether the owner is called so, be it that they have no node yet."""
        owner = self.all_names.owner
        names = {
            load_owner_name(self.work.engine, self.work.scope),
            owner.name if owner else ME,
        }
        return name_key(name) in {ME, *map(name_key, names)}


def run_edit(
    engine: EngineContext,
    request: RequestContext,
    say: Callable[[EditContext], Callable[[Sequence[ChangesetStep]], EditResult]],
) -> tuple[int, EditResult]:
    """``say`` puts something on the canvas, and tells afterwards what became of it."""

    principal = request.principal

    def decision() -> tuple[Changeset, EditResult]:
        revision = engine.store.counters(principal.own_scope).revision
        work = GraphUnitOfWork(engine, principal.own_scope, principal.actor, engine.clock())
        told = say(_open_edit(work, principal))
        steps = diff_graph(work)
        changeset = Changeset(principal.own_scope, work.at, principal.actor, steps, revision)
        return changeset, told(steps)

    return run_transaction(engine, request, decision)


def _open_edit(work: GraphUnitOfWork, principal: Principal) -> EditContext:
    """The owner is one of those whom names can mean, also in a graph that they come into only
    now."""
    engine = work.engine
    ensure_owner(work)
    new = work.changed_nodes
    everybody = {**engine.graph_cache.of(principal.own_scope).snapshot.nodes, **new}
    sight = visibility_by_id(principal)
    visible = {
        **visible_graph(engine, principal, whole=True).snapshot.nodes,
        **{id: owner for id, owner in new.items() if sees_node(sight, owner)},
    }
    names = build_name_index(visible.values())
    all_names = names if len(visible) == len(everybody) else build_name_index(everybody.values())
    return EditContext(work, principal, names, all_names)


def upsert_node(
    engine: EngineContext,
    request: RequestContext,
    type: NodeType,
    name: str,
    said: Mapping[str, Any],
    ttl_policy: TtlPolicy | None = None,
) -> UpsertedNode:
    """``said``: what else is said of it, as fields of a NodeWord. A node of this type that is
    called so is told of anew, and what is not said stays; else it is new. One that the caller may
    not see is shown with what they said themself, and as if it were new."""
    principal = request.principal
    refuse_hidden_category(principal, NODE_CATEGORY[type], "type")

    def say(table: EditContext) -> Callable[[Sequence[ChangesetStep]], tuple[Node, bool]]:
        word = NodeInput(type=type, name=name, **said)
        node = find_existing(table, word)
        _refuse_taken_names(table, node, type, word.subtype, said)
        if node is None:
            new = create_node(table.work, word, ttl_policy or TtlPolicy.DECAY)
            return lambda steps: (_node_after(steps, new), True)
        is_seen = node.is_owner or node.id in table.known.nodes
        word = reassert_input(table.work, node, word, said, is_seen)
        _reassert(table.work, node, word, ttl_policy)
        if not is_seen:
            shown = _present_as_new(node, word, ttl_policy or TtlPolicy.DECAY, table.work)
            return lambda steps: (shown, True)
        is_new = node.id not in table.work.nodes  # the owner, who comes with this
        return lambda steps: (_node_after(steps, node), is_new)

    revision, (node, is_new) = run_edit(engine, request, say)
    return UpsertedNode(node.id, node, is_new, revision)


def find_existing(table: EditContext, word: NodeInput) -> Node | None:
    """A first name is one node's alone, though the caller may not see it; other names count as far
    as they see them."""
    if word.type is NodeType.PERSON and table.is_owners(word.name):
        return load_or_create_owner(table.work, table.all_names)
    everybody = table.all_names
    id = everybody.called(word.type, word.subtype, name_key(word.name))
    node = everybody.nodes[id] if id else None
    node = node or find_namesake(table.known, word.type, word.subtype, word.name)
    if node is not None:
        table.work.load([node.id])
    return node


def reassert_input(
    work: GraphUnitOfWork, node: Node, word: NodeInput, said: Mapping[str, Any], is_seen: bool
) -> NodeInput:
    """By its first name it is named, in the spelling that it has; any other is one of its names,
    and it stays called as it is."""
    changes = dict(said)
    if node.key == word.key and not node.is_owner:
        changes["name"] = node.name if is_seen else word.name
    elif not node.is_owner:
        spelt = next(each for each in node.names if name_key(each) == word.key)
        changes["aliases"] = (spelt, *word.aliases)
    guarded = node.sensitivity if is_seen else word.sensitivity
    return update_node_input(work, node, changes, word.name, guarded)


def update_node(
    engine: EngineContext,
    request: RequestContext,
    named: str,
    changes: dict[str, Any],
    ttl_policy: TtlPolicy | None,
) -> UpsertedNode:
    """``changes``: fields of a NodeWord. What is not named stays as it is: in the caller's own word
    what they said before, and never what only a source tells, which goes with it."""

    def say(table: EditContext) -> Callable[[Sequence[ChangesetStep]], Node]:
        node = table.find(named, "id")
        if node.is_owner and "name" in changes:
            raise InvalidInput(
                "The owner's name is set in the profile.",
                remedy="Set the profile's preferred_name.",
                field="name",
            )
        if changes:
            word = update_node_input(table.work, node, changes, named)
            _refuse_taken_name(table, node, word)
            _refuse_taken_names(table, node, word.type, word.subtype, changes)
            if word.type is not node.type:
                _change_type(table, node, word.type)
            assert_node(table.work, node, word)
        if ttl_policy is not None:
            table.work.put(node.evolve(ttl_policy=ttl_policy))
        return lambda steps: _node_after(steps, node)

    revision, node = run_edit(engine, request, say)
    return UpsertedNode(node.id, node, False, revision)


def _change_type(table: EditContext, node: Node, type: NodeType) -> None:
    """What its relationships are between is another thing then, too."""
    if node.is_owner:
        raise InvalidInput("The owner's node must be a Person.", field="node_type")
    refuse_hidden_category(table.principal, NODE_CATEGORY[type], "node_type")
    table.work.load_relations([node.id])
    table.work.put(node)


def upsert_relation(
    engine: EngineContext,
    request: RequestContext,
    from_node: str,
    to_node: str,
    type: str,
    **said: Any,
) -> UpsertedRelation:
    principal = request.principal

    def say(
        table: EditContext,
    ) -> Callable[[Sequence[ChangesetStep]], tuple[Edge, bool, tuple[str, ...]]]:
        edges = visible_graph(engine, principal, whole=True).snapshot.edges
        a, b = table.find(from_node, "from_node"), table.find(to_node, "to_node")
        assertion = assert_relation(
            table.work,
            a,
            b,
            type,
            spoken_of=(from_node, to_node),
            sensitivity=relation_sensitivity(edges, a, b, type),
            **said,
        )

        def told(steps: Sequence[ChangesetStep]) -> tuple[Edge, bool, tuple[str, ...]]:
            put = [step for step in steps if isinstance(step, PutEdge)]
            mine = next(s for s in put if assertion.id in {each.id for each in s.assertions})
            others = [s for s in put if s is not mine and s.after.id in edges]
            closed = tuple(s.after.id for s in others if _is_closed(s))
            return mine.after, mine.after.id not in edges, closed

        return told

    revision, (edge, is_new, closed) = run_edit(engine, request, say)
    return UpsertedRelation(edge.id, edge, is_new, closed, revision)


def relation_sensitivity(edges: Mapping[str, Edge], a: Node, b: Node, type: str) -> Sensitivity:
    """As the same relation is, where the caller knows of one."""
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

    def say(table: EditContext) -> Callable[[Sequence[ChangesetStep]], Note]:
        made = attach_note(
            table.work, _note_subject(engine, principal, table, about), content, lifetime
        )
        return lambda steps: made

    revision, made = run_edit(engine, request, say)
    return AddedNote(made.id, made, revision)


def _note_subject(
    engine: EngineContext, principal: Principal, table: EditContext, about: Sequence[str]
) -> Node | Edge:
    edges = visible_graph(engine, principal, whole=True).snapshot.edges
    if len(about) == 1 and about[0].startswith(OF_EDGE):
        edge = edges.get(about[0])
        if edge is None:
            raise NotFound(
                f"There is no {about[0]!r} in the graph.", remedy=EDGE_IDS_REMEDY, field="about"
            )
        table.work.load_edges([edge.id])
        return edge
    nodes = [table.find(each, "about") for each in about]
    if len(nodes) == 1:
        ensure_asserted(table.work, nodes[0], about[0])
        return nodes[0]
    ends = {node.id for node in nodes}
    between = [edge for edge in edges.values() if set(edge.ends) == ends]
    now = [edge for edge in between if edge.valid_to is None]
    chosen = _only_edge(now or between)
    table.work.load_edges([chosen.id])
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

    def say(
        table: EditContext,
    ) -> Callable[[Sequence[ChangesetStep]], tuple[Node, tuple[str, ...]]]:
        keep, *others = (table.find(id, "ids") for id in ids)
        for other in others:
            mark_merged(table.work, keep, other)
        return lambda steps: (_node_after(steps, keep), tuple(other.id for other in others))

    revision, (node, merged) = run_edit(engine, request, say)
    return MergedNodes(node.id, node, merged, revision)


def split_node(
    engine: EngineContext,
    request: RequestContext,
    id: str,
    name: str | None,
    names: Sequence[str],
    sources: Sequence[str],
) -> SplitNode:
    """A node that was merged speaks for itself again; of another, what was told under these names
    or by these sources becomes a node of its own."""

    principal = request.principal

    def say(table: EditContext) -> Callable[[Sequence[ChangesetStep]], tuple[Node, Node]]:
        merged = _merged_node(engine, principal, table, id)
        if merged is not None:
            mark_unmerged(table.work, merged)
            rest = table.find(table.work.root(str(merged.merged_into)), "id")
            return lambda steps: (_node_after(steps, merged), _node_after(steps, rest))
        node = table.find(id, "id")
        if name is None or not (names or sources):
            raise InvalidInput(
                "split needs a name for the new node, and names or sources.",
                field="name",
            )
        word = NodeInput(type=node.type, subtype=node.subtype, name=name)
        if taken := table.all_names.called(word.type, word.subtype, name_key(name)):
            raise name_taken_error(word.name, taken if taken in table.known.nodes else None, "name")
        other = split_assertions(table.work, node, name, names=names, sources=sources)
        return lambda steps: (_node_after(steps, other), _node_after(steps, node))

    revision, (node, rest) = run_edit(engine, request, say)
    return SplitNode(node.id, node, rest, revision)


def _merged_node(
    engine: EngineContext, principal: Principal, table: EditContext, id: str
) -> Node | None:
    """The node of this id, where another speaks for it; the caller may see both."""
    sight = OWNER_VISIBILITY if principal.is_owner else visibility_of(principal)
    found = engine.store.graph_items(principal.own_scope, GraphQuery(nodes=[id])).nodes
    if not found or found[0].merged_into is None or not sees_node(sight, found[0]):
        return None
    table.work.load([id])
    return found[0] if table.work.root(id) in table.known.nodes else None


def _reassert(work: GraphUnitOfWork, node: Node, word: NodeInput, ttl: TtlPolicy | None) -> None:
    if ttl is not None:
        work.put(node.evolve(ttl_policy=ttl))
    assert_node(work, node, word)


def _refuse_taken_name(table: EditContext, node: Node, word: NodeInput) -> None:
    name = word.name if word.is_named else node.name
    if not node.is_owner:
        _refuse_owner_names(table, word.type, [name], "name")
    other = table.all_names.called(word.type, word.subtype, name_key(name))
    if other is not None and other != node.id:
        raise name_taken_error(name, other if other in table.known.nodes else None, "name")


def _refuse_taken_names(
    table: EditContext, node: Node | None, type: NodeType, subtype: str, said: Mapping[str, Any]
) -> None:
    """Of the names and addresses that are given now."""
    aliases, addresses = said.get("aliases", ()), said.get("addresses", ())
    if node is None or not node.is_owner:
        _refuse_owner_names(table, type, aliases, "aliases")
    refuse_taken_name(table.known, node, type, subtype, aliases, "aliases")
    refuse_taken_address(table.known, node, addresses)


def _refuse_owner_names(
    table: EditContext, type: NodeType, names: Iterable[str], field: str
) -> None:
    theirs = [name for name in names if type is NodeType.PERSON and table.is_owners(name)]
    if theirs:
        raise InvalidInput(
            f"{theirs[0]!r} is a name of the owner.",
            remedy="Use `me` for the owner's node; give another person a longer name.",
            field=field,
        )


def refuse_hidden_category(principal: Principal, category: str, field: str) -> None:
    if not visibility_of(principal).admits_category(category):
        raise CategoryNotAllowed(
            f"{principal.agent} may not read the category {category!r}.", field=field
        )


def _present_as_new(
    node: Node, word: NodeInput, ttl_policy: TtlPolicy, work: GraphUnitOfWork
) -> Node:
    """With what was said of it now, and nothing that somebody else knows of it."""
    return Node(
        id=node.id,
        user_id=node.user_id,
        type=word.type,
        subtype=word.subtype,
        name=word.name,
        key=name_key(word.name),
        aliases=word.aliases,
        addresses=word.addresses,
        description=word.description,
        confidence=word.confidence,
        ttl_policy=ttl_policy,
        created_by=work.by,
        created_at=work.at,
        updated_at=work.at,
    )


def _node_after(steps: Sequence[ChangesetStep], node: Node) -> Node:
    put = [step.after for step in steps if isinstance(step, PutNode) and step.after.id == node.id]
    return put[-1] if put else node
