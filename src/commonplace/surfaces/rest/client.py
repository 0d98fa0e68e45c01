"""A memory on a server, with the verbs of the embedded handle: code moves by changing one line.

me = commonplace.open("memory.db").user("ana")
me = commonplace.connect("http://127.0.0.1:8765", key)
"""

from __future__ import annotations

import inspect
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, wraps
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlencode

from commonplace.answers import as_data
from commonplace.book import User
from commonplace.book.originals import read_original
from commonplace.errors import (
    CommonplaceError,
    InvalidInput,
    NotAllowed,
    NotFound,
    OutcomeUnknown,
    StoreBusy,
    UnknownField,
    all_errors,
)
from commonplace.model import check
from commonplace.model.scope import Principal
from commonplace.operations import BY_NAME, OPERATIONS, Operation, Shape
from commonplace.surfaces.lines import lines_in
from commonplace.surfaces.media_types import BYTES, JSON
from commonplace.surfaces.rest.headers import AGENT, IDEMPOTENCY_KEY, MAY_RESOLVE
from commonplace.surfaces.rest.routes import NOT_OVER_HTTP, PREFIX, Route, routes_of
from commonplace.surfaces.rest.wire import Reply, Wire
from commonplace.surfaces.schemas import read_as, returned_by

_ERRORS = {error.code: error for error in all_errors()}


def connect(url: str, key: str | None = None, *, timeout: float = 60.0) -> RemoteUser:
    """A handle on a memory that a server keeps. Whose memory it is, the key says; a server on
    this machine's loopback needs none. Close it, or use it as a context manager."""
    return RemoteUser(Wire(url, key, timeout))


class RemoteUser(User):
    """Every verb of `User`, asked of a server. Nothing is written twice: the verbs come from the
    table of operations, their answers are the same values, their errors the same classes."""

    def __init__(self, wire: Wire, agent: str | None = None, may_resolve: bool = False):
        self._asking = Principal("")  # who asks, and what they may, the server knows
        self._wire = wire
        self._agent = agent
        self._may_resolve = may_resolve

    def agent(self, name: str, *, may_resolve: bool = False) -> RemoteUser:
        wanted = check.word(name, "agent")
        trusted = check.flag(may_resolve, "may_resolve")
        if self._agent not in (None, wanted):
            raise NotAllowed(f"{self._agent} cannot act as {wanted}.", field="agent")
        if self._agent is not None and trusted and not self._may_resolve:
            raise NotAllowed(
                "Only the owner may let an agent resolve conflicts.", field="may_resolve"
            )
        return RemoteUser(self._wire, wanted, trusted)

    @property
    def principal(self) -> Principal:
        told = self._me()
        return Principal(
            told["user_id"],
            told["agent"],
            cleared=told["cleared"],
            may_resolve=told["may_resolve"] and told["agent"] is not None,
            read_only=told["read_only"],
            key=told["key"],
            team=told["team"],
        )

    @property
    def revision(self) -> int:
        return int(self._me()["revision"])

    def close(self) -> None:
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    def _me(self) -> Any:
        return self._ask("GET", f"{PREFIX}/me").data()

    def _ask(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        media_type: str = JSON,
        *,
        writes: bool = False,
    ) -> Reply:
        headers = self._headers()
        if body is not None:
            headers["content-type"] = media_type
        if writes:  # so that it can be sent again where the answer was lost, and is done once
            headers[IDEMPOTENCY_KEY] = str(uuid.uuid4())
        reply = self._wire.send(method, target, body, headers, writes=writes)
        if reply.is_problem:
            error = error_from(reply)
            if reply.is_second and isinstance(error, StoreBusy):  # with what was sent first
                raise OutcomeUnknown(error.message) from error
            raise error
        return reply

    def _lines(self, method: str, target: str) -> Iterator[str]:
        """As they come: a memory may be larger than what fits in here."""
        reply = self._wire.stream(method, target, self._headers())
        if isinstance(reply, Reply):
            raise error_from(reply)
        return lines_in(reply)

    def _headers(self) -> dict[str, str]:
        if self._agent is None:
            return {}
        return {AGENT: self._agent, MAY_RESOLVE: str(self._may_resolve).lower()}


def error_from(reply: Reply) -> CommonplaceError:
    told = reply.data()
    kind = _ERRORS.get(told["code"], CommonplaceError)
    return kind(told["detail"], remedy=told["remedy"], field=told.get("field"))


# ——— one method for each operation ———


