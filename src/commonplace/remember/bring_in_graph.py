"""import of a graph into a memory that has something already: what is new comes in.

A node that is here, under its own id or another, takes up what is told of the one that comes, and
is folded anew. An edge that is here stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

from commonplace.desk import Desk
from commonplace.graph.canvas import Canvas
from commonplace.graph.known import key_of, known
from commonplace.graph.owner import name_of_owner, new_owner
from commonplace.graph.weave import node_text
from commonplace.model.changes import Step
from commonplace.model.graph.fold import fold
from commonplace.model.graph.node import Node
from commonplace.model.graph.steps import PutArtifact, PutEdge, PutNode, PutNote, SetExtracted
from commonplace.model.graph.telling import Cited, EdgeTelling, NodeTelling
from commonplace.model.graph.whole import WholeGraph
from commonplace.model.graph.words import NodeType
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory import Memory
from commonplace.model.scope import Principal

_Key = tuple[NodeType, str, str]


def new_of_graph(
    here: WholeGraph,
    coming: WholeGraph,
    called: Mapping[str, str],
    vectors: Mapping[str, bytes],
) -> tuple[Step, ...]:
    """``called``: the ids here of sources that come under another. ``vectors``: by id."""
    return tuple(_Arrival(here, _cited_here(coming, called), vectors).steps())


def _cited_here(graph: WholeGraph, called: Mapping[str, str]) -> WholeGraph:
    def cited(source: Cited | None) -> Cited | None:
        return replace(source, id=called.get(source.id, source.id)) if source else None

    return replace(
        graph,
        node_tellings=tuple(replace(t, source=cited(t.source)) for t in graph.node_tellings),
        edge_tellings=tuple(replace(t, source=cited(t.source)) for t in graph.edge_tellings),
        notes=tuple(replace(note, source=cited(note.source)) for note in graph.notes),
        artifacts=tuple(replace(each, source=cited(each.source)) for each in graph.artifacts),
        extractions=tuple(
            replace(each, source=called.get(each.source, each.source)) for each in graph.extractions
        ),
    )


def with_owner(
    desk: Desk, principal: Principal, graph: WholeGraph, memories: Sequence[Memory]
) -> WholeGraph:
    """The owner comes with the first thing. An export from before that may hold a graph without
    them."""
    if not (graph.nodes or graph.artifacts) or any(node.is_owner for node in graph.nodes):
        return graph
    canvas = Canvas(desk, principal.scope, principal.actor, desk.clock())
    names = known(node for node in graph.nodes if node.stands_for_itself)
    owner = new_owner(canvas, names, name_of_owner(desk, principal.scope, memories))
    texts = {owner.id: node_text(owner, ()), **graph.texts}
    return replace(graph, nodes=(owner, *graph.nodes), texts=texts)


class _Arrival:
    def __init__(self, here: WholeGraph, coming: WholeGraph, vectors: Mapping[str, bytes]):
        self._here = here
        self._coming = coming
        self._vectors = vectors
        self._nodes = {node.id: node for node in here.nodes}
        self._keys = {_key(node): node.id for node in here.nodes if node.stands_for_itself}
        self._called = self._those_here_already()

    def _those_here_already(self) -> dict[str, str]:
        """The ids here of nodes that come under another: of the same name, or both the owner."""
        owner = next((node.id for node in self._here.nodes if node.is_owner), None)
        found: dict[str, str] = {}
        for node in self._coming.nodes:
            same = owner if node.is_owner else None
            if same is None and node.stands_for_itself:
                same = self._keys.get(_key(node))
            if node.id not in self._nodes and same is not None:
                found[node.id] = same
        return found

    def _id(self, id: str) -> str:
        return self._called.get(id, id)

    def steps(self) -> Iterator[Step]:
        yield from self._new_nodes()
        yield from self._known_nodes()
        yield from self._new_edges()
        notes = {note.id for note in self._here.notes}
        for note in self._coming.notes:
            if note.id not in notes:
                about = replace(note, about=self._id(note.about))
                yield PutNote(about, _told(note.id))
        artifacts = {artifact.id for artifact in self._here.artifacts}
        for artifact in self._coming.artifacts:
            if artifact.id not in artifacts:
                yield PutArtifact(artifact, _told(artifact.id))
        read = {(each.scope, each.source) for each in self._here.extractions}
        for each in self._coming.extractions:
            if (each.scope, each.source) not in read:
                yield SetExtracted(each, Entry(op=Op.IMPORT, subject=each.source))

    def _new_nodes(self) -> Iterator[PutNode]:
        told = _by_node(self._coming.node_tellings)
        for node in self._coming.nodes:
            if node.id in self._nodes or node.id in self._called:
                continue
            merged_into = self._id(node.merged_into) if node.merged_into else None
            after = node.evolve(version=1, merged_into=merged_into)
            text = self._coming.texts.get(node.id)
            entry = _told(node.id, node.category, after.ref)
            yield PutNode(
                None, after, entry, text, self._vectors.get(node.id), told.get(node.id, ())
            )

    def _known_nodes(self) -> Iterator[PutNode]:
        """What is told of them with what was told already. Those that were merged speak, too."""
        there = _by_node(self._here.node_tellings)
        known = {telling.id for telling in self._here.node_tellings}
        coming: dict[str, list[NodeTelling]] = {}
        for telling in self._coming.node_tellings:
            id = self._id(telling.node)
            if id in self._nodes and telling.id not in known:
                coming.setdefault(id, []).append(replace(telling, node=id))
        for id, told in coming.items():
            merged = [node.id for node in self._here.nodes if node.merged_into == id]
            before = self._nodes[id]
            all_told = [t for each in (id, *merged) for t in there.get(each, ())] + told
            folded = fold(
                all_told, lambda *key, id=id: self._keys.get(key, id) != id, key_of=key_of
            )
            shaped = {f.name: getattr(folded, f.name) for f in fields(folded)} if folded else {}
            after = before.evolve(**{**shaped, "version": before.version + 1})
            entry = _told(id, after.category, after.ref, before.ref)
            yield PutNode(before, after, entry, told=tuple(told))

    def _new_edges(self) -> Iterator[PutEdge]:
        known = {edge.id for edge in self._here.edges}
        told: dict[str, list[EdgeTelling]] = {}
        for telling in self._coming.edge_tellings:
            moved = replace(telling, a=self._id(telling.a), b=self._id(telling.b))
            told.setdefault(telling.edge, []).append(moved)
        for edge in self._coming.edges:
            a, b = self._id(edge.a), self._id(edge.b)
            if edge.id in known or a == b:
                continue
            after = edge.evolve(version=1, a=a, b=b)
            text = self._coming.texts.get(edge.id)
            entry = _told(edge.id, None, after.ref)
            vector = self._vectors.get(edge.id)
            yield PutEdge(None, after, entry, text, vector, tuple(told.get(edge.id, ())))


def _key(node: Node) -> _Key:
    return node.type, node.subtype, node.key


def _by_node(tellings: tuple[NodeTelling, ...]) -> dict[str, tuple[NodeTelling, ...]]:
    found: dict[str, list[NodeTelling]] = {}
    for telling in tellings:
        found.setdefault(telling.node, []).append(telling)
    return {node: tuple(told) for node, told in found.items()}


def _told(
    subject: str, category: str | None = None, new: str | None = None, old: str | None = None
) -> Entry:
    return Entry(
        op=Op.IMPORT,
        event=Event.UPDATE if old else Event.ADD,
        subject=subject,
        category=category,
        new_ref=new,
        old_ref=old,
    )
