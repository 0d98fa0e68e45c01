"""What every verb starts from: whose memory it is, and who asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from inspect import isfunction
from typing import Any, Self

from commonplace.book.requests import filters_from, moments
from commonplace.desk import Desk, visibility_of
from commonplace.errors import CategoryNotAllowed, NotAllowed
from commonplace.model import check
from commonplace.model.filters import Filters
from commonplace.model.scope import Principal
from commonplace.model.time_travel import Then
from commonplace.recall.past import desk_at

MAX_K = 1000
MAX_BATCH = 1000
MAX_TURN = 2**62

Texts = str | Sequence[str]
Moment = str | datetime

# What a read-only key may call. A verb that is not named here is refused, so that one that was
# forgotten closes a door and opens none; a test holds the list to the table of operations.
READS = frozenset(
    {
        "abbreviations",
        "agent",
        "categories",
        "categories_check",
        "categories_explain",
        "artifact",
        "artifacts",
        "concepts",
        "contributions",
        "edges",
        "entities",
        "explore",
        "graph",
        "node",
        "people",
        "traverse",
        "change_log",
        "changes",
        "conflicts",
        "context",
        "context_pack",
        "doctor",
        "events",
        "export",
        "history",
        "jobs",
        "keys",
        "list",
        "profile",
        "proposals",
        "query",
        "recall",
        "recall_many",
        "show",
        "sources",
        "stats",
        "teams",
        "teams_show",
        "understand",
        "verify_forget",
        "whole_context",
        "why",
    }
)


class Handle:
    def __init_subclass__(cls, **more: Any) -> None:
        """Every verb that writes asks first whether it may: here, and not in each of them."""
        super().__init_subclass__(**more)
        for name, member in list(vars(cls).items()):
            if isfunction(member) and not name.startswith("_") and name not in READS:
                setattr(cls, name, _refused_to_readers(member))

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
                remedy="Ask as the owner, or as that agent itself.",
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
                    f"{principal.agent} may not read the category {category!r}.", field="categories"
                )
        return admitted

    def _refuse_readers(self) -> None:
        if self._asking.read_only:
            raise NotAllowed("This API key is read-only.", remedy="Use a key with write access.")

    def _owner_only(self, what: str) -> None:
        """An agent could learn from it of what it may not see."""
        if not self.principal.is_owner:
            raise NotAllowed(f"Only the owner may {what}.")

    def _for_the_whole_person(self, what: str) -> None:
        """A key for one team does not reach so far."""
        if self.principal.team is not None:
            raise NotAllowed(
                f"This API key is limited to one team: it may not {what}.",
                remedy="Use a key that is not limited to a team.",
            )

    def _with_the_store_in_hand(self, what: str) -> None:
        """It would tell the holder of a key about everybody."""
        if self.principal.key is not None:
            raise NotAllowed(
                f"An API key may not {what}.",
                remedy="Run it on the machine that has the store, without a key.",
            )

    def _moments(self, as_of: Moment | None, known_at: Moment | None) -> Then:
        return moments(as_of, known_at, self._desk.clock())

    def _desk_at(self, as_of: Moment | None, known_at: Moment | None) -> Desk:
        """Where the memory lies as it stood then; reads done there touch nothing."""
        return desk_at(self._desk, self.principal, moments(as_of, known_at, self._desk.clock()))


def _refused_to_readers(verb: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(verb)
    def asked(self: Handle, *arguments: Any, **named: Any) -> Any:
        self._refuse_readers()
        return verb(self, *arguments, **named)

    return asked


def several(texts: Texts) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts
