"""The ways to call an operation: Python, async Python, the command line, REST and its client.

No worker runs beside them: what is answered would depend on how far it has come."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from scenarios import Scenario, Step

import commonplace
from commonplace import aio
from commonplace.api.memories import Verified
from commonplace.errors import CommonplaceError
from commonplace.operations.serialization import JSON, as_data
from commonplace.operations.table import BY_NAME, Operation, ParameterShape
from commonplace.surfaces.cli import main as command_line
from commonplace.surfaces.rest.routes import Route, routes_of
from support.rest_server import Running

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MOMENT = re.compile(r"^\d{4}-\d\d-\d\d([T ].*)?$")
_NOW = re.compile(r"\w+day, \d{4}-\d\d-\d\d, \d\d:\d\d|\d+ \w+ ago|\d{4}-\d\d-\d\d")  # in texts
_PLACE = re.compile(r"^\d{16}~")  # when the last item of a page came
_TOKEN = re.compile(r"cpk_[\w.-]+")

Answer = dict[str, Any]
KEPT_ANSWERS = "kept_answers"  # the table


class PythonFace:
    def __init__(self, url: str):
        self.book = commonplace.open(url, embedder="hashing", worker="off")
        self.given: list[Any] = []  # answers as they came, before they were data

    def call(self, step: Step, arguments: Mapping[str, Any]) -> Any:
        user = self.book.user(step.user)
        operation = BY_NAME[step.operation]
        answer = operation.call(user.agent(step.agent) if step.agent else user, arguments)
        self.book.flush()  # so that read marks are there for the next step, as after a command
        self.given.append(answer)
        return as_data(answer)

    def close(self) -> None:
        self.book.close()


class AsyncFace:
    def __init__(self, url: str):
        self.runner = asyncio.Runner()
        self.book = self.runner.run(aio.open(url, embedder="hashing", worker="off"))

    def call(self, step: Step, arguments: Mapping[str, Any]) -> Any:
        user = self.book.user(step.user)
        user = user.agent(step.agent) if step.agent else user
        verb = getattr(user, BY_NAME[step.operation].verb)
        answer = self.runner.run(verb(**arguments))
        self.runner.run(self.book.flush())
        return as_data(answer)

    def close(self) -> None:
        self.runner.run(self.book.close())
        self.runner.close()


class CommandLineFace:
    """The real entry point, in this process so that a scenario takes no seconds."""

    def __init__(self, url: str, monkeypatch: pytest.MonkeyPatch, capsys: Any):
        self.monkeypatch = monkeypatch
        self.capsys = capsys
        monkeypatch.setenv("COMMONPLACE_WORKER", "off")
        self.options = ["--store", url, "--embedder", "hashing", "--json"]

    def call(self, step: Step, arguments: Mapping[str, Any]) -> Any:
        operation = BY_NAME[step.operation]
        agent = ["--user", step.user] + (["--agent", step.agent] if step.agent else [])
        agent += ["--yes"] if step.yes else []
        words = [*step.operation.split(" "), *self.options, *agent]
        typed = [*words, *typed_arguments(operation, self._piped(operation, arguments))]
        self.monkeypatch.setattr("sys.argv", ["commonplace", *typed])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        printed = self.capsys.readouterr()
        if ended.value.code not in (None, 0) and printed.err:
            raise TypedError(json.loads(printed.err)["error"]["code"], ended.value.code)
        return json.loads(printed.out)

    def _piped(self, operation: Operation, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Content comes in through the pipe; a path is typed."""
        shapes = {p.name: p.shape for p in operation.parameters}
        piped = {}
        for name, value in arguments.items():
            if shapes[name] is ParameterShape.ORIGINAL and isinstance(value, str):
                piped[name] = value
            elif shapes[name] is ParameterShape.LINES:
                piped[name] = "".join(f"{line}\n" for line in value)
            elif name in ("items", "turns"):
                piped[name] = "\n".join(v if isinstance(v, str) else json.dumps(v) for v in value)
        for text in piped.values():
            stream = io.BytesIO(text.encode("utf-8"))
            self.monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream, encoding="utf-8"))
        return {name: "-" if name in piped else value for name, value in arguments.items()}

    def close(self) -> None:
        self.capsys.readouterr()


class ClientFace:
    """The typed client, over a real connection to a real server."""

    def __init__(self, url: str):
        self.book = commonplace.open(url, embedder="hashing", worker="off")
        self.server = Running(self.book)
        self.me = commonplace.connect(self.server.url)
        self.keys: dict[str, str] = {}
        self.given: list[Any] = []

    def key_of(self, user: str) -> str | None:
        """Without one, whoever comes from the same machine is the one whose service it is."""
        if user != "ana" and user not in self.keys:
            self.keys[user] = self.book.user(user).keys_create("theirs").token
        return self.keys.get(user)

    def call(self, step: Step, arguments: Mapping[str, Any]) -> Any:
        key = self.key_of(step.user)
        me = commonplace.connect(self.server.url, key) if key else self.me
        try:
            acting = me.agent(step.agent) if step.agent else me
            answer = BY_NAME[step.operation].call(acting, arguments)
        finally:
            if key:
                me.close()
        self.book.flush()
        if isinstance(answer, Verified):  # answers are kept so that a write can be asked again
            told = [place for place in answer.found_in if place != KEPT_ANSWERS]
            answer = replace(answer, found_in=tuple(told))
        self.given.append(answer)
        return as_data(answer)

    def close(self) -> None:
        self.me.close()
        self.server.stop()
        self.book.close()


