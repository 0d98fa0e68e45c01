"""The page of routes, written from the table: `make docs`."""

from __future__ import annotations

import json

from commonplace.surfaces.rest.routes import NOT_OVER_HTTP, ROUTES, Route

_HEAD = """# REST

Every operation over HTTP; what it takes and does is told under its name in [commands](commands.md)
and [Python](python.md), and by `GET /openapi.json`. Names in braces are taken from the path, the
others from the query of a GET or DELETE and from the JSON body of the rest. How to use it:
[rest.md](../rest.md).

| route | operation | takes | example |
|---|---|---|---|
"""

_BESIDE = """
Beside the operations: `GET /v1/me` (whose memory it is, who asks, and its revision),
`GET /v1/changes/stream` (server-sent events), `GET /openapi.json`, `GET /healthz`, `GET /readyz`
and `GET /metrics`.

Not over HTTP:

"""


def rest() -> str:
    reasons = "".join(f"- `{name}`: {why}\n" for name, why in NOT_OVER_HTTP.items())
    return _HEAD + "".join(_row(route) for route in ROUTES) + _BESIDE + reasons


def _row(route: Route) -> str:
    taken = ", ".join(
        f"**{parameter.name}**" if parameter.required else parameter.name
        for parameter in route.parameters
    )
    example = f"`{json.dumps(dict(route.example))}`" if route.example else ""
    return f"| `{route.method} {route.in_full()}` | {route.name} | {taken} | {example} |\n"
