"""Explore: match, filter, score, cut and expand over the visible graph and sources."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

import numpy as np

from commonplace.engine.access import readable_scopes, visibility_in, visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.graph.as_of import graph_as_of
from commonplace.engine.graph.visible_graph import (
    VisibleGraph,
    limit_stories_to_sources,
    visible_graph,
)
from commonplace.engine.graph_search.asked_edges import find_asked_edges
from commonplace.engine.graph_search.explore_answer import (
    ExploreHits,
    build_result,
    is_of_another,
)
from commonplace.engine.graph_search.explore_candidates import (
    RESULT_COUNTS,
    EmbeddedItems,
    ExploreCandidates,
    ExploreInput,
    ScoredItem,
    SourceMatch,
    match_queries,
    select_best,
)
from commonplace.engine.graph_search.explore_request import (
    ExploreQuery,
    ExploreRequest,
    widen_queries,
)
from commonplace.engine.graph_search.explore_result import (
    ExploreMatch,
    ExploreResult,
    MatchedBy,
    hit_ids,
)
from commonplace.engine.graph_search.graph_view import (
    GraphView,
    match_named_nodes,
    match_texts,
)
from commonplace.engine.graph_search.stories.story_matches import (
    StorySelection,
    anchors_of,
    asks_for_news,
    match_stories,
)
from commonplace.engine.understanding import load_caller_terminology
from commonplace.language.embedders.embedder import Vectors
from commonplace.language.query.question import parse_question
from commonplace.language.query.relations import idle_forms
from commonplace.language.text.terms import analyse
from commonplace.model.access.principal import Principal, ReadableScope
from commonplace.model.changeset import Bookkeeping
from commonplace.model.filters import NO_FILTERS
from commonplace.model.graph.salience import TOP_HITS
from commonplace.model.memory.lifecycle import PointInTime, source_date
from commonplace.model.parameters import ALL_WORDS, MACRO, MESO, MICRO
from commonplace.model.sources.source import Source, split_passage_id
from commonplace.store.cache.graph_cache import CachedGraph
from commonplace.store.queries import NO_LIMIT, SourceListing


def explore_snapshot(
    view: GraphView, request: ExploreRequest, given: ExploreInput, now: datetime
) -> ExploreResult:
    """``view``: of the caller's visible snapshot; ``given.queries``: the widened queries."""
    known_at = request.then.known_at or now
    by_words = (
        match_texts(view.text_index, request.text_matches, known_at) if request.text_matches else []
    )
    by_name = [match_named_nodes(view, query.query) for query in request.queries]
    by_relation = [
        _match_asked_edges(view, request, query.query, named, now)
        for query, named in zip(request.queries, by_name, strict=True)
    ]
    by_terms = [_match_node_terms(view, query.query, known_at) for query in request.queries]
    of_stories = [
        match_stories(view, query.query, named)
        for query, named in zip(request.queries, by_name, strict=True)
    ]
    found = match_queries(given, [*by_words, *by_name, *by_relation, *by_terms, *of_stories])
    candidates = ExploreCandidates(view, request, found, now)
    first = {id for each in (*by_name, *by_relation) for id in each}
    stories = StorySelection(view, request, candidates, candidates.matched(view.snapshot.nodes))
    macros = stories.macros()
    storylines = stories.storylines(macros)
    previews = stories.previews(storylines)
    anchors = {
        MICRO: {},
        MESO: anchors_of(view, storylines),
        MACRO: anchors_of(view, macros or storylines),
    }
    nodes = _select_nodes(view, request, candidates, first, anchors[request.granularity])
    ids = {hit.id for hit in nodes}
    hits = ExploreHits(
        nodes=nodes,
        edges=_select_edges(view, request, candidates, ids),
        sources=stories.sources(previews)
        if request.granularity == MESO
        else _select_sources(view, request, candidates, ids, given.reader),
        artifacts=_select_artifacts(view, request, candidates),
        storylines=storylines,
        macros=macros,
        previews=previews,
    )
    queries = dict.fromkeys([query.query for query in given.queries])
    used = (*queries, *request.text_matches)
    return build_result(view, request, hits, used, now, given.reader)


