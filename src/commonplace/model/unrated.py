"""What the delta header asks of every item, answered for those that nobody rates or disputes."""

from __future__ import annotations

USUAL = 2  # importance, as of a memory of which nothing is said


class Unrated:
    """Sources, and what is in the graph."""

    __slots__ = ()

    @property
    def importance(self) -> int:
        return USUAL

    @property
    def conflict(self) -> str | None:
        return None
