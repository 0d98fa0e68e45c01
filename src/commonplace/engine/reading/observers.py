"""Who brought the turns of a conversation: what comes of them has the rights of that principal."""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.engine.context import EngineContext
from commonplace.model.access.principal import Principal
from commonplace.model.journal import JournalRow
from commonplace.model.sources.source import Source
from commonplace.store.queries import JournalQuery

_AGENT = "agent:"  # the beginning of agents' names in the journal


def observer_of(engine: EngineContext, reader: Principal, source: Source, turn: int) -> Principal:
    """The principal that observed a turn. An agent may have made up the owner's words: what it
    observed has the rights of that agent, also when a model reads it."""
    query = JournalQuery(subject=source.id, events_only=True)
    rows = [row for row in engine.store.journal(source.scope, query) if "turns" in row.entry.meta]
    actor = _actor_of(rows, turn)
    if not actor.startswith(_AGENT):
        return reader
    name = actor.removeprefix(_AGENT)
    return reader.as_agent(name).allowed_to_see(engine.categories().allowed(name))


def _actor_of(rows: Iterable[JournalRow], turn: int) -> str:
    """Of the row that stored the turn. If the rows do not say: that of the last agent."""
    stored, last_agent, found = 0, "", ""
    for row in rows:
        actor = row.actor or ""
        stored += int(row.entry.meta["turns"])
        last_agent = actor if actor.startswith(_AGENT) else last_agent
        if not found and turn <= stored:
            found = actor
    return found or last_agent
