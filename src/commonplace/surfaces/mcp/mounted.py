"""The protocol over HTTP, beside REST on the same port: the same keys, doors and rates."""

from __future__ import annotations

from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import types
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from commonplace.book import User
from commonplace.errors import CommonplaceError
from commonplace.surfaces.mcp.callers import Asking, Caller, for_its_owner
from commonplace.surfaces.mcp.calling import in_thread
from commonplace.surfaces.mcp.server import build_server
from commonplace.surfaces.mcp.telling import told_of
from commonplace.surfaces.media_types import JSON
from commonplace.surfaces.rest.problems import headers_of, status_of
from commonplace.surfaces.rest.reception import Reception, narrowed
from commonplace.surfaces.rest.routes import MCP_PATH

_CALLER = "commonplace.caller"


class Mounted:
    """Every request says who it is from: a key that was revoked opens nothing any more, not even
    in a session that it began. A session goes on only with the rights that it began with."""

    def __init__(self, reception: Reception, profile: str | None = None):
        self._reception = reception
        self.route = Route(f"{MCP_PATH}/{profile}" if profile else MCP_PATH, self)
        self._manager = StreamableHTTPSessionManager(
            build_server(_caller, self._wrote, profile),
            max_request_body_size=reception.max_bytes,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._manager.run():
            yield

    def _wrote(self, user: User) -> None:
        self._reception.listeners.tell(user.principal.user_id)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self.route  # for metrics and logs: FastAPI names only routes of its own
        came = HTTPConnection(scope)
        try:
            holder = await in_thread(self._reception.holder, came)
            acting = narrowed(holder, came.headers)
        except CommonplaceError as error:
            await refusal(error)(scope, receive, send)
            return
        scope[_CALLER] = holder, acting
        scope["user"] = _owner_of_the_session(acting)
        if scope["method"] == "GET":
            await self._until_draining(acting.principal.user_id, scope, receive, send)
        else:
            await self._manager.handle_request(scope, receive, send)

    async def _until_draining(
        self, user_id: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """A stream that only listens would hold up the end of a server for as long as it likes."""
        answer = _Answer(send)
        listeners = self._reception.listeners
        with listeners.waiting(user_id) as news:
            async with anyio.create_task_group() as together:

                async def end() -> None:
                    while not listeners.is_draining:
                        news.clear()
                        await news.wait()
                    together.cancel_scope.cancel()

                together.start_soon(end)
                await self._manager.handle_request(scope, receive, answer.send)
                together.cancel_scope.cancel()
        await answer.end()


class _Answer:
    """An answer that is brought to its end, wherever it was left."""

    def __init__(self, send: Send):
        self._send = send
        self._is_open = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._is_open = True
        elif message["type"] == "http.response.body":
            self._is_open = bool(message.get("more_body"))
        await self._send(message)

    async def end(self) -> None:
        if self._is_open:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})


def _caller(asking: Asking) -> Caller:
    """A header names the agent, and may let it decide conflicts; the key says whose agent it is."""
    scope: MutableMapping[str, Any] = asking.request.scope  # type: ignore[union-attr]
    holder, acting = scope[_CALLER]
    owned = holder.principal.is_owner and not acting.principal.is_owner
    return Caller(acting, holder) if owned else for_its_owner(holder, asking)


def _owner_of_the_session(user: User) -> AuthenticatedUser:
    """Who a session belongs to, as the SDK compares it; the key itself is not kept there."""
    asking = user.principal
    who = AccessToken(
        token="", client_id=asking.key or "", scopes=[], subject=f"{asking.actor} {asking.user_id}"
    )
    return AuthenticatedUser(who)


def refusal(error: CommonplaceError) -> Response:
    """As JSON-RPC tells an error: clients show its words, and of a problem only the status."""
    told = types.ErrorData(code=types.INVALID_REQUEST, message=told_of(error), data=error.as_dict())
    status = status_of(error)
    return Response(
        types.JSONRPCError(jsonrpc="2.0", id=None, error=told).model_dump_json(by_alias=True),
        status_code=status,
        media_type=JSON,
        headers=headers_of(error, status),
    )
