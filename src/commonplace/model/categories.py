"""Categories, how each enters a context, and which of them an agent may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

DEFAULT = "default"  # the allowlist of agents that have none of their own
RAG_LENGTH = 10  # of a category that does not say


# The words of the contract. They say nothing about anybody, as a word of the user's own might.
OWN_WORDS = frozenset(
    {
        "activity",
        "constraints",
        "event",
        "goals",
        "history",
        "identity",
        "interests",
        "knowledge",
        "preferences",
        "procedural",
        "profile",
        "projects",
        "recent_activity",
        "relationship_dynamic",
        "relationships",
        "style",
        "tasks",
        "tone",
    }
)


def folded(agent: str) -> str:
    """How names of agents are compared."""
    return agent.strip().casefold()


class Mode(StrEnum):
    ALL = "all"  # every live item, within the budget
    RAG = "rag"  # the best items for the query


@dataclass(frozen=True, slots=True)
class Category:
    name: str
    context: Mode = Mode.RAG
    rag_length: int = RAG_LENGTH  # at most so many items for a query
    system: bool = True
    line: int | None = None  # of the file that says so


@dataclass(frozen=True, slots=True)
class Allowlist:
    agent: str
    categories: frozenset[str]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Categories:
    """What one file says. ``origin`` names it."""

    categories: Mapping[str, Category] = field(default_factory=dict)
    allowlists: Mapping[str, Allowlist] = field(default_factory=dict)
    origin: str = ""
    problem: str | None = None  # why a newer state of the file does not count

    def allowlist_of(self, agent: str) -> Allowlist:
        """An agent that the file does not name gets the default; without one, it sees nothing.
        Case and space around a name are nothing: `Planner` may not fall to a wider default."""
        lists = {folded(name): listed for name, listed in self.allowlists.items()}
        nothing = Allowlist(DEFAULT, frozenset())
        return lists.get(folded(agent)) or lists.get(DEFAULT) or nothing

    def allowed(self, agent: str) -> frozenset[str]:
        return self.allowlist_of(agent).categories

    def readers_of(self, category: str) -> tuple[str, ...]:
        """The allowlists that name it."""
        return tuple(
            sorted(name for name, each in self.allowlists.items() if category in each.categories)
        )

    def known(self, name: str) -> Category:
        """A category that the file does not name is one like any other: words are free."""
        return self.categories.get(name) or Category(name, system=False)

    def in_mode(self, mode: Mode) -> tuple[Category, ...]:
        """In the order of the file."""
        return tuple(each for each in self.categories.values() if each.context is mode)
