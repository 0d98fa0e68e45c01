"""Nodes and edges with new notes are described again.

A node's description is written by a model, or by rules from its closest relation and its newest
note. One that the owner wrote stays. Why it is no assertion: docs/decisions/0035-descriptions.md.
An edge keeps its description, which is asserted, and its sentence is made whenever it is shown:
what changes is what it is found by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from commonplace.engine.graph.graph_diff import node_search_text
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.engine.graph_search.graph_texts import SearchableGraph
from commonplace.engine.graph_search.node_description import describe_by_model, describe_by_rules
from commonplace.engine.maintenance.sleep.model_texts import TEXTS_AT_ONCE, ModelWork, erasures
from commonplace.engine.maintenance.sleep.task import (
    NOTHING_TO_DO,
    Batch,
    Decide,
    Night,
    NightAction,
)
from commonplace.engine.search.graph.matches import load_searchable_graph
from commonplace.model.graph.assertion import is_sensitive, notes_live_at
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.steps import PutEdge, PutNode
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sleep import SLEEP_ACTOR

BY_MODEL, BY_RULES, BY_OWNER = "described by a model", "described by rules", "the owner's words"
NEW_WORDS = "new notes"


@dataclass(frozen=True, slots=True)
class PreparedDescriptions:
    """Made before the decision. A description is used if its node is as it was then."""

    descriptions: Mapping[str, tuple[str, str]]  # by version: text, why
    vectors: Mapping[str, bytes]  # by search text
    erasures: int = 0
    at_once: int | None = None  # items of this slice; None: as many as a batch has


def run_descriptions(night: Night) -> Decide:
    work = ModelWork.begin(night, "describe_node")
    prepared = _prepare(night, work)
    outcome, tokens = work.outcome, work.tokens

    def decide() -> Batch:
        with night.engine.store.read_session():
            graph = load_searchable_graph(night.engine, night.principal)
            dirty = _dirty(graph)
            if graph is None or not dirty:
                return NOTHING_TO_DO
            first = dirty[: night.actions_at_once]
            work = _load(night, first)
            items = _loaded(work, first)[: prepared.at_once]
            usable = prepared
            if prepared.erasures != erasures(night):
                usable = replace(prepared, descriptions={})
            actions = [_renew(night, graph, work, item, usable) for item in items]
        has_more = len(dirty) > len(items)
        return Batch(actions, has_more=has_more, outcome=outcome, tokens=tokens)

    return decide


def _dirty(graph: SearchableGraph | None) -> list[Node | Edge]:
    """The longest dirty first, so that none waits for ever."""
    if graph is None:
        return []
    snapshot = graph.snapshot
    items: list[Node | Edge] = [*snapshot.nodes.values(), *snapshot.edges.values()]
    return sorted((each for each in items if each.is_dirty), key=lambda e: (e.updated_at, e.id))


def _load(night: Night, items: Iterable[Node | Edge]) -> GraphUnitOfWork:
    work = GraphUnitOfWork(night.engine, night.scope, SLEEP_ACTOR, night.now)
    nodes = [item.id for item in items if isinstance(item, Node)]
    work.load(nodes)
    work.load_edges(item.id for item in items if isinstance(item, Edge))
    return work


def _loaded(work: GraphUnitOfWork, dirty: Sequence[Node | Edge]) -> list[Node | Edge]:
    """As they are stored: a merged node is shown in its target."""
    stored = ((work.nodes.get(each.id) or work.edges.get(each.id)) for each in dirty)
    return [item for item in stored if item is not None]


# ——— before the decision ———


def _prepare(night: Night, asked: ModelWork) -> PreparedDescriptions:
    """The model and the embedder are asked outside any transaction."""
    engine = night.engine
    with engine.store.read_session():
        graph = load_searchable_graph(engine, night.principal)
        dirty = _dirty(graph)[: night.actions_at_once]
        if graph is None or not dirty or night.dry_run:
            return PreparedDescriptions({}, {})
        work = _load(night, dirty)
        items = _loaded(work, dirty)
        known = erasures(night)
        descriptions, at_once = _ask(night, asked, graph, work, items)
        items = items[:at_once]
        texts = [
            _search_text(night, work, _described(item, graph, night, descriptions, work)[0])
            for item in items
        ]
        vectors = engine.embed_passages(texts)
    if vectors is None:
        return PreparedDescriptions(descriptions, {}, known, at_once)
    made = {text: row.astype("<f4").tobytes() for text, row in zip(texts, vectors, strict=True)}
    return PreparedDescriptions(descriptions, made, known, at_once)


def _ask(
    night: Night,
    asked: ModelWork,
    graph: SearchableGraph,
    work: GraphUnitOfWork,
    items: Sequence[Node | Edge],
) -> tuple[dict[str, tuple[str, str]], int]:
    """What a model writes, and of how many items."""
    written: dict[str, tuple[str, str]] = {}
    left_after = asked.left - TEXTS_AT_ONCE
    for place, item in enumerate(items):
        if asked.left <= left_after:
            return written, place
        if isinstance(item, Edge) or _is_owners(work, item) or not asked.may_ask:
            continue
        if item.sensitivity is Sensitivity.HIGH:
            continue
        text = asked.count(describe_by_model(night.engine, night.scope, graph, item))
        if text:
            written[item.ref] = (text, BY_MODEL)
    return written, len(items)


def _is_owners(work: GraphUnitOfWork, node: Node) -> bool:
    """Whether a user described it; the owner's own node is told by the profile."""
    members = work.group(work.root(node.id))
    return node.is_owner or any(
        each.node in members and each.source is None and each.stands and each.description
        for each in work.node_assertions.values()
    )


