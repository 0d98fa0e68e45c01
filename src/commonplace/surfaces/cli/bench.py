"""`commonplace bench …`: measuring, for whoever has the package and the data."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from commonplace.surfaces.cli.command import GLOBALS, Globals

PAGE = Path("docs") / "benchmarks.md"

bench = typer.Typer(
    help="Measure this installation.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@bench.callback()
def _group() -> None:
    """Measure this installation."""


@bench.command("quality")
def quality(
    context: typer.Context,
    data: Annotated[
        Path | None,
        typer.Option(help="The folder with the sets (COMMONPLACE_BENCH_DATA, ../shared/data)."),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="locomo, multihop, beam, meetings or precision; repeatable."),
    ] = None,
    embedder: Annotated[
        list[str] | None, typer.Option(help="wordllama, minilm or hashing; repeatable.")
    ] = None,
    floor: Annotated[
        list[float] | None, typer.Option(help="Measure abstention at this floor; repeatable.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help=f"Put the tables into {PAGE}.")] = False,
    store: Annotated[str | None, typer.Option(help="A temporary one, when not given.")] = None,
    json: Annotated[bool, GLOBALS["json"]] = False,
) -> None:
    """Do the right things come back? Public sets of questions, beside BM25 and vectors alone."""
    earlier = context.obj or Globals()
    # Imported when wanted: whoever remembers and recalls need not wait for the benchmarks.
    command = import_module("commonplace.bench.quality.command")
    command.quality(
        data=data,
        sets=sets or (),
        embedders=embedder or ([earlier.embedder] if earlier.embedder else ()),
        as_json=json or earlier.json,
        store=store or earlier.store,
        floors=floor or (),
        page=PAGE if write else None,
    )
