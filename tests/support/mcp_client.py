"""The official client, for tests that are not async: it lives in a thread with its own loop."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio
import httpx2
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server

from commonplace.api import User
from commonplace.surfaces.mcp.calls import ERROR
from commonplace.surfaces.mcp.server import build_server, single_caller
from commonplace.surfaces.rest.client import local_token

PATIENCE = 60
MODES = (
    "2026-07-28",
    "legacy",
)  # the current version of the protocol, and the handshakes before it


class Connected:
    """A client that is connected; its methods wait for their answers."""

    def __init__(self, client: Client, portal: Any, headers: Any = None):
        self.client = client
        self.headers = headers  # that go with every request over HTTP
        self._portal = portal

    def run(self, method: Callable[..., Any], *given: Any) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(PATIENCE):
                return await method(*given)

        return self._portal.call(bounded)

    def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        return self.run(self.client.call_tool, tool, arguments)

    def unchecked(self, tool: str, arguments: Mapping[str, Any], **more: Any) -> Any:
        """As it goes over the wire. The client itself would list the tools first, and hold their
        schemas and what is answered to them: good to have once, slow for many connections."""
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments), **more)
        request = types.CallToolRequest(params=params)
        return self.run(self.client.session.send_request, request, types.CallToolResult)

    def data(self, tool: str, **arguments: Any) -> Any:
        """The answer of a call that succeeds."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content
        return result.structured_content

    def refusal(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The error of a call that does not, as data."""
        result = self.call(tool, **arguments)
        assert result.is_error, result.structured_content
        told = result.meta[ERROR]
        assert result.content[0].text.startswith(f"{told['code']}: ")
        assert "Traceback" not in result.content[0].text
        return told


@contextmanager
def connected(target: Any, **options: Any) -> Iterator[Connected]:
    with start_blocking_portal() as portal:
        client = Client(target, read_timeout_seconds=PATIENCE, **options)
        with portal.wrap_async_context_manager(client):
            yield Connected(client, portal)


@contextmanager
def over_http(
    url: str,
    key: str | None = None,
    headers: Mapping[str, str] | None = None,
    path: str = "/mcp",
    **options: Any,
) -> Iterator[Connected]:
    """With a key, as its holder would set it up; without one, with the server's token."""
    known = key or local_token(url)
    sent = {"authorization": f"Bearer {known}"} if known else {}
    with start_blocking_portal() as portal:

        async def make() -> httpx2.AsyncClient:
            return httpx2.AsyncClient(headers={**sent, **(headers or {})}, timeout=PATIENCE)

        http = portal.call(make)
        transport = streamable_http_client(f"{url}{path}", http_client=http)
        client = Client(transport, read_timeout_seconds=PATIENCE, **options)
        try:
            with portal.wrap_async_context_manager(client):
                yield Connected(client, portal, http.headers)
        finally:
            portal.call(http.aclose)


def server_for(
    user: User, as_owner: bool = True, profile: str | None = None, agent: str | None = None
) -> Server[Any]:
    """As `commonplace mcp` builds it, without a process; with --as-owner, unless told otherwise."""
    return build_server(single_caller(lambda: user, agent, as_owner), profile=profile)


def command(store: str, *more: str) -> StdioServerParameters:
    """`commonplace mcp`, as a client would start it."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "commonplace", "mcp", "--store", store, "--embedder", "hashing", *more],
        env=dict(os.environ),
    )
