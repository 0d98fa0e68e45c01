"""Everything that meets what is asked, by meaning or by words, before anything is scored. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from commonplace.language.detect import script
from commonplace.language.models.embedder import Calibration, Vectors
from commonplace.recall.explore.asked import Query
from commonplace.recall.explore.explanation import Match, MetBy

ALL_WORDS = 0.999  # the share of the query's terms that counts as all of them


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of length 1, in the order of their ids."""

    ids: Sequence[str]
    matrix: Vectors


@dataclass(frozen=True, slots=True)
class SourceFound:
    """A source whose passages are close to a query, as the index of passages knows it."""

    query: int  # its place among the queries that were executed
    id: str
    cosine: float
    words: float = 0.0  # the share of the query's words that stand in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What is looked in beside the picture. Without query vectors only words are met."""

    queries: Sequence[Query] = ()  # as they were executed
    query_vectors: Vectors | None = None  # one row for each
    nodes: Embedded | None = None
    edges: Embedded | None = None
    sources: Sequence[SourceFound] = ()
    calibration: Calibration | None = None  # None: a cosine is a similarity


@dataclass(frozen=True, slots=True)
class Gathered:
    """All ways in which each thing was met, and what each query alone found."""

    matches: Mapping[str, Sequence[Match]] = field(default_factory=dict)
    by_query: Sequence[Mapping[str, float]] = ()


def gathered(given: Given, by_words: Sequence[Mapping[str, Match]]) -> Gathered:
    by_query = [
        {
            **_close(given, place, given.nodes),
            **_close(given, place, given.edges),
            **_sources(given, place),
        }
        for place in range(len(given.queries))
    ]
    matches: dict[str, list[Match]] = defaultdict(list)
    for query, found in zip(given.queries, by_query, strict=True):
        for id, similarity in found.items():
            matches[id].append(Match(by=MetBy.QUERY, asked=query.query, similarity=similarity))
    for met in by_words:
        for id, match in met.items():
            matches[id].append(match)
    return Gathered(matches, by_query)


def _close(given: Given, place: int, embedded: Embedded | None) -> dict[str, float]:
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
    return calibration.similarities(cosines, script(query))


def _sources(given: Given, place: int) -> dict[str, float]:
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
