"""Looking after a memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from commonplace.book.requests import choices, page_after
from commonplace.book.verbs.handle import MAX_K, Handle, Texts
from commonplace.language.models.embedder import Vectors
from commonplace.language.suspicious import is_suspicious
from commonplace.model import check
from commonplace.model.job import JobState
from commonplace.model.journal import Node
from commonplace.model.memory import Memory
from commonplace.model.portable import from_lines, to_lines
from commonplace.model.scope import Principal
from commonplace.recall import look_up
from commonplace.recall.stats import Stats, stats
from commonplace.remember.bring_in import Imported, bring_in
from commonplace.remember.link import link_late
from commonplace.remember.merge import Merged, merge
from commonplace.sleep.doctor import Finding, examine
from commonplace.sleep.jobs import Owed, cancel_job, list_jobs, retry_job
from commonplace.sleep.tidy import ACTOR as NIGHT_ACTOR
from commonplace.sleep.tidy import Tidied, tidy


class Upkeep(Handle):
    def tidy(self, *, reindex: bool = False) -> Tidied:
        """Expire, purge and reindex memories now.

        Expires what has ended, purges what was forgotten long ago, adds missing vectors. reindex:
        rebuild the word index, after an upgrade."""
        # Whoever asks for it, the night works on the whole memory.
        owner = Principal(self.principal.user_id, cleared=True)
        anew = check.flag(reindex, "reindex")
        return tidy(self._desk, owner, self._merge_at_night, self._link_at_night, reindex=anew)

    def _tidy_without_compaction(self) -> Tidied:
        """For tidying many users: compaction is one for all of them."""
        return tidy(
            self._desk, self.principal, self._merge_at_night, self._link_at_night, compact=False
        )

    def stats(self, *, events: bool = False) -> Stats:
        """Show counts: kinds, categories, states, sources.

        events: operations per day."""
        self._desk.books.flush()
        return stats(self._desk, self.principal, check.flag(events, "events"))

    def doctor(self, *, all_users: bool = False) -> Sequence[Finding]:
        """Check the database, indexes, vectors and erasures.

        Each problem comes with its remedy. With an API key: only the memory that it opens."""
        if check.flag(all_users, "all_users"):
            self._owner_only("look at every user's index")
            self._with_the_store_in_hand("look at every user's index")
        scope = None if all_users else self.principal.scope
        return examine(self._desk, scope, self.principal)

    def jobs(
        self, *, states: Texts | None = None, limit: int = 50, after: str | None = None
    ) -> Sequence[Owed]:
        """List background jobs, next first.

        What each job does, its tries, next run and last error. Finished jobs are not listed."""
        self._owner_only("look at jobs")
        chosen = choices(states, "states", JobState)
        most = check.integer(limit, "limit", 1, MAX_K)
        return list_jobs(self._desk, self.principal, chosen, most, page_after(after))

    def jobs_retry(self, id: str) -> Owed:
        """Retry a job now, with all its tries.

        For a job that is dead or waiting."""
        self._owner_only("retry a job")
        return retry_job(self._desk, self.principal, check.id(id))

    def jobs_cancel(self, id: str) -> Owed:
        """Cancel a job.

        The result of a running job is discarded."""
        self._owner_only("cancel a job")
        return cancel_job(self._desk, self.principal, check.id(id))

    def export(self) -> Iterator[str]:
        """Export everything this user owns, as JSON lines."""
        belongings = look_up.everything_of(self._desk, self.principal)
        return to_lines(self.principal.user_id, belongings)

    def import_(self, lines: Iterable[str]) -> Imported:
        """Import an export file.

        Into an empty memory completely; otherwise only what is new."""
        self._owner_only("bring in a memory")
        belongings = from_lines(lines, self.principal.user_id)
        return bring_in(self._desk, self.principal, belongings, is_suspicious)

    def _merge_at_night(self, principal: Principal, ids: Sequence[str]) -> Merged:
        return merge(self._desk, principal, ids, Node.WORKER, NIGHT_ACTOR)

    def _link_at_night(
        self, principal: Principal, memories: Sequence[Memory], vectors: Vectors
    ) -> None:
        link_late(self._desk, principal, memories, vectors)