def _match_asked_edges(
    view: GraphView,
    request: ExploreRequest,
    query: str,
    named: Mapping[str, ExploreMatch],
    now: datetime,
) -> dict[str, ExploreMatch]:
    """Relationships that the query asks for, and the nodes at their other ends: "who are my
    friends". A query that names nobody is about the owner: "job offers"."""
    holders, owner = list(named), view.owner
    if owner is not None and (not named or parse_question(query).of_the_user):
        holders.append(owner)
    asked = find_asked_edges(
        view,
        query,
        holders,
        lambda node: [e for e in view.edges_at.get(node, ()) if e.holds(request.then, now)],
    )
    by_relation = ExploreMatch(by=MatchedBy.RELATIONSHIP, asked=query, similarity=1.0)
    ends = (each.answer for each in asked if each.answer != owner)
    return dict.fromkeys([*(each.edge.id for each in asked), *ends], by_relation)


def _match_node_terms(view: GraphView, query: str, at: datetime) -> dict[str, ExploreMatch]:
    """Nodes whose description and notes, with their names, hold all content words of the query."""
    terms = frozenset(analyse(query)) - idle_forms()
    match = ExploreMatch(by=MatchedBy.EXACT, asked=query, similarity=ALL_WORDS)
    found: dict[str, ExploreMatch] = {}
    for id in view.snapshot.nodes if terms else ():
        said = view.terms_of_node(id, at)
        if not terms.isdisjoint(said) and terms - said <= view.terms_of_names(id):
            found[id] = match
    return found


def _select_nodes(
    view: GraphView,
    request: ExploreRequest,
    candidates: ExploreCandidates,
    named: Collection[str],
    anchors: Mapping[str, ExploreMatch],
) -> list[ScoredItem]:
    """Nodes that match; then the ends of relationships that match. With relationship filters alone,
    only these ends. ``named``: nodes that a query names; they come first, whatever their score;
    then the ``anchors`` of the storylines or macros that are shown."""
    known = view.snapshot.nodes
    if not request.is_open:
        direct = candidates.matched(known)
        indirect = _ends_of_matched_edges(view, candidates, is_queried=bool(request.queries))
    elif request.relationship_filters.is_empty:
        direct, indirect = dict.fromkeys(known), {}
    else:
        direct, indirect = {}, _ends_of_matched_edges(view, candidates, is_queried=False)
    indirect = {**anchors, **indirect}
    ids = dict.fromkeys([*direct, *indirect])
    hits = candidates.scored([known[id] for id in ids], indirect)
    limit = RESULT_COUNTS[request.granularity].nodes
    chosen: list[ScoredItem] = []
    for group in (named, anchors, ids):
        taken = {hit.id for hit in chosen}
        left = [hit for hit in hits if hit.id in group and hit.id not in taken]
        chosen += select_best(left, limit - len(chosen), direct)
    return chosen


def _ends_of_matched_edges(
    view: GraphView, candidates: ExploreCandidates, *, is_queried: bool
) -> dict[str, ExploreMatch]:
    """Without the owner, who is at the end of most edges, unless a filter asks for the edges."""
    edges = view.snapshot.edges
    left_out = view.owner if is_queried else None
    return {
        end: ExploreMatch(by=MatchedBy.RELATIONSHIP, asked=edge.id, similarity=0.0)
        for edge in candidates.admitted(edges[id] for id in candidates.matched(edges))
        for end in edge.ends
        if end != left_out
    }


