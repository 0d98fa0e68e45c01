"""User handle: the caller, the read-only check, and parsing of verb arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import wraps
from inspect import isfunction
from itertools import islice
from typing import Any, Self, TypeVar

from commonplace.errors import CategoryNotAllowed, InvalidInput, NotAllowed, TooLong
from commonplace.lazy import lazy_imports
from commonplace.model import validation
from commonplace.model.access.principal import Principal
from commonplace.model.filters import FILTER_NAMES, Filters
from commonplace.model.jobs import IdempotencyClaim
from commonplace.model.memory.lifecycle import PointInTime

with lazy_imports(__name__):
    from commonplace.engine.access import visibility_of
    from commonplace.engine.context import EngineContext, RequestContext
    from commonplace.engine.history.time_travel import context_at

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)


def named_arguments(names: dict[str, Any], without: Sequence[str] = ()) -> dict[str, Any]:
    """A verb's own arguments, by name."""
    return {name: value for name, value in names.items() if name not in ("self", *without)}


def read_thread(thread: str | None) -> str | None:
    return optional_word(thread, "thread")


def optional_word(value: object, name: str) -> str | None:
    return None if value is None else validation.word(value, name)


def read_cursor(after: object) -> str | None:
    return None if after is None else validation.id(after, "after")


def require_at_most_one(**alternatives: object) -> None:
    given = [name for name, value in alternatives.items() if value is not None]
    if len(given) > 1:
        raise InvalidInput(f"Give {' or '.join(given)}, not both.", field=given[1])


def read_list(items: object, limit: int, field: str = "items") -> Sequence[Any]:
    """Read any iterable up to the limit."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput("The value must be a list.", field=field)
    found = list(islice(items, limit + 1))
    if len(found) > limit:
        raise TooLong(f"A batch holds at most {limit}.", field=field)
    return found


def read_item_fields(item: object) -> dict[str, Any]:
    """One item of a batch: a text, or a map of `remember`'s arguments."""
    if isinstance(item, str):
        return {"content": item}
    if not isinstance(item, Mapping):
        raise InvalidInput("Each item must be a text or a map of fields.", field="items")
    fields = {str(name): value for name, value in item.items()}
    if "thread" in fields:
        fields["thread_id"] = fields.pop("thread")
    return fields


def read_choices(value: object, field: str, of: type[ChoiceT]) -> list[ChoiceT]:
    """One or several values of an enum."""
    listed = [] if value is None else validation.several(value, field)
    return [validation.choice(each, field, of, {}) for each in listed]


def optional_integer(value: int | None, name: str, low: int, high: int) -> int | None:
    return None if value is None else validation.integer(value, name, low, high)


def read_filters(given: Mapping[str, Any] | None, **more: Any) -> Filters:
    """Filters from a map and from a verb's own filter arguments."""
    admitted = validation.filters(given)
    extra = {name: value for name, value in more.items() if value is not None}
    if not extra:
        return admitted
    named = validation.filters(extra)
    twice = [name for name in extra if getattr(admitted, name) not in (None, ())]
    if twice:
        raise InvalidInput(f"{twice[0]} is given twice.", field=twice[0])
    return Filters(
        **{name: getattr(named if name in extra else admitted, name) for name in FILTER_NAMES}
    )


def refuse_metadata_in_past(filters: Filters, as_of: object, known_at: object) -> None:
    if filters.metadata and (as_of is not None or known_at is not None):
        raise InvalidInput(
            "Filters on metadata select by the present.",
            remedy="Leave out as_of and known_at, or the filter.",
            field="filters",
        )


def read_moments(as_of: object, known_at: object, now: datetime) -> PointInTime:
    """``as_of`` may be in the future; ``known_at`` may not."""
    then = PointInTime(
        None if as_of is None else validation.when(as_of, "as_of"),
        None if known_at is None else validation.when(known_at, "known_at"),
    )
    if then.known_at is not None and then.known_at > now:
        raise InvalidInput(
            "known_at must not be in the future.",
            remedy="Use as_of for what will be true then.",
            field="known_at",
        )
    return then


def refuse_forgotten_in_past(forgotten: object, as_of: object, known_at: object) -> None:
    if forgotten and (as_of is not None or known_at is not None):
        raise InvalidInput(
            "forgotten cannot be combined with as_of or known_at.",
            remedy="Leave out as_of and known_at.",
            field="forgotten",
        )


