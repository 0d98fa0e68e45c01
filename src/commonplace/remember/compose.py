"""From a checked draft to a memory: what was not given is derived."""

from __future__ import annotations

from datetime import datetime

from commonplace.errors import InvalidInput, NotAllowed
from commonplace.language.categorise import categorise
from commonplace.language.keywords import keywords
from commonplace.language.policy import check_writing
from commonplace.language.summarise import summarise
from commonplace.model.kinds import Kind
from commonplace.model.lifecycle import default_expiry
from commonplace.model.memory import Memory
from commonplace.model.scope import Principal
from commonplace.remember.draft import Draft

# Only kinds whose default says little take their category from the words.
_CATEGORISED_BY_WORDS = frozenset({Kind.NOTE, Kind.FACT, Kind.KV})


def compose(draft: Draft, id: str, principal: Principal, now: datetime) -> Memory:
    if principal.agent and draft.agent_id not in (None, principal.agent):
        raise NotAllowed(
            f"{principal.agent} cannot write as {draft.agent_id}.",
            remedy="Leave agent_id out.",
            field="agent_id",
        )
    policy = draft.policy
    stability = draft.stability or policy.stability
    expires_at = draft.expires_at or default_expiry(policy, stability, draft.ttl_days, now)
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("The memory would be expired already.", field="expires_at")
    return Memory(
        id=id,
        user_id=principal.user_id,
        kind=draft.kind,
        content=draft.content,
        summary=draft.summary or derived_summary(draft),
        category=draft.category or derived_category(draft.kind, draft.content, policy.category),
        tags=draft.tags if draft.tags is not None else keywords(draft.content),
        metadata=draft.metadata,
        importance=draft.importance,
        confidence=draft.confidence,
        stability=stability,
        sensitivity=draft.sensitivity,
        pinned=draft.pinned,
        evidence=draft.evidence,
        facet=draft.facet,
        source_type=draft.source_type,
        source_id=draft.source_id,
        job_id=draft.job_id,
        agent_id=draft.agent_id or principal.agent,
        run_id=draft.run_id,
        actor_id=draft.actor_id,
        role=draft.role,
        thread_id=draft.thread_id,
        expires_at=expires_at,
        valid_from=draft.valid_from or min(now, draft.valid_to or now),
        valid_to=draft.valid_to,
        created_at=now,
        updated_at=now,
        arrived_at=now,
    )


def remarks_on(memory: Memory) -> tuple[str, ...]:
    """What the writing policy says to a caller's words, which are kept as given."""
    return tuple(str(remark) for remark in check_writing(memory.kind, memory.content))


def derived_category(kind: Kind, content: str, default: str) -> str:
    if kind not in _CATEGORISED_BY_WORDS:
        return default
    return categorise(content) or default


def derived_summary(draft: Draft) -> str:
    """A procedure is summed up by its title, anything else by what it says."""
    if draft.kind is Kind.PROCEDURE:
        return summarise(draft.content.partition("\n")[0])
    return summarise(draft.content)
