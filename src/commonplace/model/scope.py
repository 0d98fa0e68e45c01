"""Who owns, and who asks."""

from __future__ import annotations

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


OWNER = "user:"  # how the journal begins to name the owner


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
        return self.place or self.home

    @property
    def home(self) -> Scope:
        return Scope.of_user(self.user_id)

    @property
    def is_at_home(self) -> bool:
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
            return f"{OWNER}{self.user_id}"
        return f"agent:{self.agent}" + ("" if self.is_at_home else f" of {OWNER}{self.user_id}")

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
        return replace(self, place=None if scope == self.home else scope, manages=False)

    def in_team(self, team_id: str, manages: bool) -> Principal:
        return replace(self, place=Scope.of_team(team_id), manages=manages)

    def as_agent(self, name: str, may_resolve: bool = False) -> Principal:
        return replace(self, agent=name, may_resolve=may_resolve)

    def allowed_to_see(self, categories: frozenset[str]) -> Principal:
        return replace(self, allowed=categories)
