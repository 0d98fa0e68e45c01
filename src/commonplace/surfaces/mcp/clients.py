"""Ready configurations for the programs that people use, as data: where each goes and its shape."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.errors import InvalidInput

NAME = "commonplace"
ALL = "all"


@dataclass(frozen=True, slots=True)
class Launch:
    """How a client starts the server itself. A key goes where `KEY` stands: it is not repeated
    here, where others may look over one's shoulder."""

    command: str
    arguments: Sequence[str]
    needs_key: bool = False

    @property
    def environment(self) -> dict[str, str]:
        return {"COMMONPLACE_KEY": "KEY"} if self.needs_key else {}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is that runs already; the key goes where `KEY` stands."""

    url: str
    needs_key: bool = True

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": "Bearer KEY"} if self.needs_key else {}


Reached = Launch | Address
Shape = Callable[[Reached], str]


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    title: str
    place: str
    shape: Shape


def _started(reached: Launch, **more: Any) -> dict[str, Any]:
    environment = {"env": reached.environment} if reached.environment else {}
    return {**more, "command": reached.command, "args": list(reached.arguments), **environment}


def _json(
    *path: str, url: str = "url", remote: Mapping[str, Any] | None = None, **local: Any
) -> Shape:
    """An object at a path. `url` is how the client calls an address, `remote` what it wants beside
    one, and the rest what it wants beside a command."""

    def shape(reached: Reached) -> str:
        entry: dict[str, Any]
        if isinstance(reached, Launch):
            entry = _started(reached, **local)
        else:
            headers = {"headers": reached.headers} if reached.headers else {}
            entry = {**(remote or {}), url: reached.url, **headers}
        for name in reversed((*path, NAME)):
            entry = {name: entry}
        return json.dumps(entry, indent=2, ensure_ascii=False)

    return shape


def _through_a_bridge(reached: Reached) -> str:
    """A client that only starts programs reaches a server through one that speaks HTTP for it."""
    if isinstance(reached, Address):
        headers = [word for n, v in reached.headers.items() for word in ("--header", f"{n}: {v}")]
        reached = Launch("npx", ["-y", "mcp-remote", reached.url, *headers])
    return _json("mcpServers")(reached)


def _toml(reached: Reached) -> str:
    lines = [f"[mcp_servers.{NAME}]"]
    if isinstance(reached, Launch):
        lines += [f"command = {json.dumps(reached.command)}"]
        lines += [f"args = {json.dumps(list(reached.arguments), ensure_ascii=False)}"]
        environment = [f"{n} = {json.dumps(v)}" for n, v in reached.environment.items()]
        lines += [f"env = {{ {', '.join(environment)} }}"] if environment else []
    else:
        lines += [f"url = {json.dumps(reached.url)}"]
        lines += ['bearer_token_env_var = "COMMONPLACE_KEY"'] if reached.headers else []
    return "\n".join(lines)


CLIENTS: tuple[Client, ...] = (
    Client(
        "claude-desktop",
        "Claude Desktop",
        "Settings → Developer → Edit Config (claude_desktop_config.json)",
        _through_a_bridge,
    ),
    Client(
        "claude-code",
        "Claude Code",
        ".mcp.json in the project",
        _json("mcpServers", remote={"type": "http"}, type="stdio"),
    ),
    Client("cursor", "Cursor", "~/.cursor/mcp.json", _json("mcpServers")),
    Client(
        "vscode",
        "VS Code",
        ".vscode/mcp.json in the project",
        _json("servers", remote={"type": "http"}, type="stdio"),
    ),
    Client(
        "windsurf",
        "Windsurf",
        "~/.codeium/windsurf/mcp_config.json",
        _json("mcpServers", url="serverUrl"),
    ),
    Client("zed", "Zed", "settings.json", _json("context_servers")),
    Client("gemini", "Gemini CLI", "~/.gemini/settings.json", _json("mcpServers", url="httpUrl")),
    Client("codex", "Codex", "~/.codex/config.toml", _toml),
    Client(
        "cline",
        "Cline",
        "MCP Servers → Configure (cline_mcp_settings.json)",
        _json("mcpServers", remote={"type": "streamableHttp"}),
    ),
)
BY_CLIENT = {client.name: client for client in CLIENTS}


def configuration(client: str, reached: Reached) -> str:
    """For one client what goes into its file, and nothing else; for all of them each under its
    name and place."""
    if client == ALL:
        return "\n\n".join(
            f"# {each.title}: {each.place}\n{each.shape(reached)}" for each in CLIENTS
        )
    if client not in BY_CLIENT:
        raise InvalidInput(
            f"Unknown MCP client {client!r}.",
            remedy=f"One of: {', '.join(BY_CLIENT)}, {ALL}.",
            field="config",
        )
    return BY_CLIENT[client].shape(reached)
