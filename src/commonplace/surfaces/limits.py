"""What values a parameter takes, as JSON schemas: closed lists of words, lengths, ranges, forms.

The verbs check all of it themselves; this is what they check, told beforehand. Each number and each
list is the code's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from commonplace.book.originals import MAX_EXTERNAL_ID
from commonplace.book.verbs.contexts import MAX_BUDGET, MAX_OF_EACH
from commonplace.book.verbs.extracting import MAX_EXTRACTED
from commonplace.book.verbs.graph import LONGEST_TEXT, LONGEST_WRITTEN, MODES
from commonplace.book.verbs.handle import MAX_BATCH, MAX_K, MAX_TURN
from commonplace.book.verbs.keys import MAX_GRACE
from commonplace.book.verbs.understanding import MAX_TURNS
from commonplace.ingest.decode import MAX_CHARACTERS
from commonplace.ingest.detect import Format
from commonplace.model.check import (
    MAX_CONTENT,
    MAX_DAYS,
    MAX_ID,
    MAX_IDS,
    MAX_LIST,
    MAX_SENTENCE,
    MAX_WORD,
)
from commonplace.model.conflict import Choice
from commonplace.model.filters import EXACT
from commonplace.model.graph.given_name import LONGEST_NAME
from commonplace.model.graph.note import Lifetime
from commonplace.model.graph.words import NodeType
from commonplace.model.heard import Role
from commonplace.model.job import JobState
from commonplace.model.kinds import Kind, Stability
from commonplace.model.memory import Sensitivity
from commonplace.model.profile import MAX_VALUE
from commonplace.model.relations import OnConflict
from commonplace.model.source import ContextType, SourceType, Status
from commonplace.model.team import MAX_RETENTION_DAYS
from commonplace.model.team import Role as TeamRole
from commonplace.model.ttl_policy import TtlPolicy
from commonplace.operations import Parameter
from commonplace.recall.explore.asked import MOST_QUERIES, Mode
from commonplace.recall.graph.drawing import Format as GraphFormat
from commonplace.recall.query import Returns
from commonplace.recall.walk import DEEPEST, MOST_PLACES, WIDEST
from commonplace.remember.abbreviate import MAX_SHORT
from commonplace.remember.update import NEVER

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
PARTICULARS: Schema = {"type": "object", "propertyNames": word(), "additionalProperties": True}
_SENSITIVITY = one_of([*Sensitivity, "sensitive"])
_KINDS = several(one_of(Kind))
FILTERS: Schema = {
    "type": "object",
    "properties": {
        "kinds": _KINDS,
        "categories": several(word()),
        "tags": several(word()),
        **{name: word() for name in EXACT},
        "pinned": {"type": "boolean"},
        "importance_min": whole(1, 5),
        "importance_max": whole(1, 5),
        **{
            f"{what}_{side}": MOMENT
            for what in ("created", "updated")
            for side in ("after", "before")
        },
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

_OF_NAMES: Mapping[str, Schema] = {
    "about": several(word(), 2, 1),
    "addresses": several({**text(LONGEST_WRITTEN), "format": "email"}),
    "aliases": several(text(LONGEST_NAME)),
    "attitude": _CLOSENESS,
    "cypher": text(),
    "damping": number(0, WIDEST),
    "description": text(LONGEST_TEXT),
    "granularity": whole(1, 3),
    "lifetime": one_of(Lifetime),
    "max_depth": whole(1, DEEPEST),
    "names": several(text(LONGEST_WRITTEN)),
    "not_addresses": several({**text(LONGEST_WRITTEN), "format": "email"}),
    "not_aliases": several(text(LONGEST_WRITTEN)),
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
    "choice": one_of(Choice),
    "confidence": number(0, 1),
    "content": text(),
    "context_type": one_of(ContextType),
    "evidence": several(text(MAX_SENTENCE)),
    "external_id": text(MAX_EXTERNAL_ID),
    "filters": FILTERS,
    "format": one_of(Format),
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
    "metadata": PARTICULARS,
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
    "returns": one_of(Returns),
    "sensitivity": _SENSITIVITY,
    "short": word(MAX_SHORT),
    "since": whole(0, MAX_TURN),
    "source_types": several(one_of(SourceType)),
    "sources": several(word(MAX_ID), MAX_IDS, 1),
    "stability": one_of(Stability),
    "states": several(one_of(JobState)),
    "status": several(one_of(Status)),
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
            text(MAX_VALUE),
            {"type": "number"},
            {"type": "boolean"},
            several(word(), MAX_LIST, 1),
        ]
    },
    "participants": several(word()),
}
# Where one name is a closed list here and a word of the caller's there.
_OF_OPERATIONS: Mapping[tuple[str, str], Schema] = {
    ("artifacts create", "description"): text(),
    ("explore", "mode"): one_of(Mode),
    ("explore", "queries"): several({"anyOf": [text(), _QUERY]}, MOST_QUERIES),
    ("extract", "at_most"): whole(1, MAX_EXTRACTED),
    ("graph", "format"): one_of(GraphFormat),
    ("node", "id"): word(),
    ("nodes add", "name"): text(LONGEST_NAME),
    ("nodes update", "id"): word(),
    ("nodes update", "name"): text(LONGEST_NAME),
    ("note", "content"): text(LONGEST_TEXT),
    ("split", "id"): word(),
    ("split", "name"): text(LONGEST_NAME),
    ("traverse", "mode"): one_of(MODES),
    ("traverse", "top_k"): whole(1, MOST_PLACES),
    ("ingest", "source_type"): one_of(SourceType),
    ("observe", "role"): one_of(Role),
    ("teams create", "retention_days"): whole(1, MAX_RETENTION_DAYS),
    ("update", "expires_at"): {"anyOf": [MOMENT, one_of([NEVER])]},
    ("whole-context", "k"): whole(1, MAX_OF_EACH),
}


def of(parameter: Parameter) -> Schema | None:
    """None: what its shape says is all there is to say. Words are the rest of the texts."""
    own = _OF_OPERATIONS.get((parameter.operation, parameter.name))
    return _OF_NAMES.get(parameter.name) if own is None else own
