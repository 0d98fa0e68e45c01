"""Explore candidates: match by vectors and words, score, select the best. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import exp

import numpy as np
from numpy.typing import NDArray

from commonplace.engine.graph_search.explore_request import (
    ExploreQuery,
    ExploreRequest,
    ExploreWeights,
    filter_edges,
)
from commonplace.engine.graph_search.explore_result import (
    Explanation,
    ExploreMatch,
    MatchedBy,
    ScoreParts,
)
from commonplace.engine.graph_search.graph_view import GraphView
from commonplace.language.embedders.embedder import Calibration, Vectors
from commonplace.language.text.detect import detect_script
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.salience import current_salience
from commonplace.model.graph.storylines import Macro, Storyline
from commonplace.model.memory.lifecycle import source_date, source_existed
from commonplace.model.parameters import ALL_WORDS
from commonplace.model.sources.source import Source

FLOOR, MIN_FLOOR = 0.75, 0.25  # of the best similarity; and at least this


def query_floor(query: ExploreQuery, best: float) -> float:
    """The minimum similarity of a hit. Plain questions are less similar to what answers them than
    statements are, so without a threshold the best decides."""
    return max(MIN_FLOOR, FLOOR * best) if query.threshold is None else query.threshold


@dataclass(frozen=True, slots=True)
class EmbeddedItems:
    """Unit vectors, in the order of the ids."""

    ids: Sequence[str]
    matrix: Vectors


@dataclass(frozen=True, slots=True)
class SourceMatch:
    """A passage of this source that is close to a query."""

    query: int  # its position among the executed queries
    id: str
    cosine: float
    words: float = 0.0  # the share of the query's terms that it contains


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreInput:
    """What is searched in addition to the snapshot. Without query vectors only words match."""

    queries: Sequence[ExploreQuery] = ()  # as they were executed
    query_vectors: Vectors | None = None  # one row for each
    nodes: EmbeddedItems | None = None
    edges: EmbeddedItems | None = None
    storylines: EmbeddedItems | None = None
    macros: EmbeddedItems | None = None
    sources: Sequence[SourceMatch] = ()
    calibration: Calibration | None = None  # None: a cosine is a similarity
    reader: str | None = None  # the user who asks; None: every source is theirs


@dataclass(frozen=True, slots=True)
class ExploreMatches:
    """All matches of each item, and the similarities that each query found."""

    matches: Mapping[str, Sequence[ExploreMatch]] = field(default_factory=dict)
    by_query: Sequence[Mapping[str, float]] = ()


def match_queries(
    given: ExploreInput, by_words: Sequence[Mapping[str, ExploreMatch]]
) -> ExploreMatches:
    by_query = [
        {
            **_match_vectors(given, position, given.nodes),
            **_match_vectors(given, position, given.edges),
            **_match_vectors(given, position, given.storylines),
            **_match_vectors(given, position, given.macros),
            **_match_sources(given, position),
        }
        for position in range(len(given.queries))
    ]
    matches: dict[str, list[ExploreMatch]] = defaultdict(list)
    for query, found in zip(given.queries, by_query, strict=True):
        for id, similarity in found.items():
            matches[id].append(
                ExploreMatch(by=MatchedBy.QUERY, asked=query.query, similarity=similarity)
            )
    for word_matches in by_words:
        for id, match in word_matches.items():
            matches[id].append(match)
    return ExploreMatches(matches, by_query)


def _match_vectors(
    given: ExploreInput, position: int, embedded: EmbeddedItems | None
) -> dict[str, float]:
    """Items that reach the query's own threshold, or the floor relative to the best of them."""
    if given.query_vectors is None or embedded is None or not len(embedded.ids):
        return {}
    query = given.queries[position]
    cosines = embedded.matrix @ given.query_vectors[position]
    similarities = _similarities(cosines, query.query, given.calibration)
    if similarities is None:
        return {}
    best = float(np.nanmax(similarities, initial=0.0))
    rows = np.nonzero(similarities >= query_floor(query, best))[0].tolist()
    return {embedded.ids[row]: float(similarities[row]) for row in rows}


