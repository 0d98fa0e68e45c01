"""Graph unit of work: the nodes, edges, assertions and notes of one decision; the owner node.

A merged node keeps its id and its assertions; ``merged_into`` names the node that replaces it. The
last one of that chain is its merge root, and the root with all nodes merged into it is a group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, count
from typing import TypeVar

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.names import NameIndex, build_name_index, name_key
from commonplace.language.extract.values import OwnerIdentity
from commonplace.language.fields.names import fold_name
from commonplace.model.access.principal import Scope
from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import EDGE_PREFIX as OF_EDGES
from commonplace.model.graph.elements import NODE_PREFIX, Edge, Node
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Memory
from commonplace.store.queries import AssertionQuery, GraphQuery

Asserted = TypeVar("Asserted", NodeAssertion, EdgeAssertion, Note)


@dataclass(slots=True)
class GraphUnitOfWork:
    """Loaded values stay in ``before``, so that changes can be computed."""

    engine: EngineContext
    scope: Scope
    by: str
    at: datetime
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    node_assertions: dict[str, NodeAssertion] = field(default_factory=dict)
    edge_assertions: dict[str, EdgeAssertion] = field(default_factory=dict)
    notes: dict[str, Note] = field(default_factory=dict)
    before: dict[str, NodeAssertion | EdgeAssertion | Note] = field(default_factory=dict)
    changed_nodes: dict[str, Node] = field(default_factory=dict)  # new, merged, forgotten
    changed_edges: dict[str, Edge] = field(default_factory=dict)
    reworded: set[str] = field(default_factory=set)  # sources that lose words
    moved: set[str] = field(default_factory=set)  # forgotten or restored by their own ids
    _loaded_nodes: set[str] = field(default_factory=set)
    _loaded_roots: set[str] = field(default_factory=set)  # with all their assertions
    _known: NameIndex | None = None

    # ——— reading ———

    def load(self, ids: Iterable[str]) -> None:
        """Load nodes with their groups, their notes and all assertions about them."""
        self.load_nodes(ids := list(ids))
        groups = {self.root(id) for id in ids} - self._loaded_roots
        members = [id for id in {**self.nodes, **self.changed_nodes} if self.root(id) in groups]
        self._loaded_roots |= groups
        for assertion in self.engine.store.assertions(
            self.scope, AssertionQuery(nodes=members)
        ).nodes:
            self._add_loaded(self.node_assertions, assertion)

    def is_loaded(self, root: str) -> bool:
        """Whether all assertions about this group are loaded."""
        return root in self._loaded_roots

    def load_nodes(self, ids: Iterable[str]) -> None:
        """Load nodes with their groups and notes, without assertions."""
        store = self.engine.store
        pending = [id for id in dict.fromkeys(ids) if id not in self._loaded_nodes]
        while pending:
            self._loaded_nodes.update(pending)
            self.load_identities(pending)
            around = store.graph_items(
                self.scope, GraphQuery(notes_about=pending, merged_into=pending)
            )
            for note in around.notes:
                self._add_loaded(self.notes, note)
            roots = [self.root(id) for id in pending]
            pending = [
                id for id in (*roots, *(n.id for n in around.nodes)) if id not in self._loaded_nodes
            ]

    def load_identities(self, ids: Iterable[str]) -> None:
        """Load the rows of these nodes and of their merge roots, and nothing else."""
        pending = [id for id in dict.fromkeys(ids) if id not in self.nodes]
        while pending:
            found = self.engine.store.graph_items(self.scope, GraphQuery(nodes=pending)).nodes
            self.nodes.update((node.id, node) for node in found)
            pending = [
                node.merged_into
                for node in found
                if node.merged_into and node.merged_into not in self.nodes
            ]

    def load_relations(self, ids: Iterable[str], types: Collection[str] | None = None) -> None:
        """Load the edge assertions of these nodes and their groups, of these types or of all."""
        self.load_nodes(ids := list(ids))
        members = sorted({m for id in ids for m in self.group(self.root(id))} & self.nodes.keys())
        found = self.engine.store.assertions(
            self.scope, AssertionQuery(ends=members, types=types)
        ).edges
        for assertion in found:
            self._add_loaded(self.edge_assertions, assertion)
        self.load_edges(assertion.edge for assertion in found)
        self.load_identities(end for assertion in found for end in (assertion.a, assertion.b))

    def load_edges(self, ids: Iterable[str]) -> None:
        wanted = [id for id in dict.fromkeys(ids) if id not in self.edges]
        if wanted:
            query = GraphQuery(edges=wanted, notes_about=wanted)
            found = self.engine.store.graph_items(self.scope, query)
            self.edges.update((edge.id, edge) for edge in found.edges)
            for note in found.notes:
                self._add_loaded(self.notes, note)
            self.load_identities(end for edge in found.edges for end in edge.ends)

    def load_subject(self, about: str) -> None:
        """Load the node or edge that a note is about."""
        if about.startswith(OF_EDGES):
            self.load_edges([about])
        else:
            self.load([about])

    def _add_loaded(self, index: dict[str, Asserted], item: Asserted) -> None:
        """Add a loaded item, unless it is known: changes that were made here win."""
        if item.id not in self.before:
            self.before[item.id] = item
            index[item.id] = item

    # ——— names and merges ———

    @property
    def known(self) -> NameIndex:
        """The name index of the graph before this decision."""
        if self._known is None:
            self._known = build_name_index(
                self.engine.graph_cache.of(self.scope).snapshot.nodes.values()
            )
        return self._known

    def node(self, id: str) -> Node | None:
        return self.changed_nodes.get(id) or self.nodes.get(id)

    def root(self, id: str) -> str:
        """The merge root of a node: itself, if it is not merged."""
        visited = {id}
        while (node := self.node(id)) and node.merged_into and node.merged_into not in visited:
            id = node.merged_into
            visited.add(id)
        return id

    def group(self, root: str) -> list[str]:
        return [id for id in {**self.nodes, **self.changed_nodes} if self.root(id) == root]

    # ——— changes ———

    def put_assertion(self, assertion: NodeAssertion) -> None:
        self.node_assertions[assertion.id] = assertion

    def put_relation(self, assertion: EdgeAssertion) -> None:
        self.edge_assertions[assertion.id] = assertion

    def put_note(self, note: Note) -> None:
        self.notes[note.id] = note

    def retract(self, ids: Iterable[str]) -> None:
        for id in ids:
            self.node_assertions.pop(id, None)
            self.edge_assertions.pop(id, None)
            self.notes.pop(id, None)

    def put(self, node: Node) -> None:
        """Put a node that is new, or changed by other means than its assertions."""
        self.changed_nodes[node.id] = node

    def put_edge(self, edge: Edge) -> None:
        self.changed_edges[edge.id] = edge

    def set_active(self, ids: Iterable[str], active: bool) -> None:
        """Hide assertions and notes with a forgotten source, or show them again."""
        for id in ids:
            if id in self.node_assertions:
                self.node_assertions[id] = replace(self.node_assertions[id], stands=active)
            elif id in self.edge_assertions:
                self.edge_assertions[id] = replace(self.edge_assertions[id], stands=active)
            elif id in self.notes:
                self.notes[id] = replace(self.notes[id], stands=active)

    # ——— what changed ———

    @property
    def adds_anything(self) -> bool:
        """False if the unit only removes, or changes nothing."""
        changes = (self.changed_assertions(), self.changed_relations(), self.changed_notes())
        new = (id for id in self.changed_nodes if id not in self.nodes)
        return any(next(each, None) is not None for each in (*changes, new))

    def touched_assertions(self) -> Iterator[NodeAssertion]:
        """New, changed and removed assertions, each as it is and as it was loaded."""
        for assertion in self._changed(self.node_assertions):
            yield assertion
            before = self.before.get(assertion.id)
            if isinstance(before, NodeAssertion):
                yield before  # it may have been about another node
        yield from self.removed_assertions()

    def removed_assertions(self) -> Iterator[NodeAssertion]:
        yield from (each for each in self._removed() if isinstance(each, NodeAssertion))

    def changed_assertions(self) -> Iterator[NodeAssertion]:
        return self._changed(self.node_assertions)

    def changed_relations(self) -> Iterator[EdgeAssertion]:
        return self._changed(self.edge_assertions)

    def touched_relations(self) -> Iterator[EdgeAssertion]:
        for assertion in self.changed_relations():
            yield assertion
            before = self.before.get(assertion.id)
            if isinstance(before, EdgeAssertion):
                yield before
        yield from (each for each in self._removed() if isinstance(each, EdgeAssertion))

    def changed_notes(self) -> Iterator[Note]:
        yield from self._changed(self.notes)

    def removed_notes(self) -> Iterator[Note]:
        yield from (each for each in self._removed() if isinstance(each, Note))

    def _changed(self, index: dict[str, Asserted]) -> Iterator[Asserted]:
        """Compares identities first: most items are the very objects that were loaded."""
        for id, each in index.items():
            before = self.before.get(id)
            if before is not each and before != each:
                yield each

    def _removed(self) -> Iterator[NodeAssertion | EdgeAssertion | Note]:
        kept = self.node_assertions.keys() | self.edge_assertions.keys() | self.notes.keys()
        yield from (each for id, each in self.before.items() if id not in kept)


OWNER_NAME_FIELD = "profile:preferred_name"


def load_owner_name(engine: EngineContext, scope: Scope, coming: Iterable[Memory] = ()) -> str:
    """The preferred name in the stored profile or in ``coming``; else the user id."""
    incoming = (memory for memory in coming if memory.id == OWNER_NAME_FIELD)
    for memory in (*engine.store.fetch(scope, [OWNER_NAME_FIELD]), *incoming):
        if value := str(memory.metadata.get("value") or ""):
            return value
    return scope.name


def ensure_owner(work: GraphUnitOfWork) -> None:
    """Every graph that is not empty has its owner's node."""
    if not has_owner(work.engine, work.scope):
        load_or_create_owner(work, work.known)


