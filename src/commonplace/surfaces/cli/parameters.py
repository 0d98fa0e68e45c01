"""Options and arguments of a command, from the table of operations, and their parsing."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from commonplace.api.id_prefixes import ITEMS, IdKind
from commonplace.errors import InvalidInput
from commonplace.operations.serialization import split_lines
from commonplace.operations.table import Effect, Operation, Parameter, ParameterShape

GLOBALS = {
    "store": typer.Option("--store", help="SQLite file or PostgreSQL URL (COMMONPLACE_STORE)."),
    "user": typer.Option("--user", help="User who owns the memory (COMMONPLACE_USER)."),
    "agent": typer.Option("--agent", help="Act as this agent (COMMONPLACE_AGENT)."),
    "key": typer.Option("--key", help="API key to act with (COMMONPLACE_KEY)."),
    "embedder": typer.Option("--embedder", help="wordllama, minilm, openai or hashing."),
    "cleared": typer.Option("--cleared", help="Include items with sensitivity high."),
    "json": typer.Option("--json", help="Print JSON."),
}
GLOBAL_TYPES: dict[str, tuple[Any, Any]] = {
    "store": (str | None, None),
    "user": (str | None, None),
    "agent": (str | None, None),
    "key": (str | None, None),
    "embedder": (str | None, None),
    "cleared": (bool, False),
    "json": (bool, False),
}
_SINGULAR = {
    "aliases": "--alias",
    "addresses": "--address",
    "names": "--told-as",
    "not_addresses": "--not-address",
    "not_aliases": "--not-alias",
    "text_matches": "--text-match",
    "types": "--type",
    "states": "--state",
    "tags": "--tag",
    "kinds": "--kind",
    "categories": "--category",
    "steps": "--step",
    "participants": "--participant",
    "sources": "--source",
    "source_types": "--source-type",
}
# Arguments that are one text: words need no quotes around them.
JOINED = {
    ("remember", "content"),
    ("observe", "text"),
    ("recall", "query"),
    ("query", "query"),
    ("understand", "message"),
    ("context", "query"),
    ("whole-context", "query"),
    ("context-pack", "query"),
    ("verify-forget", "text"),
    ("abbreviate", "long"),
    ("profile note", "text"),
    ("node", "id"),
    ("nodes add", "name"),
    ("teams create", "name"),
}
_SOURCE = (IdKind.SOURCE,)
_GRAPH = (IdKind.GRAPH,)
_PLAIN_IDS: Mapping[str, tuple[IdKind, ...]] = {
    "ids": ITEMS,
    "source": _SOURCE,
    "sources": _SOURCE,
    "source_id": _SOURCE,
    "memory_id": (IdKind.MEMORY,),
    "seed_nodes": (IdKind.GRAPH, IdKind.SOURCE),
    "node": _GRAPH,
    "from_node": _GRAPH,
    "to_node": _GRAPH,
    "about": _GRAPH,
    "conflict": (IdKind.CONFLICT, IdKind.HELD),
    "target": (IdKind.MEMORY,),
    "held": (IdKind.HELD,),
    "team": (IdKind.TEAM,),
}
_IDS_OF: Mapping[str, tuple[IdKind, ...]] = {
    "show": ITEMS,
    "history": ITEMS,
    "update": (IdKind.MEMORY,),
    "sources share": _SOURCE,
    "sources unshare": (IdKind.SOURCE, IdKind.INVITATION),
    "sources accept": (IdKind.INVITATION,),
    "sources decline": (IdKind.SOURCE, IdKind.INVITATION),
    "node": _GRAPH,
    "nodes update": _GRAPH,
    "split": _GRAPH,
    "artifacts show": _GRAPH,
    "profile accept": (IdKind.PROPOSAL,),
    "profile decline": (IdKind.PROPOSAL,),
    "jobs retry": (IdKind.JOB,),
    "jobs cancel": (IdKind.JOB,),
    "keys revoke": (IdKind.KEY,),
    "keys rotate": (IdKind.KEY,),
    "keys revoke-admin": (IdKind.ADMIN_KEY,),
}
_FREE_TEXT = {("remember", "source_id"), ("forget", "source_id")}  # ids of other systems


def kinds_of_id(operation: str, parameter: str) -> tuple[IdKind, ...]:
    """The kinds of ids that a parameter takes; empty if none."""
    if (operation, parameter) in _FREE_TEXT:
        return ()
    return _IDS_OF.get(operation, ()) if parameter == "id" else _PLAIN_IDS.get(parameter, ())


# ——— the signature ———


def signature_of(operation: Operation) -> inspect.Signature:
    """The signature for Typer: the operation's parameters, then the global options."""
    parameters = [
        inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    ]
    for parameter in _in_order(operation):
        if parameter.name not in GLOBAL_TYPES:
            annotation, default = _option(operation, parameter)
            parameters.append(_keyword(parameter.name, annotation, default))
    if operation.name in ("export", "graph"):
        file = typer.Option("--output", "-o", help="Write to this file.")
        parameters.append(_keyword("to_file", Annotated[str | None, file], None))
    if operation.name == "extract":
        all_users = typer.Option("--all", help="For all users of the store.")
        parameters.append(_keyword("all", Annotated[bool, all_users], False))
    if operation.effect is Effect.DESTROY:
        yes = typer.Option("--yes", "-y", help="Do not ask for confirmation.")
        parameters.append(_keyword("yes", Annotated[bool, yes], False))
    for name, (kind, default) in GLOBAL_TYPES.items():
        parameters.append(_keyword(name, Annotated[kind, GLOBALS[name]], default))
    return inspect.Signature(parameters)