def _similarities(
    cosines: NDArray[np.floating], query: str, calibration: Calibration | None
) -> NDArray[np.floating] | None:
    """None: the model does not support the script of the query."""
    if calibration is None:
        return np.asarray(np.clip(cosines, 0.0, 1.0), dtype=np.float64)
    return calibration.similarities(cosines, detect_script(query))


def _match_sources(given: ExploreInput, position: int) -> dict[str, float]:
    """Each source by its closest passage. If the model does not support the script, words decide. A
    passage with all terms of the query always reaches the threshold."""
    query = given.queries[position]
    of_query = [each for each in given.sources if each.query == position]
    cosines = np.array([each.cosine for each in of_query], dtype=np.float64)
    similarities = _similarities(cosines, query.query, given.calibration)
    if similarities is None:
        similarities = np.array([each.words for each in of_query], dtype=np.float64)
    found: dict[str, float] = {}
    floor = query_floor(query, float(np.nanmax(similarities, initial=0.0)))
    for each, similarity in zip(of_query, similarities, strict=True):
        closeness = max(float(similarity), floor if each.words >= ALL_WORDS else 0.0)
        if closeness >= floor:
            found[each.id] = max(found.get(each.id, 0.0), closeness)
    return found


DECAY_PER_DAY = 0.02  # half-life 35 days
RRF_K = 60
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredItem:
    id: str
    score: float
    explanation: Explanation


def recency(updated_at: datetime, now: datetime) -> float:
    return exp(-DECAY_PER_DAY * days_since(updated_at, now))


def days_since(moment: datetime, now: datetime) -> float:
    return max(0.0, (now - moment).total_seconds() / _DAY)


def score_item(
    id: str,
    *,
    matches: Sequence[ExploreMatch],
    semantic: float,
    updated_at: datetime,
    salience: float,
    weights: ExploreWeights,
    now: datetime,
) -> ScoredItem:
    """Weights with a sum above 1 are normalised, so that no score exceeds 1."""
    total = max(1.0, weights.semantic + weights.time + weights.salience)
    recency_score = recency(updated_at, now)
    parts = ScoreParts(
        semantic=weights.semantic * semantic / total,
        time=weights.time * recency_score / total,
        salience=weights.salience * salience / total,
    )
    score = min(1.0, parts.semantic + parts.time + parts.salience)  # rounding may exceed 1
    return ScoredItem(
        id=id,
        score=score,
        explanation=Explanation(
            score=score,
            parts=parts,
            similarity=max((match.similarity for match in matches), default=0.0),
            semantic=semantic,
            recency=recency_score,
            salience=salience,
            days_since_update=days_since(updated_at, now),
            matches=tuple(matches),
        ),
    )