def has_owner(engine: EngineContext, scope: Scope) -> bool:
    return any(node.is_owner for node in engine.graph_cache.of(scope).snapshot.nodes.values())


def load_or_create_owner(work: GraphUnitOfWork, known: NameIndex) -> Node:
    if known.owner is not None:
        work.load([known.owner.id])
        return known.owner
    owner = next((node for node in work.changed_nodes.values() if node.is_owner), None)
    if owner is None:
        owner = build_owner_node(work, known, load_owner_name(work.engine, work.scope))
        work.put(owner)
    return owner


def build_owner_node(work: GraphUnitOfWork, known: NameIndex, name: str) -> Node:
    return Node(
        id=NODE_PREFIX + work.engine.new_id(),
        user_id=work.scope.name,
        type=NodeType.PERSON,
        name=name,
        key=_free_key(known, name),
        is_owner=True,
        confidence=1.0,
        ttl_policy=TtlPolicy.KEEP_FOREVER,
        created_by=work.by,
        created_at=work.at,
        updated_at=work.at,
    )


def rename_owner(work: GraphUnitOfWork, known: NameIndex, name: str) -> None:
    """Apply a changed profile name. This creates no node. Another person with that name keeps it:
    only the owner decides whether to merge the two."""
    if known.owner is not None and known.owner.name != name:
        work.load([known.owner.id])
        work.put(known.owner.evolve(name=name, key=_free_key(known, name)))


def _free_key(known: NameIndex, name: str) -> str:
    key, owner = name_key(name), known.owner
    keys = chain((key,), (f"{key} {number}" for number in count(2)))
    free_or_own = (None, owner.id if owner else None)
    return next(
        each for each in keys if known.by_primary_name(NodeType.PERSON, "", each) in free_or_own
    )


def describe_owner(engine: EngineContext, scope: Scope, nodes: Iterable[Node]) -> OwnerIdentity:
    """Whom "I" means in the owner's words, and the names that others use for them."""
    people = [node for node in nodes if node.type is NodeType.PERSON]
    node = next((each for each in people if each.is_owner), None)
    name = load_owner_name(engine, scope)
    names = frozenset({name, scope.name, *(node.names if node else ())})
    first_words = {_first_word(each) for each in names}
    return OwnerIdentity(
        name=name,
        names=names,
        addresses=frozenset(node.addresses if node else ()),
        others=frozenset(
            fold_name(other)
            for each in people
            if not each.is_owner
            for other in each.names
            if _first_word(other) in first_words
        ),
    )


def _first_word(name: str) -> str:
    """Only people who share it with the owner can be mistaken for the owner."""
    return name.casefold().partition(" ")[0]
