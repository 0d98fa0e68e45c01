"""Ready configurations of MCP clients, as data. Standard library only."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commonplace.errors import InvalidInput

NAME = "commonplace"
ALL = "all"


@dataclass(frozen=True, slots=True)
class LocalLaunch:
    """The command with which a client starts the server. `KEY` is a placeholder: the key is not
    printed to the terminal."""

    command: str
    arguments: Sequence[str]
    needs_key: bool = False

    @property
    def environment(self) -> dict[str, str]:
        return {"COMMONPLACE_KEY": "KEY"} if self.needs_key else {}


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """The address of a running server. `KEY` is a placeholder for the key; the token of a server on
    this machine is known, and opens nothing from elsewhere."""

    url: str
    token: str | None = field(default=None, repr=False)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token or 'KEY'}"}


ServerAccess = LocalLaunch | RemoteAddress
ConfigShape = Callable[[ServerAccess], str]


@dataclass(frozen=True, slots=True)
class ClientConfig:
    name: str
    title: str
    place: str
    shape: ConfigShape


def _launch_entry(reached: LocalLaunch, **more: Any) -> dict[str, Any]:
    environment = {"env": reached.environment} if reached.environment else {}
    return {**more, "command": reached.command, "args": list(reached.arguments), **environment}


def _json_shape(
    *path: str, url: str = "url", remote: Mapping[str, Any] | None = None, **local: Any
) -> ConfigShape:
    """A JSON object at a path. `url`: the client's name for an address; `remote`: its additional
    fields for an address; `local`: those for a command."""

    def shape(reached: ServerAccess) -> str:
        entry: dict[str, Any]
        if isinstance(reached, LocalLaunch):
            entry = _launch_entry(reached, **local)
        else:
            entry = {**(remote or {}), url: reached.url, "headers": reached.headers}
        for name in reversed((*path, NAME)):
            entry = {name: entry}
        return json.dumps(entry, indent=2, ensure_ascii=False)

    return shape


def _bridged_config(reached: ServerAccess) -> str:
    """For clients that can only start programs: a bridge program that uses HTTP."""
    if isinstance(reached, RemoteAddress):
        headers = [word for n, v in reached.headers.items() for word in ("--header", f"{n}: {v}")]
        reached = LocalLaunch("npx", ["-y", "mcp-remote", reached.url, *headers])
    return _json_shape("mcpServers")(reached)


def _toml_config(reached: ServerAccess) -> str:
    lines = [f"[mcp_servers.{NAME}]"]
    if isinstance(reached, LocalLaunch):
        lines += [f"command = {json.dumps(reached.command)}"]
        lines += [f"args = {json.dumps(list(reached.arguments), ensure_ascii=False)}"]
        environment = [f"{n} = {json.dumps(v)}" for n, v in reached.environment.items()]
        lines += [f"env = {{ {', '.join(environment)} }}"] if environment else []
    else:
        lines += [f"url = {json.dumps(reached.url)}"]
        headers = ", ".join(f"{n} = {json.dumps(v)}" for n, v in reached.headers.items())
        from_variable = 'bearer_token_env_var = "COMMONPLACE_KEY"'
        lines += [f"http_headers = {{ {headers} }}" if reached.token else from_variable]
    return "\n".join(lines)


CLIENTS: tuple[ClientConfig, ...] = (
    ClientConfig(
        "claude-desktop",
        "Claude Desktop",
        "Settings → Developer → Edit Config (claude_desktop_config.json)",
        _bridged_config,
    ),
    ClientConfig(
        "claude-code",
        "Claude Code",
        ".mcp.json in the project",
        _json_shape("mcpServers", remote={"type": "http"}, type="stdio"),
    ),
    ClientConfig("cursor", "Cursor", "~/.cursor/mcp.json", _json_shape("mcpServers")),
    ClientConfig(
        "vscode",
        "VS Code",
        ".vscode/mcp.json in the project",
        _json_shape("servers", remote={"type": "http"}, type="stdio"),
    ),
    ClientConfig(
        "windsurf",
        "Windsurf",
        "~/.codeium/windsurf/mcp_config.json",
        _json_shape("mcpServers", url="serverUrl"),
    ),
    ClientConfig("zed", "Zed", "settings.json", _json_shape("context_servers")),
    ClientConfig(
        "gemini", "Gemini CLI", "~/.gemini/settings.json", _json_shape("mcpServers", url="httpUrl")
    ),
    ClientConfig("codex", "Codex", "~/.codex/config.toml", _toml_config),
    ClientConfig(
        "cline",
        "Cline",
        "MCP Servers → Configure (cline_mcp_settings.json)",
        _json_shape("mcpServers", remote={"type": "streamableHttp"}),
    ),
)
BY_CLIENT = {client.name: client for client in CLIENTS}


def client_configuration(client: str, reached: ServerAccess) -> str:
    """The content of one client's file; for all clients, each with its name and location."""
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
