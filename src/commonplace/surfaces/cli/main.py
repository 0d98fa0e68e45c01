"""`commonplace`: one command per operation, the demo and the benchmarks."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import typer

import commonplace
from commonplace.errors import CommonplaceError
from commonplace.operations import OPERATIONS
from commonplace.surfaces.cli.bench import bench
from commonplace.surfaces.cli.command import GLOBALS, Globals, command_for
from commonplace.surfaces.cli.demo import demo
from commonplace.surfaces.cli.mcp import mcp
from commonplace.surfaces.cli.render import show_error
from commonplace.surfaces.cli.serving import serve
from commonplace.surfaces.unexpected import unexpected

EXIT_USER_ERROR = 1

_BESIDE: Mapping[str, Callable[..., None]] = {"demo": demo, "serve": serve, "mcp": mcp}
_BENCH = "bench"

log = logging.getLogger("commonplace")


def build(typed: Sequence[str] = ()) -> typer.Typer:
    """All commands; or, since most of the time to start goes into them, those alone that what was
    typed could mean."""
    app = typer.Typer(
        name="commonplace",
        help="Long-term memory for AI agents: remember, recall, forget.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    groups: dict[str, typer.Typer] = {}
    grouped = {op.name.split(" ")[0] for op in OPERATIONS if " " in op.name}
    wanted = _meant(set(typed))
    for operation in OPERATIONS:
        first, _, rest = operation.name.partition(" ")
        if operation.name not in wanted:
            continue
        if first not in grouped:
            app.command(first, help=operation.help)(command_for(operation))
            continue
        if first not in groups:
            groups[first] = _group(app, first, operation.help)
        if rest:
            groups[first].command(rest, help=operation.help)(command_for(operation))
        else:
            lone = groups[first].callback(invoke_without_command=True)
            lone(command_for(operation, group=True))
    for name, command in _BESIDE.items():
        if name in wanted:
            app.command(name)(command)
    if _BENCH in wanted:
        app.add_typer(bench, name=_BENCH)
    return app


def _group(app: typer.Typer, name: str, help: str) -> typer.Typer:
    """Commands of two words; the first alone may be one, too."""
    group = typer.Typer(help=help, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.add_typer(group, name=name)
    return group


def _meant(typed: set[str]) -> set[str]:
    """The commands that these words name: of a group only those that are named, or all of them.
    Words that name none could mean any."""
    every = [*(operation.name for operation in OPERATIONS), *_BESIDE, _BENCH]
    near = [name for name in every if name.split(" ")[0] in typed] or every
    named = {name for name in near if typed.issuperset(name.split(" "))}
    narrowed = {name.split(" ")[0] for name in named if " " in name}
    return {name for name in near if name in named or name.split(" ")[0] not in narrowed}


def _root(
    context: typer.Context,
    store: Annotated[str | None, GLOBALS["store"]] = None,
    user: Annotated[str | None, GLOBALS["user"]] = None,
    agent: Annotated[str | None, GLOBALS["agent"]] = None,
    key: Annotated[str | None, GLOBALS["key"]] = None,
    embedder: Annotated[str | None, GLOBALS["embedder"]] = None,
    cleared: Annotated[bool, GLOBALS["cleared"]] = False,
    json: Annotated[bool, GLOBALS["json"]] = False,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        typer.echo(f"commonplace {commonplace.__version__}")
        raise typer.Exit
    context.obj = Globals(store, user, agent, key, embedder, cleared, json)


def main() -> None:
    """Errors of ours end in words and an exit code, never in a stack trace."""
    try:
        build(sys.argv[1:])()
    except CommonplaceError as error:
        show_error(error, as_json="--json" in sys.argv)
        sys.exit(EXIT_USER_ERROR)
    except (SystemExit, KeyboardInterrupt, EOFError):
        raise
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(EXIT_USER_ERROR)
    except Exception as error:
        log.debug("unexpected", exc_info=True)
        told = unexpected("what you typed", type(error).__name__)
        show_error(told, as_json="--json" in sys.argv)
        sys.exit(EXIT_USER_ERROR)


if __name__ == "__main__":
    main()
