"""The table of routes, the header names, and the pages generated from them.

A route has the parameters of its operation. Names in braces are path parameters; the others are in
the query of a GET or DELETE, and in the body of other methods.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import groupby
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.operations.table import BY_NAME, Effect, Operation, Parameter, ParameterShape

PREFIX = "/v1"
MCP_PATH = "/mcp"  # on the same port
PROFILES = ("reference-memory",)  # tool profiles, each at a path below MCP_PATH
_NAMES = re.compile(r"{(\w+)}")
_ONE_OF = {"id": "ids"}  # path parameter -> the verb's list parameter


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    name: str  # of the operation
    # Parameters that the path replaces, or that concern more than one user's memory, which is not
    # available over the network.
    without: tuple[str, ...] = ()
    example: Mapping[str, Any] = field(default_factory=dict)
    has_etag: bool = False  # one item: supports ETag and If-Match

    @cached_property
    def operation(self) -> Operation:
        return BY_NAME[self.name]

    @cached_property
    def in_path(self) -> Mapping[str, str]:
        """Path name -> the verb's parameter."""
        taken = {parameter.name for parameter in self.operation.parameters}
        names = _NAMES.findall(self.path)
        return {name: name if name in taken else _ONE_OF[name] for name in names}

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that are not in the path."""
        elsewhere = {*self.in_path.values(), *self.without}
        return tuple(p for p in self.operation.parameters if p.name not in elsewhere)

    @property
    def takes_query(self) -> bool:
        return self.method in ("GET", "DELETE")

    @cached_property
    def whole_body(self) -> Parameter | None:
        """The parameter that can be the whole body: an original, or the lines of an export."""
        whole = (ParameterShape.ORIGINAL, ParameterShape.LINES)
        return next((p for p in self.parameters if p.shape in whole), None)

    @cached_property
    def takes_large_body(self) -> bool:
        """It stores an original, the lines of an export, or a batch."""
        whole = (ParameterShape.ORIGINAL, ParameterShape.LINES)
        return self.writes and any(
            p.shape in whole or (p.shape is ParameterShape.MAPS and p.required)
            for p in self.parameters
        )

    @property
    def writes(self) -> bool:
        return self.operation.effect is not Effect.READ

    def in_full(self) -> str:
        return PREFIX + self.path


def _get(path: str, name: str, **more: Any) -> Route:
    return Route("GET", path, name, **more)


def _post(path: str, name: str, **more: Any) -> Route:
    return Route("POST", path, name, **more)


_SELECTION = (
    "query",
    "kinds",
    "categories",
    "source_type",
    "source_id",
    "older_than_days",
    "filters",
)


def _delete_one(path: str, **more: Any) -> Route:
    """Forget the item at the path; it can be restored."""
    return Route("DELETE", path, "forget", without=_SELECTION, **more)


_FRIENDS = {"from_node": "me", "relationship_type": "friend", "to_node": "<id>"}
_EVERYBODY = "MATCH (p:Person) RETURN p.name ORDER BY p.name"
_WIFI = "The wifi password is tulip42"
_FIRST_LINE = '{"type":"commonplace","format":1,"user_id":"ana","revision":0,"profile_numbers":0}'

# If several routes have one operation, a client uses the first that takes its arguments.
ROUTES: tuple[Route, ...] = (
    _post("/memories", "remember", example={"content": _WIFI, "tags": ["home"]}),
    _post("/memories/batch", "remember-many", example={"items": [_WIFI, {"content": "Tea"}]}),
    _get("/memories", "list", example={"limit": 2}),
    _post("/memories/merge", "merge", example={"ids": ["<id>", "<other>"]}),
    _get("/memories/{id}/history", "history"),
    _post("/memories/{id}/restore", "restore", example={"thread": "t"}),
    _post("/memories/{id}/erase", "erase", example={"now": True}),
    _get("/memories/{id}", "show", has_etag=True),
    Route(
        "PATCH",
        "/memories/{id}",
        "update",
        without=("query",),
        example={"importance": 4},
        has_etag=True,
    ),
    _delete_one("/memories/{id}", has_etag=True),
    _post("/update", "update", example={"query": "wifi password"}),
    _post("/forget", "forget", example={"query": "wifi password"}),
    _post("/restore", "restore", example={"ids": ["<id>"]}),
    _post("/erase", "erase", example={"ids": ["<id>"]}),
    _post("/verify-forget", "verify-forget", without=("files",), example={"text": "tulip42"}),
    _post("/observe", "observe", example={"text": "I am allergic to peanuts.", "thread": "t"}),
    _post("/observe/batch", "observe-many", example={"turns": ["I live in Haifa.", "Noted."]}),
    _post("/recall", "recall", example={"query": "What is the wifi password?", "k": 3}),
    _post("/recall/batch", "recall-many", example={"queries": ["wifi password", "peanuts"]}),
    _post("/memory/query", "query", example={"query": "wifi password", "top_k": 1}),
    _post("/context", "context", example={"query": "What is the wifi password?"}),
    _post("/context/whole", "whole-context", example={"query": "wifi password"}),
    _post("/context/pack", "context-pack", example={"query": "wifi password"}),
    _post("/understand", "understand", example={"message": "what about sarah?"}),
    _get("/why", "why"),
    _get("/abbreviations", "abbreviations"),
    _post("/abbreviations", "abbreviate", example={"short": "TFN", "long": "tax form number"}),
    _post("/sources", "ingest", example={"original": "Tal: Found the keys.", "title": "Keys"}),
    _get("/sources", "sources", example={"limit": 2}),
    _get("/sources/{id}/history", "history"),
    _post("/sources/{id}/restore", "restore", example={"thread": "t"}),
    _post("/sources/{id}/erase", "erase", example={"now": True}),
    _get("/sources/invitations", "sources invitations", example={"limit": 2}),
    _get("/sources/{id}", "show", has_etag=True),
    _delete_one("/sources/{id}", has_etag=True),
    _post("/sources/{id}/share", "sources share", example={"with_user": "dan"}),
    _post("/sources/{id}/unshare", "sources unshare", example={"with_user": "dan"}),
    _post("/sources/{id}/accept", "sources accept"),
    _post("/sources/{id}/decline", "sources decline"),
    _post("/memory/extract", "extract", example={"at_most": 10}),
    _get("/people", "people", example={"limit": 2}),
    _get("/concepts", "concepts", example={"limit": 2}),
    _get("/entities", "entities", example={"limit": 2}),
    _get("/storylines", "storylines", example={"open": True}),
    _get("/storylines/{id}", "show", without=("as_of", "known_at")),
    _get("/macros", "macros", example={"limit": 2}),
    _get("/macros/{id}", "show", without=("as_of", "known_at")),
    _post("/nodes", "nodes add", example={"name": "Dana Levi", "description": "A colleague"}),
    _post("/nodes/merge", "merge", example={"ids": ["<id>", "<other>"]}),
    _get("/nodes/{id}", "node", has_etag=True),
    Route("PATCH", "/nodes/{id}", "nodes update", example={"aliases": ["Didi"]}, has_etag=True),
    _delete_one("/nodes/{id}", has_etag=True),
    _post("/nodes/{id}/split", "split", example={"name": "Dana Cohen", "names": ["Dana C."]}),
    _get("/edges", "edges", example={"limit": 2}),
    _post("/edges", "relate", example=_FRIENDS),
    _get("/edges/{id}", "show", without=("as_of", "known_at"), has_etag=True),
    _delete_one("/edges/{id}", has_etag=True),
    _post("/notes", "note", example={"about": ["<id>"], "content": "Prefers to be called"}),
    _delete_one("/notes/{id}"),
    _get("/contributions", "contributions", example={"limit": 2}),
    _post("/explore", "explore", example={"queries": ["who is Dana?"], "granularity": 1}),
    _post("/traverse", "traverse", example={"mode": "cypher", "cypher": _EVERYBODY}),
    _get("/graph", "graph", example={"format": "dot"}),
    _get("/artifacts", "artifacts", example={"limit": 2}),
    _post("/artifacts", "artifacts create", example={"name": "Draft", "output": "Dear Dana, …"}),
    _get("/artifacts/{id}", "artifacts show"),
    _delete_one("/artifacts/{id}"),
    _get("/conflicts", "conflicts"),
    _get("/forget-requests", "forget-requests"),
    _post("/conflicts/{conflict}/resolve", "resolve", example={"choice": "override"}),
    _get("/profile", "profile"),
    _post("/profile/notes", "profile note", example={"text": "Left-handed"}),
    _get("/profile/proposals", "profile proposals"),
    _post("/profile/proposals", "profile propose", example={"name": "tone", "value": "brief"}),
    _post("/profile/proposals/{id}/accept", "profile accept", example={"thread": "t"}),
    _post("/profile/proposals/{id}/decline", "profile decline", example={"thread": "t"}),
    Route("PUT", "/profile/{name}", "profile set", example={"value": "Haifa"}),
    _get("/consent", "profile proposals"),  # an alias
    _post("/consent/{id}/accept", "profile accept", example={"thread": "t"}),
    _post("/consent/{id}/decline", "profile decline", example={"thread": "t"}),
    _get("/changes", "changes"),
    _get("/change-log", "change-log", example={"thread": "t"}),
    _get("/events", "events"),
    _get("/categories", "categories"),
    _get("/categories/{category}/check", "categories check", example={"reader": "planner"}),
    _get("/categories/{category}", "categories explain"),
    _post("/sleep", "sleep", example={"tasks": ["expiry", "idle"], "dry_run": True}),
    _post("/sleep/{run}/undo", "sleep undo"),
    _get("/sleep", "sleep log", example={"limit": 2}),
    _get("/jobs", "jobs"),
    _post("/jobs/{id}/retry", "jobs retry"),
    Route("DELETE", "/jobs/{id}", "jobs cancel"),
    _get("/keys", "keys"),
    _post("/keys", "keys create", example={"label": "laptop"}),
    _post("/keys/{id}/rotate", "keys rotate", example={"grace_minutes": 10}),
    Route("DELETE", "/keys/{id}", "keys revoke"),
    _get("/teams", "teams"),
    _post("/teams", "teams create", example={"name": "Planning"}),
    _post("/teams/use", "teams use", example={"team": "Planning"}),
    _get("/teams/{team}", "teams show"),
    Route("PATCH", "/teams/{team}", "teams change", example={"retention_days": 365}),
    Route("DELETE", "/teams/{team}", "teams delete"),
    _post("/teams/{team}/members", "teams invite", example={"member": "dan"}),
    Route("PUT", "/teams/{team}/members/{member}", "teams role", example={"as_role": "admin"}),
    Route("DELETE", "/teams/{team}/members/{member}", "teams remove"),
    _post("/teams/{team}/join", "teams join"),
    _post("/teams/{team}/leave", "teams leave"),
    _post("/teams/{team}/primary", "teams primary"),
    _get("/admin/keys", "keys admins"),
    _post("/admin/keys", "keys admin", example={"label": "operations"}),
    Route("DELETE", "/admin/keys/{id}", "keys revoke-admin"),
    _get("/admin/service-keys", "keys services"),
    _post("/admin/service-keys", "keys service", example={"label": "backend", "users": ["ana"]}),
    Route("DELETE", "/admin/service-keys/{id}", "keys revoke-service"),
    _post("/admin/service-keys/{id}/rotate", "keys rotate-service", example={"grace_minutes": 10}),
    _get("/admin/model-usage", "model users", example={"days": 7}),
    _post("/tidy", "tidy", example={"reindex": True}),
    _get("/stats", "stats"),
    _post("/model/check", "model check"),
    _get("/model/usage", "model usage", example={"days": 7}),
    _get("/doctor", "doctor", without=("all_users",)),
    _get("/export", "export"),
    _post("/import", "import", example={"lines": [_FIRST_LINE]}),
    Route("DELETE", "/me", "erase-user"),
)

NOT_OVER_HTTP: Mapping[str, str] = {
    "extract-all": "A server extracts new sources automatically; an operator can run the command "
    "on the store's host.",
    "worker": "A server runs background jobs itself; more workers are started as processes.",
    "reembed": "It replaces the vectors of all users; an operator runs it on the store's host.",
    "calibrate": "It changes the similarity scale of all users; an operator runs it, like reembed.",
}


def show_operation_at(path: str) -> Operation:
    """The operation that shows the item at a path."""
    return next(route.operation for route in ROUTES if (route.method, route.path) == ("GET", path))


def routes_of(operation: str) -> list[Route]:
    return [route for route in ROUTES if route.name == operation]


# Names in headers are UTF-8. Nothing else is decoded: "%41" is a name of three characters.
AGENT = "commonplace-agent"  # restricts the caller to one of the owner's agents
USER = "commonplace-user"  # whom a service key acts for, or whose keys an admin manages
MAY_RESOLVE = "commonplace-may-resolve"
IDEMPOTENCY_KEY = "idempotency-key"
IF_MATCH = "if-match"
IF_NONE_MATCH = "if-none-match"
LAST_EVENT_ID = "last-event-id"


def encode_header(name: str) -> str:
    """As HTTP libraries take it: they send each character as one byte."""
    return name.encode().decode("latin-1")


def decode_header(value: str, field: str) -> str:
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        raise InvalidInput(
            f"The header for {field} is not UTF-8.",
            remedy="Send the name as UTF-8 bytes, not percent-encoded.",
            field=field,
        ) from None


REQUEST_ID = "request-id"


HTML_MEDIA_TYPE = "text/html; charset=utf-8"
PAGE_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "cache-control": "no-cache",
    "referrer-policy": "no-referrer",
}
_PAGE_STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;
  margin:2rem auto;padding:0 1rem}
code,pre{font:14px/1.4 ui-monospace,monospace}pre{background:#8881;padding:.5rem;overflow-x:auto}
summary{cursor:pointer}b{display:inline-block;min-width:4.5rem}:root{color-scheme:light dark}"""


