"""Changes as they happen: server-sent events, numbered by revision."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from commonplace.answers import as_data
from commonplace.book import User
from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.model.delta import Delta
from commonplace.surfaces.given import refuse_unknown
from commonplace.surfaces.media_types import EVENTS
from commonplace.surfaces.rest.headers import LAST_EVENT_ID
from commonplace.surfaces.rest.problems import as_problem, status_of
from commonplace.surfaces.rest.reception import Reception

IS_HEAD = "commonplace.is_head"  # in a request's scope: nobody would hear the events
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
LOOK_EVERY = 1.0  # seconds: other processes change the store as well
SIGN_OF_LIFE = 15  # looks without news, after which a comment keeps proxies from hanging up
HIGHEST = 2**62
SINCE = "since"


class ChangeStream:
    def __init__(self, reception: Reception):
        self._reception = reception

    async def __call__(self, request: Request) -> Response:
        user = await run_in_threadpool(self._reception.caller, request)
        since = _since(request)
        if since is None:
            since = await run_in_threadpool(lambda: user.revision)
        if request.scope.get(IS_HEAD):
            return Response(media_type=EVENTS, headers=_HEADERS)
        return StreamingResponse(
            self._events(request, user.principal.user_id, since),
            media_type=EVENTS,
            headers=_HEADERS,
        )

    async def _events(self, request: Request, user_id: str, since: int) -> AsyncIterator[bytes]:
        metrics, listeners = self._reception.metrics, self._reception.listeners
        metrics.streams += 1
        try:
            with listeners.waiting(user_id) as news:
                yield b": listening\n\n"
                quiet = 0
                while not listeners.is_draining:
                    news.clear()
                    delta = await run_in_threadpool(self._look, request, since)
                    quiet = 0 if delta.changes else quiet + 1
                    if delta.changes:
                        yield event("changes", as_data(delta), delta.revision)
                    elif quiet % SIGN_OF_LIFE == 0:
                        yield b": still here\n\n"
                    since = delta.revision
                    await _wait(news)
        except CommonplaceError as error:  # such as a key that is no longer valid
            yield event("problem", as_problem(error, status_of(error)))
        finally:
            metrics.streams -= 1

    def _look(self, request: Request, since: int) -> Delta:
        """Who asks is looked at anew each time: a key can be revoked while its holder listens. It
        is counted as the one request that it is."""
        user: User = self._reception.still(request)
        return self._reception.book.changes_after(user, since)


async def _wait(news: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(news.wait(), LOOK_EVERY)
    except TimeoutError:
        return


def _since(request: Request) -> int | None:
    """Where the last stream broke off; else what the query says; else now."""
    refuse_unknown(request.query_params, (SINCE,))
    given = request.headers.get(LAST_EVENT_ID) or request.query_params.get(SINCE)
    if given is None:
        return None
    if not (given.isascii() and given.isdigit()) or int(given[:20]) > HIGHEST:
        raise InvalidInput("The revision must be a whole number.", field=SINCE)
    return int(given)


def event(kind: str, data: object, id: int | None = None) -> bytes:
    numbered = "" if id is None else f"id: {id}\n"
    told = json.dumps(data, ensure_ascii=False)
    return f"{numbered}event: {kind}\ndata: {told}\n\n".encode()
