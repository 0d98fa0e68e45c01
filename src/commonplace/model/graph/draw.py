"""How a picture is drawn from all that is kept: only what stands, and each node once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import Note
from commonplace.model.graph.picture import Mention, Picture
from commonplace.model.graph.words import kind_between

Speakers = Mapping[str, str]  # each node that is shown somewhere → the node that it is shown as


def draw(
    revision: int,
    nodes: Mapping[str, Node],
    edges: Mapping[str, Edge],
    mentions: Mapping[str, tuple[Mention, ...]],
    notes: Mapping[str, tuple[Note, ...]],
    artifacts: Mapping[str, Artifact],
) -> Picture:
    """Of rows that may not stand, and of nodes that others speak for: what is known of those is
    drawn at the node that speaks."""
    speakers = {id: shown for id in nodes if (shown := _speaker(id, nodes)) is not None}
    drawn_nodes = {id: node for id, node in nodes.items() if speakers.get(id) == id}
    drawn_edges = {edge.id: edge for edge in _edges(edges.values(), speakers, drawn_nodes)}
    return Picture(
        revision=revision,
        nodes=drawn_nodes,
        edges=drawn_edges,
        notes=_notes(notes, speakers, drawn_edges),
        mentions=_mentions(mentions, speakers),
        artifacts={id: each for id, each in artifacts.items() if each.purge_at is None},
    )


def _speaker(id: str, nodes: Mapping[str, Node]) -> str | None:
    """None: nothing that stands speaks for it. Those that only speak for each other do not."""
    met = set()
    while id in nodes and id not in met:
        met.add(id)
        node = nodes[id]
        if node.merged_into is None:
            return id if node.stands and node.purge_at is None else None
        id = node.merged_into
    return None


def _edges(edges: Iterable[Edge], speakers: Speakers, nodes: Mapping[str, Node]) -> Iterator[Edge]:
    """Between one node and itself nothing is left to tell."""
    for edge in edges:
        if not edge.stands or edge.purge_at or edge.a not in speakers or edge.b not in speakers:
            continue
        a, b = speakers[edge.a], speakers[edge.b]
        if (a, b) == edge.ends:
            yield edge
        elif a != b:
            yield edge.evolve(a=a, b=b, kind=kind_between(nodes[a].type, nodes[b].type))


def _notes(
    notes: Mapping[str, tuple[Note, ...]], speakers: Speakers, edges: Mapping[str, Edge]
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


def _mentions(
    mentions: Mapping[str, tuple[Mention, ...]], speakers: Speakers
) -> tuple[Mention, ...]:
    """A source that speaks of two nodes which are one by now speaks of it once."""
    found: dict[tuple[str, str], Mention] = {}
    for node, spoken in mentions.items():
        shown = speakers.get(node)
        if shown is None:
            continue
        for mention in spoken:
            known = found.get((mention.source, shown))
            if known is None or mention.said_at < known.said_at:
                moved = (
                    mention if shown == node else Mention(mention.source, shown, mention.said_at)
                )
                found[mention.source, shown] = moved
    return tuple(sorted(found.values(), key=lambda m: (m.said_at, m.source, m.node)))
