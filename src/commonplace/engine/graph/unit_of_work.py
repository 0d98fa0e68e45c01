"""Graph unit of work: the nodes, assertions and notes one decision touches; the owner node."""

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
    """What was loaded stays known as it was, so that what is different can be seen."""

    engine: EngineContext
    scope: Scope
    by: str
    at: datetime
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    told: dict[str, NodeAssertion] = field(default_factory=dict)
    related: dict[str, EdgeAssertion] = field(default_factory=dict)
    notes: dict[str, Note] = field(default_factory=dict)
    before: dict[str, NodeAssertion | EdgeAssertion | Note] = field(default_factory=dict)
    changed_nodes: dict[str, Node] = field(default_factory=dict)  # new, merged, forgotten
    changed_edges: dict[str, Edge] = field(default_factory=dict)
    _looked_at: set[str] = field(default_factory=set)
    _loaded: set[str] = field(default_factory=set)  # those that speak
    _known: NameIndex | None = None

    # ——— reading ———

    def load(self, ids: Iterable[str]) -> None:
        """Nodes with those that they speak for, their notes, and all that was told of them."""
        self.load_nodes(ids := list(ids))
        groups = {self.root(id) for id in ids} - self._loaded
        members = [id for id in {**self.nodes, **self.changed_nodes} if self.root(id) in groups]
        self._loaded |= groups
        for assertion in self.engine.store.assertions(
            self.scope, AssertionQuery(nodes=members)
        ).nodes:
            self._keep(self.told, assertion)

    def is_loaded(self, root: str) -> bool:
        """Whether all that was told of it is here."""
        return root in self._loaded

    def load_nodes(self, ids: Iterable[str]) -> None:
        """Nodes with those that they speak for, and their notes."""
        store = self.engine.store
        wanted = [id for id in dict.fromkeys(ids) if id not in self._looked_at]
        while wanted:
            self._looked_at.update(wanted)
            self.load_identities(wanted)
            around = store.graph_items(
                self.scope, GraphQuery(notes_about=wanted, merged_into=wanted)
            )
            for note in around.notes:
                self._keep(self.notes, note)
            roots = [self.root(id) for id in wanted]
            wanted = [
                id for id in (*roots, *(n.id for n in around.nodes)) if id not in self._looked_at
            ]

    def load_identities(self, ids: Iterable[str]) -> None:
        """Who they are, and who speaks for them; nothing else of them."""
        wanted = [id for id in dict.fromkeys(ids) if id not in self.nodes]
        while wanted:
            found = self.engine.store.graph_items(self.scope, GraphQuery(nodes=wanted)).nodes
            self.nodes.update((node.id, node) for node in found)
            wanted = [
                node.merged_into
                for node in found
                if node.merged_into and node.merged_into not in self.nodes
            ]

    def load_relations(self, ids: Iterable[str], types: Collection[str] | None = None) -> None:
        """What was told of the relations of these nodes, and of those that they speak for; of these
        types, or all of it."""
        self.load_nodes(ids := list(ids))
        members = sorted({m for id in ids for m in self.group(self.root(id))} & self.nodes.keys())
        found = self.engine.store.assertions(
            self.scope, AssertionQuery(ends=members, types=types)
        ).edges
        for assertion in found:
            self._keep(self.related, assertion)
        self.load_edges(assertion.edge for assertion in found)
        self.load_identities(end for assertion in found for end in (assertion.a, assertion.b))

    def load_edges(self, ids: Iterable[str]) -> None:
        wanted = [id for id in dict.fromkeys(ids) if id not in self.edges]
        if wanted:
            query = GraphQuery(edges=wanted, notes_about=wanted)
            found = self.engine.store.graph_items(self.scope, query)
            self.edges.update((edge.id, edge) for edge in found.edges)
            for note in found.notes:
                self._keep(self.notes, note)
            self.load_identities(end for edge in found.edges for end in edge.ends)

    def load_subject(self, about: str) -> None:
        """What a note is on."""
        if about.startswith(OF_EDGES):
            self.load_edges([about])
        else:
            self.load([about])

    def _keep(self, kept: dict[str, Asserted], found: Asserted) -> None:
        """What was changed on the canvas already stays so."""
        if found.id not in self.before:
            self.before[found.id] = found
            kept[found.id] = found

    # ——— who speaks for whom ———

    @property
    def known(self) -> NameIndex:
        """By which names everybody is known, before anything is decided here."""
        if self._known is None:
            self._known = build_name_index(
                self.engine.graph_cache.of(self.scope).snapshot.nodes.values()
            )
        return self._known

    def node(self, id: str) -> Node | None:
        return self.changed_nodes.get(id) or self.nodes.get(id)

    def root(self, id: str) -> str:
        """The node that speaks for this one."""
        met = {id}
        while (node := self.node(id)) and node.merged_into and node.merged_into not in met:
            id = node.merged_into
            met.add(id)
        return id

    def group(self, root: str) -> list[str]:
        return [id for id in {**self.nodes, **self.changed_nodes} if self.root(id) == root]

    # ——— telling ———

    def tell(self, assertion: NodeAssertion) -> None:
        self.told[assertion.id] = assertion

    def relate(self, assertion: EdgeAssertion) -> None:
        self.related[assertion.id] = assertion

    def note(self, note: Note) -> None:
        self.notes[note.id] = note

    def retract(self, ids: Iterable[str]) -> None:
        for id in ids:
            self.told.pop(id, None)
            self.related.pop(id, None)
            self.notes.pop(id, None)

    def put(self, node: Node) -> None:
        """A node that is new, or that somebody has changed by hand."""
        self.changed_nodes[node.id] = node

    def put_edge(self, edge: Edge) -> None:
        self.changed_edges[edge.id] = edge

    def set_standing(self, ids: Iterable[str], stands: bool) -> None:
        """Of what a source told: it is forgotten, or comes back."""
        for id in ids:
            if id in self.told:
                self.told[id] = replace(self.told[id], stands=stands)
            elif id in self.related:
                self.related[id] = replace(self.related[id], stands=stands)
            elif id in self.notes:
                self.notes[id] = replace(self.notes[id], stands=stands)

    # ——— what is different ———

    @property
    def adds_anything(self) -> bool:
        """Not where something only goes, or nothing happens."""
        news = (self.changed_assertions(), self.changed_relations(), self.other_notes())
        new = (id for id in self.changed_nodes if id not in self.nodes)
        return any(next(each, None) is not None for each in (*news, new))

    def touched_assertions(self) -> Iterator[NodeAssertion]:
        """New, changed or gone, as they are and as they were."""
        for assertion in self._changed(self.told):
            yield assertion
            before = self.before.get(assertion.id)
            if isinstance(before, NodeAssertion):
                yield before  # it may have been another node's
        yield from self.removed_assertions()

    def removed_assertions(self) -> Iterator[NodeAssertion]:
        yield from (each for each in self._gone() if isinstance(each, NodeAssertion))

    def changed_assertions(self) -> Iterator[NodeAssertion]:
        """New, or other than they were."""
        return self._changed(self.told)

    def changed_relations(self) -> Iterator[EdgeAssertion]:
        return self._changed(self.related)

    def touched_relations(self) -> Iterator[EdgeAssertion]:
        for assertion in self.changed_relations():
            yield assertion
            before = self.before.get(assertion.id)
            if isinstance(before, EdgeAssertion):
                yield before
        yield from (each for each in self._gone() if isinstance(each, EdgeAssertion))

    def other_notes(self) -> Iterator[Note]:
        yield from self._changed(self.notes)

    def gone_notes(self) -> Iterator[Note]:
        yield from (each for each in self._gone() if isinstance(each, Note))

    def _changed(self, kept: dict[str, Asserted]) -> Iterator[Asserted]:
        """Most are the very ones that were read, which is seen without comparing them."""
        for id, each in kept.items():
            before = self.before.get(id)
            if before is not each and before != each:
                yield each

    def _gone(self) -> Iterator[NodeAssertion | EdgeAssertion | Note]:
        kept = self.told.keys() | self.related.keys() | self.notes.keys()
        yield from (each for id, each in self.before.items() if id not in kept)


OWNER_NAME_FIELD = "profile:preferred_name"


def load_owner_name(engine: EngineContext, scope: Scope, coming: Iterable[Memory] = ()) -> str:
    """As their profile has it, here or in what is ``coming``, or else as they are called here."""
    come = (memory for memory in coming if memory.id == OWNER_NAME_FIELD)
    for memory in (*engine.store.fetch(scope, [OWNER_NAME_FIELD]), *come):
        if value := str(memory.metadata.get("value") or ""):
            return value
    return scope.name


def ensure_owner(work: GraphUnitOfWork) -> None:
    """They come with the first thing that comes into their graph, whatever it is."""
    if not has_owner(work.engine, work.scope):
        load_or_create_owner(work, work.known)


def has_owner(engine: EngineContext, scope: Scope) -> bool:
    return any(node.is_owner for node in engine.graph_cache.of(scope).snapshot.nodes.values())


def load_or_create_owner(work: GraphUnitOfWork, known: NameIndex) -> Node:
    """Made when it is first needed."""
    if known.owner is not None:
        work.load([known.owner.id])
        return known.owner
    made = next((node for node in work.changed_nodes.values() if node.is_owner), None)
    if made is None:
        made = build_owner_node(work, known, load_owner_name(work.engine, work.scope))
        work.put(made)
    return made


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
    """They call themself otherwise now. Nobody's node is made for that alone. Somebody who has
    that name already keeps it, too: whether the two are one is for the owner to say."""
    if known.owner is not None and known.owner.name != name:
        work.load([known.owner.id])
        work.put(known.owner.evolve(name=name, key=_free_key(known, name)))


def _free_key(known: NameIndex, name: str) -> str:
    key, owner = name_key(name), known.owner
    keys = chain((key,), (f"{key} {number}" for number in count(2)))
    taken = (None, owner.id if owner else None)
    return next(each for each in keys if known.called(NodeType.PERSON, "", each) in taken)


def describe_owner(engine: EngineContext, scope: Scope, everybody: Iterable[Node]) -> OwnerIdentity:
    """Whom "I" means in what the owner says, and by which names others speak of them."""
    people = [node for node in everybody if node.type is NodeType.PERSON]
    node = next((each for each in people if each.is_owner), None)
    name = load_owner_name(engine, scope)
    names = frozenset({name, scope.name, *(node.names if node else ())})
    firsts = {_first_word(each) for each in names}
    return OwnerIdentity(
        name=name,
        names=names,
        addresses=frozenset(node.addresses if node else ()),
        others=frozenset(
            fold_name(other)
            for each in people
            if not each.is_owner
            for other in each.names
            if _first_word(other) in firsts
        ),
    )


def _first_word(name: str) -> str:
    """Only who shares it can be taken for the owner."""
    return name.casefold().partition(" ")[0]
