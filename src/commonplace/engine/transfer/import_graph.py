"""import: new nodes, edges, notes, artifacts and storylines of an exported graph.

A node that exists, under the same id or another, gets the imported node's assertions and is folded
again. An existing edge is unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.graph_diff import node_search_text
from commonplace.engine.graph.names import build_name_index, name_key
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork, build_owner_node, load_owner_name
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import ChangesetStep
from commonplace.model.graph.assertion import CitedSource, EdgeAssertion, NodeAssertion
from commonplace.model.graph.elements import Node
from commonplace.model.graph.node_fold import fold_node
from commonplace.model.graph.snapshot import WholeGraph
from commonplace.model.graph.steps import (
    PutArtifact,
    PutEdge,
    PutNode,
    PutNote,
    PutStory,
    SetExtraction,
)
from commonplace.model.graph.storylines import MIN_STORYLINES, STORY_CATEGORY, Macro, Story
from commonplace.model.graph.types import NodeType
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.memory import Memory

_NodeKey = tuple[NodeType, str, str]


def import_new_graph(
    stored: WholeGraph,
    imported: WholeGraph,
    source_ids: Mapping[str, str],
    vectors: Mapping[str, bytes],
) -> tuple[ChangesetStep, ...]:
    """``source_ids``: imported id -> existing id of sources. ``vectors``: by id."""
    return tuple(_GraphImport(stored, _rename_citations(imported, source_ids), vectors).steps())


def _rename_citations(graph: WholeGraph, id_map: Mapping[str, str]) -> WholeGraph:
    def rename(source: CitedSource | None) -> CitedSource | None:
        return replace(source, id=id_map.get(source.id, source.id)) if source else None

    return replace(
        graph,
        node_assertions=tuple(replace(t, source=rename(t.source)) for t in graph.node_assertions),
        edge_assertions=tuple(replace(t, source=rename(t.source)) for t in graph.edge_assertions),
        notes=tuple(replace(note, source=rename(note.source)) for note in graph.notes),
        artifacts=tuple(replace(each, source=rename(each.source)) for each in graph.artifacts),
        storylines=tuple(
            each.evolve(sources=tuple(replace(s, id=id_map.get(s.id, s.id)) for s in each.sources))
            for each in graph.storylines
        ),
        extractions=tuple(
            replace(each, source=id_map.get(each.source, each.source)) for each in graph.extractions
        ),
    )


def ensure_owner_node(
    engine: EngineContext, principal: Principal, graph: WholeGraph, memories: Sequence[Memory]
) -> WholeGraph:
    """Add the owner's node to an export of a version that did not create it."""
    if not (graph.nodes or graph.artifacts) or any(node.is_owner for node in graph.nodes):
        return graph
    work = GraphUnitOfWork(engine, principal.scope, principal.actor, engine.clock())
    names = build_name_index(node for node in graph.nodes if node.stands_for_itself)
    owner = build_owner_node(work, names, load_owner_name(engine, principal.scope, memories))
    texts = {owner.id: node_search_text(owner, ()), **graph.texts}
    return replace(graph, nodes=(owner, *graph.nodes), texts=texts)


