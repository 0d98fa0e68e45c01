"""A value brought nearer to its schema, and checked against it. Pure.

Only what loses nothing is changed: properties that nobody asked for go, and items beyond the limit
of a list (a small model that repeats itself comes to no end); what was left out is filled with what
stands for "nothing" (null, "", [], false), a number written as a text becomes one. An object none
of whose properties are known stays as it is: it answers another question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import fastjsonschema

Schema = Mapping[str, Any]
_MISSING = object()


class WrongForm(ValueError):
    """The message names the place and the rule, and quotes nothing."""


def check_form(value: Any, schema: Schema) -> None:
    try:
        _validator(json.dumps(schema, sort_keys=True))(value)
    except fastjsonschema.JsonSchemaValueException as error:
        raise WrongForm(f"{error.name} does not follow the rule {error.rule!r}") from None
    except RecursionError:
        raise WrongForm("it is nested too deeply") from None


@lru_cache(maxsize=128)
def _validator(schema: str) -> Callable[[Any], Any]:
    return fastjsonschema.compile(json.loads(schema), use_default=False, detailed_exceptions=True)


def conform(value: Any, schema: Schema) -> Any:
    """Raises RecursionError for a value that is nested without end."""
    only_list = _only_list(schema)
    if isinstance(value, list) and only_list is not None:
        value = {only_list: value}
    return _conform(value, schema, schema)


def without_wrong_items(value: Any, schema: Schema) -> Any:
    """Without the items of the object's lists that have not the form of the schema."""
    if not isinstance(value, dict):
        return value
    shapes = schema.get("properties", {})
    return {
        name: [item for item in part if _is_right(item, shapes[name].get("items", {}), schema)]
        if isinstance(part, list) and name in shapes
        else part
        for name, part in value.items()
    }


def holds_items(value: Any) -> bool:
    return isinstance(value, dict) and any(
        isinstance(each, list) and each for each in value.values()
    )


def _is_right(item: Any, shape: Schema, root: Schema) -> bool:
    try:
        check_form(item, {**shape, "$defs": root.get("$defs", {})})
    except WrongForm:
        return False
    return True


def _only_list(schema: Schema) -> str | None:
    """The name of an object's only property, if it is a list."""
    properties = schema.get("properties", {})
    names = list(properties)
    return names[0] if len(names) == 1 and "array" in _types(properties[names[0]]) else None


def _conform(value: Any, shape: Schema, root: Schema) -> Any:
    shape = _resolved(shape, root)
    if isinstance(value, dict):
        return _conform_object(value, _option(shape, "object", root), root)
    if isinstance(value, list):
        array = _option(shape, "array", root)
        items = array.get("items", {})
        return [_conform(item, items, root) for item in value[: array.get("maxItems")]]
    return _conform_scalar(value, shape, root)


def _conform_object(value: dict[Any, Any], shape: Schema, root: Schema) -> Any:
    properties = shape.get("properties")
    if properties is None or not properties.keys() & value.keys():
        return value
    closed = shape.get("additionalProperties") is False
    found = {
        name: _conform(part, properties.get(name, {}), root)
        for name, part in value.items()
        if name in properties or not closed
    }
    for name in shape.get("required", ()):
        if name not in found and name in properties:
            nothing = _nothing(_resolved(properties[name], root), root)
            found |= {} if nothing is _MISSING else {name: nothing}
    return found


def _conform_scalar(value: Any, shape: Schema, root: Schema) -> Any:
    types = _types(shape, root)
    if value is None and "null" not in types:
        nothing = _nothing(shape, root)
        return None if nothing is _MISSING else nothing
    if isinstance(value, str):
        return _conform_text(_clean(value), shape, types)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if types == {"string"}:
            return str(value)
        if isinstance(value, float) and value.is_integer() and "number" not in types:
            return int(value)
    return value


def _conform_text(text: str, shape: Schema, types: set[str]) -> Any:
    choices = [each for each in shape.get("enum", ()) if isinstance(each, str)]
    if choices and text not in choices:
        near = [each for each in choices if each.casefold() == text.strip().casefold()]
        return near[0] if near else text
    if types & {"integer", "number"} and "string" not in types:
        try:
            return int(text) if len(text) < 20 else text
        except ValueError:
            return None if "null" in types and not text.strip() else text
    if "boolean" in types and text.strip().casefold() in ("true", "false"):
        return text.strip().casefold() == "true"
    return text


def _clean(text: str) -> str:
    """Without what no store accepts: NUL, and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _nothing(shape: Schema, root: Schema) -> Any:
    """What stands for "not there" in a property of this shape."""
    types = _types(shape, root)
    if "null" in types:
        return None
    if "enum" in shape:
        return "" if "" in shape["enum"] else _MISSING
    empty = {"string": "", "array": [], "boolean": False}
    return next((value for name, value in empty.items() if name in types), _MISSING)


def _resolved(shape: Schema, root: Schema) -> Schema:
    """Follows references to the schema's own definitions."""
    for _ in range(10):
        reference = shape.get("$ref")
        if reference is None:
            return shape
        found: Any = root
        for name in str(reference).removeprefix("#").strip("/").split("/"):
            found = found.get(name, {}) if name else found
        shape = found
    return shape


def _options(shape: Schema, root: Schema) -> list[Schema]:
    return [_resolved(each, root) for each in shape.get("anyOf", ())] or [shape]


def _option(shape: Schema, type: str, root: Schema) -> Schema:
    """Of several shapes the one of this type."""
    return next((each for each in _options(shape, root) if type in _types(each)), shape)


def _types(shape: Schema, root: Schema | None = None) -> set[str]:
    if root is not None and "anyOf" in shape:
        return {name for each in _options(shape, root) for name in _types(each)}
    named = shape.get("type", ())
    return {named} if isinstance(named, str) else set(named)
