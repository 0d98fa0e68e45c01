"""The agents' single tool, and what was asked with it before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commonplace.book.requests import optional_integer
from commonplace.book.verbs.handle import MAX_K, MAX_TURN, Handle, Moment, Texts
from commonplace.errors import NotFound
from commonplace.model import check
from commonplace.model.filters import Filters
from commonplace.model.kinds import Kind
from commonplace.model.recall_log import MAIN
from commonplace.recall.plan import Plan
from commonplace.recall.query import BUDGET, TOP_K, Queried, Returns, run_query
from commonplace.recall.why import WhatWasAsked, look_why
from commonplace.recall.within import Within

PROCEDURAL = "procedural"


class Querying(Handle):
    def query(
        self,
        query: str,
        *,
        categories: Texts | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = TOP_K,
        returns: str = "bullets",
        budget_tokens: int = BUDGET,
        threshold: float | None = None,
        thread: str = MAIN,
        turn: int | None = None,
        agent: str | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> Queried:
        """Answer an agent's question from memory.

        Returns what changed since the agent last asked in this thread, then the best items, as
        bullets or in full, within one token budget. Only categories that the agent may read;
        procedures only with the category procedural. With as_of or known_at, no changes are
        returned. REST and MCP call it memory.query."""
        asking = self._as(agent)
        admitted = asking._filters(self._of_this_user(filters), categories=categories)
        plan = Plan(
            query=check.text(query, "query"),
            k=check.integer(top_k, "top_k", 1, MAX_K),
            budget_tokens=check.integer(budget_tokens, "budget_tokens", 0, 10_000_000),
            filters=admitted,
            threshold=None if threshold is None else check.number(threshold, "threshold", 0, 1),
            thread_id=check.word(thread, "thread"),
            turn=optional_integer(turn, "turn", 0, MAX_TURN),
            logged_as="query",
            within=Within(procedures=_asks_for_procedures(admitted)),
        )
        shape = check.choice(returns, "returns", Returns, {})
        desk = asking._desk_at(as_of, known_at)
        today = self._desk if desk is self._desk else None
        owner_asks = self.principal.is_owner and agent is not None
        return run_query(desk, asking.principal, plan, shape, today, in_anothers_name=owner_asks)

    def why(self, thread: str = MAIN, turn: int | None = None) -> WhatWasAsked:
        """Show what was asked in a turn, and why it returned that.

        Without a turn: the last one. Needs the setting `recall_log`."""
        return look_why(
            self._desk,
            self.principal,
            check.word(thread, "thread"),
            optional_integer(turn, "turn", 0, MAX_TURN),
        )

    def _of_this_user(self, filters: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """A request may say whose memory it means; it cannot mean another one."""
        if not isinstance(filters, Mapping) or "user_id" not in filters:
            return filters
        named = filters["user_id"]
        if named is not None and check.word(named, "user_id") != self.principal.user_id:
            raise NotFound(f"user_id {named!r} is not the user of this request.", field="user_id")
        return {name: value for name, value in filters.items() if name != "user_id"}


def _asks_for_procedures(filters: Filters) -> bool:
    return PROCEDURAL in filters.categories or Kind.PROCEDURE in filters.kinds
