"""MCP sampling: the model of a connected client answers for the user whom the client acts for.

With the setting `model = mcp`. The client shows each request to its person as it likes, and may
decline. Only a client is asked that acts for the memory's owner and may read passages of sources,
since prompts contain them. Its rights are checked before each request: a key may be revoked.

Versions of the protocol from 2026-07-28 on know no requests from servers: such clients are not
asked.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Any

from mcp import types
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from commonplace.errors import CommonplaceError
from commonplace.language.llm.answers import RawAnswer, complete_checked, with_form_in_words
from commonplace.language.llm.language_model import (
    CONNECTED,
    BadModelAnswer,
    MessageRole,
    ModelAnswer,
    ModelDown,
    ModelFailure,
    ModelRefused,
    ModelRequest,
)
from commonplace.language.llm.providers import ConfiguredModels, ConnectedModels
from commonplace.surfaces.mcp.calls import in_thread
from commonplace.surfaces.mcp.elicitation import Caller, CallerLookup, McpRequest, client_name

log = logging.getLogger("commonplace.mcp")

_PASSAGES = "history"  # the category of passages of sources
_DECLINED = -1  # the protocol's code: the person said no
_UNABLE = frozenset({types.METHOD_NOT_FOUND, types.INVALID_REQUEST, types.INVALID_PARAMS})
_MARGIN = 5.0  # seconds beyond the time limit, for an event loop that is gone
_TRUNCATED = "maxTokens"
_SMALL = types.ModelPreferences(cost_priority=1, speed_priority=1, intelligence_priority=0)
_LARGE = types.ModelPreferences(cost_priority=0, speed_priority=0, intelligence_priority=1)


class SamplingClients:
    """Middleware of an MCP server: which connections can be asked now. In the event loop."""

    def __init__(self, who: CallerLookup, models: ConnectedModels, *, by_stream: bool = False):
        """``by_stream``: over HTTP, a client can be asked while it holds a stream open."""
        self._who = who
        self._models = models
        self._by_stream = by_stream
        self._clients: dict[object, SampledClient] = {}
        self._streams: set[object] = set()

    async def __call__(self, ctx: McpRequest, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        try:
            await self._note(ctx)
        except CommonplaceError as error:  # the key was revoked meanwhile
            log.info("sampling", extra={"facts": {"refused": error.code}})
        except Exception as error:  # the request itself was answered
            log.error("sampling", exc_info=error, extra={"facts": {"method": ctx.method}})
        return result

    @contextmanager
    def stream(self, session_id: str | None) -> Iterator[None]:
        """While the stream of a session over HTTP is open; another one of it is refused."""
        if session_id is None or session_id in self._streams:
            yield
            return
        self._streams.add(session_id)
        self._connect(session_id)
        try:
            yield
        finally:
            self._streams.discard(session_id)
            self._disconnect(session_id)

    async def _note(self, request: McpRequest) -> None:
        """The connection of a request, if its client can be asked."""
        if request.protocol_version in MODERN_PROTOCOL_VERSIONS or not _can_sample(request):
            return
        # The SDK hands it to nobody else: the end of a connection is known by it alone.
        connection = getattr(request.session, "_connection", None)
        if connection is None or not connection.initialized.is_set():
            return
        key = connection.session_id or id(connection)
        if key in self._clients:
            await self._clients[key].is_checked.wait()
            return
        client = SampledClient(request, self._who, self._models, key)
        self._clients[key] = client
        connection.exit_stack.callback(self._forget, key)
        try:
            client.user_id = await in_thread(client.checked_user)
        finally:
            client.is_checked.set()
        self._connect(key)

    def _connect(self, key: object) -> None:
        client = self._clients.get(key)
        if client is not None and (not self._by_stream or key in self._streams):
            client.connect()

    def _disconnect(self, key: object) -> None:
        if key in self._clients:
            self._clients[key].disconnect()

    def _forget(self, key: object) -> None:
        self._disconnect(key)
        self._clients.pop(key, None)


def _can_sample(request: McpRequest) -> bool:
    able = request.session.client_capabilities
    return able is not None and able.sampling is not None


def may_be_asked(caller: Caller) -> bool:
    """Its model is shown what the owner's turns and sources say."""
    principal = caller.user.principal
    sees = principal.categories is None or _PASSAGES in principal.categories
    return caller.owner is not None and sees and not principal.read_only and principal.team is None


