"""A command for an operation: parses the arguments, calls the operation, prints the answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

import commonplace
from commonplace import settings as settings_table
from commonplace.api import Commonplace, KeyVerbs, User, Verified, open_without_embedder
from commonplace.api.id_prefixes import SHORTEST, complete_id, describe_item, is_too_short
from commonplace.errors import InvalidInput, MissingField, NotAllowed, NotFound
from commonplace.lazy import lazy_imports
from commonplace.model.delta import shorten
from commonplace.model.memory.kinds import Action
from commonplace.operations.table import BY_NAME, Effect, Operation, Parameter
from commonplace.settings import Settings
from commonplace.surfaces.cli.parameters import GLOBAL_TYPES, kinds_of_id, parsed, signature_of
from commonplace.surfaces.cli.progress import (
    IngestedFiles,
    ingest_files,
    reembed_with_a_bar,
    sleep_with_a_bar,
    still_waits,
    work_until_stopped,
)
from commonplace.surfaces.cli.render import several, show_answer

with lazy_imports(__name__):
    from commonplace.engine.llm.model_check import ModelCheck
    from commonplace.engine.maintenance.finding import Finding
    from commonplace.engine.memories.remember import Remembered
    from commonplace.engine.profile.proposals import ProposalOutcome, Proposed

EXIT_NO = 1
EXIT_PENDING = 3  # a person has to decide, or it is not processed yet


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
        own = Globals(**{name: given.pop(name) for name in GLOBAL_TYPES})
        options = own.over(context.obj)
        if group and context.invoked_subcommand is not None:
            context.obj = options
            return
        asks = _asks(operation, given)
        file = given.pop("to_file", None)
        chosen_operation = _of_all_users(operation, given)
        arguments = {
            parameter.name: value
            for parameter in chosen_operation.parameters
            if (value := _value(chosen_operation, parameter, given, options)) is not None
        }
        answer = run(chosen_operation, options, arguments, asks)
        if file:
            _write(file, answer.splitlines() if isinstance(answer, str) else answer)
        else:
            show_answer(chosen_operation, answer, as_json=options.json)
        if reports_failure(answer):
            raise typer.Exit(EXIT_NO)
        if _waits(answer, arguments):
            raise typer.Exit(EXIT_PENDING)

    signature = signature_of(operation)
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    command.__doc__ = operation.help
    return command


def _of_all_users(operation: Operation, given: dict[str, Any]) -> Operation:
    """`extract --all` is another operation: of the store instead of one user."""
    if operation.name != "extract" or not given.pop("all"):
        return operation
    if given.pop("ids"):
        raise InvalidInput("Give ids or --all, not both.", field="ids")
    return BY_NAME["extract-all"]


def _waits(answer: Any, arguments: Mapping[str, Any]) -> bool:
    if isinstance(answer, Remembered):
        return answer.action is Action.PENDING
    if isinstance(answer, Proposed):
        return answer.outcome is ProposalOutcome.WAITING
    return still_waits(answer, arguments)


def _value(
    operation: Operation, parameter: Parameter, given: Mapping[str, Any], options: Globals
) -> Any:
    if parameter.name in GLOBAL_TYPES:
        return getattr(options, parameter.name)
    return parsed(operation, parameter, given)


def run(
    operation: Operation, options: Globals, arguments: Mapping[str, Any], asks: bool = False
) -> Any:
    names = ("store", "user", "agent", "key", "embedder")
    chosen = settings_table.load({name: getattr(options, name) for name in names})
    if operation.of_the_store and chosen.agent is not None:
        raise NotAllowed("Agents may not administer the store; only the owner may.")
    if operation.verb in ("reembed", "work") and chosen.key is not None:
        with open_without_embedder(options.store) as book:
            operation.opened_with(book, chosen.key)
    if operation.verb == "reembed":
        if not chosen.embedder:
            raise MissingField(
                "reembed needs the name of the new embedder.",
                remedy="Write `commonplace reembed --embedder NAME`.",
                field="embedder",
            )
        return reembed_with_a_bar(options.store, chosen.embedder)
    if operation.verb == "work":
        return work_until_stopped(options.store, options.embedder, **arguments)
    # No background worker with --no-wait, because closing would wait for it, nor for `extract`,
    # which does the worker's work itself.
    by_hand = operation.verb.startswith("extract") or not arguments.get("wait", True)
    worker = "off" if by_hand else None
    flags: dict[str, Any] = {"user": options.user, "agent": options.agent, "worker": worker}
    with commonplace.open(options.store, embedder=options.embedder, **flags) as book:
        target = _called_on(operation, book, chosen, options)
        whole = {name: _whole_ids(operation, target, name, v) for name, v in arguments.items()}
        if operation.verb == "ingest" and isinstance(target, User):
            return ingest_files(target, **whole)
        if operation.verb == "sleep" and isinstance(target, User):
            return sleep_with_a_bar(target, **whole)
        with _hint_at_short_ids(operation, whole):
            if asks and isinstance(target, User):
                typer.confirm(_question(target, whole), abort=True)
            answer = operation.call(target, whole)
        # An export is read while the store is open.
        return list(answer) if isinstance(answer, Iterator) else answer


def _whole_ids(
    operation: Operation, target: User | KeyVerbs | Commonplace, name: str, value: Any
) -> Any:
    """Ids may be typed by their first characters."""
    kinds = kinds_of_id(operation.name, name)
    if kinds and isinstance(value, str):
        return complete_id(target, value, kinds, name)
    if kinds and isinstance(value, list):
        return [complete_id(target, each, kinds, name) for each in value]
    return value


@contextmanager
def _hint_at_short_ids(operation: Operation, arguments: Mapping[str, Any]) -> Iterator[None]:
    try:
        yield
    except NotFound as error:
        for name, value in arguments.items():
            texts = [value] if isinstance(value, str) else value
            if kinds_of_id(operation.name, name) and any(map(is_too_short, texts)):
                remedy = f"{error.remedy} A prefix of an id needs at least {SHORTEST} characters."
                raise NotFound(error.message, remedy=remedy, field=error.field) from error
        raise


def _called_on(
    operation: Operation, book: Commonplace, chosen: Settings, options: Globals
) -> User | KeyVerbs | Commonplace:
    """Without a key the caller is the owner; with one, the caller has its rights and no others."""
    if chosen.key is not None:  # an empty key is refused: it is not the owner's
        target = operation.opened_with(book, chosen.key, options.user)
    elif operation.of_the_store:
        return book
    else:
        target = book.user(chosen.user, cleared=options.cleared)
    if isinstance(target, User) and options.cleared and not target.principal.cleared:
        raise NotAllowed("This key may not read items with sensitivity high.", field="cleared")
    if isinstance(target, User) and chosen.agent is not None:  # an empty name is refused, too
        return target.agent(chosen.agent)
    return target


def _write(path: str, lines: Iterable[str]) -> None:
    try:
        Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"Cannot write {path}: {error.strerror}.", field="output") from error


def reports_failure(answer: Any) -> bool:
    """True if scripts should see a failure: a finding, a remaining text, a refused file."""
    if isinstance(answer, Verified):
        return not answer.clean
    if isinstance(answer, IngestedFiles):
        return bool(answer.refused)
    if not isinstance(answer, list):
        return False
    wrong = any(isinstance(each, Finding) and not each.ok for each in answer)
    return wrong or any(isinstance(each, ModelCheck) and not each.ok for each in answer)


def _asks(operation: Operation, given: dict[str, Any]) -> bool:
    """On a terminal, ask before anything that cannot be undone. Without one, a whole memory or a
    team needs --yes; ids that were named are erased."""
    if operation.effect is not Effect.DESTROY or given.pop("yes"):
        return False
    if sys.stdin.isatty():
        return True
    if not given.get("ids"):
        raise InvalidInput("This cannot be undone.", remedy="Add --yes to confirm.", field="yes")
    return False


def _question(me: User, arguments: Mapping[str, Any]) -> str:
    """What is erased. An id that does not exist is an error before anything is asked."""
    if "team" in arguments:
        team = me.teams_show(arguments["team"])
        what = f"Delete the team {team.name!r} ({team.id}) and all its sources?"
    elif "ids" in arguments:
        ids = arguments["ids"]
        typer.echo("\n".join(f"{id}  {shorten(describe_item(me, id))}".rstrip() for id in ids))
        what = f"Erase {several(len(ids), 'item')}?"
    else:
        what = f"Erase the whole memory of the user {me.principal.user_id!r}?"
    return f"{what} This cannot be undone."
