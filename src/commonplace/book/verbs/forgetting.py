"""Forgetting, restoring, erasing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from commonplace.book.requests import one_of, thread_name
from commonplace.book.verbs.handle import Texts
from commonplace.book.verbs.recalling import Recalling
from commonplace.errors import MissingField, NotFound
from commonplace.graph.find import node_called
from commonplace.ingest.look_for import ORIGINALS, stands_in_originals
from commonplace.model import check
from commonplace.recall.pack import Choice
from commonplace.remember.erase import Erased, erase, erase_user
from commonplace.remember.forget import Forgotten, Restored, forget, forget_matching, restore
from commonplace.remember.whose import acting_on


@dataclass(frozen=True, slots=True)
class Verified:
    """Where a text still stands."""

    found_in: tuple[str, ...]
    scrub_pending: bool

    @property
    def clean(self) -> bool:
        return not self.found_in


class Forgetting(Recalling):
    def forget(
        self,
        ids: Texts | None = None,
        *,
        query: str | None = None,
        kinds: Texts | None = None,
        categories: Texts | None = None,
        source_type: str | None = None,
        source_id: str | None = None,
        older_than_days: float | None = None,
        filters: Mapping[str, Any] | None = None,
        thread: str | None = None,
    ) -> Forgotten | Choice:
        """Forget items by id or filter; restorable for 30 days.

        By query: lists candidates and forgets nothing. Look the item up, then forget it by id."""
        one_of(ids=ids, query=query)
        if ids is not None:
            wanted = check.ids(ids)
            with self._telling_the_ids_of(wanted):
                acting = acting_on(self._desk, self.principal, wanted)
                return forget(self._desk, acting, wanted, thread_name(thread))
        if query is not None:
            return self._choice(query, "ids")
        admitted = self._filters(
            filters,
            kinds=kinds,
            categories=categories,
            source_type=source_type,
            source_id=source_id,
            created_before=self._days_ago(older_than_days),
        )
        if admitted.is_empty:
            raise MissingField("Give ids, a query or a filter.", field="ids")
        return forget_matching(self._desk, self.principal, admitted, thread_name(thread))

    def restore(self, ids: Texts, *, thread: str | None = None) -> Restored:
        """Restore what was forgotten, overridden or superseded.

        Possible until it is purged."""
        wanted = check.ids(ids)
        acting = acting_on(self._desk, self.principal, wanted)
        return restore(self._desk, acting, wanted, thread_name(thread))

    def erase(self, ids: Texts, *, now: bool = False, thread: str | None = None) -> Erased:
        """Erase items permanently, with all derived data.

        Cannot be undone. now: wait for the compaction that removes the last bytes from the files.
        """
        now_too = check.flag(now, "now")
        wanted = check.ids(ids)
        with self._telling_the_ids_of(wanted):
            acting = acting_on(self._desk, self.principal, wanted)
            return erase(self._desk, acting, wanted, now_too, thread_name(thread))

    @contextmanager
    def _telling_the_ids_of(self, wanted: Sequence[str]) -> Iterator[None]:
        """What is taken away is named by its id, since a name may be another's than was thought;
        whoever gives one is told which node it is."""
        try:
            yield
        except NotFound as error:
            for each in wanted:
                if node := node_called(self._desk, self.principal, each):
                    told = f"Give its id: {node.id} is called {node.name!r}."
                    raise NotFound(error.message, remedy=told, field="ids") from None
            raise

    def erase_user(self, *, now: bool = False) -> Erased:
        """Erase this user's whole memory permanently.

        Cannot be undone."""
        self._for_the_whole_person("erase a whole memory")
        return erase_user(self._desk, self.principal, check.flag(now, "now"))

    def verify_forget(self, text: str, *, files: bool = False) -> Verified:
        """Check whether a text is still stored anywhere.

        Looks in this user's memory; with files also in the bytes of the store's files (SQLite), of
        all users."""
        self._owner_only("look for a text in all of a memory")
        sought = check.text(text, "text")
        raw = check.flag(files, "files")
        if raw:
            self._with_the_store_in_hand("look into the store's files")
        scope = self.principal.scope
        found = self._desk.store.mentions(scope, sought, files=raw)
        if ORIGINALS not in found and stands_in_originals(self._desk, scope, sought):
            found.append(ORIGINALS)
        receipts = self._desk.store.census(self.principal.scope).receipts
        return Verified(tuple(found), any(r.scrubbed_at is None for r in receipts))

    def _days_ago(self, days: float | None) -> datetime | None:
        if days is None:
            return None
        span = check.number(days, "older_than_days", 0, check.MAX_DAYS)
        return self._desk.clock() - timedelta(days=span)
