"""What of a graph somebody may see: the one place where a picture is limited to a principal.

Nothing downstream of here filters: explore, PageRank and Cypher work on what this gives them, so
what may not be seen is not there at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from commonplace.desk import Desk, can_see_source, reach_of, visibility_in, visibility_of
from commonplace.graph.then import speakers_of
from commonplace.model.filters import Visibility
from commonplace.model.graph.artifact import CATEGORY as OF_ARTIFACTS
from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import Note
from commonplace.model.graph.picture import Picture
from commonplace.model.graph.telling import EdgeTelling, NodeTelling, is_high
from commonplace.model.memory import Sensitivity, State
from commonplace.model.reach import Reading
from commonplace.model.scope import Principal, Scope
from commonplace.model.source import Source
from commonplace.model.team import Team
from commonplace.store.port import EVERYTHING, SourceListing

Key = tuple[str, ...]
Cites = TypeVar("Cites", Note, Artifact)


@dataclass(frozen=True, slots=True)
class Seen:
    picture: Picture
    key: Key  # of this very picture, for caches: whose, which revision, and how much of it


def seen(
    desk: Desk,
    principal: Principal,
    *,
    whole: bool = False,
    sources: bool = False,
    silent: bool = False,
) -> Seen:
    """``whole``: also what is marked sensitivity high, as an owner sees it who names it.
    ``sources``: with those that speak of the nodes, which have to be asked for each time, since
    somebody may have left a team in between. ``silent``: with those as well that speak of nobody,
    or were not extracted yet."""
    sight = visibility_of(principal)
    if whole and principal.is_owner:
        sight = replace(sight, cleared=True)
    picture = within_sight(desk.pictures.of(principal.home).picture, sight)
    if principal.team is not None:
        picture = _of_one_team(desk, principal.home, Scope.of_team(principal.team), picture)
    nodes, edges = picture.nodes, picture.edges
    about = nodes.keys() | edges.keys()
    sources = sources or silent
    speaking = _speaking(picture) if sources else ()
    readable, teams = (
        _sources(desk, principal, sight, speaking, whole, silent) if sources else ({}, {})
    )
    limited = replace(
        picture,
        notes=_notes(sight, picture.notes, about, readable if sources else None),
        mentions=tuple(m for m in picture.mentions if m.node in nodes and m.source in readable),
        sources=readable,
        artifacts=_artifacts(sight, picture.artifacts, readable if sources else None, desk.clock()),
        teams=teams,
        marks=desk.store.marks(principal.home),
    )
    return Seen(limited, _key(principal, sight, limited))


def within_sight(picture: Picture, sight: Visibility) -> Picture:
    """The nodes and edges alone that may be seen. Mentions, notes and artifacts are all there: who
    takes this limits those that they read."""
    nodes = {id: node for id, node in picture.nodes.items() if sees_node(sight, node)}
    edges = {id: edge for id, edge in picture.edges.items() if sees_edge(sight, nodes, edge)}
    return replace(picture, nodes=nodes, edges=edges)


def _of_one_team(desk: Desk, home: Scope, team: Scope, picture: Picture) -> Picture:
    """For a key that reaches one team: without what only the sources of others tell of."""

    def counts(told: NodeTelling | EdgeTelling | Note) -> bool:
        near = told.source is None or told.source.scope in (home.key, team.key)
        return told.stands and near

    speakers = speakers_of(desk, home, picture)
    told = desk.store.node_tellings(home, [*speakers])
    present = {speakers[telling.node] for telling in told if counts(telling)}
    nodes = {id: n for id, n in picture.nodes.items() if n.is_owner or id in present}
    related = desk.store.edge_tellings(home, [*speakers])
    drawn = {telling.edge for telling in related if counts(telling)}
    return replace(
        picture,
        nodes=nodes,
        edges={
            id: edge
            for id, edge in picture.edges.items()
            if id in drawn and nodes.keys() >= set(edge.ends)
        },
        notes={about: tuple(filter(counts, notes)) for about, notes in picture.notes.items()},
    )


def sees_node(sight: Visibility, node: Node) -> bool:
    return _is_open(sight, node.sensitivity) and sight.admits_category(node.category)


def sees_artifact(sight: Visibility, artifact: Artifact) -> bool:
    return _is_open(sight, artifact.sensitivity) and sight.admits_category(OF_ARTIFACTS)


def sees_note(sight: Visibility, note: Note) -> bool:
    return sight.cleared or not is_high(note)


def _is_open(sight: Visibility, sensitivity: Sensitivity) -> bool:
    return sight.cleared or sensitivity is not Sensitivity.HIGH


def sees_edge(sight: Visibility, nodes: Mapping[str, Node], edge: Edge) -> bool:
    return _is_open(sight, edge.sensitivity) and edge.a in nodes and edge.b in nodes


def _notes(
    sight: Visibility,
    notes: Mapping[str, tuple[Note, ...]],
    about: Iterable[str],
    readable: Collection[str] | None,
) -> dict[str, tuple[Note, ...]]:
    return {
        id: tuple(_as_read(note, readable) for note in notes[id] if sees_note(sight, note))
        for id in about
        if id in notes
    }


def _artifacts(
    sight: Visibility,
    made: Mapping[str, Artifact],
    readable: Collection[str] | None,
    now: datetime,
) -> dict[str, Artifact]:
    live = {id: each for id, each in made.items() if not each.has_ended(now)}
    shown = {id: each for id, each in live.items() if sees_artifact(sight, each)}
    return {id: _as_read(each, readable) for id, each in shown.items()}


def _as_read(item: Cites, readable: Collection[str] | None) -> Cites:
    """Without its source, where that may not be read. None: nobody asks which it is."""
    if readable is None or item.source is None or item.source.id in readable:
        return item
    return replace(item, source=None)


def _speaking(picture: Picture) -> Iterator[str]:
    """The sources of all that is in a picture."""
    yield from (mention.source for mention in picture.mentions)
    noted = (note for notes in picture.notes.values() for note in notes)
    yield from (note.source.id for note in noted if note.source)
    yield from (made.source.id for made in picture.artifacts.values() if made.source)


def _sources(
    desk: Desk,
    principal: Principal,
    sight: Visibility,
    speaking: Iterable[str],
    whole: bool,
    silent: bool,
) -> tuple[dict[str, Source], dict[str, Team]]:
    """Those of them that may be read at this moment, and the teams that one is in."""
    if not sight.sees_sources:
        return {}, {}
    wanted = list(dict.fromkeys(speaking))
    found: dict[str, Source] = {}
    teams: dict[str, Team] = {}
    for reading in reach_of(desk, principal, searching=False) if wanted or silent else ():
        there = sight if reading.is_own else visibility_in(principal, reading)
        named = principal.at(reading.scope) if whole else None
        if silent:
            found |= _listed(desk, reading, there)
        rest = [id for id in wanted if id not in found and reading.covers(id)]
        for source in desk.sources(reading.scope, rest) if rest else ():
            shown = there.admits_source(source) or (named and can_see_source(named, source))
            if source.state is State.ACTIVE and shown:
                found[source.id] = source
        is_in_it = reading.scope.is_team and not reading.is_guests
        if is_in_it and (team := desk.store.team(reading.scope)):
            teams[team.id] = team
    return found, teams


def _listed(desk: Desk, reading: Reading, sight: Visibility) -> dict[str, Source]:
    listing = SourceListing(visibility=sight, among=reading.sources, limit=EVERYTHING)
    return {source.id: source for source in desk.source_page(reading.scope, listing)}


def _key(principal: Principal, sight: Visibility, picture: Picture) -> Key:
    sources = sorted(f"{source.id}@{source.version}" for source in picture.sources.values())
    return (
        principal.home.key,
        str(picture.revision),
        str(sight.cleared),
        principal.team or "",
        *sorted(sight.categories if sight.categories is not None else ["*"]),
        str(hash(tuple(sources))),
        str(len(picture.artifacts)),  # some end between two revisions
        *sorted(picture.teams),
    )
