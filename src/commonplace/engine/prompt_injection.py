"""Prompt injection: stored items that look like instructions stay out of prompts."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from commonplace.engine.context import EngineContext
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.model.access.principal import Principal
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.memory.kinds import POLICIES
from commonplace.model.memory.memory import HEARSAY_FACET, Memory
from commonplace.model.sources.source import Source, SourceType, is_source_id
from commonplace.store.queries import JournalQuery


def is_prompt_injection(item: Memory | Source | Node | Edge | Artifact) -> bool:
    """Checks all texts of the item that a prompt could contain."""
    if isinstance(item, Node | Edge | Artifact):
        return is_suspicious(item.headline)
    if isinstance(item, Source):
        return is_suspicious("\n".join((item.alias, item.title, item.summary)))
    return not _is_for_all_agents(item) and is_suspicious("\n".join(_texts_of(item)))


def is_injected_memory(engine: EngineContext, memory: Memory) -> bool:
    """The same for a memory that is read again and again."""
    return not _is_for_all_agents(memory) and is_suspicious_again(
        engine, "\n".join(_texts_of(memory))
    )


def is_suspicious_again(engine: EngineContext, text: str) -> bool:
    """`is_suspicious`, looked up if the text was checked before."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return engine.caches.suspicions.get_or_make(digest, lambda: is_suspicious(text))


def _is_for_all_agents(memory: Memory) -> bool:
    """Souls and rules that name no agent are the owner's."""
    return POLICIES[memory.kind].is_standing_instruction and memory.agent_id is None


def is_quoted(item: Memory | Source | Node | Edge | Artifact) -> bool:
    """True if its words come from a source, such as a mail, a file, an ingested chat or another
    speaker. What the owner said in an observed turn, and what an agent concluded, is not quoted;
    all passages are."""
    if isinstance(item, Artifact):
        return False
    if not isinstance(item, Memory):
        return True
    return is_quoted_memory(item.facet, item.source_type, item.source_id, item.role)


def is_quoted_memory(
    facet: str | None, source_type: str | None, source_id: str | None, role: str | None
) -> bool:
    """`observe` stores the role of its turn; the speaker's name in an ingested chat proves
    nothing."""
    if facet == HEARSAY_FACET:
        return True
    is_ingested = is_source_id(source_id or "") and role is None
    return source_type is not None and (source_type != SourceType.CHAT or is_ingested)


def may_enter_prompt(engine: EngineContext, principal: Principal, memory: Memory) -> bool:
    """True if a memory may be part of a prompt. A soul or rule that names an agent can be the
    owner's instruction to it: the journal shows who wrote it."""
    if not is_injected_memory(engine, memory):
        return True
    is_instruction = POLICIES[memory.kind].is_standing_instruction
    return is_instruction and _is_written_by_owner(engine, principal, memory)


def _texts_of(memory: Memory) -> Iterator[str]:
    yield from (memory.category, memory.content)
    more = [memory.summary, *map(str, memory.metadata.values())]
    # The check is slow: no text twice.
    yield from (text for text in more if text not in memory.content)


def _is_written_by_owner(engine: EngineContext, principal: Principal, memory: Memory) -> bool:
    query = JournalQuery(subject=memory.id, events_only=True)
    rows = engine.store.journal(principal.scope, query)
    owner = f"user:{principal.user_id}"
    return bool(rows) and all(row.actor == owner for row in rows)