def _verb(operation: Operation) -> Callable[..., Any]:
    @wraps(operation.method)
    def verb(self: RemoteUser, *given: Any, **named: Any) -> Any:
        bound = _signature(operation.method).bind(self, *given, **named).arguments
        arguments = {
            name: _as_list(value)
            for name, value in bound.items()
            if name != "self" and value is not None
        }
        route = _chosen(operation, arguments)
        target, body, media_type = _request(route, arguments)
        if operation.name == "export":
            return self._lines(route.method, target)
        reply = self._ask(route.method, target, body, media_type, writes=route.writes)
        returned = _returned(operation.name)
        if returned is str or reply.media_type != JSON:
            return reply.body.decode("utf-8")
        return read_as(returned, reply.data())

    return verb


def _as_list(value: Any) -> Any:
    """Where the embedded handle takes a list it takes whatever can be gone through once."""
    is_one = isinstance(value, str | bytes | Mapping | Path) or not isinstance(value, Iterable)
    return value if is_one else list(value)


_signature = cache(inspect.signature)  # looked at when first called: importing is quick


@cache
def _returned(operation: str) -> Any:
    return returned_by(BY_NAME[operation])


def _chosen(operation: Operation, arguments: Mapping[str, Any]) -> Route:
    """Of several routes the first that can carry all of it."""
    for route in routes_of(operation.name):
        named = all(_is_one(arguments.get(name)) for name in route.in_path.values())
        if named and not arguments.keys() & set(route.without):
            return route
    return routes_of(operation.name)[-1]


def _is_one(value: Any) -> bool:
    """What a path can name; a dot would be taken for a folder."""
    return isinstance(value, str) and value.strip(".") != ""


def _hold_to_names(route: Route, arguments: Mapping[str, Any]) -> None:
    """What no path can carry, the embedded handle refuses for the most part: so does this one."""
    for name, parameter in route.in_path.items():
        if not _is_one(given := arguments.get(parameter)):
            check.id(given, parameter if name == parameter else "id")
            raise NotFound(f"There is no {given!r} here.", field=parameter)


def _request(route: Route, arguments: Mapping[str, Any]) -> tuple[str, bytes | None, str]:
    """Target, body and the body's type."""
    _hold_to_names(route, arguments)
    rest = dict(arguments)
    path = route.in_full()
    for name, parameter in route.in_path.items():
        path = path.replace(f"{{{name}}}", quote(str(rest.pop(parameter)), safe=""))
    for name in rest:
        if name in route.without:
            raise UnknownField(f"{name} is not available over HTTP.", field=name)
    if route.takes_query:
        return _with_query(path, route, rest), None, JSON
    if route.whole_body and route.whole_body.name in rest:
        whole = _whole(route.whole_body.shape, rest[route.whole_body.name])
        if whole is not None:
            del rest[route.whole_body.name]
            return _with_query(path, route, rest), whole, BYTES
    return path, json.dumps(as_data(rest), default=_refuse).encode("utf-8", "surrogatepass"), JSON


def _whole(shape: Shape, value: Any) -> bytes | None:
    """Originals that are bytes or lie in a file here, and lines, go as they are."""
    if shape is Shape.LINES:
        return "".join(f"{line}\n" for line in value).encode("utf-8")
    raw, name = read_original(value)
    return raw if name is not None or isinstance(value, bytes) else None


def _with_query(path: str, route: Route, arguments: Mapping[str, Any]) -> str:
    shapes = {parameter.name: parameter.shape for parameter in route.parameters}
    pairs: list[tuple[str, str]] = []
    for name, value in as_data(arguments).items():
        for each in value if isinstance(value, list) and shapes[name] is Shape.TEXTS else [value]:
            pairs.append((name, each if isinstance(each, str) else json.dumps(each)))
    return f"{path}?{urlencode(pairs, errors='surrogatepass')}" if pairs else path


def _refuse(value: object) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return list(value)
    raise InvalidInput(f"{type(value).__name__} cannot be sent.", remedy="Give text or numbers.")


def _kept_away(operation: Operation) -> Callable[..., Any]:
    @wraps(operation.method)
    def verb(self: RemoteUser, *given: Any, **named: Any) -> Any:
        raise NotAllowed(NOT_OVER_HTTP[operation.name])

    return verb


for _operation in OPERATIONS:
    if not _operation.of_the_store:
        _made = _kept_away if _operation.name in NOT_OVER_HTTP else _verb
        setattr(RemoteUser, _operation.verb, _made(_operation))
