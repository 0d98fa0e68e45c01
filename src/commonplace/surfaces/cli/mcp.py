"""`commonplace mcp`: an MCP server on standard input and output, and client configurations."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

import commonplace
from commonplace import settings as settings_table
from commonplace.api import Commonplace, User
from commonplace.errors import BadSettings, InvalidInput, NotAllowed
from commonplace.settings import Settings
from commonplace.surfaces.cli.command import Globals
from commonplace.surfaces.cli.parameters import GLOBALS
from commonplace.surfaces.mcp.client_config import (
    ALL,
    LocalLaunch,
    RemoteAddress,
    client_configuration,
)
from commonplace.surfaces.rest.client import local_token
from commonplace.surfaces.rest.monitoring import log_to_stderr
from commonplace.surfaces.rest.routes import MCP_PATH, PROFILES


def mcp(
    context: typer.Context,
    client: Annotated[
        str | None, typer.Argument(metavar="CLIENT", help="MCP client, for --config.")
    ] = None,
    config: Annotated[
        bool, typer.Option("--config", help="Print the configuration for an MCP client and exit.")
    ] = False,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help="URL of a running server, for --config."),
    ] = None,
    store: Annotated[str | None, GLOBALS["store"]] = None,
    user: Annotated[str | None, GLOBALS["user"]] = None,
    agent: Annotated[str | None, GLOBALS["agent"]] = None,
    key: Annotated[str | None, GLOBALS["key"]] = None,
    embedder: Annotated[str | None, GLOBALS["embedder"]] = None,
    cleared: Annotated[bool, GLOBALS["cleared"]] = False,
    as_owner: Annotated[
        bool, typer.Option("--as-owner", help="Treat the client as the owner instead of an agent.")
    ] = False,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="Tool profile: reference-memory."),
    ] = None,
) -> None:
    """Run an MCP server on standard input and output.

    The MCP client starts this command; it ends when its input ends. The client acts as one of your
    agents, named by --agent or by the client itself: decisions that only the owner may make wait
    for you. With --config: print the configuration for a client instead (claude-desktop,
    claude-code, cursor, vscode, windsurf, zed, gemini, codex, cline), or for all of them."""
    options = Globals(store, user, agent, key, embedder, cleared).over(context.obj)
    if profile is not None and profile not in PROFILES:
        known = ", ".join(PROFILES)
        raise InvalidInput(
            f"Unknown tool profile {profile!r}.", remedy=f"Use: {known}.", field="profile"
        )
    if config:
        reached = _address(url, profile) if url is not None else _launch(options, as_owner, profile)
        typer.echo(client_configuration(client or ALL, reached))
    elif client is not None or url is not None:
        raise InvalidInput("CLIENT and --url need --config.", field="config")
    else:
        _serve(options, as_owner, profile)


# ——— serving ———


def _serve(options: Globals, as_owner: bool, profile: str | None) -> None:
    names = ("store", "user", "agent", "key", "embedder")
    chosen = settings_table.load({name: getattr(options, name) for name in names})
    stdio = _with_the_protocol_installed()
    log_to_stderr()
    with commonplace.open(options.store, embedder=options.embedder) as book:
        holder = _holder(book, chosen, options)
        holder()  # an invalid key is refused before the client waits for an answer
        _end_on_signals(book)
        who = stdio.single_caller(holder, chosen.agent, as_owner)
        stdio.serve_stdio(who, profile, book.connected_models)


def _end_on_signals(book: Commonplace) -> None:
    """Close the store and end the process from the signal handler: the thread that reads standard
    input cannot be interrupted, and the interpreter would wait for it."""

    def end(number: int, frame: object) -> None:
        book.close()
        os._exit(0)

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, end)


def _holder(book: Commonplace, chosen: Settings, options: Globals) -> Callable[[], User]:
    """Without a key the caller is the owner; with one, it has the rights of the key."""

    def holder() -> User:
        if chosen.key is None:
            return book.user(chosen.user, cleared=options.cleared)
        user = book.authenticate(chosen.key, options.user)
        if options.cleared and not user.principal.cleared:
            raise NotAllowed("This key may not read items with sensitivity high.", field="cleared")
        return user

    return holder


def _with_the_protocol_installed() -> Any:
    """Imported on use: it is an optional extra."""
    try:
        return import_module("commonplace.surfaces.mcp.server")
    except ModuleNotFoundError as error:
        raise BadSettings(
            f"MCP needs {error.name}, which is not installed.",
            remedy="pip install 'commonplace[server]'",
        ) from error


# ——— settings of clients ———


def _launch(options: Globals, as_owner: bool, profile: str | None) -> LocalLaunch:
    """All options spelled out: the client starts the command without this shell's variables."""
    script = shutil.which("commonplace")
    command, begin = (script, []) if script else (sys.executable, ["-m", "commonplace"])
    arguments = [*begin, "mcp"]
    for name in ("store", "user", "agent", "embedder"):
        value = getattr(options, name) or os.environ.get(f"COMMONPLACE_{name.upper()}")
        if value:
            arguments += [f"--{name}", _absolute(value) if name == "store" else value]
    arguments += ["--cleared"] if options.cleared else []
    arguments += ["--as-owner"] if as_owner else []
    arguments += ["--profile", profile] if profile else []
    return LocalLaunch(command, arguments, bool(options.key or os.environ.get("COMMONPLACE_KEY")))


def _absolute(store: str) -> str:
    return (
        store
        if "://" in store or store == ":memory:"
        else os.path.abspath(os.path.expanduser(store))
    )


def _address(url: str, profile: str | None) -> RemoteAddress:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("--url must be http://host:port or https://host.", field="url")
    path = parts.path.rstrip("/") or MCP_PATH
    whole = parts._replace(path=f"{path}/{profile}" if profile else path).geturl()
    return RemoteAddress(whole, local_token(url))