class RestFace(ClientFace):
    """Requests as anybody would write them: each operation by every route that leads to it."""

    def call(self, step: Step, arguments: Mapping[str, Any]) -> Any:
        operation = BY_NAME[step.operation]
        routes = [r for r in routes_of(step.operation) if _can_carry(r, arguments)]
        route = routes[len(step.operation) % len(routes)]
        headers = {"commonplace-agent": step.agent} if step.agent else {}
        path, body = _sent(operation, route, dict(arguments))
        answer = self.server.ask(route.method, path, body, headers, key=self.key_of(step.user))
        self.book.flush()
        if answer.status >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            raise TypedError(answer.data["code"], answer.status)
        is_data = answer.headers["content-type"] == JSON and operation.name != "graph"
        return answer.data if is_data else answer.body.decode("utf-8")


def _can_carry(route: Route, arguments: Mapping[str, Any]) -> bool:
    if any(arguments.get(name) is not None for name in route.without):
        return False
    given = [arguments.get(parameter) for parameter in route.in_path.values()]
    return all(isinstance(each, str) or (each and len(each) == 1) for each in given)


def _sent(operation: Operation, route: Route, arguments: dict[str, Any]) -> tuple[str, Any]:
    """The path with its query, and the body. A file that is not there cannot be sent."""
    for name, parameter in route.in_path.items():
        value = arguments.pop(parameter)
        one = value if isinstance(value, str) else value[0]
        route = replace(route, path=route.path.replace(f"{{{name}}}", quote(one, safe="")))
    if any(isinstance(value, Path) for value in arguments.values()):
        raise TypedError("invalid_input", None)
    path = route.in_full()
    if route.method not in ("GET", "DELETE"):
        return path, arguments
    pairs = [
        (name, each if isinstance(each, str) else json.dumps(each))
        for name, value in arguments.items()
        for each in (value if isinstance(value, list) else [value])
    ]
    return f"{path}?{urlencode(pairs)}" if pairs else path, None


class TypedError(Exception):
    def __init__(self, code: str, exit_code: object):
        super().__init__(code)
        self.code = code
        self.exit_code = exit_code


def typed_arguments(operation: Operation, arguments: Mapping[str, Any]) -> list[str]:
    positional: list[str] = []
    options: list[str] = []
    shapes = {parameter.name: parameter.shape for parameter in operation.parameters}
    for name in (*operation.positional, *(n for n in arguments if n not in operation.positional)):
        if name not in arguments:
            continue
        value = arguments[name]
        if name in operation.positional:
            given = value if isinstance(value, list) else [value]
            positional += [json.dumps(v) if isinstance(v, dict) else str(v) for v in given]
        else:
            options += _typed_option(name, shapes[name], value)
    return [*options, "--", *positional] if positional else options


def _typed_option(name: str, shape: ParameterShape, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    match shape:
        case ParameterShape.FLAG:
            return [flag] if value else [f"--no-{name}"]
        case ParameterShape.TEXTS:
            return [part for item in value for part in (flag, item)]
        case ParameterShape.MAP:
            return [part for key, item in value.items() for part in (flag, f"{key}={item}")]
        case _:
            return [flag, str(value)]


def play(face: Any, scenario: Scenario) -> list[Any]:
    """The transcript of a scenario: answers and error codes, with ids and times made equal."""
    saved: dict[str, str] = {}
    ids: dict[str, str] = {}
    transcript: list[Any] = []
    for step in scenario.steps:
        try:
            answer = face.call(step, _filled(step.arguments, saved))
        except (CommonplaceError, TypedError) as error:
            answer, code = {"error": error.code}, error.code
        else:
            code = None
        assert code == step.error, f"{step} gave {answer}"
        if step.save:
            saved[step.save] = answer["id"]
        if step.ask:
            saved[step.ask] = answer["conflict"]
        transcript.append(_comparable(answer, ids))
    return transcript


def _filled(arguments: Mapping[str, Any], saved: Mapping[str, str]) -> dict[str, Any]:
    def fill(value: Any) -> Any:
        if isinstance(value, str) and value.startswith("$"):
            name, rest = re.fullmatch(r"\$(\w+)(.*)", value).groups()  # such as @1, #2
            return saved[name] + rest
        return [fill(item) for item in value] if isinstance(value, list) else value

    return {name: fill(value) for name, value in arguments.items()}


def _comparable(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, dict):
        timed = {name: 0 for name in ("seconds",) if name in value}  # how long it took
        return {name: _comparable(item, ids) for name, item in (value | timed).items()}
    if isinstance(value, list):
        return [_comparable(item, ids) for item in value]
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, str):
        value = _TOKEN.sub("a token", value)
        placed = _PLACE.sub("time~", value)
        named = _UUID.sub(lambda found: ids.setdefault(found[0], f"id-{len(ids)}"), placed)
        return "a moment" if _MOMENT.match(named) else _NOW.sub("then", named)
    return value
