"""Shared state of a server's requests: authentication, limits, metrics, listeners."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from commonplace.api import Commonplace, KeyVerbs, User
from commonplace.errors import InvalidInput, NotAllowed, RateLimited, StoreBusy, Unauthenticated
from commonplace.model.access.key import Key
from commonplace.operations.table import Operation
from commonplace.settings import Settings
from commonplace.surfaces.rest.local_token import LocalToken, new_token
from commonplace.surfaces.rest.monitoring import Metrics
from commonplace.surfaces.rest.request_checks import (
    HeavyOperations,
    RateLimiter,
    check_same_origin,
    is_local_request,
    is_loopback,
)
from commonplace.surfaces.rest.routes import AGENT, MAY_RESOLVE, USER, decode_header

MEGABYTE = 1_000_000
LARGE_BODIES_AT_ONCE = 4  # of the largest size; those of one user take half of it
MAX_STREAMS = 50  # of one user
STREAM_RETRY_SECONDS = 60.0
MAX_FAILURES = 20.0  # requests without a valid key, per second and peer
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
OperationTarget = User | KeyVerbs | Commonplace


def is_keyless(settings: Settings) -> bool:
    """True on loopback without a configured host name: the server's token stands for a key. A
    server with a name is behind a proxy on this machine and needs keys."""
    is_local = is_loopback(settings.serve_host) and not settings.serve_names
    return settings.serve_keyless and is_local


class ServerContext:
    def __init__(self, book: Commonplace, settings: Settings, token: LocalToken | None = None):
        self.book = book
        self.settings = settings
        # Without a given token there is one that nobody knows.
        self.token = token or LocalToken(new_token(), settings.serve_port, is_stored=False)
        self.names = frozenset(_comma_separated(settings.serve_names)) | {
            settings.serve_host.lower()
        }
        self.origins = frozenset(_comma_separated(settings.serve_origins))
        self.max_bytes = int(settings.serve_max_mb * MEGABYTE)
        self.max_small_bytes = min(self.max_bytes, int(settings.serve_max_small_mb * MEGABYTE))
        self.large_bodies = LargeBodies(self.max_bytes * LARGE_BODIES_AT_ONCE)
        self.rates = RateLimiter(settings.serve_rate, "Too many requests with this key.")
        # Requests without a valid key have a separate limit and cannot block others.
        few = min(settings.serve_rate, MAX_FAILURES)
        self.failures = RateLimiter(few, "Too many requests without a valid key.")
        self.metrics = Metrics()
        self.listeners = ChangeListeners()
        self.heavy_operations = HeavyOperations()

    @property
    def is_keyless(self) -> bool:
        return is_keyless(self.settings)

    def caller(self, connection: HTTPConnection) -> User:
        """The caller's handle: the key determines it, and a header can only restrict it."""
        return narrow_to_agent(self.holder(connection), connection.headers)

    def holder(self, connection: HTTPConnection) -> User:
        """The user of the key; without one, the configured user."""
        return self._held(self._counted(connection), connection.headers)

    def current_caller(self, connection: HTTPConnection) -> User:
        """Like `caller`, without counting a request: for an open stream."""
        return narrow_to_agent(self.current_holder(connection), connection.headers)

    def current_holder(self, connection: HTTPConnection) -> User:
        """Like `holder`, without counting a request."""
        return self._held(self._key(connection), connection.headers)

    def opened_for(self, operation: Operation, connection: HTTPConnection) -> OperationTarget:
        """The object to call an operation on. An admin's key opens the store and the keys of the
        user named by a header, but no memory."""
        key, headers = self._counted(connection), connection.headers
        if key is None:
            operation.refuse_without_admin()
            return narrow_to_agent(self._held(None, headers), headers)
        opened = operation.opened_by(self.book, key, named_user(headers))
        if isinstance(opened, User):
            return narrow_to_agent(opened, headers)
        if AGENT in headers:
            raise NotAllowed(
                "Agents may not administer the store.", remedy="Leave the agent out.", field=AGENT
            )
        return opened

    def check_caller(self, connection: HTTPConnection) -> None:
        """Any valid key, also an admin's, or the token."""
        key = self._counted(connection)
        if named_user(connection.headers) is not None:
            self._held(key, connection.headers)

    def _held(self, key: Key | None, headers: Headers) -> User:
        named = named_user(headers)
        if key is not None:
            return self.book.opened_by(key, named)
        if named not in (None, self.settings.user):
            raise Unauthenticated("Without an API key only the default user is available.")
        return self.book.user(self.settings.user)

    def _counted(self, connection: HTTPConnection) -> Key | None:
        """The caller's key, after rate limiting; None for the server's token."""
        try:
            key = self._key(connection)
        except Unauthenticated:
            self.failures.take(peer_of(connection))
            raise
        self.rates.take(_limited_caller(key, connection.headers) if key else "")
        return key

    def _key(self, connection: HTTPConnection) -> Key | None:
        given = bearer_token(connection.headers)
        if given is not None and not (self.is_keyless and self.token.equals(given)):
            return self.book.identify(given)
        if not self.is_keyless:
            raise Unauthenticated("An API key is required.")
        self.check_local(connection)
        if given is None:
            self._check_cookie(connection)
        return None

    def check_local(self, connection: HTTPConnection) -> None:
        """The token is for this machine: behind a proxy every caller has a key."""
        if not is_local_request(peer_of(connection), connection.headers):
            raise Unauthenticated(
                "An API key is required: the server's token is accepted only from this machine, "
                "for the host name localhost, and not through a proxy."
            )

    def check_browser(self, connection: HTTPConnection, given: str) -> None:
        """The token in the query of the address that was printed."""
        try:
            self.check_local(connection)
            self.check_token(given)
        except Unauthenticated:
            self.failures.take(peer_of(connection))
            raise

    def check_token(self, given: str) -> None:
        if not self.token.equals(given):
            raise Unauthenticated(
                "An API key or the token of this server is required.",
                remedy=f"The token is in {self.token.place}. Send it as `Authorization: Bearer "
                "TOKEN`, or open /?token=TOKEN in a browser.",
            )

    def _check_cookie(self, connection: HTTPConnection) -> None:
        """Browsers send cookies with requests of any page of the same host, so what changes
        something must come from a page of this server."""
        self.check_token(connection.cookies.get(self.token.cookie_name, ""))
        if connection.scope["method"] not in SAFE_METHODS:
            check_same_origin(connection.headers)


