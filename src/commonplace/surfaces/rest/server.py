"""The HTTP application and its server: routes, MCP endpoints, sockets, shutdown."""

from __future__ import annotations

import asyncio
import logging
import shlex
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib import resources
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp

import commonplace
from commonplace.api import Commonplace
from commonplace.errors import BadSettings, CommonplaceError, InvalidInput, NotFound
from commonplace.model.access.key import NewKey
from commonplace.operations.serialization import EVENTS
from commonplace.settings import Settings
from commonplace.surfaces.mcp.server import McpHttpEndpoint
from commonplace.surfaces.rest.connections import ConnectionLimits, ServerConfig
from commonplace.surfaces.rest.endpoints import endpoint_for
from commonplace.surfaces.rest.local_token import LocalToken, obtain_token
from commonplace.surfaces.rest.middleware import (
    RequestMiddleware,
    internal_error_response,
    tracing_provider,
)
from commonplace.surfaces.rest.monitoring import log_to_stderr
from commonplace.surfaces.rest.openapi import (
    openapi_description,
    problem_responses,
    stream_operation,
)
from commonplace.surfaces.rest.problems import problem_response
from commonplace.surfaces.rest.routes import (
    API_PAGE,
    API_PAGE_FILES,
    API_PAGE_HEADERS,
    API_PAGE_START,
    HTML_MEDIA_TYPE,
    PAGE_HEADERS,
    PREFIX,
    PROFILES,
    docs_page,
)
from commonplace.surfaces.rest.server_context import ServerContext, is_keyless
from commonplace.surfaces.rest.system_endpoints import ChangeStream, SystemEndpoints

# FastAPI's spans contain paths, queries and exception messages; `middleware` has spans without.
_NO_TELEMETRY: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}


def build_app(
    book: Commonplace, settings: Settings, token: LocalToken | None = None
) -> tuple[ASGIApp, ServerContext]:
    server_context = ServerContext(book, settings, token)
    mcp_endpoints = [
        McpHttpEndpoint(server_context),
        *(McpHttpEndpoint(server_context, each) for each in PROFILES),
    ]
    app = FastAPI(
        lifespan=lambda app: _run_mcp_endpoints(mcp_endpoints),
        title="Commonplace",
        version=commonplace.__version__,
        summary="Long-term memory for AI agents: remember, recall, forget.",
        docs_url=None,  # it loads external scripts; see `_api_page`
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
    )
    _add_operations(app, server_context)
    SystemEndpoints(server_context).add_to(app)
    app.router.routes.extend(mounted.route for mounted in mcp_endpoints)
    pages: tuple[tuple[str, Any], ...] = (
        ("/", _FirstPage(server_context)),
        ("/docs", _api_page),
        ("/docs/{file}", _file_of_api_page),
    )
    for path, page in pages:
        app.add_api_route(path, page, methods=["GET"], response_model=None, include_in_schema=False)
    app.add_exception_handler(CommonplaceError, _error_response)
    app.add_exception_handler(HTTPException, _no_such_route)
    app.add_exception_handler(ClientDisconnect, _disconnected)
    app.add_exception_handler(Exception, lambda request, error: internal_error_response())
    return RequestMiddleware(app, server_context), server_context


@asynccontextmanager
async def _run_mcp_endpoints(endpoints: Sequence[McpHttpEndpoint]) -> AsyncIterator[None]:
    async with AsyncExitStack() as running:
        for mounted in endpoints:
            await running.enter_async_context(mounted.running())
        yield


def _add_operations(app: FastAPI, server_context: ServerContext) -> None:
    """The change stream is added first: item paths would match it, too."""
    app.add_api_route(
        f"{PREFIX}/changes/stream",
        ChangeStream(server_context),
        methods=["GET"],
        response_model=None,
        operation_id="changes_stream",
        tags=["history"],
        summary="Changes as they happen",
        description="Server-sent events; `Last-Event-ID` or `since` says where to go on.",
        openapi_extra=stream_operation(),
        response_class=Response,
        responses={200: {"description": "Events.", "content": {EVENTS: {}}}, **problem_responses()},
    )
    for route, described in openapi_description().routes:
        app.add_api_route(
            route.in_full(),
            endpoint_for(route, server_context),
            methods=[route.method],
            response_model=None,
            **described,
        )
    incomplete = app.openapi
    app.openapi = lambda: openapi_description().complete(incomplete())  # type: ignore[method-assign]


