"""Endpoints other than operations: me, health, metrics, and the change stream (SSE)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from commonplace.api import User
from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.model.delta import Delta
from commonplace.operations.serialization import EVENTS, JSON, as_data, refuse_unknown
from commonplace.surfaces.rest import monitoring
from commonplace.surfaces.rest.openapi import (
    KEY_SECURITY,
    agent_headers,
    problem_responses,
    user_header,
)
from commonplace.surfaces.rest.problems import problem_data, status_of
from commonplace.surfaces.rest.routes import LAST_EVENT_ID, PREFIX
from commonplace.surfaces.rest.server_context import ServerContext


def _status_content(word: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"status": {"type": "string"}}}
    return {JSON: {"schema": schema, "example": {"status": word}}}


class SystemEndpoints:
    def __init__(self, server_context: ServerContext):
        self._server_context = server_context

    def add_to(self, app: FastAPI) -> None:
        me = {"schema": {"$ref": "#/components/schemas/Me"}}
        me_extra = {"parameters": [*agent_headers(), user_header()], "security": KEY_SECURITY}
        key_extra = {"security": KEY_SECURITY}
        me_summary = "The user, the caller and its rights, and the revision"
        for path, endpoint, summary, content, more in (
            (f"{PREFIX}/me", self.who, me_summary, {JSON: me}, me_extra),
            ("/healthz", self.alive, "Is the server alive?", _status_content("ok"), None),
            (
                "/readyz",
                self.ready,
                "Can the server read the store?",
                _status_content("ready"),
                None,
            ),
            ("/metrics", self.numbers, "Metrics for Prometheus", {"text/plain": {}}, key_extra),
        ):
            app.add_api_route(
                path,
                endpoint,
                methods=["GET"],
                response_model=None,
                response_class=Response,
                responses={
                    200: {"description": summary, "content": content},
                    **problem_responses(),
                },
                openapi_extra=more,
                summary=summary,
                tags=["server"],
            )

    async def who(self, request: Request) -> Response:
        user = await run_in_threadpool(self._server_context.caller, request)
        principal = user.principal
        revision = await run_in_threadpool(lambda: user.revision)
        return JSONResponse(
            {
                "user_id": principal.user_id,
                "agent": principal.agent,
                "cleared": principal.cleared,
                "may_resolve": principal.decides,
                "read_only": principal.read_only,
                "team": principal.team,
                "key": principal.key,
                "revision": revision,
            }
        )

    async def alive(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        if self._server_context.listeners.is_draining:
            return JSONResponse({"status": "draining"}, status_code=503)
        await run_in_threadpool(self._server_context.book.ping)
        return JSONResponse({"status": "ready"})

    async def numbers(self, request: Request) -> Response:
        """Needs a valid key or the token: the numbers show when somebody is active."""
        await run_in_threadpool(self._server_context.check_caller, request)
        return Response(
            self._server_context.metrics.text(), media_type=monitoring.METRICS_MEDIA_TYPE
        )


IS_HEAD = "commonplace.is_head"  # in a request's scope: send no events
_STREAM_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
POLL_SECONDS = 1.0  # for changes by other processes
KEEPALIVE_POLLS = 15  # polls without changes before a keep-alive comment
MAX_REVISION = 2**62
SINCE = "since"


class ChangeStream:
    def __init__(self, server_context: ServerContext):
        self._server_context = server_context

    async def __call__(self, request: Request) -> Response:
        user = await run_in_threadpool(self._server_context.caller, request)
        since = _since(request)
        if since is None:
            since = await run_in_threadpool(lambda: user.revision)
        if request.scope.get(IS_HEAD):
            return Response(media_type=EVENTS, headers=_STREAM_HEADERS)
        self._server_context.listeners.check_room(user.principal.user_id)
        return StreamingResponse(
            self._events(request, user.principal.user_id, since),
            media_type=EVENTS,
            headers=_STREAM_HEADERS,
        )

    async def _events(self, request: Request, user_id: str, since: int) -> AsyncIterator[bytes]:
        metrics, listeners = self._server_context.metrics, self._server_context.listeners
        metrics.streams += 1
        try:
            with listeners.waiting(user_id) as news:
                yield b": listening\n\n"
                quiet = 0
                while not listeners.is_draining:
                    news.clear()
                    delta = await run_in_threadpool(self._load_changes, request, since)
                    quiet = 0 if delta.changes else quiet + 1
                    if delta.changes:
                        yield sse_event("changes", as_data(delta), delta.revision)
                    elif quiet % KEEPALIVE_POLLS == 0:
                        yield b": still here\n\n"
                    since = delta.revision
                    await _wait(news)
        except CommonplaceError as error:  # e.g. a revoked key
            yield sse_event("problem", problem_data(error, status_of(error)))
        finally:
            metrics.streams -= 1

    def _load_changes(self, request: Request, since: int) -> Delta:
        """Authenticate on each poll: the key can be revoked meanwhile. The stream counts as one
        request."""
        user: User = self._server_context.current_caller(request)
        return self._server_context.book.changes_after(user, since)


async def _wait(news: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(news.wait(), POLL_SECONDS)
    except TimeoutError:
        return


def _since(request: Request) -> int | None:
    """The revision from Last-Event-ID, else from the query, else None."""
    refuse_unknown(request.query_params, (SINCE,))
    given = request.headers.get(LAST_EVENT_ID) or request.query_params.get(SINCE)
    if given is None:
        return None
    if not (given.isascii() and given.isdigit()) or int(given[:20]) > MAX_REVISION:
        raise InvalidInput("The revision must be a whole number.", field=SINCE)
    return int(given)


def sse_event(kind: str, data: object, id: int | None = None) -> bytes:
    numbered = "" if id is None else f"id: {id}\n"
    data_text = json.dumps(data, ensure_ascii=False)
    return f"{numbered}event: {kind}\ndata: {data_text}\n\n".encode()
