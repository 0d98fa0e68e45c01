"""The OpenAPI description with example answers, generated from routes and types."""

from __future__ import annotations

import tomllib
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from commonplace.api import KeyVerbs
from commonplace.api.handle import MAX_TURN
from commonplace.errors import InvalidInput, NotFound, all_errors
from commonplace.operations.schemas import (
    AnswerSchemas,
    Schema,
    parameter_schema,
    request_schema,
    return_type_of,
)
from commonplace.operations.serialization import BYTES, JSON, LINES, PROBLEM, TEXT
from commonplace.operations.table import Operation, Parameter, ParameterShape
from commonplace.surfaces.rest.endpoints import GRAPH_MEDIA_TYPES, MAX_IDEMPOTENCY_KEY
from commonplace.surfaces.rest.problems import problem_data, status_of
from commonplace.surfaces.rest.routes import (
    AGENT,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    IF_NONE_MATCH,
    LAST_EVENT_ID,
    MAY_RESOLVE,
    PREFIX,
    ROUTES,
    USER,
    Route,
)

_EXAMPLE_DATES = {"date-time": "2026-03-02T09:00:00+00:00", "date": "2026-03-02"}
_EXAMPLE_SCALARS: Mapping[str, Any] = {"boolean": False, "integer": 1, "number": 1.0, "null": None}


class ExampleAnswers:
    """`named`: the schemas that others reference."""

    def __init__(self, named: Mapping[str, Schema]):
        self._named = named

    def of(self, schema: Schema) -> Any:
        return self._value("", schema, ())

    def _value(self, field: str, schema: Schema, within: tuple[str, ...]) -> Any:
        """`within`: the names of the enclosing schemas, to end recursion."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[-1]
            return self._object(self._named[name], (*within, name))
        if "anyOf" in schema:
            return self._value(field, _example_alternative(field, schema["anyOf"]), within)
        if "enum" in schema:
            usual = _example_table("words").get(field)
            return usual if usual in schema["enum"] else schema["enum"][0]
        match schema.get("type"):
            case "object":
                return self._object(schema, within)
            case "array":
                return self._items(field, schema["items"], within)
            case "string":
                return _EXAMPLE_DATES.get(schema.get("format", "")) or _example_table("words").get(
                    field, field
                )
            case "integer" | "number" as number:
                return _example_table("numbers").get(field, _EXAMPLE_SCALARS[number])
            case plain:
                return _EXAMPLE_SCALARS[plain] if plain else "Haifa"  # any type

    def _object(self, schema: Schema, within: tuple[str, ...]) -> dict[str, Any]:
        held = schema.get("properties", {})
        return {name: self._value(name, each, within) for name, each in held.items()}

    def _items(self, field: str, item: Schema, within: tuple[str, ...]) -> list[Any]:
        """One item for schemas with fields; others are in the example table."""
        name = item.get("$ref", "").rsplit("/", 1)[-1]
        if not name or name in within:
            return list(_example_table("lists").get(field, ()))
        return [self._value(field, item, within)]


def _example_alternative(field: str, alternatives: list[Schema]) -> Schema:
    """Null for nullable fields, unless the example table has a value; else the first."""
    nothing = [each for each in alternatives if each.get("type") == "null"]
    return (
        nothing[0]
        if nothing and field not in _example_table("lists")["filled"]
        else alternatives[0]
    )


@cache
def _example_table(sort: str) -> Mapping[str, Any]:
    file = resources.files("commonplace.surfaces.rest").joinpath("example_answers.toml")
    table: Mapping[str, Any] = tomllib.loads(file.read_text("utf-8"))[sort]
    return table


# Examples of path parameters.
PATH_EXAMPLES = {
    "id": "3f0c9a52-6d1e-4b7a-9a50-2f6f5d9b1c11",
    "conflict": "8b1f3c77-0d52-4a6e-8f19-5f2d4c6e7a90",
    "team": "c2d7a1e4-93b5-4f08-b6d1-7e8a9c0b2f35",
    "member": "dan",
    "run": "sleep:5c0b1d7e-2f64-4a39-8d1c-90e7b3a4f612",
    "name": "city",
    "category": "tasks",
}
SECURITY = {"key": {"type": "http", "scheme": "bearer"}}
KEY_SECURITY: list[dict[str, list[str]]] = [{"key": []}]  # or the server's token


@cache
def openapi_description() -> OpenApiDescription:
    """Cached for all servers of a process."""
    return OpenApiDescription()


class OpenApiDescription:
    """FastAPI's arguments for each route; the named schemas are added at the end."""

    def __init__(self) -> None:
        self._answers = AnswerSchemas("#/components/schemas/")
        self.routes = tuple((route, self._of(route)) for route in ROUTES)

    def _of(self, route: Route) -> dict[str, Any]:
        """Arguments for `add_api_route`."""
        return {
            "operation_id": _operation_id(route),
            "summary": _about(route).split(". ")[0].rstrip("."),
            "description": _about(route),
            "tags": [subject_of(route.in_full())],
            "responses": {200: self._answer(route), **_not_modified(route), **problem_responses()},
            "openapi_extra": _extra(route),
        }

    def _answer(self, route: Route) -> dict[str, Any]:
        hint = return_type_of(route.operation)
        if route.name == "export":
            return {"description": "Lines of JSON.", "content": {LINES: {"schema": _TEXT}}}
        if route.name == "graph":
            kinds = {kind: {"schema": _TEXT} for kind in GRAPH_MEDIA_TYPES.values() if kind != JSON}
            content = {JSON: {"schema": {"type": "object"}}, **kinds}
            return {"description": "The graph, in the requested format.", "content": content}
        content = {JSON: {"schema": self._answers.of(hint)}}
        if str in typing.get_args(hint):
            data = [each for each in typing.get_args(hint) if each is not str]
            content = {JSON: {"schema": self._answers.of(data[0])}, TEXT: {"schema": _TEXT}}
        return {"description": "The answer.", "content": content}

    def complete(self, whole: dict[str, Any]) -> dict[str, Any]:
        """FastAPI's description with the named schemas and example answers; FastAPI would drop null
        values from examples."""
        named = {**self._answers.named, "Me": _ME, "Problem": _PROBLEM}
        whole["components"] = {"schemas": named, "securitySchemes": SECURITY}
        examples = ExampleAnswers(named)
        for operation in (each for path in whole["paths"].values() for each in path.values()):
            answer = operation["responses"]["200"]["content"].get(JSON)
            if answer is not None:
                answer.setdefault("example", examples.of(answer["schema"]))
        whole["paths"] = dict(sorted(whole["paths"].items(), key=lambda item: _order(item[0])))
        whole["tags"] = [{"name": subject} for subject in SUBJECTS]
        return whole


