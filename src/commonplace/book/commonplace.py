"""An open store."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Self

from commonplace.book.user import User
from commonplace.desk import Desk
from commonplace.errors import CommonplaceError
from commonplace.model import check
from commonplace.model.lifecycle import LIFETIMES
from commonplace.model.scope import Principal
from commonplace.sleep.tidy import scrub

log = logging.getLogger("commonplace")

TIDIED_WHEN_OPENED = 200  # scopes; the rest are tidied when they come up next


class Commonplace:
    """An open store. Use it as a context manager, or call `close`."""

    def __init__(self, desk: Desk):
        self._desk = desk

    def user(self, user_id: str, *, cleared: bool = False) -> User:
        """The handle of one user. Cleared ones see sensitivity high in lists and searches."""
        return User(self._desk, Principal(check.word(user_id, "user_id"), cleared=cleared))

    @property
    def url(self) -> str:
        return self._desk.store.url

    def flush(self) -> None:
        """Wait until what was read is written down."""
        self._desk.books.flush()

    def tidy_what_is_due(self) -> None:
        """Once a day for each user, whether or not a worker runs."""
        due = self._desk.clock() - LIFETIMES.tidy_every
        for scope in self._desk.store.scopes(tidied_before=due)[:TIDIED_WHEN_OPENED]:
            owner = User(self._desk, Principal(scope.name, cleared=True))
            try:
                owner._tidy_without_compaction()
            except CommonplaceError as error:  # one user's trouble does not close the store
                log.warning("tidying has to wait: %s", error.code)
        scrub(self._desk)

    def close(self) -> None:
        self._desk.books.close()
        self._desk.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
