"""A node's description by a language model, from its relations and notes."""

from __future__ import annotations

from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.engine.graph_search.graph_texts import SearchableGraph, say_edge
from commonplace.engine.llm.texts import describe_node
from commonplace.engine.prompt_injection import is_suspicious_again
from commonplace.model.access.principal import Scope
from commonplace.model.graph.assertion import Note, notes_live_at
from commonplace.model.graph.elements import Node
from commonplace.model.memory.memory import Sensitivity


def describe_by_model(
    engine: EngineContext, scope: Scope, graph: SearchableGraph, node: Node
) -> str | None:
    """One or two grounded sentences; None if there are none, and for a node of sensitivity high.
    ``scope``: the owner of the graph."""
    if node.sensitivity is Sensitivity.HIGH:
        return None
    now = engine.clock()
    known = [*_relations(graph, node, now), *_notes(graph, node, now)]
    texts = [text for text in known if not is_suspicious_again(engine, text)]
    return describe_node(engine, scope, node.name, node.subtype or str(node.type).lower(), texts)


def _relations(graph: SearchableGraph, node: Node, now: datetime) -> list[str]:
    edges = graph.edges_at(node.id, now)
    return [say_edge(graph, edge) for edge in edges if edge.sensitivity is not Sensitivity.HIGH]


def _notes(graph: SearchableGraph, node: Node, now: datetime) -> list[str]:
    """The newest first; none that rests on words which another user brought."""
    notes = notes_live_at(graph.snapshot.notes.get(node.id, ()), now)
    return [note.content for note in notes if _is_own(node, note)]


def _is_own(node: Node, note: Note) -> bool:
    if note.sensitivity is Sensitivity.HIGH:
        return False
    return note.source is None or note.source.scope == Scope.of_user(node.user_id).key
