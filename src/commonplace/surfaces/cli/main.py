"""`commonplace`: one command per operation, in groups, and the servers and the demo."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import commonplace
from commonplace.errors import CommonplaceError
from commonplace.lazy import lazy_imports
from commonplace.operations.serialization import unexpected_error
from commonplace.operations.table import OPERATIONS, Operation
from commonplace.surfaces.cli.command import Globals, command_for
from commonplace.surfaces.cli.parameters import GLOBALS
from commonplace.surfaces.cli.render import show_error

with lazy_imports(__name__):
    from commonplace.surfaces.cli import demo, mcp, serve

EXIT_USER_ERROR = 1

# The sections of `commonplace --help`, and the first words of their commands, in order.
PANELS: Mapping[str, str] = {
    "Remember and recall": "remember recall query context forget restore update list show "
    "observe erase remember-many observe-many recall-many whole-context context-pack understand",
    "Review and history": "conflicts forget-requests resolve merge why history changes change-log "
    "events verify-forget",
    "Sources": "ingest sources extract extract-all artifacts",
    "Graph": "explore traverse people concepts entities storylines macros node nodes edges "
    "relate note split contributions graph",
    "Profile and categories": "profile categories abbreviations abbreviate",
    "Teams and API keys": "teams keys",
    "Maintenance": "stats doctor tidy sleep jobs worker model export import reembed calibrate "
    "erase-user",
    "Servers and demo": "serve mcp demo",
}
_PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names.split()}
_ORDER = {name: place for place, name in enumerate(_PANEL_OF)}

# What people try, and the command that does it.
ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("add", "save", "store", "put", "create", "insert"), "remember"),
    **dict.fromkeys(("search", "find", "lookup"), "recall"),
    **dict.fromkeys(("ask", "answer"), "query"),
    **dict.fromkeys(("delete", "del", "remove", "rm"), "forget"),
    **dict.fromkeys(("purge", "destroy", "wipe"), "erase"),
    **dict.fromkeys(("get", "cat", "view", "read"), "show"),
    **dict.fromkeys(("ls", "all", "memories"), "list"),
    **dict.fromkeys(("edit", "change", "modify"), "update"),
    **dict.fromkeys(("upload", "load", "read-file"), "ingest"),
    **dict.fromkeys(("undo", "undelete", "unforget"), "restore"),
    **dict.fromkeys(("status", "info", "count"), "stats"),
    **dict.fromkeys(("check", "health", "diagnose"), "doctor"),
    **dict.fromkeys(("server", "start", "run"), "serve"),
    **dict.fromkeys(("backup", "dump"), "export"),
    **dict.fromkeys(("work", "daemon"), "worker"),
    **dict.fromkeys(("team", "members"), "teams"),
    "log": "history",
    "key": "keys",
    "source": "sources",
    "job": "jobs",
    "link": "relate",
    "edge": "edges",
    "cypher": "traverse --mode cypher --cypher",
    "version": "--version",
}
_OTHERS: Mapping[str, Callable[[], Callable[..., None]]] = {
    "serve": lambda: serve.serve,
    "mcp": lambda: mcp.mcp,
    "demo": lambda: demo.demo,
}

log = logging.getLogger("commonplace")


class PlainCommand(TyperCommand):
    """Help without types of Python, and hints for text that the parser takes for something else."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [p for p in self.get_params(ctx) if p.param_type_name == "argument"]
        return [self.options_metavar or "", *(_in_usage(argument) for argument in arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is None:
                continue
            if parameter.param_type_name == "argument":
                sections["Arguments"].append((_argument_name(parameter), record[1]))
            else:
                sections["Options"].append(record)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except typer.Exit:
            raise
        except Exception as error:  # Typer does not export its errors of usage
            _add_hint(error, self)
            raise


def _argument_name(argument: Any) -> str:
    return f"{argument.metavar or argument.name.upper()}{'' if argument.nargs == 1 else '...'}"


def _in_usage(argument: Any) -> str:
    name = _argument_name(argument)
    return name if argument.required else f"[{name}]"


def _add_hint(error: Any, command: Any) -> None:
    message = getattr(error, "message", None)
    if not isinstance(message, str) or all(p.param_type_name == "option" for p in command.params):
        return
    if hasattr(error, "possibilities") and not error.possibilities:
        error.message = f"{message}. {_DASH_HINT.format(command.name)}"
    elif "unexpected extra argument" in message:
        error.message = f"{message}. {_QUOTES_HINT}"


_DASH_HINT = "If it is part of a text, put -- before the text: {} [OPTIONS] -- TEXT"
_QUOTES_HINT = "Put quotes around a text or a name of several words."


class SectionedGroup(TyperGroup):
    """Commands in sections, whole summaries, and help for names that do not exist."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in sorted(self.list_commands(ctx), key=lambda n: _ORDER.get(n, len(_ORDER))):
            command: Any = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panel = command.rich_help_panel
                title = panel if isinstance(panel, str) else "Commands"
                sections.setdefault(title, []).append((name, command.short_help or command.help))
        widest = max((len(name) for rows in sections.values() for name, _ in rows), default=0)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{widest}}", summary) for name, summary in rows])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            is_root = ctx.parent is None
            ctx.fail(
                _no_command(name, ctx.command_path, [*_ORDER] if is_root else [*self.commands])
            )
        return super().resolve_command(ctx, args)


def _no_command(name: str, path: str, known: Sequence[str]) -> str:
    message = f"No command {name!r}."
    if path.endswith("commonplace") and (use := ALIASES.get(name.lower())):
        return f"{message} Use: commonplace {use}{'' if use.startswith('--') else ' …'}"
    near = get_close_matches(name.lower(), known)
    return (
        f"{message} Did you mean: {', '.join(near)}?" if near else f"{message} See: {path} --help"
    )


def build(typed: Sequence[str] = ()) -> typer.Typer:
    """All commands; or, to start faster, only those that match the typed words."""
    app = typer.Typer(
        name="commonplace",
        cls=SectionedGroup,
        help="Long-term memory for AI agents: remember, recall, forget.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    groups: dict[str, typer.Typer] = {}
    grouped = {op.name.split(" ")[0] for op in OPERATIONS if " " in op.name}
    names = _matching_commands(set(typed))
    for operation in _in_order(names):
        first, _, rest = operation.name.partition(" ")
        about: dict[str, Any] = {
            "help": _help(operation),
            "short_help": operation.summary,
            "rich_help_panel": _PANEL_OF[first],
        }
        if first not in grouped:
            app.command(first, cls=PlainCommand, **about)(command_for(operation))
            continue
        if first not in groups:
            groups[first] = _group(app, first, about)
        if rest:
            about.pop("rich_help_panel")
            groups[first].command(rest, cls=PlainCommand, **about)(command_for(operation))
        else:
            lone = groups[first].callback(invoke_without_command=True)
            lone(command_for(operation, group=True))
    for name, load_command in _OTHERS.items():
        if name in names:
            command = load_command()
            summary = (command.__doc__ or "").partition("\n")[0]
            panel = _PANEL_OF[name]
            app.command(name, cls=PlainCommand, short_help=summary, rich_help_panel=panel)(command)
    return app


def _in_order(names: set[str]) -> Iterator[Operation]:
    chosen = [operation for operation in OPERATIONS if operation.name in names]
    yield from sorted(chosen, key=lambda operation: _ORDER[operation.name.split(" ")[0]])


def _help(operation: Operation) -> str:
    details = operation.help.removeprefix(operation.summary).strip()
    return f"{operation.summary}\n\n{details}" if details else operation.summary


def _group(app: typer.Typer, name: str, about: Mapping[str, Any]) -> typer.Typer:
    """Commands of two words; the first word alone may be a command, too."""
    group = typer.Typer(cls=SectionedGroup, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone = next((op for op in OPERATIONS if op.name == name), None)
    summary = alone.summary if alone else _GROUPS[name]
    options = {**about, "short_help": summary, "help": _help(alone) if alone else summary}
    app.add_typer(group, name=name, no_args_is_help=alone is None, **options)
    return group


_GROUPS = {
    "model": "Check language models, and show what they used.",
    "nodes": "Add or change nodes of the graph.",
}


def _matching_commands(typed: set[str]) -> set[str]:
    """The commands that match these words: of a group the named ones, or all of them. Without a
    match, all commands."""
    every = [*(operation.name for operation in OPERATIONS), *_OTHERS]
    near = [name for name in every if name.split(" ")[0] in typed] or every
    named = {name for name in near if typed.issuperset(name.split(" "))}
    narrowed = {name.split(" ")[0] for name in named if " " in name}
    return {name for name in near if name in named or name.split(" ")[0] not in narrowed}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"commonplace {commonplace.__version__}")
        raise typer.Exit


def _root(
    context: typer.Context,
    store: Annotated[str | None, GLOBALS["store"]] = None,
    user: Annotated[str | None, GLOBALS["user"]] = None,
    agent: Annotated[str | None, GLOBALS["agent"]] = None,
    key: Annotated[str | None, GLOBALS["key"]] = None,
    embedder: Annotated[str | None, GLOBALS["embedder"]] = None,
    cleared: Annotated[bool, GLOBALS["cleared"]] = False,
    json: Annotated[bool, GLOBALS["json"]] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    context.obj = Globals(store, user, agent, key, embedder, cleared, json)


def main() -> None:
    """Our own errors end in a message and an exit code, never in a stack trace."""
    try:
        build(sys.argv[1:])(prog_name="commonplace")
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
        show_error(
            unexpected_error("the command", type(error).__name__), as_json="--json" in sys.argv
        )
        sys.exit(EXIT_USER_ERROR)


if __name__ == "__main__":
    main()
