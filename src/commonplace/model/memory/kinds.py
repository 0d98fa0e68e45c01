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
    """The style that the writing policy requires."""

    THIRD_PERSON = "third person"
    PAST_TENSE = "past tense"


@dataclass(frozen=True, slots=True)
class KindPolicy:
    """Everything that differs between kinds, except parsing and wording of their fields."""

    kind: Kind
    purpose: str
    category: str  # the default, where the text implies no other
    stability: Stability = Stability.STABLE
    allowed: frozenset[Stability] = frozenset(Stability)
    ttl_days: int | None = None  # the default TTL; None: no expiry
    context: ContextUse = ContextUse.YES
    layer: ContextLayer | None = None  # None: shown only where it is recalled
    required: tuple[str, ...] = ("content",)  # dotted names: metadata.subject
    min_confidence: float = 0.0
    max_live: int | None = None
    on_content_change: OnContentChange = OnContentChange.SUPERSEDE
    when_known: WhenKnown = WhenKnown.STORE
    has_fields: bool = False  # defined by its metadata: content can be generated from it
    stated_metadata: tuple[str, ...] = ()  # a change of these is a change of content
    category_from_content: bool = False  # the default category is unspecific
    writing: WritingStyle | None = None  # None: any style
    is_instruction: bool = False  # agents follow it: accepted only from the owner's own words
    is_private_to_agent: bool = False  # hidden from agents other than the one that it names
    can_merge: bool = True
    is_extracted: bool = False  # can be extracted from a source
    reaches_graph: bool = False  # its statements become nodes and edges when it is told
    is_screened: bool = False  # its content is checked for sensitive matters
    idle_below: int = 0  # forgotten if idle and less important than this; 0: never
    recall_weight: float = 1.0

    @property
    def asks_on_change(self) -> bool:
        """A person decides about a different value."""
        return self.when_known is WhenKnown.ASK

    @property
    def recurs(self) -> bool:
        """The same content on another day is another memory."""
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
            reaches_graph=True,
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
            reaches_graph=True,
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
            reaches_graph=True,
        ),
        KindPolicy(
            Kind.FACT,
            "a durable statement (semantic)",
            "knowledge",
            when_known=WhenKnown.REPLACE,
            category_from_content=True,
            writing=WritingStyle.THIRD_PERSON,
            is_extracted=True,
            reaches_graph=True,
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
            reaches_graph=True,
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
            is_private_to_agent=True,
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
    """The kinds whose policy fulfils ``rule``, in the order of the table."""
    return tuple(kind for kind, policy in POLICIES.items() if rule(policy))


DEFAULT_KIND = Kind.NOTE  # where neither the caller nor the text determines another
MERGED_KIND = Kind.SUMMARY  # of the result of a merge
ON_REQUEST_KINDS = kinds_where(lambda policy: policy.context is ContextUse.ON_REQUEST)
PRIVATE_TO_AGENT_KINDS = kinds_where(lambda policy: policy.is_private_to_agent)

# Agents read every memory of these categories as an instruction, whatever its kind.
INSTRUCTION_CATEGORIES = frozenset(
    policy.category for policy in POLICIES.values() if policy.is_standing_instruction
)


def instructs_agents(kind: Kind, category: str) -> bool:
    return POLICIES[kind].is_standing_instruction or category in INSTRUCTION_CATEGORIES


class MemoryRelation(StrEnum):
    REPEAT = "repeat"  # the same content
    REWORDING = "rewording"  # the same in other words, or with more detail
    CHANGED = "changed"  # the same subject, another value
    NEAR = "near"  # a similar subject, both are true
    NEW = "new"


class Action(StrEnum):
    STORED = "stored"
    REFRESHED = "refreshed"  # the old one stays active and is marked as seen again
    SUPERSEDED = "superseded"  # the new one replaced the old one; undo with restore
    PENDING = "pending"  # held until a person decides
    OVERRIDDEN = "overridden"  # a person decided: delete + insert
    ALTERNATIVE = "alternative"  # held as an alternative to the old one, which stays active


class OnConflict(StrEnum):
    """What to do where a person would decide."""

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
    """The action of the table. A recurring kind on another day is always stored."""
    if POLICIES[kind].recurs and not same_day:
        return Action.STORED
    return ACTION_TABLE[relation, kind]


DEFAULT_ALLOWLIST = "default"  # the allowlist of agents that have none of their own
DEFAULT_RAG_LENGTH = 10  # the default of a category


# Unlike categories that users define, these contain no personal information.
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
    """The comparison key of an agent's name."""
    return agent.strip().casefold()


class ContextMode(StrEnum):
    ALL = "all"  # every live item, within the budget
    RAG = "rag"  # the best items for the query


@dataclass(frozen=True, slots=True)
class Category:
    name: str
    context: ContextMode = ContextMode.RAG
    rag_length: int = DEFAULT_RAG_LENGTH  # the maximum of items for a query
    system: bool = True
    line: int | None = None  # in the categories file


@dataclass(frozen=True, slots=True)
class Allowlist:
    agent: str
    categories: frozenset[str]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Categories:
    """The contents of one categories file. ``origin``: its name."""

    categories: Mapping[str, Category] = field(default_factory=dict)
    allowlists: Mapping[str, Allowlist] = field(default_factory=dict)
    origin: str = ""
    problem: str | None = None  # why a newer version of the file was rejected

    def allowlist_of(self, agent: str) -> Allowlist:
        """An agent that is not listed gets the default allowlist; without one it sees nothing.
        Case and surrounding space are ignored: `Planner` must not get a wider default."""
        lists = {fold_agent_name(name): listed for name, listed in self.allowlists.items()}
        nothing = Allowlist(DEFAULT_ALLOWLIST, frozenset())
        return lists.get(fold_agent_name(agent)) or lists.get(DEFAULT_ALLOWLIST) or nothing

    def allowed(self, agent: str) -> frozenset[str]:
        return self.allowlist_of(agent).categories

    def readers_of(self, category: str) -> tuple[str, ...]:
        """The allowlists that contain it."""
        return tuple(
            sorted(name for name, each in self.allowlists.items() if category in each.categories)
        )

    def known(self, name: str) -> Category:
        """A category that is not listed is valid, too: category names are free."""
        return self.categories.get(name) or Category(name, system=False)

    def in_mode(self, mode: ContextMode) -> tuple[Category, ...]:
        """In the order of the file."""
        return tuple(each for each in self.categories.values() if each.context is mode)


EPISODIC_DAYS = 30  # of ephemeral sources and artifacts
SEMANTIC_DAYS = 90  # of ephemeral nodes


class TtlPolicy(StrEnum):
    KEEP_FOREVER = "keep_forever"  # stays at the maximum salience
    EPHEMERAL = "ephemeral"  # ends after 30 days (episodic) or 90 (semantic)
    DECAY = "decay"


def ephemeral_expiry(policy: TtlPolicy, made_at: datetime) -> datetime | None:
    """None: no expiry."""
    return made_at + timedelta(days=EPISODIC_DAYS) if policy is TtlPolicy.EPHEMERAL else None


def ephemeral_cutoff(now: datetime) -> datetime:
    """Ephemeral episodic items created by then have expired."""
    return now - timedelta(days=EPISODIC_DAYS)
