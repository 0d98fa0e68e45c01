"""What explore is asked: its parameters, their defaults, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from commonplace.errors import InvalidInput, MissingField, TooLong
from commonplace.model import check
from commonplace.model.time_travel import NOW, Then
from commonplace.recall.explore.filters import NO_FILTERS, RelationshipFilters

MOST_QUERIES = 20
DEFAULT_THRESHOLD = 0.5


class Mode(StrEnum):
    FAST = "fast"  # the queries as they are
    DEEP = "deep"  # and further ones made from them


@dataclass(frozen=True, slots=True)
class Query:
    query: str
    threshold: float = DEFAULT_THRESHOLD  # of similarity; what is less similar is no hit of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each signal counts for; each runs from 0 to 1."""

    semantic: float = 0.3
    time: float = 0.3
    salience: float = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    granularity: int  # 1: sources, 2: storylines, 3: macros
    queries: tuple[Query, ...] = ()
    text_matches: tuple[str, ...] = ()
    relationship_filters: RelationshipFilters = NO_FILTERS
    widen: bool = False  # deep, or asked for several queries
    weights: Weights = Weights()
    return_explanations: bool = False
    include_archived: bool = False
    then: Then = NOW

    @property
    def is_open(self) -> bool:
        """Nothing is looked for: the most recent and most present things are the answer."""
        return not self.queries and not self.text_matches


def asked_for(
    *,
    granularity: object,
    queries: object = None,
    text_matches: object = None,
    relationship_filters: object = None,
    multi_query: object = None,
    mode: object = Mode.FAST,
    time_weight: object = Weights().time,
    salience_weight: object = Weights().salience,
    semantic_weight: object = Weights().semantic,
    return_explanations: object = False,
    include_archived: object = False,
    then: Then = NOW,
) -> Asked:
    """The parameters as they were given, checked. ``multi_query`` has the last word on whether
    further queries are made; where it is not given, ``mode`` says it."""
    if granularity is None:
        raise MissingField(
            "explore needs granularity.",
            remedy="Give 1 for sources, 2 for storylines or 3 for macros.",
            field="granularity",
        )
    depth = check.choice(mode, "mode", Mode, {})
    several = None if multi_query is None else check.flag(multi_query, "multi_query")
    return Asked(
        granularity=check.integer(granularity, "granularity", 1, 3),
        queries=_queries(queries),
        text_matches=() if text_matches is None else _words(text_matches, "text_matches"),
        relationship_filters=relationship_filters_from(relationship_filters),
        widen=depth is Mode.DEEP if several is None else several,
        weights=Weights(
            semantic=check.number(semantic_weight, "semantic_weight", 0, 1),
            time=check.number(time_weight, "time_weight", 0, 1),
            salience=check.number(salience_weight, "salience_weight", 0, 1),
        ),
        return_explanations=check.flag(return_explanations, "return_explanations"),
        include_archived=check.flag(include_archived, "include_archived"),
        then=then,
    )


def _queries(given: object) -> tuple[Query, ...]:
    """Maps of query and threshold; a text alone is a query with the usual threshold."""
    if given is None:
        return ()
    listed = [given] if isinstance(given, str | Mapping | Query) else given
    if not isinstance(listed, Sequence) or isinstance(listed, bytes | bytearray):
        raise InvalidInput(
            f"queries must be a list, not {type(given).__name__}.",
            remedy='Give [{"query": "…", "threshold": 0.5}, …].',
            field="queries",
        )
    if len(listed) > MOST_QUERIES:
        raise TooLong(
            f"queries has {len(listed)} entries; the limit is {MOST_QUERIES}.", field="queries"
        )
    return tuple(dict.fromkeys(map(_query, listed)))


def _query(given: object) -> Query:
    if isinstance(given, Query):
        return given
    if isinstance(given, str):
        return Query(check.text(given, "queries"))
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"queries holds {type(given).__name__}, not queries.",
            remedy='Each is {"query": "…", "threshold": 0.5}, or a text.',
            field="queries",
        )
    check.known_fields(given, ("query", "threshold"), "queries")
    check.required(given, ("query",), "query")
    threshold = given.get("threshold")
    return Query(
        check.text(given["query"], "query"),
        DEFAULT_THRESHOLD if threshold is None else check.number(threshold, "threshold", 0, 1),
    )


_NAMES = tuple(field.name for field in fields(RelationshipFilters))
_LISTS = ("relationship_types", "exclude_relationship_types")


def relationship_filters_from(given: object) -> RelationshipFilters:
    if given is None:
        return NO_FILTERS
    if isinstance(given, RelationshipFilters):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInput(
            "relationship_filters must be a map of names to values.", field="relationship_filters"
        )
    check.known_fields(given, _NAMES, "relationship_filters")
    asked = RelationshipFilters(
        **{name: _bound(name, value) for name, value in given.items() if value is not None}
    )
    for what in ("attitude", "proximity"):
        _in_order(asked, what)
    return asked


def _bound(name: str, value: object) -> Any:
    return _words(value, name) if name in _LISTS else check.integer(value, name, 1, 5)


def _in_order(asked: RelationshipFilters, what: str) -> None:
    low, high = getattr(asked, f"min_{what}"), getattr(asked, f"max_{what}")
    if low is not None and high is not None and low > high:
        raise InvalidInput(
            f"min_{what} is {low} and max_{what} is {high}: no value fits both.",
            field=f"min_{what}",
        )


def _words(given: object, field: str) -> tuple[str, ...]:
    return check.words((given,) if isinstance(given, str) else given, field)
