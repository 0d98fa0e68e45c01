"""JSON over HTTP: time limits, retries, no redirects; messages without keys and texts."""

from __future__ import annotations

import http.client
import json
import math
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from commonplace.language.http.address import is_loopback

ATTEMPTS = 3
_FIRST_WAIT = 0.5  # seconds; doubled for each retry
_MIN_TIMEOUT = 0.01  # seconds; a sleep may take slightly longer than requested
_BLOCK = 1 << 16
_MAX_ERROR_BYTES = 1 << 14
# 529: the server is overloaded (Anthropic).
_RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})


class HttpServerDown(Exception):
    """Not reachable, too slow or overloaded, after all attempts."""


class HttpRefusal(Exception):
    """A status that no retry changes. The message has the status only: what the server says may
    repeat the key or a text."""

    def __init__(self, message: str, status: int, details: str):
        super().__init__(message)
        self.status = status
        self.details = details  # as the server says it; for decisions, never for people


class BadHttpAnswer(Exception):
    """Not JSON, or too long."""


class _TransientFailure(Exception):
    """A retry may succeed."""

    def __init__(self, why: str, wait: float | None = None):
        super().__init__(why)
        self.wait = wait  # seconds, if known


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send the key and the texts to an address that was not configured."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class HttpEndpoint:
    url: str
    title: str  # what messages call it
    timeout: float  # seconds, for all attempts together
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # may hold a key
    max_bytes: int = 64 << 20
    jitter: float = 0.0  # a wait is longer by up to this share: clients do not return together
    cooldown: float = 10.0  # seconds without requests after an outage: every call would wait
    longest_cooldown: float = 10.0  # as the server may ask for with Retry-After


class JsonClient:
    def __init__(
        self,
        endpoint: HttpEndpoint,
        sleep: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = endpoint
        self._sleep = sleep
        self._now = now
        self._cooldown_until = -math.inf
        self._last_failure = ""
        # Loopback traffic must not leave the machine through a proxy from the environment.
        direct = [urllib.request.ProxyHandler({})] if is_loopback(endpoint.url) else []
        self._opener = urllib.request.build_opener(_NoRedirects, *direct)

    def deadline(self) -> float:
        """Of a call that begins now."""
        return self._now() + self._endpoint.timeout

    def post(self, path: str, payload: object, *, deadline: float, attempts: int = ATTEMPTS) -> Any:
        """The answer as parsed JSON. Raises HttpServerDown, HttpRefusal or BadHttpAnswer."""
        if self._now() < self._cooldown_until:
            raise HttpServerDown(
                f"{self._endpoint.title} failed a moment ago ({self._last_failure}); it is tried "
                "again soon"
            )
        body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
        wait = _FIRST_WAIT
        for attempt in range(1, attempts + 1):
            try:
                return self._ask(path, body, deadline)
            except _TransientFailure as trouble:
                pause = wait * self._stretch() if trouble.wait is None else trouble.wait
                if attempt == attempts or self._now() + pause >= deadline:
                    self._cool_down(trouble)
                    raise HttpServerDown(str(trouble)) from None
                self._sleep(pause)
                wait *= 2
        raise AssertionError("the last attempt returns or raises")

    def _stretch(self) -> float:
        return 1 + random.uniform(0, self._endpoint.jitter)

    def _cool_down(self, trouble: _TransientFailure) -> None:
        limit = self._endpoint
        asked = trouble.wait if trouble.wait is not None and math.isfinite(trouble.wait) else 0
        seconds = max(limit.cooldown, min(asked, limit.longest_cooldown))
        self._last_failure = str(trouble).removeprefix(f"{limit.title} ")
        self._cooldown_until = self._now() + seconds

    # ——— requests ———

    def _ask(self, path: str, body: bytes, deadline: float) -> Any:
        title = self._endpoint.title
        request = urllib.request.Request(
            f"{self._endpoint.url.rstrip('/')}/{path}",
            data=body,
            headers={"Content-Type": "application/json", **self._endpoint.headers},
        )
        try:
            return json.loads(self._answer(request, deadline))
        except urllib.error.HTTPError as error:
            with error:  # closes its connection
                raise self._refusal(error) from None
        except TimeoutError:
            raise self._too_slow() from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._too_slow() from None
            # Nothing listens there: an immediate retry would only delay the caller.
            why = f"{title} cannot be reached: {error.reason}"
            raise _TransientFailure(why, wait=math.inf) from None
        except (OSError, http.client.HTTPException):
            raise _TransientFailure(f"{title} closed the connection during its answer") from None
        except (ValueError, RecursionError):
            raise BadHttpAnswer(f"{title} did not answer in JSON") from None

    def _answer(self, request: urllib.request.Request, deadline: float) -> bytes:
        """The time-out also limits a server that sends slowly."""
        received = bytearray()
        left = max(deadline - self._now(), _MIN_TIMEOUT)
        with self._opener.open(request, timeout=left) as response:
            while block := response.read1(_BLOCK):
                received += block
                if self._now() > deadline:
                    raise TimeoutError
                if len(received) > self._endpoint.max_bytes:
                    raise BadHttpAnswer(f"the answer of {self._endpoint.title} is too long")
            missing = _announced(response.headers.get("Content-Length")) - len(received)
            if missing > 0:
                raise http.client.IncompleteRead(bytes(received), missing)
        return bytes(received)

    def _too_slow(self) -> _TransientFailure:
        limit = self._endpoint
        return _TransientFailure(f"{limit.title} took longer than {limit.timeout:g} s")

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        why = f"{self._endpoint.title} answers {error.code}"
        if error.code in _RETRIED_STATUSES:
            return _TransientFailure(why, _seconds(error.headers.get("Retry-After")))
        try:
            details = error.read(_MAX_ERROR_BYTES).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            details = ""
        return HttpRefusal(why, error.code, details)


def _announced(content_length: str | None) -> int:
    return int(content_length) if content_length and content_length.isdecimal() else 0


def _seconds(retry_after: str | None) -> float | None:
    try:
        wait = float(retry_after or "")
    except ValueError:
        return None
    return wait if wait >= 0 and math.isfinite(wait) else None
