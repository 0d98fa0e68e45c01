"""A node's description at night, from its relations and notes: by a language model, or by rules.

Whoever sees the node sees its description, so that it rests only on what they all may read.
"""

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
from commonplace.model.graph.assertion import SourcedStatement, is_sensitive, notes_live_at
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sleep import SLEEP_ACTOR
from commonplace.store.queries import AssertionQuery, GraphQuery

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
    relations, notes = _relations(engine, graph, node, now), _notes(graph, node, now)
    known = [*relations[:1], *notes, *relations[1:]]
    return [text for text in known if not is_suspicious_again(engine, text)]


def _relations(
    engine: EngineContext, graph: SearchableGraph, node: Node, now: datetime
) -> Sequence[str]:
    edges = [edge for edge in graph.edges_at(node.id, now) if not _is_sensitive(graph, edge)]
    usable = _told_for_all(engine, graph, node) if edges else set()
    return [say_edge(graph, edge) for edge in edges if edge.id in usable]


def _is_sensitive(graph: SearchableGraph, edge: Edge) -> bool:
    levels = {graph.snapshot.nodes[end].sensitivity for end in edge.ends} | {edge.sensitivity}
    return Sensitivity.HIGH in levels


def _told_for_all(engine: EngineContext, graph: SearchableGraph, node: Node) -> set[str]:
    """The edges of a node that an own, normal source or a user asserts."""
    scope = Scope.of_user(node.user_id)
    merged = engine.store.graph_items(scope, GraphQuery(merged_into=[node.id])).nodes
    members = [node.id, *(each.id for each in merged)]
    found = engine.store.assertions(scope, AssertionQuery(ends=members)).edges
    return {each.edge for each in found if each.stands and _is_for_all(node, each)}


def _notes(graph: SearchableGraph, node: Node, now: datetime) -> list[str]:
    """The newest first. Summaries that a night noted are left out: they also tell of others, and
    are shown only to those who may read sources."""
    notes = notes_live_at(graph.snapshot.notes.get(node.id, ()), now)
    return [
        note.content for note in notes if _is_for_all(node, note) and note.added_by != SLEEP_ACTOR
    ]


def _is_for_all(node: Node, statement: SourcedStatement) -> bool:
    """Whoever sees the node may read it: it is not sensitive, and rests on no source of a team,
    which its reader may leave."""
    own = Scope.of_user(node.user_id).key
    is_own = statement.source is None or statement.source.scope == own
    return is_own and not is_sensitive(statement)
