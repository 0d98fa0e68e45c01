"""Traverse the visible graph: by personalised PageRank from seeds, or by a Cypher query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.engine.context import EngineContext
from commonplace.engine.graph_search.cypher.schema import KEY
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.delta import shorten
from commonplace.model.graph.elements import ARTIFACT_PREFIX as OF_ARTIFACT
from commonplace.model.graph.elements import EDGE_PREFIX as OF_EDGE
from commonplace.model.graph.elements import NODE_PREFIX as OF_NODE
from commonplace.model.graph.elements import Artifact, Node
from commonplace.model.graph.salience import current_salience
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.storylines import STORY_PREFIXES
from commonplace.model.memory.lifecycle import NOW, PointInTime, source_at, source_existed
from commonplace.model.sources.source import SOURCE_PREFIX as OF_SOURCE
from commonplace.model.sources.source import Source

with lazy_imports(__name__):
    from commonplace.engine.graph.as_of import graph_as_of
    from commonplace.engine.graph.names import build_name_index
    from commonplace.engine.graph.visible_graph import find_node, visible_graph
    from commonplace.engine.graph_search.cypher.query import CypherAnswer, CypherQueries
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

LABEL_LENGTH = 60  # characters of a summary used as a title
_ID_PREFIXES = (OF_NODE, OF_EDGE, OF_SOURCE, OF_ARTIFACT)
_READ_PREFIXES = (*_ID_PREFIXES, *STORY_PREFIXES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedShown:
    """A node, source or artifact that PageRank reached."""

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
    reached: tuple[ReachedShown, ...] = ()  # of PageRank, best first
    columns: tuple[str, ...] = ()  # of a Cypher query
    rows: tuple[tuple[Any, ...], ...] = ()
    truncated: bool = False  # there are more rows


def traverse_by_pagerank(
    engine: EngineContext, principal: Principal, request: PageRankRequest, then: PointInTime = NOW
) -> Traversed:
    now = engine.clock()
    with engine.store.read_session():
        visible = visible_graph(engine, principal, silent=True)
        day = now.date().isoformat()  # salience is recomputed daily
        key = (*visible.key, day, str(then.as_of), str(then.known_at))
        snapshot = _sources_as_of(
            then, graph_as_of(engine, principal.own_scope, visible.snapshot, then)
        )
    request = replace(request, seeds=_resolve_seeds(snapshot, request.seeds))
    matrix: TransitionMatrix = engine.caches.transition_matrices.get_or_make(
        key, lambda: build_transition_matrix(snapshot, now, then)
    )
    found = rank_from_seeds(
        matrix, snapshot, request, lambda id: not _is_archived(snapshot, id, now)
    )
    if then.is_now:
        record_touches(engine, principal, [each.entity_key for each in found.reached])
    return Traversed(mode="ppr", seeds=found.seeds, reached=_present_all(snapshot, found))


def _sources_as_of(then: PointInTime, snapshot: GraphSnapshot) -> GraphSnapshot:
    """Without sources that did not exist, or were not known, at that time."""
    if then.is_now:
        return snapshot
    existing = [source for source in snapshot.sources.values() if source_existed(source, then)]
    shown = {each.id: source_at(each, each.passages, then) for each in existing}
    return replace(snapshot, sources=shown)


def _resolve_seeds(snapshot: GraphSnapshot, named: Sequence[str]) -> tuple[str, ...]:
    """Ids stay as they are; names become node ids."""
    names = None
    found: dict[str, None] = {}
    for seed in named:
        if not seed.startswith(_ID_PREFIXES):
            names = names or build_name_index(snapshot.nodes.values())
            seed = find_node(names, seed, "seed_nodes").id
        found[seed] = None
    return tuple(found)


def _is_archived(snapshot: GraphSnapshot, id: str, now: datetime) -> bool:
    """Archived items are walked through, but not returned."""
    return current_salience(_entity(snapshot, id), snapshot.marks_of(id), now).is_archived


def _entity(snapshot: GraphSnapshot, id: str) -> Node | Source | Artifact:
    return snapshot.nodes.get(id) or snapshot.sources.get(id) or snapshot.artifacts[id]


def _present_all(snapshot: GraphSnapshot, found: PageRankResult) -> tuple[ReachedShown, ...]:
    return tuple(_present_reached(snapshot, each) for each in found.reached)


def _present_reached(snapshot: GraphSnapshot, reached: ReachedEntity) -> ReachedShown:
    item = _entity(snapshot, reached.entity_key)
    name = _name(snapshot, reached.entity_key)
    description = item.summary if isinstance(item, Source) else item.description
    path = tuple(_path_in_words(snapshot, reached))
    return ReachedShown(
        entity_key=reached.entity_key,
        node_type=str(item.type) if isinstance(item, Node) else type(item).__name__,
        name=name,
        description=description,
        score=reached.score,
        depth=reached.depth,
        path=path,
        suspicious=is_suspicious("\n".join((name, description, *path))),
    )


def _name(snapshot: GraphSnapshot, id: str) -> str:
    if id.startswith(OF_EDGE):
        return id
    item = _entity(snapshot, id)
    return source_label(item) if isinstance(item, Source) else item.name


def source_label(source: Source) -> str:
    """Its title, the beginning of its summary, or its type and date."""
    day = (source.started_at or source.created_at).date().isoformat()
    return source.title or shorten(source.summary, LABEL_LENGTH) or f"{source.source_type} of {day}"


def _path_in_words(snapshot: GraphSnapshot, reached: ReachedEntity) -> list[str]:
    parts, before = [_name(snapshot, reached.seed)], reached.seed
    for step in reached.path:
        parts.append(f"—{_step_label(snapshot, before, step)}→ {_name(snapshot, step.to)}")
        before = step.to
    return parts


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
    """The snapshot holds only what the caller may see."""
    now = engine.clock()
    visible = visible_graph(engine, principal, silent=True)
    key = "\x1f".join((*visible.key, now.date().isoformat()))
    queries = CypherQueries(engine.caches.cypher_graphs)
    found = queries.run(key, lambda: visible.snapshot, now, query, params, verbose)
    record_touches(engine, principal, _ids_in(found, visible.snapshot))
    return Traversed(
        mode="cypher", columns=found.columns, rows=found.rows, truncated=found.truncated
    )


def _ids_in(found: CypherAnswer, snapshot: GraphSnapshot) -> list[str]:
    """The ids of items in the answer, also in lists, maps and paths, in its order. Only ids that
    are in the caller's snapshot count."""
    stories = (snapshot.storylines, snapshot.macros)
    items_by_id = (
        snapshot.nodes,
        snapshot.edges,
        snapshot.sources,
        snapshot.artifacts,
        *stories,
    )
    keys = dict.fromkeys(_keys_in(found.rows))
    return [key for key in keys if any(key in each for each in items_by_id)]


def _keys_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (value,) if value.startswith(_READ_PREFIXES) else ()
    elif isinstance(value, Mapping):
        key = value.get(KEY)  # its other values may name items that were not read
        yield from _keys_in(value.values() if key is None else key)
    elif isinstance(value, Iterable):
        for each in value:
            yield from _keys_in(each)
