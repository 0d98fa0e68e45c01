"""One table drives how each kind of memory behaves."""

from __future__ import annotations

from dataclasses import dataclass
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
