"""Graph snapshot: a user's graph at one revision, its build, export and authors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.model.access.principal import Scope
from commonplace.model.access.team import Team
from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.salience import NEVER_READ, AccessStats
from commonplace.model.graph.steps import Extraction
from commonplace.model.graph.types import edge_kind_between
from commonplace.model.sources.source import Source


@dataclass(frozen=True, slots=True)
class SourceMention:
    """A source speaks of a node."""

    source: str
    node: str
    said_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSnapshot:
    """Only what stands; a node that was merged is not among the nodes, and no edge or mention names
    it. ``edges`` holds the past ones, too: who reads asks each whether it holds."""

    revision: int = 0  # of the graph
    nodes: Mapping[str, Node] = field(default_factory=dict)
    edges: Mapping[str, Edge] = field(default_factory=dict)
    notes: Mapping[str, tuple[Note, ...]] = field(default_factory=dict)  # by what they are about
    mentions: tuple[SourceMention, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)  # those that may be read
    artifacts: Mapping[str, Artifact] = field(default_factory=dict)
    teams: Mapping[str, Team] = field(default_factory=dict)
    marks: Mapping[str, AccessStats] = field(default_factory=dict)

    def marks_of(self, id: str) -> AccessStats:
        return self.marks.get(id, NEVER_READ)


MergeTargets = Mapping[str, str]  # each node that is shown somewhere → the node that it is shown as


def build_snapshot(
    revision: int,
    nodes: Mapping[str, Node],
    edges: Mapping[str, Edge],
    mentions: Mapping[str, tuple[SourceMention, ...]],
    notes: Mapping[str, tuple[Note, ...]],
    artifacts: Mapping[str, Artifact],
) -> GraphSnapshot:
    """Of rows that may not stand, and of nodes that others speak for: what is known of those is
    drawn at the node that speaks."""
    speakers = {id: shown for id in nodes if (shown := _merge_target(id, nodes)) is not None}
    drawn_nodes = {id: node for id, node in nodes.items() if speakers.get(id) == id}
    drawn_edges = {edge.id: edge for edge in _visible_edges(edges.values(), speakers, drawn_nodes)}
    return GraphSnapshot(
        revision=revision,
        nodes=drawn_nodes,
        edges=drawn_edges,
        notes=_visible_notes(notes, speakers, drawn_edges),
        mentions=_merged_mentions(mentions, speakers),
        artifacts={id: each for id, each in artifacts.items() if each.purge_at is None},
    )


def _merge_target(id: str, nodes: Mapping[str, Node]) -> str | None:
    """None: nothing that stands speaks for it. Those that only speak for each other do not."""
    met = set()
    while id in nodes and id not in met:
        met.add(id)
        node = nodes[id]
        if node.merged_into is None:
            return id if node.stands and node.purge_at is None else None
        id = node.merged_into
    return None


def _visible_edges(
    edges: Iterable[Edge], speakers: MergeTargets, nodes: Mapping[str, Node]
) -> Iterator[Edge]:
    """Between one node and itself nothing is left to tell."""
    for edge in edges:
        if not edge.stands or edge.purge_at or edge.a not in speakers or edge.b not in speakers:
            continue
        a, b = speakers[edge.a], speakers[edge.b]
        if (a, b) == edge.ends:
            yield edge
        elif a != b:
            yield edge.evolve(a=a, b=b, kind=edge_kind_between(nodes[a].type, nodes[b].type))


def _visible_notes(
    notes: Mapping[str, tuple[Note, ...]], speakers: MergeTargets, edges: Mapping[str, Edge]
) -> dict[str, tuple[Note, ...]]:
    found: dict[str, list[Note]] = {}
    for about, written in notes.items():
        shown = about if about in edges else speakers.get(about)
        standing = [note for note in written if note.stands and note.purge_at is None]
        if shown is not None and standing:
            found.setdefault(shown, []).extend(standing)
    return {shown: tuple(sorted(written, key=_newest_first)) for shown, written in found.items()}


def _newest_first(note: Note) -> tuple[float, str]:
    return -note.date_added.timestamp(), note.id


def _merged_mentions(
    mentions: Mapping[str, tuple[SourceMention, ...]], speakers: MergeTargets
) -> tuple[SourceMention, ...]:
    """A source that speaks of two nodes which are one by now speaks of it once."""
    found: dict[tuple[str, str], SourceMention] = {}
    for node, spoken in mentions.items():
        shown = speakers.get(node)
        if shown is None:
            continue
        for mention in spoken:
            known = found.get((mention.source, shown))
            if known is None or mention.said_at < known.said_at:
                moved = (
                    mention
                    if shown == node
                    else SourceMention(mention.source, shown, mention.said_at)
                )
                found[mention.source, shown] = moved
    return tuple(sorted(found.values(), key=lambda m: (m.said_at, m.source, m.node)))


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeGraph:
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    node_assertions: tuple[NodeAssertion, ...] = ()
    edge_assertions: tuple[EdgeAssertion, ...] = ()
    notes: tuple[Note, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    extractions: tuple[Extraction, ...] = ()
    marks: Mapping[str, AccessStats] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)  # what nodes and edges are found by

    @property
    def is_empty(self) -> bool:
        return self == NO_GRAPH


NO_GRAPH = WholeGraph()


EXTRACTION_ACTOR = "worker:extract"


def display_author(actor: str, owner: str) -> str:
    """The owner by their plain user id, for what was read in sources as well: their graph is what
    they make of these. Agents as the journal names them."""
    return owner if actor in (EXTRACTION_ACTOR, Scope.of_user(owner).key) else actor


def note_author(note: Note, snapshot: GraphSnapshot, owner: str) -> str:
    """Of a note that was read somewhere, the owner where that is theirs: they said or brought it.
    What stands in another's source, or in one that is not seen, is not theirs."""
    if note.added_by != EXTRACTION_ACTOR or _is_owned_by(owner, note, snapshot):
        return display_author(note.added_by, owner)
    return note.added_by


def _is_owned_by(owner: str, note: Note, snapshot: GraphSnapshot) -> bool:
    if note.source is None:
        return False
    source = snapshot.sources.get(note.source.id)
    whose = Scope.of_user(source.user_id).key if source else note.source.scope
    return whose == Scope.of_user(owner).key
