"""One operation over HTTP: arguments, idempotency, ETags, the answer."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from commonplace.api import AnswerRetention, Commonplace, IdempotentRequest, KeyVerbs, User
from commonplace.engine.graph_search.cypher.execution.budget import CALLER_GONE
from commonplace.errors import (
    BadText,
    ChangedMeanwhile,
    CommonplaceError,
    InvalidInput,
    NotFound,
    TooLong,
)
from commonplace.model.access.key import NewKey
from commonplace.model.json_structure import check_json_structure
from commonplace.model.parameters import GraphFormat
from commonplace.operations.schemas import return_type_of
from commonplace.operations.serialization import (
    DOT,
    JSON,
    LINES,
    TEXT,
    XML,
    arguments_from_json,
    as_data,
    parameters_by_spelling,
    refuse_missing,
    refuse_unknown,
    split_lines,
)
from commonplace.operations.table import Effect, Operation, Parameter, ParameterShape
from commonplace.surfaces.rest.routes import (
    IDEMPOTENCY_KEY,
    IF_MATCH,
    IF_NONE_MATCH,
    Route,
    show_operation_at,
)
from commonplace.surfaces.rest.server_context import ServerContext

MAX_LINES = 500_000  # each takes memory of its own, also an empty one
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def read_arguments(
    route: Route,
    path: Mapping[str, str],
    query: Sequence[tuple[str, str]],
    media_type: str,
    body: bytes,
) -> dict[str, Any]:
    arguments = path_arguments(route, path)
    if route.takes_query:
        arguments |= _query_arguments(route.parameters, query)
    elif route.whole_body and body and not media_type.startswith(JSON):
        others = [p for p in route.parameters if p is not route.whole_body]
        arguments |= _query_arguments(others, query)
        arguments[route.whole_body.name] = _whole_body_value(route.whole_body, body)
    else:
        refuse_unknown((name for name, _ in query), ())
        arguments |= _body_arguments(route, body, media_type)
    refuse_missing(route.parameters, arguments)
    return arguments


def path_arguments(route: Route, path: Mapping[str, str]) -> dict[str, Any]:
    """A slash within a name arrives as a NUL (see `middleware.decoded_path`)."""
    named = {name: value.replace("\0", "/") for name, value in path.items()}
    return {
        parameter: named[name] if name == parameter else [named[name]]
        for name, parameter in route.in_path.items()
    }


# ——— the query ———


def _query_arguments(
    parameters: Iterable[Parameter], query: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    known = parameters_by_spelling(parameters)
    refuse_unknown((name for name, _ in query), known)
    values: dict[str, list[str]] = {}
    for name, value in query:
        values.setdefault(known[name].name, []).append(value)
    return {name: _query_value(known[name], given) for name, given in values.items()}


def _query_value(parameter: Parameter, given: list[str]) -> Any:
    """One query value, or a list if the verb takes several."""
    name = parameter.name
    if parameter.shape is ParameterShape.TEXTS:
        return given
    if len(given) > 1:
        raise InvalidInput(f"{name} is given twice.", field=name)
    word = given[0]
    match parameter.shape:
        case ParameterShape.INTEGER | ParameterShape.NUMBER | ParameterShape.FLAG:
            return _scalar(parameter.shape, name, word)
        case ParameterShape.MAP | ParameterShape.MAPS | ParameterShape.VALUE:
            return parse_json_strictly(word, name)
        case _:
            return word


def _scalar(shape: ParameterShape, name: str, word: str) -> Any:
    if shape is ParameterShape.FLAG:
        if word.lower() not in _FLAGS:
            raise InvalidInput(f"{name} must be true or false.", field=name)
        return _FLAGS[word.lower()]
    try:
        return int(word) if shape is ParameterShape.INTEGER else float(word)
    except ValueError:
        expected = "a whole number" if shape is ParameterShape.INTEGER else "a number"
        raise InvalidInput(f"{name} must be {expected}.", field=name) from None


# ——— the body ———


def _body_arguments(route: Route, body: bytes, media_type: str) -> dict[str, Any]:
    if not body:
        return {}
    if not media_type.startswith(JSON):
        raise InvalidInput(
            "The body must be JSON.", remedy=f"Send it with Content-Type: {JSON}.", field="body"
        )
    check_json_structure(body, "body")
    given = parse_json_strictly(decode_body(body), "body")
    if not isinstance(given, dict):
        raise InvalidInput("The body must be a JSON object.", field="body")
    return arguments_from_json(route.parameters, given)


def _whole_body_value(parameter: Parameter, body: bytes) -> Any:
    if parameter.shape is ParameterShape.ORIGINAL:
        return body
    if body.count(b"\n") > MAX_LINES:
        raise TooLong(
            f"At most {MAX_LINES:,} lines at once.", remedy="Send less at once.", field="body"
        )
    return split_lines(decode_body(body))


def decode_body(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise BadText("The body is not UTF-8.", field="body") from None


def parse_json_strictly(text: str, name: str) -> Any:
    """Strict JSON: no NaN, no duplicate names."""
    try:
        return json.loads(
            text, object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InvalidInput(f"{name} is not valid JSON: {reason}.", field=name) from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("a name is given twice")
    return named


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


MAX_IDEMPOTENCY_KEY = 255
GRAPH_MEDIA_TYPES = {
    GraphFormat.JSON: JSON,
    GraphFormat.DOT: DOT,
    GraphFormat.GRAPHML: XML,
}  # texts that are sent unchanged
_CHUNK = 64 * 1024
# Left out of ETags: reads and the passing of time are not changes.
_ACCESS_FIELDS = frozenset({"last_accessed_at", "access_count", "salience"})
_STATE_FIELD = "state"


def endpoint_for(
    route: Route, server_context: ServerContext
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        target = await run_in_threadpool(server_context.opened_for, route.operation, request)
        route.operation.check_write(target)
        user_id = target.principal.user_id if isinstance(target, User) else ""
        with server_context.large_bodies.held(user_id) as take:
            body = await read_body(request, server_context, take, is_large=route.takes_large_body)
            call = _OperationCall(route, server_context, request, target, body)
            size = len(body) + len(request.scope["query_string"])
            async with server_context.heavy_operations.turn(route.operation, user_id, size):
                if route.name == CANCELLED_ROUTE:
                    answer = await _while_connected(request, call.answer)
                else:
                    answer = await run_in_threadpool(call.answer)
        if route.writes and isinstance(target, User):
            server_context.listeners.tell(user_id)
        return answer

    return endpoint


CANCELLED_ROUTE = "traverse"  # its queries end when nobody waits for the answer


async def _while_connected(request: Request, call: Callable[[], Response]) -> Response:
    gone = threading.Event()
    token = CALLER_GONE.set(gone)  # the thread of the pool gets a copy of this context
    watch = asyncio.create_task(_set_when_disconnected(request, gone))
    try:
        return await run_in_threadpool(call)
    finally:
        watch.cancel()
        CALLER_GONE.reset(token)


async def _set_when_disconnected(request: Request, gone: threading.Event) -> None:
    """The body was read: what comes next is the end of the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    gone.set()