# The subjects of the page of the API in order, and the beginnings of their paths.
SUBJECTS: Mapping[str, str] = {
    "recall": "recall memory context understand why",
    "remember": "memories observe update conflicts forget-requests",
    "forget": "forget restore erase verify-forget",
    "sources": "sources memory/extract artifacts",
    "graph": "explore traverse people concepts entities storylines macros nodes edges notes "
    "contributions graph",
    "profile": "profile consent categories abbreviations",
    "history": "changes change-log events",
    "teams": "teams",
    "keys": "keys admin",
    "maintenance": "stats doctor tidy sleep jobs model export import",
    "server": "me healthz readyz metrics",
}
_SUBJECT_OF = {word: subject for subject, words in SUBJECTS.items() for word in words.split()}
_WORDS = list(_SUBJECT_OF)


def subject_of(path: str) -> str:
    return _SUBJECT_OF[_noun(path)]


def _order(path: str) -> int:
    return _WORDS.index(_noun(path))


def _noun(path: str) -> str:
    first, *rest = path.removeprefix(PREFIX).strip("/").split("/")
    both = f"{first}/{rest[0]}" if rest else first
    return both if both in _SUBJECT_OF else first


# Routes whose operation takes items of all kinds; for the others its help says what they do.
_ABOUT: Mapping[tuple[str, str], str] = {
    ("GET", "/memories/{id}"): "One memory whole. With its versions, links and evidence.",
    ("GET", "/sources/{id}"): "One source whole. With its passages; a passage by its own id.",
    ("GET", "/edges/{id}"): "One edge whole. With its evidence and its ends.",
    ("GET", "/storylines/{id}"): "One storyline whole. With its sources.",
    ("GET", "/macros/{id}"): "One macro whole. With its storylines.",
    ("GET", "/memories/{id}/history"): "The history of a memory. What changed, when and by whom.",
    ("GET", "/sources/{id}/history"): "The history of a source. What changed, when and by whom.",
    ("PATCH", "/memories/{id}"): "Change a memory. A new content makes a new version.",
    ("POST", "/memories/merge"): "Merge memories into one. The originals become history.",
    ("POST", "/nodes/merge"): "Merge nodes that are the same. By id or name; split undoes it.",
    ("DELETE", "/memories/{id}"): "Forget a memory. It can be restored for some days.",
    ("DELETE", "/sources/{id}"): "Forget a source. It can be restored for some days.",
    ("DELETE", "/nodes/{id}"): "Forget a node. It can be restored for some days.",
    ("DELETE", "/edges/{id}"): "Forget an edge. It can be restored for some days.",
    ("DELETE", "/notes/{id}"): "Forget a note. It can be restored for some days.",
    ("DELETE", "/artifacts/{id}"): "Forget an artifact. It can be restored for some days.",
    ("POST", "/memories/{id}/restore"): "Restore a forgotten memory. Until it is purged.",
    ("POST", "/sources/{id}/restore"): "Restore a forgotten source. Until it is purged.",
    ("POST", "/memories/{id}/erase"): "Erase a memory for good. It cannot be restored.",
    ("POST", "/sources/{id}/erase"): "Erase a source for good. It cannot be restored.",
}


