"""Explore candidates: match by meaning and words, score, keep the best. Pure."""

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
from commonplace.model.memory.lifecycle import source_date, source_existed
from commonplace.model.sources.source import Source

ALL_WORDS = 0.999  # the share of the query's terms that counts as all of them


@dataclass(frozen=True, slots=True)
class EmbeddedItems:
    """Vectors of length 1, in the order of their ids."""

    ids: Sequence[str]
    matrix: Vectors


@dataclass(frozen=True, slots=True)
class SourceMatch:
    """A source whose passages are close to a query, as the index of passages knows it."""

    query: int  # its place among the queries that were executed
    id: str
    cosine: float
    words: float = 0.0  # the share of the query's words that stand in it


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreInput:
    """What is looked in beside the picture. Without query vectors only words are met."""

    queries: Sequence[ExploreQuery] = ()  # as they were executed
    query_vectors: Vectors | None = None  # one row for each
    nodes: EmbeddedItems | None = None
    edges: EmbeddedItems | None = None
    sources: Sequence[SourceMatch] = ()
    calibration: Calibration | None = None  # None: a cosine is a similarity


@dataclass(frozen=True, slots=True)
class ExploreMatches:
    """All ways in which each thing was met, and what each query alone found."""

    matches: Mapping[str, Sequence[ExploreMatch]] = field(default_factory=dict)
    by_query: Sequence[Mapping[str, float]] = ()


def match_queries(
    given: ExploreInput, by_words: Sequence[Mapping[str, ExploreMatch]]
) -> ExploreMatches:
    by_query = [
        {
            **_match_vectors(given, place, given.nodes),
            **_match_vectors(given, place, given.edges),
            **_match_sources(given, place),
        }
        for place in range(len(given.queries))
    ]
    matches: dict[str, list[ExploreMatch]] = defaultdict(list)
    for query, found in zip(given.queries, by_query, strict=True):
        for id, similarity in found.items():
            matches[id].append(
                ExploreMatch(by=MatchedBy.QUERY, asked=query.query, similarity=similarity)
            )
    for met in by_words:
        for id, match in met.items():
            matches[id].append(match)
    return ExploreMatches(matches, by_query)


def _match_vectors(
    given: ExploreInput, place: int, embedded: EmbeddedItems | None
) -> dict[str, float]:
    """At least as similar as this query's own threshold asks for."""
    if given.query_vectors is None or embedded is None or not len(embedded.ids):
        return {}
    query = given.queries[place]
    cosines = embedded.matrix @ given.query_vectors[place]
    similarities = _similarities(cosines, query.query, given.calibration)
    if similarities is None:
        return {}
    near = np.nonzero(similarities >= query.threshold)[0].tolist()
    return {embedded.ids[row]: float(similarities[row]) for row in near}


def _similarities(
    cosines: NDArray[np.floating], query: str, calibration: Calibration | None
) -> NDArray[np.floating] | None:
    """None: the model is blind to the script of the query."""
    if calibration is None:
        return np.asarray(np.clip(cosines, 0.0, 1.0), dtype=np.float64)
    return calibration.similarities(cosines, detect_script(query))


def _match_sources(given: ExploreInput, place: int) -> dict[str, float]:
    """Each by the closest of its passages. Where the model is blind, words decide; and where all
    words of the query stand, whatever a model makes of them, it is close enough."""
    query = given.queries[place]
    mine = [each for each in given.sources if each.query == place]
    cosines = np.array([each.cosine for each in mine], dtype=np.float64)
    similarities = _similarities(cosines, query.query, given.calibration)
    if similarities is None:
        similarities = np.array([each.words for each in mine], dtype=np.float64)
    found: dict[str, float] = {}
    for each, similarity in zip(mine, similarities, strict=True):
        close = max(float(similarity), query.threshold if each.words >= ALL_WORDS else 0.0)
        if close >= query.threshold:
            found[each.id] = max(found.get(each.id, 0.0), close)
    return found


DECAY_PER_DAY = 0.02  # a day: half is left after 35
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
    """Weights of more than 1 in all are shares, so that no score leaves the scale."""
    whole = max(1.0, weights.semantic + weights.time + weights.salience)
    recent = recency(updated_at, now)
    parts = ScoreParts(
        semantic=weights.semantic * semantic / whole,
        time=weights.time * recent / whole,
        salience=weights.salience * salience / whole,
    )
    score = min(1.0, parts.semantic + parts.time + parts.salience)  # rounding may go beyond
    return ScoredItem(
        id=id,
        score=score,
        explanation=Explanation(
            score=score,
            parts=parts,
            similarity=max((match.similarity for match in matches), default=0.0),
            semantic=semantic,
            recency=recent,
            salience=salience,
            days_since_update=days_since(updated_at, now),
            matches=tuple(matches),
        ),
    )


