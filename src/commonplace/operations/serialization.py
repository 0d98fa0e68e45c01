"""Arguments and answers as JSON: checks, plain data, media types, line framing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Any

from commonplace.errors import BadText, CommonplaceError, MissingField, UnknownField
from commonplace.model.export.codec import Codec
from commonplace.operations.table import Parameter, ParameterShape

_HIDDEN_PROPERTIES = frozenset(
    {
        "bullet",
        "ends",
        "ends_at",
        "headline",
        "names",
        "ref",
        "said",
        "scope",
        "indexed_texts",
        "searchable_text",
        "weight",
    }
)


def answer_properties(kind: type) -> list[str]:
    """The public properties of an answer class, in addition to its fields."""
    return [
        name
        for name, member in vars(kind).items()
        if isinstance(member, property) and name[0] != "_" and name not in _HIDDEN_PROPERTIES
    ]


ANSWERS = Codec(
    {
        date: lambda value, field: date.fromisoformat(value),
        datetime: lambda value, field: datetime.fromisoformat(value),
    },
    properties=answer_properties,
)


def as_data(value: Any) -> Any:
    """Dataclasses become maps with their public properties; dates become ISO 8601 text."""
    return ANSWERS.write(value)


def value_from_data(hint: Any, data: Any) -> Any:
    """The inverse of `as_data`."""
    return ANSWERS.read(hint, data)


def arguments_from_json(
    parameters: Iterable[Parameter], given: Mapping[str, Any]
) -> dict[str, Any]:
    known = parameters_by_spelling(parameters)
    refuse_unknown(given, known)
    return {name: _argument_value(known[name], value) for name, value in given.items()}


def parameters_by_spelling(parameters: Iterable[Parameter]) -> dict[str, Parameter]:
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


def _argument_value(parameter: Parameter, value: Any) -> Any:
    """A path is treated as text: clients must not read the server's files."""
    if parameter.shape is ParameterShape.ORIGINAL and isinstance(value, str):
        if not value.strip() or "\0" in value:
            raise BadText(f"{parameter.name} must be non-empty text.", field=parameter.name)
        return _encoded(value, parameter.name)
    return value


def _encoded(text: str, name: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadText(f"{name} contains a lone surrogate.", field=name) from None


def split_lines(text: str) -> list[str]:
    """Split at line feeds, with or without a carriage return."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def decode_lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield complete lines from chunks that may end anywhere."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line.decode("utf-8").removesuffix("\r") for line in whole)
    if rest:
        yield rest.decode("utf-8").removesuffix("\r")


JSON = "application/json"
LINES = "application/x-ndjson"
BYTES = "application/octet-stream"
EVENTS = "text/event-stream"
TEXT = "text/plain"
DOT = "text/vnd.graphviz"
XML = "application/xml"
PROBLEM = "application/problem+json"


def unexpected_error(report: str, named: str = "") -> CommonplaceError:
    """``report``: how to find the log entry; ``named``: the exception class, if the reader runs the
    program."""
    message = "Internal error"
    return CommonplaceError(
        f"{message}: {named}." if named else f"{message}.",
        remedy=f"Please report it, with {report}.",
    )
