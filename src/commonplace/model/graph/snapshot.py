"""Graph snapshot: a user's active graph at one revision; export values; authors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar

from commonplace.model.access.principal import Scope
from commonplace.model.access.team import Team
from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.salience import NEVER_READ, AccessStats
from commonplace.model.graph.steps import Extraction
from commonplace.model.graph.storylines import Macro, Story, Storyline, StorySource
from commonplace.model.graph.types import edge_kind_between
from commonplace.model.sources.source import SOURCE_PREFIX, Source


@dataclass(frozen=True, slots=True)
class SourceMention:
    """A source mentions a node."""

    source: str
    node: str
    said_at: datetime
    scope: str = ""  # the key of the source's owner
    weight: float = 1.0
    is_sensitive: bool = False

    @property
    def as_story_source(self) -> StorySource:
        return StorySource(self.said_at, self.source, self.scope, self.weight, self.is_sensitive)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSnapshot:
    """Active rows only. Merged nodes are replaced by their merge targets, in edges and mentions,
    too. ``edges`` includes ended ones: readers filter with `Edge.holds`."""

    revision: int = 0  # of the graph
    nodes: Mapping[str, Node] = field(default_factory=dict)
    edges: Mapping[str, Edge] = field(default_factory=dict)
    notes: Mapping[str, tuple[Note, ...]] = field(default_factory=dict)  # by node or edge
    mentions: tuple[SourceMention, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)  # those that the caller may read
    artifacts: Mapping[str, Artifact] = field(default_factory=dict)
    storylines: Mapping[str, Storyline] = field(default_factory=dict)
    macros: Mapping[str, Macro] = field(default_factory=dict)
    teams: Mapping[str, Team] = field(default_factory=dict)
    marks: Mapping[str, AccessStats] = field(default_factory=dict)

    def story(self, id: str) -> Story | None:
        return self.storylines.get(id) or self.macros.get(id)

    def stories(self) -> Iterator[Story]:
        """Storylines and macros."""
        yield from self.storylines.values()
        yield from self.macros.values()

    @property
    def story_sources(self) -> Mapping[str, tuple[StorySource, ...]]:
        """By node, the sources that count for its storylines."""
        found: dict[str, list[StorySource]] = {}
        for each in self.mentions:
            if each.source.startswith(SOURCE_PREFIX):  # not what was remembered by hand
                found.setdefault(each.node, []).append(each.as_story_source)
        return {node: tuple(sources) for node, sources in found.items()}

    def marks_of(self, id: str) -> AccessStats:
        return self.marks.get(id, NEVER_READ)


StoryT = TypeVar("StoryT", Storyline, Macro)
_NONE: Mapping[str, Any] = MappingProxyType({})
MergeTargets = Mapping[str, str]  # node → the node that it is shown as: its merge target or itself


def build_snapshot(
    revision: int,
    nodes: Mapping[str, Node],
    edges: Mapping[str, Edge],
    mentions: Mapping[str, tuple[SourceMention, ...]],
    notes: Mapping[str, tuple[Note, ...]],
    artifacts: Mapping[str, Artifact],
    storylines: Mapping[str, Storyline] = _NONE,
    macros: Mapping[str, Macro] = _NONE,
) -> GraphSnapshot:
    """Filters out inactive rows, and moves edges, notes, mentions and storylines of merged nodes to
    their merge targets."""
    targets = {id: target for id in nodes if (target := _merge_target(id, nodes)) is not None}
    shown_nodes = {id: node for id, node in nodes.items() if targets.get(id) == id}
    shown_edges = {edge.id: edge for edge in _visible_edges(edges.values(), targets, shown_nodes)}
    shown_lines = {id: each for id, each in storylines.items() if not each.is_hidden}
    return GraphSnapshot(
        revision=revision,
        nodes=shown_nodes,
        edges=shown_edges,
        notes=_visible_notes(notes, targets, shown_edges),
        mentions=_merged_mentions(mentions, targets),
        artifacts={id: each for id, each in artifacts.items() if each.purge_at is None},
        storylines=_anchored(shown_lines, targets),
        macros=_anchored(_told_macros(macros, storylines), targets),
    )


def _told_macros(
    macros: Mapping[str, Macro], storylines: Mapping[str, Storyline]
) -> dict[str, Macro]:
    """Without those of hidden storylines."""
    hidden = {id for id, each in storylines.items() if each.is_hidden}
    return {id: each for id, each in macros.items() if hidden.isdisjoint(each.storylines)}


def _anchored(stories: Mapping[str, StoryT], targets: MergeTargets) -> dict[str, StoryT]:
    """Those whose anchor is active, oldest first."""
    shown = [
        each if target == each.anchor else each.evolve(anchor=target)
        for each in stories.values()
        if (target := targets.get(each.anchor)) is not None
    ]
    return {each.id: each for each in sorted(shown, key=lambda each: (each.started_at, each.id))}


def _merge_target(id: str, nodes: Mapping[str, Node]) -> str | None:
    """The node at the end of its merge chain; None: that node is inactive, or the chain is a
    cycle."""
    seen = set()
    while id in nodes and id not in seen:
        seen.add(id)
        node = nodes[id]
        if node.merged_into is None:
            return id if node.stands and node.purge_at is None else None
        id = node.merged_into
    return None


def _visible_edges(
    edges: Iterable[Edge], targets: MergeTargets, nodes: Mapping[str, Node]
) -> Iterator[Edge]:
    """Without the edges whose two ends were merged into one node."""
    for edge in edges:
        if not edge.stands or edge.purge_at or edge.a not in targets or edge.b not in targets:
            continue
        a, b = targets[edge.a], targets[edge.b]
        if (a, b) == edge.ends:
            yield edge
        elif a != b:
            yield edge.evolve(a=a, b=b, kind=edge_kind_between(nodes[a].type, nodes[b].type))


def _visible_notes(
    notes: Mapping[str, tuple[Note, ...]], targets: MergeTargets, edges: Mapping[str, Edge]
) -> dict[str, tuple[Note, ...]]:
    visible: dict[str, list[Note]] = {}
    for about, written in notes.items():
        target = about if about in edges else targets.get(about)
        active = [note for note in written if note.stands and note.purge_at is None]
        if target is not None and active:
            visible.setdefault(target, []).extend(active)
    return {id: tuple(sorted(written, key=_newest_first)) for id, written in visible.items()}


def _newest_first(note: Note) -> tuple[float, str]:
    return -note.date_added.timestamp(), note.id


def _merged_mentions(
    mentions: Mapping[str, tuple[SourceMention, ...]], targets: MergeTargets
) -> tuple[SourceMention, ...]:
    """One mention per source and merge target, the earliest."""
    merged: dict[tuple[str, str], SourceMention] = {}
    for node, of_node in mentions.items():
        target = targets.get(node)
        if target is None:
            continue
        for mention in of_node:
            known = merged.get((mention.source, target))
            if known is None or mention.said_at < known.said_at:
                moved = mention if target == node else replace(mention, node=target)
                merged[mention.source, target] = moved
    return tuple(sorted(merged.values(), key=lambda m: (m.said_at, m.source, m.node)))


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeGraph:
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    node_assertions: tuple[NodeAssertion, ...] = ()
    edge_assertions: tuple[EdgeAssertion, ...] = ()
    notes: tuple[Note, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    storylines: tuple[Storyline, ...] = ()
    macros: tuple[Macro, ...] = ()
    extractions: tuple[Extraction, ...] = ()
    marks: Mapping[str, AccessStats] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)  # search texts, by id

    @property
    def is_empty(self) -> bool:
        return self == NO_GRAPH


NO_GRAPH = WholeGraph()


EXTRACTION_ACTOR = "worker:extract"
MODEL_ACTOR = "worker:model"  # what a language model read in sources
CALLER_ACTOR = "caller:model"  # what an agent found in a turn and handed over with it
MODEL_ACTORS = frozenset({MODEL_ACTOR, CALLER_ACTOR})
_FOR_THE_OWNER = frozenset({EXTRACTION_ACTOR, *MODEL_ACTORS})


def display_author(actor: str, owner: str) -> str:
    """The owner's plain user id for their own and for extracted items; an agent's journal name."""
    return owner if actor in (*_FOR_THE_OWNER, Scope.of_user(owner).key) else actor


def note_author(note: Note, snapshot: GraphSnapshot, owner: str) -> str:
    """The author to display. An extracted note is the owner's only where its source is theirs, not
    where the source is another's or not visible."""
    if note.added_by not in _FOR_THE_OWNER or _is_owned_by(owner, note, snapshot):
        return display_author(note.added_by, owner)
    return note.added_by


def _is_owned_by(owner: str, note: Note, snapshot: GraphSnapshot) -> bool:
    if note.source is None:
        return False
    source = snapshot.sources.get(note.source.id)
    source_owner = Scope.of_user(source.user_id).key if source else note.source.scope
    return source_owner == Scope.of_user(owner).key
