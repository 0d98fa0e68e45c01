"""Filters, visibility and paging: what a read is limited to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import datetime

from commonplace.model.graph.elements import Edge, Node
from commonplace.model.memory.kinds import POLICIES, Kind
from commonplace.model.memory.memory import Memory
from commonplace.model.sources.source import SOURCE_CATEGORY, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Empty tuples and None mean "any". Several values of one field are alternatives."""

    kinds: tuple[Kind, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    agent_id: str | None = None
    run_id: str | None = None
    actor_id: str | None = None
    role: str | None = None
    facet: str | None = None
    thread_id: str | None = None
    source_type: str | None = None
    source_id: str | None = None
    pinned: bool | None = None
    importance_min: int | None = None
    importance_max: int | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    metadata: tuple[tuple[str, tuple[str, ...]], ...] = ()  # name, accepted values as text

    @property
    def is_empty(self) -> bool:
        return self == Filters()

    def admits(self, memory: Memory) -> bool:
        """The meaning of a filter; the database and the index must agree with it."""
        exact = all(getattr(self, name) in (None, getattr(memory, name)) for name in EXACT_FIELDS)
        return (
            exact
            and (not self.kinds or memory.kind in self.kinds)
            and (not self.categories or memory.category in self.categories)
            and (not self.tags or bool(set(self.tags) & set(memory.tags)))
            and (self.importance_min is None or memory.importance >= self.importance_min)
            and (self.importance_max is None or memory.importance <= self.importance_max)
            and _within(memory.created_at, self.created_after, self.created_before)
            and _within(memory.updated_at, self.updated_after, self.updated_before)
            and all(_metadata_text(memory, name) in values for name, values in self.metadata)
        )


def _metadata_text(memory: Memory, name: str) -> str | None:
    value = memory.metadata.get(name)
    return None if value is None else metadata_text(value)


def metadata_text(value: object) -> str:
    """A value of metadata as filters compare it: `5` and `"5"` are equal, true is "true"."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _within(moment: datetime, after: datetime | None, before: datetime | None) -> bool:
    return (after is None or moment > after) and (before is None or moment < before)


NO_FILTERS = Filters()

FILTER_NAMES = tuple(f.name for f in fields(Filters))
# Filters that share a field's name compare for equality; tags match by any.
EXACT_FIELDS = tuple(
    f.name for f in fields(Memory) if f.name in {*FILTER_NAMES} - {"tags", "metadata"}
)
METADATA_PREFIX = "metadata."  # of a filter on one name of the metadata


@dataclass(frozen=True, slots=True)
class Visibility:
    """What the caller may see at all; a request can narrow it, never widen it."""

    cleared: bool = False  # for sensitivity high
    agent: str | None = None  # hides memories private to other agents
    categories: frozenset[str] | None = None  # the agent's allowlist; None: all

    def admits(self, memory: Memory) -> bool:
        if memory.sensitivity == "high" and not self.cleared:
            return False
        if not self.admits_category(memory.category):
            return False
        is_another_agents = (
            POLICIES[memory.kind].is_private_to_agent
            and self.agent is not None
            and memory.agent_id not in (None, self.agent)
        )
        return not is_another_agents

    def admits_source(self, source: Source) -> bool:
        return self.sees_sources and (source.sensitivity != "high" or self.cleared)

    def admits_node(self, node: Node) -> bool:
        return self.admits_category(node.category) and (node.sensitivity != "high" or self.cleared)

    def admits_edge(self, edge: Edge, ends: Collection[Node]) -> bool:
        """An edge is visible only together with both its nodes."""
        visible = {node.id for node in ends if self.admits_node(node)}
        return visible.issuperset(edge.ends) and (edge.sensitivity != "high" or self.cleared)

    def admits_category(self, category: str | None) -> bool:
        return self.categories is None or category in self.categories

    @property
    def sees_sources(self) -> bool:
        return self.admits_category(SOURCE_CATEGORY)


UNCLEARED = Visibility()
OWNER_VISIBILITY = Visibility(cleared=True)  # what the owner may see by id
