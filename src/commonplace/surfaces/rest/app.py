"""The application: the table of routes, and what every server has beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp

import commonplace
from commonplace.book import Commonplace
from commonplace.errors import CommonplaceError, InvalidInput, NotFound
from commonplace.settings import Settings
from commonplace.surfaces.mcp.mounted import Mounted
from commonplace.surfaces.media_types import EVENTS
from commonplace.surfaces.rest.answering import endpoint_for
from commonplace.surfaces.rest.attending import Attendance
from commonplace.surfaces.rest.gate import Gate, failed
from commonplace.surfaces.rest.openapi import description, of_the_stream, problems
from commonplace.surfaces.rest.page import HEADERS, MEDIA_TYPE, page
from commonplace.surfaces.rest.problems import problem
from commonplace.surfaces.rest.reception import Reception
from commonplace.surfaces.rest.routes import PREFIX, PROFILES
from commonplace.surfaces.rest.stream import ChangeStream

# FastAPI would tell paths, queries and the words of exceptions; `tracing` has spans without them.
_SILENT: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}


def build_app(book: Commonplace, settings: Settings) -> tuple[ASGIApp, Reception]:
    reception = Reception(book, settings)
    spoken = [Mounted(reception), *(Mounted(reception, each) for each in PROFILES)]
    app = FastAPI(
        lifespan=lambda app: _running(spoken),
        title="Commonplace",
        version=commonplace.__version__,
        summary="Long-term memory for AI agents: remember, recall, forget.",
        docs_url=None,  # its page loads scripts from elsewhere; ours is in `page`
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_SILENT,
    )
    _operate(app, reception)
    Attendance(reception).add_to(app)
    app.router.routes.extend(mounted.route for mounted in spoken)
    for path in ("/", "/docs"):
        app.add_api_route(path, _page, methods=["GET"], include_in_schema=False)
    app.add_exception_handler(CommonplaceError, _refused)
    app.add_exception_handler(HTTPException, _no_such_route)
    app.add_exception_handler(Exception, lambda request, error: failed())
    return Gate(app, reception), reception


@asynccontextmanager
async def _running(spoken: Sequence[Mounted]) -> AsyncIterator[None]:
    async with AsyncExitStack() as running:
        for mounted in spoken:
            await running.enter_async_context(mounted.running())
        yield


def _operate(app: FastAPI, reception: Reception) -> None:
    """The stream comes first: paths of items would take it for one of theirs."""
    app.add_api_route(
        f"{PREFIX}/changes/stream",
        ChangeStream(reception),
        methods=["GET"],
        response_model=None,
        operation_id="changes_stream",
        tags=["changes"],
        summary="Changes as they happen",
        description="Server-sent events; `Last-Event-ID` or `since` says where to go on.",
        openapi_extra=of_the_stream(),
        response_class=Response,
        responses={200: {"description": "Events.", "content": {EVENTS: {}}}, **problems()},
    )
    for route, described in description().routes:
        app.add_api_route(
            route.in_full(),
            endpoint_for(route, reception),
            methods=[route.method],
            response_model=None,
            **described,
        )
    incomplete = app.openapi
    app.openapi = lambda: description().complete(incomplete())  # type: ignore[method-assign]


async def _page(request: Request) -> Response:
    """The host has been looked at: it is a known one."""
    url = f"{request.url.scheme}://{request.headers['host']}"
    return Response(page(url), media_type=MEDIA_TYPE, headers=HEADERS)


async def _refused(request: Request, error: Any) -> Response:
    return problem(error)


async def _no_such_route(request: Request, error: Any) -> Response:
    """A path that nobody knows, or a method that it does not take."""
    path = request.url.path
    told: CommonplaceError
    if error.status_code == 405:
        told = InvalidInput(
            f"{path} does not take {request.method}.", remedy="See /openapi.json.", field="method"
        )
    else:
        told = NotFound(f"Unknown path {path}.", remedy="See /openapi.json.", field="path")
    answer = problem(told, error.status_code)
    if error.status_code == 405:
        answer.headers["allow"] = ", ".join(_taken(request))
    return answer


def _taken(request: Request) -> list[str]:
    """The methods of every route with this path; the router names only the first one's."""
    routes = [each for each in request.app.router.routes if isinstance(each, APIRoute)]
    here = [each for each in routes if each.matches(request.scope)[0] is not Match.NONE]
    taken = {method for each in here for method in each.methods or ()}
    return sorted(taken | ({"HEAD"} if "GET" in taken else set()))
