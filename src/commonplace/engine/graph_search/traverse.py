"""Traverse the visible graph: by personalised PageRank from seeds, or by a Cypher query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.as_of import graph_as_of
from commonplace.engine.graph.names import build_name_index
from commonplace.engine.graph.visible_graph import find_node, visible_graph
from commonplace.engine.graph_search.cypher.query import CypherAnswer, CypherQueries
from commonplace.engine.graph_search.cypher.schema import KEY
from commonplace.engine.graph_search.explore import record_touches
from commonplace.engine.graph_search.pagerank import (
    PageRankRequest,
    PageRankResult,
    PathStep,
    ReachedEntity,
    TransitionMatrix,
    build_transition_matrix,
    rank_from_seeds,
)
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.model.access.principal import Principal
from commonplace.model.delta import shorten
from commonplace.model.graph.elements import ARTIFACT_PREFIX as OF_ARTIFACT
from commonplace.model.graph.elements import EDGE_PREFIX as OF_EDGE
from commonplace.model.graph.elements import NODE_PREFIX as OF_NODE
from commonplace.model.graph.elements import Artifact, Node
from commonplace.model.graph.salience import current_salience
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.memory.lifecycle import NOW, PointInTime, source_at, source_existed
from commonplace.model.sources.source import SOURCE_PREFIX as OF_SOURCE
from commonplace.model.sources.source import Source

LABEL_LENGTH = 60  # characters of a summary that stand for a title
_ID_PREFIXES = (OF_NODE, OF_EDGE, OF_SOURCE, OF_ARTIFACT)


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


def traverse_by_pagerank(
    engine: EngineContext, principal: Principal, walk: PageRankRequest, then: PointInTime = NOW
) -> Traversed:
    now = engine.clock()
    with engine.store.read_session():
        one = visible_graph(engine, principal, silent=True)
        day = now.date().isoformat()  # salience is never older than a day
        key = (*one.key, day, str(then.as_of), str(then.known_at))
        snapshot = _sources_as_of(
            then, graph_as_of(engine, principal.own_scope, one.snapshot, then)
        )
    walk = replace(walk, seeds=_resolve_seeds(snapshot, walk.seeds))
    web: TransitionMatrix = engine.caches.transition_matrices.get_or_make(
        key, lambda: build_transition_matrix(snapshot, now, then)
    )
    found = rank_from_seeds(web, snapshot, walk, lambda id: not _is_archived(snapshot, id, now))
    if then.is_now:
        record_touches(engine, principal, [each.entity_key for each in found.reached])
    return Traversed(mode="ppr", seeds=found.seeds, reached=_present_all(snapshot, found))


def _sources_as_of(then: PointInTime, snapshot: GraphSnapshot) -> GraphSnapshot:
    """Those that had been said by then, and were known: a walk goes through no others."""
    if then.is_now:
        return snapshot
    said = [source for source in snapshot.sources.values() if source_existed(source, then)]
    shown = {each.id: source_at(each, each.passages, then) for each in said}
    return replace(snapshot, sources=shown)


def _resolve_seeds(snapshot: GraphSnapshot, named: Sequence[str]) -> tuple[str, ...]:
    """Ids as they are, and the ids of the nodes that are named."""
    names = None
    found: dict[str, None] = {}
    for seed in named:
        if not seed.startswith(_ID_PREFIXES):
            names = names or build_name_index(snapshot.nodes.values())
            seed = find_node(names, seed, "seed_nodes").id
        found[seed] = None
    return tuple(found)


def _is_archived(snapshot: GraphSnapshot, id: str, now: datetime) -> bool:
    """A walk goes through what has faded, and does not answer it."""
    return current_salience(_entity(snapshot, id), snapshot.marks_of(id), now).is_archived


def _entity(snapshot: GraphSnapshot, id: str) -> Node | Source | Artifact:
    return snapshot.nodes.get(id) or snapshot.sources.get(id) or snapshot.artifacts[id]


def _present_all(snapshot: GraphSnapshot, found: PageRankResult) -> tuple[ReachedShown, ...]:
    return tuple(_present_reached(snapshot, each) for each in found.reached)


def _present_reached(snapshot: GraphSnapshot, reached: ReachedEntity) -> ReachedShown:
    thing = _entity(snapshot, reached.entity_key)
    name = _name(snapshot, reached.entity_key)
    told = thing.summary if isinstance(thing, Source) else thing.description
    path = tuple(_path_in_words(snapshot, reached))
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


def _name(snapshot: GraphSnapshot, id: str) -> str:
    if id.startswith(OF_EDGE):
        return id
    thing = _entity(snapshot, id)
    return source_label(thing) if isinstance(thing, Source) else thing.name


def source_label(source: Source) -> str:
    """What people would know it by: its title, how it begins, or what it is and of which day."""
    day = (source.started_at or source.created_at).date().isoformat()
    return source.title or shorten(source.summary, LABEL_LENGTH) or f"{source.source_type} of {day}"


def _path_in_words(snapshot: GraphSnapshot, reached: ReachedEntity) -> list[str]:
    words, before = [_name(snapshot, reached.seed)], reached.seed
    for step in reached.path:
        words.append(f"—{_step_label(snapshot, before, step)}→ {_name(snapshot, step.to)}")
        before = step.to
    return words


def _step_label(snapshot: GraphSnapshot, before: str, step: PathStep) -> str:
    if step.edge is not None:
        return str(snapshot.edges[step.edge].type)
    return "produced" if {before, step.to} & snapshot.artifacts.keys() else "mentions"


def traverse_by_cypher(
    engine: EngineContext,
    principal: Principal,
    query: str,
    params: Mapping[str, Any] | None,
    verbose: bool,
) -> Traversed:
    """Only what the caller may see is in the snapshot at all."""
    now = engine.clock()
    one = visible_graph(engine, principal, silent=True)
    key = "\x1f".join((*one.key, now.date().isoformat()))
    queries = CypherQueries(engine.caches.cypher_graphs)
    found = queries.run(key, lambda: one.snapshot, now, query, params, verbose)
    record_touches(engine, principal, _ids_in(found, one.snapshot))
    return Traversed(
        mode="cypher", columns=found.columns, rows=found.rows, truncated=found.truncated
    )


def _ids_in(found: CypherAnswer, snapshot: GraphSnapshot) -> list[str]:
    """Of what is answered whole or by its key, also in lists, maps and paths, in the order of the
    answer; of nothing but what the caller sees."""
    things = (snapshot.nodes, snapshot.edges, snapshot.sources, snapshot.artifacts)
    keys = dict.fromkeys(_keys_in(found.rows))
    return [key for key in keys if any(key in each for each in things)]


def _keys_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (value,) if value.startswith(_ID_PREFIXES) else ()
    elif isinstance(value, Mapping):
        key = value.get(KEY)  # what else a thing has in it names others, which were not read
        yield from _keys_in(value.values() if key is None else key)
    elif isinstance(value, Iterable):
        for each in value:
            yield from _keys_in(each)