def sort_scored(hits: Iterable[ScoredItem]) -> list[ScoredItem]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def fuse_rankings(rankings: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Reciprocal rank fusion of several queries. Only ranks count for the order. The result is
    scaled to the best similarity, so that it stays comparable with scores that are not fused."""
    totals: dict[str, float] = {}
    for ranking in rankings:
        ranked = sorted(ranking, key=lambda id: (-ranking[id], id))
        for rank, id in enumerate(ranked, 1):
            totals[id] = totals.get(id, 0.0) + 1 / (RRF_K + rank)
    highest = max(totals.values(), default=1.0)
    best = max((value for ranking in rankings for value in ranking.values()), default=0.0)
    return {id: best * total / highest for id, total in totals.items()}


ExploreItem = Node | Edge | Source | Artifact | Storyline | Macro
IndirectMatches = Mapping[str, ExploreMatch]  # through another item that matched


class ExploreCandidates:
    def __init__(
        self, view: GraphView, request: ExploreRequest, matches: ExploreMatches, now: datetime
    ):
        self._view = view
        self._request = request
        self._all_matches = matches
        self._now = now
        self._fused = fuse_rankings(matches.by_query) if request.widen else {}

    def matched(self, known: Iterable[str]) -> dict[str, None]:
        """The ids that match; without a query, all of them."""
        if self._request.is_open:
            return dict.fromkeys(known)
        return {id: None for id in known if id in self._all_matches.matches}

    def admitted(self, edges: Iterable[Edge]) -> list[Edge]:
        """Edges that held at the requested time and pass the filters."""
        then, now, nodes = self._request.then, self._now, self._view.snapshot.nodes
        holding = (
            edge for edge in edges if edge.holds(then, now) and edge.a in nodes and edge.b in nodes
        )
        return filter_edges(holding, self._request.relationship_filters)

    def scored(
        self, items: Iterable[ExploreItem], indirect: IndirectMatches, *, archived: bool = False
    ) -> list[ScoredItem]:
        """``archived``: archived ones, too, even if they are not requested."""
        with_archived = archived or self._request.include_archived
        hits = (
            self._scored(item, indirect, with_archived) for item in items if self._is_known(item)
        )
        return [hit for hit in hits if hit is not None]

    def _scored(
        self, item: ExploreItem, indirect: IndirectMatches, with_archived: bool
    ) -> ScoredItem | None:
        current = current_salience(item, self._view.snapshot.marks_of(item.id), self._now)
        if current.is_archived and not with_archived:
            return None
        matches = self._matches(item.id, indirect)
        return score_item(
            item.id,
            matches=matches,
            semantic=self._semantic(item.id, matches),
            updated_at=_updated_at(item),
            salience=current.salience,
            weights=self._request.weights,
            now=self._now,
        )

    def _matches(self, id: str, indirect: IndirectMatches) -> Sequence[ExploreMatch]:
        if matched := self._all_matches.matches.get(id):
            return matched
        return (indirect[id],) if id in indirect else ()

    def _semantic(self, id: str, matches: Sequence[ExploreMatch]) -> float:
        """The best similarity; with widened queries, their fused score or the best word match."""
        if not self._request.widen:
            return max((match.similarity for match in matches), default=0.0)
        by_words = (match.similarity for match in matches if match.by is not MatchedBy.QUERY)
        return max(self._fused.get(id, 0.0), *by_words, 0.0)

    def _is_known(self, item: ExploreItem) -> bool:
        then = self._request.then
        if isinstance(item, Source):
            return source_existed(item, then)
        return then.known_at is None or item.created_at <= then.known_at


def _updated_at(item: ExploreItem) -> datetime:
    """Of a storyline, when it last went on: rewriting its text makes it no newer."""
    if isinstance(item, Storyline | Macro):
        return item.told_at
    return source_date(item) if isinstance(item, Source) else item.updated_at


MAX_MENTIONED_NODES = 10  # of a source
MAX_NEIGHBORS = 20
MAX_RELATED_NODES = 10  # of an artifact
MAX_TOP_NODES = 5  # of each type, of a storyline
MIN_PREVIEWS, MAX_PREVIEWS = 2, 5  # sources of a storyline


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultCounts:
    sources: int
    nodes: int = 5  # people, concepts and entities in total
    relationships: int = 10  # of these nodes
    storylines: int
    macros: int
    artifacts: int = 5


RESULT_COUNTS = {
    1: ResultCounts(sources=5, storylines=3, macros=2),
    2: ResultCounts(sources=10, storylines=5, macros=2),  # its sources are those of its storylines
    3: ResultCounts(sources=0, storylines=0, macros=5),  # its storylines are those of its macros
}


def select_best(hits: Sequence[ScoredItem], limit: int, first: Container[str]) -> list[ScoredItem]:
    """Sorted by score. Items in ``first`` are selected before any others."""
    ranked = sort_scored(hits)
    preferred = [hit for hit in ranked if hit.id in first]
    others = [hit for hit in ranked if hit.id not in first]
    return sort_scored([*preferred, *others][:limit])
