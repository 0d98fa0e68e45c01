"""Text for a prompt."""

from __future__ import annotations

from commonplace.book.requests import moments, optional_integer, thread_name
from commonplace.book.verbs.handle import MAX_TURN, Handle, Moment, Texts
from commonplace.model import check
from commonplace.model.recall_log import MAIN
from commonplace.recall.context.cards import Asked
from commonplace.recall.context.context import context
from commonplace.recall.context.simple import ContextPack, context_pack
from commonplace.recall.context.values import Context
from commonplace.recall.context.whole import WholeContext, whole_context
from commonplace.recall.past import desk_at

MAX_BUDGET = 1_000_000
MAX_OF_EACH = 100


class Contexts(Handle):
    def context(
        self,
        query: str | None = None,
        *,
        thread: str = MAIN,
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
        then = moments(as_of, known_at, self._desk.clock())
        asked = Asked(
            query=None if query is None else check.text(query, "query"),
            thread=check.word(thread, "thread"),
            budget=check.integer(budget_tokens, "budget_tokens", 0, MAX_BUDGET),
            moment=then.known_at or then.as_of or self._desk.clock(),
            categories=self._filters(None, categories=categories).categories,
            is_past=not then.is_now,
            turn=optional_integer(turn, "turn", 0, MAX_TURN),
        )
        return context(desk_at(self._desk, self.principal, then), self.principal, asked)

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
            self._desk,
            self.principal,
            check.text(query, "query"),
            k=check.integer(k, "k", 1, MAX_OF_EACH),
            budget=check.integer(budget_tokens, "budget_tokens", 0, MAX_BUDGET),
            thread=thread_name(thread),
            turn=optional_integer(turn, "turn", 0, MAX_TURN),
        )

    def context_pack(
        self, query: str | None = None, *, thread: str | None = None, turn: int | None = None
    ) -> ContextPack:
        """Build a plain list of memories for a prompt.

        The 20 newest memories, or the 20 best for a query, as `[kind] text` under one heading.
        Excludes sensitive memories and procedures; at most 4,000 tokens."""
        asked = None if query is None else check.text(query, "query")
        number = optional_integer(turn, "turn", 0, MAX_TURN)
        return context_pack(self._desk, self.principal, asked, thread_name(thread), number)
