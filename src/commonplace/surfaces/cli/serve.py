"""`commonplace serve`: the HTTP server, until it is stopped."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

import commonplace
from commonplace import settings as settings_table
from commonplace.errors import BadSettings
from commonplace.surfaces.cli.command import Globals
from commonplace.surfaces.cli.month import QUESTION, USER, demo_store, prepare
from commonplace.surfaces.cli.parameters import GLOBALS

DEMO_HOST = "127.0.0.1"


def serve(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Option(metavar="HOST", help="Host to listen on (setting serve_host).")
    ] = None,
    port: Annotated[
        int | None, typer.Option(metavar="PORT", help="Port to listen on (setting serve_port).")
    ] = None,
    worker: Annotated[
        bool | None,
        typer.Option("--worker/--no-worker", help="Run background jobs in this process."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--for", min=0, metavar="SECONDS", help="Stop after this many seconds."),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve a demo memory from its own file.")
    ] = False,
    store: Annotated[str | None, GLOBALS["store"]] = None,
    user: Annotated[str | None, GLOBALS["user"]] = None,
    embedder: Annotated[str | None, GLOBALS["embedder"]] = None,
) -> None:
    """Run the HTTP server: REST, MCP and the web page.

    On a loopback address it prints an address with a token, which replaces an API key on this
    machine; on any other address every request needs an API key."""
    options = Globals(store=store, user=user, embedder=embedder).over(context.obj)
    serving = _with_the_server_installed()
    where = options.store
    flags: dict[str, Any] = {"user": options.user, "serve_host": host, "serve_port": port}
    flags["worker"] = None if worker is None else "inline" if worker else "off"
    if demo:
        where = where or demo_store()
        demo_memory = prepare(where, options.embedder, datetime.now(UTC))
        flags |= {"user": USER, "serve_host": DEMO_HOST}
    if demo and port is None:
        usual = settings_table.load(flags).serve_port
        flags["serve_port"] = serving.free_port(DEMO_HOST, usual)
    chosen = settings_table.load({**flags, "store": where, "embedder": options.embedder})
    output = serving.ServerOutput(typer.echo, lambda line: typer.echo(line, err=True))
    greeting = demo_greeting(demo_memory.summary(), where) if demo else None
    with commonplace.open(where, embedder=options.embedder, **flags) as book:
        serving.serve(book, chosen, output, seconds, greeting)


def demo_greeting(summary: str, store: str | None) -> Callable[[str, str], Iterator[str]]:
    """Example requests for the server's address and token."""

    def lines(url: str, token: str) -> Iterator[str]:
        key = f"-H 'Authorization: Bearer {token}'"
        request = f"curl -s {url}/v1/recall {key} -H 'Content-Type: application/json' "
        yield f"{summary} File: {store}"
        yield f"  browser      {url}/?token={token}"
        yield f'  curl         {request}-d \'{{"query": "{QUESTION}"}}\''
        yield f'  Python       import commonplace; me = commonplace.connect("{url}", "{token}")'
        yield f'               print(me.recall("{QUESTION}").hits[0].text)'
        yield f"  MCP          {_data_home()}{own_command()} mcp --config --url {url}"
        yield "Press Ctrl-C to stop."

    return lines


def _data_home() -> str:
    """Where another command finds the token, if it is not in the usual place."""
    home = os.environ.get("XDG_DATA_HOME")
    return f"XDG_DATA_HOME={shlex.quote(home)} " if home else ""


def own_command() -> str:
    """The command as it can be typed: in a new checkout it may not be on the PATH."""
    if shutil.which("commonplace"):
        return "commonplace"
    script = Path(sys.executable).with_name("commonplace")
    if not script.exists():
        return f"{sys.executable} -m commonplace"
    here = Path.cwd()
    return str(script.relative_to(here) if script.is_relative_to(here) else script)


def _with_the_server_installed() -> Any:
    """Imported on use: it is an optional extra."""
    try:
        return import_module("commonplace.surfaces.rest.server")
    except ModuleNotFoundError as error:
        raise BadSettings(
            f"A server needs {error.name}, which is not installed.",
            remedy="pip install 'commonplace[server]'",
        ) from error
