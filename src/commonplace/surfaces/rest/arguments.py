"""From a request to a verb's arguments. What the values may be, the verb itself checks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from commonplace.errors import BadText, InvalidInput
from commonplace.operations import Parameter, Shape
from commonplace.surfaces.given import by_spelling, from_json, refuse_missing, refuse_unknown
from commonplace.surfaces.lines import lines_of
from commonplace.surfaces.media_types import JSON
from commonplace.surfaces.rest.routes import Route

_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def arguments_from(
    route: Route,
    path: Mapping[str, str],
    query: Sequence[tuple[str, str]],
    media_type: str,
    body: bytes,
) -> dict[str, Any]:
    arguments = from_path(route, path)
    if route.takes_query:
        arguments |= _from_query(route.parameters, query)
    elif route.whole_body and body and not media_type.startswith(JSON):
        beside = [p for p in route.parameters if p is not route.whole_body]
        arguments |= _from_query(beside, query)
        arguments[route.whole_body.name] = _whole(route.whole_body, body)
    else:
        refuse_unknown((name for name, _ in query), ())
        arguments |= _from_body(route, body, media_type)
    refuse_missing(route.parameters, arguments)
    return arguments


def from_path(route: Route, path: Mapping[str, str]) -> dict[str, Any]:
    """A slash within a name has come as a NUL (see `gate.path_of`)."""
    named = {name: value.replace("\0", "/") for name, value in path.items()}
    return {
        parameter: named[name] if name == parameter else [named[name]]
        for name, parameter in route.in_path.items()
    }


# ——— the query ———


def _from_query(
    parameters: Iterable[Parameter], query: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    known = by_spelling(parameters)
    refuse_unknown((name for name, _ in query), known)
    values: dict[str, list[str]] = {}
    for name, value in query:
        values.setdefault(known[name].name, []).append(value)
    return {name: _understood(known[name], given) for name, given in values.items()}


def _understood(parameter: Parameter, given: list[str]) -> Any:
    """One word of a query, or as many as there are where the verb takes several."""
    name = parameter.name
    if parameter.shape is Shape.TEXTS:
        return given
    if len(given) > 1:
        raise InvalidInput(f"{name} is given twice.", field=name)
    word = given[0]
    match parameter.shape:
        case Shape.INTEGER | Shape.NUMBER | Shape.FLAG:
            return _scalar(parameter.shape, name, word)
        case Shape.MAP | Shape.MAPS | Shape.VALUE:
            return parsed(word, name)
        case _:
            return word


def _scalar(shape: Shape, name: str, word: str) -> Any:
    if shape is Shape.FLAG:
        if word.lower() not in _FLAGS:
            raise InvalidInput(f"{name} must be true or false.", field=name)
        return _FLAGS[word.lower()]
    try:
        return int(word) if shape is Shape.INTEGER else float(word)
    except ValueError:
        wanted = "a whole number" if shape is Shape.INTEGER else "a number"
        raise InvalidInput(f"{name} must be {wanted}.", field=name) from None


# ——— the body ———


def _from_body(route: Route, body: bytes, media_type: str) -> dict[str, Any]:
    if not body:
        return {}
    if not media_type.startswith(JSON):
        raise InvalidInput(
            "The body must be JSON.", remedy=f"Send it with Content-Type: {JSON}.", field="body"
        )
    given = parsed(decoded(body), "body")
    if not isinstance(given, dict):
        raise InvalidInput("The body must be a JSON object.", field="body")
    return from_json(route.parameters, given)


def _whole(parameter: Parameter, body: bytes) -> Any:
    return body if parameter.shape is Shape.ORIGINAL else lines_of(decoded(body))


def decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise BadText("The body is not UTF-8.", field="body") from None


def parsed(text: str, name: str) -> Any:
    """JSON, and nothing that only some readers of it take: no NaN, no name given twice."""
    try:
        return json.loads(text, object_pairs_hook=_once_each, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        told = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InvalidInput(f"{name} is not valid JSON: {told}.", field=name) from None


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("a name is given twice")
    return named


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is no number")
