"""Pages of a list: the next one begins behind the last item of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from commonplace.errors import NotFound


class Named(Protocol):
    @property
    def id(self) -> str: ...


Item = TypeVar("Item", bound=Named)


def page(found: Sequence[Item], after: str | None, limit: int) -> list[Item]:
    """So many, from the beginning or behind the item that is named."""
    behind = following(found, after)
    if behind is None:
        raise NotFound(f"Unknown cursor: after={after!r}.", field="after")
    return behind[:limit]


def following(found: Sequence[Item], after: str | None) -> list[Item] | None:
    """None: what is named is not among them."""
    if after is None:
        return list(found)
    places = [place for place, item in enumerate(found) if item.id == after]
    return list(found[places[0] + 1 :]) if places else None
