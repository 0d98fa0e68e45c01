"""Shared state of a server's requests: authentication, limits, metrics, listeners."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from commonplace.api import Commonplace, KeyVerbs, User
from commonplace.errors import NotAllowed, Unauthenticated
from commonplace.model.access.key import Key
from commonplace.operations.table import Operation
from commonplace.settings import Settings
from commonplace.surfaces.rest.heavy_operations import HeavyOperations
from commonplace.surfaces.rest.monitoring import Metrics
from commonplace.surfaces.rest.request_checks import RateLimiter, is_local_request, is_loopback
from commonplace.surfaces.rest.routes import AGENT, MAY_RESOLVE, USER

MEGABYTE = 1_000_000
MAX_FAILURES = 20.0  # requests without a valid key, per second and peer
OperationTarget = User | KeyVerbs | Commonplace


class ServerContext:
    def __init__(self, book: Commonplace, settings: Settings):
        self.book = book
        self.settings = settings
        self.names = frozenset(_comma_separated(settings.serve_names)) | {
            settings.serve_host.lower()
        }
        self.origins = frozenset(_comma_separated(settings.serve_origins))
        self.max_bytes = int(settings.serve_max_mb * MEGABYTE)
        self.rates = RateLimiter(settings.serve_rate, "Too many requests with this key.")
        # Requests without a valid key have a separate limit and cannot block others.
        few = min(settings.serve_rate, MAX_FAILURES)
        self.failures = RateLimiter(few, "Too many requests without a valid key.")
        self.metrics = Metrics()
        self.listeners = ChangeListeners()
        self.heavy_operations = HeavyOperations()

    @property
    def is_keyless(self) -> bool:
        """True on loopback without a configured host name. A server with a name is behind a proxy
        on this machine and needs keys."""
        chosen = self.settings
        return chosen.serve_keyless and is_loopback(chosen.serve_host) and not chosen.serve_names

    def caller(self, connection: HTTPConnection) -> User:
        """The caller's handle: the key determines it, and a header can only restrict it."""
        return narrow_to_agent(self.holder(connection), connection.headers)

    def holder(self, connection: HTTPConnection) -> User:
        """The user of the key; without one, the configured user."""
        return self._held(self._counted(connection))

    def current_caller(self, connection: HTTPConnection) -> User:
        """Like `caller`, without counting a request: for an open stream."""
        return narrow_to_agent(self._held(self._key(connection)), connection.headers)

    def opened_for(self, operation: Operation, connection: HTTPConnection) -> OperationTarget:
        """The object to call an operation on. An admin's key opens the store and the keys of the
        user named by a header, but no memory."""
        key, headers = self._counted(connection), connection.headers
        named = headers.get(USER)
        if key is None:
            operation.refuse_without_admin()
            self._hold_to_the_one_user(named)
            return narrow_to_agent(self._held(None), headers)
        opened = operation.opened_by(self.book, key, named)
        if isinstance(opened, User):
            return narrow_to_agent(opened, headers)
        if AGENT in headers:
            raise NotAllowed(
                "Agents may not administer the store.", remedy="Leave the agent out.", field=AGENT
            )
        return opened

    def _held(self, key: Key | None) -> User:
        return self.book.opened_by(key) if key else self.book.user(self.settings.user)

    def _hold_to_the_one_user(self, named: str | None) -> None:
        if named not in (None, self.settings.user):
            raise Unauthenticated("Without an API key only the default user is available.")

    def _counted(self, connection: HTTPConnection) -> Key | None:
        """The caller's key, after rate limiting; None for a keyless request."""
        try:
            key = self._key(connection)
        except Unauthenticated:
            self.failures.take(peer_of(connection))
            raise
        self.rates.take(key.id if key else "")
        return key

    def _key(self, connection: HTTPConnection) -> Key | None:
        token = bearer_token(connection.headers)
        if token is not None:
            return self.book.identify(token)
        if not self.is_keyless:
            raise Unauthenticated("An API key is required.")
        if not is_local_request(peer_of(connection), connection.headers):
            raise Unauthenticated(
                "An API key is required: without one, only requests from this machine, to the host "
                "name localhost and not through a proxy, are accepted."
            )
        return None


def narrow_to_agent(user: User, headers: Headers) -> User:
    agent = headers.get(AGENT)
    if agent is None:
        return user
    return user.agent(agent, may_resolve=headers.get(MAY_RESOLVE, "").lower() == "true")


class ChangeListeners:
    """Streams that wait for changes of a user, in the server's event loop."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self.is_draining = False

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
