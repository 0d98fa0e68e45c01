"""What every verb starts from: whose memory it is, and who asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Self

from commonplace.book.requests import filters_from, moments
from commonplace.desk import Desk, visibility_of
from commonplace.errors import CategoryNotAllowed, NotAllowed
from commonplace.model import check
from commonplace.model.filters import Filters
from commonplace.model.scope import Principal
from commonplace.recall.past import desk_at

MAX_K = 1000
MAX_BATCH = 1000
MAX_TURN = 2**62

Texts = str | Sequence[str]
Moment = str | datetime


class Handle:
    def __init__(self, desk: Desk, principal: Principal):
        self._desk = desk
        self._asking = principal

    @property
    def principal(self) -> Principal:
        """Who asks, with what the file of categories lets them see at this moment."""
        agent = self._asking.agent
        if agent is None:
            return self._asking
        return self._asking.allowed_to_see(self._desk.categories().allowed(agent))

    def _as(self, agent: str | None) -> Self:
        """In the hands of the agent that a request names: it narrows who asks, never widens."""
        if agent is None:
            return self
        name = check.word(agent, "agent")
        if self._asking.agent not in (None, name):
            raise NotAllowed(
                f"{self._asking.agent} cannot act as {name}.",
                remedy="Begin from the owner's handle: book.user(…).agent(…).",
                field="agent",
            )
        return type(self)(self._desk, self._asking.as_agent(name))

    def _filters(self, filters: Mapping[str, Any] | None, **more: Any) -> Filters:
        """What a request narrows a verb to; an agent cannot name what it may not see."""
        admitted = filters_from(filters, **more)
        principal = self.principal
        for category in admitted.categories:
            if not visibility_of(principal).admits_category(category):
                raise CategoryNotAllowed(
                    f"{principal.agent} may not see {category!r}.", field="categories"
                )
        return admitted

    def _owner_only(self, what: str) -> None:
        """An agent could learn from it of what it may not see."""
        if not self.principal.is_owner:
            raise NotAllowed(f"Only the owner may {what}.")

    def _desk_at(self, as_of: Moment | None, known_at: Moment | None) -> Desk:
        """Where the memory lies as it stood then; reads done there touch nothing."""
        return desk_at(self._desk, self.principal, moments(as_of, known_at, self._desk.clock()))


def several(texts: Texts) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts
