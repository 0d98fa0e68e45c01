"""The part of a graph that one decision touches: read once, told more or less, then folded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from commonplace.desk import Desk
from commonplace.graph.known import Known, known
from commonplace.model.graph.edge import PREFIX as OF_EDGES
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import Note
from commonplace.model.graph.telling import EdgeTelling, NodeTelling
from commonplace.model.scope import Scope

Told = TypeVar("Told", NodeTelling, EdgeTelling, Note)


@dataclass(slots=True)
class Canvas:
    """What was loaded stays known as it was, so that what is different can be seen."""

    desk: Desk
    scope: Scope
    by: str
    at: datetime
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    told: dict[str, NodeTelling] = field(default_factory=dict)
    related: dict[str, EdgeTelling] = field(default_factory=dict)
    notes: dict[str, Note] = field(default_factory=dict)
    before: dict[str, NodeTelling | EdgeTelling | Note] = field(default_factory=dict)
    changed_nodes: dict[str, Node] = field(default_factory=dict)  # new, merged, forgotten
    changed_edges: dict[str, Edge] = field(default_factory=dict)
    _looked_at: set[str] = field(default_factory=set)
    _loaded: set[str] = field(default_factory=set)  # those that speak
    _known: Known | None = None

    # ——— reading ———

    def load(self, ids: Iterable[str]) -> None:
        """Nodes with those that they speak for, their notes, and all that was told of them."""
        self.look_at(ids := list(ids))
        groups = {self.root(id) for id in ids} - self._loaded
        members = [id for id in {**self.nodes, **self.changed_nodes} if self.root(id) in groups]
        self._loaded |= groups
        for telling in self.desk.store.node_tellings(self.scope, members):
            self._keep(self.told, telling)

    def is_loaded(self, root: str) -> bool:
        """Whether all that was told of it is here."""
        return root in self._loaded

    def look_at(self, ids: Iterable[str]) -> None:
        """Nodes with those that they speak for, and their notes."""
        store = self.desk.store
        wanted = [id for id in dict.fromkeys(ids) if id not in self._looked_at]
        while wanted:
            self._looked_at.update(wanted)
            self.meet(wanted)
            for note in store.notes(self.scope, wanted):
                self._keep(self.notes, note)
            around = [*store.merged_into(self.scope, wanted)]
            roots = [self.root(id) for id in wanted]
            wanted = [id for id in (*roots, *(n.id for n in around)) if id not in self._looked_at]

    def meet(self, ids: Iterable[str]) -> None:
        """Who they are, and who speaks for them; nothing else of them."""
        wanted = [id for id in dict.fromkeys(ids) if id not in self.nodes]
        while wanted:
            found = self.desk.store.nodes(self.scope, wanted)
            self.nodes.update((node.id, node) for node in found)
            wanted = [
                node.merged_into
                for node in found
                if node.merged_into and node.merged_into not in self.nodes
            ]

    def load_relations(self, ids: Iterable[str], types: Collection[str] | None = None) -> None:
        """What was told of the relations of these nodes, and of those that they speak for; of these
        types, or all of it."""
        self.look_at(ids := list(ids))
        members = sorted({m for id in ids for m in self.group(self.root(id))} & self.nodes.keys())
        found = self.desk.store.edge_tellings(self.scope, members, types)
        for telling in found:
            self._keep(self.related, telling)
        self.load_edges(telling.edge for telling in found)
        self.meet(end for telling in found for end in (telling.a, telling.b))

    def load_edges(self, ids: Iterable[str]) -> None:
        wanted = [id for id in dict.fromkeys(ids) if id not in self.edges]
        if wanted:
            found = self.desk.store.edges(self.scope, wanted)
            self.edges.update((edge.id, edge) for edge in found)
            for note in self.desk.store.notes(self.scope, wanted):
                self._keep(self.notes, note)
            self.meet(end for edge in found for end in edge.ends)

    def load_subject(self, about: str) -> None:
        """What a note is on."""
        if about.startswith(OF_EDGES):
            self.load_edges([about])
        else:
            self.load([about])

    def _keep(self, kept: dict[str, Told], found: Told) -> None:
        """What was changed on the canvas already stays so."""
        if found.id not in self.before:
            self.before[found.id] = found
            kept[found.id] = found

    # ——— who speaks for whom ———

    @property
    def known(self) -> Known:
        """By which names everybody is known, before anything is decided here."""
        if self._known is None:
            self._known = known(self.desk.pictures.of(self.scope).picture.nodes.values())
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

    def tell(self, telling: NodeTelling) -> None:
        self.told[telling.id] = telling

    def relate(self, telling: EdgeTelling) -> None:
        self.related[telling.id] = telling

    def note(self, note: Note) -> None:
        self.notes[note.id] = note

    def untell(self, ids: Iterable[str]) -> None:
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
    def brings_anything(self) -> bool:
        """Not where something only goes, or nothing happens."""
        news = (self.changed_tellings(), self.changed_relations(), self.other_notes())
        new = (id for id in self.changed_nodes if id not in self.nodes)
        return any(next(each, None) is not None for each in (*news, new))

    def other_tellings(self) -> Iterator[NodeTelling]:
        """New, changed or gone, as they are and as they were."""
        for telling in self._changed(self.told):
            yield telling
            before = self.before.get(telling.id)
            if isinstance(before, NodeTelling):
                yield before  # it may have been another node's
        yield from self.gone_tellings()

    def gone_tellings(self) -> Iterator[NodeTelling]:
        yield from (each for each in self._gone() if isinstance(each, NodeTelling))

    def changed_tellings(self) -> Iterator[NodeTelling]:
        """New, or other than they were."""
        return self._changed(self.told)

    def changed_relations(self) -> Iterator[EdgeTelling]:
        return self._changed(self.related)

    def other_relations(self) -> Iterator[EdgeTelling]:
        for telling in self.changed_relations():
            yield telling
            before = self.before.get(telling.id)
            if isinstance(before, EdgeTelling):
                yield before
        yield from (each for each in self._gone() if isinstance(each, EdgeTelling))

    def other_notes(self) -> Iterator[Note]:
        yield from self._changed(self.notes)

    def gone_notes(self) -> Iterator[Note]:
        yield from (each for each in self._gone() if isinstance(each, Note))

    def _changed(self, kept: dict[str, Told]) -> Iterator[Told]:
        """Most are the very ones that were read, which is seen without comparing them."""
        for id, each in kept.items():
            before = self.before.get(id)
            if before is not each and before != each:
                yield each

    def _gone(self) -> Iterator[NodeTelling | EdgeTelling | Note]:
        kept = self.told.keys() | self.related.keys() | self.notes.keys()
        yield from (each for id, each in self.before.items() if id not in kept)
