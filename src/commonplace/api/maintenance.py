"""Maintenance and history verbs: tidy, jobs, usage of models, doctor, export, import,
changes, events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from commonplace.api.handle import (
    MAX_K,
    Texts,
    UserHandle,
    optional_integer,
    read_choices,
    read_cursor,
    require_at_most_one,
)
from commonplace.errors import InvalidInput
from commonplace.language.embedders.embedder import Vectors
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.lazy import lazy_imports
from commonplace.model import validation
from commonplace.model.access.principal import Principal
from commonplace.model.delta import Delta
from commonplace.model.export.archive import from_lines, to_lines
from commonplace.model.jobs import JobState
from commonplace.model.journal import ChangeRow, EventRow, HistoryRow
from commonplace.model.memory.memory import Memory
from commonplace.model.sleep import SleepTask

with lazy_imports(__name__):
    from commonplace.engine.access import principal_at_source
    from commonplace.engine.history import changes as journal_views
    from commonplace.engine.llm.model_check import ModelCheck, check_models
    from commonplace.engine.llm.usage import ModelUsage, report_usage
    from commonplace.engine.maintenance.doctor import examine
    from commonplace.engine.maintenance.finding import Finding
    from commonplace.engine.maintenance.jobs import ShownJob, cancel_job, list_jobs, retry_job
    from commonplace.engine.maintenance.sleep.log import SleepReport, read_log
    from commonplace.engine.maintenance.sleep.runner import ReportSleep, sleep
    from commonplace.engine.maintenance.sleep.undo import SleepUndone, undo_run
    from commonplace.engine.maintenance.tidy import Tidied, tidy
    from commonplace.engine.memories.listing import Stats, stats
    from commonplace.engine.memories.neighbours import link_after_embedding
    from commonplace.engine.sources.listing import resolve_source_id
    from commonplace.engine.transfer.export_memory import export_memory
    from commonplace.engine.transfer.import_memory import Imported, import_memory


class MaintenanceVerbs(UserHandle):
    def tidy(self, *, reindex: bool = False) -> Tidied:
        """Expire, purge and reindex memories now.

        Expires what has ended, purges what was forgotten long ago, adds missing vectors. For the
        owner, also forgets and merges what the tasks idle and volatile of sleep would. reindex:
        rebuild the word index and damaged vectors, after an upgrade or damage."""
        # Tidying covers the whole memory, for any caller.
        owner = Principal(self.principal.user_id, cleared=True)
        rebuild = validation.flag(reindex, "reindex")
        return tidy(
            self._engine,
            owner,
            self._link_in_maintenance,
            reindex=rebuild,
            limited=not self.principal.is_owner,
        )

    def _tidy_without_compaction(self) -> Tidied:
        """Once a day, for many users: the store is compacted once for all."""
        return tidy(
            self._engine,
            self.principal,
            self._link_in_maintenance,
            compact=False,
            limited=True,
        )

    def sleep(
        self,
        tasks: Texts | None = None,
        *,
        dry_run: bool = False,
        progress: ReportSleep = lambda _: None,
    ) -> SleepReport:
        """Do now what is done at night.

        Expires, forgets, merges and archives, and writes descriptions and storylines. tasks: only
        these. dry_run: show what would be done, without a language model; nothing changes. A run
        that is interrupted is finished by a worker."""
        self._require_owner("run nightly maintenance")
        chosen = None if tasks is None else read_choices(tasks, "tasks", SleepTask)
        if chosen == []:
            raise InvalidInput(
                "tasks is empty.",
                remedy=f"Leave it out for all tasks, or name some of: {', '.join(SleepTask)}.",
                field="tasks",
            )
        is_dry = validation.flag(dry_run, "dry_run")
        return sleep(self._engine, self._request, chosen, is_dry, progress)

    def sleep_undo(self, run: str) -> SleepUndone:
        """Undo a run of sleep.

        Each action is undone whole, or listed with what prevents it: its items changed since, or
        are gone. What expired, was purged or was erased stays gone. Possible for 30 days."""
        self._require_owner("undo nightly maintenance")
        return undo_run(self._engine, self._request, validation.id(run, "run"))

    def sleep_log(
        self, *, limit: int = 20, after: str | None = None, run: str | None = None
    ) -> Sequence[SleepReport]:
        """List runs of sleep, newest first.

        What each task did, how long it took, and tokens. run: that run, with each action, its
        reason and the ids of its items; contains no text."""
        self._require_owner("see the log of nightly maintenance")
        most = validation.integer(limit, "limit", 1, MAX_K)
        one = None if run is None else validation.id(run, "run")
        require_at_most_one(after=after, run=run)
        return read_log(self._engine, self.principal, most, read_cursor(after), one)

    def stats(self, *, events: bool = False, days: int = 30) -> Stats:
        """Show counts: kinds, categories, states, sources.

        events: operations of the last days by day, part and operation, newest first; also what
        is done at night."""
        self._engine.access_log.flush()
        most = validation.integer(days, "days", 1, validation.MAX_DAYS)
        with_events = validation.flag(events, "events")
        return stats(self._engine, self.principal, most if with_events else 0)

    def doctor(self, *, all_users: bool = False) -> Sequence[Finding]:
        """Check the database, indexes, vectors and erasures.

        Each problem comes with its remedy. With an API key: only the memory that it opens."""
        if validation.flag(all_users, "all_users"):
            self._require_owner("check every user's index")
            self._refuse_all_keys("check every user's index")
        scope = None if all_users else self.principal.scope
        return examine(self._engine, scope, self.principal)

    def jobs(
        self, *, states: Texts | None = None, limit: int = 50, after: str | None = None
    ) -> Sequence[ShownJob]:
        """List background jobs, next first.

        What each job does, its tries, next run and last error. Finished jobs are not listed."""
        self._require_owner("see jobs")
        chosen = read_choices(states, "states", JobState)
        most = validation.integer(limit, "limit", 1, MAX_K)
        return list_jobs(self._engine, self.principal, chosen, most, read_cursor(after))

    def jobs_retry(self, id: str) -> ShownJob:
        """Retry a job now, with all its tries.

        For a job that is dead or waiting."""
        self._require_owner("retry a job")
        return retry_job(self._engine, self._request, validation.id(id))

    def jobs_cancel(self, id: str) -> ShownJob:
        """Cancel a job.

        The result of a running job is discarded."""
        self._require_owner("cancel a job")
        return cancel_job(self._engine, self._request, validation.id(id))

    def model_check(self) -> Sequence[ModelCheck]:
        """Check the language model with a tiny question.

        Says its name, how it is asked, seconds and tokens; or what is wrong and what to do."""
        self._require_owner("check the language model")
        return check_models(self._engine, self.principal.own_scope)

    def model_usage(self, *, days: int = 30) -> ModelUsage:
        """Show what language models used, by day, prompt and model.

        Calls, tokens, findings kept and dropped; with model_prices, the cost."""
        self._require_owner("see the usage of language models")
        most = validation.integer(days, "days", 1, validation.MAX_DAYS)
        return report_usage(self._engine, self.principal.own_scope, most)

    def export(self) -> Iterator[str]:
        """Export everything this user owns, as JSON lines."""
        belongings = export_memory(self._engine, self.principal)
        return to_lines(self.principal.user_id, belongings)

    def import_(self, lines: Iterable[str]) -> Imported:
        """Import an export file.

        Into an empty memory completely; otherwise only what is new."""
        self._require_owner("import a memory")
        belongings = from_lines(lines, self.principal.user_id)
        return import_memory(self._engine, self._request, belongings, is_suspicious)

    def _link_in_maintenance(
        self, principal: Principal, memories: Sequence[Memory], vectors: Vectors
    ) -> None:
        link_after_embedding(self._engine, principal, memories, vectors)


class HistoryVerbs(UserHandle):
    def changes(self, thread: str = "main", *, since: int | None = None) -> Delta:
        """List changes since this agent last looked.

        Per thread; moves the agent's read marker."""
        start = optional_integer(since, "since", 0, 2**62)
        return journal_views.read_changes(
            self._engine, self.principal, validation.word(thread, "thread"), start
        )

    def history(self, id: str) -> Sequence[HistoryRow]:
        """Show the history of one item, newest first.

        Who did what, when; contains no text."""
        item_id = validation.id(id)
        source = resolve_source_id(self._engine, self.principal, item_id) or item_id
        placed = principal_at_source(self._engine, self.principal, source)
        return journal_views.read_history(self._engine, placed, source)

    def change_log(
        self, thread: str, *, limit: int = 50, after: str | None = None
    ) -> Sequence[ChangeRow]:
        """List the changes made in one thread, newest first."""
        most = validation.integer(limit, "limit", 1, MAX_K)
        return journal_views.read_change_log(
            self._engine,
            self.principal,
            validation.word(thread, "thread"),
            most,
            read_cursor(after),
        )

    def events(self, *, limit: int = 50, after: str | None = None) -> Sequence[EventRow]:
        """List recent operations, reads included."""
        self._engine.access_log.flush()
        most = validation.integer(limit, "limit", 1, MAX_K)
        return journal_views.read_events(self._engine, self.principal, most, read_cursor(after))
