"""One operation over HTTP: the caller, the arguments, the verb, the answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from commonplace.answers import as_data
from commonplace.book import Asked, Commonplace, Holds, OfKeys, User
from commonplace.errors import ChangedMeanwhile, CommonplaceError, InvalidInput, NotFound, TooLong
from commonplace.model.key import NewKey
from commonplace.operations import Effect, Operation
from commonplace.recall.graph.drawing import Format
from commonplace.surfaces.media_types import DOT, JSON, LINES, TEXT, XML
from commonplace.surfaces.rest.arguments import arguments_from, from_path
from commonplace.surfaces.rest.headers import IDEMPOTENCY_KEY, IF_MATCH, IF_NONE_MATCH
from commonplace.surfaces.rest.reception import Reception
from commonplace.surfaces.rest.routes import Route, read_at
from commonplace.surfaces.schemas import returned_by

LONGEST_KEY = 255
OF_GRAPHS = {Format.JSON: JSON, Format.DOT: DOT, Format.GRAPHML: XML}  # texts, each as it is
_CHUNK = 64 * 1024
# Looking changes nothing, nor does the time that goes by; what is present follows from both.
_READING = frozenset({"last_accessed_at", "access_count", "salience"})
_PRESENCE = "state"


def endpoint_for(route: Route, reception: Reception) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        whose = await run_in_threadpool(reception.opened_for, route.operation, request)
        body = await whole_body(request, reception.max_bytes)
        answer = await run_in_threadpool(_Call(route, reception, request, whose, body).answer)
        if route.writes and isinstance(whose, User):
            reception.listeners.tell(whose.principal.user_id)
        return answer

    return endpoint


async def whole_body(request: Request, most: int) -> bytes:
    """Refused as soon as it is known to be too long."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise too_large(most)
    return bytes(body)


def too_large(most: int) -> TooLong:
    return TooLong(
        f"The request is too large: the limit is {most:,} bytes.",
        remedy="Send less at once, or raise the setting `serve_max_mb`.",
        field="body",
    )


@dataclass(frozen=True, slots=True)
class _Call:
    route: Route
    reception: Reception
    request: Request
    whose: User | OfKeys | Commonplace
    body: bytes

    def answer(self) -> Response:
        request = self.request
        key = _own_word(request.headers.get(IDEMPOTENCY_KEY))
        media_type = request.headers.get("content-type", "").lower()
        query = request.query_params.multi_items()
        arguments = arguments_from(self.route, request.path_params, query, media_type, self.body)
        if key is not None and self.route.writes and isinstance(self.whose, User):
            return _json(self._once(self.whose, key, arguments))
        answer = self._do(self.whose, arguments)
        if isinstance(answer, Iterator):
            return StreamingResponse(_in_chunks(answer), media_type=LINES)
        if isinstance(answer, str):
            return _told(answer, self._kind_of_text(arguments))
        data = as_data(answer)
        return self._item(data) if self.route.has_etag else _json(_text(data))

    def _kind_of_text(self, arguments: dict[str, Any]) -> str:
        if self.route.name != "graph":
            return TEXT
        return OF_GRAPHS[Format(arguments.get("format", Format.JSON))]

    def _once(self, user: User, key: str, arguments: dict[str, Any]) -> str:
        """The first answer, however often it is asked for."""
        called = f"{self.request.method} {self.request.url.path}?{self.request.url.query}"
        more = "\n".join(self.request.headers.get(name, "") for name in ("content-type", IF_MATCH))
        fingerprint = hashlib.sha256(f"{called}\n{more}\n".encode() + self.body).hexdigest()
        asked = Asked(key, fingerprint, _holds(self.route.operation))
        return self.reception.book.once(
            user, asked, lambda handle: _text(as_data(self._do(handle, arguments)))
        )

    # ——— states of one item ———

    def _do(self, whose: User | OfKeys | Commonplace, arguments: dict[str, Any]) -> Any:
        """If-Match: only what the caller has seen is changed. Where a verb fails because another
        was faster, it is told as that."""
        operation = self.route.operation
        wanted = self.request.headers.get(IF_MATCH)
        insists = wanted is not None and self.route.has_etag and self.route.writes
        if wanted is None or not insists or not isinstance(whose, User):
            return operation.call(whose, arguments)
        self._insist(whose, wanted)
        held_to_it = self.reception.book.insisting(whose, lambda: self._insist(whose, wanted))
        try:
            return operation.call(held_to_it, arguments)
        except CommonplaceError:
            self._insist(whose, wanted)
            raise

    def _insist(self, whose: User, wanted: str) -> None:
        named = from_path(self.route, self.request.path_params)
        id = named["id"] if "id" in named else named["ids"][0]
        try:
            etag = _etag(as_data(read_at(self.route.path).call(whose, {"id": id})))
        except NotFound:  # what is not there matches nothing
            etag = None
        if etag is None or not _named_in(wanted, etag):
            raise ChangedMeanwhile(
                "The item changed: its ETag no longer matches If-Match.", field=IF_MATCH
            )

    def _item(self, data: Any) -> Response:
        if self.route.writes:
            return _json(_text(data))
        etag = _etag(data)
        headers = {"etag": etag, "cache-control": "private, no-cache"}
        if _named_in(self.request.headers.get(IF_NONE_MATCH, ""), etag):
            return Response(status_code=304, headers=headers)
        return _json(_text(data), headers)


def _own_word(key: str | None) -> str | None:
    """Refused wherever it is given: a program that sends an empty one believes itself safe."""
    if key is None or (0 < len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
        return key
    raise InvalidInput(
        f"Idempotency-Key must have 1 to {LONGEST_KEY} printable characters.", field=IDEMPOTENCY_KEY
    )


def _holds(operation: Operation) -> Holds:
    if returned_by(operation) is NewKey:
        return Holds.SECRET
    return Holds.NUMBERS if operation.effect is Effect.DESTROY else Holds.WORDS


def _etag(data: Any) -> str:
    told = json.dumps(_without_reading(data), sort_keys=True)
    return f'"{hashlib.sha256(told.encode()).hexdigest()[:32]}"'


def _without_reading(data: Any) -> Any:
    if isinstance(data, dict):
        left_out = {*_READING, _PRESENCE} if "salience" in data else _READING
        return {n: _without_reading(each) for n, each in data.items() if n not in left_out}
    return [_without_reading(each) for each in data] if isinstance(data, list) else data


def _named_in(header: str, etag: str) -> bool:
    named = {each.strip().removeprefix("W/") for each in header.split(",")}
    return "*" in named or etag in named


def _text(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False)


def _json(text: str, headers: dict[str, str] | None = None) -> Response:
    return _told(text, JSON, headers)


def _told(text: str, kind: str, headers: dict[str, str] | None = None) -> Response:
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
