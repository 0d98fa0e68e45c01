"""Export records: the types of lines, and how each differs from its dataclass.

Passages are exported, so that citations keep their numbers. Their index entries are not: the
importing store recomputes them. Nodes and edges are exported with their search texts.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from commonplace.errors import InvalidInput, TooLong
from commonplace.model import validation
from commonplace.model.access.principal import Scope
from commonplace.model.export.codec import Codec, FieldReader, RecordRule
from commonplace.model.graph.assertion import CitedSource, EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import (
    ARTIFACT_PREFIX,
    EDGE_PREFIX,
    NODE_PREFIX,
    Artifact,
    Edge,
    Mentioned,
    Node,
)
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.steps import Extraction
from commonplace.model.graph.storylines import (
    MACRO_PREFIX,
    STORYLINE_PREFIX,
    Macro,
    Storyline,
    StorySource,
)
from commonplace.model.journal import Entry, JournalRow, LoggedHit, LoggedSearch, RecallLogEntry
from commonplace.model.memory.kinds import POLICIES, TtlPolicy
from commonplace.model.memory.memory import Link, Memory, State, Version
from commonplace.model.model_calls import ModelReading
from commonplace.model.profile.consent import MAX_SIGNALS
from commonplace.model.profile.fields import (
    PROPOSAL_PREFIX,
    Proposal,
    Signal,
    field_name,
    read_field_value,
)
from commonplace.model.sources.source import (
    MAX_ALIAS_BYTES,
    MAX_ORIGINAL_BYTES,
    MAX_PARTS,
    Passage,
    Source,
    check_alias,
)

MAX_PARTICIPANTS = 100_000  # the whole history of a channel is one source
MAX_RAW_LENGTH = 4 * (MAX_ORIGINAL_BYTES // 3 + 1)  # in base64
MAX_NAME_LENGTH = 500  # a PostgreSQL index entry is limited to a third of a page, in any script
MAX_OUTPUT_LENGTH = 4_000_000
MAX_STORY_NAME = MAX_NAME_LENGTH + 50  # a node's name and what it is
MAX_NAMES = 10_000
MAX_DAYS = 100_000
MAX_SENTENCES = 40_000_000  # not more than the characters of a source
_MAX_NUMBER = 1e9
_MAX_SCORE = 1_000_000.0  # of a score and of its parts
_HEX = re.compile(r"[0-9a-f]{1,64}")
_SOURCE_ID = re.compile(r"source:[^\s#@]{1,150}")


# ——— lines without a dataclass of their own in the model ———


@dataclass(frozen=True, slots=True)
class WholeSource:
    """A source with its original and passages."""

    source: Source
    original: tuple[bytes, ...]  # part by part
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class OriginalLine:
    source_id: str
    part: int
    raw: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLine:
    """A held value, with the targets of its conflict."""

    memory: Memory
    conflict: str | None
    targets: tuple[str, ...]
    beside: str | None
    merged_into: str | None
    mentioned: frozenset[str]
    reason: str
    actor: str | None
    held_at: datetime


@dataclass(frozen=True, slots=True)
class NodeLine:
    node: Node
    found_by: str


@dataclass(frozen=True, slots=True)
class EdgeLine:
    edge: Edge
    found_by: str


@dataclass(frozen=True, slots=True)
class StatsLine:
    id: str
    stats: AccessStats


LINE_TYPES: Mapping[str, type] = {
    "memory": Memory,
    "version": Version,
    "link": Link,
    "held": HeldLine,
    "proposal": Proposal,
    "source": Source,
    "original": OriginalLine,
    "passage": Passage,
    "node": NodeLine,
    "node_telling": NodeAssertion,
    "edge": EdgeLine,
    "edge_telling": EdgeAssertion,
    "note": Note,
    "artifact": Artifact,
    "storyline": Storyline,
    "macro": Macro,
    "extraction": Extraction,
    "reading": ModelReading,
    "marks": StatsLine,
    "search": RecallLogEntry,
    "journal": JournalRow,
}


# ——— field readers ———


def _whole_number(low: int, high: int = 2**62) -> FieldReader:
    return lambda value, field: validation.integer(value, field, low, high)


def _number(low: float, high: float) -> FieldReader:
    return lambda value, field: validation.number(value, field, low, high)


def _metadata(value: object, field: str) -> dict[str, Any]:
    return validation.metadata(value, field, validation.MAX_KEPT_METADATA)


def _provenance(value: Any, field: str) -> dict[str, Any]:
    """Validated, but stored unchanged: it contains a path."""
    _metadata(value, field)
    return dict(value)


def _output(value: Any, field: str) -> Any:
    """Validated like any JSON input, but stored unchanged."""
    validation.metadata({"output": value}, field, MAX_OUTPUT_LENGTH)
    return value


def _reference(value: object, field: str) -> str:
    """An id with a prefix or a version number: longer than a word."""
    return validation.text(value, field, 2 * validation.MAX_WORD)


def _exact_text(limit: int) -> FieldReader:
    """Text stored unchanged, not even trimmed: a different spelling of a path is another path."""

    def reading(value: Any, field: str) -> str:
        validation.text(value, field, limit)
        if len(value) > limit:
            raise TooLong(f"{field} has {len(value):,} characters; the limit is {limit:,}.")
        return str(value)

    return reading


def _empty_or(reading: FieldReader) -> FieldReader:
    return lambda value, field: "" if value == "" else reading(value, field)


def _if_given(reading: FieldReader, otherwise: Any) -> FieldReader:
    return lambda value, field: reading(value, field) if value else otherwise


def _prefixed(prefix: str, what: str = "{field}") -> FieldReader:
    def reading(value: Any, field: str) -> str:
        id = validation.word(value, field)
        if not id.startswith(prefix):
            raise InvalidInput(f"{what.format(field=field)} begins with {prefix}", field=field)
        return id

    return reading


def _source_id(value: object, field: str) -> str:
    id = validation.word(value, field)
    if not _SOURCE_ID.fullmatch(id):
        raise InvalidInput(f"{field} is not a source id: {id[:40]!r}.")
    return id


def _raw(value: object, field: str) -> bytes:
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be base64.")
    if len(value) > MAX_RAW_LENGTH:
        raise TooLong(f"{field} is larger than {MAX_ORIGINAL_BYTES:,} bytes.")
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        raise InvalidInput(f"{field} must be base64.") from None


def _list_of(reading: FieldReader, limit: int) -> FieldReader:
    def listed(value: Any, field: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > limit:
            raise InvalidInput(f"{field} must be a list of at most {limit:,}.", field=field)
        return tuple(reading(each, field) for each in value)

    return listed


def _digest(value: Any, field: str) -> str:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise InvalidInput(f"{field} holds digests: figures and the letters a to f.", field=field)
    return value


def _day(value: Any, field: str) -> date:
    return validation.when(value, field).date()


def _people_names(value: object, field: str) -> tuple[str, ...]:
    return validation.words(value, field, MAX_PARTICIPANTS)


def _score_parts(value: object, field: str) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{field} must be a map of names to numbers.", field=field)
    return {validation.word(name, field): _score(part, field) for name, part in value.items()}


_positive, _degree = _whole_number(1), _whole_number(1, 5)
_amount, _score = _number(0, _MAX_NUMBER), _number(-_MAX_SCORE, _MAX_SCORE)
_name, _text = _exact_text(MAX_NAME_LENGTH), _exact_text(validation.MAX_CONTENT)
_alias, _short_name = _exact_text(MAX_ALIAS_BYTES), _exact_text(validation.MAX_WORD)
_names = _list_of(_name, MAX_NAMES)
_node, _edge = _prefixed(NODE_PREFIX), _prefixed(EDGE_PREFIX)

# For fields without a reader of their own.
_BY_TYPE: Mapping[Any, FieldReader] = {
    str: validation.word,
    int: _whole_number(0),
    float: _number(0, 1),
    bool: validation.flag,
    datetime: validation.when,
    tuple[str, ...]: validation.words,
    frozenset[str]: lambda value, field: frozenset(validation.words(value, field)),
    Mapping[str, Any]: _metadata,
}


# ——— checks of whole records ———


def _check_memory(memory: Memory) -> Memory:
    present = {f"metadata.{name}": value for name, value in memory.metadata.items()}
    needed = [name for name in POLICIES[memory.kind].required if name.startswith("metadata.")]
    validation.required(present, needed, memory.kind)
    return memory


def _check_source(source: Source) -> Source:
    if source.state is State.SUPERSEDED:
        raise InvalidInput(f"A source is never {source.state}.")
    check_alias(source.origin, source.external_id)
    if (source.state is State.SOFT_DELETED) != (source.purge_at is not None):
        raise InvalidInput("A source has a day to be purged exactly when it is forgotten.")
    if source.user_id in source.participants:
        return source
    return source.evolve(participants=(source.user_id, *source.participants))


def _check_proposal(proposal: Proposal) -> Proposal:
    if not 0 < len(proposal.signals) <= MAX_SIGNALS:
        raise InvalidInput(f"A proposal has 1 to {MAX_SIGNALS} signals.")
    if proposal.ends_at < proposal.proposed_at:
        raise InvalidInput("The proposal ends before it begins.")
    return replace(proposal, value=read_field_value(proposal.name, proposal.value))


def _check_storyline(storyline: Storyline) -> Storyline:
    if not storyline.sources:
        raise InvalidInput("A storyline has sources.")
    return storyline.evolve(sources=tuple(sorted(storyline.sources)))


def _check_macro(macro: Macro) -> Macro:
    if not macro.storylines:
        raise InvalidInput("A macro has storylines.")
    return macro


# ——— the rules ———


# The arrival time belongs to the store, not to the item; the importing user becomes the owner. The
# conflict of a memory is exported with its held values.
_OF_MEMORIES: Mapping[type, RecordRule] = {
    Memory: RecordRule(
        what="A memory",
        left_out={"user_id", "arrived_at", "conflict"},
        newer={"questions": ()},
        readers={
            "content": validation.text,
            "questions": lambda value, field: validation.questions(value),
            "summary": validation.text,
            "evidence": validation.texts,
            "importance": _degree,
            "version": _positive,
        },
        check=_check_memory,
    ),
    Version: RecordRule(what="A version"),
    Link: RecordRule(what="A link"),
    HeldLine: RecordRule(
        what="A held value",
        older={"merged_into": None},
        readers={
            "targets": _if_given(validation.ids, ()),
            "reason": _if_given(validation.text, ""),
            "actor": _reference,
        },
    ),
    Proposal: RecordRule(
        what="A proposal",
        readers={
            "id": _prefixed(PROPOSAL_PREFIX, "The id of a proposal"),
            "name": lambda value, field: field_name(value),
            "reason": _if_given(
                lambda value, field: validation.text(value, field, validation.MAX_SENTENCE), ""
            ),
        },
        check=_check_proposal,
    ),
    Signal: RecordRule(
        what="A signal", readers={"actor": _reference, "evidence": validation.texts}
    ),
    JournalRow: RecordRule(
        what="A journal line",
        left_out={"user_id"},
        inlined="entry",
        readers={"actor": _reference},
    ),
    Entry: RecordRule(
        readers={"old_ref": _reference, "new_ref": _reference, "similarity": _number(-1, 1)}
    ),
    RecallLogEntry: RecordRule(what="A search", inlined="search"),
    LoggedSearch: RecordRule(readers={"asked": validation.text}),
    LoggedHit: RecordRule(
        what="A hit",
        readers={
            "id": validation.id,
            "score": _score,
            "why": _if_given(validation.text, ""),
            "parts": _score_parts,
        },
    ),
}
_OF_SOURCES: Mapping[type, RecordRule] = {
    Source: RecordRule(
        what="A source",
        left_out={"user_id", "team_id"},
        older={"ttl_policy": TtlPolicy.DECAY},
        readers={
            "id": _source_id,
            "origin": _alias,
            "external_id": _alias,
            "title": _empty_or(_text),
            "summary": _empty_or(_text),
            "tags": _people_names,
            "participants": _people_names,
            "provenance": _provenance,
            "parts": _whole_number(1, MAX_PARTS),
            "version": _positive,
        },
        check=_check_source,
    ),
    OriginalLine: RecordRule(
        what="An original",
        readers={"source_id": _source_id, "part": _whole_number(1, MAX_PARTS), "raw": _raw},
    ),
    Passage: RecordRule(
        what="A passage",
        left_out={"arrived_at"},
        newer={"purge_at": None},
        readers={
            "source_id": _source_id,
            "number": _positive,
            "turn": _positive,
            "text": _text,
            "speaker": _short_name,
            "role": _short_name,
            "session": _short_name,
            "label": _short_name,
        },
    ),
}
_GRAPH_FIELDS: Mapping[str, FieldReader] = {
    "node": _node,
    "edge": _edge,
    "a": _node,
    "b": _node,
    "merged_into": _node,
    "name": _name,
    "key": _name,
    "subtype": _empty_or(_name),
    "aliases": _names,
    "not_called": _names,
    "addresses": _names,
    "description": _empty_or(_text),
    "content": _text,
    "content_type": _name,
    "output": _output,
    "attitude": _degree,
    "proximity": _degree,
    "by": _reference,
    "added_by": _reference,
    "created_by": _reference,
    "recorded_by": _reference,
    "version": _positive,
}
_STORY_FIELDS: Mapping[str, FieldReader] = {
    "anchor": _node,
    "name": _exact_text(MAX_STORY_NAME),
    "description": _empty_or(_text),
    "version": _positive,
}
_OF_GRAPHS: Mapping[type, RecordRule] = {
    NodeLine: RecordRule(what="A node", inlined="node", readers={"found_by": _empty_or(_text)}),
    Node: RecordRule(
        left_out={"user_id"},
        renamed={"type": "node_type"},
        readers={**_GRAPH_FIELDS, "id": _node},
    ),
    Mentioned: RecordRule(
        what="A mention of a node",
        readers={"promotion_score": _amount, "days": _list_of(_day, MAX_DAYS)},
    ),
    NodeAssertion: RecordRule(
        what="An assertion about a node",
        renamed={"type": "node_type"},
        last={"source"},
        older={"not_called": []},
        readers={**_GRAPH_FIELDS, "name": _empty_or(_name), "key": _empty_or(_name)},
    ),
    EdgeLine: RecordRule(what="An edge", inlined="edge", readers={"found_by": _empty_or(_text)}),
    Edge: RecordRule(
        left_out={"user_id"},
        renamed={"type": "edge_type"},
        readers={**_GRAPH_FIELDS, "id": _edge, "type": _name},
    ),
    EdgeAssertion: RecordRule(
        what="An assertion about an edge",
        renamed={"type": "edge_type"},
        last={"source"},
        older={"beside": False},
        readers={**_GRAPH_FIELDS, "type": _name},
    ),
    CitedSource: RecordRule(
        what="A cited source", own_as_null="scope", readers={"scope": _reference}
    ),
    Note: RecordRule(what="A note", last={"source"}, readers=_GRAPH_FIELDS),
    Artifact: RecordRule(
        what="An artifact",
        left_out={"user_id"},
        last={"source"},
        readers={**_GRAPH_FIELDS, "id": _prefixed(ARTIFACT_PREFIX)},
    ),
    Storyline: RecordRule(
        what="A storyline",
        left_out={"user_id", "team_id"},  # whose sources they are is computed from mentions
        last={"sources"},
        readers={**_STORY_FIELDS, "id": _prefixed(STORYLINE_PREFIX)},
        check=_check_storyline,
    ),
    StorySource: RecordRule(
        what="A source of a storyline",
        own_as_null="scope",
        readers={"id": _source_id, "scope": _reference},
    ),
    Macro: RecordRule(
        what="A macro",
        left_out={"user_id", "team_id"},
        last={"storylines"},
        readers={
            **_STORY_FIELDS,
            "id": _prefixed(MACRO_PREFIX),
            "storylines": _list_of(_prefixed(STORYLINE_PREFIX), MAX_NAMES),
        },
        check=_check_macro,
    ),
    Extraction: RecordRule(
        what="An extraction",
        last={"scope"},
        own_as_null="scope",
        older={"heard": []},  # without digests all sentences count as new
        readers={
            "scope": _reference,
            "digest": _empty_or(_name),
            "heard": _list_of(_digest, MAX_SENTENCES),
        },
    ),
    ModelReading: RecordRule(
        what="A reading",
        newer={"skipped": (), "requests": ()},
        last={"source_scope"},
        own_as_null="source_scope",
        readers={
            "source_scope": _reference,
            "digest": _empty_or(_name),
            "heard": _list_of(_digest, MAX_SENTENCES),
        },
    ),
    StatsLine: RecordRule(what="A line of access statistics", inlined="stats"),
    AccessStats: RecordRule(
        newer={"archived_at": None},
        readers={"last_recall_interval": _amount, "decay_gradient": _amount},
    ),
}


def record_codec(user_id: str) -> Codec:
    """The codec for records that ``user_id`` owns or will own."""
    scope = Scope.of_user(user_id).key
    own = {"user_id": user_id, "scope": scope, "source_scope": scope}
    return Codec(_BY_TYPE, {**_OF_MEMORIES, **_OF_SOURCES, **_OF_GRAPHS}, own)
