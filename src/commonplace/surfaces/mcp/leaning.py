"""Schemas as short as they can be and still be true: an agent pays for every word of them.

The verbs check lengths, patterns and moments themselves and say what is wrong, so a schema need not
say it beforehand. Answers hold more than is described: what is bookkeeping, as usual, or not always
there stands in the data all the same.
"""

from __future__ import annotations

import json
from typing import Any

from commonplace.surfaces.limits import FILTERS, MOMENT
from commonplace.surfaces.mcp.telling import BOOKKEEPING, USUAL
from commonplace.surfaces.schemas import Schema

_CHECKED_ANYWAY = frozenset(
    {"minLength", "maxLength", "pattern", "minItems", "maxItems", "propertyNames", "examples"}
)
_OF_A_MOMENT = "ISO 8601."
_OF_FILTERS = f"Any of: {', '.join(FILTERS['properties'])}."
_UNTOLD = BOOKKEEPING | USUAL.keys()
_MANY = 8
_DEFS = "$defs"


# ——— what a tool takes ———


def lean_parameter(schema: Schema) -> Schema:
    if "properties" in schema:  # filters: a word each, and no schema of them in every tool
        return {"type": "object", "description": _OF_FILTERS}
    if schema.get("anyOf") == MOMENT["anyOf"]:
        return {"type": "string", "description": f"{schema['description']} {_OF_A_MOMENT}"}
    short = {name: each for name, each in schema.items() if name not in _CHECKED_ANYWAY}
    if len(short.get("enum", ())) > _MANY:  # said in words as well
        short["description"] = "One of these."
    if isinstance(short.get("items"), dict):
        short["items"] = lean_parameter(short["items"])
    if short.get("additionalProperties") is True:
        del short["additionalProperties"]
    return short


# ——— what it answers ———


def lean_answer(schema: Schema) -> Schema:
    """The root is promised; of what it holds, what every one of its sort has; and of what
    that holds, only that it is there."""
    root = _lean(schema, _DEFS)
    held = {name: _within(each) for name, each in schema[_DEFS].items()}
    said = json.dumps(root)
    return {**root, _DEFS: {name: each for name, each in held.items() if f'/{name}"' in said}}


def _within(schema: Schema) -> Schema:
    told = {n: _held(each) for n, each in schema["properties"].items() if _is_told(n, each)}
    return {"type": "object", "properties": told}


def _is_told(name: str, schema: Schema) -> bool:
    is_always_there = {"type": "null"} not in schema.get("anyOf", ())
    return is_always_there and name not in _UNTOLD


def _held(schema: Schema) -> Schema:
    if "$ref" in schema:
        return {"type": "object"}
    if "$ref" in schema.get("items", ()):
        return {"type": "array"}
    return _lean(schema)


def _lean(schema: Schema, *without: str) -> Schema:
    left_out = ("format", "enum", "description", *without)
    short = {n: _leaner(n, e) for n, e in schema.items() if n not in left_out}
    types = [each.get("type") for each in short.get("anyOf", ()) if set(each) == {"type"}]
    if types and len(types) == len(short["anyOf"]):
        return {"type": types}
    return {name: each for name, each in short.items() if each != {}}


def _leaner(name: str, value: Any) -> Any:
    if name == "anyOf":
        return [_lean(each) for each in value]
    if name == "required":
        return [each for each in value if each not in _UNTOLD]
    if name == "properties":
        return {named: _lean(each) for named, each in value.items() if named not in _UNTOLD}
    return _lean(value) if isinstance(value, dict) else value
