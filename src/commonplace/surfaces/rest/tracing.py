"""A span for each request where OpenTelemetry is set up and the setting asks for it.

FastAPI has spans of its own, but they carry paths, queries and the words of exceptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from opentelemetry import trace


class Traced(Protocol):
    method: str
    id: str
    status: int
    error: Exception | None

    @property
    def route(self) -> str: ...


class Spans:
    def __init__(self, is_on: bool):
        self._tracer = trace.get_tracer("commonplace.http") if is_on else None

    @contextmanager
    def around(self, passing: Traced) -> Iterator[None]:
        """Named by its route when it is over: before, nobody knows it."""
        if self._tracer is None:
            yield
            return
        method = passing.method
        with self._tracer.start_as_current_span(method, record_exception=False) as span:
            try:
                yield
            finally:
                span.update_name(f"{method} {passing.route}")
                span.set_attribute("http.request.method", method)
                span.set_attribute("http.route", passing.route)
                span.set_attribute("http.response.status_code", passing.status)
                if passing.error is not None:
                    span.set_attribute("error.type", type(passing.error).__name__)
