"""Scopes and principals: who owns rows, who makes a request, which scopes they may read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Scope:
    """The owner of a row. Every primary key in the store starts with it."""

    key: str

    @classmethod
    def of_user(cls, user_id: str) -> Scope:
        return cls(f"user:{user_id}")

    @classmethod
    def of_the_store(cls) -> Scope:
        """The scope of admin keys. It has no memories."""
        return cls("store:admin")

    @classmethod
    def of_team(cls, team_id: str) -> Scope:
        return cls(f"team:{team_id}")

    @property
    def is_user(self) -> bool:
        return self.key.startswith("user:")

    @property
    def is_team(self) -> bool:
        return self.key.startswith("team:")

    @property
    def name(self) -> str:
        return self.key.partition(":")[2]


OWNER_ACTOR_PREFIX = "user:"  # of the owner as an actor in the journal


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of a verb. ``agent`` is None for the owner."""

    user_id: str
    agent: str | None = None
    cleared: bool = False  # sees items of sensitivity high without giving their ids
    may_resolve: bool = False  # an agent that may resolve conflicts for the owner
    allowed: frozenset[str] = frozenset()  # the categories that an agent may see
    read_only: bool = False
    borrows_agent: bool = False  # read-only, and its key is not this agent's
    key: str | None = None  # the id of its API key; None: it opened the store directly
    until: datetime | None = None  # when that key expires
    service: bool = False  # by a service key, which acts for many users
    admin: bool = False  # manages this user's keys, and sees nothing else of theirs
    team: str | None = None  # the only team that its key can access; None: all of the user's
    place: Scope | None = None  # the acting scope, where not its own: a team's, or as a guest
    manages: bool = False  # an admin or owner of the team it acts in

    @property
    def scope(self) -> Scope:
        return self.place or self.own_scope

    @property
    def own_scope(self) -> Scope:
        return Scope.of_user(self.user_id)

    @property
    def is_in_own_scope(self) -> bool:
        return self.place is None

    @property
    def member(self) -> str | None:
        """The user who has to be a member when a change is made in a team's scope."""
        return self.user_id if self.place and self.place.is_team else None

    @property
    def actor(self) -> str:
        """Its name in the journal."""
        if self.admin:
            return "admin"
        if self.agent is None:
            return f"{OWNER_ACTOR_PREFIX}{self.user_id}"
        return f"agent:{self.agent}" + (
            "" if self.is_in_own_scope else f" of {OWNER_ACTOR_PREFIX}{self.user_id}"
        )

    @property
    def is_owner(self) -> bool:
        return self.agent is None and not self.admin

    @property
    def keeps_keys(self) -> bool:
        return (self.is_owner and not self.service) or self.admin

    @property
    def decides(self) -> bool:
        return self.is_owner or self.may_resolve

    @property
    def categories(self) -> frozenset[str] | None:
        """The categories that it may see; None: all."""
        return None if self.is_owner else self.allowed

    def at(self, scope: Scope) -> Principal:
        """The same principal, acting in another scope."""
        return replace(self, place=None if scope == self.own_scope else scope, manages=False)

    def in_team(self, team_id: str, manages: bool) -> Principal:
        return replace(self, place=Scope.of_team(team_id), manages=manages)

    def as_agent(self, name: str, may_resolve: bool = False) -> Principal:
        borrows = self.borrows_agent or (self.read_only and self.agent != name)
        return replace(self, agent=name, may_resolve=may_resolve, borrows_agent=borrows)

    def allowed_to_see(self, categories: frozenset[str]) -> Principal:
        return replace(self, allowed=categories)


@dataclass(frozen=True, slots=True)
class ReadableScope:
    """A scope that a user may read: their own, a team's, or as a guest some sources of another."""

    scope: Scope
    is_own: bool = True  # else: passages only, and never those of sensitivity high
    sources: frozenset[str] | None = None  # None: the whole scope; a guest's granted sources

    @property
    def key(self) -> tuple[str, ...]:
        """A cache and sort key of what is read, independent of the reader."""
        if self.sources is None:
            return (self.scope.key,)
        return (self.scope.key, "as a guest", *sorted(self.sources))

    @property
    def is_guest(self) -> bool:
        """Nothing is derived from what a guest reads: it would remain after the owner erases it."""
        return self.sources is not None

    def covers(self, source: str) -> bool:
        return self.sources is None or source in self.sources


def merge_readable_scopes(readable: Iterable[ReadableScope]) -> tuple[ReadableScope, ...]:
    """One entry per scope, in order: a scope read twice would return and count its passages twice.
    Access to the whole scope replaces grants; several grants are united."""
    merged: dict[Scope, ReadableScope] = {}
    for each in readable:
        before = merged.setdefault(each.scope, each)
        if before.sources is None:
            continue
        both = None if each.sources is None else before.sources | each.sources
        merged[each.scope] = replace(each, sources=both)
    return tuple(merged.values())
