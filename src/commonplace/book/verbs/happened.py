"""What happened: changes, histories, events."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.book.requests import optional_integer, page_after
from commonplace.book.verbs.handle import MAX_K, Handle
from commonplace.desk import placed_for
from commonplace.model import check
from commonplace.model.delta import Delta
from commonplace.model.journal import ChangeRow, EventRow, HistoryRow
from commonplace.recall import changes as journal_views
from commonplace.recall.look_up_sources import known_source


class Happened(Handle):
    def changes(self, thread: str = "main", *, since: int | None = None) -> Delta:
        """List changes since this agent last looked.

        Per thread; moves the agent's read marker."""
        start = optional_integer(since, "since", 0, 2**62)
        return journal_views.changes(
            self._desk, self.principal, check.word(thread, "thread"), start
        )

    def history(self, id: str) -> Sequence[HistoryRow]:
        """Show the history of one item, newest first.

        Who did what, when; contains no text."""
        wanted = check.id(id)
        source = known_source(self._desk, self.principal, wanted) or wanted
        placed = placed_for(self._desk, self.principal, source)
        return journal_views.history(self._desk, placed, source)

    def change_log(
        self, thread: str, *, limit: int = 50, after: str | None = None
    ) -> Sequence[ChangeRow]:
        """List the changes made in one thread, newest first."""
        most = check.integer(limit, "limit", 1, MAX_K)
        return journal_views.change_log(
            self._desk, self.principal, check.word(thread, "thread"), most, page_after(after)
        )

    def events(self, *, limit: int = 50, after: str | None = None) -> Sequence[EventRow]:
        """List recent operations, reads included."""
        self._desk.books.flush()
        most = check.integer(limit, "limit", 1, MAX_K)
        return journal_views.events(self._desk, self.principal, most, page_after(after))
