"""The table of operations: every verb with its request, its effect and who may call it.

The command line, REST, the typed client, MCP and their references are generated from this table; a
verb that is not listed is available in Python only. Names, types and defaults come from the verb
itself, so nothing is declared twice.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from commonplace.api import Commonplace, KeyVerbs, User
from commonplace.api.handle import READ_VERBS, read_only_error
from commonplace.errors import InvalidInput, MissingField, NotAllowed
from commonplace.lazy import parameter_hints
from commonplace.model.access.key import Key
from commonplace.operations.parameter_help import parameter_help


class Effect(StrEnum):
    READ = "read"
    WRITE = "write"
    DESTROY = "destroy"  # cannot be undone


class ParameterShape(StrEnum):
    """The shape of a parameter, for all surfaces."""

    TEXT = "text"
    TEXTS = "texts"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    MOMENT = "date"
    MAP = "map"
    MAPS = "maps"
    VALUE = "value"  # a text, a number or a list of texts
    LINES = "lines"  # the lines of a file
    ORIGINAL = "original"  # a file, or content of any format


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    shape: ParameterShape
    required: bool
    default: Any
    help: str
    alias: str | None = None  # another spelling, for surfaces that are not Python
    operation: str = ""  # the name of its operation


@dataclass(frozen=True)
class Operation:
    name: str  # as a command: "profile set"
    verb: str  # the method of User, or of Commonplace
    effect: Effect
    positional: tuple[str, ...] = ()  # on a command line
    owner_only: bool = False
    of_the_store: bool = False  # a method of Commonplace: for the whole store
    # Spellings that are keywords in Python, such as `return`, and their parameters.
    aliases: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def method(self) -> Any:
        return getattr(Commonplace if self.of_the_store else User, self.verb)

    @cached_property
    def help(self) -> str:
        return " ".join((inspect.getdoc(self.method) or "").split())

    @cached_property
    def summary(self) -> str:
        """The first line, for lists of commands."""
        return (inspect.getdoc(self.method) or "").partition("\n")[0]

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        signature = inspect.signature(self.method)
        hints = parameter_hints(self.method)
        spelled = {parameter: alias for alias, parameter in self.aliases.items()}
        return tuple(
            Parameter(
                name=name,
                shape=shape_of(hints[name]),
                required=parameter.default is inspect.Parameter.empty,
                default=None if parameter.default is parameter.empty else parameter.default,
                help=parameter_help(name, self.name),
                alias=spelled.get(name),
                operation=self.name,
            )
            for name, parameter in signature.parameters.items()
            if name not in ("self", "progress")  # each surface shows progress in its own way
        )

    def opened_with(
        self, book: Commonplace, token: str, user_id: str | None = None
    ) -> User | KeyVerbs | Commonplace:
        """The object to call the verb on, for a key: a user's key opens that user's memory, a
        service key the memory of the named user, an admin's key the store and the keys of the named
        user."""
        return self.opened_by(book, book.identify(token), user_id)

    def opened_by(
        self, book: Commonplace, key: Key, user_id: str | None = None
    ) -> User | KeyVerbs | Commonplace:
        if not key.is_admin:
            self.refuse_without_admin()
            return book.opened_by(key, user_id)
        if self.of_the_store:
            if user_id is not None:
                raise NotAllowed(
                    "This operation is for the whole store, not for one user.",
                    remedy="Leave the user out.",
                    field="user",
                )
            return book
        if self.verb not in vars(KeyVerbs):
            return book.opened_by(key)
        if user_id is None:
            raise MissingField(
                "Give the user whose keys are meant.",
                remedy="Use --user NAME, or over HTTP the header Commonplace-User.",
                field="user",
            )
        return book.keys_of(user_id, key)

    def refuse_without_admin(self) -> None:
        if self.of_the_store:
            raise NotAllowed(
                "Only an admin may administer the store.",
                remedy="Use an admin API key: `commonplace keys admin` creates one.",
            )

    def check_write(self, handle: User | KeyVerbs | Commonplace) -> None:
        """Refuse a read-only key before its arguments are read; `call` refuses it, too."""
        is_read_only = isinstance(handle, User) and handle.principal.read_only
        if is_read_only and self.verb not in READ_VERBS:
            raise read_only_error()

    def call(self, handle: User | KeyVerbs | Commonplace, arguments: Mapping[str, Any]) -> Any:
        named: dict[str, Any] = {}
        for spelling, value in arguments.items():
            name = self.aliases.get(spelling, spelling)
            if name in named:
                raise InvalidInput(f"{name} is given twice.", field=name)
            named[name] = value
        return getattr(handle, self.verb)(**named)


def shape_of(hint: Any) -> ParameterShape:
    """The shape behind a type annotation."""
    alternatives = set(typing.get_args(hint)) if _is_union(hint) else {hint}
    alternatives.discard(types.NoneType)
    for shape, matches in _SHAPE_RULES:
        if any(matches(each) for each in alternatives):
            return shape
    raise TypeError(f"no shape for {hint!r}")


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _is_generic(hint: Any, origin: type, argument: Any) -> bool:
    arguments = typing.get_args(hint)
    return typing.get_origin(hint) is origin and bool(arguments) and arguments[0] == argument


_SHAPE_RULES: tuple[tuple[ParameterShape, typing.Callable[[Any], bool]], ...] = (
    (ParameterShape.VALUE, lambda hint: hint is Any),
    (ParameterShape.ORIGINAL, lambda hint: hint is bytes),
    (ParameterShape.LINES, lambda hint: _is_generic(hint, Iterable, str)),
    (ParameterShape.TEXTS, lambda hint: _is_generic(hint, Sequence, str)),
    (ParameterShape.MAPS, lambda hint: typing.get_origin(hint) is Sequence),
    (ParameterShape.MAP, lambda hint: typing.get_origin(hint) is Mapping),
    (ParameterShape.MOMENT, lambda hint: hint is datetime),
    (ParameterShape.FLAG, lambda hint: hint is bool),
    (ParameterShape.INTEGER, lambda hint: hint is int),
    (ParameterShape.NUMBER, lambda hint: hint is float),
    (ParameterShape.TEXT, lambda hint: hint is str),
)


OPERATIONS: tuple[Operation, ...] = (
    Operation("remember", "remember", Effect.WRITE, ("content",)),
    Operation("remember-many", "remember_many", Effect.WRITE, ("items",)),
    Operation("observe", "observe", Effect.WRITE, ("text",)),
    Operation("observe-many", "observe_many", Effect.WRITE, ("turns",)),
    Operation("recall", "recall", Effect.READ, ("query",)),
    Operation("recall-many", "recall_many", Effect.READ, ("queries",)),
    Operation("understand", "understand", Effect.READ, ("message",)),
    Operation("abbreviations", "abbreviations", Effect.READ),
    Operation("abbreviate", "abbreviate", Effect.WRITE, ("short", "long"), owner_only=True),
    # The seed's memory.query.
    Operation("query", "query", Effect.READ, ("query",), aliases={"return": "returns"}),
    Operation("why", "why", Effect.READ, ("thread", "turn")),
    Operation("context", "context", Effect.READ, ("query",)),
    Operation("whole-context", "whole_context", Effect.READ, ("query",)),
    Operation("context-pack", "context_pack", Effect.READ, ("query",)),
    Operation("ingest", "ingest", Effect.WRITE, ("original",)),
    Operation("sources", "sources", Effect.READ),
    Operation("sources share", "sources_share", Effect.WRITE, ("id", "with_user"), owner_only=True),
    Operation("sources unshare", "sources_unshare", Effect.WRITE, ("id",), owner_only=True),
    Operation("sources invitations", "sources_invitations", Effect.READ),
    Operation("sources accept", "sources_accept", Effect.WRITE, ("id",), owner_only=True),
    Operation("sources decline", "sources_decline", Effect.WRITE, ("id",), owner_only=True),
    Operation("extract", "extract", Effect.WRITE, ("ids",), owner_only=True),
    Operation("extract-all", "extract_all", Effect.WRITE, owner_only=True, of_the_store=True),
    Operation("people", "people", Effect.READ),
    Operation("concepts", "concepts", Effect.READ),
    Operation("entities", "entities", Effect.READ),
    Operation("storylines", "storylines", Effect.READ, ("anchor",)),
    Operation("macros", "macros", Effect.READ, ("anchor",)),
    Operation("node", "node", Effect.READ, ("id",)),
    Operation("nodes add", "nodes_add", Effect.WRITE, ("name",)),
    Operation("nodes update", "nodes_update", Effect.WRITE, ("id",)),
    Operation("edges", "edges", Effect.READ, ("node",)),
    Operation("relate", "relate", Effect.WRITE, ("from_node", "relationship_type", "to_node")),
    Operation("note", "note", Effect.WRITE, ("about", "content")),
    Operation("split", "split", Effect.WRITE, ("id",)),
    Operation("contributions", "contributions", Effect.READ),
    Operation("explore", "explore", Effect.READ, ("queries",)),
    Operation("traverse", "traverse", Effect.READ, ("seed_nodes",)),
    Operation("graph", "graph", Effect.READ),
    Operation("artifacts", "artifacts", Effect.READ),
    Operation("artifacts show", "artifact", Effect.READ, ("id",)),
    Operation("artifacts create", "artifacts_create", Effect.WRITE, ("name", "output")),
    Operation("list", "list", Effect.READ),
    Operation("show", "show", Effect.READ, ("id",)),
    Operation("update", "update", Effect.WRITE, ("id",)),
    Operation("merge", "merge", Effect.WRITE, ("ids",)),
    Operation("conflicts", "conflicts", Effect.READ),
    Operation("forget-requests", "forget_requests", Effect.READ),
    Operation("resolve", "resolve", Effect.WRITE, ("conflict", "choice")),
    Operation("forget", "forget", Effect.WRITE, ("ids",)),
    Operation("restore", "restore", Effect.WRITE, ("ids",)),
    Operation("erase", "erase", Effect.DESTROY, ("ids",)),
    Operation("erase-user", "erase_user", Effect.DESTROY, owner_only=True),
    Operation("verify-forget", "verify_forget", Effect.READ, ("text",), owner_only=True),
    Operation("history", "history", Effect.READ, ("id",)),
    Operation("changes", "changes", Effect.READ, ("thread",)),
    Operation("change-log", "change_log", Effect.READ, ("thread",)),
    Operation("events", "events", Effect.READ),
    Operation("profile", "profile", Effect.READ),
    Operation("profile set", "profile_set", Effect.WRITE, ("name", "value"), owner_only=True),
    Operation("profile note", "profile_note", Effect.WRITE, ("text",), owner_only=True),
    Operation("profile propose", "propose", Effect.WRITE, ("name", "value")),
    Operation("profile proposals", "proposals", Effect.READ),
    Operation("profile accept", "accept", Effect.WRITE, ("id",), owner_only=True),
    Operation("profile decline", "decline", Effect.WRITE, ("id",), owner_only=True),
    Operation("categories", "categories", Effect.READ),
    Operation("categories explain", "categories_explain", Effect.READ, ("category",)),
    Operation("categories check", "categories_check", Effect.READ, ("reader", "category")),
    Operation("tidy", "tidy", Effect.WRITE),
    Operation("sleep", "sleep", Effect.WRITE, owner_only=True),
    Operation("sleep undo", "sleep_undo", Effect.WRITE, ("run",), owner_only=True),
    Operation("sleep log", "sleep_log", Effect.READ, owner_only=True),
    Operation("jobs", "jobs", Effect.READ, owner_only=True),
    Operation("jobs retry", "jobs_retry", Effect.WRITE, ("id",), owner_only=True),
    Operation("jobs cancel", "jobs_cancel", Effect.WRITE, ("id",), owner_only=True),
    Operation("model check", "model_check", Effect.WRITE, owner_only=True),
    Operation("model usage", "model_usage", Effect.READ, owner_only=True),
    Operation("model users", "model_users", Effect.READ, owner_only=True, of_the_store=True),
    Operation("worker", "work", Effect.WRITE, owner_only=True, of_the_store=True),
    Operation("reembed", "reembed", Effect.WRITE, owner_only=True, of_the_store=True),
    Operation(
        "calibrate", "calibrate", Effect.WRITE, ("lines",), owner_only=True, of_the_store=True
    ),
    Operation("keys", "keys", Effect.READ, owner_only=True),
    Operation("keys create", "keys_create", Effect.WRITE, ("label",), owner_only=True),
    Operation("keys revoke", "keys_revoke", Effect.WRITE, ("id",), owner_only=True),
    Operation("keys rotate", "keys_rotate", Effect.WRITE, ("id",), owner_only=True),
    Operation("teams", "teams", Effect.READ, owner_only=True),
    Operation("teams show", "teams_show", Effect.READ, ("team",), owner_only=True),
    Operation("teams create", "teams_create", Effect.WRITE, ("name",), owner_only=True),
    Operation("teams change", "teams_change", Effect.WRITE, ("team",), owner_only=True),
    Operation("teams delete", "teams_delete", Effect.DESTROY, ("team",), owner_only=True),
    Operation("teams invite", "teams_invite", Effect.WRITE, ("team", "member"), owner_only=True),
    Operation("teams join", "teams_join", Effect.WRITE, ("team",), owner_only=True),
    Operation("teams leave", "teams_leave", Effect.WRITE, ("team",), owner_only=True),
    Operation("teams remove", "teams_remove", Effect.WRITE, ("team", "member"), owner_only=True),
    Operation(
        "teams role", "teams_role", Effect.WRITE, ("team", "member", "as_role"), owner_only=True
    ),
    Operation("teams use", "teams_use", Effect.WRITE, ("team",), owner_only=True),
    Operation("teams primary", "teams_primary", Effect.WRITE, ("team",), owner_only=True),
    Operation("keys admins", "admin_keys", Effect.READ, owner_only=True, of_the_store=True),
    Operation(
        "keys admin",
        "admin_keys_create",
        Effect.WRITE,
        ("label",),
        owner_only=True,
        of_the_store=True,
    ),
    Operation(
        "keys revoke-admin",
        "admin_keys_revoke",
        Effect.WRITE,
        ("id",),
        owner_only=True,
        of_the_store=True,
    ),
    Operation("keys services", "service_keys", Effect.READ, owner_only=True, of_the_store=True),
    Operation(
        "keys service",
        "service_keys_create",
        Effect.WRITE,
        ("label",),
        owner_only=True,
        of_the_store=True,
    ),
    Operation(
        "keys revoke-service",
        "service_keys_revoke",
        Effect.WRITE,
        ("id",),
        owner_only=True,
        of_the_store=True,
    ),
    Operation(
        "keys rotate-service",
        "service_keys_rotate",
        Effect.WRITE,
        ("id",),
        owner_only=True,
        of_the_store=True,
    ),
    Operation("stats", "stats", Effect.READ),
    Operation("doctor", "doctor", Effect.READ),
    Operation("export", "export", Effect.READ, owner_only=True),
    Operation("import", "import_", Effect.WRITE, ("lines",), owner_only=True),
)
BY_NAME = {operation.name: operation for operation in OPERATIONS}