async def read_body(
    request: Request, server_context: ServerContext, take: Callable[[int], None], *, is_large: bool
) -> bytes:
    """Read the body; fail as soon as it exceeds the limit. What exceeds the size of a small one is
    taken from the memory for large ones."""
    small = server_context.max_small_bytes
    most = server_context.max_bytes if is_large else small
    body = bytearray()
    async for piece in request.stream():
        before = max(small, len(body))
        body += piece
        if len(body) > most:
            raise body_too_large(most, "serve_max_mb" if is_large else "serve_max_small_mb")
        if len(body) > before:
            take(len(body) - before)
    return bytes(body)


def body_too_large(most: int, setting: str) -> TooLong:
    return TooLong(
        f"The request is too large: the limit is {most:,} bytes.",
        remedy=f"Send less at once, or raise the setting `{setting}`.",
        field="body",
    )


@dataclass(frozen=True, slots=True)
class _OperationCall:
    route: Route
    server_context: ServerContext
    request: Request
    target: User | KeyVerbs | Commonplace
    body: bytes

    def answer(self) -> Response:
        request = self.request
        key = _checked_idempotency_key(request.headers.get(IDEMPOTENCY_KEY))
        media_type = request.headers.get("content-type", "").lower()
        query = request.query_params.multi_items()
        arguments = read_arguments(self.route, request.path_params, query, media_type, self.body)
        if key is not None and self.route.writes and isinstance(self.target, User):
            return _json_response(self._once(self.target, key, arguments))
        answer = self._do(self.target, arguments)
        if isinstance(answer, Iterator):
            return StreamingResponse(_in_chunks(answer), media_type=LINES)
        if isinstance(answer, str):
            return _text_response(answer, self._kind_of_text(arguments))
        data = as_data(answer)
        return self._item(data) if self.route.has_etag else _json_response(_json_text(data))

    def _kind_of_text(self, arguments: dict[str, Any]) -> str:
        if self.route.name != "graph":
            return TEXT
        return GRAPH_MEDIA_TYPES[GraphFormat(arguments.get("format", GraphFormat.JSON))]

    def _once(self, user: User, key: str, arguments: dict[str, Any]) -> str:
        """The first answer for this idempotency key."""
        called = f"{self.request.method} {self.request.url.path}?{self.request.url.query}"
        more = "\n".join(self.request.headers.get(name, "") for name in ("content-type", IF_MATCH))
        fingerprint = hashlib.sha256(f"{called}\n{more}\n".encode() + self.body).hexdigest()
        idempotent = IdempotentRequest(key, fingerprint, _answer_holds(self.route.operation))
        return self.server_context.book.once(
            user, idempotent, lambda handle: _json_text(as_data(self._do(handle, arguments)))
        )

    # ——— states of one item ———

    def _do(self, target: User | KeyVerbs | Commonplace, arguments: dict[str, Any]) -> Any:
        """If-Match: change only the state that the caller has seen. If a verb fails because of a
        concurrent change, the failed precondition is reported."""
        operation = self.route.operation
        if_match = self.request.headers.get(IF_MATCH)
        has_precondition = if_match is not None and self.route.has_etag and self.route.writes
        if if_match is None or not has_precondition or not isinstance(target, User):
            return operation.call(target, arguments)
        self._check_precondition(target, if_match)
        held_to_it = self.server_context.book.insisting(
            target, lambda: self._check_precondition(target, if_match)
        )
        try:
            return operation.call(held_to_it, arguments)
        except CommonplaceError:
            self._check_precondition(target, if_match)
            raise

    def _check_precondition(self, user: User, if_match: str) -> None:
        named = path_arguments(self.route, self.request.path_params)
        id = named["id"] if "id" in named else named["ids"][0]
        try:
            etag = _etag(as_data(show_operation_at(self.route.path).call(user, {"id": id})))
        except NotFound:  # a missing item matches no ETag
            etag = None
        if etag is None or not _matches_etag(if_match, etag):
            raise ChangedMeanwhile(
                "The item changed: its ETag no longer matches If-Match.", field=IF_MATCH
            )

    def _item(self, data: Any) -> Response:
        if self.route.writes:
            return _json_response(_json_text(data))
        etag = _etag(data)
        headers = {"etag": etag, "cache-control": "private, no-cache"}
        if _matches_etag(self.request.headers.get(IF_NONE_MATCH, ""), etag):
            return Response(status_code=304, headers=headers)
        return _json_response(_json_text(data), headers)


