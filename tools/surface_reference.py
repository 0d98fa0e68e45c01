"""The reference pages of REST and MCP, written from their tables."""

from __future__ import annotations

import json

from commonplace.surfaces.mcp.resources import RESOURCES, McpResource, list_prompts
from commonplace.surfaces.mcp.tools import TOOLS, Tool
from commonplace.surfaces.rest.routes import NOT_OVER_HTTP, ROUTES, Route

_REST_HEAD = """# REST

Every operation over HTTP. Parameters and behaviour are described under the operation's name in
[commands](commands.md) and [Python](python.md), and in `GET /openapi.json`. Names in braces are
path parameters; the others are query parameters of a GET or DELETE, and fields of the JSON body
otherwise. How to use it: [rest.md](../rest.md).

| route | operation | takes | example |
|---|---|---|---|
"""

_REST_TAIL = """
Other endpoints: `GET /v1/me` (the user, the caller and its rights, the revision),
`GET /v1/changes/stream` (server-sent events), `GET /openapi.json`, `GET /healthz`, `GET /readyz`
and `GET /metrics`.

Not over HTTP:

"""


def rest_reference_page() -> str:
    reasons = "".join(f"- `{name}`: {why}\n" for name, why in NOT_OVER_HTTP.items())
    return _REST_HEAD + "".join(_route_row(route) for route in ROUTES) + _REST_TAIL + reasons


def _route_row(route: Route) -> str:
    taken = ", ".join(
        f"**{parameter.name}**" if parameter.required else parameter.name
        for parameter in route.parameters
    )
    example = f"`{json.dumps(dict(route.example))}`" if route.example else ""
    return f"| `{route.method} {route.in_full()}` | {route.name} | {taken} | {example} |\n"


_MCP_HEAD = """# MCP

Tools, resources and prompts for MCP clients; how to use them: [mcp.md](../mcp.md). Operations and
their parameters are described in [Python](python.md). Required parameters are bold.

"""

_RESOURCES_HEAD = """## Resources

Each is the answer of an operation, as JSON.

| address | what | operation |
|---|---|---|
"""


def mcp_reference_page() -> str:
    tools = "".join(_tool_section(tool) for tool in TOOLS)
    places = "".join(_resource_row(place) for place in RESOURCES)
    prompts = "".join(
        f"`{prompt.name}` ({', '.join(each.name for each in prompt.arguments or ())}): "
        f"{prompt.description}\n"
        for prompt in list_prompts()
    )
    return f"{_MCP_HEAD}{tools}{_RESOURCES_HEAD}{places}\n## Prompt\n\n{prompts}"


def _tool_section(tool: Tool) -> str:
    hints = [
        *(["only reads"] if tool.reads_only else []),
        *(["destructive"] if tool.destructive else []),
        *(["idempotent"] if tool.idempotent else []),
    ]
    behind = ", ".join(_operation_text(way.name, way.when) for way in tool.ways)
    taken = ", ".join(
        f"**{p.alias or p.name}**" if p.required else p.alias or p.name for p in tool.parameters
    )
    lines = [
        f"## {tool.name}",
        f"{tool.title} · {behind}" + (f" · {', '.join(hints)}" if hints else ""),
        tool.help,
        *([f"Takes {taken}."] if taken else []),
    ]
    return "\n\n".join(lines) + "\n\n"


def _operation_text(name: str, when: str | None) -> str:
    return f"`{name}`" + (f" (with {when})" if when else "")


def _resource_row(place: McpResource) -> str:
    return f"| `{place.uri}` | {place.help} | {place.name} |\n"
