"""The OpenAPI description, made from the table of routes and the types of the verbs."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from commonplace.book import OfKeys
from commonplace.book.verbs.handle import MAX_TURN
from commonplace.errors import InvalidInput, NotFound, all_errors
from commonplace.operations import Parameter, Shape
from commonplace.surfaces.media_types import BYTES, JSON, LINES, PROBLEM, TEXT
from commonplace.surfaces.rest.answering import LONGEST_KEY, OF_GRAPHS
from commonplace.surfaces.rest.example_answers import Examples
from commonplace.surfaces.rest.headers import (
    AGENT,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    IF_NONE_MATCH,
    LAST_EVENT_ID,
    MAY_RESOLVE,
    USER,
)
from commonplace.surfaces.rest.problems import as_problem, status_of
from commonplace.surfaces.rest.routes import ROUTES, Route
from commonplace.surfaces.schemas import (
    AnswerSchemas,
    Schema,
    of_parameter,
    of_request,
    returned_by,
)

# Examples of what stands in paths; ids are such as answers tell.
IN_PATHS = {
    "id": "3f0c9a52-6d1e-4b7a-9a50-2f6f5d9b1c11",
    "conflict": "8b1f3c77-0d52-4a6e-8f19-5f2d4c6e7a90",
    "team": "c2d7a1e4-93b5-4f08-b6d1-7e8a9c0b2f35",
    "member": "dan",
    "name": "city",
    "category": "tasks",
}
SECURITY = {"key": {"type": "http", "scheme": "bearer"}}
WITH_A_KEY: list[dict[str, list[str]]] = [{"key": []}, {}]  # on loopback also without one


@cache
def description() -> Description:
    """Once for all servers of a process: the table does not change."""
    return Description()


class Description:
    """What FastAPI is told of each route; the named schemas are added at the end."""

    def __init__(self) -> None:
        self._answers = AnswerSchemas("#/components/schemas/")
        self.routes = tuple((route, self._of(route)) for route in ROUTES)

    def _of(self, route: Route) -> dict[str, Any]:
        """Arguments for `add_api_route`."""
        operation = route.operation
        return {
            "operation_id": _operation_id(route),
            "summary": operation.help.split(". ")[0].rstrip("."),
            "description": operation.help,
            "tags": [route.path.split("/")[1]],
            "responses": {200: self._answer(route), **_unchanged(route), **problems()},
            "openapi_extra": _extra(route),
        }

    def _answer(self, route: Route) -> dict[str, Any]:
        hint = returned_by(route.operation)
        if route.name == "export":
            return {"description": "Lines of JSON.", "content": {LINES: {"schema": _TEXT}}}
        if route.name == "graph":
            kinds = {kind: {"schema": _TEXT} for kind in OF_GRAPHS.values() if kind != JSON}
            content = {JSON: {"schema": {"type": "object"}}, **kinds}
            return {"description": "The graph, in the format asked for.", "content": content}
        content = {JSON: {"schema": self._answers.of(hint)}}
        if str in typing.get_args(hint):
            data = [each for each in typing.get_args(hint) if each is not str]
            content = {JSON: {"schema": self._answers.of(data[0])}, TEXT: {"schema": _TEXT}}
        return {"description": "The answer.", "content": content}

    def complete(self, whole: dict[str, Any]) -> dict[str, Any]:
        """What FastAPI made of it, with the named schemas, and with examples of the answers: it
        would leave out of them what is null."""
        named = {**self._answers.named, "Me": _ME, "Problem": _PROBLEM}
        whole["components"] = {"schemas": named, "securitySchemes": SECURITY}
        examples = Examples(named)
        for operation in (each for path in whole["paths"].values() for each in path.values()):
            answer = operation["responses"]["200"]["content"].get(JSON)
            if answer is not None:
                answer.setdefault("example", examples.of(answer["schema"]))
        return whole


_NOUNS = {
    "/sources/": "_source",
    "/consent": "_consent",
    "/nodes/merge": "_nodes",
    "/edges/": "_edge",
    "/notes/": "_note",
}
_FORGOTTEN = {"/nodes/": "_node", "/artifacts/": "_artifact"}  # what else is done there says it


def _operation_id(route: Route) -> str:
    """Unique, as two routes may lead to one operation."""
    names = "_by_id" if "{id}" in route.path else ""
    nouns = _NOUNS | _FORGOTTEN if route.name == "forget" else _NOUNS
    noun = next((word for start, word in nouns.items() if route.path.startswith(start)), "")
    return route.operation.verb.strip("_") + noun + names


def _extra(route: Route) -> dict[str, Any]:
    extra: dict[str, Any] = {"parameters": list(_parameters(route)), "security": WITH_A_KEY}
    if not route.takes_query and (content := _content(route)):
        required = any(p.required for p in route.parameters)
        extra["requestBody"] = {"required": required, "content": content}
    return extra


def _parameters(route: Route) -> Iterator[dict[str, Any]]:
    taken = {parameter.name: parameter for parameter in route.operation.parameters}
    for name, parameter in route.in_path.items():
        told = taken[parameter].help if name == parameter else "Its id."
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "schema": of_name_in_path(taken[parameter]),
            "description": told,
            "example": IN_PATHS[name],
        }
    if route.takes_query:
        yield from (_in_query(p, route.example) for p in route.parameters)
    elif route.whole_body:
        yield from (_in_query(p, {}) for p in route.parameters if p is not route.whole_body)
    yield from who_asks()
    if route.operation.of_the_store or route.operation.verb in vars(OfKeys):
        yield _header(USER, "With an admin's key: the user whose keys are looked after.")
    if route.writes and not route.operation.of_the_store:
        told = "A word of your own: the same again within a day is not done twice."
        yield _header(IDEMPOTENCY_KEY, told, maxLength=LONGEST_KEY)
    if route.has_etag:
        name = IF_MATCH if route.writes else IF_NONE_MATCH
        yield _header(name, "The ETag of what you have seen.")


def who_asks() -> Iterator[dict[str, Any]]:
    yield _header(AGENT, "An agent's name: the request is narrowed to what that agent may do.")
    told = "With an agent's name, by the owner: it decides conflicts in the owner's place."
    yield {**_header(MAY_RESOLVE, told), "schema": {"type": "string", "enum": ["true", "false"]}}


def of_the_stream() -> dict[str, Any]:
    since = {"type": "integer", "minimum": 0, "maximum": MAX_TURN}
    told = "The revision to go on from; now when not given."
    number = {"type": "string", "pattern": "^[0-9]{1,18}$"}
    return {
        "parameters": [
            {"name": "since", "in": "query", "description": told, "schema": since, "example": 41},
            {**_header(LAST_EVENT_ID, "Where the last stream broke off."), "schema": number},
            *who_asks(),
        ],
        "security": WITH_A_KEY,
    }


def of_name_in_path(parameter: Parameter) -> Schema:
    """One, also where the verb takes several."""
    schema = of_parameter(parameter)
    one = schema.get("items", schema)
    return {name: told for name, told in one.items() if name not in ("description", "default")}


def _in_query(parameter: Parameter, example: Mapping[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.help,
    }
    if parameter.name in example:
        described["example"] = example[parameter.name]
    schema = {k: v for k, v in of_parameter(parameter).items() if k != "description"}
    if parameter.shape in (Shape.MAP, Shape.MAPS, Shape.VALUE):
        return {**described, "content": {JSON: {"schema": schema}}}
    return {**described, "schema": schema}


def _header(name: str, told: str, **limits: Any) -> dict[str, Any]:
    return {
        "name": name.title(),
        "in": "header",
        "required": False,
        "description": told,
        "schema": {"type": "string", "minLength": 1, "pattern": _WORDS, **limits},
    }


def _content(route: Route) -> dict[str, Any]:
    if not route.parameters:
        return {}
    body: dict[str, Any] = {"schema": of_request(route.parameters)}
    if route.example:
        body["example"] = dict(route.example)
    content = {JSON: body}
    if route.whole_body:
        kind = BYTES if route.whole_body.shape is Shape.ORIGINAL else LINES
        content[kind] = {"schema": {"type": "string", "format": "binary"}}
    return content


def _unchanged(route: Route) -> dict[int | str, dict[str, Any]]:
    if route.has_etag and not route.writes:
        return {304: {"description": "It is as you have seen it."}}
    return {}


def problems() -> dict[int | str, dict[str, Any]]:
    """Every answer that is no success is a problem; these are the ones to expect."""
    statuses = {405, 413, 421, *(status_of(error("")) for error in all_errors())}
    return {
        status: {
            "description": "A problem, with a code and a remedy.",
            "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in sorted(statuses)
    }


_WORDS = "^[!-~]([ -~]*[!-~])?$"  # what a header can hold
_TEXT: Schema = {"type": "string"}
_TEXT_OR_NONE: Schema = {"anyOf": [_TEXT, {"type": "null"}]}
_FLAG: Schema = {"type": "boolean"}
_ME: Schema = {
    "type": "object",
    "description": "Whose memory it is, and who asks.",
    "properties": {
        "user_id": _TEXT,
        "agent": _TEXT_OR_NONE,
        "cleared": _FLAG,
        "may_resolve": _FLAG,
        "read_only": _FLAG,
        "team": _TEXT_OR_NONE,
        "key": _TEXT_OR_NONE,
        "revision": {"type": "integer"},
    },
    "additionalProperties": False,
}
_ME["required"] = list(_ME["properties"])
_PROBLEM: Schema = {
    "type": "object",
    "description": "RFC 9457; the codes are those of every other surface.",
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": _TEXT,
        "code": {"type": "string", "enum": sorted({error.code for error in all_errors()})},
        "remedy": _TEXT,
        "retryable": {"type": "boolean"},
        "field": _TEXT,
    },
    "required": ["type", "title", "status", "detail", "code", "remedy", "retryable"],
    "examples": [
        as_problem(InvalidInput("importance must be from 1 to 5.", field="importance"), 400),
        as_problem(NotFound("There is no 'nowhere' here.", field="id"), 404),
    ],
}
