"""A node's description at night, from its relations and notes: by a language model, or by rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.engine.graph_search.graph_texts import SearchableGraph, say_edge
from commonplace.engine.llm.texts import describe_node
from commonplace.engine.prompt_injection import is_suspicious_again
from commonplace.language.fields.writing_policy import check_writing, speaks_of_itself
from commonplace.language.observe.english import format_sentence
from commonplace.language.safety.plain_line import plain_line
from commonplace.language.safety.secrets import find_secrets
from commonplace.language.text.sentences import split_sentences
from commonplace.language.text.terms import analyse
from commonplace.model.access.principal import Scope
from commonplace.model.graph.assertion import Note, notes_live_at
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import Sensitivity

MAX_DESCRIPTION = 280  # characters
_MAX_SENTENCES = 2
_FORBIDDEN = frozenset(("question", "context", "neutral"))


def describe_by_model(
    engine: EngineContext, scope: Scope, graph: SearchableGraph, node: Node
) -> str | None:
    """One or two grounded sentences; None if there are none, and for a node of sensitivity high.
    ``scope``: the owner of the graph."""
    if node.sensitivity is Sensitivity.HIGH:
        return None
    texts = _known(engine, graph, node)
    return describe_node(engine, scope, node.name, node.subtype or str(node.type).lower(), texts)


def describe_by_rules(engine: EngineContext, graph: SearchableGraph, node: Node) -> str:
    """What the node is to others, and the newest note that can stand alone; empty if neither is
    known."""
    told: list[str] = []
    for text in _known(engine, graph, node):
        for sentence in map(format_sentence, split_sentences(text)):
            room = MAX_DESCRIPTION - sum(len(each) + 1 for each in told)
            if _can_stand_alone(sentence, room) and not any(_repeats(sentence, t) for t in told):
                told.append(sentence)
            if len(told) == _MAX_SENTENCES:
                return " ".join(told)
    return " ".join(told)


def _can_stand_alone(sentence: str, room: int) -> bool:
    if plain_line(sentence, room) is None or any(find_secrets(sentence)):
        return False
    broken = {remark.code for remark in check_writing(Kind.INSIGHT, sentence)}
    return not speaks_of_itself(sentence) and broken.isdisjoint(_FORBIDDEN)


def _repeats(one: str, other: str) -> bool:
    return set(analyse(one)) <= set(analyse(other))


def _known(engine: EngineContext, graph: SearchableGraph, node: Node) -> list[str]:
    """The closest relation, the notes, the other relations; nothing that reads like an order."""
    now = engine.clock()
    relations, notes = _relations(graph, node, now), _notes(graph, node, now)
    known = [*relations[:1], *notes, *relations[1:]]
    return [text for text in known if not is_suspicious_again(engine, text)]


def _relations(graph: SearchableGraph, node: Node, now: datetime) -> Sequence[str]:
    edges = graph.edges_at(node.id, now)
    return [say_edge(graph, edge) for edge in edges if not _is_sensitive(graph, edge)]


def _is_sensitive(graph: SearchableGraph, edge: Edge) -> bool:
    levels = {graph.snapshot.nodes[end].sensitivity for end in edge.ends} | {edge.sensitivity}
    return Sensitivity.HIGH in levels


def _notes(graph: SearchableGraph, node: Node, now: datetime) -> list[str]:
    """The newest first; none that rests on words which another user brought."""
    notes = notes_live_at(graph.snapshot.notes.get(node.id, ()), now)
    return [note.content for note in notes if _is_own(node, note)]


def _is_own(node: Node, note: Note) -> bool:
    if note.sensitivity is Sensitivity.HIGH:
        return False
    return note.source is None or note.source.scope == Scope.of_user(node.user_id).key
