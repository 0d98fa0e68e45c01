"""`commonplace mcp`: the memory as tools for an MCP client, over standard input and output."""

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
from commonplace.book import Commonplace, User
from commonplace.errors import BadSettings, InvalidInput, NotAllowed
from commonplace.settings import Settings
from commonplace.surfaces.cli.command import GLOBALS, Globals
from commonplace.surfaces.mcp.clients import ALL, Address, Launch, configuration
from commonplace.surfaces.rest.doors import is_loopback
from commonplace.surfaces.rest.logs import log_to_stderr
from commonplace.surfaces.rest.routes import MCP_PATH, PROFILES


def mcp(
    context: typer.Context,
    client: Annotated[str | None, typer.Argument(help="With --config: for which client.")] = None,
    config: Annotated[
        bool, typer.Option("--config", help="Print the settings of an MCP client, and end.")
    ] = False,
    url: Annotated[
        str | None, typer.Option("--url", help="With --config: of a server that runs already.")
    ] = None,
    store: Annotated[str | None, GLOBALS["store"]] = None,
    user: Annotated[str | None, GLOBALS["user"]] = None,
    agent: Annotated[str | None, GLOBALS["agent"]] = None,
    key: Annotated[str | None, GLOBALS["key"]] = None,
    embedder: Annotated[str | None, GLOBALS["embedder"]] = None,
    cleared: Annotated[bool, GLOBALS["cleared"]] = False,
    as_owner: Annotated[
        bool, typer.Option("--as-owner", help="Take the client's word for yours: it decides.")
    ] = False,
    profile: Annotated[
        str | None,
        typer.Option("--profile", help="Other tools: reference-memory, those of that server."),
    ] = None,
) -> None:
    """Serve the memory to an MCP client that starts this command, over standard input and output,
    until the input ends. The client is one of your agents, under --agent or the name that it gives
    itself: what only you decide waits for you, or you are asked. With --config: print what goes
    into a client's settings instead, for one (claude-desktop, claude-code, cursor, vscode,
    windsurf, zed, gemini, codex, cline) or for all."""
    options = Globals(store, user, agent, key, embedder, cleared).over(context.obj)
    if profile is not None and profile not in PROFILES:
        known = ", ".join(PROFILES)
        raise InvalidInput(f"There is no profile {profile!r}.", remedy=known, field="profile")
    if config:
        reached = _address(url, profile) if url is not None else _launch(options, as_owner, profile)
        typer.echo(configuration(client or ALL, reached))
    elif client is not None or url is not None:
        raise InvalidInput("A client and --url go with --config.", field="config")
    else:
        _serve(options, as_owner, profile)


# ——— serving ———


def _serve(options: Globals, as_owner: bool, profile: str | None) -> None:
    names = ("store", "user", "agent", "key", "embedder")
    chosen = settings_table.load({name: getattr(options, name) for name in names})
    stdio = _with_the_protocol_installed()
    log_to_stderr()
    with commonplace.open(options.store, embedder=options.embedder) as book:
        holder = _holder(book, chosen, options.cleared)
        holder()  # a key that opens nothing is refused before a client waits for anything
        _end_when_told_to(book)
        stdio.serve_stdio(stdio.one_caller(holder, chosen.agent, as_owner), profile)


def _end_when_told_to(book: Commonplace) -> None:
    """A thread that reads standard input cannot be called off, and the interpreter would wait for
    it: so the book is closed, with everything kept, and the process ended from here."""

    def end(number: int, frame: object) -> None:
        book.close()
        os._exit(0)

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, end)


def _holder(book: Commonplace, chosen: Settings, cleared: bool) -> Callable[[], User]:
    """Who has the store is its owner; whoever has a key has its rights, while it is valid."""

    def holder() -> User:
        if chosen.key is None:
            return book.user(chosen.user, cleared=cleared)
        user = book.authenticate(chosen.key)
        if cleared and not user.principal.cleared:
            raise NotAllowed("This key is not cleared.", field="cleared")
        return user

    return holder


def _with_the_protocol_installed() -> Any:
    """Imported when wanted: whoever serves nothing need not have it."""
    try:
        return import_module("commonplace.surfaces.mcp.stdio")
    except ModuleNotFoundError as error:
        raise BadSettings(
            f"MCP needs {error.name}, which is not installed.",
            remedy="pip install 'commonplace[server]'",
        ) from error


# ——— settings of clients ———


def _launch(options: Globals, as_owner: bool, profile: str | None) -> Launch:
    """With what was said here: a client starts it elsewhere, without this shell's variables."""
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
    return Launch(command, arguments, bool(options.key or os.environ.get("COMMONPLACE_KEY")))


def _absolute(store: str) -> str:
    return (
        store
        if "://" in store or store == ":memory:"
        else os.path.abspath(os.path.expanduser(store))
    )


def _address(url: str, profile: str | None) -> Address:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("An address is http://host:port or https://host.", field="url")
    path = parts.path.rstrip("/") or MCP_PATH
    whole = parts._replace(path=f"{path}/{profile}" if profile else path).geturl()
    return Address(whole, needs_key=not is_loopback(parts.hostname))
