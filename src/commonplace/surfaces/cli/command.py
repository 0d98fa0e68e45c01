"""A command for an operation: its options from the table, its answer rendered."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

import commonplace
from commonplace import settings as settings_table
from commonplace.book import Commonplace, OfKeys, User, Verified, open_as_it_is
from commonplace.errors import InvalidInput, NotAllowed
from commonplace.model.relations import Action
from commonplace.operations import BY_NAME, Effect, Operation, Parameter, Shape
from commonplace.remember.consent import Outcome, Proposed
from commonplace.remember.remember import Remembered
from commonplace.settings import Settings
from commonplace.sleep.doctor import Finding
from commonplace.surfaces.cli.ingesting import IngestedFiles, ingest_files, still_waits
from commonplace.surfaces.cli.reembedding import reembed_with_a_bar
from commonplace.surfaces.cli.render import show_answer
from commonplace.surfaces.cli.working import work_until_told_to_stop
from commonplace.surfaces.lines import lines_of

EXIT_NO = 1
EXIT_PENDING = 3  # held: a person decides; or received: it is not processed yet

GLOBALS = {
    "store": typer.Option("--store", help="Where memory is kept (COMMONPLACE_STORE)."),
    "user": typer.Option("--user", help="Whose memory (COMMONPLACE_USER)."),
    "agent": typer.Option("--agent", help="The agent that acts (COMMONPLACE_AGENT)."),
    "key": typer.Option("--key", help="Act with the rights of this key (COMMONPLACE_KEY)."),
    "json": typer.Option("--json", help="Answer in JSON."),
    "embedder": typer.Option("--embedder", help="wordllama, minilm, openai or hashing."),
    "cleared": typer.Option("--cleared", help="Show sensitivity high too."),
}
_GLOBAL_TYPES: dict[str, tuple[Any, Any]] = {
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


@dataclass(frozen=True, slots=True)
class Globals:
    """Options that every command has, before or after its name."""

    store: str | None = None
    user: str | None = None
    agent: str | None = None
    key: str | None = field(default=None, repr=False)
    embedder: str | None = None
    cleared: bool = False
    json: bool = False

    def over(self, earlier: Globals | None) -> Globals:
        if earlier is None:
            return self
        return Globals(*(_latest(getattr(earlier, n), getattr(self, n)) for n in self.__slots__))


def _latest(earlier: Any, later: Any) -> Any:
    return earlier if later is None or later is False else later


def command_for(operation: Operation, group: bool = False) -> Callable[..., None]:
    def command(context: typer.Context, **given: Any) -> None:
        own = Globals(**{name: given.pop(name) for name in _GLOBAL_TYPES})
        options = own.over(context.obj)
        if group and context.invoked_subcommand is not None:
            context.obj = options
            return
        _confirm(operation, given)
        file = given.pop("to_file", None)
        meant = _of_everybody(operation, given)
        arguments = {
            parameter.name: value
            for parameter in meant.parameters
            if (value := _given(parameter, given, options)) is not None
        }
        answer = run(meant, options, arguments)
        if file:
            _write(file, answer.splitlines() if isinstance(answer, str) else answer)
        else:
            show_answer(meant, answer, as_json=options.json)
        if says_no(answer):
            raise typer.Exit(EXIT_NO)
        if _waits(answer, arguments):
            raise typer.Exit(EXIT_PENDING)

    _describe(command, operation)
    return command


def _of_everybody(operation: Operation, given: dict[str, Any]) -> Operation:
    """`extract --all` is another operation: of the store, and not of one user."""
    if operation.name != "extract" or not given.pop("all"):
        return operation
    if given.pop("ids"):
        raise InvalidInput("Give ids or --all, not both.", field="ids")
    return BY_NAME["extract-all"]


def _waits(answer: Any, arguments: Mapping[str, Any]) -> bool:
    if isinstance(answer, Remembered):
        return answer.action is Action.PENDING
    if isinstance(answer, Proposed):
        return answer.outcome is Outcome.WAITING
    return still_waits(answer, arguments)


def _given(parameter: Parameter, given: Mapping[str, Any], options: Globals) -> Any:
    if parameter.name in _GLOBAL_TYPES:
        return getattr(options, parameter.name)
    return _understood(parameter, given[parameter.name])


def run(operation: Operation, options: Globals, arguments: Mapping[str, Any]) -> Any:
    names = ("store", "user", "agent", "key", "embedder")
    chosen = settings_table.load({name: getattr(options, name) for name in names})
    if operation.of_the_store and chosen.agent is not None:
        raise NotAllowed("Only the owner may look after the whole store.")
    if operation.verb in ("reembed", "work") and chosen.key is not None:
        with open_as_it_is(options.store) as book:
            operation.opened_with(book, chosen.key)
    if operation.verb == "reembed":
        return reembed_with_a_bar(options.store, chosen.embedder)
    if operation.verb == "work":
        return work_until_told_to_stop(options.store, options.embedder, **arguments)
    # Closing waits for the worker, and whoever does not wait wants to be gone; whoever extracts by
    # hand does the worker's work.
    by_hand = operation.verb.startswith("extract") or not arguments.get("wait", True)
    worker = "off" if by_hand else None
    flags: dict[str, Any] = {"user": options.user, "agent": options.agent, "worker": worker}
    with commonplace.open(options.store, embedder=options.embedder, **flags) as book:
        whose = _called_on(operation, book, chosen, options)
        if operation.verb == "ingest" and isinstance(whose, User):
            return ingest_files(whose, **arguments)
        answer = operation.call(whose, arguments)
        # An export is read while the book is open.
        return list(answer) if isinstance(answer, Iterator) else answer


def _called_on(
    operation: Operation, book: Commonplace, chosen: Settings, options: Globals
) -> User | OfKeys | Commonplace:
    """The owner sits at the keyboard; whoever has a key has its rights and no others."""
    if chosen.key is not None:  # an empty one is refused: it is not the owner's
        whose = operation.opened_with(book, chosen.key, options.user)
    elif operation.of_the_store:
        return book
    else:
        whose = book.user(chosen.user, cleared=options.cleared)
    if isinstance(whose, User) and options.cleared and not whose.principal.cleared:
        raise NotAllowed("This key is not cleared.", field="cleared")
    if isinstance(whose, User) and chosen.agent is not None:  # nor is an empty name
        return whose.agent(chosen.agent)
    return whose


def _write(path: str, lines: Iterable[str]) -> None:
    try:
        Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"Cannot write {path}: {error.strerror}.", field="output") from error


def says_no(answer: Any) -> bool:
    """For scripts: the doctor found something, a text still stands somewhere, a file was
    refused."""
    if isinstance(answer, Verified):
        return not answer.clean
    if isinstance(answer, IngestedFiles):
        return bool(answer.refused)
    return isinstance(answer, list) and any(isinstance(f, Finding) and not f.ok for f in answer)


def _confirm(operation: Operation, given: dict[str, Any]) -> None:
    """Wiping a whole memory, or a team, takes a word more than a slip of the fingers."""
    if not _takes_a_word(operation) or given.pop("yes"):
        return
    if not sys.stdin.isatty():
        raise InvalidInput("This cannot be undone.", remedy="Say --yes.", field="yes")
    typer.confirm(f"{operation.help} Go on?", abort=True)


def _takes_a_word(operation: Operation) -> bool:
    return operation.effect is Effect.DESTROY and "ids" not in operation.positional


def _describe(command: Callable[..., None], operation: Operation) -> None:
    """Typer reads a signature, so the command gets the one that its operation asks for."""
    parameters = [
        inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    ]
    for parameter in _as_typed(operation):
        if parameter.name not in _GLOBAL_TYPES:  # those every command has
            annotation, default = _option(parameter, parameter.name in operation.positional)
            parameters.append(_keyword(parameter.name, annotation, default))
    if operation.name in ("export", "graph"):
        file = typer.Option("--output", "-o", help="Write to this file.")
        parameters.append(_keyword("to_file", Annotated[str | None, file], None))
    if operation.name == "extract":
        all_users = typer.Option("--all", help="For every user of the store.")
        parameters.append(_keyword("all", Annotated[bool, all_users], False))
    if _takes_a_word(operation):
        yes = typer.Option("--yes", help="Do not ask.")
        parameters.append(_keyword("yes", Annotated[bool, yes], False))
    for name, (kind, default) in _GLOBAL_TYPES.items():
        parameters.append(_keyword(name, Annotated[kind, GLOBALS[name]], default))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__doc__ = operation.help


def _as_typed(operation: Operation) -> list[Parameter]:
    """What needs no option first, as people say it: relate me friend Dana."""
    places = {name: place for place, name in enumerate(operation.positional)}
    return sorted(operation.parameters, key=lambda p: places.get(p.name, len(places)))


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _option(parameter: Parameter, positional: bool) -> tuple[Any, Any]:
    """The annotation and the default that Typer understands."""
    of_file = positional and parameter.required and parameter.shape is Shape.MAPS
    kind = str if of_file else _TYPES[parameter.shape]
    default = None if parameter.shape in _REPEATED else parameter.default
    if positional:
        told: Any = typer.Argument(help=parameter.help, show_default=False)
        return Annotated[kind if parameter.required else kind | None, told], (
            inspect.Parameter.empty if parameter.required else default
        )
    flags = [f"--{parameter.name.replace('_', '-')}"]
    if parameter.alias:
        flags.append(f"--{parameter.alias}")
    if parameter.name in _SINGULAR:
        flags.append(_SINGULAR[parameter.name])
    if parameter.shape is Shape.FLAG and parameter.default is not False:
        flags = [f"{flags[0]}/--no-{parameter.name.replace('_', '-')}"]
    told = typer.Option(*flags, help=parameter.help)
    if parameter.required:
        return Annotated[kind, told], inspect.Parameter.empty
    return Annotated[kind if default is not None else kind | None, told], default


_REPEATED = (Shape.TEXTS, Shape.MAP, Shape.MAPS, Shape.VALUE, Shape.ORIGINAL)
_TYPES: dict[Shape, Any] = {
    Shape.TEXT: str,
    Shape.TEXTS: list[str],
    Shape.INTEGER: int,
    Shape.NUMBER: float,
    Shape.FLAG: bool,
    Shape.MOMENT: str,
    Shape.MAP: list[str],
    Shape.MAPS: list[str],
    Shape.VALUE: list[str],
    Shape.LINES: str,
    Shape.ORIGINAL: list[str],
}


def _understood(parameter: Parameter, given: Any) -> Any:
    if given is None or given == []:
        return None
    match parameter.shape:
        case Shape.MAP:
            return _map(parameter.name, given)
        case Shape.VALUE:
            return given[0] if len(given) == 1 else given
        case Shape.LINES:
            return _lines(given, parameter.name)
        case Shape.MAPS if isinstance(given, str):
            return [_item(line, parameter.name) for line in _lines(given, parameter.name) if line]
        case Shape.MAPS:
            return [_item(each, parameter.name) for each in given]
        case _:
            return _piped(parameter.name) if (parameter.name, given) in _PIPED else given


_PIPED = (("content", "-"), ("text", "-"))  # a text to keep may come through a pipe


def _piped(name: str) -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"Standard input is no UTF-8 text: {error}.", field=name) from error


def _map(name: str, given: list[str]) -> dict[str, Any]:
    """name=value as often as wanted, or one JSON object."""
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
                f"{name} must be name=value, not {pair!r}.", remedy="Or give JSON.", field=name
            )
        pairs[key.strip()] = _scalar(name, key.strip(), value.strip())
    return pairs


def _scalar(parameter: str, key: str, value: str) -> Any:
    """Filters have numbers and flags, and so have a query's parameters; metadata stays as it was
    typed."""
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
            return lines_of(sys.stdin.buffer.read().decode("utf-8"))
        return lines_of(Path(path).read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"Cannot read {path}: {error}.", field=field) from error


def _item(line: str, field: str) -> Any:
    """A map in JSON, or a plain text."""
    if not line.lstrip().startswith("{"):
        return line
    try:
        return json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"This line is no JSON: {error}.", field=field) from error