class _FirstPage:
    """The page of all routes. With the server's token in the query: a cookie, and the address
    without it, so that the token is in no history, bookmark or referrer."""

    def __init__(self, server_context: ServerContext):
        self._server_context = server_context

    async def __call__(self, request: Request) -> Response:
        given = request.query_params.get(TOKEN)
        if given is None or not self._server_context.is_keyless:
            return await _docs_page(request)
        self._server_context.check_browser(request, given)
        headers = {
            "location": "/",
            "set-cookie": self._server_context.token.set_cookie(),
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
        }
        return Response(status_code=303, headers=headers)


async def _docs_page(request: Request) -> Response:
    """Safe to use the Host header: it was checked."""
    url = f"{request.url.scheme}://{request.headers['host']}"
    return Response(docs_page(url), media_type=HTML_MEDIA_TYPE, headers=PAGE_HEADERS)


async def _api_page(request: Request) -> Response:
    return Response(API_PAGE, media_type=HTML_MEDIA_TYPE, headers=API_PAGE_HEADERS)


async def _file_of_api_page(file: str) -> Response:
    """Nothing is loaded from elsewhere: the files are in a package."""
    headers = {"cache-control": "max-age=86400"}
    if file == "start.js":
        return Response(API_PAGE_START, media_type="text/javascript", headers=headers)
    if file not in API_PAGE_FILES:
        raise NotFound(f"Unknown path /docs/{file}.", remedy="See /docs.", field="path")
    try:
        content = resources.files("fastapi_offline").joinpath("static", file).read_bytes()
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise NotFound(
            "The page needs the package fastapi-offline, which is not installed.",
            remedy="pip install 'commonplace[server]'",
            field="path",
        ) from error
    return Response(content, media_type=API_PAGE_FILES[file], headers=headers)


async def _error_response(request: Request, error: Any) -> Response:
    return problem_response(error)


async def _disconnected(request: Request, error: Any) -> Response:
    """Nobody reads it: for the log and the metrics."""
    return Response(status_code=CLIENT_CLOSED)


async def _no_such_route(request: Request, error: Any) -> Response:
    """Answer for an unknown path or method."""
    path = request.url.path
    problem: CommonplaceError
    if error.status_code == 405:
        problem = InvalidInput(
            f"{path} does not take {request.method}.", remedy="See /openapi.json.", field="method"
        )
    else:
        problem = NotFound(f"Unknown path {path}.", remedy="See /openapi.json.", field="path")
    answer = problem_response(problem, error.status_code)
    if error.status_code == 405:
        answer.headers["allow"] = ", ".join(_allowed_methods(request))
    return answer


def _allowed_methods(request: Request) -> list[str]:
    """The methods of all routes with this path; the router reports only the first one's."""
    routes = [each for each in request.app.router.routes if isinstance(each, APIRoute)]
    here = [each for each in routes if each.matches(request.scope)[0] is not Match.NONE]
    taken = {method for each in here for method in each.methods or ()}
    return sorted(taken | ({"HEAD"} if "GET" in taken else set()))


def server_url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def access_notice(server_context: ServerContext, url: str) -> Iterator[str]:
    if not server_context.is_keyless:
        command = f"commonplace keys create LABEL --user NAME {store_option(server_context.book)}"
        yield f"Every request needs an API key: `{command}` creates one."
        return
    token, user = server_context.token, server_context.settings.user
    yield f"This address acts as the user {user!r}: {url}/?{TOKEN}={token.value}"
    yield (
        "Programs send the token as `Authorization: Bearer TOKEN`; commonplace.connect finds it in "
        f"{token.place}."
        if token.is_stored
        else "Programs send the token as `Authorization: Bearer TOKEN`. It could not be written to "
        "a file and changes with the next start."
    )


def store_option(book: Commonplace) -> str:
    """The --store option for another shell, without a password."""
    return f"--store {shlex.quote(book.url)}"


def first_key_notice(key: NewKey, url: str) -> Iterator[str]:
    yield "The first admin API key of this store. It is not shown again; store it as a secret:"
    yield f"  {key.token}"
    yield "It creates and revokes API keys of users, but cannot read memories. With it in $ADMIN:"
    yield f"  curl {url}/v1/keys -H \"Authorization: Bearer $ADMIN\" -H 'Commonplace-User: ana' \\"
    yield "    -H 'Content-Type: application/json' -d '{\"label\": \"laptop\"}'"


log = logging.getLogger("commonplace")

CLIENT_CLOSED = 499  # nginx's status for a client that hung up
TOKEN = "token"  # in the query of the address that is printed

