"""A span for each request where the setting asks for it, sent to where OpenTelemetry's own
variables (OTEL_…) say.

FastAPI has spans of its own, but they carry paths, queries and the words of exceptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol

from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind

from commonplace.errors import BadSettings


class Traced(Protocol):
    method: str
    status: int
    error: Exception | None

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def route(self) -> str: ...


class Spans:
    def __init__(self, is_on: bool):
        self._tracer = trace.get_tracer("commonplace.http") if is_on else None

    @contextmanager
    def around(self, passing: Traced) -> Iterator[None]:
        """Named by its route when it is over: before, nobody knows it. It belongs to the caller's
        trace where the request names one (`traceparent`)."""
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
def provided(is_on: bool) -> Iterator[None]:
    """Somebody who takes the spans, for the process of a server: a provider that is there already
    stays; else one is made, and sends what it holds when the server ends."""
    if not is_on or not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        yield
        return
    provider = with_the_sender_installed().make_provider()
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()


def with_the_sender_installed() -> Any:
    """A server that is told to send spans and cannot says so, and does not start."""
    try:
        return import_module("commonplace.surfaces.rest.span_provider")
    except ModuleNotFoundError as error:
        raise BadSettings(
            f"Tracing needs {error.name}, which is not installed.",
            remedy="pip install 'commonplace[tracing]', or set serve_tracing to false.",
            field="serve_tracing",
        ) from error
