"""A night of maintenance, and the memories that are there before and after it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from commonplace.api import Commonplace, User
from commonplace.model.filters import Visibility
from commonplace.model.memory.memory import Memory, State
from commonplace.model.sleep import NIGHTLY_TASKS, SUNDAY, WEEKLY_TASKS
from commonplace.store.queries import MemoryListing

_PAGE = 500


def sleep_after(me: User, day: date) -> None:
    """The nightly tasks; after a Sunday the weekly ones, too."""
    is_sunday = day.weekday() == SUNDAY
    me.sleep(tasks=[*NIGHTLY_TASKS, *(WEEKLY_TASKS if is_sunday else ())])


def memories_of(book: Commonplace, me: User, state: State = State.ACTIVE) -> list[Memory]:
    """All of a state; active ones only while they have not expired."""
    return list(_pages(book, me, state))


def _pages(book: Commonplace, me: User, state: State) -> Iterator[Memory]:
    engine, after = book._engine, None
    while True:
        listing = MemoryListing(
            visibility=Visibility(cleared=True),
            now=engine.clock() if state is State.ACTIVE else None,
            states=(state,),
            limit=_PAGE,
            after=after,
        )
        page = engine.store.page(me.principal.own_scope, listing)
        yield from page
        if len(page) < _PAGE:
            return
        after = page[-1].id
