"""What every server has beside the operations: who asks, is it alive, is it ready, how much is it
doing."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from commonplace.surfaces.media_types import JSON
from commonplace.surfaces.rest import metrics
from commonplace.surfaces.rest.openapi import WITH_A_KEY, problems, who_asks
from commonplace.surfaces.rest.reception import Reception
from commonplace.surfaces.rest.routes import PREFIX


def _state(word: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"status": {"type": "string"}}}
    return {JSON: {"schema": schema, "example": {"status": word}}}


class Attendance:
    def __init__(self, reception: Reception):
        self._reception = reception

    def add_to(self, app: FastAPI) -> None:
        me = {"schema": {"$ref": "#/components/schemas/Me"}}
        asked = {"parameters": list(who_asks()), "security": WITH_A_KEY}
        whose = "Whose memory it is, who asks, and its revision"
        for path, endpoint, told, content, more in (
            (f"{PREFIX}/me", self.who, whose, {JSON: me}, asked),
            ("/healthz", self.alive, "Is the server alive?", _state("ok"), None),
            ("/readyz", self.ready, "Can it read the store?", _state("ready"), None),
            ("/metrics", self.numbers, "Prometheus' numbers", {"text/plain": {}}, None),
        ):
            app.add_api_route(
                path,
                endpoint,
                methods=["GET"],
                response_model=None,
                response_class=Response,
                responses={200: {"description": told, "content": content}, **problems()},
                openapi_extra=more,
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