def named_user(headers: Headers) -> str | None:
    named = headers.getlist(USER)
    if len(named) > 1:
        raise InvalidInput("The header Commonplace-User is given more than once.", field="user")
    return decode_header(named[0], "user") if named else None


def _limited_caller(key: Key, headers: Headers) -> str:
    """The users of a service key have a limit each; names that it may not use share one."""
    named = named_user(headers)
    if key.service and named is not None and key.may_act_for(named):
        return f"{key.id} {named}"
    return key.id


def narrow_to_agent(user: User, headers: Headers) -> User:
    agent = headers.get(AGENT)
    if agent is None:
        return user
    agent = decode_header(agent, "agent")
    return user.agent(agent, may_resolve=headers.get(MAY_RESOLVE, "").lower() == "true")


class LargeBodies:
    """The memory that request bodies take, beyond those of the small size. In the server's event
    loop."""

    def __init__(self, most: int):
        self._most = most
        self._held: Counter[str] = Counter()

    @contextmanager
    def held(self, user_id: str) -> Iterator[Callable[[int], None]]:
        """A function to call with the number of further bytes; all are returned at the end."""
        taken = 0

        def take(bytes: int) -> None:
            nonlocal taken
            is_full = self._held.total() + bytes > self._most
            if is_full or self._held[user_id] + bytes > self._most // 2:
                raise StoreBusy("Too many large requests are being received.")
            self._held[user_id] += bytes
            taken += bytes

        try:
            yield take
        finally:
            self._held[user_id] -= taken
            if not self._held[user_id]:
                del self._held[user_id]


class ChangeListeners:
    """Streams that wait for changes of a user, in the server's event loop."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self.is_draining = False

    def check_room(self, user_id: str) -> None:
        """A stream holds its connection: those of one user must not take all of them."""
        if len(self._waiting.get(user_id, ())) >= MAX_STREAMS:
            raise RateLimited(
                f"At most {MAX_STREAMS} streams of one user at once.",
                seconds=STREAM_RETRY_SECONDS,
            )

    @contextmanager
    def waiting(self, user_id: str) -> Iterator[asyncio.Event]:
        news = asyncio.Event()
        self._waiting.setdefault(user_id, set()).add(news)
        try:
            yield news
        finally:
            self._waiting[user_id].discard(news)
            if not self._waiting[user_id]:
                del self._waiting[user_id]

    def tell(self, user_id: str) -> None:
        for news in self._waiting.get(user_id, ()):
            news.set()

    def drain(self) -> None:
        """End all streams; clients reconnect to another server."""
        self.is_draining = True
        for user_id in tuple(self._waiting):
            self.tell(user_id)


def peer_of(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else ""


def bearer_token(headers: Headers) -> str | None:
    given = headers.get("authorization")
    if given is None:
        return None
    scheme, _, token = given.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("The Authorization header must be: Bearer KEY.")
    return token.strip()


def _comma_separated(listed: str) -> list[str]:
    return [word.strip().lower() for word in listed.split(",") if word.strip()]
