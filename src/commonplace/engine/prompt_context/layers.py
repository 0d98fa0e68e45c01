"""Layers of a context in their order: one table; the lines, parts and result they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from commonplace.engine.search.pack import Citation
from commonplace.engine.search.withheld import Withheld
from commonplace.model.delta import Delta
from commonplace.model.memory.kinds import ON_REQUEST_KINDS, POLICIES, ContextUse

PART_SEPARATOR = "\n\n"  # two parts


@dataclass(frozen=True, slots=True)
class ContextLine:
    """One line of a layer, before budgeting."""

    line: str
    id: str | None = None
    source: Citation | None = None


@dataclass(frozen=True, slots=True)
class ContextPart:
    """The text of one layer."""

    layer: str
    stable: bool
    text: str
    tokens: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextCitation:
    """An item in the text. Only lines of the volatile part are marked with a number: numbers in the
    stable part would change with the lines before them."""

    mark: str | None
    id: str
    layer: str
    source: Citation | None = None


@dataclass(frozen=True, slots=True)
class Context:
    query: str | None  # the expanded query; None: no recall
    stable_text: str
    volatile_text: str
    tokens: int
    budget_tokens: int
    parts: tuple[ContextPart, ...]
    citations: tuple[ContextCitation, ...]
    delta: Delta | None  # changes since this agent's last read; None for a point in time
    degraded: bool = False  # lexical search only: the embedder is unavailable
    withheld: Withheld | None = None  # what the agent's allowlist held back from the recalled layer

    @property
    def text(self) -> str:
        """The stable part, then the volatile one; both parts joined as `parts` are."""
        return PART_SEPARATOR.join(filter(None, (self.stable_text, self.volatile_text)))

    @property
    def is_empty(self) -> bool:
        return not self.parts


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A checked request."""

    query: str | None
    thread: str
    budget: int
    moment: datetime  # now, or the requested point in time
    categories: tuple[str, ...] = ()  # empty: all that the agent may see
    is_past: bool = False
    turn: int | None = None  # of the thread, for the recall log

    def asks_for(self, category: str | None) -> bool:
        return not self.categories or category in self.categories


class KeepPolicy(StrEnum):
    """Which items of a layer are kept if not all fit."""

    FIRST = "first"  # in order, skipping what does not fit
    NEWEST = "newest"  # drop the oldest, a block at a time
    WHOLE = "whole"  # in order, and truncate the item that does not fit


class LayerName(StrEnum):
    SOUL = "soul"
    RULES = "rules"
    QUOTATIONS = "quotations"
    IDENTITY = "identity"
    PEOPLE = "people"
    STANDING = "standing"
    CHANGES = "changes"
    EPISODES = "episodes"
    RECALLED = "recalled"
    SUMMARIES = "summaries"
    UPCOMING = "upcoming"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Layer:
    name: str
    heading: str
    description: str  # description for the docs page on contexts
    stable: bool = False
    outranks: bool = False  # allotted before all other layers
    keep: KeepPolicy = KeepPolicy.FIRST
    most: int | None = None  # maximum number of items
    share: float = 0.0  # its reserved share of the volatile budget
    marked: bool = False  # its lines are numbered for citation


QUOTATIONS_LAYER = Layer(
    LayerName.QUOTATIONS,
    "## Quoted text",
    "one line that says what the fence around text from sources means",
    stable=True,
)

LAYERS: tuple[Layer, ...] = (
    Layer(
        LayerName.SOUL,
        "## Who you are",
        "souls: who the agent is; those for all agents first, none of another agent's",
        stable=True,
        outranks=True,
        keep=KeepPolicy.WHOLE,
        most=5,
    ),
    Layer(
        LayerName.RULES,
        "## Rules to follow",
        "rules, the important ones when there are many; none of another agent's",
        stable=True,
        outranks=True,
        keep=KeepPolicy.WHOLE,
        most=10,
    ),
    QUOTATIONS_LAYER,
    Layer(
        LayerName.IDENTITY,
        "## About the user",
        "the profile's fields and notes, core beliefs (concepts kept forever), goals of the last 7"
        " days",
        stable=True,
    ),
    Layer(
        LayerName.PEOPLE,
        "## People and things that matter",
        "the nodes of the graph with the most salient edges, and how they relate to the user",
        stable=True,
        most=10,
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
        "the delta header: what changed since this agent last looked, without what stands above",
        share=0.15,
    ),
    Layer(
        LayerName.EPISODES,
        "## Recent events",
        "events whose own date is in the last 7 days, newest first",
        most=20,
        share=0.15,
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
        LayerName.UPCOMING,
        "## Coming up",
        "events, tasks and goals with a date in the next 14 days, soonest first",
        most=5,
        share=0.05,
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
UPCOMING_PERIOD = timedelta(days=14)

_ON_REQUEST_CATEGORIES = frozenset(POLICIES[kind].category for kind in ON_REQUEST_KINDS)


def is_shown(kind: str, category: str, categories: tuple[str, ...]) -> bool:
    """Procedures and items in their categories are shown only if the category is requested."""
    on_request = kind in ON_REQUEST_KINDS or category in _ON_REQUEST_CATEGORIES
    return not on_request or category in categories


def asks_for_procedures(categories: tuple[str, ...]) -> bool:
    return not _ON_REQUEST_CATEGORIES.isdisjoint(categories)


def is_low_priority(kind: str) -> bool:
    """True if the kind comes last in its layer."""
    return kind in _LOW_PRIORITY_KINDS


_LOW_PRIORITY_KINDS = frozenset(
    kind for kind, policy in POLICIES.items() if policy.context is ContextUse.LOW
)
