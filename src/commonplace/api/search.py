"""Search verbs: recall, list, show, query, why, understand, context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from commonplace.api.handle import (
    MAX_BATCH,
    MAX_K,
    MAX_TURN,
    Moment,
    Texts,
    UserHandle,
    named_arguments,
    optional_integer,
    read_list,
    read_moments,
    read_thread,
    refuse_forgotten_in_past,
    refuse_metadata_in_past,
)
from commonplace.errors import InvalidInput, MissingField, NotFound, TooLong
from commonplace.language.query.message import RecentTurn
from commonplace.lazy import lazy_imports
from commonplace.model import validation
from commonplace.model.access.principal import ReadableScope
from commonplace.model.filters import Filters
from commonplace.model.graph.elements import ARTIFACT_PREFIX as OF_ARTIFACTS
from commonplace.model.graph.elements import EDGE_PREFIX as OF_EDGES
from commonplace.model.graph.elements import NODE_PREFIX as OF_NODES
from commonplace.model.graph.storylines import is_story_id
from commonplace.model.journal import MAIN_THREAD
from commonplace.model.memory.kinds import ON_REQUEST_KINDS
from commonplace.model.parameters import QUERY_BUDGET, QUERY_TOP_K, QueryReturns, SearchMode
from commonplace.model.profile.fields import Abbreviation

with lazy_imports(__name__):
    from commonplace.engine.context import EngineContext
    from commonplace.engine.graph.artifacts import ShownArtifact, show_artifact
    from commonplace.engine.graph.extraction.extraction_input import queue_first_extraction
    from commonplace.engine.graph.visible_graph import find_unambiguous_node
    from commonplace.engine.graph_search.listing import WholeEdge, WholeNode, show_edge, show_node
    from commonplace.engine.graph_search.stories.story_listing import (
        WholeMacro,
        WholeStoryline,
        show_story,
    )
    from commonplace.engine.history.time_travel import context_at
    from commonplace.engine.memories import listing
    from commonplace.engine.profile.abbreviations import Abbreviated, abbreviate
    from commonplace.engine.prompt_context.context import context
    from commonplace.engine.prompt_context.layers import (
        Context,
        ContextRequest,
        asks_for_procedures,
    )
    from commonplace.engine.prompt_context.whole_context import (
        ContextPack,
        WholeContext,
        context_pack,
        whole_context,
    )
    from commonplace.engine.search.deep.phrasings import deepen
    from commonplace.engine.search.graph.known_names import find_known_names
    from commonplace.engine.search.pack import Choice, Hit
    from commonplace.engine.search.plan import RecallPlan, SearchTargets, read_targets
    from commonplace.engine.search.query import Queried, run_query
    from commonplace.engine.search.recall import Recalled, recall
    from commonplace.engine.search.recall_log import WhatWasAsked, explain_turn
    from commonplace.engine.sources.listing import ShownSource, resolve_source_id, show_source
    from commonplace.engine.understanding import (
        Understanding,
        list_abbreviations,
        understand_message,
    )


class RecallVerbs(UserHandle):
    def recall(
        self,
        query: str,
        *,
        k: int = 5,
        budget_tokens: int | None = None,
        kinds: Texts | None = None,
        categories: Texts | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        strict: bool = False,
        mode: str = "fast",
        sources: Texts | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        include_archived: bool = False,
        explain: bool = False,
        thread: str | None = None,
        turn: int | None = None,
    ) -> Recalled:
        """Search memories, profile, sources and graph.

        Memories, profile fields and open proposals, passages of sources, and nodes, edges, notes,
        artifacts, storylines and macros of the graph: best first, within a token budget. A hit that
        may be there by chance is marked weak; strict leaves these out. Passages of archived sources
        count half; include_archived: in full, with archived items of the graph. Mode deep also
        searches other wordings of the query, those of a language model if there is one. Use it for
        a question about a fact; use list or sources to browse. as_of: what was true then. known_at:
        what was known then."""
        return self.recall_many([query], **named_arguments(locals(), without=("query",)))[0]

    def recall_many(
        self,
        queries: Sequence[str],
        *,
        k: int = 5,
        budget_tokens: int | None = None,
        kinds: Texts | None = None,
        categories: Texts | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        strict: bool = False,
        mode: str = "fast",
        sources: Texts | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        include_archived: bool = False,
        explain: bool = False,
        thread: str | None = None,
        turn: int | None = None,
    ) -> Sequence[Recalled]:
        """Search for several queries with one embedder call.

        One answer per query."""
        admitted = self._filters(filters, kinds=kinds, categories=categories)
        refuse_metadata_in_past(admitted, as_of, known_at)
        engine = self._engine_at(as_of, known_at)
        looked_at = SearchTargets(graph=True) if sources is None else self._within(engine, sources)
        plans = [
            RecallPlan(
                query=validation.text(query, "query"),
                k=validation.integer(k, "k", 1, MAX_K),
                budget_tokens=optional_integer(budget_tokens, "budget_tokens", 0, 10_000_000),
                filters=admitted,
                threshold=None
                if threshold is None
                else validation.number(threshold, "threshold", 0, 1),
                strict=validation.flag(strict, "strict"),
                explain=validation.flag(explain, "explain"),
                thread_id=read_thread(thread),
                turn=optional_integer(turn, "turn", 0, MAX_TURN),
                within=looked_at,
                include_archived=validation.flag(include_archived, "include_archived"),
            )
            for query in read_list(queries, MAX_BATCH)
        ]
        if _is_deep(mode):
            plans = [deepen(self._engine, self.principal, plan) for plan in plans]
        found = recall(engine, self.principal, plans)
        self._extract_on_first_read(hit for each in found for hit in each.hits)
        return found

    def _extract_on_first_read(self, hits: Iterable[Hit]) -> None:
        cited = [hit.citation for hit in hits if hit.citation and hit.citation.team]
        queue_first_extraction(self._engine, self.principal, [each.source for each in cited])

    def list(
        self,
        *,
        kinds: Texts | None = None,
        categories: Texts | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int = 50,
        after: str | None = None,
        forgotten: bool = False,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> listing.MemoryPage:
        """List memories, newest first.

        forgotten: those that can be restored. as_of: what was true then. known_at: what was known
        then."""
        refuse_forgotten_in_past(forgotten, as_of, known_at)
        admitted = self._filters(filters, kinds=kinds, categories=categories)
        refuse_metadata_in_past(admitted, as_of, known_at)
        return listing.list_memories(
            self._engine_at(as_of, known_at),
            self.principal,
            admitted,
            validation.integer(limit, "limit", 1, MAX_K),
            None if after is None else validation.id(after, "after"),
            validation.flag(forgotten, "forgotten"),
        )

    def show(
        self, id: str, *, as_of: Moment | None = None, known_at: Moment | None = None
    ) -> (
        listing.ShownMemory
        | ShownSource
        | WholeNode
        | WholeEdge
        | ShownArtifact
        | WholeStoryline
        | WholeMacro
        | Choice
    ):
        """Show one item of any kind, by id or words.

        A memory with its fields, versions and links; a source with its passages; a passage with
        those around it; a node by id or name; a storyline or macro with its sources. Other words
        are searched for: one clear hit is shown, several are candidates to choose from. as_of and
        known_at show an earlier state."""
        try:
            return self._show_by_id(id, as_of, known_at)
        except NotFound:
            if _looks_like_id(id):
                raise
            engine = self._engine_at(as_of, known_at)
            found = self._candidates_for(id, "id", engine=engine, recorded=False)
            if found.is_empty:
                raise
            hit = found.clear_hit
            return found if hit is None else self._show_by_id(hit.id, as_of, known_at)

    def _show_by_id(
        self, id: str, as_of: Moment | None = None, known_at: Moment | None = None
    ) -> (
        listing.ShownMemory
        | ShownSource
        | WholeNode
        | WholeEdge
        | ShownArtifact
        | WholeStoryline
        | WholeMacro
    ):
        item_id = validation.id(id)
        then = read_moments(as_of, known_at, self._engine.clock())
        engine = context_at(self._engine, self.principal, then)
        if source := resolve_source_id(engine, self.principal, item_id):
            shown = show_source(engine, self.principal, source)
            if shown.source.team_id:
                queue_first_extraction(self._engine, self.principal, [shown.source.id])
            return shown
        if item_id.startswith(OF_NODES):
            return show_node(self._engine, self.principal, item_id, then)
        if item_id.startswith(OF_EDGES):
            return show_edge(self._engine, self.principal, item_id)
        if is_story_id(item_id):
            return show_story(self._engine, self.principal, item_id, then)
        if item_id.startswith(OF_ARTIFACTS):
            return show_artifact(self._engine, self.principal, item_id)
        try:
            return listing.show_memory(engine, self.principal, item_id, then)
        except NotFound:
            if find_unambiguous_node(self._engine, self.principal, item_id) is None:
                raise
            return show_node(self._engine, self.principal, item_id, then)

    def _within(self, engine: EngineContext, sources: Texts) -> SearchTargets:
        return read_targets(engine, self.principal, validation.ids(sources, "sources"))

    def _candidates_for(
        self,
        query: str | None,
        instead_of: str,
        sources: Texts | None = None,
        engine: EngineContext | None = None,
        recorded: bool = True,
    ) -> Choice:
        if query is None:
            raise MissingField(f"Give {instead_of} or a query.", field=instead_of)
        chosen = SearchTargets() if sources is None else self._within(self._engine, sources)
        targets = replace(chosen, graph=False)
        text = validation.text(query, "query")
        plan = RecallPlan(query=text, within=targets, strict=True, hits_only=not recorded)
        own = ReadableScope(
            self.principal.own_scope
        )  # items of others cannot be changed or forgotten
        found = recall(engine or self._engine, self.principal, [plan], scopes=(own,))[0]
        return Choice(found.query, found.hits)


# An id, or its beginning: "profile:3", "source:7f…", "3f2a91c0".
_ID = re.compile(r"[a-z]+:\S+|[0-9a-f]{1,8}(?:-[0-9a-f-]*)?|\S*\d\S*", re.IGNORECASE)


def _is_deep(mode: object) -> bool:
    return validation.choice(mode, "mode", SearchMode, {}) is SearchMode.DEEP


def _looks_like_id(text: str) -> bool:
    return _ID.fullmatch(text.strip()) is not None


class QueryVerbs(UserHandle):
    def query(
        self,
        query: str,
        *,
        categories: Texts | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = QUERY_TOP_K,
        returns: str = "bullets",
        budget_tokens: int = QUERY_BUDGET,
        threshold: float | None = None,
        strict: bool = False,
        mode: str = "fast",
        thread: str = MAIN_THREAD,
        turn: int | None = None,
        agent: str | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        include_archived: bool = False,
    ) -> Queried:
        """Answer an agent's question from memory.

        Returns what changed since the agent last asked in this thread, then the best items, as
        bullets or in full, within one token budget. Only categories that the agent may read;
        procedures only with the category procedural. With as_of or known_at, no changes are
        returned. Mode deep also searches other wordings. REST and MCP call it memory.query."""
        handle = self._as(agent)
        admitted = handle._filters(self._of_this_user(filters), categories=categories)
        plan = RecallPlan(
            query=validation.text(query, "query"),
            k=validation.integer(top_k, "top_k", 1, MAX_K),
            budget_tokens=validation.integer(budget_tokens, "budget_tokens", 0, 10_000_000),
            filters=admitted,
            threshold=None
            if threshold is None
            else validation.number(threshold, "threshold", 0, 1),
            strict=validation.flag(strict, "strict"),
            thread_id=validation.word(thread, "thread"),
            turn=optional_integer(turn, "turn", 0, MAX_TURN),
            logged_as="query",
            within=SearchTargets(procedures=_includes_procedures(admitted), graph=True),
            include_archived=validation.flag(include_archived, "include_archived"),
        )
        refuse_metadata_in_past(admitted, as_of, known_at)
        shape = validation.choice(returns, "returns", QueryReturns, {})
        engine = handle._engine_at(as_of, known_at)
        if _is_deep(mode):
            plan = deepen(self._engine, handle.principal, plan)
        today = self._engine if engine is self._engine else None
        owner_asks = self.principal.is_owner and agent is not None
        return run_query(engine, handle.principal, plan, shape, today, in_anothers_name=owner_asks)

    def why(self, thread: str = MAIN_THREAD, turn: int | None = None) -> WhatWasAsked:
        """Show what was asked in a turn, and why it returned that.

        Without a turn: the last one. Needs the setting `recall_log`."""
        return explain_turn(
            self._engine,
            self.principal,
            validation.word(thread, "thread"),
            optional_integer(turn, "turn", 0, MAX_TURN),
        )

    def _of_this_user(self, filters: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """``user_id`` in the filters must be the user of this request."""
        if not isinstance(filters, Mapping) or "user_id" not in filters:
            return filters
        named = filters["user_id"]
        if named is not None and validation.word(named, "user_id") != self.principal.user_id:
            raise NotFound(f"user_id {named!r} is not the user of this request.", field="user_id")
        return {name: value for name, value in filters.items() if name != "user_id"}


def _includes_procedures(filters: Filters) -> bool:
    is_named = not set(ON_REQUEST_KINDS).isdisjoint(filters.kinds)
    return is_named or asks_for_procedures(filters.categories)


MAX_TURNS = 1000
_TURN_FIELDS = ("role", "text")


class UnderstandVerbs(UserHandle):
    def understand(
        self,
        message: str,
        *,
        recent: Sequence[str] | Sequence[Mapping[str, str]] | None = None,
        thread: str | None = None,
    ) -> Understanding:
        """Decide whether a message needs a memory search.

        Returns the reasons and the search query, with follow-ups completed from the conversation
        and abbreviations expanded. Where no rule is sure, a language model is asked, if there is
        one. Call it at the start of a turn, before recall."""
        asked = validation.text(message, "message")
        turns = None if recent is None else read_turns(recent)
        names = find_known_names(self._engine, self.principal, asked)
        return understand_message(
            self._engine,
            self.principal,
            asked,
            turns,
            read_thread(thread),
            names,
            asks_model=True,
        )

    def abbreviations(self) -> Sequence[Abbreviation]:
        """List abbreviations that queries are expanded with.

        Built-in ones and the user's own; forget removes the user's own by id."""
        return list(list_abbreviations(self._engine, self.principal))

    def abbreviate(self, short: str, long: str) -> Abbreviated:
        """Define an abbreviation for queries.

        A short form with capitals matches only that spelling; one in lower case matches any case.
        """
        return abbreviate(self._engine, self._request, short, long)


def read_turns(recent: object) -> list[RecentTurn]:
    """Turns from texts or from maps of role and text, oldest first."""
    if isinstance(recent, str | bytes | Mapping) or not isinstance(recent, Sequence):
        raise InvalidInput("recent must be a list of texts or maps.", field="recent")
    if len(recent) > MAX_TURNS:
        raise TooLong(f"recent holds at most {MAX_TURNS} turns.", field="recent")
    return [_read_turn(each) for each in recent]


def _read_turn(given: Any) -> RecentTurn:
    if isinstance(given, str):
        return RecentTurn(validation.text(given, "recent"))
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"A turn is a text or a map of role and text, not {type(given).__name__}.",
            field="recent",
        )
    validation.known_fields(given, _TURN_FIELDS, "A turn")
    role = given.get("role")
    who = None if role is None else validation.word(role, "recent").lower()
    return RecentTurn(validation.text(given.get("text"), "recent"), who)


MAX_BUDGET = 1_000_000
MAX_PER_STORE = 100


class ContextVerbs(UserHandle):
    def context(
        self,
        query: str | None = None,
        *,
        thread: str = MAIN_THREAD,
        budget_tokens: int = 1300,
        categories: Texts | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        turn: int | None = None,
    ) -> Context:
        """Build prompt context for the start of a turn.

        Contains the agent's identity and rules, the user's profile, changes since the agent last
        looked, and what the query recalls. Never exceeds the budget; the stable part comes first,
        for prompt caching. For a single fact use query."""
        then = read_moments(as_of, known_at, self._engine.clock())
        request = ContextRequest(
            query=None if query is None else validation.text(query, "query"),
            thread=validation.word(thread, "thread"),
            budget=validation.integer(budget_tokens, "budget_tokens", 0, MAX_BUDGET),
            moment=then.known_at or then.as_of or self._engine.clock(),
            categories=self._filters(None, categories=categories).categories,
            is_past=not then.is_now,
            turn=optional_integer(turn, "turn", 0, MAX_TURN),
        )
        return context(context_at(self._engine, self.principal, then), self.principal, request)

    def whole_context(
        self,
        query: str,
        *,
        budget_tokens: int = 4000,
        k: int = 10,
        thread: str | None = None,
        turn: int | None = None,
    ) -> WholeContext:
        """Build prompt context for a broad question.

        The best of each store (memories, profile, each source type), under one token budget."""
        return whole_context(
            self._engine,
            self.principal,
            validation.text(query, "query"),
            k=validation.integer(k, "k", 1, MAX_PER_STORE),
            budget=validation.integer(budget_tokens, "budget_tokens", 0, MAX_BUDGET),
            thread=read_thread(thread),
            turn=optional_integer(turn, "turn", 0, MAX_TURN),
        )

    def context_pack(
        self, query: str | None = None, *, thread: str | None = None, turn: int | None = None
    ) -> ContextPack:
        """Build a plain list of memories for a prompt.

        The 20 newest memories, or the 20 best for a query, as `[kind] text` under one heading.
        Excludes sensitive memories and procedures; at most 4,000 tokens."""
        checked_query = None if query is None else validation.text(query, "query")
        number = optional_integer(turn, "turn", 0, MAX_TURN)
        return context_pack(
            self._engine, self.principal, checked_query, read_thread(thread), number
        )
