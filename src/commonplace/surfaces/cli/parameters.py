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
from commonplace.model.profile.fields import is_list_field
from commonplace.operations.serialization import split_lines
from commonplace.operations.table import Effect, Operation, Parameter, ParameterShape

GLOBALS = {
    "store": typer.Option(
        "--store", metavar="STORE", help="SQLite file or PostgreSQL URL (COMMONPLACE_STORE)."
    ),
    "user": typer.Option(
        "--user", metavar="USER", help="User who owns the memory (COMMONPLACE_USER)."
    ),
    "agent": typer.Option(
        "--agent", metavar="AGENT", help="Act as this agent (COMMONPLACE_AGENT)."
    ),
    "key": typer.Option("--key", metavar="KEY", help="API key to act with (COMMONPLACE_KEY)."),
    "embedder": typer.Option(
        "--embedder",
        metavar="NAME",
        help="Embedder; not given: the store's own. wordllama, minilm, openai, hashing, "
        "onnx:FOLDER or fastembed:MODEL.",
    ),
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
    "tasks": "--task",
    "facts": "--fact",
    "relations": "--relation",
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
    ("artifacts create", "output"),
    ("show", "id"),
    ("node", "id"),
    ("storylines", "anchor"),
    ("macros", "anchor"),
    ("nodes add", "name"),
    ("teams create", "name"),
}
PROFILE_VALUES = {("profile set", "value"), ("profile propose", "value")}  # joined unless lists
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
    "anchor": _GRAPH,
    "conflict": (IdKind.CONFLICT, IdKind.HELD),
    "target": (IdKind.MEMORY,),
    "held": (IdKind.HELD,),
    "team": (IdKind.TEAM,),
    "run": (IdKind.RUN,),
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
    "keys revoke-service": (IdKind.SERVICE_KEY,),
    "keys rotate-service": (IdKind.SERVICE_KEY,),
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
        file = typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")
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
    kind = str if _is_file_of_maps(operation, parameter) else _TYPES[parameter.shape]
    if (operation.name, parameter.name) in JOINED:
        kind = list[str]
    default = None if parameter.shape in _REPEATED else parameter.default
    if positional:
        argument: Any = typer.Argument(
            metavar=argument_name(operation, parameter), help=parameter.help, show_default=False
        )
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
    is_flag = parameter.shape is ParameterShape.FLAG
    metavar = None if is_flag else _value_name(operation, parameter)
    argument = typer.Option(*flags, metavar=metavar, help=_option_help(parameter))
    if parameter.required:
        return Annotated[kind, argument], inspect.Parameter.empty
    return Annotated[kind if default is not None else kind | None, argument], default


def argument_name(operation: Operation, parameter: Parameter) -> str:
    """The name of an argument in help and reference."""
    is_file = parameter.shape in _FILES or _is_file_of_maps(operation, parameter)
    return "FILE" if is_file else parameter.name.upper()


def _is_file_of_maps(operation: Operation, parameter: Parameter) -> bool:
    is_argument = parameter.name in operation.positional and parameter.required
    return is_argument and parameter.shape is ParameterShape.MAPS


def _value_name(operation: Operation, parameter: Parameter) -> str:
    """The placeholder of an option's value in the help."""
    is_id = bool(kinds_of_id(operation.name, parameter.name))
    return "ID" if is_id else _VALUE_NAMES.get(parameter.shape, "TEXT")


def _option_help(parameter: Parameter) -> str:
    is_map = parameter.shape is ParameterShape.MAP
    return f"{parameter.help} {_MAP_FORMS}" if is_map else parameter.help


_MAP_FORMS = "Give one JSON object, or name=value once per field."
_FILES = (ParameterShape.LINES, ParameterShape.ORIGINAL)
_VALUE_NAMES: Mapping[ParameterShape, str] = {
    ParameterShape.INTEGER: "NUMBER",
    ParameterShape.NUMBER: "NUMBER",
    ParameterShape.MOMENT: "TIME",
    ParameterShape.MAP: "JSON",
    ParameterShape.LINES: "FILE",
    ParameterShape.ORIGINAL: "FILE",
}
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


def parsed(operation: Operation, parameter: Parameter, given: Mapping[str, Any]) -> Any:
    """The value that the operation takes, of all that were given."""
    value = given[parameter.name]
    if value is None or value == []:
        return None
    is_joined = (operation.name, parameter.name) in JOINED
    if is_joined or _is_one_profile_value(operation, parameter, given):
        value = " ".join(value)
    return _of_shape(parameter, value)


def _is_one_profile_value(
    operation: Operation, parameter: Parameter, given: Mapping[str, Any]
) -> bool:
    """Words make one value, except for a field that is a list."""
    is_value = (operation.name, parameter.name) in PROFILE_VALUES
    return is_value and not is_list_field(given["name"])


def _of_shape(parameter: Parameter, given: Any) -> Any:
    match parameter.shape:
        case ParameterShape.MAP:
            return _map(parameter.name, given)
        case ParameterShape.VALUE:
            return given[0] if isinstance(given, list) and len(given) == 1 else given
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
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", field=field) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text: {error}.", field=field) from error


def _item(line: str, field: str) -> Any:
    """A map in JSON, or a plain text."""
    if not line.lstrip().startswith("{"):
        return line
    try:
        return json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"A line is not valid JSON: {error}.", field=field) from error
