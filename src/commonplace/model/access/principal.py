"""Scopes, principals and API keys: who owns, who asks, what they may read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Scope:
    """The owner of a row. Every key in the store starts with it."""

    key: str

    @classmethod
    def of_user(cls, user_id: str) -> Scope:
        return cls(f"user:{user_id}")

    @classmethod
    def of_the_store(cls) -> Scope:
        """Whose keys look after the store. Nothing is remembered here."""
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


OWNER_ACTOR_PREFIX = "user:"  # how the journal begins to name the owner


@dataclass(frozen=True, slots=True)
class Principal:
    """On whose behalf a verb runs. ``agent`` is None for the owner."""

    user_id: str
    agent: str | None = None
    cleared: bool = False  # may see what is marked sensitivity high without naming its id
    may_resolve: bool = False  # an agent that may decide conflicts in the owner's place
    allowed: frozenset[str] = frozenset()  # the categories that an agent may see
    read_only: bool = False
    key: str | None = None  # the id of the key it came with; None: it has the store itself
    until: datetime | None = None  # when that key ends
    admin: bool = False  # looks after this user's keys, and sees nothing else of theirs
    team: str | None = None  # the only team that its key reaches; None: all of the user's
    place: Scope | None = None  # where it acts, when not at home: in a team, or as a guest
    manages: bool = False  # an admin, or an owner, of the team it acts in

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
        """Who has to be a member when a change is made in a team's name."""
        return self.user_id if self.place and self.place.is_team else None

    @property
    def actor(self) -> str:
        """How the journal names who did it."""
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
        return self.is_owner or self.admin

    @property
    def decides(self) -> bool:
        return self.is_owner or self.may_resolve

    @property
    def categories(self) -> frozenset[str] | None:
        """What it may see; None: all."""
        return None if self.is_owner else self.allowed

    def at(self, scope: Scope) -> Principal:
        """The same one, acting on what another scope owns."""
        return replace(self, place=None if scope == self.own_scope else scope, manages=False)

    def in_team(self, team_id: str, manages: bool) -> Principal:
        return replace(self, place=Scope.of_team(team_id), manages=manages)

    def as_agent(self, name: str, may_resolve: bool = False) -> Principal:
        return replace(self, agent=name, may_resolve=may_resolve)

    def allowed_to_see(self, categories: frozenset[str]) -> Principal:
        return replace(self, allowed=categories)


@dataclass(frozen=True, slots=True)
class ReadableScope:
    """One scope that somebody may read: their own, a team's, or as a guest some of another's."""

    scope: Scope
    is_own: bool = True  # else: passages alone, and never what is marked sensitivity high
    sources: frozenset[str] | None = None  # None: all of it; a guest's are named one by one

    @property
    def key(self) -> tuple[str, ...]:
        """Names what is read, whoever reads it, and orders it among others."""
        if self.sources is None:
            return (self.scope.key,)
        return (self.scope.key, "as a guest", *sorted(self.sources))

    @property
    def is_guest(self) -> bool:
        """A guest makes no knowledge of what they read: it would stay when the owners erase it."""
        return self.sources is not None

    def covers(self, source: str) -> bool:
        return self.sources is None or source in self.sources


def merge_readable_scopes(readings: Iterable[ReadableScope]) -> tuple[ReadableScope, ...]:
    """In their order. Read twice, a passage would be found twice and count twice: who reads all of
    a scope is no guest there, and several grants are one."""
    found: dict[Scope, ReadableScope] = {}
    for reading in readings:
        before = found.setdefault(reading.scope, reading)
        if before.sources is None:
            continue
        both = None if reading.sources is None else before.sources | reading.sources
        found[reading.scope] = replace(reading, sources=both)
    return tuple(found.values())
