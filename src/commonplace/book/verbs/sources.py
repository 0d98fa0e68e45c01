"""Sources: experiences kept whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from commonplace.book.guests import Shared, share, share_with_participants, unshare
from commonplace.book.originals import original_from
from commonplace.book.requests import (
    choices,
    given,
    optional_word,
    page_after,
    refuse_both,
    thread_name,
)
from commonplace.book.verbs.handle import MAX_K, Handle, Moment, Texts, several
from commonplace.book.which_team import member_of
from commonplace.book.work import kinds_of_work
from commonplace.ingest.ingest import Ingested, ingest
from commonplace.model import check
from commonplace.model.memory import State
from commonplace.model.reach import Reading
from commonplace.model.scope import Principal
from commonplace.model.source import SourceType, Status
from commonplace.recall.look_up_sources import SourcePage, known_source, list_sources
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
        ttl_policy: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        thread: str | None = None,
        team: str | None = None,
        wait: bool = True,
    ) -> Ingested:
        """Ingest a source: chat, email, meeting, file or text.

        The original is stored whole and its passages become searchable. Give a file path or the
        content. The same content again changes nothing; with append, a part is added to the source
        with that external_id. With team: all members of the team can read it. Participants who are
        users can read it, too."""
        taken = original_from(given(locals(), without=("wait", "team")))
        see_through = Worker(self._desk, kinds_of_work(self._desk)).see_through
        waits = check.flag(wait, "wait")
        acting = self._in_team(team)
        done = ingest(self._desk, acting, taken, see_through if waits else None)
        share_with_participants(self._desk, acting, done.source, taken.participants)
        return done

    def _in_team(self, team: str | None) -> Principal:
        wanted = optional_word(team, "team")
        if wanted is None:
            return self.principal
        one = member_of(self._desk, self.principal, wanted)
        return self.principal.in_team(one.team_id, one.manages)

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
        team: str | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> SourcePage:
        """List sources, newest first.

        Your own, your teams' and those shared with you. team: only that team's; `none`: only your
        own. forgotten: those that can be restored. as_of: what was said by then. known_at: what was
        known then."""
        refuse_both(forgotten, as_of, known_at)
        gone = check.flag(forgotten, "forgotten")
        listing = SourceListing(
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
        )
        desk, last = self._desk_at(as_of, known_at), page_after(after)
        readings = self._readings(team or ("none" if gone else None))
        if gone and team is not None and not self._in_team(team).manages:
            listing = replace(listing, brought_by=self.principal.user_id)
        return list_sources(desk, self.principal, listing, last, readings)

    def sources_share(self, id: str, with_user: str) -> Shared:
        """Share one source with another user of this store.

        The user can read all of this source and nothing else."""
        self._owner_only("share a source")
        return share(
            self._desk, self.principal, self._source_id(id), check.word(with_user, "with_user")
        )

    def sources_unshare(self, id: str, *, with_user: str | None = None) -> Shared:
        """Stop sharing a source with a user.

        Without a user: give up a source that was shared with you; this is final."""
        self._owner_only("end a share")
        guest = optional_word(with_user, "with_user")
        return unshare(self._desk, self.principal, self._source_id(id), guest)

    def _source_id(self, id: str) -> str:
        wanted = check.id(id)
        return known_source(self._desk, self.principal, wanted) or wanted

    def _readings(self, team: str | None) -> tuple[Reading, ...] | None:
        """Of one team, of nobody else, or (None) of all that may be read."""
        match optional_word(team, "team"):
            case None:
                return None
            case "none":
                return (Reading(self.principal.home),)
            case wanted:
                scope = member_of(self._desk, self.principal, wanted).team_scope
                return (Reading(scope, is_own=False),)
