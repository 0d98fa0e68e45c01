"""Explore request: validated parameters, relationship filters, widened queries.

Queries are widened by rules, without a language model: one with abbreviations expanded, one of the
named people only, and one without these names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from commonplace.errors import InvalidInput, TooLong
from commonplace.language.fields.names import find_named_people, remove_names
from commonplace.language.query.abbreviations import Terminology, add_long_forms
from commonplace.language.text.normalise import fold_case
from commonplace.model import validation
from commonplace.model.graph.elements import Edge
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.types import relationship_type
from commonplace.model.memory.lifecycle import NOW, PointInTime
from commonplace.model.parameters import EXPLORE_GRANULARITY, SearchMode


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipFilters:
    """None or empty: no restriction."""

    min_attitude: int | None = None
    max_attitude: int | None = None
    min_proximity: int | None = None
    max_proximity: int | None = None
    relationship_types: tuple[str, ...] = ()
    exclude_relationship_types: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self == NO_RELATIONSHIP_FILTERS


NO_RELATIONSHIP_FILTERS = RelationshipFilters()


def filter_edges(edges: Iterable[Edge], filters: RelationshipFilters) -> list[Edge]:
    wanted = _canonical_types(filters.relationship_types)
    refused = _canonical_types(filters.exclude_relationship_types)
    return [
        edge
        for edge in edges
        if _is_between(edge.attitude, filters.min_attitude, filters.max_attitude)
        and _is_between(edge.proximity, filters.min_proximity, filters.max_proximity)
        and (not wanted or _normalise_type(edge.type) in wanted)
        and _normalise_type(edge.type) not in refused
    ]


def _is_between(value: int, low: int | None, high: int | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _canonical_types(types: Iterable[str]) -> frozenset[str]:
    """With the stored types: "manages" also matches edges stored in the other direction."""
    given = [_normalise_type(each) for each in types]
    kinds = map(relationship_type, given)
    stored = (name for kind in kinds for name in (kind.inverse, kind.same_as) if name)
    return frozenset([*given, *stored])


def _normalise_type(type: str) -> str:
    return "-".join(fold_case(type).replace("_", " ").split())


MAX_QUERIES = 20


@dataclass(frozen=True, slots=True)
class ExploreQuery:
    query: str
    # Minimum similarity of a hit; None: a share of the best one's.
    threshold: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreWeights:
    """The weight of each signal; signals range from 0 to 1."""

    semantic: float = 0.3
    time: float = 0.3
    salience: float = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreRequest:
    granularity: int = EXPLORE_GRANULARITY  # 1: sources, 2: storylines, 3: macros
    queries: tuple[ExploreQuery, ...] = ()
    text_matches: tuple[str, ...] = ()
    relationship_filters: RelationshipFilters = NO_RELATIONSHIP_FILTERS
    widen: bool = False  # add widened queries
    weights: ExploreWeights = ExploreWeights()
    return_explanations: bool = False
    include_archived: bool = False
    then: PointInTime = NOW

    @property
    def is_open(self) -> bool:
        """No query: the result is what is most recent and most salient."""
        return not self.queries and not self.text_matches


def read_explore_request(
    *,
    granularity: object = EXPLORE_GRANULARITY,
    query: object = None,
    queries: object = None,
    text_matches: object = None,
    relationship_filters: object = None,
    multi_query: object = None,
    mode: object = SearchMode.FAST,
    time_weight: object = ExploreWeights().time,
    salience_weight: object = ExploreWeights().salience,
    semantic_weight: object = ExploreWeights().semantic,
    return_explanations: object = False,
    include_archived: object = False,
    then: PointInTime = NOW,
) -> ExploreRequest:
    """Validate the given parameters. ``multi_query`` decides whether queries are widened; if it is
    None, ``mode`` does."""
    level = EXPLORE_GRANULARITY if granularity is None else granularity
    explore_mode = validation.choice(mode, "mode", SearchMode, {})
    widen = None if multi_query is None else validation.flag(multi_query, "multi_query")
    return ExploreRequest(
        granularity=validation.integer(level, "granularity", 1, 3),
        queries=_read_queries(_with_single_query(query, queries)),
        text_matches=() if text_matches is None else _read_words(text_matches, "text_matches"),
        relationship_filters=read_relationship_filters(relationship_filters),
        widen=explore_mode is SearchMode.DEEP if widen is None else widen,
        weights=ExploreWeights(
            semantic=validation.number(semantic_weight, "semantic_weight", 0, 1),
            time=validation.number(time_weight, "time_weight", 0, 1),
            salience=validation.number(salience_weight, "salience_weight", 0, 1),
        ),
        return_explanations=validation.flag(return_explanations, "return_explanations"),
        include_archived=validation.flag(include_archived, "include_archived"),
        then=then,
    )


def _with_single_query(query: object, queries: object) -> object:
    """``query`` is one of the queries, given by itself."""
    if query is None:
        return queries
    text = validation.text(query, "query")
    if queries is None:
        return [text]
    return [text, *([queries] if isinstance(queries, str | Mapping) else _as_sequence(queries))]


def _as_sequence(given: object) -> Sequence[Any]:
    return given if isinstance(given, Sequence) else [given]


def _read_queries(given: object) -> tuple[ExploreQuery, ...]:
    """Maps of query and threshold; a string is a query without one."""
    if given is None:
        return ()
    listed = [given] if isinstance(given, str | Mapping | ExploreQuery) else given
    if not isinstance(listed, Sequence) or isinstance(listed, bytes | bytearray):
        raise InvalidInput(
            f"queries must be a list, not {type(given).__name__}.",
            remedy='Give [{"query": "…", "threshold": 0.5}, …].',
            field="queries",
        )
    if len(listed) > MAX_QUERIES:
        raise TooLong(
            f"queries has {len(listed)} entries; the limit is {MAX_QUERIES}.", field="queries"
        )
    return tuple(dict.fromkeys(map(_read_query, listed)))


def _read_query(given: object) -> ExploreQuery:
    if isinstance(given, ExploreQuery):
        return given
    if isinstance(given, str):
        return ExploreQuery(validation.text(given, "queries"))
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"queries holds {type(given).__name__}, not queries.",
            remedy='Each is {"query": "…", "threshold": 0.5}, or a text.',
            field="queries",
        )
    validation.known_fields(given, ("query", "threshold"), "queries")
    validation.required(given, ("query",), "query")
    threshold = given.get("threshold")
    return ExploreQuery(
        validation.text(given["query"], "query"),
        None if threshold is None else validation.number(threshold, "threshold", 0, 1),
    )


_FILTER_NAMES = tuple(field.name for field in fields(RelationshipFilters))
_LIST_FILTERS = ("relationship_types", "exclude_relationship_types")


def read_relationship_filters(given: object) -> RelationshipFilters:
    if given is None:
        return NO_RELATIONSHIP_FILTERS
    if isinstance(given, RelationshipFilters):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInput(
            "relationship_filters must be a map of names to values.", field="relationship_filters"
        )
    validation.known_fields(given, _FILTER_NAMES, "relationship_filters")
    filters = RelationshipFilters(
        **{name: _read_bound(name, value) for name, value in given.items() if value is not None}
    )
    for what in ("attitude", "proximity"):
        _check_order(filters, what)
    return filters


def _read_bound(name: str, value: object) -> Any:
    return (
        _read_words(value, name) if name in _LIST_FILTERS else validation.integer(value, name, 1, 5)
    )


def _check_order(filters: RelationshipFilters, what: str) -> None:
    low, high = getattr(filters, f"min_{what}"), getattr(filters, f"max_{what}")
    if low is not None and high is not None and low > high:
        raise InvalidInput(
            f"min_{what} is {low} and max_{what} is {high}: no value fits both.",
            field=f"min_{what}",
        )


def _read_words(given: object, field: str) -> tuple[str, ...]:
    return validation.words((given,) if isinstance(given, str) else given, field)


MIN_WORDS = 2  # of a query without its names


def widen_queries(
    request: ExploreRequest, snapshot: GraphSnapshot, terminology: Terminology
) -> tuple[ExploreQuery, ...]:
    """In the given order; a widened query keeps the threshold of its original."""
    if not request.widen:
        return request.queries
    names = [name for node in snapshot.nodes.values() for name in node.names]
    widened = [
        ExploreQuery(text, query.threshold)
        for query in request.queries
        for text in _widened_texts(query.query, names, terminology)
    ]
    return tuple({each.query: each for each in reversed([*request.queries, *widened])}.values())[
        ::-1
    ]


def _widened_texts(query: str, names: list[str], terminology: Terminology) -> Iterator[str]:
    yield add_long_forms(query, terminology.find_matches(query))
    named = find_named_people(query, names)
    if not named.people:
        return
    yield ", ".join(sorted(named.people))
    rest = remove_names(query, named)
    if len(rest.split()) >= MIN_WORDS:
        yield rest
