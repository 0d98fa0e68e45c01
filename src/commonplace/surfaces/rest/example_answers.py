"""An example of an answer, made from its schema: it fits, and reads like one that was given."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from commonplace.surfaces.schemas import Schema

_WHEN = {"date-time": "2026-03-02T09:00:00+00:00", "date": "2026-03-02"}
_PLAIN: Mapping[str, Any] = {"boolean": False, "integer": 1, "number": 1.0, "null": None}


class Examples:
    """`named` are the schemas that others refer to by name."""

    def __init__(self, named: Mapping[str, Schema]):
        self._named = named

    def of(self, schema: Schema) -> Any:
        return self._value("", schema, ())

    def _value(self, field: str, schema: Schema, within: tuple[str, ...]) -> Any:
        """`within` are the names of those that hold it, so that none holds itself for ever."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[-1]
            return self._object(self._named[name], (*within, name))
        if "anyOf" in schema:
            return self._value(field, _chosen(field, schema["anyOf"]), within)
        if "enum" in schema:
            usual = _told("words").get(field)
            return usual if usual in schema["enum"] else schema["enum"][0]
        match schema.get("type"):
            case "object":
                return self._object(schema, within)
            case "array":
                return self._items(field, schema["items"], within)
            case "string":
                return _WHEN.get(schema.get("format", "")) or _told("words").get(field, field)
            case "integer" | "number" as number:
                return _told("numbers").get(field, _PLAIN[number])
            case plain:
                return _PLAIN[plain] if plain else "Haifa"  # of any type

    def _object(self, schema: Schema, within: tuple[str, ...]) -> dict[str, Any]:
        held = schema.get("properties", {})
        return {name: self._value(name, each, within) for name, each in held.items()}

    def _items(self, field: str, item: Schema, within: tuple[str, ...]) -> list[Any]:
        """One of each that has fields; what is listed by name alone stands in the table."""
        name = item.get("$ref", "").rsplit("/", 1)[-1]
        if not name or name in within:
            return list(_told("lists").get(field, ()))
        return [self._value(field, item, within)]


def _chosen(field: str, alternatives: list[Schema]) -> Schema:
    """What may be nothing is, unless the table has it filled; of several, the first."""
    nothing = [each for each in alternatives if each.get("type") == "null"]
    return nothing[0] if nothing and field not in _told("lists")["filled"] else alternatives[0]


@cache
def _told(sort: str) -> Mapping[str, Any]:
    file = resources.files("commonplace.surfaces.rest").joinpath("example_answers.toml")
    told: Mapping[str, Any] = tomllib.loads(file.read_text("utf-8"))[sort]
    return told