class _GraphImport:
    def __init__(self, stored: WholeGraph, imported: WholeGraph, vectors: Mapping[str, bytes]):
        self._stored = stored
        self._imported = imported
        self._vectors = vectors
        self._nodes = {node.id: node for node in stored.nodes}
        self._keys = {_key(node): node.id for node in stored.nodes if node.stands_for_itself}
        self._id_map = self._match_existing_nodes()

    def _match_existing_nodes(self) -> dict[str, str]:
        """Map imported nodes to existing ones with another id: same name, or both the owner."""
        owner = next((node.id for node in self._stored.nodes if node.is_owner), None)
        id_map: dict[str, str] = {}
        for node in self._imported.nodes:
            same = owner if node.is_owner else None
            if same is None and node.stands_for_itself:
                same = self._keys.get(_key(node))
            if node.id not in self._nodes and same is not None:
                id_map[node.id] = same
        return id_map

    def _id(self, id: str) -> str:
        return self._id_map.get(id, id)

    def steps(self) -> Iterator[ChangesetStep]:
        yield from self._new_nodes()
        yield from self._known_nodes()
        yield from self._new_edges()
        notes = {note.id for note in self._stored.notes}
        for note in self._imported.notes:
            if note.id not in notes:
                about = replace(note, about=self._id(note.about))
                yield PutNote(about, _graph_import_entry(note.id))
        artifacts = {artifact.id for artifact in self._stored.artifacts}
        for artifact in self._imported.artifacts:
            if artifact.id not in artifacts:
                yield PutArtifact(artifact, _graph_import_entry(artifact.id))
        yield from self._new_stories()
        extracted = {(each.scope, each.source) for each in self._stored.extractions}
        for each in self._imported.extractions:
            if (each.scope, each.source) not in extracted:
                yield SetExtraction(each, Entry(op=Op.IMPORT, subject=each.source))

    def _new_stories(self) -> Iterator[PutStory]:
        """An anchor keeps its open storyline and its macro: imported ones are left out."""
        known = {each.id for each in self._stored.storylines}
        macros = {each.id for each in self._stored.macros}
        nodes = (*self._stored.nodes, *self._imported.nodes)
        owners = {node.id for node in nodes if node.is_owner}
        is_open = {each.anchor for each in self._stored.storylines if each.is_open}
        for storyline in self._imported.storylines:
            anchor = self._id(storyline.anchor)
            collides = storyline.is_open and anchor in is_open
            if collides or anchor in owners or storyline.id in known:
                continue
            known.add(storyline.id)
            yield self._put_story(storyline.evolve(version=1, anchor=anchor))
        without = owners | {each.anchor for each in self._stored.macros}
        for macro in self._imported.macros:
            anchor = self._id(macro.anchor)
            storylines = tuple(id for id in macro.storylines if id in known)
            if anchor in without or macro.id in macros or len(storylines) < MIN_STORYLINES:
                continue
            yield self._put_story(macro.evolve(version=1, anchor=anchor, storylines=storylines))

    def _new_anchors(self) -> tuple[set[str], set[str]]:
        """The nodes that get a storyline, and those that get a macro."""
        anchors: tuple[set[str], set[str]] = (set(), set())
        for step in self._new_stories():
            anchors[isinstance(step.after, Macro)].add(step.after.anchor)
        return anchors

    def _put_story(self, story: Story) -> PutStory:
        entry = _graph_import_entry(story.id, STORY_CATEGORY, story.ref)
        return PutStory(None, story, entry, self._vectors.get(story.id))

    def _new_nodes(self) -> Iterator[PutNode]:
        assertions = _group_by_node(self._imported.node_assertions)
        for node in self._imported.nodes:
            if node.id in self._nodes or node.id in self._id_map:
                continue
            merged_into = self._id(node.merged_into) if node.merged_into else None
            after = node.evolve(version=1, merged_into=merged_into)
            text = self._imported.texts.get(node.id)
            entry = _graph_import_entry(node.id, node.category, after.ref)
            yield PutNode(
                None, after, entry, text, self._vectors.get(node.id), assertions.get(node.id, ())
            )

    def _known_nodes(self) -> Iterator[PutNode]:
        """Fold existing nodes from stored and imported assertions, including merged nodes'."""
        stored = _group_by_node(self._stored.node_assertions)
        known = {assertion.id for assertion in self._stored.node_assertions}
        new_by_node: dict[str, list[NodeAssertion]] = {}
        for assertion in self._imported.node_assertions:
            id = self._id(assertion.node)
            if id in self._nodes and assertion.id not in known:
                new_by_node.setdefault(id, []).append(replace(assertion, node=id))
        meso, macro = self._new_anchors()
        for id in {**new_by_node, **dict.fromkeys(sorted((meso | macro) & self._nodes.keys()))}:
            new_assertions = new_by_node.get(id, [])
            merged = [node.id for node in self._stored.nodes if node.merged_into == id]
            before = self._nodes[id]
            all_assertions = [
                t for each in (id, *merged) for t in stored.get(each, ())
            ] + new_assertions
            folded = fold_node(
                all_assertions, lambda *key, id=id: self._keys.get(key, id) != id, key_of=name_key
            )
            folded_fields = (
                {f.name: getattr(folded, f.name) for f in fields(folded)} if folded else {}
            )
            after = before.evolve(
                **folded_fields,
                has_meso=before.has_meso or id in meso,
                has_macro=before.has_macro or id in macro,
                version=before.version + 1,
            )
            entry = _graph_import_entry(id, after.category, after.ref, before.ref)
            yield PutNode(before, after, entry, assertions=tuple(new_assertions))

    def _new_edges(self) -> Iterator[PutEdge]:
        known = {edge.id for edge in self._stored.edges}
        assertions: dict[str, list[EdgeAssertion]] = {}
        for assertion in self._imported.edge_assertions:
            moved = replace(assertion, a=self._id(assertion.a), b=self._id(assertion.b))
            assertions.setdefault(assertion.edge, []).append(moved)
        for edge in self._imported.edges:
            a, b = self._id(edge.a), self._id(edge.b)
            if edge.id in known or a == b:
                continue
            after = edge.evolve(version=1, a=a, b=b)
            text = self._imported.texts.get(edge.id)
            entry = _graph_import_entry(edge.id, None, after.ref)
            vector = self._vectors.get(edge.id)
            yield PutEdge(None, after, entry, text, vector, tuple(assertions.get(edge.id, ())))


def _key(node: Node) -> _NodeKey:
    return node.type, node.subtype, node.key


def _group_by_node(assertions: tuple[NodeAssertion, ...]) -> dict[str, tuple[NodeAssertion, ...]]:
    found: dict[str, list[NodeAssertion]] = {}
    for assertion in assertions:
        found.setdefault(assertion.node, []).append(assertion)
    return {node: tuple(of_node) for node, of_node in found.items()}


def _graph_import_entry(
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
