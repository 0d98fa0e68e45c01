"""JSON schemas of requests and answers."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from typing import Any

from commonplace.model.export.codec import type_hints_of
from commonplace.operations import limits
from commonplace.operations.serialization import answer_properties
from commonplace.operations.table import Operation, Parameter, ParameterShape

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_MAP: Schema = {"type": "object", "additionalProperties": True}
# For names without an entry in `limits`.
_SCHEMA_BY_SHAPE: Mapping[ParameterShape, Schema] = {
    ParameterShape.TEXT: limits.word(),
    ParameterShape.TEXTS: limits.several(limits.word()),
    ParameterShape.INTEGER: {"type": "integer"},
    ParameterShape.NUMBER: {"type": "number"},
    ParameterShape.FLAG: {"type": "boolean"},
    ParameterShape.MOMENT: limits.MOMENT,
    ParameterShape.MAP: _MAP,
    ParameterShape.MAPS: {"type": "array", "items": {"anyOf": [limits.text(), _MAP]}},
    ParameterShape.VALUE: {"anyOf": [_TEXT, {"type": "number"}, {"type": "boolean"}, _TEXTS]},
    ParameterShape.LINES: _TEXTS,
    ParameterShape.ORIGINAL: limits.text(),
}


def parameter_schema(parameter: Parameter) -> Schema:
    own = limits.limits_of(parameter)
    schema = dict(_SCHEMA_BY_SHAPE[parameter.shape] if own is None else own)
    schema["description"] = " ".join(filter(None, (parameter.help, schema.get("description"))))
    if parameter.default is not None:
        schema["default"] = parameter.default
    return schema


def request_schema(parameters: Iterable[Parameter]) -> Schema:
    """The schema of a body; unknown properties are refused."""
    taken = tuple(parameters)
    schema: Schema = {
        "type": "object",
        "properties": {p.name: _or_null(p) for p in taken},
        "additionalProperties": False,
    }
    for parameter in taken:
        if parameter.alias:
            schema["properties"][parameter.alias] = _or_null(parameter)
    required = [p.name for p in taken if p.required]
    return {**schema, "required": required} if required else schema


def _or_null(parameter: Parameter) -> Schema:
    """Optional parameters also accept null."""
    schema = parameter_schema(parameter)
    if parameter.required or parameter.default is not None:
        return schema
    description = schema.pop("description")
    return {"anyOf": [schema, {"type": "null"}], "description": description}


def return_type_of(operation: Operation) -> Any:
    """The return type of the verb's signature."""
    return type_hints_of(operation.method)["return"]


# Published names of classes that were renamed since, so that clients do not break.
SCHEMA_NAMES: Mapping[str, str] = {
    "AddedNote": "Noted",
    "ChangeSummary": "ChangeTold",
    "CitedSource": "Cited",
    "ContextCitation": "ValuesCited",
    "ContextPart": "Part",
    "ExplainedSearch": "Asked",
    "ExploreMatch": "Match",
    "MemoryPage": "Page",
    "ObservedMemory": "Kept",
    "OpenConflict": "Question",
    "RelatedMemory": "Related",
    "ScoreParts": "Parts",
    "ShownJob": "Owed",
    "ShownMemory": "Shown",
    "UpsertedNode": "SaidNode",
    "UpsertedRelation": "SayingRelated",
}


class AnswerSchemas:
    """Schemas of answers; each dataclass is defined once and referenced by name."""

    def __init__(self, reference: str):
        self._reference = reference  # the location of definitions, such as #/$defs/
        self.named: dict[str, Schema] = {}
        self._names: dict[type, str] = {}

    def of(self, hint: Any) -> Schema:
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if hint in (Any, object):
            return {}
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self.of(each) for each in inner]}
        if origin is not None and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(inner[1])}
        if origin is not None and issubclass(origin, Iterable):
            return {"type": "array", "items": self.of(inner[0])}
        if typing.is_typeddict(hint) or (isinstance(hint, type) and is_dataclass(hint)):
            return {"$ref": self._reference + self._name(hint)}
        if isinstance(hint, type) and issubclass(hint, Enum):
            return {"type": "string", "enum": [member.value for member in hint]}
        return dict(_SCALAR_SCHEMAS[hint])

    def _name(self, kind: type) -> str:
        if kind not in self._names:
            name = self._names[kind] = SCHEMA_NAMES.get(kind.__name__, kind.__name__)
            self.named[name] = {}  # ends the recursion of a self-referencing class
            self.named[name] = self._described(kind)
        return self._names[kind]

    def _described(self, kind: Any) -> Schema:
        hints = type_hints_of(kind)
        rows = typing.is_typeddict(kind)
        named = list(hints) if rows else [field.name for field in fields(kind)]
        held = {name: self.of(hints[name]) for name in named}
        for name in () if rows else answer_properties(kind):
            held[name] = self.of(type_hints_of(getattr(kind, name).fget)["return"])
        description = (kind.__doc__ or "").split("\n\n")[0]
        automatic = description.startswith(
            f"{kind.__name__}("
        )  # the default docstring of a dataclass
        schema: Schema = {"type": "object", "properties": held, "required": list(held)}
        return (
            schema
            if automatic or not description
            else {**schema, "description": _one_line(description)}
        )


_SCALAR_SCHEMAS: Mapping[Any, Schema] = {
    str: _TEXT,
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    types.NoneType: {"type": "null"},
}


def _one_line(text: str) -> str:
    return " ".join(text.split())
