"""The protocol over standard input and output, for a client that starts the server itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
from mcp import types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from commonplace.book import User
from commonplace.surfaces.mcp.callers import Asking, Caller, Who, as_the_owner, for_its_owner
from commonplace.surfaces.mcp.server import build_server


def one_caller(holder: Callable[[], User], agent: str | None, as_owner: bool) -> Who:
    """The program that started the server. `holder` says for each request who has the store or the
    key: it may be revoked."""

    def who(asking: Asking) -> Caller:
        held = holder()
        if as_owner and agent is None and held.principal.is_owner:
            return as_the_owner(held)
        return for_its_owner(held, asking, agent)

    return who


def serve_stdio(who: Who, profile: str | None = None) -> None:
    """Until standard input ends."""
    anyio.run(_serve, who, profile)


async def _serve(who: Who, profile: str | None) -> None:
    server = build_server(who, profile=profile)
    async with stdio_server() as (lines, answers):
        heard, hears = anyio.create_memory_object_stream[SessionMessage | Exception]()

        async def sort() -> None:
            """What is no message is answered as such: its sender may wait for something."""
            async with heard:
                async for line in lines:
                    if isinstance(line, Exception):
                        await answers.send(SessionMessage(_unreadable(line)))
                    else:
                        await heard.send(line)

        async with anyio.create_task_group() as together:
            together.start_soon(sort)
            await server.run(hears, answers, server.create_initialization_options())
            together.cancel_scope.cancel()


def _unreadable(error: Exception) -> types.JSONRPCError:
    line = error.errors()[0]["input"] if isinstance(error, ValidationError) else None
    is_json, id = _id_in(line)
    told = types.ErrorData(
        code=types.INVALID_REQUEST if is_json else types.PARSE_ERROR,
        message="This line is no message of the protocol in valid UTF-8.",
    )
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=told)


def _id_in(line: Any) -> tuple[bool, str | int | None]:
    """Readers of JSON differ: half a character is refused by one and taken by another."""
    try:
        message = json.loads(line)
    except (TypeError, ValueError, RecursionError):
        return False, None
    id = message.get("id") if isinstance(message, dict) else None
    return True, id if isinstance(id, str | int) and not isinstance(id, bool) else None
