"""What a verb was asked, checked and in one shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any, TypeVar

from commonplace.errors import InvalidInput, TooLong
from commonplace.model import check
from commonplace.model.filters import FILTER_NAMES, Filters
from commonplace.model.time_travel import Then

Choice = TypeVar("Choice", bound=StrEnum)


def given(names: dict[str, Any], without: Sequence[str] = ()) -> dict[str, Any]:
    """A verb's own arguments, by name."""
    return {name: value for name, value in names.items() if name not in ("self", *without)}


def thread_name(thread: str | None) -> str | None:
    return optional_word(thread, "thread")


def optional_word(value: object, name: str) -> str | None:
    return None if value is None else check.word(value, name)


def page_after(after: object) -> str | None:
    return None if after is None else check.id(after, "after")


def one_of(**alternatives: object) -> None:
    given = [name for name, value in alternatives.items() if value is not None]
    if len(given) > 1:
        raise InvalidInput(f"Give {' or '.join(given)}, not both.", field=given[1])


def listed(items: object, limit: int, field: str = "items") -> Sequence[Any]:
    """Whatever can be gone through, as lists of words are; no further than the limit."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput("The value must be a list.", field=field)
    found = list(islice(items, limit + 1))
    if len(found) > limit:
        raise TooLong(f"A batch holds at most {limit}.", field=field)
    return found


def fields_of(item: object) -> dict[str, Any]:
    """One of a batch: a text, or the fields that `remember` takes."""
    if isinstance(item, str):
        return {"content": item}
    if not isinstance(item, Mapping):
        raise InvalidInput("Each item must be a text or a map of fields.", field="items")
    fields = {str(name): value for name, value in item.items()}
    if "thread" in fields:
        fields["thread_id"] = fields.pop("thread")
    return fields


def choices(value: object, field: str, of: type[Choice]) -> list[Choice]:
    """One or several words of a closed list."""
    listed = [] if value is None else check.several(value, field)
    return [check.choice(each, field, of, {}) for each in listed]


def optional_integer(value: int | None, name: str, low: int, high: int) -> int | None:
    return None if value is None else check.integer(value, name, low, high)


def filters_from(given: Mapping[str, Any] | None, **more: Any) -> Filters:
    """Filters from a map and from the arguments that a verb has for the commonest of them."""
    admitted = check.filters(given)
    extra = {name: value for name, value in more.items() if value is not None}
    if not extra:
        return admitted
    named = check.filters(extra)
    twice = [name for name in extra if getattr(admitted, name) not in (None, ())]
    if twice:
        raise InvalidInput(f"{twice[0]} is given twice.", field=twice[0])
    return Filters(
        **{name: getattr(named if name in extra else admitted, name) for name in FILTER_NAMES}
    )


def moments(as_of: object, known_at: object, now: datetime) -> Then:
    """Plans for a day to come can be asked about; what will be known on it, nobody knows."""
    then = Then(
        None if as_of is None else check.when(as_of, "as_of"),
        None if known_at is None else check.when(known_at, "known_at"),
    )
    if then.known_at is not None and then.known_at > now:
        raise InvalidInput(
            "known_at must not be in the future.",
            remedy="Use as_of for what will be true then.",
            field="known_at",
        )
    return then


def refuse_both(forgotten: object, as_of: object, known_at: object) -> None:
    if forgotten and (as_of is not None or known_at is not None):
        raise InvalidInput(
            "forgotten cannot be combined with as_of or known_at.",
            remedy="Leave out as_of and known_at.",
            field="forgotten",
        )