def _select_edges(
    view: GraphView, request: ExploreRequest, candidates: ExploreCandidates, nodes: Collection[str]
) -> list[ScoredItem]:
    """Edges of the nodes; first those that match or join two of the nodes."""
    adjacent = {edge.id: edge for node in nodes for edge in view.edges_at.get(node, ())}
    joining = {id for id, edge in adjacent.items() if edge.a in nodes and edge.b in nodes}
    indirect = {
        id: ExploreMatch(
            by=MatchedBy.NODE, asked=edge.a if edge.a in nodes else edge.b, similarity=0.0
        )
        for id, edge in adjacent.items()
    }
    hits = candidates.scored(candidates.admitted(adjacent.values()), indirect)
    first = joining if request.is_open else joining | candidates.matched(adjacent).keys()
    return select_best(hits, RESULT_COUNTS[request.granularity].relationships, first)


def _select_sources(
    view: GraphView,
    request: ExploreRequest,
    candidates: ExploreCandidates,
    nodes: Collection[str],
    reader: str | None,
) -> list[ScoredItem]:
    """Sources that match; then those that mention the nodes. Only granularity 1 lists sources of
    its own. A question for what is new has the newest."""
    if request.granularity != MICRO:
        return []
    known = _answering_sources(view, request, reader)
    if asks_for_news(request):
        return _newest_sources(candidates, known)
    direct = candidates.matched(known)
    indirect = {
        source: ExploreMatch(by=MatchedBy.NODE, asked=node, similarity=0.0)
        for node in sorted(nodes)
        for source in view.sources_of.get(node, ())
        if source in known and source not in direct
    }
    hits = candidates.scored([known[id] for id in (*direct, *indirect)], indirect)
    return select_best(hits, RESULT_COUNTS[request.granularity].sources, direct)


def _newest_sources(candidates: ExploreCandidates, known: Mapping[str, Source]) -> list[ScoredItem]:
    scored = candidates.scored(known.values(), {})
    scored.sort(key=lambda hit: (source_date(known[hit.id]), hit.id), reverse=True)
    return scored[: RESULT_COUNTS[MICRO].sources]


def _answering_sources(
    view: GraphView, request: ExploreRequest, reader: str | None
) -> Mapping[str, Source]:
    """What another user brought says nothing about the reader."""
    sources = view.snapshot.sources
    asked = (*(query.query for query in request.queries), *request.text_matches)
    if not any(parse_question(each).about_the_asker for each in asked):
        return sources
    return {id: each for id, each in sources.items() if not is_of_another(each, reader)}


def _select_artifacts(
    view: GraphView, request: ExploreRequest, candidates: ExploreCandidates
) -> list[ScoredItem]:
    known = view.snapshot.artifacts
    direct = candidates.matched(known)
    hits = candidates.scored([known[id] for id in direct], {})
    return select_best(hits, RESULT_COUNTS[request.granularity].artifacts, direct)


CLOSEST_PASSAGES = 200  # per query and scope


def explore(engine: EngineContext, principal: Principal, request: ExploreRequest) -> ExploreResult:
    """Records an access of each hit, unless the request is about another time."""
    now = engine.clock()
    with engine.store.read_session():
        visible = add_all_sources(engine, principal, visible_graph(engine, principal), request)
        visible = replace(
            visible,
            snapshot=graph_as_of(engine, principal.own_scope, visible.snapshot, request.then),
        )
        queries = widen_queries(
            request, visible.snapshot, load_caller_terminology(engine, principal)
        )
        embedded = partial(_embedded_items, engine.graph_cache.of(principal.own_scope))
        snapshot = visible.snapshot
    vectors = engine.embed_queries([query.query for query in queries]) if queries else None
    given = ExploreInput(
        queries=queries,
        query_vectors=vectors,
        nodes=embedded(snapshot.nodes),
        edges=embedded(snapshot.edges),
        storylines=embedded(snapshot.storylines),
        macros=embedded(snapshot.macros),
        sources=() if vectors is None else _close_sources(engine, principal, queries, vectors, now),
        calibration=engine.calibration,
        reader=principal.user_id,
    )
    found = explore_snapshot(
        _cached_view(engine, principal, visible, request.then), request, given, now
    )
    if request.then.is_now:
        record_touches(engine, principal, *hit_ids(found))
    return found


