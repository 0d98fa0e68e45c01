"""`commonplace serve`: the memory over HTTP, until it is told to stop."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

import commonplace
from commonplace import settings as settings_table
from commonplace.errors import BadSettings
from commonplace.surfaces.cli.command import GLOBALS, Globals


def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Where to listen (serve_host).")] = None,
    port: Annotated[int | None, typer.Option(help="On which port (serve_port).")] = None,
    worker: Annotated[
        bool | None,
        typer.Option("--worker/--no-worker", help="Do what is owed, beside serving (worker)."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--for", min=0, help="End by itself after so many seconds.")
    ] = None,
    store: Annotated[str | None, GLOBALS["store"]] = None,
    user: Annotated[str | None, GLOBALS["user"]] = None,
    embedder: Annotated[str | None, GLOBALS["embedder"]] = None,
) -> None:
    """Serve the memory over HTTP. On this machine alone it needs no key; on any other address
    everybody needs one."""
    options = Globals(store=store, user=user, embedder=embedder).over(context.obj)
    flags = {"store": options.store, "user": options.user, "embedder": options.embedder}
    chosen = settings_table.load({**flags, "serve_host": host, "serve_port": port})
    serving = _with_the_server_installed()
    working = None if worker is None else "inline" if worker else "off"
    voices = serving.Voices(typer.echo, lambda line: typer.echo(line, err=True))
    with commonplace.open(options.store, embedder=options.embedder, worker=working) as book:
        serving.serve(book, chosen, voices, seconds)


def _with_the_server_installed() -> Any:
    """Imported when wanted: whoever serves nothing need not have it."""
    try:
        return import_module("commonplace.surfaces.rest.serving")
    except ModuleNotFoundError as error:
        raise BadSettings(
            f"A server needs {error.name}, which is not installed.",
            remedy="pip install 'commonplace[server]'",
        ) from error
