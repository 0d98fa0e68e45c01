"""traverse: from node to node, by a walk or by a query. Both read what the caller may see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.desk import Desk
from commonplace.engine.graph_search.cypher.query import CypherAnswer, CypherQueries
from commonplace.engine.graph_search.cypher.schema import KEY
from commonplace.graph.find import find_node
from commonplace.graph.known import known
from commonplace.graph.seen import seen
from commonplace.graph.then import as_known
from commonplace.language.suspicious import is_suspicious
from commonplace.model.delta import shorten
from commonplace.model.graph.artifact import PREFIX as OF_ARTIFACT
from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import PREFIX as OF_EDGE
from commonplace.model.graph.node import PREFIX as OF_NODE
from commonplace.model.graph.node import Node
from commonplace.model.graph.picture import Picture
from commonplace.model.graph.standing import standing
from commonplace.model.scope import Principal
from commonplace.model.source import PREFIX as OF_SOURCE
from commonplace.model.source import Source
from commonplace.model.time_travel import NOW, Then, as_described_then, was_said
from commonplace.recall.graph.exploring import touch
from commonplace.recall.walk import Reached, Step, Walk, Walked, walked
from commonplace.recall.web import Webs, web_of

BEGINNING = 60  # characters of a summary that stand for a title
_IDS = (OF_NODE, OF_EDGE, OF_SOURCE, OF_ARTIFACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedShown:
    """A place that a walk comes to."""

    entity_key: str
    node_type: str  # Person, Concept, Entity, Source or Artifact
    name: str
    description: str
    score: float
    depth: int
    path: tuple[str, ...]  # from a seed to here, in words
    suspicious: bool = False  # its words read like instructions to an agent


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
    return standing(_thing(picture, id), picture.marks_of(id), now).is_archived


def _thing(picture: Picture, id: str) -> Node | Source | Artifact:
    return picture.nodes.get(id) or picture.sources.get(id) or picture.artifacts[id]


def _shown(picture: Picture, found: Walked) -> tuple[ReachedShown, ...]:
    return tuple(_place(picture, each) for each in found.reached)


def _place(picture: Picture, reached: Reached) -> ReachedShown:
    thing = _thing(picture, reached.entity_key)
    name = _name(picture, reached.entity_key)
    told = thing.summary if isinstance(thing, Source) else thing.description
    path = tuple(_path(picture, reached))
    return ReachedShown(
        entity_key=reached.entity_key,
        node_type=str(thing.type) if isinstance(thing, Node) else type(thing).__name__,
        name=name,
        description=told,
        score=reached.score,
        depth=reached.depth,
        path=path,
        suspicious=is_suspicious("\n".join((name, told, *path))),
    )


def _name(picture: Picture, id: str) -> str:
    if id.startswith(OF_EDGE):
        return id
    thing = _thing(picture, id)
    return known_by(thing) if isinstance(thing, Source) else thing.name


def known_by(source: Source) -> str:
    """What people would know it by: its title, how it begins, or what it is and of which day."""
    day = (source.started_at or source.created_at).date().isoformat()
    return source.title or shorten(source.summary, BEGINNING) or f"{source.source_type} of {day}"


def _path(picture: Picture, reached: Reached) -> list[str]:
    words, before = [_name(picture, reached.seed)], reached.seed
    for step in reached.path:
        words.append(f"—{_way(picture, before, step)}→ {_name(picture, step.to)}")
        before = step.to
    return words


def _way(picture: Picture, before: str, step: Step) -> str:
    if step.edge is not None:
        return str(picture.edges[step.edge].type)
    return "produced" if {before, step.to} & picture.artifacts.keys() else "mentions"


def queried(
    desk: Desk,
    principal: Principal,
    query: str,
    params: Mapping[str, Any] | None,
    verbose: bool,
) -> Traversed:
    """Only what the caller may see is in the snapshot at all."""
    now = desk.clock()
    one = seen(desk, principal, silent=True)
    key = "\x1f".join((*one.key, now.date().isoformat()))
    queries = desk.made.get(CypherQueries)
    found = queries.run(key, lambda: one.picture, now, query, params, verbose)
    touch(desk, principal, _ids_in(found, one.picture))
    return Traversed(
        mode="cypher", columns=found.columns, rows=found.rows, truncated=found.truncated
    )


def _ids_in(found: CypherAnswer, picture: Picture) -> list[str]:
    """Of what is answered whole or by its key, also in lists, maps and paths, in the order of the
    answer; of nothing but what the caller sees."""
    things = (picture.nodes, picture.edges, picture.sources, picture.artifacts)
    keys = dict.fromkeys(_keys_in(found.rows))
    return [key for key in keys if any(key in each for each in things)]


def _keys_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (value,) if value.startswith(_IDS) else ()
    elif isinstance(value, Mapping):
        key = value.get(KEY)  # what else a thing has in it names others, which were not read
        yield from _keys_in(value.values() if key is None else key)
    elif isinstance(value, Iterable):
        for each in value:
            yield from _keys_in(each)