def _cached_view(
    engine: EngineContext, principal: Principal, visible: VisibleGraph, then: PointInTime
) -> GraphView:
    """Cached until the graph or a source changes, so that texts are folded once."""
    snapshot = visible.snapshot
    sources = frozenset((source.id, source.version) for source in snapshot.sources.values())
    owner_key = ("explore", principal.own_scope.key, visibility_of(principal))
    view: GraphView = engine.caches.graph_views.get_or_make(
        owner_key, lambda: GraphView(snapshot), stamp=(visible.key, sources, then.known_at)
    )
    return view.with_marks(snapshot.marks)


def record_touches(engine: EngineContext, principal: Principal, *hits: Sequence[str]) -> None:
    """Recorded in the background. The first few hits of each kind count for more."""
    read = {id: place < TOP_HITS for ids in hits for place, id in enumerate(dict.fromkeys(ids))}
    if read:
        engine.access_log.record_later(Bookkeeping(principal.own_scope, engine.clock(), read=read))


def add_all_sources(
    engine: EngineContext, principal: Principal, visible: VisibleGraph, request: ExploreRequest
) -> VisibleGraph:
    """Include sources that mention no node."""
    found: dict[str, Source] = {}
    for reading in readable_scopes(engine, principal):
        listing = SourceListing(
            visibility=visibility_in(principal, reading),
            among=reading.sources,
            then=request.then,
            limit=NO_LIMIT,
        )
        found |= {each.id: each for each in engine.live_source_page(reading.scope, listing)}
    snapshot = limit_stories_to_sources(visible.snapshot, found)
    whole = engine.graph_cache.of(principal.own_scope).snapshot
    mentions = tuple(
        mention
        for mention in whole.mentions
        if mention.source in found and mention.node in snapshot.nodes
    )
    return replace(visible, snapshot=replace(snapshot, sources=found, mentions=mentions))


def _embedded_items(cached: CachedGraph, shown: Container[str]) -> EmbeddedItems | None:
    """The vectors of visible items of one kind."""
    chosen = [(place, id) for place, id in enumerate(cached.ids) if id in shown]
    if not chosen:
        return None
    return EmbeddedItems([id for _, id in chosen], cached.matrix[[place for place, _ in chosen]])


def _close_sources(
    engine: EngineContext,
    principal: Principal,
    queries: Sequence[ExploreQuery],
    vectors: Vectors,
    now: datetime,
) -> list[SourceMatch]:
    """Sources by the passages that are closest to a query."""
    with engine.store.read_session():
        return [
            replace(found, id=split_passage_id(found.id)[0])
            for reading in readable_scopes(engine, principal)
            for found in _close_passages(engine, principal, reading, queries, vectors, now)
        ]


def _close_passages(
    engine: EngineContext,
    principal: Principal,
    reading: ReadableScope,
    queries: Sequence[ExploreQuery],
    vectors: Vectors,
    now: datetime,
) -> list[SourceMatch]:
    found: list[SourceMatch] = []
    with engine.index.holding([reading]) as (index,):
        sight = visibility_in(principal, reading)
        mask = index.candidates(NO_FILTERS, sight, now) & index.passages
        if not mask.any():
            return found
        cosines = index.cosines_of_many(np.asarray(vectors, dtype=np.float32), mask)
        for place, row in enumerate(cosines):
            shares = index.bm25(analyse(queries[place].query), mask)[1]
            near = np.where(np.isfinite(row), row, 0.0) + shares
            for slot in np.argsort(-near)[:CLOSEST_PASSAGES].tolist():
                if near[slot] > 0:
                    cosine, words = float(max(row[slot], 0.0)), float(shares[slot])
                    found.append(SourceMatch(place, index.ids[slot], cosine, words))
    return found
