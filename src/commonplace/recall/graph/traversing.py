"""traverse: from node to node, by a walk or by a query. Both read what the caller may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.desk import Desk
from commonplace.graph.find import find_node
from commonplace.graph.known import known
from commonplace.graph.seen import seen
from commonplace.graph.then import as_known
from commonplace.model.graph.picture import Picture
from commonplace.model.graph.standing import standing
from commonplace.model.scope import Principal
from commonplace.model.time_travel import NOW, Then, as_described_then, was_said
from commonplace.recall.cypher.cypher import Cypher, Rows
from commonplace.recall.graph.exploring import touch
from commonplace.recall.walk import Reached, Walk, Walked, walked
from commonplace.recall.web import Webs, web_of

_IDS = ("node:", "edge:", "source:")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedShown:
    """A place that a walk comes to."""

    entity_key: str
    node_type: str  # Person, Concept, Entity or Source
    name: str
    description: str
    score: float
    depth: int
    path: tuple[str, ...]  # from a seed to here, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Traversed:
    mode: str
    seeds: tuple[str, ...] = ()
    reached: tuple[ReachedShown, ...] = ()  # of a walk, best first
    columns: tuple[str, ...] = ()  # of a query
    rows: tuple[tuple[Any, ...], ...] = ()
    truncated: bool = False  # there are more rows


def walked_from(desk: Desk, principal: Principal, walk: Walk, then: Then = NOW) -> Traversed:
    now = desk.clock()
    one = seen(desk, principal, silent=True)
    day = now.date().isoformat()
    key = (*one.key, day, str(then.as_of), str(then.known_at))
    picture = _with_sources_of(then, as_known(desk, principal.home, one.picture, then))
    walk = replace(walk, seeds=_seeds(picture, walk.seeds))
    web = desk.made.get(Webs).get(key, lambda: web_of(picture, now, then))
    found = walked(web, picture, walk, lambda id: not _is_archived(picture, id, now))
    if then.is_now:
        touch(desk, principal, [each.entity_key for each in found.reached])
    return Traversed(mode="ppr", seeds=found.seeds, reached=_shown(picture, found))


def _with_sources_of(then: Then, picture: Picture) -> Picture:
    """Those that had been said by then, and were known: a walk goes through no others."""
    if then.is_now:
        return picture
    said = [source for source in picture.sources.values() if was_said(source, then)]
    shown = {each.id: as_described_then(each, each.passages, then) for each in said}
    return replace(picture, sources=shown)


def _seeds(picture: Picture, named: Sequence[str]) -> tuple[str, ...]:
    """Ids as they are, and the ids of the nodes that are named."""
    names = None
    found: dict[str, None] = {}
    for seed in named:
        if not seed.startswith(_IDS):
            names = names or known(picture.nodes.values())
            seed = find_node(names, seed, "seed_nodes").id
        found[seed] = None
    return tuple(found)


def _is_archived(picture: Picture, id: str, now: datetime) -> bool:
    """A walk goes through what has faded, and does not answer it."""
    thing = picture.nodes.get(id) or picture.sources[id]
    return standing(thing, picture.marks_of(id), now).is_archived


def _shown(picture: Picture, found: Walked) -> tuple[ReachedShown, ...]:
    return tuple(_place(picture, each) for each in found.reached)


def _place(picture: Picture, reached: Reached) -> ReachedShown:
    node = picture.nodes.get(reached.entity_key)
    source = picture.sources.get(reached.entity_key)
    return ReachedShown(
        entity_key=reached.entity_key,
        node_type=str(node.type) if node else "Source",
        name=_name(picture, reached.entity_key),
        description=node.description if node else source.summary if source else "",
        score=reached.score,
        depth=reached.depth,
        path=tuple(_path(picture, reached)),
    )


def _name(picture: Picture, id: str) -> str:
    if id in picture.nodes:
        return str(picture.nodes[id].name)
    source = picture.sources.get(id)
    return (source.title or source.alias) if source else id


def _path(picture: Picture, reached: Reached) -> list[str]:
    words = [_name(picture, reached.seed)]
    for step in reached.path:
        edge = picture.edges.get(step.edge) if step.edge else None
        words.append(f"—{edge.type if edge else 'mentions'}→ {_name(picture, step.to)}")
    return words


def queried(
    desk: Desk,
    principal: Principal,
    query: str,
    params: Mapping[str, Any] | None,
    verbose: bool,
) -> Traversed:
    """Only what the caller may see is in the engine at all."""
    now = desk.clock()
    one = seen(desk, principal, silent=True)
    key = "\x1f".join((*one.key, now.date().isoformat()))
    found: Rows = desk.made.get(Cypher).run(key, lambda: one.picture, now, query, params, verbose)
    touch(desk, principal, _ids_in(found))
    return Traversed(
        mode="cypher", columns=found.columns, rows=found.rows, truncated=found.truncated
    )


def _ids_in(found: Rows) -> list[str]:
    """Of the nodes, edges and sources that are answered whole, or by their key."""
    ids: dict[str, None] = {}
    for row in found.rows:
        for value in row:
            if isinstance(value, Mapping):
                value = value.get("entity_key") or value.get("id")
            if isinstance(value, str) and value.startswith(_IDS):
                ids[value] = None
    return list(ids)
