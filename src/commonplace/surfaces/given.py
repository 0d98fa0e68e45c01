"""What a caller gives as JSON, held to the parameters of an operation; for REST and MCP alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from commonplace.errors import BadText, MissingField, UnknownField
from commonplace.operations import Parameter, Shape


def from_json(parameters: Iterable[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    known = by_spelling(parameters)
    refuse_unknown(given, known)
    return {name: _value(known[name], value) for name, value in given.items()}


def by_spelling(parameters: Iterable[Parameter]) -> dict[str, Parameter]:
    taken = tuple(parameters)
    known = {parameter.name: parameter for parameter in taken}
    return known | {parameter.alias: parameter for parameter in taken if parameter.alias}


def refuse_unknown(names: Iterable[str], known: Iterable[str]) -> None:
    taken = set(known)
    for name in names:
        if name not in taken:
            raise UnknownField(f"Unknown parameter {name!r}.", field=name)


def refuse_missing(parameters: Iterable[Parameter], given: Mapping[str, Any]) -> None:
    for parameter in parameters:
        if parameter.required and parameter.name not in given:
            raise MissingField(f"Missing parameter {parameter.name!r}.", field=parameter.name)


def _value(parameter: Parameter, value: Any) -> Any:
    """A text that names a file here is a text: nobody reads the server's files from afar."""
    if parameter.shape is Shape.ORIGINAL and isinstance(value, str):
        if not value.strip() or "\0" in value:
            raise BadText(f"{parameter.name} must be non-empty text.", field=parameter.name)
        return _encoded(value, parameter.name)
    return value


def _encoded(text: str, name: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadText(f"{name} contains a lone surrogate.", field=name) from None
