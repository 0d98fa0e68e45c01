"""The REST client: every verb of User, called on a server.

me = commonplace.open("memory.db").user("ana")
me = commonplace.connect("http://127.0.0.1:8765", key)
"""

from __future__ import annotations

import http.client
import inspect
import json
import ssl
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, wraps
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

from commonplace.api import User
from commonplace.api.sources import load_original
from commonplace.errors import (
    BadSettings,
    CommonplaceError,
    InvalidInput,
    NotAllowed,
    NotFound,
    OutcomeUnknown,
    StoreBusy,
    StoreError,
    StoreUnavailable,
    UnknownField,
    all_errors,
)
from commonplace.model import validation
from commonplace.model.access.principal import Principal
from commonplace.operations.schemas import return_type_of
from commonplace.operations.serialization import BYTES, JSON, as_data, decode_lines, value_from_data
from commonplace.operations.table import BY_NAME, OPERATIONS, Operation, ParameterShape
from commonplace.surfaces.rest.local_token import load_token
from commonplace.surfaces.rest.request_checks import is_loopback
from commonplace.surfaces.rest.routes import (
    AGENT,
    IDEMPOTENCY_KEY,
    MAY_RESOLVE,
    NOT_OVER_HTTP,
    PREFIX,
    USER,
    Route,
    encode_header,
    routes_of,
)

HTTP_PORT = 80
IDLE_SECONDS = 30  # an older idle connection is not reused: the server may have closed it
CHUNK_BYTES = 64 * 1024  # read size of a streamed answer
_REMEDY = "Check the address and that the server runs, then call again."