def _checked_idempotency_key(key: str | None) -> str | None:
    """Rejected on every route if invalid: a client that sends one relies on it."""
    if key is None or (0 < len(key) <= MAX_IDEMPOTENCY_KEY and key.isascii() and key.isprintable()):
        return key
    raise InvalidInput(
        f"Idempotency-Key must have 1 to {MAX_IDEMPOTENCY_KEY} printable characters.",
        field=IDEMPOTENCY_KEY,
    )


def _answer_holds(operation: Operation) -> AnswerRetention:
    if return_type_of(operation) is NewKey:
        return AnswerRetention.SECRET
    return AnswerRetention.NUMBERS if operation.effect is Effect.DESTROY else AnswerRetention.WORDS


def _etag(data: Any) -> str:
    canonical = json.dumps(_without_access_fields(data), sort_keys=True)
    return f'"{hashlib.sha256(canonical.encode()).hexdigest()[:32]}"'


def _without_access_fields(data: Any) -> Any:
    if isinstance(data, dict):
        left_out = {*_ACCESS_FIELDS, _STATE_FIELD} if "salience" in data else _ACCESS_FIELDS
        return {n: _without_access_fields(each) for n, each in data.items() if n not in left_out}
    return [_without_access_fields(each) for each in data] if isinstance(data, list) else data


def _matches_etag(header: str, etag: str) -> bool:
    named = {each.strip().removeprefix("W/") for each in header.split(",")}
    return "*" in named or etag in named


def _json_text(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False)


def _json_response(text: str, headers: dict[str, str] | None = None) -> Response:
    return _text_response(text, JSON, headers)


def _text_response(text: str, kind: str, headers: dict[str, str] | None = None) -> Response:
    return Response(
        text.encode("utf-8"),
        media_type=kind,
        headers={"cache-control": "no-store", **(headers or {})},
    )


def _in_chunks(lines: Iterator[str]) -> Iterator[bytes]:
    chunk = bytearray()
    for line in lines:
        chunk += line.encode("utf-8") + b"\n"
        if len(chunk) >= _CHUNK:
            yield bytes(chunk)
            chunk.clear()
    if chunk:
        yield bytes(chunk)
