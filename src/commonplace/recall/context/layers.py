"""The layers of a context in their order: one table. What has nothing to say does not appear."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from commonplace.model.kinds import POLICIES, ContextUse


class Keep(StrEnum):
    """Which items of a layer stay when there is not room for all."""

    FIRST = "first"  # in their order, as far as there is room
    NEWEST = "newest"  # the oldest make way, a block at a time
    WHOLE = "whole"  # as FIRST, and what is too long is cut: its beginning must be heard


class Name(StrEnum):
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
    keep: Keep = Keep.FIRST
    most: int | None = None  # items
    share: float = 0.0  # of the volatile room that is its own, whatever the layers before it hold
    marked: bool = False  # its lines can be cited by number


LAYERS: tuple[Layer, ...] = (
    Layer(
        Name.SOUL,
        "## Who you are",
        "souls: who the agent is; one of another agent's is not shown",
        stable=True,
        outranks=True,
        keep=Keep.WHOLE,
        most=5,
    ),
    Layer(
        Name.RULES,
        "## Rules to follow",
        "rules, the important ones when there are many",
        stable=True,
        outranks=True,
        keep=Keep.WHOLE,
        most=10,
    ),
    Layer(
        Name.IDENTITY,
        "## About the user",
        "the profile's fields and notes, goals of the last 7 days",
        stable=True,
    ),
    Layer(
        Name.STANDING,
        "## To keep in mind",
        "categories in mode `all`, oldest first, so that what is new comes at the end",
        stable=True,
        keep=Keep.NEWEST,
    ),
    Layer(
        Name.CHANGES,
        "Memory updates",  # a delta header brings its own
        "the delta header: what changed since this agent last looked in this thread",
        share=0.15,
    ),
    Layer(
        Name.EPISODES,
        "## Recent events",
        "events of the last 7 days, newest first",
        most=20,
        share=0.2,
        marked=True,
    ),
    Layer(
        Name.RECALLED,
        "## Recalled for this question",
        "the best for the query, at most `rag_length` of a category; passages are `history`",
        share=0.45,
        marked=True,
    ),
    Layer(
        Name.SUMMARIES,
        "## Recent summaries",
        "results of jobs and sessions, newest first",
        most=5,
        share=0.1,
        marked=True,
    ),
    Layer(
        Name.TIME,
        "## Now",
        "weekday and hour where the user is, the last conversation and its type",
        share=0.1,
    ),
)
BY_NAME: Mapping[str, Layer] = {layer.name: layer for layer in LAYERS}

RECENT = timedelta(days=7)

ON_REQUEST = frozenset(
    kind for kind, policy in POLICIES.items() if policy.context is ContextUse.ON_REQUEST
)
_ONLY_ASKED_FOR = frozenset(POLICIES[kind].category for kind in ON_REQUEST)


def is_wanted(kind: str, category: str, asked: tuple[str, ...]) -> bool:
    """A procedure, and what is filed with procedures, is shown when its category is asked for."""
    on_request = kind in ON_REQUEST or category in _ONLY_ASKED_FOR
    return not on_request or category in asked


def asks_for_procedures(asked: tuple[str, ...]) -> bool:
    return not _ONLY_ASKED_FOR.isdisjoint(asked)


def is_light(kind: str) -> bool:
    """Comes last in its layer."""
    return kind in _LIGHT


_LIGHT = frozenset(kind for kind, policy in POLICIES.items() if policy.context is ContextUse.LOW)
