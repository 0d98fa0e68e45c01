"""What all requests of a server share: the book, who is let in, the limits, who listens."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers

from commonplace.book import Commonplace, OfKeys, User
from commonplace.errors import NotAllowed, Unauthenticated
from commonplace.operations import Operation
from commonplace.settings import Settings
from commonplace.surfaces.rest.doors import Rates, is_loopback
from commonplace.surfaces.rest.metrics import Metrics

AGENT = "commonplace-agent"  # narrows who asks to one of the owner's agents
USER = "commonplace-user"  # whose keys an admin looks after
MAY_RESOLVE = "commonplace-may-resolve"
MEGABYTE = 1_000_000


class Reception:
    def __init__(self, book: Commonplace, settings: Settings):
        self.book = book
        self.settings = settings
        self.names = frozenset(_words(settings.serve_names)) | {settings.serve_host.lower()}
        self.origins = frozenset(_words(settings.serve_origins))
        self.max_bytes = int(settings.serve_max_mb * MEGABYTE)
        self.rates = Rates(settings.serve_rate)
        self.metrics = Metrics()
        self.listeners = Listeners()

    @property
    def is_keyless(self) -> bool:
        """On a machine's own loopback its one user needs no key."""
        return self.settings.serve_keyless and is_loopback(self.settings.serve_host)

    def caller(self, headers: Headers) -> User:
        """Whose memory it is, and who asks: the key says so, and a header can only narrow it."""
        token = self._token(headers)
        user = self.book.authenticate(token) if token else self.book.user(self.settings.user)
        return _narrowed(user, headers)

    def opened_for(self, operation: Operation, headers: Headers) -> User | OfKeys | Commonplace:
        """What the caller calls an operation on. An admin's key looks after the store and the
        keys of the user that a header names, and opens nobody's memory."""
        if not operation.of_the_store and USER not in headers:
            return self.caller(headers)
        token = self._token(headers)
        if AGENT in headers:
            raise NotAllowed("Only the owner may look after the whole store.", field=AGENT)
        if token:
            return operation.opened_with(self.book, token, headers.get(USER))
        return self.book if operation.of_the_store else self._own(headers[USER])

    def _own(self, named: str) -> User:
        if named != self.settings.user:
            raise Unauthenticated("Without a key there is one user here.")
        return self.book.user(named)

    def _token(self, headers: Headers) -> str | None:
        token = bearer(headers)
        if token is None and not self.is_keyless:
            raise Unauthenticated("A key is needed.")
        self.rates.take(hashlib.sha256(token.encode()).hexdigest() if token else "")
        return token


def _narrowed(user: User, headers: Headers) -> User:
    agent = headers.get(AGENT)
    if agent is None:
        return user
    return user.agent(agent, may_resolve=headers.get(MAY_RESOLVE, "").lower() == "true")


class Listeners:
    """Streams that wait for news of a user. They live in the server's event loop."""

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
        """No stream goes on: who listens comes back to another server."""
        self.is_draining = True
        for user_id in tuple(self._waiting):
            self.tell(user_id)


def bearer(headers: Headers) -> str | None:
    given = headers.get("authorization")
    if given is None:
        return None
    scheme, _, token = given.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("The Authorization header is no bearer key.")
    return token.strip()


def _words(listed: str) -> list[str]:
    return [word.strip().lower() for word in listed.split(",") if word.strip()]
