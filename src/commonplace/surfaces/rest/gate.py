"""What every request passes: known hosts only, a number to find it by, a line in the log."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.errors import BadText, CommonplaceError
from commonplace.surfaces.rest import logs
from commonplace.surfaces.rest.answering import too_large
from commonplace.surfaces.rest.doors import check_host, check_origin, check_site
from commonplace.surfaces.rest.headers import REQUEST_ID
from commonplace.surfaces.rest.problems import problem
from commonplace.surfaces.rest.reception import Reception
from commonplace.surfaces.rest.routes import MCP_PATH
from commonplace.surfaces.rest.stream import IS_HEAD
from commonplace.surfaces.rest.tracing import Spans
from commonplace.surfaces.unexpected import unexpected

NO_ROUTE = "(none)"


@dataclass
class _Passing:
    """One request on its way through."""

    scope: Scope
    send: Send
    method: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    status: int = 0  # of the answer; 0: none was given yet
    error: Exception | None = None

    async def answer(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = self.id
            headers["x-content-type-options"] = "nosniff"
        await self.send(message)

    @property
    def headers(self) -> Headers:
        return Headers(scope=self.scope)

    @property
    def route(self) -> str:
        """As the table writes it: an id may be somebody's address."""
        return getattr(self.scope.get("route"), "path_format", NO_ROUTE)


class Gate:
    def __init__(self, app: ASGIApp, reception: Reception):
        self._app = app
        self._reception = reception
        self._spans = Spans(reception.settings.serve_tracing)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = str(scope["method"])
        scope = asked_as(scope)
        passing = _Passing(scope, send, method)
        with self._watched(passing):
            try:
                self._check(passing.headers)
                scope["path"] = path_of(scope)
                await self._app(scope, receive, passing.answer)
            except CommonplaceError as error:
                await problem(error)(scope, receive, passing.answer)
            except Exception as error:  # whatever it is, no trace of it reaches the caller
                passing.error = error
                if not passing.status:
                    await failed()(scope, receive, passing.answer)

    def _check(self, headers: Headers) -> None:
        host = headers.get("host")
        check_host(host, self._reception.names)
        check_origin(headers.get("origin"), host, self._reception.origins)
        check_site(headers, self._reception.origins)
        length = headers.get("content-length", "")
        if length.isdigit() and int(length[:20]) > self._reception.max_bytes:
            raise too_large(self._reception.max_bytes)

    @contextmanager
    def _watched(self, passing: _Passing) -> Iterator[None]:
        metrics, method = self._reception.metrics, passing.method
        started = time.perf_counter()
        metrics.in_progress += 1
        try:
            with self._spans.around(passing):
                yield
        finally:
            metrics.in_progress -= 1
            seconds = time.perf_counter() - started
            known = method if method in _METHODS else "other"
            metrics.answered(known, passing.route, passing.status, seconds)
            logs.write_request(
                id=passing.id,
                method=known,
                route=passing.route,
                status=passing.status,
                seconds=seconds,
                error=passing.error,
            )


_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})


def asked_as(scope: Scope) -> Scope:
    """HEAD is a GET whose body is not sent: that the server leaves out by itself, as it knows how
    it was asked. The other protocol on this port has its own methods."""
    if scope["method"] != "HEAD" or scope["path"].startswith(MCP_PATH):
        return scope
    return {**scope, "method": "GET", IS_HEAD: True}


def path_of(scope: Scope) -> str:
    """The path with its slashes told apart: one that was written %2F belongs to a name, such as
    gmail:inbox/7, and stands as a NUL, which no name can hold, until the name is read."""
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    if b"%00" in raw:
        raise BadText("The path contains a NUL byte.", field="path")
    return unquote(re.sub("%2F", "%00", raw.decode("latin-1"), flags=re.IGNORECASE))


def failed() -> Response:
    return problem(unexpected("the Request-Id of this answer"))