@dataclass(frozen=True, slots=True)
class ServerReply:
    status: int
    media_type: str
    body: bytes
    is_second: bool = False  # the answer to a retry

    @property
    def is_problem(self) -> bool:
        return self.status >= 400

    def data(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError:
            raise StoreUnavailable(
                f"The server gave an answer of status {self.status} that is not Commonplace's.",
                remedy="Check the server address.",
            ) from None


class ServerConnection:
    def __init__(self, url: str, key: str | None, timeout: float, user: str | None = None):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise BadSettings(
                "The server address must be http://host:port or https://host.", field="url"
            )
        if key and parts.scheme == "http" and not is_loopback(parts.hostname):
            raise BadSettings(
                "The API key would be sent unencrypted.", remedy="Use https.", field="url"
            )
        if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
            raise BadSettings(
                "The API key contains a space or a non-ASCII character.",
                remedy="Copy it again, on one line.",
                field="key",
            )
        self._parts = parts
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        if user is not None:
            self._headers[USER] = encode_header(validation.word(user, "user"))
        self._timeout = timeout
        self._mine = threading.local()
        self._all: set[http.client.HTTPConnection] = set()

    def send(
        self,
        method: str,
        target: str,
        body: bytes | None,
        headers: Mapping[str, str],
        *,
        writes: bool,
    ) -> ServerReply:
        """Retry once if the connection breaks: reads change nothing, and writes have an idempotency
        key, so the server executes them once."""
        for is_second in (False, True):
            try:
                reply = self._send(method, target, body, {**self._headers, **headers})
                return replace(reply, is_second=is_second)
            except (OSError, http.client.HTTPException) as error:
                self._drop()
                is_slow = isinstance(error, TimeoutError)  # the server may still be working
                if is_second or (writes and is_slow):
                    raise self._broken(error, writes) from error
            except (
                StoreUnavailable
            ) as error:  # the retry was not sent, but the first attempt may have been
                raise self._broken(error, writes) if is_second else error from error
        raise AssertionError("the second try returns or raises")

    def _send(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> ServerReply:
        connection = self._connection()
        path = self._parts.path.rstrip("/") + target
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        content = answer.read()
        self._mine.used_at = time.monotonic()
        return ServerReply(answer.status, answer.headers.get_content_type(), content)

    def stream(
        self, method: str, target: str, headers: Mapping[str, str]
    ) -> ServerReply | Iterator[bytes]:
        """Stream a long answer over a separate connection, so that other requests can be sent
        meanwhile; a problem is returned whole."""
        connection = self._connected()
        try:
            path = self._parts.path.rstrip("/") + target
            connection.request(method, path, None, {**self._headers, **headers})
            answer = connection.getresponse()
            if answer.status < 400:
                return self._pieces(connection, answer)
            reply = ServerReply(answer.status, answer.headers.get_content_type(), answer.read())
        except (OSError, http.client.HTTPException) as error:
            self._end(connection)
            raise self._broken(error, writes=False) from error
        self._end(connection)
        return reply

    def _pieces(
        self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse
    ) -> Iterator[bytes]:
        try:
            while piece := answer.read1(CHUNK_BYTES):
                yield piece
        except (OSError, http.client.HTTPException) as error:
            raise self._broken(error, writes=False) from error
        finally:
            answer.close()
            self._end(connection)

    def _broken(self, error: Exception, writes: bool) -> StoreError:
        message = f"{self._parts.netloc} gave no answer: {type(error).__name__}."
        return OutcomeUnknown(message) if writes else StoreUnavailable(message, remedy=_REMEDY)

    def _connection(self) -> http.client.HTTPConnection:
        """The connection of this thread."""
        known: http.client.HTTPConnection | None = getattr(self._mine, "connection", None)
        if known is not None and time.monotonic() - self._mine.used_at < IDLE_SECONDS:
            return known
        self._drop()
        made = self._connected()
        self._mine.connection, self._mine.used_at = made, time.monotonic()
        return made

    def _connected(self) -> http.client.HTTPConnection:
        made = self._open()
        try:
            made.connect()
        except (OSError, http.client.HTTPException) as error:
            message = f"{self._parts.netloc} cannot be reached: {type(error).__name__}."
            raise StoreUnavailable(message, remedy=_REMEDY) from error
        self._all.add(made)
        return made

    def _open(self) -> http.client.HTTPConnection:
        host, port = str(self._parts.hostname), self._parts.port
        if self._parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self._timeout)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=context)

    def _drop(self) -> None:
        known: http.client.HTTPConnection | None = getattr(self._mine, "connection", None)
        if known is not None:
            self._end(known)
            self._mine.connection = None

    def _end(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        self._all.discard(connection)

    def close(self) -> None:
        for connection in tuple(self._all):
            connection.close()


_ERRORS = {error.code: error for error in all_errors()}


def connect(
    url: str, key: str | None = None, *, user: str | None = None, timeout: float = 60.0
) -> RemoteUser:
    """A handle on a memory of a server. The key determines the user, and with a service key
    ``user`` does; for a server that this account started on the loopback address, its token is
    found. Close it, or use it as a context manager."""
    return RemoteUser(ServerConnection(url, key or local_token(url), timeout, user))


def local_token(url: str) -> str | None:
    """The token of a server on this machine; it is sent to the port that it belongs to."""
    try:
        parts = urlsplit(url)
        is_local = parts.scheme == "http" and is_loopback(parts.hostname or "")
        return load_token(parts.port or HTTP_PORT) if is_local else None
    except ValueError:  # reported by `ServerConnection`
        return None


class RemoteUser(User):
    """Every verb of `User`, called on a server. The verbs are generated from the table of
    operations; answers and errors have the same classes as in process."""

    def __init__(self, wire: ServerConnection, agent: str | None = None, may_resolve: bool = False):
        self._caller = Principal("")  # the server determines the caller and its rights
        self._wire = wire
        self._agent = agent
        self._may_resolve = may_resolve

    def agent(self, name: str, *, may_resolve: bool = False) -> RemoteUser:
        agent_name = validation.word(name, "agent")
        trusted = validation.flag(may_resolve, "may_resolve")
        if self._agent not in (None, agent_name):
            raise NotAllowed(f"{self._agent} cannot act as {agent_name}.", field="agent")
        if self._agent is not None and trusted and not self._may_resolve:
            raise NotAllowed(
                "Only the owner may let an agent resolve conflicts.", field="may_resolve"
            )
        return RemoteUser(self._wire, agent_name, trusted)

    @property
    def principal(self) -> Principal:
        me = self._me()
        return Principal(
            me["user_id"],
            me["agent"],
            cleared=me["cleared"],
            may_resolve=me["may_resolve"] and me["agent"] is not None,
            read_only=me["read_only"],
            key=me["key"],
            team=me["team"],
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
    ) -> ServerReply:
        headers = self._headers()
        if body is not None:
            headers["content-type"] = media_type
        if writes:  # allows a retry if the answer was lost
            headers[IDEMPOTENCY_KEY] = str(uuid.uuid4())
        reply = self._wire.send(method, target, body, headers, writes=writes)
        if reply.is_problem:
            error = error_from(reply)
            if reply.is_second and isinstance(
                error, StoreBusy
            ):  # the first attempt is still running
                raise OutcomeUnknown(error.message) from error
            raise error
        return reply

    def _lines(self, method: str, target: str) -> Iterator[str]:
        """Streamed: an export may not fit into memory."""
        reply = self._wire.stream(method, target, self._headers())
        if isinstance(reply, ServerReply):
            raise error_from(reply)
        return decode_lines(reply)

    def _headers(self) -> dict[str, str]:
        if self._agent is None:
            return {}
        return {AGENT: encode_header(self._agent), MAY_RESOLVE: str(self._may_resolve).lower()}


def error_from(reply: ServerReply) -> CommonplaceError:
    problem = reply.data()
    kind = _ERRORS.get(problem["code"], CommonplaceError)
    return kind(problem["detail"], remedy=problem["remedy"], field=problem.get("field"))


# ——— one method for each operation ———


def _remote_verb(operation: Operation) -> Callable[..., Any]:
    @wraps(operation.method)
    def verb(self: RemoteUser, *given: Any, **named: Any) -> Any:
        bound = _signature(operation.method).bind(self, *given, **named).arguments
        arguments = {
            name: _as_list(value)
            for name, value in bound.items()
            if name != "self" and value is not None
        }
        route = _choose_route(operation, arguments)
        target, body, media_type = _request(route, arguments)
        if operation.name == "export":
            return self._lines(route.method, target)
        reply = self._ask(route.method, target, body, media_type, writes=route.writes)
        returned = _return_type(operation.name)
        if returned is str or reply.media_type != JSON:
            return reply.body.decode("utf-8")
        return value_from_data(returned, reply.data())

    return verb


def _as_list(value: Any) -> Any:
    """Accept any iterable for a list, like the in-process handle."""
    is_one = isinstance(value, str | bytes | Mapping | Path) or not isinstance(value, Iterable)
    return value if is_one else list(value)


_signature = cache(inspect.signature)  # computed on the first call, to keep the import fast


@cache
def _return_type(operation: str) -> Any:
    return return_type_of(BY_NAME[operation])


def _choose_route(operation: Operation, arguments: Mapping[str, Any]) -> Route:
    """The first route that takes all of these arguments."""
    for route in routes_of(operation.name):
        named = all(_fits_in_path(arguments.get(name)) for name in route.in_path.values())
        if named and not arguments.keys() & set(route.without):
            return route
    return routes_of(operation.name)[-1]


def _fits_in_path(value: Any) -> bool:
    """True if a path segment can hold the value; dots would be resolved."""
    return isinstance(value, str) and value.strip(".") != ""


def _check_path_names(route: Route, arguments: Mapping[str, Any]) -> None:
    """Reject values that no path can hold, most of which the in-process handle rejects, too."""
    for name, parameter in route.in_path.items():
        if not _fits_in_path(given := arguments.get(parameter)):
            validation.id(given, parameter if name == parameter else "id")
            raise NotFound(f"There is no {given!r} here.", field=parameter)


def _request(route: Route, arguments: Mapping[str, Any]) -> tuple[str, bytes | None, str]:
    """Target, body and media type."""
    _check_path_names(route, arguments)
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
        whole = _whole_body(route.whole_body.shape, rest[route.whole_body.name])
        if whole is not None:
            del rest[route.whole_body.name]
            return _with_query(path, route, rest), whole, BYTES
    return (
        path,
        json.dumps(as_data(rest), default=_json_default).encode("utf-8", "surrogatepass"),
        JSON,
    )


def _whole_body(shape: ParameterShape, value: Any) -> bytes | None:
    """Bytes, local files and lines are sent unchanged."""
    if shape is ParameterShape.LINES:
        return "".join(f"{line}\n" for line in value).encode("utf-8")
    raw, name = load_original(value)
    return raw if name is not None or isinstance(value, bytes) else None


def _with_query(path: str, route: Route, arguments: Mapping[str, Any]) -> str:
    shapes = {parameter.name: parameter.shape for parameter in route.parameters}
    pairs: list[tuple[str, str]] = []
    for name, value in as_data(arguments).items():
        for each in (
            value if isinstance(value, list) and shapes[name] is ParameterShape.TEXTS else [value]
        ):
            pairs.append((name, each if isinstance(each, str) else json.dumps(each)))
    return f"{path}?{urlencode(pairs, errors='surrogatepass')}" if pairs else path


def _json_default(value: object) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return list(value)
    raise InvalidInput(f"{type(value).__name__} cannot be sent.", remedy="Give text or numbers.")


def _refused_verb(operation: Operation) -> Callable[..., Any]:
    @wraps(operation.method)
    def verb(self: RemoteUser, *given: Any, **named: Any) -> Any:
        raise NotAllowed(NOT_OVER_HTTP[operation.name])

    return verb


for _operation in OPERATIONS:
    if not _operation.of_the_store:
        _make_verb = _refused_verb if _operation.name in NOT_OVER_HTTP else _remote_verb
        setattr(RemoteUser, _operation.verb, _make_verb(_operation))
