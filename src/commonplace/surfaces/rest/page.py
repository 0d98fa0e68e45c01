"""A page of all routes for people to read: no script, nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from itertools import groupby

from commonplace.surfaces.rest.routes import ROUTES, Route

MEDIA_TYPE = "text/html; charset=utf-8"
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "cache-control": "no-cache",
}
_STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font:14px/1.4 ui-monospace,monospace}pre{background:#8881;padding:.5rem;overflow-x:auto}
summary{cursor:pointer}b{display:inline-block;min-width:4.5rem}:root{color-scheme:light dark}"""


def page(url: str) -> str:
    """``url``: where the reader sees the server, for requests to be copied."""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Commonplace</title>"
        '<meta name=viewport content="width=device-width"><style>'
        f"{_STYLE}</style><h1>Commonplace</h1><p>Long-term memory for agents, over HTTP. For "
        "programs: <a href=/openapi.json>openapi.json</a>; how it is doing: "
        "<a href=/readyz>readyz</a>, <a href=/metrics>metrics</a>.</p>"
        f"{''.join(_sections(url))}</html>"
    )


def _sections(url: str) -> Iterator[str]:
    def noun(route: Route) -> str:
        return route.path.split("/")[1]

    for name, routes in groupby(sorted(ROUTES, key=noun), noun):
        yield f"<h2>{escape(name)}</h2>"
        yield from (_described(route, url) for route in routes)


def _described(route: Route, url: str) -> str:
    taken = ", ".join(
        f"<strong>{p.name}</strong>" if p.required else p.name for p in route.parameters
    )
    return (
        f"<details><summary><b>{route.method}</b> <code>{escape(route.in_full())}</code> "
        f"{escape(route.operation.help.split('. ')[0])}</summary><p>{escape(route.operation.help)}"
        f"</p>{f'<p>Takes {taken}.</p>' if taken else ''}<pre>{escape(_curl(route, url))}</pre>"
        "</details>"
    )


def _curl(route: Route, url: str) -> str:
    method = f" -X {route.method}" if route.method not in ("GET", "POST") else ""
    target = url + route.in_full()
    if route.takes_query:
        query = "&".join(f"{name}={value}" for name, value in route.example.items())
        return f"curl -s{method} '{target}{'?' + query if query else ''}'"
    body = json.dumps(dict(route.example))
    return f"curl -s{method} {target} -H 'Content-Type: application/json' -d '{body}'"
