"""Recall log: write the searches of a turn; explain what a past turn returned and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.engine.access import visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.graph.remove import is_graph_id
from commonplace.engine.graph.visible_graph import visible_graph
from commonplace.engine.graph_search.graph_texts import (
    SearchableGraph,
    TextRequest,
    category_of,
    find_item,
    item_text,
)
from commonplace.engine.graph_search.graph_view import GraphView
from commonplace.engine.search.pack import Hit
from commonplace.errors import BadSettings, NotFound
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Bookkeeping
from commonplace.model.delta import shorten
from commonplace.model.graph.storylines import is_story_id
from commonplace.model.journal import (
    MAIN_THREAD,
    LoggedHit,
    LoggedSearch,
    RecallLogEntry,
    RecallLogQuery,
    RecallTurn,
)
from commonplace.model.memory.lifecycle import NOW
from commonplace.model.memory.memory import Memory, State
from commonplace.model.sources.source import (
    SOURCE_CATEGORY,
    Passage,
    is_source_id,
    split_passage_id,
)
from commonplace.store.queries import PassagesOf

with lazy_imports(__name__):
    from commonplace.language.safety.secrets import redact_secrets


def build_search(verb: str, asked: str, hits: Iterable[Hit]) -> LoggedSearch:
    """The log record of one search, with explanations if the hits have them. Items of other users
    are left out: their erasure would not reach this log. So are proposals, which end by
    themselves."""
    returned = [
        LoggedHit(hit.id, hit.score, hit.why or "", dict(hit.parts or {}))
        for hit in hits
        if not hit.is_anothers and not hit.proposed
    ]
    return LoggedSearch(verb, redact_secrets(asked), tuple(returned))


def log_turn(
    engine: EngineContext,
    principal: Principal,
    searches: Sequence[LoggedSearch],
    thread: str | None = None,
    turn: int | None = None,
) -> None:
    """Log all searches of one turn; a no-op if the log is off."""
    if not engine.recall_log or not searches:
        return
    now = engine.clock()
    noted = RecallTurn(thread or MAIN_THREAD, principal.agent, now, tuple(searches), turn)
    engine.access_log.record_later(Bookkeeping(principal.scope, now, turns=(noted,)))


@dataclass(frozen=True, slots=True)
class ReturnedThen:
    """A logged hit with its current text."""

    id: str
    score: float
    why: str
    parts: Mapping[str, float]
    category: str | None = None
    text: str | None = None  # None: forgotten or erased


@dataclass(frozen=True, slots=True)
class ExplainedSearch:
    verb: str  # recall, query, context
    query: str
    agent: str | None  # None: the owner
    at: datetime
    returned: tuple[ReturnedThen, ...]  # best first


@dataclass(frozen=True, slots=True)
class WhatWasAsked:
    thread: str
    turn: int
    asked: tuple[ExplainedSearch, ...]


def explain_turn(
    engine: EngineContext, principal: Principal, thread: str, turn: int | None
) -> WhatWasAsked:
    """Explain a turn, by default the last one. An agent sees only its own searches, and only hits
    that are visible to it now."""
    if not engine.recall_log:
        raise BadSettings(
            "The recall log is off.",
            remedy="Set recall_log = true (COMMONPLACE_RECALL_LOG=true); it begins with the next "
            "question.",
            field="recall_log",
        )
    engine.access_log.flush()
    query = RecallLogQuery(thread, turn, principal.agent, newest_turn=turn is None)
    found = engine.store.recall_log(principal.scope, query)
    if not found:
        which = "any turn" if turn is None else f"turn {turn}"
        raise NotFound(
            f"No record of {which} in thread {thread!r}.",
            remedy="Turns count from 1 in each thread; the log keeps them for `recall_log_days`.",
            field="turn",
        )
    current = _CurrentTexts(
        engine, principal, [hit.id for each in found for hit in each.search.returned]
    )
    return WhatWasAsked(
        thread, found[0].turn, tuple(_explain_search(each, current) for each in found)
    )


def _explain_search(logged: RecallLogEntry, words: _CurrentTexts) -> ExplainedSearch:
    search = logged.search
    returned = tuple(words.shown(search.returned))
    return ExplainedSearch(search.verb, search.asked, logged.agent, logged.at, returned)


class _CurrentTexts:
    """The current texts of logged hits, as far as the caller may see them."""

    def __init__(self, engine: EngineContext, principal: Principal, ids: Sequence[str]):
        self._engine = engine
        self._principal = principal
        self._visibility = visibility_of(principal)
        memories = engine.store.fetch(principal.scope, [id for id in ids if not is_source_id(id)])
        self._memories = {memory.id: memory for memory in memories}
        named = {split_passage_id(id)[0] for id in ids if is_source_id(id)}
        sources = engine.live_sources(principal.scope, sorted(named))
        self._sources = {source.id: source for source in sources}
        self._graph = self._graph_items(engine, principal, [id for id in ids if is_graph_id(id)])

    @staticmethod
    def _graph_items(
        engine: EngineContext, principal: Principal, ids: Sequence[str]
    ) -> dict[str, tuple[str, str]]:
        """Category and text of the nodes, edges and artifacts that the caller may see."""
        if not ids:
            return {}
        visible = visible_graph(engine, principal, sources=any(map(is_story_id, ids)))
        graph = SearchableGraph(GraphView(visible.snapshot, ()), NOW)
        found = {id: find_item(graph, id) for id in ids}
        return {
            id: (category_of(graph, item), item_text(graph, item, TextRequest(engine.clock())))
            for id, item in found.items()
            if item is not None
        }

    def shown(self, returned: Iterable[LoggedHit]) -> Iterable[ReturnedThen]:
        for hit in returned:
            if not self._may_see(hit.id):
                continue
            category, text = self._current_text(hit.id)
            if text is None and not self._principal.is_owner:
                continue
            yield ReturnedThen(hit.id, hit.score, hit.why, hit.parts, category, text)

    def _may_see(self, id: str) -> bool:
        if is_graph_id(id):
            return id in self._graph
        if is_source_id(id):
            source = self._sources.get(split_passage_id(id)[0])
            return source is not None and self._visibility.admits_source(source)
        memory = self._memories.get(id)
        return memory is not None and self._visibility.admits(memory)

    def _current_text(self, id: str) -> tuple[str | None, str | None]:
        if is_graph_id(id):
            category, text = self._graph[id]
            return category, shorten(text)
        if is_source_id(id):
            passage = self._passage(id)
            return (SOURCE_CATEGORY, shorten(passage.text)) if passage else (None, None)
        memory = self._memories[id]
        is_shown = memory.state is State.SUPERSEDED or memory.is_live(self._engine.clock())
        return (memory.category, _memory_line(memory)) if is_shown else (None, None)

    def _passage(self, id: str) -> Passage | None:
        source_id, number = split_passage_id(id)
        if number is None or self._sources[source_id].state is not State.ACTIVE:
            return None
        found = self._engine.store.passages(
            self._principal.scope, PassagesOf(source_id, number, number)
        )
        return next(iter(found.values()), None)


def _memory_line(memory: Memory) -> str:
    return shorten(memory.headline)
