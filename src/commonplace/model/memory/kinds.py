"""Kinds, categories and policies: behaviour per kind, allowlists, TTL policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


class ContextLayer(StrEnum):
    """The layer of a context that shows all memories of a kind, as far as there is room."""

    SOUL = "soul"
    RULES = "rules"
    EPISODES = "episodes"  # of the last days
    SUMMARIES = "summaries"


class WhenKnown(StrEnum):
    """What `remember` does with a memory that repeats or changes what is stored."""

    STORE = "stored again"
    ASK = "refreshed; a person decides about another value"
    REPLACE = "refreshed; what says more or otherwise replaces it"
    ONCE_A_DAY = "refreshed on the same day; another day is another one"


class WritingStyle(StrEnum):
    """How the writing policy wants its words."""

    THIRD_PERSON = "third person"
    PAST_TENSE = "past tense"


@dataclass(frozen=True, slots=True)
class KindPolicy:
    """All that differs between kinds, except how fields of one kind are read and worded."""

    kind: Kind
    purpose: str
    category: str  # when the text gives no better one
    stability: Stability = Stability.STABLE
    allowed: frozenset[Stability] = frozenset(Stability)
    ttl_days: int | None = None  # default life; None: no end
    context: ContextUse = ContextUse.YES
    layer: ContextLayer | None = None  # None: shown where it is recalled
    required: tuple[str, ...] = ("content",)  # dotted names: metadata.subject
    min_confidence: float = 0.0
    max_live: int | None = None
    on_content_change: OnContentChange = OnContentChange.SUPERSEDE
    when_known: WhenKnown = WhenKnown.STORE
    has_fields: bool = False  # its metadata says it: words can be made of it, and it is compared
    stated_metadata: tuple[str, ...] = ()  # changing these changes what the memory says
    category_from_content: bool = False  # its own category says little
    writing: WritingStyle | None = None  # None: any words do
    is_instruction: bool = False  # agents obey it: taken from the owner's own words alone
    is_private_to_agent: bool = False  # hidden from agents other than the one that it names
    can_merge: bool = True
    is_extracted: bool = False  # what a source says can become one
    is_screened: bool = False  # its words are searched for sensitive matters
    idle_below: int = 0  # unread and less important than this: forgotten after a while; 0: never
    recall_weight: float = 1.0

    @property
    def asks_on_change(self) -> bool:
        """Another value of such a memory is for a person to decide about."""
        return self.when_known is WhenKnown.ASK

    @property
    def recurs(self) -> bool:
        """The same on another day is another one."""
        return self.when_known is WhenKnown.ONCE_A_DAY

    @property
    def has_steps(self) -> bool:
        return "steps" in self.required

    @property
    def is_standing_instruction(self) -> bool:
        """Part of every prompt, before anything else."""
        return self.is_instruction and self.context in (ContextUse.FIRST, ContextUse.EARLY)


_DURABLE = frozenset({Stability.STABLE, Stability.PERMANENT})
_PERMANENT = frozenset({Stability.PERMANENT})

POLICIES: dict[Kind, KindPolicy] = {
    policy.kind: policy
    for policy in (
        KindPolicy(
            Kind.NOTE,
            "ideas, brain dumps, meeting summaries",
            "knowledge",
            category_from_content=True,
            is_extracted=True,
        ),
        KindPolicy(
            Kind.CONTACT,
            "a person or business",
            "relationships",
            required=("metadata.name",),
            on_content_change=OnContentChange.OVERRIDE,
            when_known=WhenKnown.ASK,
            has_fields=True,
            stated_metadata=("name", "phone", "email", "role", "description"),
            is_extracted=True,
        ),
        KindPolicy(
            Kind.KV,
            "a value of a subject",
            "knowledge",
            required=("metadata.subject", "metadata.value"),
            on_content_change=OnContentChange.OVERRIDE,
            when_known=WhenKnown.ASK,
            has_fields=True,
            stated_metadata=("subject", "value"),
            category_from_content=True,
            is_extracted=True,
        ),
        KindPolicy(
            Kind.FACT,
            "a durable statement (semantic)",
            "knowledge",
            when_known=WhenKnown.REPLACE,
            category_from_content=True,
            writing=WritingStyle.THIRD_PERSON,
            is_extracted=True,
            is_screened=True,
            idle_below=2,
        ),
        KindPolicy(
            Kind.EVENT,
            "what was discussed, decided or done (episodic)",
            "event",
            layer=ContextLayer.EPISODES,
            when_known=WhenKnown.ONCE_A_DAY,
            writing=WritingStyle.PAST_TENSE,
            is_extracted=True,
            is_screened=True,
            idle_below=3,
        ),
        KindPolicy(
            Kind.INSIGHT,
            "an inferred psychological or relational insight, with tags",
            "relationship_dynamic",
            context=ContextUse.LOW,
            when_known=WhenKnown.REPLACE,
            writing=WritingStyle.THIRD_PERSON,
            is_extracted=True,
            is_screened=True,
            idle_below=3,
            recall_weight=0.8,
        ),
        KindPolicy(
            Kind.PROCEDURE,
            "numbered imperative steps",
            "procedural",
            context=ContextUse.ON_REQUEST,
            required=("steps",),
            when_known=WhenKnown.REPLACE,
            stated_metadata=("steps",),
            is_instruction=True,
        ),
        KindPolicy(
            Kind.LOG,
            "raw record of a request or system event",
            "activity",
            stability=Stability.VOLATILE,
            ttl_days=30,
            is_screened=True,
            idle_below=3,
        ),
        KindPolicy(
            Kind.SUMMARY,
            "result of a job or session",
            "history",
            stability=Stability.VOLATILE,
            ttl_days=7,
            layer=ContextLayer.SUMMARIES,
            idle_below=3,
        ),
        KindPolicy(
            Kind.RULE,
            "reusable knowledge to follow",
            "constraints",
            allowed=_DURABLE,
            context=ContextUse.EARLY,
            layer=ContextLayer.RULES,
            required=("content", "evidence"),
            min_confidence=0.8,
            when_known=WhenKnown.REPLACE,
            is_instruction=True,
        ),
        KindPolicy(
            Kind.SOUL,
            "identity and principles of an agent",
            "identity",
            stability=Stability.PERMANENT,
            allowed=_PERMANENT,
            context=ContextUse.FIRST,
            layer=ContextLayer.SOUL,
            max_live=5,
            is_instruction=True,
            is_private_to_agent=True,
            can_merge=False,
        ),
    )
}


def kinds_where(rule: Callable[[KindPolicy], bool]) -> tuple[Kind, ...]:
    """The kinds whose policy says so, in the order of the table."""
    return tuple(kind for kind, policy in POLICIES.items() if rule(policy))


DEFAULT_KIND = Kind.NOTE  # of a text that neither its caller nor its words assign to another
MERGED_KIND = Kind.SUMMARY  # of what is made of several memories
ON_REQUEST_KINDS = kinds_where(lambda policy: policy.context is ContextUse.ON_REQUEST)
PRIVATE_TO_AGENT_KINDS = kinds_where(lambda policy: policy.is_private_to_agent)


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


_STORED, _REFRESHED = Action.STORED, Action.REFRESHED
_SUPERSEDED, _PENDING = Action.SUPERSEDED, Action.PENDING

# when known               repeat, rewording, changed
_ACTION_ROWS: dict[WhenKnown, tuple[Action, Action, Action]] = {
    WhenKnown.STORE: (_STORED, _STORED, _STORED),
    WhenKnown.ASK: (_REFRESHED, _REFRESHED, _PENDING),
    WhenKnown.REPLACE: (_REFRESHED, _SUPERSEDED, _SUPERSEDED),
    WhenKnown.ONCE_A_DAY: (_REFRESHED, _REFRESHED, _STORED),
}
_KNOWN_RELATIONS = (MemoryRelation.REPEAT, MemoryRelation.REWORDING, MemoryRelation.CHANGED)

ACTION_TABLE: dict[tuple[MemoryRelation, Kind], Action] = {
    **{(relation, kind): Action.STORED for relation in MemoryRelation for kind in Kind},
    **{
        (relation, kind): action
        for kind, policy in POLICIES.items()
        for relation, action in zip(_KNOWN_RELATIONS, _ACTION_ROWS[policy.when_known], strict=True)
    },
}


def action_for(relation: MemoryRelation, kind: Kind, *, same_day: bool) -> Action:
    """What the table says. The same event on another day is another event."""
    if POLICIES[kind].recurs and not same_day:
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