def _about(route: Route) -> str:
    return _ABOUT.get((route.method, route.path), route.operation.help)


_ID_SUFFIXES = {
    "/sources/": "_source",
    "/consent": "_consent",
    "/nodes/merge": "_nodes",
    "/edges/": "_edge",
    "/notes/": "_note",
    "/storylines/": "_storyline",
    "/macros/": "_macro",
}
_FORGET_ID_SUFFIXES = {
    "/nodes/": "_node",
    "/artifacts/": "_artifact",
}  # the other operations on that path document it


def _operation_id(route: Route) -> str:
    """Unique for each route: two routes may have the same operation."""
    names = "_by_id" if "{id}" in route.path else ""
    nouns = _ID_SUFFIXES | _FORGET_ID_SUFFIXES if route.name == "forget" else _ID_SUFFIXES
    noun = next((word for start, word in nouns.items() if route.path.startswith(start)), "")
    return route.operation.verb.strip("_") + noun + names


def _extra(route: Route) -> dict[str, Any]:
    extra: dict[str, Any] = {"parameters": list(_parameters(route)), "security": KEY_SECURITY}
    if not route.takes_query and (content := _content(route)):
        required = any(p.required for p in route.parameters)
        extra["requestBody"] = {"required": required, "content": content}
    return extra


def _parameters(route: Route) -> Iterator[dict[str, Any]]:
    taken = {parameter.name: parameter for parameter in route.operation.parameters}
    for name, parameter in route.in_path.items():
        description = taken[parameter].help if name == parameter else "Id of the item."
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "schema": path_parameter_schema(taken[parameter]),
            "description": description,
            "example": PATH_EXAMPLES[name],
        }
    if route.takes_query:
        yield from (_query_parameter(p, route.example) for p in route.parameters)
    elif route.whole_body:
        yield from (_query_parameter(p, {}) for p in route.parameters if p is not route.whole_body)
    yield from agent_headers()
    yield from _user_header(route.operation)
    if route.writes and not route.operation.of_the_store:
        description = (
            "A text of your choice: a repeated request with it within a day is not run again."
        )
        yield _header(IDEMPOTENCY_KEY, description, maxLength=MAX_IDEMPOTENCY_KEY)
    if route.has_etag:
        name = IF_MATCH if route.writes else IF_NONE_MATCH
        yield _header(name, "ETag of the version that you have.")


