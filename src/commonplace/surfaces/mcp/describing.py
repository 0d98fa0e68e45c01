"""Tools as the protocol describes them: schemas of what they take and answer, and hints."""

from __future__ import annotations

import typing
from collections.abc import Iterable
from functools import cache
from typing import Any

from mcp import types

from commonplace.operations import Parameter
from commonplace.surfaces.mcp.asking import Decision, may_ask_after
from commonplace.surfaces.mcp.leaning import lean_answer, lean_parameter
from commonplace.surfaces.mcp.tools import TOOLS, Tool, Way
from commonplace.surfaces.schemas import AnswerSchemas, Schema, of_parameter, returned_by

RESULT = "result"  # where an answer that is no object stands
DECIDED = "decided"  # what the user chose when the tool asked
_DEFS = "#/$defs/"


@cache
def all_described() -> tuple[types.Tool, ...]:
    """Once for all servers of a process: the table does not change."""
    return tuple(described(tool) for tool in TOOLS)


def described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.help,
        input_schema=_taken(tool.parameters),
        output_schema=lean_answer(_answered(tool)),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent or tool.reads_only,
            open_world_hint=False,
        ),
    )


def _taken(parameters: Iterable[Parameter]) -> Schema:
    """Under the seed's spelling where there is one: an agent need not be told of two."""
    shown = tuple(parameters)
    schema: Schema = {
        "type": "object",
        "properties": {p.alias or p.name: lean_parameter(of_parameter(p)) for p in shown},
        "additionalProperties": False,
    }
    required = [p.alias or p.name for p in shown if p.required]
    return {**schema, "required": required} if required else schema


def _answered(tool: Tool) -> Schema:
    schemas = AnswerSchemas(_DEFS)
    answers = [each for way in tool.ways for each in _alternatives(schemas, way)]
    if any(may_ask_after(way.operation) for way in tool.ways):
        decided = {"type": "array", "items": schemas.of(Decision)}
        for each in answers:
            each["properties"] = {**each["properties"], DECIDED: decided}
    return answers[0] if len(answers) == 1 else {"type": "object", "anyOf": answers}


def _alternatives(schemas: AnswerSchemas, way: Way) -> list[Schema]:
    """Objects, each written out: clients of older versions want one at the root."""
    hint = returned_by(way.operation)
    if not is_object(hint):
        return [_as_result(schemas.of(hint))]
    described = schemas.of(hint)
    return [_written_out(schemas, each) for each in described.get("anyOf", [described])]


def _written_out(schemas: AnswerSchemas, one: Schema) -> Schema:
    if "$ref" not in one:  # a text beside objects
        return _as_result(one)
    return dict(schemas.named[one["$ref"].rsplit("/", 1)[-1]])


def _as_result(one: Schema) -> Schema:
    return {"type": "object", "properties": {RESULT: one}, "required": [RESULT]}


def is_object(hint: Any) -> bool:
    """Whether answers of this type are objects by themselves: a sequence is none."""
    origin = typing.get_origin(hint)
    return not (isinstance(origin, type) and issubclass(origin, Iterable))