TIDY_CHECK_TICKS = 600  # ten ticks a second
SHUTDOWN_SECONDS = 30  # grace period for running requests
# A request needs Python's lock after each call of the database; while long texts are read in other
# threads, it waits this long for it each time. Python's own value is five times as much.
SWITCH_SECONDS = 0.001


class RestServer(uvicorn.Server):
    """The first signal waits for running requests, the second stops at once."""

    def __init__(self, config: uvicorn.Config, server_context: ServerContext):
        super().__init__(config)
        self.server_context = server_context
        self.seconds: float | None = None  # time limit

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.seconds is not None:
            asyncio.get_running_loop().call_later(self.seconds, self._end)

    async def on_tick(self, counter: int) -> bool:
        if counter % TIDY_CHECK_TICKS == 0:
            self._tidy_check = asyncio.create_task(self._check_tidy())
        return await super().on_tick(counter)

    async def _check_tidy(self) -> None:
        try:
            await asyncio.to_thread(self.server_context.book.tidy_schedule.run_if_due)
        except CommonplaceError as error:
            log.warning("maintenance postponed: %s", error.code)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.server_context.listeners.drain()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Does not raise the signal again, so that the caller can close the store."""
        self.force_exit = self.should_exit
        self._end()

    def _end(self) -> None:
        self.should_exit = True


@dataclass(frozen=True)
class ServerOutput:
    """Output of a server: public messages, and those for the terminal that started it."""

    echo: Callable[[str], None]
    echo_private: Callable[[str], None]


def serve(
    book: Commonplace,
    settings: Settings,
    output: ServerOutput,
    seconds: float | None = None,
    demo: Callable[[str, str], Iterable[str]] | None = None,
) -> None:
    """Serve until stopped or for ``seconds``, then finish running requests. A demo prints its own
    messages and creates no admin key."""
    log_to_stderr()
    with ExitStack() as until_the_end:
        until_the_end.callback(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(SWITCH_SECONDS)
        until_the_end.enter_context(tracing_provider(settings.serve_tracing))
        listening = until_the_end.enter_context(
            listening_socket(settings.serve_host, settings.serve_port)
        )
        port = listening.getsockname()[1]
        server = make_server(book, settings, port)
        server.seconds = seconds
        token = server.server_context.token
        if settings.serve_port == 0:
            until_the_end.callback(token.remove)
        url = server_url(settings.serve_host, port)
        output.echo(f"Commonplace listens on {url}")
        for line in access_notice(server.server_context, url):
            output.echo(line)
        for line in demo(url, token.value) if demo else ():
            output.echo(line)
        if demo is None and (first := book.first_admin_key()) is not None:
            for line in first_key_notice(first, url):
                output.echo_private(line)
        server.run([listening])


def make_server(book: Commonplace, settings: Settings, port: int | None = None) -> RestServer:
    """``port``: where it will listen, if known; a server with a token keeps it in that port's
    file."""
    token = obtain_token(port) if port is not None and is_keyless(settings) else None
    app, server_context = build_app(book, settings, token)
    require_keys(server_context)
    config = ServerConfig(
        app,
        ConnectionLimits.from_settings(settings),
        host=settings.serve_host,
        port=settings.serve_port,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    return RestServer(config, server_context)


def require_keys(server_context: ServerContext) -> None:
    """An address other than loopback needs API keys: anyone could read the memory."""
    if server_context.is_keyless or server_context.book.has_keys():
        return
    store = store_option(server_context.book)
    raise BadSettings(
        f"On {server_context.settings.serve_host} every request needs an API key, and there is "
        "no key yet.",
        remedy=f"Create one: `commonplace keys create LABEL --user NAME {store}`, or `commonplace "
        f"keys admin {store}` to create them over HTTP; or serve on 127.0.0.1.",
        field="serve_host",
    )


def free_port(host: str, usual: int) -> int:
    """The usual port if it is free, else any."""
    try:
        listening_socket(host, usual).close()
    except BadSettings:
        return 0
    return usual


def listening_socket(host: str, port: int) -> socket.socket:
    """Bind before the address is printed, so that a taken port gives a clear error. With an
    explicit TCP protocol asyncio sets TCP_NODELAY, which avoids a delay of 40 ms."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host.strip("[]"), port))
    except OSError as error:
        found.close()
        raise BadSettings(
            f"Cannot listen on {host}:{port}: {error.strerror}.",
            remedy="Choose another --port or --host.",
            field="serve_port",
        ) from error
    found.listen()
    return found
