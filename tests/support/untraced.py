"""Reading without leaving a trace, so that a test can read twice and compare."""

from __future__ import annotations

from dataclasses import replace

from commonplace.book import Commonplace, User
from commonplace.bookkeeper import Bookkeeper
from commonplace.model.changes import Bookkeeping


class _NoBooks(Bookkeeper):
    """Bookkeeping may be lost; this one always loses it."""

    def later(self, bookkeeping: Bookkeeping) -> None:
        return None


def untraced(book: Commonplace, user_id: str) -> User:
    desk = book._desk
    return Commonplace(replace(desk, books=_NoBooks(desk.store))).user(user_id, cleared=True)
