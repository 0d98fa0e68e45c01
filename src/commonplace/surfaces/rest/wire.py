"""Requests to a server over the standard library's HTTP, one connection for each thread."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from commonplace.errors import BadSettings, OutcomeUnknown, StoreError, StoreUnavailable
from commonplace.surfaces.rest.doors import is_loopback

IDLE_SECONDS = 30  # after which a kept connection is not trusted: the other side may have hung up
PIECE = 64 * 1024  # bytes of a long answer that are read at once
_REMEDY = "Check the address and that the server runs, then call again."


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    media_type: str
    body: bytes
    is_second: bool = False  # of two tries

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


class Wire:
    def __init__(self, url: str, key: str | None, timeout: float):
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
    ) -> Reply:
        """Where the connection breaks it is sent anew, once: what only reads changes nothing, and
        what writes has a key of its own, by which the server does it once."""
        for is_second in (False, True):
            try:
                reply = self._send(method, target, body, {**self._headers, **headers})
                return replace(reply, is_second=is_second)
            except (OSError, http.client.HTTPException) as error:
                self._drop()
                is_slow = isinstance(error, TimeoutError)  # and may still be at it
                if is_second or (writes and is_slow):
                    raise self._broken(error, writes) from error
            except StoreUnavailable as error:  # nothing was sent now, but something may have been
                raise self._broken(error, writes) if is_second else error from error
        raise AssertionError("the second try returns or raises")

    def _send(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Reply:
        connection = self._connection()
        path = self._parts.path.rstrip("/") + target
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        content = answer.read()
        self._mine.used_at = time.monotonic()
        return Reply(answer.status, answer.headers.get_content_type(), content)

    def stream(
        self, method: str, target: str, headers: Mapping[str, str]
    ) -> Reply | Iterator[bytes]:
        """A long answer as it comes, over a connection of its own, so that others may be asked for
        meanwhile; or, whole, the problem that it is."""
        connection = self._connected()
        try:
            path = self._parts.path.rstrip("/") + target
            connection.request(method, path, None, {**self._headers, **headers})
            answer = connection.getresponse()
            if answer.status < 400:
                return self._pieces(connection, answer)
            reply = Reply(answer.status, answer.headers.get_content_type(), answer.read())
        except (OSError, http.client.HTTPException) as error:
            self._end(connection)
            raise self._broken(error, writes=False) from error
        self._end(connection)
        return reply

    def _pieces(
        self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse
    ) -> Iterator[bytes]:
        try:
            while piece := answer.read1(PIECE):
                yield piece
        except (OSError, http.client.HTTPException) as error:
            raise self._broken(error, writes=False) from error
        finally:
            answer.close()
            self._end(connection)

    def _broken(self, error: Exception, writes: bool) -> StoreError:
        told = f"{self._parts.netloc} gave no answer: {type(error).__name__}."
        return OutcomeUnknown(told) if writes else StoreUnavailable(told, remedy=_REMEDY)

    def _connection(self) -> http.client.HTTPConnection:
        """This thread's own. Nothing is lost where it cannot be made: nothing was sent."""
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
            told = f"{self._parts.netloc} cannot be reached: {type(error).__name__}."
            raise StoreUnavailable(told, remedy=_REMEDY) from error
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