def _in_order(operation: Operation) -> list[Parameter]:
    """Arguments first, in the order in which they are typed: relate me friend Dana."""
    places = {name: place for place, name in enumerate(operation.positional)}
    return sorted(operation.parameters, key=lambda p: places.get(p.name, len(places)))


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _option(operation: Operation, parameter: Parameter) -> tuple[Any, Any]:
    """The annotation and the default that Typer understands."""
    positional = parameter.name in operation.positional
    of_file = positional and parameter.required and parameter.shape is ParameterShape.MAPS
    kind = str if of_file else _TYPES[parameter.shape]
    if (operation.name, parameter.name) in JOINED:
        kind = list[str]
    default = None if parameter.shape in _REPEATED else parameter.default
    if positional:
        argument: Any = typer.Argument(help=parameter.help, show_default=False)
        return Annotated[kind if parameter.required else kind | None, argument], (
            inspect.Parameter.empty if parameter.required else default
        )
    flags = [f"--{parameter.name.replace('_', '-')}"]
    if parameter.alias:
        flags.append(f"--{parameter.alias}")
    if parameter.name in _SINGULAR:
        flags.append(_SINGULAR[parameter.name])
    if parameter.shape is ParameterShape.FLAG and parameter.default is not False:
        flags = [f"{flags[0]}/--no-{parameter.name.replace('_', '-')}"]
    argument = typer.Option(*flags, help=parameter.help)
    if parameter.required:
        return Annotated[kind, argument], inspect.Parameter.empty
    return Annotated[kind if default is not None else kind | None, argument], default


_REPEATED = (
    ParameterShape.TEXTS,
    ParameterShape.MAP,
    ParameterShape.MAPS,
    ParameterShape.VALUE,
    ParameterShape.ORIGINAL,
)
_TYPES: dict[ParameterShape, Any] = {
    ParameterShape.TEXT: str,
    ParameterShape.TEXTS: list[str],
    ParameterShape.INTEGER: int,
    ParameterShape.NUMBER: float,
    ParameterShape.FLAG: bool,
    ParameterShape.MOMENT: str,
    ParameterShape.MAP: list[str],
    ParameterShape.MAPS: list[str],
    ParameterShape.VALUE: list[str],
    ParameterShape.LINES: str,
    ParameterShape.ORIGINAL: list[str],
}


# ——— parsing ———


def parsed(operation: Operation, parameter: Parameter, given: Any) -> Any:
    """The value that the operation takes."""
    if given is None or given == []:
        return None
    if (operation.name, parameter.name) in JOINED:
        given = " ".join(given)
    match parameter.shape:
        case ParameterShape.MAP:
            return _map(parameter.name, given)
        case ParameterShape.VALUE:
            return given[0] if len(given) == 1 else given
        case ParameterShape.LINES:
            return _lines(given, parameter.name)
        case ParameterShape.MAPS if isinstance(given, str):
            return [_item(line, parameter.name) for line in _lines(given, parameter.name) if line]
        case ParameterShape.MAPS:
            return [_item(each, parameter.name) for each in given]
        case _:
            return _piped(parameter.name) if (parameter.name, given) in _PIPED else given


_PIPED = (("content", "-"), ("text", "-"))  # read from standard input


def _piped(name: str) -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"Standard input is not UTF-8 text: {error}.", field=name) from error


def _map(name: str, given: list[str]) -> dict[str, Any]:
    """Any number of name=value, or one JSON object."""
    if len(given) == 1 and given[0].lstrip().startswith("{"):
        try:
            return dict(json.loads(given[0]))
        except ValueError as error:
            raise InvalidInput(f"{name} is not valid JSON: {error}.", field=name) from error
    pairs = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals:
            raise InvalidInput(
                f"{name} must be name=value, not {pair!r}.",
                remedy="Give name=value, or one JSON object.",
                field=name,
            )
        pairs[key.strip()] = _scalar(name, key.strip(), value.strip())
    return pairs


def _scalar(parameter: str, key: str, value: str) -> Any:
    """Filters and query parameters have numbers and flags; metadata is always text."""
    if parameter in ("params", "relationship_filters"):
        return value.split(",") if key.endswith("relationship_types") else _number_or_text(value)
    if parameter != "filters":
        return value
    if value in ("true", "false"):
        return value == "true"
    if key.startswith("importance") and value.isdigit():
        return int(value)
    return value.split(",") if key in ("tags", "kinds", "categories") else value


def _number_or_text(value: str) -> Any:
    try:
        read = json.loads(value)
    except ValueError:
        return value
    return read if isinstance(read, int | float) else value


def _lines(path: str, field: str) -> list[str]:
    try:
        if path == "-":
            return split_lines(sys.stdin.buffer.read().decode("utf-8"))
        return split_lines(Path(path).read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"Cannot read {path}: {error}.", field=field) from error


def _item(line: str, field: str) -> Any:
    """A map in JSON, or a plain text."""
    if not line.lstrip().startswith("{"):
        return line
    try:
        return json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"A line is not valid JSON: {error}.", field=field) from error
