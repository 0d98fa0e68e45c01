"""What every server has beside the operations: who asks, is it alive, is it ready, how much is it
doing."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from commonplace.surfaces.media_types import JSON
from commonplace.surfaces.rest import metrics
from commonplace.surfaces.rest.openapi import problems
from commonplace.surfaces.rest.reception import Reception
from commonplace.surfaces.rest.routes import PREFIX


class Attendance:
    def __init__(self, reception: Reception):
        self._reception = reception

    def add_to(self, app: FastAPI) -> None:
        for path, endpoint, told, media_type in (
            (f"{PREFIX}/me", self.who, "Whose memory it is, who asks, and its revision", JSON),
            ("/healthz", self.alive, "Is the server alive?", JSON),
            ("/readyz", self.ready, "Can it read the store?", JSON),
            ("/metrics", self.numbers, "Prometheus' numbers", "text/plain"),
        ):
            app.add_api_route(
                path,
                endpoint,
                methods=["GET"],
                response_model=None,
                response_class=Response,
                responses={200: {"description": told, "content": {media_type: {}}}, **problems()},
                summary=told,
                tags=["server"],
            )

    async def who(self, request: Request) -> Response:
        user = await run_in_threadpool(self._reception.caller, request)
        asking = user.principal
        revision = await run_in_threadpool(lambda: user.revision)
        return JSONResponse(
            {
                "user_id": asking.user_id,
                "agent": asking.agent,
                "cleared": asking.cleared,
                "may_resolve": asking.decides,
                "read_only": asking.read_only,
                "team": asking.team,
                "key": asking.key,
                "revision": revision,
            }
        )

    async def alive(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        if self._reception.listeners.is_draining:
            return JSONResponse({"status": "draining"}, status_code=503)
        await run_in_threadpool(self._reception.book.ping)
        return JSONResponse({"status": "ready"})

    async def numbers(self, request: Request) -> Response:
        return Response(self._reception.metrics.text(), media_type=metrics.MEDIA_TYPE)
