"""The page of tools, resources and the prompt, written from their tables: `make docs`."""

from __future__ import annotations

from commonplace.surfaces.mcp.prompts import listed
from commonplace.surfaces.mcp.resources import PLACES, Place
from commonplace.surfaces.mcp.tools import TOOLS, Tool

_HEAD = """# MCP

What an MCP client is offered; how to use it: [mcp.md](../mcp.md). What a parameter means and what
an operation does is told under its name in [Python](python.md). Required ones are bold.

"""

_RESOURCES = """## Resources

Each is the answer of an operation, as JSON.

| address | what | operation |
|---|---|---|
"""


def mcp() -> str:
    tools = "".join(_tool(tool) for tool in TOOLS)
    places = "".join(_place(place) for place in PLACES)
    prompts = "".join(
        f"`{prompt.name}` ({', '.join(each.name for each in prompt.arguments or ())}): "
        f"{prompt.description}\n"
        for prompt in listed()
    )
    return f"{_HEAD}{tools}{_RESOURCES}{places}\n## Prompt\n\n{prompts}"


def _tool(tool: Tool) -> str:
    hints = [
        *(["only reads"] if tool.reads_only else []),
        *(["destructive"] if tool.destructive else []),
        *(["idempotent"] if tool.idempotent else []),
    ]
    behind = ", ".join(_way(way.name, way.when) for way in tool.ways)
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


def _way(name: str, when: str | None) -> str:
    return f"`{name}`" + (f" (with {when})" if when else "")


def _place(place: Place) -> str:
    return f"| `{place.uri}` | {place.help} | {place.name} |\n"
