"""The reference pages, written from the tables in the code: `make docs`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from commonplace.errors import all_errors
from commonplace.model.memory.kinds import POLICIES
from commonplace.operations.table import OPERATIONS, Operation, Parameter
from commonplace.settings import CONFIG_VARIABLE, TABLE, written
from commonplace.surfaces.cli.parameters import JOINED, PROFILE_VALUES, argument_name
from tools.cypher_reference import cypher
from tools.graph_picture import graph_picture
from tools.graph_tour import graph_tour_page
from tools.signals import with_signals
from tools.surface_reference import mcp_reference_page, rest_reference_page
from tools.terminal_pictures import conflicts_picture, passages_picture, recall_picture
from tools.timeline_picture import timeline_picture
from tools.tour import tour_page

FOLDER = Path("docs") / "reference"
IMAGES = Path("docs") / "images"
_MADE = "<!-- Made by `make docs` from the code; do not edit. -->\n\n"


def commands() -> str:
    parts = [
        "# Commands\n",
        "Every command also takes `--store`, `--user`, `--agent`, `--key`, `--embedder`, "
        "`--cleared`, `--json` and `-h`. Exit codes: 0 success, 1 the request was refused, 2 wrong "
        "usage, 3 pending (a person has to decide, or it is not processed yet).\n",
        _typing(),
    ]
    parts += [_command(operation) for operation in OPERATIONS]
    parts.append("## demo\n\n`commonplace demo`\n\nA guided tour on a temporary store.\n")
    parts.append(_SERVE)
    parts.append(_MCP)
    return "\n".join(parts)


def _typing() -> str:
    joined = dict.fromkeys(name for name, _ in (*JOINED, *PROFILE_VALUES))
    unquoted = ", ".join(f"`{o.name}`" for o in OPERATIONS if o.name in joined)
    return _TYPING.format(unquoted=unquoted)


_TYPING = """These commands need no quotes around their text: {unquoted}. Example: `commonplace
remember I like tea`. Other texts and names of several words need quotes: `commonplace note "Noa
Adler" "Prefers mornings"`. If a word of a text begins with a dash, put `--` before the text:
`commonplace remember -- It is -3 degrees`.

An id can be shortened to its first characters, at least six: `commonplace show 6f1c2b`. On a
terminal, commands that cannot be undone show what they erase and ask first; `--yes` skips the
question. `commonplace --install-completion` installs completion for your shell.
"""

_SERVE = """## serve

`commonplace serve`

Run the HTTP server ([REST](../rest.md), MCP, web page), until a signal stops it, or for `--for`
seconds. `--host` and `--port` say where it listens; on any address but loopback an
[API key](../keys.md) must exist first. `--no-worker` leaves background jobs to other processes.
`--demo` serves a demo memory from its own file and prints what to try.
"""

_MCP = """## mcp

`commonplace mcp`

