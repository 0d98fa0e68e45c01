"""One connection of the HTTP server."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class LimitedConnection(H11Protocol):
    def __init__(self, *given: Any, **named: Any):
        super().__init__(*given, **named)
        self.access_log = False  # it contains queries, also where a program has handlers for it
