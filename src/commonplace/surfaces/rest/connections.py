"""Limits and time-outs of connections, which uvicorn does not have.

A connection that sends no whole request costs a descriptor and nothing else, so whoever holds many
of them shuts everybody else out. When there are too many, the one that has waited longest for its
request is closed in favour of a new one; a connection whose request is being answered never is.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from http import HTTPStatus
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from commonplace.errors import CommonplaceError, InvalidInput, RateLimited
from commonplace.operations.serialization import PROBLEM
from commonplace.settings import Settings
from commonplace.surfaces.rest.problems import problem_data, problem_headers

BODY_BYTES_PER_SECOND = 1000  # least rate of a request body, after its time without progress
ACCEPTED_AT_ONCE = 128  # before the first of them is looked at
DESCRIPTOR_SHARE = 2  # connections take at most one of so many descriptors of the process


class Phase(Enum):
    """What a connection does."""

    HEAD = auto()  # its request has not arrived up to the end of the headers
    BODY = auto()  # the body of its request arrives
    ANSWER = auto()  # its request is complete and not yet answered
    REST = auto()  # its request is answered, and the rest of the body is not read
    IDLE = auto()  # between two requests


_WAITING = frozenset({Phase.HEAD, Phase.REST, Phase.IDLE})


@dataclass(frozen=True)
class ConnectionLimits:
    most: int
    most_per_address: int
    seconds: Mapping[Phase, float]  # not named: as long as it takes
    write_seconds: float  # until a client has read what was sent

    @staticmethod
    def from_settings(settings: Settings) -> ConnectionLimits:
        most = settings.serve_connections
        descriptors = os.sysconf("SC_OPEN_MAX") if hasattr(os, "sysconf") else -1
        if descriptors > 0:  # else unlimited, or unknown
            most = max(1, min(most, descriptors // DESCRIPTOR_SHARE))
        return ConnectionLimits(
            most=most,
            most_per_address=settings.serve_connections_per_address,
            seconds={
                Phase.HEAD: settings.serve_header_seconds,
                Phase.BODY: settings.serve_transfer_seconds,
                Phase.REST: settings.serve_header_seconds,
                Phase.IDLE: settings.serve_idle_seconds,
            },
            write_seconds=settings.serve_transfer_seconds,
        )


@dataclass
class Connections:
    """All connections of a server, and those of each address that wait for a request, the longest
    waiting first."""

    limits: ConnectionLimits
    _of_address: Counter[str] = field(default_factory=Counter)
    _waiting: OrderedDict[LimitedConnection, None] = field(default_factory=OrderedDict)
    _waiting_at: dict[str, OrderedDict[LimitedConnection, None]] = field(default_factory=dict)

    def admit(self, connection: LimitedConnection) -> bool:
        """Close another one if there are too many; False if all others are busy."""
        address = connection.address
        if self._of_address[address] >= self.limits.most_per_address:
            room = self._close_first(self._waiting_at.get(address))
        elif self._of_address.total() >= self.limits.most:
            room = self._close_first(self._waiting)
        else:
            room = True
        if room:
            self._of_address[address] += 1
        return room

    def set_waiting(self, connection: LimitedConnection, waits: bool) -> None:
        """Again waiting is not longer waiting."""
        self._forget_waiting(connection)
        if waits:
            self._waiting[connection] = None
            self._waiting_at.setdefault(connection.address, OrderedDict())[connection] = None

    def release(self, connection: LimitedConnection) -> None:
        self._forget_waiting(connection)
        self._of_address[connection.address] -= 1
        if not self._of_address[connection.address]:
            del self._of_address[connection.address]

    def _close_first(self, waiting: OrderedDict[LimitedConnection, None] | None) -> bool:
        if not waiting:
            return False
        next(iter(waiting)).end()
        return True

    def _forget_waiting(self, connection: LimitedConnection) -> None:
        self._waiting.pop(connection, None)
        here = self._waiting_at.get(connection.address)
        if here is not None:
            here.pop(connection, None)
            if not here:
                del self._waiting_at[connection.address]


class ServerConfig(uvicorn.Config):
    def __init__(self, app: Any, limits: ConnectionLimits, **more: Any):
        super().__init__(
            app,
            http=LimitedConnection,
            timeout_keep_alive=int(limits.seconds[Phase.IDLE]) + 1,  # ours ends it before
            backlog=ACCEPTED_AT_ONCE,
            **more,
        )
        self.held = Connections(limits)


class LimitedConnection(H11Protocol):
    def __init__(self, config: ServerConfig, *given: Any, **named: Any):
        super().__init__(config, *given, **named)
        self.access_log = False  # it contains queries, also where a program has handlers for it
        self.address = ""
        self._held = config.held
        self._is_admitted = False
        self._phase: Phase | None = None
        self._since = 0.0
        self._received = 0  # bytes of the body
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    # ——— called by the transport and by uvicorn ———

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._is_admitted = self._held.admit(self)
        if self._is_admitted:
            self._enter(Phase.HEAD)
        else:
            busy = RateLimited("Too many connections at once.")
            self._refuse(busy, HTTPStatus.SERVICE_UNAVAILABLE)

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        _cancel(self._write_timer)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received = len(data) + (self._received if self._phase is Phase.BODY else 0)
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._follow()

    def pause_writing(self) -> None:
        super().pause_writing()
        seconds = self._held.limits.write_seconds
        self._write_timer = self.loop.call_later(seconds, self.end)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._write_timer)

    # ——— phases ———

    def end(self) -> None:
        """At once: what was sent and not read is dropped."""
        self._leave()
        self.transport.abort()

    def _follow(self) -> None:
        """Only a new phase starts a new time: single bytes do not prolong one."""
        if self._is_admitted and not self.transport.is_closing():
            phase = self._current_phase()
            if phase is not self._phase:
                self._enter(phase)

    def _current_phase(self) -> Phase:
        runs = self.cycle is not None and not self.cycle.response_complete
        if self.conn.their_state is h11.SEND_BODY:
            return Phase.BODY if runs else Phase.REST
        if runs:
            return Phase.ANSWER
        return Phase.HEAD if self.cycle is None or self._has_begun() else Phase.IDLE

    def _has_begun(self) -> bool:
        return bool(self.conn.trailing_data[0])

    def _enter(self, phase: Phase) -> None:
        _cancel(self._timer)
        self._phase, self._since = phase, self.loop.time()
        self._held.set_waiting(self, phase in _WAITING)
        seconds = self._held.limits.seconds.get(phase)
        self._timer = None if seconds is None else self.loop.call_later(seconds, self._expire)

    def _leave(self) -> None:
        _cancel(self._timer)
        if self._is_admitted:
            self._is_admitted = False
            self._held.release(self)

    def _expire(self) -> None:
        if self._phase is Phase.BODY and (left := self._body_seconds_left()) > 0:
            self._timer = self.loop.call_later(left, self._expire)
        elif self._phase is Phase.HEAD and self._has_begun():
            seconds = self._held.limits.seconds[Phase.HEAD]
            late = InvalidInput(
                f"The headers of the request did not arrive within {seconds:g} seconds.",
                remedy="Send the whole request at once.",
            )
            self._refuse(late, HTTPStatus.REQUEST_TIMEOUT)
        else:
            self.end()

    def _body_seconds_left(self) -> float:
        """A body that the server does not read now has all the time."""
        allowed = self._held.limits.seconds[Phase.BODY]
        if self.flow.read_paused:
            return allowed
        spent = self.loop.time() - self._since
        return allowed + self._received / BODY_BYTES_PER_SECOND - spent

    def _refuse(self, error: CommonplaceError, status: HTTPStatus) -> None:
        """An answer without a request; a client that does not take it is dropped."""
        self.transport.write(_answer(error, status))
        if self.transport.get_write_buffer_size():
            self.end()
        else:
            self._leave()
            self.transport.close()


def _answer(error: CommonplaceError, status: HTTPStatus) -> bytes:
    body = json.dumps(problem_data(error, status)).encode()
    headers = {
        **problem_headers(error, status),
        "content-type": PROBLEM,
        "content-length": str(len(body)),
        "connection": "close",
    }
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{n}: {v}" for n, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