Run an MCP server on standard input and output, for an [MCP client](../mcp.md) that starts this
command. `commonplace mcp --config CLIENT` prints the configuration for a client instead:
claude-desktop, claude-code, cursor, vscode, windsurf, zed, gemini, codex, cline, or all of them;
with `--url` for a running server. `--profile reference-memory` offers the nine tools of the MCP
reference memory server instead of our own.
"""


def _command(operation: Operation) -> str:
    parameters = {each.name: each for each in operation.parameters}
    positional = " ".join(argument_name(operation, parameters[n]) for n in operation.positional)
    who = "owner" if operation.owner_only else "owner and agents"
    lines = [
        f"## {operation.name}\n",
        f"`commonplace {operation.name} {positional}`".replace(" `", "`")
        + f" · {operation.effect} · {who}\n",
        f"{operation.help}\n",
    ]
    if operation.parameters:
        lines += ["| parameter | type | default | meaning |", "|---|---|---|---|"]
        lines += [_parameter(operation, parameter) for parameter in operation.parameters]
        lines.append("")
    return "\n".join(lines)


def _parameter(operation: Operation, parameter: Parameter) -> str:
    positional = parameter.name in operation.positional
    dashed = parameter.name.replace("_", "-")
    name = argument_name(operation, parameter) if positional else f"--{dashed}"
    default = "required" if parameter.required else _default(parameter.default)
    return f"| `{name}` | {parameter.shape} | {default} | {parameter.help} |"


def _default(value: object) -> str:
    return "" if value is None else f"`{value}`"


def python() -> str:
    lines = [
        "# Python\n",
        '`book = commonplace.open(url)`, `me = book.user("ana")`, '
        '`planner = me.agent("planner")`. Each verb, its parameters and what it does; '
        "`commonplace.aio` has the same verbs to await.\n",
    ]
    for operation in OPERATIONS:
        given = ", ".join(_python_parameter(p) for p in operation.parameters)
        whose = "book" if operation.of_the_store else "me"
        lines.append(f"### {whose}.{operation.verb}({given})\n\n{operation.help}\n")
    return "\n".join(lines)


def _python_parameter(parameter: Parameter) -> str:
    if parameter.required:
        return parameter.name
    default = parameter.default
    return f"{parameter.name}={(default.value if isinstance(default, Enum) else default)!r}"


def settings() -> str:
    lines = [
        "# Settings\n",
        "A flag outranks the environment, which outranks the file "
        f"(`{CONFIG_VARIABLE}`, or `~/.config/commonplace/config.toml`), then the default.\n",
        "| name | variable | type | default | meaning |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| `{s.name}` | `{s.variable}` | {s.type.__name__} | `{written(s.default)}` | {s.help} |"
        for s in TABLE
    ]
    return "\n".join(lines) + "\n"


def errors() -> str:
    lines = [
        "# Errors\n",
        "Every error is a `commonplace.errors.CommonplaceError`. It has a `code`, a message, a "
        "`remedy`, and whether calling again may help. Nothing was changed, but "
        "for `outcome_unknown`, which says that it cannot tell.\n",
        "| code | class | retry | remedy |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{e.code}` | {e.__name__} | {'yes' if e.retryable else 'no'} | {e.default_remedy} |"
        for e in all_errors()
    ]
    return "\n".join(lines) + "\n"


def kinds() -> str:
    lines = [
        "# Kinds of memory\n",
        "| kind | for | life | category | in a context | needs | when it is known already |",
        "|---|---|---|---|---|---|---|",
    ]
    for policy in POLICIES.values():
        life = policy.stability + (f", {policy.ttl_days} days" if policy.ttl_days else "")
        needs = ", ".join(policy.required)
        if policy.min_confidence:
            needs += f", confidence ≥ {policy.min_confidence:g}"
        lines.append(
            f"| {policy.kind} | {policy.purpose} | {life} | {policy.category} "
            f"| {policy.context} | {needs} | {policy.when_known} |"
        )
    return "\n".join(lines) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands,
    "python.md": python,
    "settings.md": settings,
    "errors.md": errors,
    "kinds.md": kinds,
    "rest.md": rest_reference_page,
    "mcp.md": mcp_reference_page,
    "cypher.md": cypher,
}

WRITTEN_WHOLE = {  # pages beside the reference
    "tour.md": tour_page,
    "graph-tour.md": graph_tour_page,
}

PICTURES = {
    "recall.svg": recall_picture,
    "passages.svg": passages_picture,
    "conflicts.svg": conflicts_picture,
    "graph.svg": graph_picture,
    "storylines.svg": timeline_picture,
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(_MADE + page(), encoding="utf-8")
    for name, page in WRITTEN_WHOLE.items():
        (FOLDER.parent / name).write_text(_MADE + page(), encoding="utf-8")
    recall_page = FOLDER.parent / "recall.md"
    recall_page.write_text(with_signals(recall_page.read_text(encoding="utf-8")), encoding="utf-8")
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, snapshot in PICTURES.items():
        (IMAGES / name).write_text(snapshot(), encoding="utf-8")
    sys.stdout.write(f"wrote {len(PAGES)} pages to {FOLDER}\n")


if __name__ == "__main__":
    main()