# The page of the API: files of the package fastapi-offline, and this start of them.
API_PAGE_FILES = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
API_PAGE_HEADERS = {
    **PAGE_HEADERS,
    "content-security-policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
}
API_PAGE = """<!doctype html><html lang=en><meta charset=utf-8><title>Commonplace API</title>
<meta name=viewport content="width=device-width">
<link rel=icon href=/docs/favicon.png><link rel=stylesheet href=/docs/swagger-ui.css>
<div id=page></div>
<script src=/docs/swagger-ui-bundle.js></script><script src=/docs/start.js></script></html>
"""
API_PAGE_START = """SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#page",
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
"""


def docs_page(url: str) -> str:
    """``url``: the server's address for the reader, in example requests."""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Commonplace</title>"
        '<meta name=viewport content="width=device-width"><style>'
        f"{_PAGE_STYLE}</style><h1>Commonplace</h1><p>Long-term memory for agents, over HTTP. For "
        "programs: <a href=/openapi.json>openapi.json</a>; to try it: <a href=/docs>docs</a>; "
        "status: <a href=/readyz>readyz</a>, <a href=/metrics>metrics</a>. Requests need an API "
        "key, or the token of a server on this machine: <code>KEY</code> in the examples.</p>"
        f"{''.join(_sections(url))}</html>"
    )


def _sections(url: str) -> Iterator[str]:
    def noun(route: Route) -> str:
        return route.path.split("/")[1]

    for name, routes in groupby(sorted(ROUTES, key=noun), noun):
        yield f"<h2>{escape(name)}</h2>"
        yield from (_route_section(route, url) for route in routes)


def _route_section(route: Route, url: str) -> str:
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
        return f"curl -s{method} '{target}{'?' + query if query else ''}' {_CURL_KEY}"
    body = json.dumps(dict(route.example))
    return f"curl -s{method} {target} {_CURL_KEY} -H 'Content-Type: application/json' -d '{body}'"


_CURL_KEY = '-H "Authorization: Bearer $KEY"'