# ——— the decision ———


def _renew(
    night: Night,
    graph: SearchableGraph,
    work: GraphUnitOfWork,
    item: Node | Edge,
    prepared: PreparedDescriptions,
) -> NightAction:
    described, why = _described(item, graph, night, prepared.descriptions, work)
    after = described.evolve(is_dirty=False, updated_at=night.now, version=item.version + 1)
    text = _search_text(night, work, after)
    entry = Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        node=JournalNode.WORKER,
        subject=item.id,
        category=_category(work, item),
        new_ref=after.ref,
    )
    return NightAction(why, (_put(item, after, entry, text, prepared.vectors.get(text)),))


def _put(
    before: Node | Edge, after: Node | Edge, entry: Entry, text: str, vector: bytes | None
) -> PutNode | PutEdge:
    if isinstance(before, Node):
        return PutNode(before, cast(Node, after), entry, text, vector)
    return PutEdge(before, cast(Edge, after), entry, text, vector)


def _described(
    item: Node | Edge,
    graph: SearchableGraph,
    night: Night,
    by_model: Mapping[str, tuple[str, str]],
    work: GraphUnitOfWork,
) -> tuple[Node | Edge, str]:
    """With its new description, and why."""
    if isinstance(item, Edge):
        return item, NEW_WORDS
    if _is_owners(work, item):
        return item, BY_OWNER
    written, why = by_model.get(item.ref, ("", BY_RULES))
    text = written or describe_by_rules(night.engine, graph, item) or item.description
    return item.evolve(description=text), why


def _search_text(night: Night, work: GraphUnitOfWork, item: Node | Edge) -> str:
    shown = [
        note
        for note in work.notes.values()
        if note.about == item.id
        and (item.sensitivity is Sensitivity.HIGH or not is_sensitive(note))
    ]
    notes = [note.content for note in notes_live_at(shown, night.now)]
    if isinstance(item, Node):
        return node_search_text(item, notes)
    return item.search_text(" ".join(notes))


def _category(work: GraphUnitOfWork, item: Node | Edge) -> str | None:
    """An edge has the category of its first node."""
    node = item if isinstance(item, Node) else work.node(item.a)
    return node.category if node else None
