"""Schemas as short as they can be and still be true: an agent pays for every word of them.

The verbs check lengths, patterns and moments themselves and say what is wrong, so a schema need not
say it beforehand. Answers hold more than is described: what is bookkeeping, as usual, or not always
there stands in the data all the same.
"""

from __future__ import annotations

from typing import Any

from commonplace.surfaces.limits import MOMENT
from commonplace.surfaces.mcp.telling import BOOKKEEPING, USUAL
from commonplace.surfaces.schemas import Schema

_CHECKED_ANYWAY = frozenset(
    {"minLength", "maxLength", "pattern", "minItems", "maxItems", "propertyNames", "examples"}
)
_OF_A_MOMENT = "ISO 8601."
_UNTOLD = BOOKKEEPING | USUAL.keys()
_LEFT_OUT = frozenset({"format", "enum", "description"})
_SOMETHING = {"type": "object"}  # as what a list holds, not worth the words
_MANY = 8
_PLENTY = 1000  # more than anybody asks for


# ——— what a tool takes ———


def lean_parameter(schema: Schema) -> Schema:
    if "properties" in schema:  # filters: a word each, and no schema of them in every tool
        return {"type": "object", "description": f"Any of: {', '.join(schema['properties'])}."}
    if schema.get("anyOf") == MOMENT["anyOf"]:
        said = " ".join(filter(None, (schema.get("description"), _OF_A_MOMENT)))
        return {"type": "string", "description": said}
    short = {name: each for name, each in schema.items() if name not in _CHECKED_ANYWAY}
    if len(short.get("enum", ())) > _MANY:  # said in words as well
        short["description"] = "One of these."
    if isinstance(short.get("items"), dict):
        short["items"] = _unsaid(lean_parameter(short["items"]))
    if "anyOf" in short:
        short["anyOf"] = [lean_parameter(each) for each in short["anyOf"]]
    if short.get("additionalProperties") is True:
        del short["additionalProperties"]
    if short.get("maximum", 0) >= _PLENTY:
        del short["maximum"]
    if short.get("default") is False:  # a flag that is not set
        del short["default"]
    return short


def _unsaid(items: Schema) -> Schema:
    """Of what a list holds the list itself says what it is."""
    plain = {name: each for name, each in items.items() if name != "description"}
    if "anyOf" in plain:
        plain["anyOf"] = [_unsaid(each) for each in plain["anyOf"]]
    return plain


# ——— what it answers ———


def lean_answer(schema: Schema) -> Schema:
    """The root is promised; of what it holds, only that it is there."""
    if "$ref" in schema:
        return {"type": "object"}
    short = {n: _leaner(n, e) for n, e in schema.items() if n not in _LEFT_OUT}
    types = [each.get("type") for each in short.get("anyOf", ()) if set(each) == {"type"}]
    if types and len(types) == len(short["anyOf"]):
        different = list(dict.fromkeys(types))
        return {"type": different if len(different) > 1 else different[0]}
    return {name: each for name, each in short.items() if each not in ({}, _SOMETHING)}


def _leaner(name: str, value: Any) -> Any:
    if name == "anyOf":
        return [lean_answer(each) for each in value]
    if name == "required":
        return [each for each in value if each not in _UNTOLD]
    if name == "properties":
        return {named: lean_answer(each) for named, each in value.items() if named not in _UNTOLD}
    return lean_answer(value) if isinstance(value, dict) else value
