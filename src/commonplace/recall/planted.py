"""What reads like instructions to an agent, among memories and sources: it is kept and found, and
stays out of prompts. Souls and rules are instructions; those of the owner are meant to be."""

from __future__ import annotations

from collections.abc import Iterator

from commonplace.desk import Desk
from commonplace.language.suspicious import is_suspicious
from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory
from commonplace.model.scope import Principal
from commonplace.model.source import Source
from commonplace.store.port import JournalQuery

_ORDERS = (Kind.SOUL, Kind.RULE)


def is_planted(item: Memory | Source | Node | Edge | Artifact) -> bool:
    """By all of its words that a prompt could show."""
    if isinstance(item, Node | Edge | Artifact):
        return is_suspicious(item.told)
    if isinstance(item, Source):
        return is_suspicious("\n".join((item.alias, item.title, item.summary)))
    if item.kind in _ORDERS and item.agent_id is None:
        return False
    return is_suspicious("\n".join(_words(item)))


def may_guide(desk: Desk, principal: Principal, memory: Memory) -> bool:
    """Whether a memory may stand in a prompt. A soul or rule that names an agent can be the owner's
    word to it: the journal knows who wrote it."""
    if not is_planted(memory):
        return True
    return memory.kind in _ORDERS and _is_the_owners(desk, principal, memory)


def _words(memory: Memory) -> Iterator[str]:
    yield from (memory.category, memory.content)
    more = [memory.summary, *map(str, memory.metadata.values())]
    yield from (words for words in more if words not in memory.content)  # judging takes its time


def _is_the_owners(desk: Desk, principal: Principal, memory: Memory) -> bool:
    query = JournalQuery(subject=memory.id, events_only=True)
    written = desk.store.journal(principal.scope, query)
    owner = f"user:{principal.user_id}"
    return bool(written) and all(row.actor == owner for row in written)
