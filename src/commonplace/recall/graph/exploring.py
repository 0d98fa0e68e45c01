"""explore: the graph and the sources that a caller may see, and what of it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from commonplace.desk import Desk, reach_of, visibility_in, visibility_of
from commonplace.graph.seen import Seen, seen
from commonplace.graph.then import as_known
from commonplace.language.analyse import analyse
from commonplace.language.models.embedder import Vectors
from commonplace.model.changes import Bookkeeping
from commonplace.model.filters import NO_FILTERS
from commonplace.model.graph.edge import PREFIX as OF_EDGE
from commonplace.model.reach import Reading
from commonplace.model.salience import TOP_HITS
from commonplace.model.scope import Principal
from commonplace.model.source import Source, split_passage_id
from commonplace.model.time_travel import Then
from commonplace.recall.explore.asked import Asked, Query
from commonplace.recall.explore.explore import explore
from commonplace.recall.explore.gather import Embedded, Given, SourceFound
from commonplace.recall.explore.queries import executed
from commonplace.recall.explore.result import ExploreResult, ids_of
from commonplace.recall.explore.view import View, Views
from commonplace.recall.vocabulary import vocabulary_of
from commonplace.store.port import EVERYTHING, SourceListing

CLOSEST_PASSAGES = 200  # of each query and owner


def explored(desk: Desk, principal: Principal, asked: Asked) -> ExploreResult:
    """Touches what it returns, unless it is asked about another moment."""
    now = desk.clock()
    whole = with_all_sources(desk, principal, seen(desk, principal), asked)
    whole = replace(whole, picture=as_known(desk, principal.home, whole.picture, asked.then))
    queries = executed(asked, whole.picture, vocabulary_of(desk, principal))
    vectors = desk.embed([query.query for query in queries]) if queries else None
    nodes, edges = _embedded(desk, principal, whole)
    given = Given(
        queries=queries,
        query_vectors=vectors,
        nodes=nodes,
        edges=edges,
        sources=() if vectors is None else _close_sources(desk, principal, queries, vectors, now),
        calibration=desk.calibration,
    )
    found = explore(_view(desk, principal, whole, asked.then), asked, given, now)
    if asked.then.is_now:
        touch(desk, principal, *ids_of(found))
    return found


def _view(desk: Desk, principal: Principal, whole: Seen, then: Then) -> View:
    """Kept while neither the graph nor a source changes: names and sentences are folded once."""
    picture = whole.picture
    sources = frozenset((source.id, source.version) for source in picture.sources.values())
    who = ("explore", principal.home.key, visibility_of(principal))
    kept = desk.made.get(Views).get(
        who, lambda: View(picture), stamp=(whole.key, sources, then.known_at)
    )
    return kept.with_marks(picture.marks)


def touch(desk: Desk, principal: Principal, *hits: Sequence[str]) -> None:
    """Off the answer's path. Of each kind of hit, best first, the first few count for more."""
    read = {id: place < TOP_HITS for ids in hits for place, id in enumerate(dict.fromkeys(ids))}
    if read:
        desk.books.later(Bookkeeping(principal.home, desk.clock(), read=read))


def with_all_sources(desk: Desk, principal: Principal, one: Seen, asked: Asked) -> Seen:
    """Also those that speak of nobody."""
    found: dict[str, Source] = {}
    for reading in reach_of(desk, principal):
        listing = SourceListing(
            visibility=visibility_in(principal, reading),
            among=reading.sources,
            then=asked.then,
            limit=EVERYTHING,
        )
        found |= {each.id: each for each in desk.source_page(reading.scope, listing)}
    picture, all_of_it = one.picture, desk.pictures.of(principal.home).picture
    mentions = tuple(
        mention
        for mention in all_of_it.mentions
        if mention.source in found and mention.node in picture.nodes
    )
    return replace(one, picture=replace(picture, sources=found, mentions=mentions))


def _embedded(
    desk: Desk, principal: Principal, one: Seen
) -> tuple[Embedded | None, Embedded | None]:
    """The vectors of what may be seen."""
    kept = desk.pictures.of(principal.home)
    shown = [
        (place, id)
        for place, id in enumerate(kept.ids)
        if id in one.picture.nodes or id in one.picture.edges
    ]
    edges = [each for each in shown if each[1].startswith(OF_EDGE)]
    nodes = [each for each in shown if not each[1].startswith(OF_EDGE)]
    return _rows(kept.matrix, nodes), _rows(kept.matrix, edges)


def _rows(matrix: Vectors, chosen: Sequence[tuple[int, str]]) -> Embedded | None:
    if not chosen:
        return None
    return Embedded([id for _, id in chosen], matrix[[place for place, _ in chosen]])


def _close_sources(
    desk: Desk, principal: Principal, queries: Sequence[Query], vectors: Vectors, now: datetime
) -> list[SourceFound]:
    """By those of its passages that are closest to a query."""
    return [
        replace(found, id=split_passage_id(found.id)[0])
        for reading in reach_of(desk, principal)
        for found in _close_passages(desk, principal, reading, queries, vectors, now)
    ]


def _close_passages(
    desk: Desk,
    principal: Principal,
    reading: Reading,
    queries: Sequence[Query],
    vectors: Vectors,
    now: datetime,
) -> list[SourceFound]:
    found: list[SourceFound] = []
    with desk.index.holding([reading]) as (index,):
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
                    found.append(SourceFound(place, index.ids[slot], cosine, words))
    return found
