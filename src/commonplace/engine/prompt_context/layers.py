"""Layers of a context in their order: one table; the lines, parts and result they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from commonplace.engine.search.pack import Citation
from commonplace.model.delta import Delta
from commonplace.model.memory.kinds import ON_REQUEST_KINDS, POLICIES, ContextUse

PART_SEPARATOR = "\n\n"  # two parts


@dataclass(frozen=True, slots=True)
class ContextLine:
    """One line of a layer, before anybody knows whether there is room for it."""

    line: str
    id: str | None = None
    source: Citation | None = None


@dataclass(frozen=True, slots=True)
class ContextPart:
    """What one layer says."""

    layer: str
    stable: bool
    text: str
    tokens: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextCitation:
    """An item that the text rests on. Only lines of the volatile part carry a mark: a number in
    the stable part would change with whatever comes before it."""

    mark: str | None
    id: str
    layer: str
    source: Citation | None = None


@dataclass(frozen=True, slots=True)
class Context:
    query: str | None  # as it was looked for; None: nothing was
    stable_text: str
    volatile_text: str
    tokens: int
    budget_tokens: int
    parts: tuple[ContextPart, ...]
    citations: tuple[ContextCitation, ...]
    delta: Delta | None  # what changed since this agent last looked; None: a look at the past
    degraded: bool = False  # recalled by words alone: the embedder is down

    @property
    def text(self) -> str:
        """The stable part, then the volatile one; both parts joined as `parts` are."""
        return PART_SEPARATOR.join(filter(None, (self.stable_text, self.volatile_text)))

    @property
    def is_empty(self) -> bool:
        return not self.parts


class KeepPolicy(StrEnum):
    """Which items of a layer stay when there is not room for all."""

    FIRST = "first"  # in their order, as far as there is room
    NEWEST = "newest"  # the oldest make way, a block at a time
    WHOLE = "whole"  # as FIRST, and what is too long is cut: its beginning must be heard


class LayerName(StrEnum):
    SOUL = "soul"
    RULES = "rules"
    IDENTITY = "identity"
    STANDING = "standing"
    CHANGES = "changes"
    EPISODES = "episodes"
    RECALLED = "recalled"
    SUMMARIES = "summaries"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Layer:
    name: str
    heading: str
    told: str  # for the page on contexts
    stable: bool = False
    outranks: bool = False  # has its room before all others, stable or not
    keep: KeepPolicy = KeepPolicy.FIRST
    most: int | None = None  # items
    share: float = 0.0  # of the volatile room that is its own, whatever the layers before it hold
    marked: bool = False  # its lines can be cited by number


LAYERS: tuple[Layer, ...] = (
    Layer(
        LayerName.SOUL,
        "## Who you are",
        "souls: who the agent is; one of another agent's is not shown",
        stable=True,
        outranks=True,
        keep=KeepPolicy.WHOLE,
        most=5,
    ),
    Layer(
        LayerName.RULES,
        "## Rules to follow",
        "rules, the important ones when there are many",
        stable=True,
        outranks=True,
        keep=KeepPolicy.WHOLE,
        most=10,
    ),
    Layer(
        LayerName.IDENTITY,
        "## About the user",
        "the profile's fields and notes, goals of the last 7 days",
        stable=True,
    ),
    Layer(
        LayerName.STANDING,
        "## To keep in mind",
        "categories in mode `all`, oldest first, so that what is new comes at the end",
        stable=True,
        keep=KeepPolicy.NEWEST,
    ),
    Layer(
        LayerName.CHANGES,
        "Memory updates",  # a delta header brings its own
        "the delta header: what changed since this agent last looked in this thread",
        share=0.15,
    ),
    Layer(
        LayerName.EPISODES,
        "## Recent events",
        "events of the last 7 days, newest first",
        most=20,
        share=0.2,
        marked=True,
    ),
    Layer(
        LayerName.RECALLED,
        "## Recalled for this question",
        "the best for the query, at most `rag_length` of a category; passages are `history`",
        share=0.45,
        marked=True,
    ),
    Layer(
        LayerName.SUMMARIES,
        "## Recent summaries",
        "results of jobs and sessions, newest first",
        most=5,
        share=0.1,
        marked=True,
    ),
    Layer(
        LayerName.TIME,
        "## Now",
        "weekday and hour where the user is, the last conversation and its type",
        share=0.1,
    ),
)
LAYER_BY_NAME: Mapping[str, Layer] = {layer.name: layer for layer in LAYERS}

RECENT_PERIOD = timedelta(days=7)

_ON_REQUEST_CATEGORIES = frozenset(POLICIES[kind].category for kind in ON_REQUEST_KINDS)


def is_shown(kind: str, category: str, asked: tuple[str, ...]) -> bool:
    """A procedure, and what is filed with procedures, is shown when its category is asked for."""
    on_request = kind in ON_REQUEST_KINDS or category in _ON_REQUEST_CATEGORIES
    return not on_request or category in asked


def asks_for_procedures(asked: tuple[str, ...]) -> bool:
    return not _ON_REQUEST_CATEGORIES.isdisjoint(asked)


def is_low_priority(kind: str) -> bool:
    """Comes last in its layer."""
    return kind in _LOW_PRIORITY_KINDS


_LOW_PRIORITY_KINDS = frozenset(
    kind for kind, policy in POLICIES.items() if policy.context is ContextUse.LOW
)
