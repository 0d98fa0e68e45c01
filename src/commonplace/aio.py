"""Async API: every verb of the synchronous API, run in a thread.

async with await commonplace.aio.open("memory.db") as book:
    me = book.user("ana")
    await me.remember("The wifi password is tulip42")
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import wraps
from types import TracebackType
from typing import Any, Self

from commonplace import api as synchronous
from commonplace.language.embedders.embedder import Embedder
from commonplace.lazy import lazy_imports
from commonplace.model.access.key import NewKey, ShownKey
from commonplace.surfaces.rest import client as remote

with lazy_imports(__name__):
    from commonplace.engine.llm.usage import ModelUsageOfUser
    from commonplace.engine.maintenance.reembed import Reembedded
    from commonplace.engine.maintenance.worker import Worked
    from commonplace.engine.reading.on_request import ExtractedForAll


async def open(url: str | None = None, **settings: Any) -> AsyncCommonplace:
    return AsyncCommonplace(await asyncio.to_thread(synchronous.open, url, **settings))


async def connect(
    url: str, key: str | None = None, *, user: str | None = None, timeout: float = 60.0
) -> AsyncRemoteUser:
    """`commonplace.connect` for code that awaits."""
    return AsyncRemoteUser(remote.connect(url, key, user=user, timeout=timeout))


class AsyncUser:
    """Every verb of `User`, awaited. Nothing is written twice: the verbs are looked up."""

    def __init__(self, user: synchronous.User):
        self._user = user

    def agent(self, name: str, *, may_resolve: bool = False) -> AsyncUser:
        return AsyncUser(self._user.agent(name, may_resolve=may_resolve))

    def __getattr__(self, verb: str) -> Callable[..., Awaitable[Any]]:
        return in_thread(getattr(self._user, verb))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._user)})


class AsyncRemoteUser(AsyncUser):
    """A memory on a server."""

    def __init__(self, user: remote.RemoteUser):
        super().__init__(user)
        self._remote = user

    async def close(self) -> None:
        await asyncio.to_thread(self._remote.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *ended: object) -> None:
        await self.close()


class AsyncCommonplace:
    def __init__(self, book: synchronous.Commonplace):
        self._book = book

    def user(self, user_id: str, *, cleared: bool = False) -> AsyncUser:
        return AsyncUser(self._book.user(user_id, cleared=cleared))

    async def authenticate(self, token: str, user_id: str | None = None) -> AsyncUser:
        return AsyncUser(await asyncio.to_thread(self._book.authenticate, token, user_id))

    async def admin_keys(self) -> Sequence[ShownKey]:
        return await asyncio.to_thread(self._book.admin_keys)

    async def admin_keys_create(self, label: str = "admin", **more: Any) -> NewKey:
        return await asyncio.to_thread(self._book.admin_keys_create, label, **more)

    async def admin_keys_revoke(self, id: str) -> ShownKey:
        return await asyncio.to_thread(self._book.admin_keys_revoke, id)

    async def service_keys(self) -> Sequence[ShownKey]:
        return await asyncio.to_thread(self._book.service_keys)

    async def service_keys_create(self, label: str, **more: Any) -> NewKey:
        return await asyncio.to_thread(self._book.service_keys_create, label, **more)

    async def service_keys_revoke(self, id: str) -> ShownKey:
        return await asyncio.to_thread(self._book.service_keys_revoke, id)

    async def service_keys_rotate(self, id: str, *, grace_minutes: float = 0) -> NewKey:
        return await asyncio.to_thread(
            self._book.service_keys_rotate, id, grace_minutes=grace_minutes
        )

    @property
    def embedder(self) -> Embedder:
        return self._book.embedder

    @property
    def url(self) -> str:
        return self._book.url

    async def reembed(self, embedder: str | Embedder, **more: Any) -> Reembedded:
        return await asyncio.to_thread(self._book.reembed, embedder, **more)

    async def calibrate(
        self, lines: Iterable[str] | None = None, *, reset: bool = False
    ) -> synchronous.Calibrated:
        return await asyncio.to_thread(self._book.calibrate, lines, reset=reset)

    async def extract_all(self, *, at_most: int = 500) -> ExtractedForAll:
        return await asyncio.to_thread(self._book.extract_all, at_most=at_most)

    async def model_users(self, *, days: int = 30) -> Sequence[ModelUsageOfUser]:
        return await asyncio.to_thread(self._book.model_users, days=days)

    async def work(self, *, once: bool = False) -> Worked:
        return await asyncio.to_thread(self._book.work, once=once)

    def stop_work(self) -> None:
        self._book.stop_work()

    async def flush(self) -> None:
        await asyncio.to_thread(self._book.flush)

    async def close(self) -> None:
        await asyncio.to_thread(self._book.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def in_thread(verb: Any) -> Callable[..., Awaitable[Any]]:
    if not callable(verb):
        raise AttributeError("only verbs are awaited")

    @wraps(verb)
    async def awaited(*arguments: Any, **named: Any) -> Any:
        return await asyncio.to_thread(_run_to_end, verb, arguments, named)

    return awaited


def _run_to_end(verb: Callable[..., Any], arguments: Any, named: Any) -> Any:
    """An iterator would read the store outside the thread, so it is read to its end here."""
    answer = verb(*arguments, **named)
    return list(answer) if isinstance(answer, Iterator) else answer
