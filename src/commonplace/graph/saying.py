"""What owners and agents say of the graph themselves: one decision each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from commonplace.desk import Desk, visibility_of
from commonplace.errors import CategoryNotAllowed, InvalidInput, NotFound
from commonplace.graph.by_id import sight_of
from commonplace.graph.canvas import Canvas
from commonplace.graph.find import EDGES_ARE_LISTED, ME, find_node
from commonplace.graph.known import Known, key_of, known, name_taken
from commonplace.graph.merging import merge, split, unmerge
from commonplace.graph.namesakes import namesake, refuse_anothers_address, refuse_anothers_name
from commonplace.graph.own_word import (
    NodeWord,
    changed_word,
    new_node,
    note,
    relate,
    say_of,
    vouch_for,
)
from commonplace.graph.owner import name_of_owner, owner_node, see_to_owner
from commonplace.graph.seen import seen, sees_node
from commonplace.graph.weave import weave
from commonplace.model.changes import Changeset, Step
from commonplace.model.filters import WHOLE
from commonplace.model.graph.edge import PREFIX as OF_EDGE
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import Lifetime, Note
from commonplace.model.graph.relationships import as_kept
from commonplace.model.graph.steps import PutEdge, PutNode
from commonplace.model.graph.words import CATEGORY, NodeType
from commonplace.model.memory import Sensitivity
from commonplace.model.scope import Principal
from commonplace.model.ttl_policy import TtlPolicy

Said = TypeVar("Said")
MOST_NAMED = 5  # relationships that an error tells the ids of


@dataclass(frozen=True, slots=True)
class SaidNode:
    id: str
    node: Node
    is_new: bool
    revision: int


@dataclass(frozen=True, slots=True)
class Related:
    id: str
    edge: Edge
    is_new: bool
    closed: tuple[str, ...]  # edges that it contradicts: they are over now
    revision: int


@dataclass(frozen=True, slots=True)
class Noted:
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
class Table:
    """What a decision has before it."""

    canvas: Canvas
    principal: Principal
    known: Known  # what the caller may see of it
    everybody: Known  # also those who have a name that the caller cannot have

    def find(self, named: str, field: str) -> Node:
        if named.casefold() == ME:
            refuse_unseen(self.principal, CATEGORY[NodeType.PERSON], field)
            return owner_node(self.canvas, self.everybody)
        node = find_node(self.known, named, field)
        self.canvas.load([node.id])
        return node

    def is_owners(self, name: str) -> bool:
        """Whether the owner is called so, be it that they have no node yet."""
        owner = self.everybody.owner
        names = {name_of_owner(self.canvas.desk, self.canvas.scope), owner.name if owner else ME}
        return key_of(name) in {ME, *map(key_of, names)}


def decide(
    desk: Desk, principal: Principal, say: Callable[[Table], Callable[[Sequence[Step]], Said]]
) -> tuple[int, Said]:
    """``say`` puts something on the canvas, and tells afterwards what became of it."""

    def decision() -> tuple[Changeset, Said]:
        revision = desk.store.counters(principal.home).revision
        canvas = Canvas(desk, principal.home, principal.actor, desk.clock())
        told = say(_laid(canvas, principal))
        steps = weave(canvas)
        changeset = Changeset(principal.home, canvas.at, principal.actor, steps, revision)
        return changeset, told(steps)

    return desk.decide(decision)


def _laid(canvas: Canvas, principal: Principal) -> Table:
    """The owner is one of those whom names can mean, also in a graph that they come into only
    now."""
    desk = canvas.desk
    see_to_owner(canvas)
    new = canvas.changed_nodes
    everybody = {**desk.pictures.of(principal.home).picture.nodes, **new}
    sight = sight_of(principal)
    visible = {
        **seen(desk, principal, whole=True).picture.nodes,
        **{id: owner for id, owner in new.items() if sees_node(sight, owner)},
    }
    names = known(visible.values())
    all_names = names if len(visible) == len(everybody) else known(everybody.values())
    return Table(canvas, principal, names, all_names)


def say_node(
    desk: Desk,
    principal: Principal,
    type: NodeType,
    name: str,
    said: Mapping[str, Any],
    ttl_policy: TtlPolicy | None = None,
) -> SaidNode:
    """``said``: what else is said of it, as fields of a NodeWord. A node of this type that is
    called so is told of anew, and what is not said stays; else it is new. One that the caller may
    not see is shown with what they said themself, and as if it were new."""
    refuse_unseen(principal, CATEGORY[type], "type")

    def say(table: Table) -> Callable[[Sequence[Step]], tuple[Node, bool]]:
        word = NodeWord(type=type, name=name, **said)
        node = already_there(table, word)
        _refuse_anothers(table, node, type, word.subtype, said)
        if node is None:
            new = new_node(table.canvas, word, ttl_policy or TtlPolicy.DECAY)
            return lambda steps: (_node_after(steps, new), True)
        is_seen = node.is_owner or node.id in table.known.nodes
        word = said_again(table.canvas, node, word, said, is_seen)
        _say_again(table.canvas, node, word, ttl_policy)
        if not is_seen:
            shown = _as_if_new(node, word, ttl_policy or TtlPolicy.DECAY, table.canvas)
            return lambda steps: (shown, True)
        is_new = node.id not in table.canvas.nodes  # the owner, who comes with this
        return lambda steps: (_node_after(steps, node), is_new)

    revision, (node, is_new) = decide(desk, principal, say)
    return SaidNode(node.id, node, is_new, revision)


def already_there(table: Table, word: NodeWord) -> Node | None:
    """A first name is one node's alone, though the caller may not see it; other names count as far
    as they see them."""
    if word.type is NodeType.PERSON and table.is_owners(word.name):
        return owner_node(table.canvas, table.everybody)
    everybody = table.everybody
    id = everybody.called(word.type, word.subtype, key_of(word.name))
    node = everybody.nodes[id] if id else None
    node = node or namesake(table.known, word.type, word.subtype, word.name)
    if node is not None:
        table.canvas.load([node.id])
    return node


def said_again(
    canvas: Canvas, node: Node, word: NodeWord, said: Mapping[str, Any], is_seen: bool
) -> NodeWord:
    """By its first name it is named, in the spelling that it has; any other is one of its names,
    and it stays called as it is."""
    changes = dict(said)
    if node.key == word.key and not node.is_owner:
        changes["name"] = node.name if is_seen else word.name
    elif not node.is_owner:
        spelt = next(each for each in node.names if key_of(each) == word.key)
        changes["aliases"] = (spelt, *word.aliases)
    guarded = node.sensitivity if is_seen else word.sensitivity
    return changed_word(canvas, node, changes, word.name, guarded)


def change_node(
    desk: Desk,
    principal: Principal,
    named: str,
    changes: dict[str, Any],
    ttl_policy: TtlPolicy | None,
) -> SaidNode:
    """``changes``: fields of a NodeWord. What is not named stays as it is: in the caller's own word
    what they said before, and never what only a source tells, which goes with it."""

    def say(table: Table) -> Callable[[Sequence[Step]], Node]:
        node = table.find(named, "id")
        if node.is_owner and "name" in changes:
            raise InvalidInput(
                "The owner's name is set in the profile.",
                remedy="Set the profile's preferred_name.",
                field="name",
            )
        if changes:
            word = changed_word(table.canvas, node, changes, named)
            _refuse_taken(table, node, word)
            _refuse_anothers(table, node, word.type, word.subtype, changes)
            if word.type is not node.type:
                _change_type(table, node, word.type)
            say_of(table.canvas, node, word)
        if ttl_policy is not None:
            table.canvas.put(node.evolve(ttl_policy=ttl_policy))
        return lambda steps: _node_after(steps, node)

    revision, node = decide(desk, principal, say)
    return SaidNode(node.id, node, False, revision)


def _change_type(table: Table, node: Node, type: NodeType) -> None:
    """What its relationships are between is another thing then, too."""
    if node.is_owner:
        raise InvalidInput("The owner's node must be a Person.", field="node_type")
    refuse_unseen(table.principal, CATEGORY[type], "node_type")
    table.canvas.load_relations([node.id])
    table.canvas.put(node)


def say_relation(
    desk: Desk,
    principal: Principal,
    from_node: str,
    to_node: str,
    type: str,
    **said: Any,
) -> Related:
    def say(table: Table) -> Callable[[Sequence[Step]], tuple[Edge, bool, tuple[str, ...]]]:
        edges = seen(desk, principal, whole=True).picture.edges
        a, b = table.find(from_node, "from_node"), table.find(to_node, "to_node")
        telling = relate(
            table.canvas,
            a,
            b,
            type,
            spoken_of=(from_node, to_node),
            sensitivity=guarded(edges, a, b, type),
            **said,
        )

        def told(steps: Sequence[Step]) -> tuple[Edge, bool, tuple[str, ...]]:
            put = [step for step in steps if isinstance(step, PutEdge)]
            mine = next(s for s in put if telling.id in {each.id for each in s.told})
            others = [s for s in put if s is not mine and s.after.id in edges]
            closed = tuple(s.after.id for s in others if _is_closed_by(s))
            return mine.after, mine.after.id not in edges, closed

        return told

    revision, (edge, is_new, closed) = decide(desk, principal, say)
    return Related(edge.id, edge, is_new, closed, revision)


def guarded(edges: Mapping[str, Edge], a: Node, b: Node, type: str) -> Sensitivity:
    """As the same relation is, where the caller knows of one."""
    _, _, kept = as_kept(a.id, b.id, type)
    same = [e for e in edges.values() if set(e.ends) == {a.id, b.id} and e.type == kept]
    is_guarded = same and all(e.sensitivity is Sensitivity.HIGH for e in same)
    return Sensitivity.HIGH if is_guarded else Sensitivity.NORMAL


def _is_closed_by(step: PutEdge) -> bool:
    before = step.before
    return before is not None and before.valid_to is None and step.after.valid_to is not None


def add_note(
    desk: Desk, principal: Principal, about: Sequence[str], content: str, lifetime: Lifetime
) -> Noted:
    """On a node (its id or name), on an edge (its id), or on the relation of two nodes."""

    def say(table: Table) -> Callable[[Sequence[Step]], Note]:
        made = note(table.canvas, _subject(desk, principal, table, about), content, lifetime)
        return lambda steps: made

    revision, made = decide(desk, principal, say)
    return Noted(made.id, made, revision)


def _subject(desk: Desk, principal: Principal, table: Table, about: Sequence[str]) -> Node | Edge:
    edges = seen(desk, principal, whole=True).picture.edges
    if len(about) == 1 and about[0].startswith(OF_EDGE):
        edge = edges.get(about[0])
        if edge is None:
            raise NotFound(
                f"There is no {about[0]!r} in the graph.", remedy=EDGES_ARE_LISTED, field="about"
            )
        table.canvas.load_edges([edge.id])
        return edge
    nodes = [table.find(each, "about") for each in about]
    if len(nodes) == 1:
        vouch_for(table.canvas, nodes[0], about[0])
        return nodes[0]
    ends = {node.id for node in nodes}
    between = [edge for edge in edges.values() if set(edge.ends) == ends]
    now = [edge for edge in between if edge.valid_to is None]
    chosen = _only_one(now or between)
    table.canvas.load_edges([chosen.id])
    return chosen


def _only_one(between: Sequence[Edge]) -> Edge:
    if not between:
        raise NotFound(
            "These two nodes have no relationship.", remedy="Add one first: relate.", field="about"
        )
    if len(between) > 1:
        listed = ", ".join(f"{edge.id} ({edge.type})" for edge in between[:MOST_NAMED])
        raise InvalidInput(
            "These two nodes have several relationships.",
            remedy=f"Give the id of the one you mean: {listed}.",
            field="about",
        )
    return between[0]


def merge_nodes(desk: Desk, principal: Principal, ids: Sequence[str]) -> MergedNodes:
    if len(ids) < 2:
        raise InvalidInput("Merging takes at least two ids.", field="ids")

    def say(table: Table) -> Callable[[Sequence[Step]], tuple[Node, tuple[str, ...]]]:
        keep, *others = (table.find(id, "ids") for id in ids)
        for other in others:
            merge(table.canvas, keep, other)
        return lambda steps: (_node_after(steps, keep), tuple(other.id for other in others))

    revision, (node, merged) = decide(desk, principal, say)
    return MergedNodes(node.id, node, merged, revision)


def split_node(
    desk: Desk,
    principal: Principal,
    id: str,
    name: str | None,
    names: Sequence[str],
    sources: Sequence[str],
) -> SplitNode:
    """A node that was merged speaks for itself again; of another, what was told under these names
    or by these sources becomes a node of its own."""

    def say(table: Table) -> Callable[[Sequence[Step]], tuple[Node, Node]]:
        merged = _merged(desk, principal, table, id)
        if merged is not None:
            unmerge(table.canvas, merged)
            rest = table.find(table.canvas.root(str(merged.merged_into)), "id")
            return lambda steps: (_node_after(steps, merged), _node_after(steps, rest))
        node = table.find(id, "id")
        if name is None or not (names or sources):
            raise InvalidInput(
                "split needs a name for the new node, and names or sources.",
                field="name",
            )
        word = NodeWord(type=node.type, subtype=node.subtype, name=name)
        if taken := table.everybody.called(word.type, word.subtype, key_of(name)):
            raise name_taken(word.name, taken if taken in table.known.nodes else None, "name")
        other = split(table.canvas, node, name, names=names, sources=sources)
        return lambda steps: (_node_after(steps, other), _node_after(steps, node))

    revision, (node, rest) = decide(desk, principal, say)
    return SplitNode(node.id, node, rest, revision)


def _merged(desk: Desk, principal: Principal, table: Table, id: str) -> Node | None:
    """The node of this id, where another speaks for it; the caller may see both."""
    sight = WHOLE if principal.is_owner else visibility_of(principal)
    found = desk.store.nodes(principal.home, [id])
    if not found or found[0].merged_into is None or not sees_node(sight, found[0]):
        return None
    table.canvas.load([id])
    return found[0] if table.canvas.root(id) in table.known.nodes else None


def _say_again(canvas: Canvas, node: Node, word: NodeWord, ttl: TtlPolicy | None) -> None:
    if ttl is not None:
        canvas.put(node.evolve(ttl_policy=ttl))
    say_of(canvas, node, word)


def _refuse_taken(table: Table, node: Node, word: NodeWord) -> None:
    name = word.name if word.is_named else node.name
    if not node.is_owner:
        _refuse_owners(table, word.type, [name], "name")
    other = table.everybody.called(word.type, word.subtype, key_of(name))
    if other is not None and other != node.id:
        raise name_taken(name, other if other in table.known.nodes else None, "name")


def _refuse_anothers(
    table: Table, node: Node | None, type: NodeType, subtype: str, said: Mapping[str, Any]
) -> None:
    """Of the names and addresses that are given now."""
    aliases, addresses = said.get("aliases", ()), said.get("addresses", ())
    if node is None or not node.is_owner:
        _refuse_owners(table, type, aliases, "aliases")
    refuse_anothers_name(table.known, node, type, subtype, aliases, "aliases")
    refuse_anothers_address(table.known, node, addresses)


def _refuse_owners(table: Table, type: NodeType, names: Iterable[str], field: str) -> None:
    theirs = [name for name in names if type is NodeType.PERSON and table.is_owners(name)]
    if theirs:
        raise InvalidInput(
            f"{theirs[0]!r} is a name of the owner.",
            remedy="Use `me` for the owner's node; give another person a longer name.",
            field=field,
        )


def refuse_unseen(principal: Principal, category: str, field: str) -> None:
    if not visibility_of(principal).admits_category(category):
        raise CategoryNotAllowed(
            f"{principal.agent} may not read the category {category!r}.", field=field
        )


def _as_if_new(node: Node, word: NodeWord, ttl_policy: TtlPolicy, canvas: Canvas) -> Node:
    """With what was said of it now, and nothing that somebody else knows of it."""
    return Node(
        id=node.id,
        user_id=node.user_id,
        type=word.type,
        subtype=word.subtype,
        name=word.name,
        key=key_of(word.name),
        aliases=word.aliases,
        addresses=word.addresses,
        description=word.description,
        confidence=word.confidence,
        ttl_policy=ttl_policy,
        created_by=canvas.by,
        created_at=canvas.at,
        updated_at=canvas.at,
    )


def _node_after(steps: Sequence[Step], node: Node) -> Node:
    put = [step.after for step in steps if isinstance(step, PutNode) and step.after.id == node.id]
    return put[-1] if put else node
