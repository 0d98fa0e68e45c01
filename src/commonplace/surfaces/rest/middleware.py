"""Request middleware: host and origin checks, request ids, logs, metrics, spans.

FastAPI's own spans contain paths, queries and exception messages, so they are not used.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol
from urllib.parse import quote, unquote

from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.errors import BadSettings, BadText, CommonplaceError
from commonplace.operations.serialization import unexpected_error
from commonplace.surfaces.rest import monitoring
from commonplace.surfaces.rest.endpoints import body_too_large
from commonplace.surfaces.rest.problems import problem_response
from commonplace.surfaces.rest.request_checks import (
    check_framing,
    check_host,
    check_origin,
    check_site,
)
from commonplace.surfaces.rest.routes import MCP_PATH, REQUEST_ID
from commonplace.surfaces.rest.server_context import ServerContext
from commonplace.surfaces.rest.system_endpoints import IS_HEAD


class TracedRequest(Protocol):
    method: str
    status: int
    error: Exception | None

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def route(self) -> str: ...


class RequestSpans:
    def __init__(self, is_on: bool):
        self._tracer = trace.get_tracer("commonplace.http") if is_on else None

    @contextmanager
    def around(self, passing: TracedRequest) -> Iterator[None]:
        """The span is named at the end, when the route is known. It belongs to the caller's trace
        if the request has a `traceparent`."""
        if self._tracer is None:
            yield
            return
        with self._tracer.start_as_current_span(
            passing.method,
            context=propagate.extract(passing.headers),
            kind=SpanKind.SERVER,
            record_exception=False,
        ) as span:
            try:
                yield
            finally:
                span.update_name(f"{passing.method} {passing.route}")
                span.set_attribute("http.request.method", passing.method)
                span.set_attribute("http.route", passing.route)
                span.set_attribute("http.response.status_code", passing.status)
                if passing.error is not None:
                    span.set_attribute("error.type", type(passing.error).__name__)


@contextmanager
def tracing_provider(is_on: bool) -> Iterator[None]:
    """A provider for the server's spans: an existing one is kept; a new one is flushed when the
    server ends."""
    if not is_on or not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        yield
        return
    provider = load_span_exporter().make_provider()
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()


def load_span_exporter() -> Any:
    """Raise an error if tracing is on but not installed."""
    try:
        return import_module("commonplace.surfaces.rest.span_exporter")
    except ModuleNotFoundError as error:
        raise BadSettings(
            f"Tracing needs {error.name}, which is not installed.",
            remedy="pip install 'commonplace[tracing]', or set serve_tracing to false.",
            field="serve_tracing",
        ) from error


NO_ROUTE = "(none)"


@dataclass
class _RequestState:
    """The state of one request."""

    scope: Scope
    send: Send
    method: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    status: int = 0  # of the answer; 0: not sent yet
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
        """The route template: a path may contain personal data."""
        return getattr(self.scope.get("route"), "path_format", NO_ROUTE)


class RequestMiddleware:
    def __init__(self, app: ASGIApp, server_context: ServerContext):
        self._app = app
        self._server_context = server_context
        self._spans = RequestSpans(server_context.settings.serve_tracing)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = str(scope["method"])
        scope = head_as_get(scope)
        passing = _RequestState(scope, send, method)
        with self._watched(passing):
            try:
                self._check(passing.headers)
                scope["path"] = decoded_path(scope)
                await self._app(scope, receive, passing.answer)
            except CommonplaceError as error:
                await problem_response(error)(scope, receive, passing.answer)
            except Exception as error:  # no details reach the caller
                passing.error = error
                if not passing.status:
                    await internal_error_response()(scope, receive, passing.answer)

    def _check(self, headers: Headers) -> None:
        host = headers.get("host")
        check_host(host, self._server_context.names)
        check_origin(headers.get("origin"), host, self._server_context.origins)
        check_site(headers, self._server_context.origins)
        check_framing(headers)
        length = headers.get("content-length", "")
        if length.isdigit() and int(length[:20]) > self._server_context.max_bytes:
            raise body_too_large(self._server_context.max_bytes, "serve_max_mb")

    @contextmanager
    def _watched(self, passing: _RequestState) -> Iterator[None]:
        metrics, method = self._server_context.metrics, passing.method
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
            monitoring.write_request(
                id=passing.id,
                method=known,
                route=passing.route,
                status=passing.status,
                seconds=seconds,
                error=passing.error,
            )


_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})


def head_as_get(scope: Scope) -> Scope:
    """Handle HEAD as GET; the HTTP server omits the body. MCP paths are left unchanged."""
    if scope["method"] != "HEAD" or scope["path"].startswith(MCP_PATH):
        return scope
    return {**scope, "method": "GET", IS_HEAD: True}


def decoded_path(scope: Scope) -> str:
    """The path with %2F, which belongs to a name such as gmail:inbox/7, as a NUL, which no name can
    contain."""
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    if b"%00" in raw:
        raise BadText("The path contains a NUL byte.", field="path")
    return unquote(re.sub("%2F", "%00", raw.decode("latin-1"), flags=re.IGNORECASE))


def internal_error_response() -> Response:
    return problem_response(unexpected_error("the Request-Id of this answer"))
