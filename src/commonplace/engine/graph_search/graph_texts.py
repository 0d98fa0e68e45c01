"""Graph texts: items of the graph as readable text, and the terms that they are found by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from commonplace.engine.graph_search.graph_view import GraphView
from commonplace.language.query.relations import question_forms, relation_words, say_relation
from commonplace.language.text.terms import analyse
from commonplace.model.graph.assertion import Note, notes_live_at
from commonplace.model.graph.elements import ARTIFACT_CATEGORY, Artifact, Edge, Node
from commonplace.model.graph.salience import current_salience
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.storylines import STORY_CATEGORY, Macro, Storyline
from commonplace.model.graph.types import is_description, relationship_type
from commonplace.model.memory.lifecycle import PointInTime

OWNER = "the user"
MAX_RELATIONS = 6  # in the text of a node
MAX_NOTES = 3
MAX_NOTE_LENGTH = 300  # characters
MAX_OUTPUT_LENGTH = 500  # characters of an artifact's output
MAX_WORDED_EDGES = 5_000  # of a larger graph, only edges with notes are found by their words

Terms = frozenset[str]
GraphItem = Node | Edge | Artifact | Storyline | Macro


@dataclass(frozen=True, slots=True)
class TextRequest:
    """For whom an item is written."""

    now: datetime
    terms: Terms = frozenset()  # of the query: notes with them come first
    hidden: frozenset[str] = frozenset()  # sources that the caller may not read: no note of theirs


@dataclass(frozen=True)
class SearchableGraph:
    """The graph that a caller may see, at one moment. ``analysed``: terms by text; it is shared
    between revisions, so that a small change costs little."""

    view: GraphView
    then: PointInTime
    analysed: dict[str, Terms] = field(default_factory=dict)

    @property
    def snapshot(self) -> GraphSnapshot:
        return self.view.snapshot

    @property
    def owner(self) -> str | None:
        return self.view.owner

    @cached_property
    def terms(self) -> Mapping[str, Terms]:
        """The terms of what is said of each node and edge, and of each artifact. Names are matched
        as names."""
        texts = dict(self._own_texts(self.snapshot.notes))
        known = self.analysed
        found = {id: known.get(text) or frozenset(analyse(text)) for id, text in texts.items()}
        known.clear()
        known.update((text, found[id]) for id, text in texts.items())
        return found

    def has_expired_notes(self, id: str, now: datetime) -> bool:
        """Then its vector is still that of their words."""
        notes = self.snapshot.notes.get(id, ())
        return len(notes_live_at(notes, self.then.known_at or now)) < len(notes)

    def live_terms(self, id: str, now: datetime) -> Terms:
        """The terms of an item without those of expired notes."""
        if not self.has_expired_notes(id, now):
            return self.terms[id]
        live = notes_live_at(self.snapshot.notes[id], self.then.known_at or now)
        texts = dict(self._own_texts({**self.snapshot.notes, id: tuple(live)}))
        return frozenset(analyse(texts[id]))

    def _own_texts(self, notes: Mapping[str, tuple[Note, ...]]) -> Iterable[tuple[str, str]]:
        for node in self.snapshot.nodes.values():
            yield node.id, _join(node.description, *_contents(notes, node.id))
        all_edges = len(self.snapshot.edges) <= MAX_WORDED_EDGES
        for edge in self.snapshot.edges.values():
            if all_edges or edge.id in notes:
                yield edge.id, _join(edge.description, *_contents(notes, edge.id))
        for artifact in self.snapshot.artifacts.values():
            yield artifact.id, artifact_text(artifact, None)

    def edges_at(self, node: str, now: datetime) -> list[Edge]:
        """The edges of a node that hold, the closest first. What was read how often plays no part,
        so that a read changes no answer."""
        held = [edge for edge in self.view.edges_at.get(node, ()) if edge.holds(self.then, now)]
        shown = [edge for edge in held if not self.is_archived(edge, now)]
        return sorted(shown, key=lambda e: (-e.proximity, e.recorded_at, e.type, e.id))

    def is_archived(self, item: GraphItem, now: datetime) -> bool:
        return current_salience(item, self.snapshot.marks_of(item.id), now).is_archived

    def name(self, node: str) -> str:
        return OWNER if node == self.owner else self.snapshot.nodes[node].name


def _join(*texts: str) -> str:
    return "\n".join(text for text in texts if text)


def _contents(notes: Mapping[str, tuple[Note, ...]], id: str) -> list[str]:
    return [note.content for note in notes.get(id, ())]


def say_edge(graph: SearchableGraph, edge: Edge) -> str:
    """ "Tobias is the user's husband"."""
    ends = [graph.snapshot.nodes[id] for id in edge.ends]
    said = _join(edge.description, *(name for node in ends for name in node.names))
    a, b = edge.ends
    if b == graph.owner and relationship_type(edge.type).is_mutual:
        a, b = b, a
    sentence = say_relation(edge.type, graph.name(a), graph.name(b), question_forms(said))
    return sentence[:1].upper() + sentence[1:]


def edge_text(
    graph: SearchableGraph, edge: Edge, since: datetime | None, request: TextRequest
) -> str:
    """``since``: the start of the relation, if it was stated."""
    sentence = say_edge(graph, edge) + (f", since {since:%Y-%m-%d}" if since else "")
    said = analyse(sentence)
    more = [edge.description] if set(analyse(edge.description)).difference(said) else []
    return _sentences([sentence, *more, *live_notes(graph, edge.id, request)])


def node_text(graph: SearchableGraph, node: Node, request: TextRequest) -> str:
    """Its names, what it is, its main relations and its newest notes."""
    names = [] if node.is_owner else [name for name in node.aliases if not is_description(name)]
    head = OWNER[:1].upper() + OWNER[1:] if node.is_owner else node.name
    also = f" ({', '.join(names)})" if names else ""
    relations = [] if node.is_owner else relation_sentences(graph, node, request.now)
    known = set(analyse(_join(*relations)))
    about = [node.description] if set(analyse(node.description)).difference(known) else []
    said = [*about, *relations, *live_notes(graph, node.id, request)]
    if said and not also and said[0].startswith(head):
        return _sentences(said)
    return f"{head}{also}: {_sentences(said)}" if said else f"{head}{also}"


def relation_sentences(graph: SearchableGraph, node: Node, now: datetime) -> list[str]:
    edges = graph.edges_at(node.id, now)[:MAX_RELATIONS]
    return list(dict.fromkeys(say_edge(graph, edge) for edge in edges))


def artifact_text(artifact: Artifact, length: int | None = MAX_OUTPUT_LENGTH) -> str:
    output = artifact.output if isinstance(artifact.output, str) else ""
    about = f"{artifact.name}: {artifact.description}" if artifact.description else artifact.name
    return _join(about, output[:length])


def live_notes(graph: SearchableGraph, about: str, request: TextRequest) -> list[str]:
    """The newest live notes; first those with words of the query."""
    noted = graph.snapshot.notes.get(about, ())
    readable = [note for note in noted if not (note.source and note.source.id in request.hidden)]
    live = notes_live_at(readable, graph.then.known_at or request.now)
    matching = sorted(live, key=lambda note: request.terms.isdisjoint(analyse(note.content)))
    return [note.content[:MAX_NOTE_LENGTH] for note in matching[:MAX_NOTES]]


def _sentences(texts: Iterable[str]) -> str:
    return " ".join(
        text if text.endswith((".", "!", "?", "…")) else f"{text}." for text in texts if text
    )


def category_of(graph: SearchableGraph, item: GraphItem) -> str:
    """An edge has the category of the end that is not the owner."""
    if isinstance(item, Node):
        return item.category
    if isinstance(item, Artifact):
        return ARTIFACT_CATEGORY
    if isinstance(item, Storyline | Macro):
        return STORY_CATEGORY
    other = item.b if item.a == graph.owner else item.a
    return graph.snapshot.nodes[other].category


def find_item(graph: SearchableGraph, id: str) -> GraphItem | None:
    snapshot = graph.snapshot
    item = snapshot.nodes.get(id) or snapshot.edges.get(id)
    return item or snapshot.artifacts.get(id) or snapshot.story(id)


def item_text(
    graph: SearchableGraph,
    item: GraphItem,
    request: TextRequest,
    since: datetime | None = None,
) -> str:
    """``since``: the stated start of an edge."""
    if isinstance(item, Node):
        return node_text(graph, item, request)
    if isinstance(item, Artifact):
        return artifact_text(item)
    if isinstance(item, Storyline | Macro):
        return item.headline
    return edge_text(graph, item, since, request)


def edge_terms(graph: SearchableGraph, edge: Edge) -> Terms:
    """The terms of its sentence, its words and its ends: all that may ask for it."""
    nodes = graph.snapshot.nodes
    names = [name for id in edge.ends if id != graph.owner for name in nodes[id].names]
    said = frozenset(analyse(_join(say_edge(graph, edge), *names)))
    return said | graph.terms.get(edge.id, frozenset()) | relation_words(edge.type).all_words


def mentioning_sources(snapshot: GraphSnapshot, nodes: set[str]) -> dict[str, list[str]]:
    """The sources that mention these nodes, the latest first: mentions are sorted by date."""
    found: dict[str, list[str]] = {}
    for mention in reversed(snapshot.mentions):
        if mention.node in nodes:
            found.setdefault(mention.node, []).append(mention.source)
    return found