def _user_header(operation: Operation) -> Iterator[dict[str, Any]]:
    if operation.verb in vars(KeyVerbs):
        yield _header(USER, "With an admin API key: the user whose keys are managed.")
    elif not operation.of_the_store:
        yield user_header()


def user_header() -> dict[str, Any]:
    return _header(USER, "With a service API key: the user whom the request acts for.")


def agent_headers() -> Iterator[dict[str, Any]]:
    yield _header(AGENT, "Name of an agent: the request has the rights of this agent only.")
    description = "Sent by the owner with the name of an agent: the agent may resolve conflicts."
    yield {
        **_header(MAY_RESOLVE, description),
        "schema": {"type": "string", "enum": ["true", "false"]},
    }


def stream_operation() -> dict[str, Any]:
    since = {"type": "integer", "minimum": 0, "maximum": MAX_TURN}
    description = "Revision to start after; default: the current one."
    number = {"type": "string", "pattern": "^[0-9]{1,18}$"}
    return {
        "parameters": [
            {
                "name": "since",
                "in": "query",
                "description": description,
                "schema": since,
                "example": 41,
            },
            {
                **_header(LAST_EVENT_ID, "Last event id that was received, to resume a stream."),
                "schema": number,
            },
            *agent_headers(),
            user_header(),
        ],
        "security": KEY_SECURITY,
    }


def path_parameter_schema(parameter: Parameter) -> Schema:
    """The schema of a single value, even if the verb takes several."""
    schema = parameter_schema(parameter)
    one = schema.get("items", schema)
    return {name: value for name, value in one.items() if name not in ("description", "default")}


def _query_parameter(parameter: Parameter, example: Mapping[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.help,
    }
    if parameter.name in example:
        described["example"] = example[parameter.name]
    schema = {k: v for k, v in parameter_schema(parameter).items() if k != "description"}
    if parameter.shape in (ParameterShape.MAP, ParameterShape.MAPS, ParameterShape.VALUE):
        return {**described, "content": {JSON: {"schema": schema}}}
    return {**described, "schema": schema}


def _header(name: str, description: str, **limits: Any) -> dict[str, Any]:
    return {
        "name": name.title(),
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string", "minLength": 1, "pattern": _HEADER_PATTERN, **limits},
    }


def _content(route: Route) -> dict[str, Any]:
    if not route.parameters:
        return {}
    body: dict[str, Any] = {"schema": request_schema(route.parameters)}
    if route.example:
        body["example"] = dict(route.example)
    content = {JSON: body}
    if route.whole_body:
        kind = BYTES if route.whole_body.shape is ParameterShape.ORIGINAL else LINES
        content[kind] = {"schema": {"type": "string", "format": "binary"}}
    return content


def _not_modified(route: Route) -> dict[int | str, dict[str, Any]]:
    if route.has_etag and not route.writes:
        return {304: {"description": "Not modified."}}
    return {}


def problem_responses() -> dict[int | str, dict[str, Any]]:
    """The usual error answers, all of them RFC 9457 problems."""
    statuses = {405, 413, 421, *(status_of(error("")) for error in all_errors())}
    return {
        status: {
            "description": "A problem, with a code and a remedy.",
            "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in sorted(statuses)
    }


_HEADER_PATTERN = "^[!-~]([ -~]*[!-~])?$"  # valid header values
_TEXT: Schema = {"type": "string"}
_TEXT_OR_NONE: Schema = {"anyOf": [_TEXT, {"type": "null"}]}
_FLAG: Schema = {"type": "boolean"}
_ME: Schema = {
    "type": "object",
    "description": "The user, the caller and its rights.",
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
    "description": "An error in the format of RFC 9457; the codes are the same on all surfaces.",
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
        problem_data(InvalidInput("importance must be from 1 to 5.", field="importance"), 400),
        problem_data(NotFound("There is no 'nowhere' here.", field="id"), 404),
    ],
}