MAX_K = 1000
MAX_BATCH = 1000
MAX_TURN = 2**62

Texts = str | Sequence[str]
Moment = str | datetime

# The verbs of a read-only key. A verb that is not listed is refused, so an omission is safe; a test
# compares the list with the table of operations.
READ_VERBS = frozenset(
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
        "forget_requests",
        "history",
        "jobs",
        "keys",
        "list",
        "macros",
        "model_usage",
        "profile",
        "proposals",
        "query",
        "recall",
        "recall_many",
        "show",
        "sleep_log",
        "sources",
        "sources_invitations",
        "stats",
        "storylines",
        "teams",
        "teams_show",
        "understand",
        "verify_forget",
        "whole_context",
        "why",
    }
)


class UserHandle:
    def __init_subclass__(cls, **more: Any) -> None:
        """Wrap every writing verb with the read-only check."""
        super().__init_subclass__(**more)
        for name, member in list(vars(cls).items()):
            if isfunction(member) and not name.startswith("_") and name not in READ_VERBS:
                setattr(cls, name, _refuse_read_only(member))

    def __init__(
        self,
        engine: EngineContext,
        principal: Principal,
        precondition: Callable[[], None] = lambda: None,
        claim: IdempotencyClaim | None = None,
    ):
        self._engine = engine
        self._caller = principal
        self._precondition = precondition
        self._claim = claim

    @property
    def principal(self) -> Principal:
        """The caller, with the categories that the categories file allows at this moment."""
        agent = self._caller.agent
        if agent is None:
            return self._caller
        return self._caller.allowed_to_see(self._engine.categories().allowed(agent))

    @property
    def _request(self) -> RequestContext:
        return RequestContext(self.principal, self._precondition, self._claim)

    def _for(self, principal: Principal) -> Self:
        """A handle for another principal in the same request."""
        return type(self)(self._engine, principal, self._precondition, self._claim)

    def _as(self, agent: str | None) -> Self:
        """A handle for the agent that a request names; it can only restrict the caller's rights."""
        if agent is None:
            return self
        name = validation.word(agent, "agent")
        if self._caller.agent not in (None, name):
            raise NotAllowed(
                f"{self._caller.agent} cannot act as {name}.",
                remedy="Ask as the owner, or as that agent itself.",
                field="agent",
            )
        return self._for(self._caller.as_agent(name))

    def _filters(self, filters: Mapping[str, Any] | None, **more: Any) -> Filters:
        """The filters of a request. An agent cannot name categories that it may not see."""
        admitted = read_filters(filters, **more)
        principal = self.principal
        for category in admitted.categories:
            if not visibility_of(principal).admits_category(category):
                raise CategoryNotAllowed(
                    f"{principal.agent} may not read the category {category!r}.", field="categories"
                )
        return admitted

    def _refuse_read_only_keys(self) -> None:
        if self._caller.read_only:
            raise read_only_error()

    def _require_owner(self, what: str) -> None:
        """For verbs that would reveal hidden items to an agent."""
        if not self.principal.is_owner:
            raise NotAllowed(f"Only the owner may {what}.")

    def _refuse_team_keys(self, what: str) -> None:
        """For verbs outside the scope of a team's key."""
        if self.principal.team is not None:
            raise NotAllowed(
                f"This API key is limited to one team: it may not {what}.",
                remedy="Use a key that is not limited to a team.",
            )

    def _refuse_all_keys(self, what: str) -> None:
        """For verbs that would reveal other users to the holder of a key."""
        if self.principal.key is not None:
            raise NotAllowed(
                f"An API key may not {what}.",
                remedy="Run it on the machine that has the store, without a key.",
            )

    def _moments(self, as_of: Moment | None, known_at: Moment | None) -> PointInTime:
        return read_moments(as_of, known_at, self._engine.clock())

    def _engine_at(self, as_of: Moment | None, known_at: Moment | None) -> EngineContext:
        """The engine context as of a point in time; its reads record no access."""
        return context_at(
            self._engine, self.principal, read_moments(as_of, known_at, self._engine.clock())
        )


def read_only_error() -> NotAllowed:
    return NotAllowed("This API key is read-only.", remedy="Use a key with write access.")


def _refuse_read_only(verb: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(verb)
    def checked(self: UserHandle, *arguments: Any, **named: Any) -> Any:
        self._refuse_read_only_keys()
        return verb(self, *arguments, **named)

    return checked


def as_list(texts: Texts) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts
