"""Presentation for agents: tool descriptions, short schemas, answers and errors as text.

The verbs check lengths, patterns and times and report errors, so the schemas omit these limits.
Answers contain more data than the schemas describe: bookkeeping, defaults and optional fields.
"""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from mcp import types

from commonplace.api import User
from commonplace.errors import CommonplaceError
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import OWNER_ACTOR_PREFIX
from commonplace.model.profile.fields import PROPOSAL_PREFIX as PROPOSAL
from commonplace.model.quotation import quote
from commonplace.operations.limits import MOMENT
from commonplace.operations.schemas import AnswerSchemas, Schema, parameter_schema, return_type_of
from commonplace.operations.table import Parameter
from commonplace.surfaces.mcp.elicitation import ElicitedDecision, may_ask_after
from commonplace.surfaces.mcp.tools import TOOLS, Tool, ToolOperation

with lazy_imports(__name__):
    from commonplace.engine.prompt_context.layers import Context
    from commonplace.engine.prompt_injection import is_quoted_memory
    from commonplace.engine.search.pack import related_lines
    from commonplace.engine.search.query import Queried
    from commonplace.engine.search.recall import Recalled
    from commonplace.engine.search.withheld import Withheld

_NOTHING = "Nothing is known about that."
_HOW_TO_DECIDE = "They do so with `commonplace resolve`. You cannot; continue meanwhile."
_HOW_TO_AGREE = "They do so with `commonplace profile accept` or `decline`; you cannot."

# The structured data is complete. The text, which costs the agent tokens, omits bookkeeping fields
# and default values.
INTERNAL_FIELDS = frozenset(
    {
        "access_count",
        "arrived_at",
        "bullet",
        "created_at",
        "deep",
        "digest",
        "external_id",
        "has_metadata",
        "is_search",
        "last_accessed_at",
        "memory_type",
        "processing_completed_at",
        "processing_started_at",
        "prompt_text",
        "provenance",
        "revision",
        "said",
        "score",
        "updated_at",
        "user_id",
        "version",
    }
)
DEFAULT_VALUES: Mapping[str, Any] = {
    "confidence": 1.0,
    "degraded": False,
    "forgettable": True,
    "importance": 2,
    "is_anothers": False,
    "is_override": False,
    "pinned": False,
    "proposed": False,
    "quoted": False,
    "sensitivity": "normal",
    "stability": "stable",
    "state": "active",
    "suspicious": False,
    "ttl_policy": "decay",
    "weak": False,
}


def answer_text(answer: Any, data: Any) -> str:
    if isinstance(answer, Context):
        return _with_withheld(answer.text or _NOTHING, answer.withheld)
    if isinstance(answer, Queried):
        return _with_withheld(_bullet_text(answer), answer.withheld)
    if isinstance(answer, Recalled):
        if not answer.hits:
            return _with_withheld(_NOTHING, answer.withheld)
        data = {name: data[name] for name in ("hits", "degraded", "withheld")}
    if isinstance(data, str):
        return data
    return json.dumps(_lean_data(fence_words(data)), ensure_ascii=False)


def _with_withheld(text: str, withheld: Withheld | None) -> str:
    return f"{text}\n\n({withheld.sentence})" if withheld else text


def _bullet_text(answer: Queried) -> str:
    """Bullets with ids, for show, update and forget."""
    items = [
        line
        for item in answer.items
        for line in (f"- {item.text} ({item.id})", *related_lines(item.related))
    ]
    return "\n".join(filter(None, [answer.header, *items])) or _NOTHING


def _lean_data(data: Any) -> Any:
    if isinstance(data, list):
        return [_lean_data(each) for each in data]
    if not isinstance(data, dict):
        return data
    same = data.get("summary") == data.get("content")
    return {
        name: _lean_data(each)
        for name, each in data.items()
        if name not in INTERNAL_FIELDS
        and each not in (None, "", [], {})
        and (name not in DEFAULT_VALUES or each != DEFAULT_VALUES[name])
        and not (same and name == "summary")
    }


# Of graph items: sentences, titles and subjects that somebody else may have written.
_SOURCE_WORDS = ("description", "summary", "title", "text", "content", "one_liner")
_GRAPH_KEYS = frozenset({"entity_key", "from_entity_key", "storyline_id", "macro_id"})
# The objects that hold words of others, by the fields that only they have, and those words.
_WORDS = ("text", "summary", "tags", "metadata")
_OBJECTS: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = (
    (frozenset({"text", "turn", "speaker"}), ("text", "speaker", "label")),  # a passage
    (frozenset({"title", "position"}), ("title", "speaker", "label")),  # a citation
    (
        frozenset({"title", "content_type"}),  # a source
        ("title", "summary", "keywords", "tags", "participants", "alias", "external_id"),
    ),
    (frozenset({"title", "from_user"}), ("title",)),  # an invitation
    (frozenset({"title", "summary", "said_at"}), ("title", "summary")),  # a source of a node
)
_PASSAGE_OF_MEMORY = ("said_as", "said_by")
_MEMORY_FIELDS = ("facet", "source_type", "source_id", "role")


def fence_words(data: Any) -> Any:
    """The data of an answer with the words of others fenced."""
    if isinstance(data, list):
        return [fence_words(each) for each in data]
    if not isinstance(data, dict):
        return data
    if data.get("mode") == _CYPHER and data.keys() >= {"columns", "rows"}:
        return {**data, "rows": _fence_cell(data["rows"])}
    return {name: fence_words(each) for name, each in _fence_quotation(data).items()}


def _fence_quotation(data: dict[str, Any]) -> dict[str, Any]:
    """Words of sources are fenced where an agent reads them, also inside JSON."""
    if _GRAPH_KEYS & data.keys():
        return _fence_graph_item(data)
    words = (*_words_of_others(data), *_PASSAGE_OF_MEMORY)
    fenced = {name: _quote_value(data[name]) for name in words if data.get(name)}
    provenance: dict[str, Any] = {"provenance": {}} if "provenance" in data else {}  # names as keys
    return {**data, **fenced, **provenance}


def _words_of_others(data: dict[str, Any]) -> Sequence[str]:
    """The names of these fields."""
    if data.get("quoted"):
        return _WORDS
    if "content" in data and data.keys() >= set(_MEMORY_FIELDS):
        is_quoted = is_quoted_memory(*(data[name] for name in _MEMORY_FIELDS))
        return ("content", *_WORDS) if is_quoted else ()
    if "content" in data and "about" in data:  # a note
        return ("content",) if data.get("source") else ()
    if "told_by" in data:  # a value of a conflict
        is_owners = str(data["told_by"]).startswith(OWNER_ACTOR_PREFIX) and not data.get("source")
        return () if is_owners else _WORDS
    found = (words for fields, words in _OBJECTS if data.keys() >= fields)
    return next(found, ())


def _quote_value(value: Any) -> Any:
    """Words in a list are one quotation: a fence around each would cost more than they do."""
    if isinstance(value, list):
        return [quote(", ".join(map(str, value)))]
    if isinstance(value, dict):
        return {name: _quote_value(each) for name, each in value.items()}
    return quote(value) if isinstance(value, str) else value


def _fence_graph_item(data: dict[str, Any]) -> dict[str, Any]:
    fenced = _fence_fields(data)
    if data.get("notes_snippets"):
        fenced["notes_snippets"] = [quote(note) for note in data["notes_snippets"]]
    if data.get("path"):
        fenced["path"] = quote(" ".join(data["path"]))
    if data.get("node_type") == "Source":
        fenced["name"] = quote(data["name"])
    return fenced


def _fence_fields(data: dict[str, Any]) -> dict[str, Any]:
    texts = {n: data[n] for n in _SOURCE_WORDS if isinstance(data.get(n), str) and data[n]}
    return data | {name: quote(text) for name, text in texts.items()}


_CYPHER = "cypher"  # the mode of an answer whose rows hold what a query returns
_SOURCE_LABELS = ("name", "keywords", "tags", "participants")
_NAME_LENGTH = 40
_UNSPACED_NAME_LENGTH = 8
_SENTENCE_MARKS = re.compile(r"[!?;…。！？；，、؟،؛।॥።«»≪≫⟪⟫]|[.,:]$")
# Scripts that put no space between words, where a whole sentence looks like one word.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
# An id, or that of a mention: the ids of its ends and a word.
_ID = re.compile(rf"[a-z]+:{_UUID}(?:#\d+)?(?: [a-z_]+ [a-z]+:{_UUID})?")


def _fence_cell(cell: Any) -> Any:
    """A value of a Cypher query, with all that lists, maps, nodes and paths hold. The keys of maps
    are properties, or words of the query."""
    if isinstance(cell, list):
        return [_fence_cell(each) for each in cell]
    if isinstance(cell, dict):
        fenced = {name: _fence_cell(each) for name, each in cell.items()}
        return fenced | _fence_source_node(cell)
    return quote(cell) if isinstance(cell, str) and not _is_name(cell) else cell


def _fence_source_node(cell: dict[str, Any]) -> dict[str, Any]:
    """The name of a source is its title, also if it is one word; its lists are one quotation."""
    names = _SOURCE_LABELS if cell.get("_label") == "Source" else ()
    return {name: _quote_value(cell[name]) for name in names if cell.get(name)}


def _is_name(text: str) -> bool:
    """One short word, or an id."""
    if _ID.fullmatch(text):
        return True
    return (
        text.isprintable()  # no invisible character stands between words
        and " " not in text
        and len(text) <= _NAME_LENGTH
        and len(_UNSPACED.findall(text)) <= _UNSPACED_NAME_LENGTH
        and not _SENTENCE_MARKS.search(text)
    )


def waiting_text(user: User, waiting: Sequence[str]) -> str:
    """Instructions for pending items, depending on the agent's rights."""
    proposals = [id for id in waiting if id.startswith(PROPOSAL)]
    conflicts = [id for id in waiting if id not in proposals]
    lines = []
    if conflicts and user.principal.decides:
        lines.append(f"The user decides: {', '.join(conflicts)}. Ask, then call conflicts.")
    elif conflicts:
        lines.append(f"The owner decides: {', '.join(conflicts)}. {_HOW_TO_DECIDE}")
    if proposals:
        lines.append(f"The owner accepts or declines: {', '.join(proposals)}. {_HOW_TO_AGREE}")
    return "\n".join(lines)


def error_text(error: CommonplaceError) -> str:
    return f"{error.code}: {error.message} {error.remedy}"


_CHECKED_BY_VERBS = frozenset(
    {"minLength", "maxLength", "pattern", "minItems", "maxItems", "propertyNames", "examples"}
)
_MOMENT_HELP = "ISO 8601."
_OMITTED_FIELDS = INTERNAL_FIELDS | DEFAULT_VALUES.keys()
_OMITTED_KEYWORDS = frozenset({"format", "enum", "description"})
_ANY_OBJECT = {"type": "object"}  # omitted as a list's item schema
_LONG_ENUM = 8
_LARGE_MAXIMUM = 1000  # larger maxima are omitted


# ——— parameters ———


def lean_parameter(schema: Schema) -> Schema:
    if "properties" in schema:  # filters: without their schema, which would repeat in every tool
        return {"type": "object", "description": f"Any of: {', '.join(schema['properties'])}."}
    if schema.get("anyOf") == MOMENT["anyOf"]:
        description = " ".join(filter(None, (schema.get("description"), _MOMENT_HELP)))
        return {"type": "string", "description": description}
    short = {name: each for name, each in schema.items() if name not in _CHECKED_BY_VERBS}
    if len(short.get("enum", ())) > _LONG_ENUM:  # the enum documents itself
        short["description"] = "One of these."
    if isinstance(short.get("items"), dict):
        short["items"] = _without_description(lean_parameter(short["items"]))
    if "anyOf" in short:
        short["anyOf"] = [lean_parameter(each) for each in short["anyOf"]]
    if short.get("additionalProperties") is True:
        del short["additionalProperties"]
    if short.get("maximum", 0) >= _LARGE_MAXIMUM:
        del short["maximum"]
    if short.get("default") is False:  # the default of a flag
        del short["default"]
    return short


def _without_description(items: Schema) -> Schema:
    """The list's own description is enough."""
    plain = {name: each for name, each in items.items() if name != "description"}
    if "anyOf" in plain:
        plain["anyOf"] = [_without_description(each) for each in plain["anyOf"]]
    return plain


# ——— answers ———


def lean_answer(schema: Schema) -> Schema:
    """Describe the root's fields; nested objects are not described."""
    if "$ref" in schema:
        return {"type": "object"}
    short = {n: _lean_value(n, e) for n, e in schema.items() if n not in _OMITTED_KEYWORDS}
    types = [each.get("type") for each in short.get("anyOf", ()) if set(each) == {"type"}]
    if types and len(types) == len(short["anyOf"]):
        different = list(dict.fromkeys(types))
        return {"type": different if len(different) > 1 else different[0]}
    return {name: each for name, each in short.items() if each not in ({}, _ANY_OBJECT)}


def _lean_value(name: str, value: Any) -> Any:
    if name == "anyOf":
        return [lean_answer(each) for each in value]
    if name == "required":
        return [each for each in value if each not in _OMITTED_FIELDS]
    if name == "properties":
        return {
            named: lean_answer(each)
            for named, each in value.items()
            if named not in _OMITTED_FIELDS
        }
    return lean_answer(value) if isinstance(value, dict) else value


RESULT = "result"  # the key of an answer that is not an object
DECIDED = "decided"  # the user's decisions in an elicitation
_DEFS = "#/$defs/"


@cache
def all_tool_descriptions() -> tuple[types.Tool, ...]:
    """Cached for all servers of a process."""
    return tuple(describe_tool(tool) for tool in TOOLS)


def describe_tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.help,
        input_schema=_input_schema(tool.parameters),
        output_schema=lean_answer(_output_schema(tool)),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent or tool.reads_only,
            open_world_hint=False,
        ),
    )


def _input_schema(parameters: Iterable[Parameter]) -> Schema:
    """Uses a parameter's alias if it has one: agents need only one spelling."""
    shown = tuple(parameters)
    schema: Schema = {
        "type": "object",
        "properties": {p.alias or p.name: lean_parameter(parameter_schema(p)) for p in shown},
        "additionalProperties": False,
    }
    required = [p.alias or p.name for p in shown if p.required]
    return {**schema, "required": required} if required else schema


def _output_schema(tool: Tool) -> Schema:
    schemas = AnswerSchemas(_DEFS)
    answers = [each for way in tool.ways for each in _alternatives(schemas, way)]
    if any(may_ask_after(way.operation) for way in tool.ways):
        decided = {"type": "array", "items": schemas.of(ElicitedDecision)}
        for each in answers:
            each["properties"] = {**each["properties"], DECIDED: decided}
    return answers[0] if len(answers) == 1 else {"type": "object", "anyOf": answers}


def _alternatives(schemas: AnswerSchemas, way: ToolOperation) -> list[Schema]:
    """Objects with inlined references: older clients require an object at the root."""
    hint = return_type_of(way.operation)
    if not is_object(hint):
        return [_as_result(schemas.of(hint))]
    described = schemas.of(hint)
    return [_inlined(schemas, each) for each in described.get("anyOf", [described])]


def _inlined(schemas: AnswerSchemas, one: Schema) -> Schema:
    if "$ref" not in one:  # a text among objects
        return _as_result(one)
    return dict(schemas.named[one["$ref"].rsplit("/", 1)[-1]])


def _as_result(one: Schema) -> Schema:
    return {"type": "object", "properties": {RESULT: one}, "required": [RESULT]}


def is_object(hint: Any) -> bool:
    """True if answers of this type are JSON objects, not sequences or texts."""
    origin = typing.get_origin(hint)
    return not (isinstance(origin, type) and issubclass(origin, Iterable))