def sort_scored(hits: Iterable[ScoredItem]) -> list[ScoredItem]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def fuse_rankings(rankings: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Reciprocal rank fusion of several queries. Only ranks count for the order; the best of all
    keeps the best similarity, so that the signal stays comparable with what was not fused."""
    totals: dict[str, float] = {}
    for ranking in rankings:
        ranked = sorted(ranking, key=lambda id: (-ranking[id], id))
        for rank, id in enumerate(ranked, 1):
            totals[id] = totals.get(id, 0.0) + 1 / (RRF_K + rank)
    highest = max(totals.values(), default=1.0)
    best = max((value for ranking in rankings for value in ranking.values()), default=0.0)
    return {id: best * total / highest for id, total in totals.items()}


ExploreItem = Node | Edge | Source | Artifact
IndirectMatches = Mapping[str, ExploreMatch]  # by something else that was met


class ExploreCandidates:
    def __init__(
        self, view: GraphView, asked: ExploreRequest, gathered: ExploreMatches, now: datetime
    ):
        self._view = view
        self._asked = asked
        self._gathered = gathered
        self._now = now
        self._fused = fuse_rankings(gathered.by_query) if asked.widen else {}

    def met(self, known: Iterable[str]) -> dict[str, None]:
        """Those of the known ones that were met; where nothing is looked for, all of them."""
        if self._asked.is_open:
            return dict.fromkeys(known)
        return {id: None for id in known if id in self._gathered.matches}

    def admitted(self, edges: Iterable[Edge]) -> list[Edge]:
        """That held at the time asked about, and that the filters let pass."""
        then, now, nodes = self._asked.then, self._now, self._view.snapshot.nodes
        holding = (
            edge for edge in edges if edge.holds(then, now) and edge.a in nodes and edge.b in nodes
        )
        return filter_edges(holding, self._asked.relationship_filters)

    def scored(
        self, things: Iterable[ExploreItem], brought_in: IndirectMatches
    ) -> list[ScoredItem]:
        hits = (self._scored(thing, brought_in) for thing in things if self._is_known(thing))
        return [hit for hit in hits if hit is not None]

    def _scored(self, thing: ExploreItem, brought_in: IndirectMatches) -> ScoredItem | None:
        stands = current_salience(thing, self._view.snapshot.marks_of(thing.id), self._now)
        if stands.is_archived and not self._asked.include_archived:
            return None
        matches = self._matches(thing.id, brought_in)
        return score_item(
            thing.id,
            matches=matches,
            semantic=self._semantic(thing.id, matches),
            updated_at=_updated_at(thing),
            salience=stands.salience,
            weights=self._asked.weights,
            now=self._now,
        )

    def _matches(self, id: str, brought_in: IndirectMatches) -> Sequence[ExploreMatch]:
        if met := self._gathered.matches.get(id):
            return met
        return (brought_in[id],) if id in brought_in else ()

    def _semantic(self, id: str, matches: Sequence[ExploreMatch]) -> float:
        """The best match; of several queries that were made from one, what they come to
        together. A match of words stands for itself."""
        if not self._asked.widen:
            return max((match.similarity for match in matches), default=0.0)
        by_words = (match.similarity for match in matches if match.by is not MatchedBy.QUERY)
        return max(self._fused.get(id, 0.0), *by_words, 0.0)

    def _is_known(self, thing: ExploreItem) -> bool:
        then = self._asked.then
        if isinstance(thing, Source):
            return source_existed(thing, then)
        return then.known_at is None or thing.created_at <= then.known_at


def _updated_at(thing: ExploreItem) -> datetime:
    return source_date(thing) if isinstance(thing, Source) else thing.updated_at


MAX_MENTIONED_NODES = 10  # of a source
MAX_NEIGHBORS = 20
MAX_RELATED_NODES = 10  # of an artifact


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultCounts:
    sources: int
    nodes: int = 5  # people, concepts and entities together
    relationships: int = 10  # that touch one of these nodes
    storylines: int
    macros: int
    artifacts: int = 5


RESULT_COUNTS = {
    1: ResultCounts(sources=5, storylines=3, macros=2),
    2: ResultCounts(sources=10, storylines=5, macros=2),  # its sources are those of its storylines
    3: ResultCounts(sources=0, storylines=0, macros=5),  # its storylines are those of its macros
}


def select_best(hits: Sequence[ScoredItem], most: int, first: Container[str]) -> list[ScoredItem]:
    """In the order of their scores. Those that are in ``first`` get a place before any other."""
    ranked = sort_scored(hits)
    wanted = [hit for hit in ranked if hit.id in first]
    others = [hit for hit in ranked if hit.id not in first]
    return sort_scored([*wanted, *others][:most])
