"""Kinds, categories and policies: behaviour per kind, allowlists, TTL policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum


class Kind(StrEnum):
    NOTE = "note"
    CONTACT = "contact"
    KV = "kv"
    FACT = "fact"
    EVENT = "event"
    INSIGHT = "insight"
    PROCEDURE = "procedure"
    LOG = "log"
    SUMMARY = "summary"
    RULE = "rule"
    SOUL = "soul"


class Stability(StrEnum):
    VOLATILE = "volatile"
    STABLE = "stable"
    PERMANENT = "permanent"


class ContextUse(StrEnum):
    """When a context for a prompt includes the kind."""

    FIRST = "first"
    EARLY = "early"
    YES = "yes"
    LOW = "low weight"
    ON_REQUEST = "only when its category is asked for"


class OnContentChange(StrEnum):
    """What `update` does with new content."""

    SUPERSEDE = "supersede"  # the old one stays as history, superseded_by names the new
    OVERRIDE = "override"  # delete + insert: the old one leaves every read


@dataclass(frozen=True, slots=True)
class KindPolicy:
    kind: Kind
    purpose: str
    category: str  # when the text gives no better one
    stability: Stability = Stability.STABLE
    allowed: frozenset[Stability] = frozenset(Stability)
    ttl_days: int | None = None  # default life; None: no end
    context: ContextUse = ContextUse.YES
    required: tuple[str, ...] = ("content",)  # dotted names: metadata.subject
    min_confidence: float = 0.0
    max_live: int | None = None
    on_content_change: OnContentChange = OnContentChange.SUPERSEDE
    idle_below: int = 0  # unread and less important than this: forgotten after a while; 0: never
    recall_weight: float = 1.0


_DURABLE = frozenset({Stability.STABLE, Stability.PERMANENT})
_PERMANENT = frozenset({Stability.PERMANENT})

POLICIES: dict[Kind, KindPolicy] = {
    policy.kind: policy
    for policy in (
        KindPolicy(Kind.NOTE, "ideas, brain dumps, meeting summaries", "knowledge"),
        KindPolicy(
            Kind.CONTACT,
            "a person or business",
            "relationships",
            required=("metadata.name",),
            on_content_change=OnContentChange.OVERRIDE,
        ),
        KindPolicy(
            Kind.KV,
            "a value of a subject",
            "knowledge",
            required=("metadata.subject", "metadata.value"),
            on_content_change=OnContentChange.OVERRIDE,
        ),
        KindPolicy(Kind.FACT, "a durable statement (semantic)", "knowledge", idle_below=2),
        KindPolicy(
            Kind.EVENT, "what was discussed, decided or done (episodic)", "event", idle_below=3
        ),
        KindPolicy(
            Kind.INSIGHT,
            "an inferred psychological or relational insight, with tags",
            "relationship_dynamic",
            context=ContextUse.LOW,
            idle_below=3,
            recall_weight=0.8,
        ),
        KindPolicy(
            Kind.PROCEDURE,
            "numbered imperative steps",
            "procedural",
            context=ContextUse.ON_REQUEST,
            required=("steps",),
        ),
        KindPolicy(
            Kind.LOG,
            "raw record of a request or system event",
            "activity",
            stability=Stability.VOLATILE,
            ttl_days=30,
            idle_below=3,
        ),
        KindPolicy(
            Kind.SUMMARY,
            "result of a job or session",
            "history",
            stability=Stability.VOLATILE,
            ttl_days=7,
            idle_below=3,
        ),
        KindPolicy(
            Kind.RULE,
            "reusable knowledge to follow",
            "constraints",
            allowed=_DURABLE,
            context=ContextUse.EARLY,
            required=("content", "evidence"),
            min_confidence=0.8,
        ),
        KindPolicy(
            Kind.SOUL,
            "identity and principles of an agent",
            "identity",
            stability=Stability.PERMANENT,
            allowed=_PERMANENT,
            context=ContextUse.FIRST,
            max_live=5,
        ),
    )
}


class MemoryRelation(StrEnum):
    REPEAT = "repeat"  # the same again
    REWORDING = "rewording"  # the same in other words, or with more detail
    CHANGED = "changed"  # the same subject, another value
    NEAR = "near"  # about the same, and both are true
    NEW = "new"


class Action(StrEnum):
    STORED = "stored"
    REFRESHED = "refreshed"  # the old one stands, seen again
    SUPERSEDED = "superseded"  # the new one took the old one's place; undo with restore
    PENDING = "pending"  # held until a person decides
    OVERRIDDEN = "overridden"  # a person decided: delete + insert
    ALTERNATIVE = "alternative"  # kept beside the old one, which stands


class OnConflict(StrEnum):
    """What to do where a person decides."""

    ASK = "ask"
    OVERRIDE = "override"
    INSERT = "insert"
    ALTERNATIVE = "alternative"  # for importers: never asks, never replaces


_FREE_KINDS = (Kind.NOTE, Kind.LOG, Kind.SUMMARY, Kind.SOUL)
_ASKING_KINDS = (Kind.CONTACT, Kind.KV)
_REPLACING_KINDS = (Kind.FACT, Kind.INSIGHT, Kind.RULE, Kind.PROCEDURE)

_STORED, _REFRESHED = Action.STORED, Action.REFRESHED
_SUPERSEDED, _PENDING = Action.SUPERSEDED, Action.PENDING

# relation                 notes …   contact, kv   facts …       event
_ACTION_ROWS: dict[MemoryRelation, tuple[Action, Action, Action, Action]] = {
    MemoryRelation.REPEAT: (_STORED, _REFRESHED, _REFRESHED, _REFRESHED),
    MemoryRelation.REWORDING: (_STORED, _REFRESHED, _SUPERSEDED, _REFRESHED),
    MemoryRelation.CHANGED: (_STORED, _PENDING, _SUPERSEDED, _STORED),
    MemoryRelation.NEAR: (_STORED, _STORED, _STORED, _STORED),
    MemoryRelation.NEW: (_STORED, _STORED, _STORED, _STORED),
}
_KIND_COLUMNS = (_FREE_KINDS, _ASKING_KINDS, _REPLACING_KINDS, (Kind.EVENT,))

ACTION_TABLE: dict[tuple[MemoryRelation, Kind], Action] = {
    (relation, kind): action
    for relation, actions in _ACTION_ROWS.items()
    for kinds, action in zip(_KIND_COLUMNS, actions, strict=True)
    for kind in kinds
}


def needs_decision(kind: Kind) -> bool:
    """Another value of such a memory is for a person to decide about."""
    return ACTION_TABLE[MemoryRelation.CHANGED, kind] is Action.PENDING


def action_for(relation: MemoryRelation, kind: Kind, *, same_day: bool) -> Action:
    """What the table says. The same event on another day is another event."""
    if kind is Kind.EVENT and not same_day:
        return Action.STORED
    return ACTION_TABLE[relation, kind]


DEFAULT_ALLOWLIST = "default"  # the allowlist of agents that have none of their own
DEFAULT_RAG_LENGTH = 10  # of a category that does not say


# The words of the contract. They say nothing about anybody, as a word of the user's own might.
BUILT_IN_CATEGORIES = frozenset(
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


def fold_agent_name(agent: str) -> str:
    """How names of agents are compared."""
    return agent.strip().casefold()


class ContextMode(StrEnum):
    ALL = "all"  # every live item, within the budget
    RAG = "rag"  # the best items for the query


@dataclass(frozen=True, slots=True)
class Category:
    name: str
    context: ContextMode = ContextMode.RAG
    rag_length: int = DEFAULT_RAG_LENGTH  # at most so many items for a query
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
        lists = {fold_agent_name(name): listed for name, listed in self.allowlists.items()}
        nothing = Allowlist(DEFAULT_ALLOWLIST, frozenset())
        return lists.get(fold_agent_name(agent)) or lists.get(DEFAULT_ALLOWLIST) or nothing

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

    def in_mode(self, mode: ContextMode) -> tuple[Category, ...]:
        """In the order of the file."""
        return tuple(each for each in self.categories.values() if each.context is mode)


EPISODIC_DAYS = 30  # of what is ephemeral: sources, artifacts
SEMANTIC_DAYS = 90  # nodes


class TtlPolicy(StrEnum):
    KEEP_FOREVER = "keep_forever"  # stays as salient as it can be
    EPHEMERAL = "ephemeral"  # ends after 30 days (episodic) or 90 (semantic)
    DECAY = "decay"


def ephemeral_expiry(policy: TtlPolicy, made_at: datetime) -> datetime | None:
    """None: it has none."""
    return made_at + timedelta(days=EPISODIC_DAYS) if policy is TtlPolicy.EPHEMERAL else None


def ephemeral_cutoff(now: datetime) -> datetime:
    """What is ephemeral, episodic and was made by then has ended."""
    return now - timedelta(days=EPISODIC_DAYS)
