"""The table of operations: every verb with its request, its effect and who may use it.

The command line, REST, the typed client, MCP and their references are made from this table; a verb
that is not here exists for Python alone. Names, types and defaults come from the verb itself, so
nothing is declared twice.
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

from commonplace.book import Commonplace, OfKeys, User
from commonplace.errors import InvalidInput, MissingField, NotAllowed
from commonplace.model.key import Key


class Effect(StrEnum):
    READ = "read"
    WRITE = "write"
    DESTROY = "destroy"  # cannot be undone


class Shape(StrEnum):
    """What a parameter holds, as every surface understands it."""

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
    shape: Shape
    required: bool
    default: Any
    help: str
    alias: str | None = None  # another spelling, for surfaces that are not Python
    operation: str = ""  # whose it is


@dataclass(frozen=True)
class Operation:
    name: str  # as people say it: "profile set"
    verb: str  # the method of User, or of Commonplace
    effect: Effect
    positional: tuple[str, ...] = ()  # on a command line
    owner_only: bool = False
    of_the_store: bool = False  # a method of Commonplace: about everybody's memory alike
    # Spellings that Python cannot have, such as the seed's `return`, and the parameters they mean.
    aliases: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def method(self) -> Any:
        return getattr(Commonplace if self.of_the_store else User, self.verb)

    @cached_property
    def help(self) -> str:
        return " ".join((inspect.getdoc(self.method) or "").split())

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        signature = inspect.signature(self.method)
        hints = typing.get_type_hints(self.method)
        spelled = {parameter: alias for alias, parameter in self.aliases.items()}
        return tuple(
            Parameter(
                name=name,
                shape=shape_of(hints[name]),
                required=parameter.default is inspect.Parameter.empty,
                default=None if parameter.default is parameter.empty else parameter.default,
                help=HELP[name],
                alias=spelled.get(name),
                operation=self.name,
            )
            for name, parameter in signature.parameters.items()
            if name not in ("self", "progress")  # which a surface shows in its own way
        )

    def opened_with(
        self, book: Commonplace, token: str, user_id: str | None = None
    ) -> User | OfKeys | Commonplace:
        """What whoever comes with a key calls it on, for every surface alike: a user's key opens
        that user's memory, an admin's the store and the keys of the user who is named."""
        return self.opened_by(book, book.identify(token), user_id)

    def opened_by(
        self, book: Commonplace, key: Key, user_id: str | None = None
    ) -> User | OfKeys | Commonplace:
        if not key.is_admin:
            self.refuse_without_admin()
            if user_id not in (None, key.user_id):
                raise NotAllowed("This key opens another user's memory.", field="user")
            return book.opened_by(key)
        if self.of_the_store:
            return book
        if self.verb not in vars(OfKeys):
            return book.opened_by(key)
        if user_id is None:
            raise MissingField(
                "Say whose keys.",
                remedy="Name the user: --user NAME, or over HTTP the header Commonplace-User.",
                field="user",
            )
        return book.keys_of(user_id, key)

    def refuse_without_admin(self) -> None:
        if self.of_the_store:
            raise NotAllowed(
                "Only an admin looks after the whole store.",
                remedy="Use an admin's key: `commonplace keys admin` makes one.",
            )

    def call(self, whose: User | OfKeys | Commonplace, arguments: Mapping[str, Any]) -> Any:
        named: dict[str, Any] = {}
        for spelling, value in arguments.items():
            name = self.aliases.get(spelling, spelling)
            if name in named:
                raise InvalidInput(f"{name} is given twice.", field=name)
            named[name] = value
        return getattr(whose, self.verb)(**named)


def shape_of(hint: Any) -> Shape:
    """The shape behind a type annotation."""
    alternatives = set(typing.get_args(hint)) if _is_union(hint) else {hint}
    alternatives.discard(types.NoneType)
    for shape, matches in _SHAPES:
        if any(matches(each) for each in alternatives):
            return shape
    raise TypeError(f"no shape for {hint!r}")


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _is_generic(hint: Any, origin: type, argument: Any) -> bool:
    arguments = typing.get_args(hint)
    return typing.get_origin(hint) is origin and bool(arguments) and arguments[0] == argument


_SHAPES: tuple[tuple[Shape, typing.Callable[[Any], bool]], ...] = (
    (Shape.VALUE, lambda hint: hint is Any),
    (Shape.ORIGINAL, lambda hint: hint is bytes),
    (Shape.LINES, lambda hint: _is_generic(hint, Iterable, str)),
    (Shape.TEXTS, lambda hint: _is_generic(hint, Sequence, str)),
    (Shape.MAPS, lambda hint: typing.get_origin(hint) is Sequence),
    (Shape.MAP, lambda hint: typing.get_origin(hint) is Mapping),
    (Shape.MOMENT, lambda hint: hint is datetime),
    (Shape.FLAG, lambda hint: hint is bool),
    (Shape.INTEGER, lambda hint: hint is int),
    (Shape.NUMBER, lambda hint: hint is float),
    (Shape.TEXT, lambda hint: hint is str),
)


# One meaning per name, whichever verb it belongs to.
HELP: dict[str, str] = {
    "after": "The `next` of the page before, or the id of its last item.",
    "agent": "The agent that asks; one who is an agent can only name itself.",
    "agent_id": "The agent it belongs to.",
    "actor_id": "Who acted.",
    "all_users": "Check every user's index, not only this one's.",
    "budget_tokens": "At most this many tokens of text.",
    "categories": "Only these categories.",
    "as_of": "What was true in the world at this moment.",
    "at": "When it was said; now when not given.",
    "as_role": "owner, admin or member.",
    "append": "Add it as a further part to the source of that external_id.",
    "alternatives": "Also what sources say otherwise.",
    "category": "Its category; derived from the words when not given.",
    "cleared": "See what is marked sensitivity high in lists and searches.",
    "choice": "override, insert (keep both) or dismiss.",
    "conflict": "The open question's id, or an alternative's.",
    "confidence": "How sure it is, 0 to 1.",
    "content": "The text.",
    "context_type": "What it was for: work-session, team-meeting, phone-call, personal-reflection, "
    "planning, brainstorming, email-thread or slack-discussion.",
    "date": "When it began, where the original does not say.",
    "evidence": "The words that it rests on; a rule needs some.",
    "embedder": "Which embedder: wordllama, minilm, openai or hashing.",
    "events": "Also count operations by day and part of the engine.",
    "expires_at": "When it ends (update accepts 'never').",
    "explain": "Say why each hit was recalled, with the parts of its score.",
    "external_id": "Its name in the place it came from; found out when not given.",
    "facet": "A finer word for what it is: fact, preference, note …",
    "files": "Also look in the bytes of the store's files (SQLite).",
    "filters": "Further filters by name, such as thread_id, role, importance_min, created_after.",
    "for_agent": "The agent whose key it is; the owner's own when not given.",
    "format": "text, markdown, html, conversation, email, slack or transcript; found out when not "
    "given.",
    "forgotten": "Show what was forgotten and can still be restored.",
    "grace_minutes": "How long the old key goes on beside the new one.",
    "held": "Which held value, by its id; when not given the newest, or all to insert or dismiss.",
    "id": "Its id.",
    "ids": "The ids.",
    "importance": "1 (trivial) to 5 (vital).",
    "items": "Texts, or maps of the fields that remember takes; on the command line a file with "
    "one a line, - for what is piped in.",
    "job_id": "The job that made it.",
    "k": "At most this many hits.",
    "kind": "note, contact, kv, fact, event, insight, procedure, log, summary, rule or soul.",
    "kinds": "Only these kinds.",
    "known_at": "What was known at this moment, which lies in the past.",
    "label": "What you call it.",
    "limit": "At most this many.",
    "lines": "The file to read, - for what is piped in.",
    "long": "What it stands for.",
    "may_resolve": "An agent that decides conflicts in the owner's place.",
    "memory_id": "The memory that it rests on.",
    "message": "What the user says.",
    "metadata": "Particulars by name; a contact needs name, a kv needs subject and value.",
    "member": "The id of a user.",
    "name": "The name, of a field of the profile or of a team.",
    "now": "Wait until the compaction is done.",
    "on_conflict": "What to do with another value of a contact or kv: ask, override, insert or "
    "alternative.",
    "once": "Do what is due now, and then no more.",
    "older_than_days": "Only what is older than this.",
    "origin": "The place it came from, such as file or gmail.",
    "original": "A file, - for what is piped in; in Python also the content itself.",
    "participants": "Who took part, beside those who are named in it.",
    "pinned": "Keep it whatever happens.",
    "queries": "Questions, in plain words.",
    "query": "What to look for, in plain words.",
    "read_only": "Changes nothing.",
    "reader": "An agent's name.",
    "reason": "Why, in a sentence.",
    "recent": "What was said before it, the oldest first; in Python also maps of role and text.",
    "reindex": "Make the index of words anew.",
    "reset": "Go back to what the embedder declares.",
    "returns": "bullets (one line each) or full (whole texts with their particulars).",
    "retention_days": "For so many days a team's sources are kept.",
    "role": "The role that said it, such as user or assistant.",
    "run_id": "The run it belongs to.",
    "said_after": "Only what began after this.",
    "said_before": "Only what began before this.",
    "session": "Which sitting of the conversation.",
    "sensitivity": "low, normal or high (high is hidden from lists and searches).",
    "short": "The short form, as it is written.",
    "since": "Count from this revision instead of the last look.",
    "source_id": "Where it came from.",
    "source_type": "What kind of source it came from, such as meeting, email or chat.",
    "source_types": "Only these types: voice-memo, meeting, email, slack-thread, text-import, "
    "file, chat.",
    "sources": "Only passages of these sources, by id or name; none: only memories; only: only "
    "passages.",
    "speaker": "Who says it, by name.",
    "stability": "volatile, stable or permanent.",
    "states": "Only these states: queued, running, dead.",
    "status": "Only sources that have come so far: raw, processed, extracted.",
    "steps": "The steps of a procedure, in order.",
    "summary": "One sentence; derived when not given.",
    "tags": "Tags; derived from the words when not given.",
    "target": "Which of the memories in question makes way.",
    "team": "A team, by its id or name; primary: one's primary team.",
    "text": "The text.",
    "thread": "The conversation it belongs to.",
    "threshold": "Leave out what is less similar than this, 0 to 1.",
    "title": "Its title; found out when not given.",
    "top_k": "At most this many items.",
    "turn": "The turn of the conversation, a number; counted when not given.",
    "ttl_days": "Ends after this many days.",
    "turns": "Texts, or maps of the fields that observe takes; on the command line a file with "
    "one a line, - for what is piped in.",
    "with_user": "The id of the user who may read it.",
    "valid_from": "Since when it is true in the world.",
    "valid_to": "Until when it is true in the world.",
    "value": "The value; several make a list.",
    "wait": "Wait until its passages can be found; otherwise a worker processes it.",
}


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
    Operation("list", "list", Effect.READ),
    Operation("show", "show", Effect.READ, ("id",)),
    Operation("update", "update", Effect.WRITE, ("id",)),
    Operation("merge", "merge", Effect.WRITE, ("ids",)),
    Operation("conflicts", "conflicts", Effect.READ),
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
    Operation("jobs", "jobs", Effect.READ, owner_only=True),
    Operation("jobs retry", "jobs_retry", Effect.WRITE, ("id",), owner_only=True),
    Operation("jobs cancel", "jobs_cancel", Effect.WRITE, ("id",), owner_only=True),
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
    Operation("stats", "stats", Effect.READ),
    Operation("doctor", "doctor", Effect.READ),
    Operation("export", "export", Effect.READ, owner_only=True),
    Operation("import", "import_", Effect.WRITE, ("lines",), owner_only=True),
)
BY_NAME = {operation.name: operation for operation in OPERATIONS}
