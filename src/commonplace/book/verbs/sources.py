"""Sources: experiences kept whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from commonplace.book.originals import original_from
from commonplace.book.requests import choices, given, refuse_both, thread_name
from commonplace.book.verbs.handle import MAX_K, Handle, Moment, Texts, several
from commonplace.book.work import kinds_of_work
from commonplace.desk import visibility_of
from commonplace.ingest.ingest import Ingested, ingest
from commonplace.model import check
from commonplace.model.memory import State
from commonplace.model.source import SourceType, Status
from commonplace.recall.look_up_sources import SourcePage, list_sources
from commonplace.sleep.worker import Worker
from commonplace.store.port import SourceListing


class Sources(Handle):
    def ingest(
        self,
        original: str | bytes | Path,
        *,
        format: str | None = None,
        title: str | None = None,
        date: Moment | None = None,
        external_id: str | None = None,
        origin: str | None = None,
        append: bool = False,
        source_type: str | None = None,
        context_type: str | None = None,
        participants: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        sensitivity: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        thread: str | None = None,
        wait: bool = True,
    ) -> Ingested:
        """Keep an experience whole and make its passages searchable: a conversation, an e-mail, a
        meeting, a text; by the path of a file, or by its content. The same again adds nothing;
        with append, a further part is added to the source of that external_id."""
        taken = original_from(given(locals(), without=("wait",)))
        see_through = Worker(self._desk, kinds_of_work(self._desk)).see_through
        waits = check.flag(wait, "wait")
        return ingest(self._desk, self.principal, taken, see_through if waits else None)

    def sources(
        self,
        *,
        source_types: Texts | None = None,
        status: Texts | None = None,
        tags: Texts | None = None,
        thread: str | None = None,
        origin: str | None = None,
        said_after: Moment | None = None,
        said_before: Moment | None = None,
        limit: int = 50,
        after: str | None = None,
        forgotten: bool = False,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> SourcePage:
        """Browse sources, newest first. With forgotten: those that restore can bring back. With
        as_of: what was said by then; with known_at: what was known then."""
        refuse_both(forgotten, as_of, known_at)
        gone = check.flag(forgotten, "forgotten")
        listing = SourceListing(
            visibility=visibility_of(self.principal),
            states=(State.SOFT_DELETED,) if gone else (State.ACTIVE,),
            restorable_at=self._desk.clock() if gone else None,
            types=tuple(str(each) for each in choices(source_types, "source_types", SourceType)),
            statuses=tuple(str(each) for each in choices(status, "status", Status)),
            tags=() if tags is None else check.words(several(tags), "tags"),
            thread_id=thread_name(thread),
            origin=None if origin is None else check.word(origin, "origin"),
            said_after=None if said_after is None else check.when(said_after, "said_after"),
            said_before=None if said_before is None else check.when(said_before, "said_before"),
            limit=check.integer(limit, "limit", 1, MAX_K) + 1,
            after=None if after is None else check.id(after, "after"),
        )
        return list_sources(self._desk_at(as_of, known_at), self.principal, listing)
