"""Host, origin and loopback checks; rate limits, and few heavy operations at once.

A web page can send requests to a server on the reader's machine under a name of its choice (DNS
rebinding). It cannot set the Host and Origin headers, so these must be known names.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from commonplace.errors import InvalidInput, NotAllowed, RateLimited, StoreBusy
from commonplace.operations.table import Operation

_FORWARDING = re.compile("forwarded|via|x-real-ip|x-forwarded-.*", re.IGNORECASE)
LOCAL_NAMES = frozenset({"localhost"})
BURST_SECONDS = 2  # burst size, in seconds of the rate
MAX_BUCKETS = 10_000


def is_loopback(host: str) -> bool:
    name = host.strip("[]").lower()
    address = _address(name)
    return name in LOCAL_NAMES if address is None else address.is_loopback


def check_host(host: str | None, names: Collection[str]) -> None:
    """Accept IP addresses, which cannot be rebound, and known names."""
    name = _host_name(host or "")
    if name is None:
        raise InvalidInput("The Host header is missing or invalid.", field="host")
    if name in LOCAL_NAMES or name in names or _address(name) is not None:
        return
    raise NotAllowed(
        f"Unknown host name {name!r}.",
        remedy="Add it to the setting `serve_names`.",
        field="host",
    )


def is_local_request(peer: str, headers: Mapping[str, str]) -> bool:
    """True if peer and host are loopback. A proxy on this machine is not local: it adds forwarding
    headers or another host name."""
    forwarded = any(_FORWARDING.fullmatch(name) for name in headers)
    name = _host_name(headers.get("host", ""))
    return is_loopback(peer) and name is not None and is_loopback(name) and not forwarded


def check_origin(origin: str | None, host: str | None, origins: Collection[str]) -> None:
    """Refuse pages of other origins: CORS is closed."""
    if origin is None or origin.lower() in origins:
        return
    if (host or "").lower() != urlsplit(origin).netloc.lower():
        raise _foreign_origin_error()


def check_site(headers: Mapping[str, str], origins: Collection[str]) -> None:
    """Refuse embedded cross-site requests, which have no Origin, by Sec-Fetch-Site."""
    elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    followed_link = headers.get("sec-fetch-mode") == "navigate"
    if elsewhere and not followed_link and headers.get("origin", "").lower() not in origins:
        raise _foreign_origin_error()


def check_framing(headers: Mapping[str, str]) -> None:
    """A proxy that reads such a request by its length, and this server by its chunks, would not
    agree where the next request begins."""
    if "transfer-encoding" in headers and "content-length" in headers:
        raise InvalidInput(
            "The request has both Transfer-Encoding and Content-Length.",
            remedy="Send one of the two.",
        )


def check_same_origin(headers: Mapping[str, str]) -> None:
    """Refuse a request that does not show that a page of this server sent it. An Origin was
    compared with the Host by `check_origin`."""
    if "origin" not in headers and headers.get("sec-fetch-site") != "same-origin":
        raise NotAllowed(
            "A request with a cookie that changes something needs the header Origin or "
            "Sec-Fetch-Site: same-origin.",
            remedy="Send the token as `Authorization: Bearer TOKEN`.",
            field="origin",
        )


def _foreign_origin_error() -> NotAllowed:
    return NotAllowed(
        "Cross-origin request refused.",
        remedy="Add the origin to the setting `serve_origins`.",
        field="origin",
    )


def _host_name(host: str) -> str | None:
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises ValueError if invalid
    except ValueError:
        return None
    plain = "@" not in host and not parts.path and not parts.query and not parts.fragment
    return parts.hostname if plain else None


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


@dataclass
class _TokenBucket:
    tokens: float
    at: float


class RateLimiter:
    """A token bucket for each caller."""

    def __init__(
        self, per_second: float, message: str, clock: Callable[[], float] = time.monotonic
    ):
        self._message = message  # of the error
        self._rate = per_second
        self._most = max(1.0, per_second * BURST_SECONDS)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, _TokenBucket] = OrderedDict()

    def take(self, caller: str) -> None:
        if self._rate <= 0:
            return
        with self._lock:
            now = self._clock()
            bucket = self._buckets.setdefault(caller, _TokenBucket(self._most, now))
            self._buckets.move_to_end(caller)
            bucket.tokens = min(self._most, bucket.tokens + (now - bucket.at) * self._rate)
            bucket.at = now
            if bucket.tokens < 1:
                wait = (1 - bucket.tokens) / self._rate
                raise RateLimited(self._message, seconds=wait)
            bucket.tokens -= 1
            if len(self._buckets) > MAX_BUCKETS:
                self._buckets.popitem(last=False)


# ——— heavy operations: one caller's long text does not hold up the others ———

_HEAVY_NAMES = """
ingest extract extract-all traverse import remember-many observe-many reembed calibrate
"""
_HEAVY = frozenset(_HEAVY_NAMES.split())
# In bytes or characters. A larger request is heavy whatever it asks for, or at least takes a while.
HEAVY_BODY = 100_000
LONG_TEXT = 4_000

AT_ONCE = 2  # running; more threads would only take turns on Python's lock
AT_ONCE_PER_USER = 1
LONG_TEXTS_AT_ONCE = 4
LONG_TEXTS_PER_USER = 2
WAITING = 128
WAITING_PER_USER = 32
SECONDS = 30.0  # of waiting


class HeavyOperations:
    """Long texts wait for long texts only: an import does not hold up a long question."""

    def __init__(
        self,
        at_once: int = AT_ONCE,
        waiting: int = WAITING,
        waiting_per_user: int = WAITING_PER_USER,
        seconds: float = SECONDS,
    ):
        limits = (waiting, waiting_per_user, seconds)
        self._heavy = _Places(at_once, AT_ONCE_PER_USER, *limits)
        self._long = _Places(LONG_TEXTS_AT_ONCE, LONG_TEXTS_PER_USER, *limits)

    @asynccontextmanager
    async def turn(self, operation: Operation, user_id: str, size: int = 0) -> AsyncIterator[None]:
        """Waits until the operation may run; at once if it is neither heavy nor long."""
        if operation.name in _HEAVY or size > HEAVY_BODY:
            async with self._heavy.taken(user_id):
                yield
        elif size > LONG_TEXT:
            async with self._long.taken(user_id):
                yield
        else:
            yield


class _Places:
    """Waiting takes no thread, and nobody's requests take all places."""

    def __init__(
        self, at_once: int, per_user: int, waiting: int, waiting_per_user: int, seconds: float
    ):
        self._free = asyncio.Semaphore(at_once)
        self._per_user = per_user
        self._waiting = waiting
        self._waiting_per_user = waiting_per_user
        self._seconds = seconds
        self._present: Counter[str] = Counter()  # running or waiting, by user
        self._of_user: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def taken(self, user_id: str) -> AsyncIterator[None]:
        if (
            self._present.total() >= self._waiting
            or self._present[user_id] >= self._waiting_per_user
        ):
            raise _busy()
        self._present[user_id] += 1
        own = self._of_user.setdefault(user_id, asyncio.Semaphore(self._per_user))
        try:
            await self._acquire(own)
            try:
                yield
            finally:
                self._free.release()
                own.release()
        finally:
            self._present[user_id] -= 1
            if not self._present[user_id]:
                del self._present[user_id], self._of_user[user_id]

    async def _acquire(self, own: asyncio.Semaphore) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await own.acquire()
                try:
                    await self._free.acquire()
                except BaseException:
                    own.release()
                    raise
        except TimeoutError:
            raise _busy() from None


def _busy() -> StoreBusy:
    return StoreBusy("The server is busy with other requests that take long.")
