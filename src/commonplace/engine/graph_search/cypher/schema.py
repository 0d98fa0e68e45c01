"""The labels, relationships and properties that a query can name; schema.toml lists them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from typing import Any

from commonplace.errors import BadCypher


class PropertyType(StrEnum):
    TEXT = "TEXT"
    NUMBER = "NUMBER"
    INTEGER = "INTEGER"
    TRUTH = "TRUTH"
    TIME = "TIME"
    TEXTS = "TEXTS"
    DAYS = "DAYS"
    NUMBERS = "NUMBERS"
    NOTES = "NOTES"
    CONTENT = "CONTENT"
    JSON = "JSON"


NOTE_MOMENTS = frozenset({"date_added", "expires_at"})  # fields of a note that hold moments
KEY = "entity_key"  # of every item; id(n) returns it


@dataclass(frozen=True, slots=True)
class GraphLabel:
    name: str
    properties: Mapping[str, PropertyType]


@dataclass(frozen=True, slots=True)
class CypherRelationshipType:
    name: str
    properties: Mapping[str, PropertyType]
    ends: tuple[tuple[str, str], ...]


def _load() -> tuple[dict[str, GraphLabel], dict[str, CypherRelationshipType], dict[str, str]]:
    text = resources.files("commonplace.engine.graph_search.cypher").joinpath("schema.toml")
    data = tomllib.loads(text.read_text(encoding="utf-8"))
    shared = data["groups"]
    labels = {
        name: GraphLabel(name, _properties(declared, shared))
        for name, declared in data["labels"].items()
    }
    relationships = {
        name: CypherRelationshipType(
            name, _properties(declared, shared), tuple((a, b) for a, b in declared["ends"])
        )
        for name, declared in data["relationships"].items()
    }
    return labels, relationships, data["types"]


def _properties(declared: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, PropertyType]:
    own = {key: type for key, type in declared.items() if key not in ("groups", "ends")}
    found: dict[str, str] = {}
    for properties in (*(shared[group] for group in declared.get("groups", ())), own):
        found.update(properties)
    return {key: PropertyType(type) for key, type in found.items()}


LABELS, RELATIONSHIPS, _TYPE_DESCRIPTIONS = _load()
_ALL = [each.properties for each in LABELS.values()]
_ALL += [each.properties for each in RELATIONSHIPS.values()]
MOMENTS = (
    frozenset(
        key for properties in _ALL for key, type in properties.items() if type is PropertyType.TIME
    )
    | NOTE_MOMENTS
)


_PROPERTIES = frozenset(key for properties in _ALL for key in properties)


class SchemaNames:
    """The names that a query may use. Labels and types ignore case."""

    def label(self, name: str) -> str:
        known = known_name(name, LABELS)
        if known is None:
            labels = ", ".join(LABELS)
            raise BadCypher(f"There is no label {name[:60]}.", remedy=f"Labels: {labels}.")
        return known

    def type(self, name: str) -> str:
        known = known_name(name, RELATIONSHIPS)
        if known is None:
            raise BadCypher(
                f"There is no relationship {name[:60]}.",
                remedy=f"Relationships: {', '.join(RELATIONSHIPS)}. Words such as 'friend' or "
                "'works-at' are in their property relationship_type.",
            )
        return known

    def property(self, key: str) -> None:
        if key not in _PROPERTIES:
            raise BadCypher(
                f"There is no property {key[:60]}.",
                remedy="`traverse --schema` lists the properties of each label and relationship.",
            )


def known_name(name: str, known: Iterable[str]) -> str | None:
    """The schema's spelling of a name, ignoring case."""
    return next((each for each in known if each.lower() == name.lower()), None)


def describe() -> str:
    """The text that `traverse --schema` prints."""
    lines = ["Labels"]
    for label in LABELS.values():
        lines += ["", f"  {label.name}", *_property_lines(label.properties)]
    lines += ["", "Relationships (edges that are over are there, too: valid_to is when they ended)"]
    first_with: dict[str, str] = {}
    for one in RELATIONSHIPS.values():
        ends = ", ".join(f"({a})-[:{one.name}]->({b})" for a, b in one.ends)
        properties = "\n".join(_property_lines(one.properties))
        same = first_with.setdefault(properties, one.name)
        lines += ["", f"  {one.name}: {ends}"]
        lines += [f"    as {same}"] if same != one.name else [properties]
    lines += ["", "Types", *(f"  {name}: {what}" for name, what in _TYPE_DESCRIPTIONS.items())]
    return "\n".join(lines)


def _property_lines(properties: Mapping[str, PropertyType]) -> list[str]:
    return [f"    {name}: {type}" for name, type in properties.items()]
