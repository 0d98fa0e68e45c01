"""Tools as the protocol describes them: schemas of what they take and answer, and hints."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterable, Mapping
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
    root = answers[0] if len(answers) == 1 else {"type": "object", "anyOf": answers}
    return {**root, "$defs": _referred_to(root, schemas.named)}


def _referred_to(root: Schema, named: Mapping[str, Schema]) -> dict[str, Schema]:
    """Without those that are written out and stand nowhere else."""
    said = json.dumps([root, named])
    return {name: each for name, each in named.items() if f'"{_DEFS}{name}"' in said}


def _alternatives(schemas: AnswerSchemas, way: Way) -> list[Schema]:
    """Objects, each written out: clients of older versions want one at the root."""
    hint = returned_by(way.operation)
    if not is_object(hint):
        held: Mapping[str, Any] = {RESULT: schemas.of(hint)}
        return [{"type": "object", "properties": held, "required": [RESULT]}]
    described = schemas.of(hint)
    return [_written_out(schemas, each) for each in described.get("anyOf", [described])]


def _written_out(schemas: AnswerSchemas, referred: Schema) -> Schema:
    return dict(schemas.named[referred["$ref"].rsplit("/", 1)[-1]])


def is_object(hint: Any) -> bool:
    """Whether answers of this type are objects by themselves: a sequence is none."""
    origin = typing.get_origin(hint)
    return not (isinstance(origin, type) and issubclass(origin, Iterable))
