"""Parameter limits as JSON schemas: enums, lengths, ranges, formats.

The verbs check all limits themselves; the schemas publish them. Each number and list is imported
from the code that checks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from commonplace.api.account import MAX_GRACE
from commonplace.api.graph import MAX_NAME, MAX_TEXT, TRAVERSE_MODES
from commonplace.api.handle import MAX_BATCH, MAX_K, MAX_TURN
from commonplace.api.search import MAX_BUDGET, MAX_PER_STORE, MAX_TURNS
from commonplace.api.sources import MAX_EXTERNAL_ID, MAX_EXTRACTED
from commonplace.engine.graph_search.explore_request import MAX_QUERIES
from commonplace.engine.sources.formats.input import MAX_CHARACTERS
from commonplace.model.access.team import MAX_RETENTION_DAYS, TeamRole
from commonplace.model.filters import EXACT_FIELDS
from commonplace.model.graph.assertion import NoteLifetime
from commonplace.model.graph.node_fold import MAX_NODE_NAME
from commonplace.model.graph.types import NodeType
from commonplace.model.jobs import JobState
from commonplace.model.memory.kinds import Kind, OnConflict, Stability, TtlPolicy
from commonplace.model.memory.memory import MAX_QUESTIONS, ConflictResolution, Sensitivity
from commonplace.model.parameters import (
    DAMPING_LIMIT,
    DEPTH_LIMIT,
    MAX_SHORT_FORM,
    NEVER,
    TOP_K_LIMIT,
    GraphFormat,
    QueryReturns,
    SearchMode,
    SourceFormat,
)
from commonplace.model.profile.fields import MAX_FIELD_VALUE
from commonplace.model.sources.source import ContextType, ProcessingStatus, SourceType, SpeakerRole
from commonplace.model.validation import (
    MAX_CONTENT,
    MAX_DAYS,
    MAX_ID,
    MAX_IDS,
    MAX_LIST,
    MAX_QUESTION,
    MAX_SENTENCE,
    MAX_WORD,
)
from commonplace.operations.table import Parameter

Schema = dict[str, Any]

_NOT_EMPTY = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"
_CONTROL = r"\u0000-\u001f\u007f-\u009f"
_ONE_LINE = rf"^[^{_CONTROL}]*[^\s{_CONTROL}][^{_CONTROL}]*$"


def text(longest: int = MAX_CONTENT) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": longest, "pattern": _NOT_EMPTY}


def word(longest: int = MAX_WORD) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": longest, "pattern": _ONE_LINE}


def one_of(words: Iterable[str]) -> Schema:
    return {"type": "string", "enum": [str(each) for each in words]}


def whole(least: int, most: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most}


def number(least: float, most: float) -> Schema:
    return {"type": "number", "minimum": least, "maximum": most}


def several(of: Schema, most: int = MAX_LIST, least: int = 0) -> Schema:
    return {"type": "array", "items": of, "minItems": least, "maxItems": most}


MOMENT: Schema = {
    "type": "string",
    "anyOf": [{"format": "date-time"}, {"format": "date"}],
    "examples": ["2026-03-01", "2026-03-01T09:30:00+02:00"],
}
METADATA: Schema = {"type": "object", "propertyNames": word(), "additionalProperties": True}
_SENSITIVITY = one_of([*Sensitivity, "sensitive"])
_KINDS = several(one_of(Kind))
_METADATA_VALUE: Schema = {"type": ["string", "number", "boolean"]}
FILTERS: Schema = {
    "type": "object",
    "properties": {
        "kinds": _KINDS,
        "categories": several(word()),
        "tags": several(word()),
        **{name: word() for name in EXACT_FIELDS},
        "pinned": {"type": "boolean"},
        "importance_min": whole(1, 5),
        "importance_max": whole(1, 5),
        **{
            f"{what}_{side}": MOMENT
            for what in ("created", "updated")
            for side in ("after", "before")
        },
    },
    "patternProperties": {
        r"^metadata\..": {"anyOf": [_METADATA_VALUE, several(_METADATA_VALUE)]},
    },
}
_CLOSENESS = whole(1, 5)
_RELATIONSHIPS: Schema = {
    "type": "object",
    "properties": {
        **{
            f"{side}_{what}": _CLOSENESS
            for what in ("attitude", "proximity")
            for side in ("min", "max")
        },
        "relationship_types": several(word()),
        "exclude_relationship_types": several(word()),
    },
    "additionalProperties": False,
}
_QUERY: Schema = {
    "type": "object",
    "properties": {"query": text(), "threshold": number(0, 1)},
    "required": ["query"],
    "additionalProperties": False,
}

_LIMITS_BY_NAME: Mapping[str, Schema] = {
    "about": several(word(), 2, 1),
    "addresses": several({**text(MAX_NAME), "format": "email"}),
    "aliases": several(text(MAX_NODE_NAME)),
    "attitude": _CLOSENESS,
    "cypher": text(),
    "damping": number(0, DAMPING_LIMIT),
    "description": text(MAX_TEXT),
    "granularity": whole(1, 3),
    "lifetime": one_of(NoteLifetime),
    "max_depth": whole(1, DEPTH_LIMIT),
    "mode": one_of(SearchMode),
    "names": several(text(MAX_NAME)),
    "not_addresses": several({**text(MAX_NAME), "format": "email"}),
    "not_aliases": several(text(MAX_NAME)),
    "node_type": one_of(NodeType),
    "output": {},
    "proximity": _CLOSENESS,
    "relationship_filters": _RELATIONSHIPS,
    "salience_weight": number(0, 1),
    "seed_nodes": several(word(MAX_ID), MAX_IDS, 1),
    "semantic_weight": number(0, 1),
    "text_matches": several(word()),
    "time_weight": number(0, 1),
    "ttl_policy": one_of(TtlPolicy),
    "types": several(word()),
    "after": word(MAX_ID),
    "as_of": MOMENT,
    "known_at": MOMENT,
    "budget_tokens": whole(0, MAX_BUDGET),
    "categories": several(word()),
    "choice": one_of(ConflictResolution),
    "confidence": number(0, 1),
    "content": text(),
    "context_type": one_of(ContextType),
    "evidence": several(text(MAX_SENTENCE)),
    "questions": several(text(MAX_QUESTION), MAX_QUESTIONS),
    "external_id": text(MAX_EXTERNAL_ID),
    "filters": FILTERS,
    "format": one_of(SourceFormat),
    "grace_minutes": number(0, MAX_GRACE),
    "id": word(MAX_ID),
    "ids": several(word(MAX_ID), MAX_IDS, 1),
    "importance": whole(1, 5),
    "k": whole(1, MAX_K),
    "kind": one_of(Kind),
    "kinds": _KINDS,
    "limit": whole(1, MAX_K),
    "long": word(),
    "message": text(),
    "metadata": METADATA,
    "older_than_days": number(0, MAX_DAYS),
    "on_conflict": one_of(OnConflict),
    "origin": word(),
    "original": text(MAX_CHARACTERS),
    "queries": several(text(), MAX_BATCH),
    "query": text(),
    "reason": text(MAX_SENTENCE),
    "as_role": one_of(TeamRole),
    "retention_days": whole(0, MAX_RETENTION_DAYS),
    "recent": several(text(), MAX_TURNS),
    "returns": one_of(QueryReturns),
    "sensitivity": _SENSITIVITY,
    "short": word(MAX_SHORT_FORM),
    "since": whole(0, MAX_TURN),
    "source_types": several(one_of(SourceType)),
    "sources": several(word(MAX_ID), MAX_IDS, 1),
    "stability": one_of(Stability),
    "states": several(one_of(JobState)),
    "status": several(one_of(ProcessingStatus)),
    "steps": several(text(MAX_SENTENCE)),
    "summary": text(),
    "tags": several(word()),
    "text": text(),
    "threshold": number(0, 1),
    "title": text(MAX_SENTENCE),
    "top_k": whole(1, MAX_K),
    "ttl_days": {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_DAYS},
    "turn": whole(0, MAX_TURN),
    "value": {
        "anyOf": [
            text(MAX_FIELD_VALUE),
            {"type": "number"},
            {"type": "boolean"},
            several(word(), MAX_LIST, 1),
        ]
    },
    "participants": several(word()),
}
# Names that are an enum in one operation and a free word in another.
_LIMITS_BY_OPERATION: Mapping[tuple[str, str], Schema] = {
    ("artifacts create", "description"): text(),
    ("explore", "queries"): several({"anyOf": [text(), _QUERY]}, MAX_QUERIES),
    ("extract", "at_most"): whole(1, MAX_EXTRACTED),
    ("graph", "format"): one_of(GraphFormat),
    ("node", "id"): word(),
    ("nodes add", "name"): text(MAX_NODE_NAME),
    ("nodes update", "id"): word(),
    ("nodes update", "name"): text(MAX_NODE_NAME),
    ("note", "content"): text(MAX_TEXT),
    ("split", "id"): word(),
    ("split", "name"): text(MAX_NODE_NAME),
    ("traverse", "mode"): one_of(TRAVERSE_MODES),
    ("traverse", "top_k"): whole(1, TOP_K_LIMIT),
    ("ingest", "source_type"): one_of(SourceType),
    ("observe", "role"): one_of(SpeakerRole),
    ("teams create", "retention_days"): whole(1, MAX_RETENTION_DAYS),
    ("update", "expires_at"): {"anyOf": [MOMENT, one_of([NEVER])]},
    ("whole-context", "k"): whole(1, MAX_PER_STORE),
}


def limits_of(parameter: Parameter) -> Schema | None:
    """None if the shape has no further limits. Other texts are words."""
    own = _LIMITS_BY_OPERATION.get((parameter.operation, parameter.name))
    return _LIMITS_BY_NAME.get(parameter.name) if own is None else own
