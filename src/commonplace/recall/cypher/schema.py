"""The labels, relationships and properties that a query can name; schema.toml lists them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from typing import Any


class Type(StrEnum):
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


NOTE_FIELDS = {
    "content": "STRING",
    "added_by": "STRING",
    "date_added": "TIMESTAMP",
    "source_entity_key": "STRING",
    "expires_at": "TIMESTAMP",
}
CONTENT_FIELDS = {"type": "STRING", "content": "STRING", "output": "STRING"}
KEY = "entity_key"  # of everything: id(n) means it


@dataclass(frozen=True, slots=True)
class Label:
    name: str
    properties: Mapping[str, Type]


@dataclass(frozen=True, slots=True)
class Relationship:
    name: str
    properties: Mapping[str, Type]
    ends: tuple[tuple[str, str], ...]


def _load() -> tuple[dict[str, Label], dict[str, Relationship], dict[str, str]]:
    text = resources.files("commonplace.recall.cypher").joinpath("schema.toml")
    data = tomllib.loads(text.read_text(encoding="utf-8"))
    shared = data["groups"]
    labels = {name: Label(name, _properties(told, shared)) for name, told in data["labels"].items()}
    relationships = {
        name: Relationship(name, _properties(told, shared), tuple((a, b) for a, b in told["ends"]))
        for name, told in data["relationships"].items()
    }
    return labels, relationships, data["types"]


def _properties(told: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Type]:
    own = {key: type for key, type in told.items() if key not in ("groups", "ends")}
    found: dict[str, str] = {}
    for properties in (*(shared[group] for group in told.get("groups", ())), own):
        found.update(properties)
    return {key: Type(type) for key, type in found.items()}


LABELS, RELATIONSHIPS, _TYPES_TOLD = _load()
_ALL = [each.properties for each in LABELS.values()]
_ALL += [each.properties for each in RELATIONSHIPS.values()]
MOMENTS = frozenset(
    key for properties in _ALL for key, type in properties.items() if type is Type.TIME
) | {key for key, type in NOTE_FIELDS.items() if type == "TIMESTAMP"}


def known_name(name: str, known: Iterable[str]) -> str | None:
    """As the schema spells it: upper and lower case alike."""
    return next((each for each in known if each.lower() == name.lower()), None)


def describe() -> str:
    """What `traverse --schema` prints."""
    lines = ["Labels"]
    for label in LABELS.values():
        lines += ["", f"  {label.name}", *_told(label.properties)]
    lines += ["", "Relationships (edges that are over are there, too: valid_to is when they ended)"]
    told: dict[str, str] = {}
    for one in RELATIONSHIPS.values():
        ends = ", ".join(f"({a})-[:{one.name}]->({b})" for a, b in one.ends)
        properties = "\n".join(_told(one.properties))
        same = told.setdefault(properties, one.name)
        lines += ["", f"  {one.name}: {ends}"]
        lines += [f"    as {same}"] if same != one.name else [properties]
    lines += ["", "Types", *(f"  {name}: {what}" for name, what in _TYPES_TOLD.items())]
    return "\n".join(lines)


def _told(properties: Mapping[str, Type]) -> list[str]:
    return [f"    {name}: {type}" for name, type in properties.items()]
