"""The graph as it was known at an earlier moment: folded from what had been told by then.

What is told later changes how a node is called, since when a relation holds and whether it is over;
so the rows of now cannot say what was known before, and the tellings can.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from commonplace.desk import Desk
from commonplace.graph.known import key_of
from commonplace.graph.weave_edges import placed
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.fold import Folded, fold
from commonplace.model.graph.node import Node
from commonplace.model.graph.picture import Picture
from commonplace.model.graph.telling import EdgeTelling, NodeTelling
from commonplace.model.graph.timeline import Stretch, stretches
from commonplace.model.graph.words import kind_between
from commonplace.model.scope import Scope
from commonplace.model.time_travel import Then

Speakers = Mapping[str, str]  # each node → the one that speaks for it


def as_known(desk: Desk, scope: Scope, picture: Picture, then: Then) -> Picture:
    """``picture``: of now, with what the caller may see; nothing comes into it here."""
    known_at = then.known_at
    if known_at is None:
        return picture
    speakers = speakers_of(desk, scope, picture)
    told = [t for t in desk.store.node_tellings(scope, [*speakers]) if t.recorded_at <= known_at]
    nodes = _nodes(picture, told, speakers)
    related = [
        t
        for t in desk.store.edge_tellings(scope, [*speakers])
        if t.recorded_at <= known_at and {speakers.get(t.a), speakers.get(t.b)} <= nodes.keys()
    ]
    mentioned = {(t.source.id, speakers[t.node]) for t in told if t.source and t.stands}
    return replace(
        picture,
        nodes=nodes,
        edges=_edges(picture, related, speakers, nodes),
        notes={
            id: tuple(note for note in notes if note.date_added <= known_at)
            for id, notes in picture.notes.items()
        },
        mentions=tuple(m for m in picture.mentions if (m.source, m.node) in mentioned),
        artifacts={id: a for id, a in picture.artifacts.items() if a.created_at <= known_at},
    )


def speakers_of(desk: Desk, scope: Scope, picture: Picture) -> Speakers:
    """Of all that is merged into one of its nodes, too."""
    speakers = {id: id for id in picture.nodes}
    wanted = list(speakers)
    while wanted:
        found = desk.store.merged_into(scope, wanted)
        wanted = [node.id for node in found if node.id not in speakers]
        speakers |= {node.id: speakers[str(node.merged_into)] for node in found}
    return speakers


def _nodes(picture: Picture, told: Sequence[NodeTelling], speakers: Speakers) -> dict[str, Node]:
    by_node: dict[str, list[NodeTelling]] = defaultdict(list)
    for telling in told:
        by_node[speakers[telling.node]].append(telling)
    found: dict[str, Node] = {}
    for id, node in picture.nodes.items():
        was = fold(by_node[id], root=id, key_of=key_of)
        if node.is_owner:
            found[id] = node
        elif was is not None:
            found[id] = node.evolve(**{name: getattr(was, name) for name in Folded.__slots__})
    return found


def _edges(
    picture: Picture,
    told: Sequence[EdgeTelling],
    speakers: Speakers,
    nodes: Mapping[str, Node],
) -> dict[str, Edge]:
    """Under the ids that they have now; of one that is another's by now, under its own."""
    drawn = {t.id: placed(t, speakers.__getitem__, lambda id: nodes[id].type) for t in told}
    home = {t.id: t.edge for t in told}
    found: dict[str, Edge] = {}
    for stretch in stretches(t for t in drawn.values() if t.a != t.b):
        votes = Counter(home[id] for id in stretch.tellings if home[id] not in found)
        id = votes.most_common(1)[0][0] if votes else stretch.tellings[0]
        if id in picture.edges or not votes:
            found[id] = _edge(id, stretch, picture, nodes)
    return found


def _edge(id: str, stretch: Stretch, picture: Picture, nodes: Mapping[str, Node]) -> Edge:
    fields = {name: getattr(stretch, name) for name in Stretch.__slots__ if name != "tellings"}
    fields["kind"] = kind_between(nodes[stretch.a].type, nodes[stretch.b].type)
    if id in picture.edges:
        return picture.edges[id].evolve(**fields)
    owner = next(iter(nodes.values())).user_id
    at = stretch.recorded_at
    return Edge(id=id, user_id=owner, created_at=at, updated_at=at, **fields)