class SampledClient:
    """One connection. Connected in the event loop, asked by worker threads."""

    def __init__(
        self, request: McpRequest, who: CallerLookup, models: ConnectedModels, key: object
    ):
        self.timeout = models.timeout
        self._request = request  # the one that showed what the client can do
        self._who = who
        self._models = models
        self._key = key
        self._loop = asyncio.get_running_loop()
        self._pending: set[Future[Any]] = set()
        self._is_connected = False
        self._has_declined = False  # a person who said no is not asked again on this connection
        self.user_id: str | None = None  # None: it may not be asked
        self.is_checked = asyncio.Event()

    def checked_user(self) -> str | None:
        """The user whom it acts for now; None if it may not be asked. Reads the store."""
        caller = self._who(self._request)
        return caller.user.principal.user_id if may_be_asked(caller) else None

    def connect(self) -> None:
        if self.user_id is None or self._has_declined:
            return
        self._is_connected = True
        name = f"{CONNECTED}:{client_name(self._request)}"
        models = ConfiguredModels(
            SampledModel(name, self, _LARGE), SampledModel(name, self, _SMALL)
        )
        self._models.connect(self.user_id, self._key, models)

    def disconnect(self) -> None:
        self._is_connected = False
        if self.user_id is not None:
            self._models.disconnect(self.user_id, self._key)
        for each in tuple(self._pending):
            each.cancel()

    def ask(self, params: types.CreateMessageRequestParams, seconds: float) -> Any:
        """The client's answer. In a worker thread; raises ModelFailure."""
        self._check()
        sent = self._send(params, max(seconds, 0.01))
        try:
            future = asyncio.run_coroutine_threadsafe(sent, self._loop)
        except RuntimeError:  # the event loop is closed
            sent.close()
            raise ModelDown("the client disconnected") from None
        self._pending.add(future)
        if not self._is_connected:
            future.cancel()
        try:
            return future.result(seconds + _MARGIN)
        except CancelledError:
            raise ModelDown("the client disconnected") from None
        except TimeoutError:
            future.cancel()
            raise ModelDown("the client does not answer") from None
        except MCPError as error:
            raise self._failure(error) from None
        except ValidationError:
            raise BadModelAnswer("the client did not answer in its protocol") from None
        finally:
            self._pending.discard(future)

    def _check(self) -> None:
        try:
            user_id = self.checked_user()
        except CommonplaceError:
            user_id = None
        if user_id is None or user_id != self.user_id:
            self._loop.call_soon_threadsafe(self.disconnect)
            raise ModelRefused("the client may not read this memory any more")

    async def _send(self, params: types.CreateMessageRequestParams, seconds: float) -> Any:
        return await self._request.session.send_request(
            types.CreateMessageRequest(params=params),
            types.CreateMessageResult,
            request_read_timeout_seconds=seconds,
        )

    def _failure(self, error: MCPError) -> ModelFailure:
        """By the code only: the client's message may repeat a text."""
        if error.code == _DECLINED:
            self._has_declined = True
            self._loop.call_soon_threadsafe(self.disconnect)
            return ModelRefused("the person behind the client declined")
        if error.code in _UNABLE:
            return ModelRefused(f"the client cannot answer (code {error.code})")
        if error.code == types.REQUEST_TIMEOUT:
            return ModelDown("the client did not answer in time")
        return ModelDown(f"the client answers with the error {error.code}")


class SampledModel:
    """The protocol of language models over one connection. The form is asked for in words."""

    mode = "text"

    def __init__(
        self,
        name: str,
        client: SampledClient,
        preferences: types.ModelPreferences,
        now: Callable[[], float] = time.monotonic,
    ):
        self.name = name
        self._client = client
        self._preferences = preferences
        self._now = now

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """One time limit for all requests that it takes."""
        deadline = self._now() + self._client.timeout
        return complete_checked(lambda asked: self._ask(asked, deadline - self._now()), request)

    def _ask(self, request: ModelRequest, seconds: float) -> RawAnswer:
        found = self._client.ask(_params(request, self._preferences), seconds)
        content = found.content
        text = content.text if isinstance(content, types.TextContent) else ""
        return RawAnswer(text, is_truncated=found.stop_reason == _TRUNCATED)


def _params(
    request: ModelRequest, preferences: types.ModelPreferences
) -> types.CreateMessageRequestParams:
    messages = with_form_in_words(request)
    system = [each.content for each in messages if each.role is MessageRole.SYSTEM]
    turns = [each for each in messages if each.role is not MessageRole.SYSTEM]
    return types.CreateMessageRequestParams(
        messages=[
            types.SamplingMessage(
                role="assistant" if each.role is MessageRole.ASSISTANT else "user",
                content=types.TextContent(text=each.content),
            )
            for each in turns
        ],
        system_prompt="\n\n".join(system) or None,
        max_tokens=request.max_tokens,
        temperature=request.temperature,
        model_preferences=preferences,
    )
