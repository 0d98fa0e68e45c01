"""One user's memory: a short method per verb, over the rooms that do the work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from commonplace.book.originals import original_from
from commonplace.book.requests import (
    choices,
    fields_of,
    filters_from,
    given,
    listed,
    one_of,
    optional_integer,
    thread_name,
)
from commonplace.book.work import kinds_of_work
from commonplace.desk import Desk, visibility_of
from commonplace.errors import (
    MissingField,
    NotAllowed,
)
from commonplace.ingest.ingest import Ingested, ingest
from commonplace.ingest.look_for import ORIGINALS, stands_in_originals
from commonplace.ingest.suspicious import is_suspicious
from commonplace.language.models.embedder import Vectors
from commonplace.model import check
from commonplace.model.conflict import Choice as Decided
from commonplace.model.delta import Delta
from commonplace.model.job import JobState
from commonplace.model.journal import Node
from commonplace.model.memory import Memory, State
from commonplace.model.portable import from_lines, to_lines
from commonplace.model.scope import Principal
from commonplace.model.source import SourceType, Status
from commonplace.recall import changes as journal_views
from commonplace.recall import conflicts as inbox
from commonplace.recall import look_up
from commonplace.recall.conflicts import Question
from commonplace.recall.look_up_sources import (
    ShownSource,
    SourcePage,
    known_source,
    list_sources,
    show_source,
)
from commonplace.recall.pack import Hit
from commonplace.recall.recall import Plan, Recalled, recall
from commonplace.recall.stats import Stats, stats
from commonplace.recall.within import EVERYWHERE, NONE, Within, within
from commonplace.remember.bring_in import Imported, bring_in
from commonplace.remember.erase import Erased, erase, erase_user
from commonplace.remember.forget import Forgotten, Restored, forget, forget_matching, restore
from commonplace.remember.link import link_late
from commonplace.remember.merge import Merged, merge
from commonplace.remember.profile import (
    Profile,
    ProfileChange,
    add_note,
    read_profile,
    set_field,
)
from commonplace.remember.remember import Remembered, remember
from commonplace.remember.resolve import Resolved, resolve
from commonplace.remember.update import Updated, update
from commonplace.sleep.doctor import Finding, examine
from commonplace.sleep.jobs import Owed, cancel_job, list_jobs, retry_job
from commonplace.sleep.tidy import ACTOR as NIGHT_ACTOR
from commonplace.sleep.tidy import Tidied, tidy
from commonplace.sleep.worker import Worker
from commonplace.store.port import SourceListing

MAX_K = 1000
MAX_BATCH = 1000

Texts = str | Sequence[str]
Moment = str | datetime


@dataclass(frozen=True, slots=True)
class Choice:
    """Several things fit: nothing was done. Call again with the ids that are meant."""

    query: str
    candidates: tuple[Hit, ...]

    @property
    def is_empty(self) -> bool:
        return not self.candidates


@dataclass(frozen=True, slots=True)
class Verified:
    """Where a text still stands."""

    found_in: tuple[str, ...]
    scrub_pending: bool

    @property
    def clean(self) -> bool:
        return not self.found_in


class User:
    """One user's memory, as its owner or one of the owner's agents sees it."""

    def __init__(self, desk: Desk, principal: Principal):
        self._desk = desk
        self.principal = principal

    def agent(self, name: str, *, may_resolve: bool = False) -> User:
        """The same memory in the hands of a named agent; one that may resolve decides conflicts
        in the owner's place."""
        agent = check.word(name, "agent")
        if self.principal.agent not in (None, agent):
            raise NotAllowed(
                f"{self.principal.agent} cannot act as {agent}.",
                remedy="Begin from the owner's handle: book.user(…).agent(…).",
                field="agent",
            )
        trusted = check.flag(may_resolve, "may_resolve")
        if trusted and not self.principal.decides:
            raise NotAllowed("Only the owner lets an agent decide.", field="may_resolve")
        return User(self._desk, self.principal.as_agent(agent, trusted))

    @property
    def revision(self) -> int:
        return self._desk.store.counters(self.principal.scope).revision

    # ——— remembering ———

    def remember(
        self,
        content: str | None = None,
        *,
        kind: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        steps: Sequence[str] | None = None,
        category: str | None = None,
        tags: Sequence[str] | None = None,
        summary: str | None = None,
        importance: int | None = None,
        confidence: float | None = None,
        evidence: Sequence[str] | None = None,
        stability: str | None = None,
        sensitivity: str | None = None,
        pinned: bool | None = None,
        ttl_days: float | None = None,
        expires_at: Moment | None = None,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        facet: str | None = None,
        thread: str | None = None,
        source_type: str | None = None,
        source_id: str | None = None,
        job_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        actor_id: str | None = None,
        role: str | None = None,
        on_conflict: str | None = None,
    ) -> Remembered:
        """Keep something: an idea, a contact, a value, a fact, a rule. What was not given (kind,
        summary, tags, category) is derived from the words. The answer says how it relates to what
        is there; another value of a contact or a kv waits until a person decides."""
        fields = given(locals())
        fields["thread_id"] = fields.pop("thread")
        return remember(self._desk, self.principal, [fields])[0]

    def remember_many(self, items: Sequence[Mapping[str, Any]]) -> Sequence[Remembered]:
        """Keep several at once: one transaction and one call to the embedder, all or none."""
        return remember(
            self._desk,
            self.principal,
            [fields_of(item) for item in listed(items, MAX_BATCH)],
        )

    def update(
        self,
        id: str | None = None,
        *,
        query: str | None = None,
        content: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        category: str | None = None,
        tags: Sequence[str] | None = None,
        summary: str | None = None,
        importance: int | None = None,
        confidence: float | None = None,
        sensitivity: str | None = None,
        pinned: bool | None = None,
        ttl_days: float | None = None,
        expires_at: Moment | None = None,
        thread: str | None = None,
    ) -> Updated | Choice:
        """Change a memory. New content makes a new item that takes the old one's place (undo with
        restore); other fields change in place. By query: shows candidates, changes nothing."""
        wanted = given(locals(), without=("id", "query", "thread"))
        one_of(id=id, query=query)
        if id is None:
            return self._choice(query, "id", sources=NONE)  # a passage never changes
        return update(self._desk, self.principal, check.word(id, "id"), wanted, thread_name(thread))

    def merge(self, ids: Sequence[str], *, thread: str | None = None) -> Merged:
        """Fold two or more memories into one stable summary; the originals become history."""
        return merge(self._desk, self.principal, check.ids(ids), thread=thread_name(thread))

    # ——— what a person decides ———

    def conflicts(self, *, limit: int = 50, alternatives: bool = False) -> Sequence[Question]:
        """Open questions, the oldest first: what stands, what is held against it, with evidence
        and dates. With alternatives: also what sources say otherwise."""
        most = check.integer(limit, "limit", 1, MAX_K)
        return inbox.conflicts(
            self._desk, self.principal, most, check.flag(alternatives, "alternatives")
        )

    def resolve(
        self,
        conflict: str,
        choice: str,
        *,
        target: str | None = None,
        held: str | None = None,
        thread: str | None = None,
    ) -> Resolved:
        """Decide an open question: override (the held value takes the target's place, undone by
        restore), insert (keep both) or dismiss (what stands, stands)."""
        return resolve(
            self._desk,
            self.principal,
            check.word(conflict, "conflict"),
            check.choice(choice, "choice", Decided, {}),
            None if target is None else check.word(target, "target"),
            None if held is None else check.word(held, "held"),
            thread_name(thread),
        )

    # ——— recalling ———

    def recall(
        self,
        query: str,
        *,
        k: int = 5,
        budget_tokens: int | None = None,
        kinds: Texts | None = None,
        categories: Texts | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        sources: Texts | None = None,
        explain: bool = False,
        thread: str | None = None,
    ) -> Recalled:
        """Find what is relevant among memories and passages of sources, best first, within a
        token budget; nothing relevant gives an empty answer. For a question about a fact; use list
        or sources to browse."""
        return self.recall_many([query], **given(locals(), without=("query",)))[0]

    def recall_many(
        self,
        queries: Sequence[str],
        *,
        k: int = 5,
        budget_tokens: int | None = None,
        kinds: Texts | None = None,
        categories: Texts | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        sources: Texts | None = None,
        explain: bool = False,
        thread: str | None = None,
    ) -> Sequence[Recalled]:
        """Several questions with one call to the embedder, an answer for each."""
        admitted = filters_from(filters, kinds=kinds, categories=categories)
        looked_at = EVERYWHERE if sources is None else self._within(sources)
        plans = [
            Plan(
                query=check.text(query, "query"),
                k=check.integer(k, "k", 1, MAX_K),
                budget_tokens=optional_integer(budget_tokens, "budget_tokens", 0, 10_000_000),
                filters=admitted,
                threshold=None if threshold is None else check.number(threshold, "threshold", 0, 1),
                explain=check.flag(explain, "explain"),
                thread_id=thread_name(thread),
                within=looked_at,
            )
            for query in listed(queries, MAX_BATCH)
        ]
        return recall(self._desk, self.principal, plans)

    def list(
        self,
        *,
        kinds: Texts | None = None,
        categories: Texts | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int = 50,
        after: str | None = None,
        forgotten: bool = False,
    ) -> look_up.Page:
        """Browse memories, newest first. With forgotten: those that restore can bring back."""
        return look_up.list_memories(
            self._desk,
            self.principal,
            filters_from(filters, kinds=kinds, categories=categories),
            check.integer(limit, "limit", 1, MAX_K),
            None if after is None else check.id(after, "after"),
            check.flag(forgotten, "forgotten"),
        )

    def show(self, id: str) -> look_up.Shown | ShownSource:
        """One memory whole: its fields, its versions and what it is linked to. Of a source its
        passages, of a passage those around it."""
        wanted = check.id(id)
        if source := known_source(self._desk, self.principal, wanted):
            return show_source(self._desk, self.principal, source)
        return look_up.show(self._desk, self.principal, wanted)

    # ——— sources ———

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
    ) -> SourcePage:
        """Browse sources, newest first. With forgotten: those that restore can bring back."""
        gone = check.flag(forgotten, "forgotten")
        listing = SourceListing(
            visibility=visibility_of(self.principal),
            states=(State.SOFT_DELETED,) if gone else (State.ACTIVE,),
            restorable_at=self._desk.clock() if gone else None,
            types=tuple(str(each) for each in choices(source_types, "source_types", SourceType)),
            statuses=tuple(str(each) for each in choices(status, "status", Status)),
            tags=() if tags is None else check.words(_several(tags), "tags"),
            thread_id=thread_name(thread),
            origin=None if origin is None else check.word(origin, "origin"),
            said_after=None if said_after is None else check.when(said_after, "said_after"),
            said_before=None if said_before is None else check.when(said_before, "said_before"),
            limit=check.integer(limit, "limit", 1, MAX_K) + 1,
            after=None if after is None else check.id(after, "after"),
        )
        return list_sources(self._desk, self.principal, listing)

    # ——— forgetting ———

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
        """Forget by id, or all that a filter admits; restorable for 30 days. By query: shows
        candidates and forgets nothing. Look it up, then forget by id."""
        one_of(ids=ids, query=query)
        if ids is not None:
            return forget(self._desk, self.principal, check.ids(ids), thread_name(thread))
        if query is not None:
            return self._choice(query, "ids")
        admitted = filters_from(
            filters,
            kinds=kinds,
            categories=categories,
            source_type=source_type,
            source_id=source_id,
            created_before=self._days_ago(older_than_days),
        )
        if admitted.is_empty:
            raise MissingField("Say what to forget: ids, a query or a filter.", field="ids")
        return forget_matching(self._desk, self.principal, admitted, thread_name(thread))

    def restore(self, ids: Texts, *, thread: str | None = None) -> Restored:
        """Bring back what was forgotten, overridden or superseded, while it is not purged."""
        return restore(self._desk, self.principal, check.ids(ids), thread_name(thread))

    def erase(self, ids: Texts, *, now: bool = False, thread: str | None = None) -> Erased:
        """Remove for good, with everything derived from it. Cannot be undone. With now: waits for
        the compaction after which no byte of it is left in the files."""
        now_too = check.flag(now, "now")
        return erase(self._desk, self.principal, check.ids(ids), now_too, thread_name(thread))

    def erase_user(self, *, now: bool = False) -> Erased:
        """Remove this user's whole memory for good. Cannot be undone."""
        return erase_user(self._desk, self.principal, check.flag(now, "now"))

    def verify_forget(self, text: str, *, files: bool = False) -> Verified:
        """Does this text still stand anywhere in this user's memory? With files: also anywhere in
        the bytes of the store's files (SQLite), whoever they belong to."""
        self._owner_only("look for a text in all of a memory")
        sought = check.text(text, "text")
        raw = check.flag(files, "files")
        scope = self.principal.scope
        found = self._desk.store.mentions(scope, sought, files=raw)
        if ORIGINALS not in found and stands_in_originals(self._desk, scope, sought):
            found.append(ORIGINALS)
        receipts = self._desk.store.census(self.principal.scope).receipts
        return Verified(tuple(found), any(r.scrubbed_at is None for r in receipts))

    # ——— what happened ———

    def changes(self, thread: str = "main", *, since: int | None = None) -> Delta:
        """What changed since this agent last looked in this thread, and moves the mark."""
        start = optional_integer(since, "since", 0, 2**62)
        return journal_views.changes(
            self._desk, self.principal, check.word(thread, "thread"), start
        )

    def history(self, id: str) -> Sequence[dict[str, Any]]:
        """One item's life, newest first: who did what, when. Holds no text."""
        wanted = check.id(id)
        source = known_source(self._desk, self.principal, wanted)
        return journal_views.history(self._desk, self.principal, source or wanted)

    def change_log(self, thread: str, *, limit: int = 50) -> Sequence[dict[str, Any]]:
        """The changes made in one thread, newest first."""
        most = check.integer(limit, "limit", 1, MAX_K)
        return journal_views.change_log(
            self._desk, self.principal, check.word(thread, "thread"), most
        )

    def events(self, *, limit: int = 50) -> Sequence[dict[str, Any]]:
        """The newest operations, reads included."""
        self._desk.books.flush()
        most = check.integer(limit, "limit", 1, MAX_K)
        return journal_views.events(self._desk, self.principal, most)

    # ——— the profile ———

    def profile(self) -> Profile:
        """Who the user is: the fields and notes of the profile."""
        return read_profile(self._desk, self.principal)

    def profile_set(self, name: str, value: Any) -> ProfileChange:
        """Set a field of the profile (preferred_name, pronouns, city, language, tone, goals …)."""
        return set_field(self._desk, self.principal, name, value)

    def profile_note(self, text: str) -> ProfileChange:
        """Add a note to the profile; its id is profile:N."""
        return add_note(self._desk, self.principal, text)

    # ——— looking after it ———

    def tidy(self, *, reindex: bool = False) -> Tidied:
        """Let go of what has ended, purge what was forgotten long ago, fill in missing vectors.
        With reindex: also make anew what memories are found by, after a change of version."""
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
        """This memory in numbers: kinds, categories, states. With events: operations by day."""
        self._desk.books.flush()
        return stats(self._desk, self.principal, check.flag(events, "events"))

    def doctor(self, *, all_users: bool = False) -> Sequence[Finding]:
        """Is everything sound: the database, the index, vectors, erasures? Says what to do."""
        if check.flag(all_users, "all_users"):
            self._owner_only("look at every user's index")
        scope = None if all_users else self.principal.scope
        return examine(self._desk, scope, self.principal)

    def jobs(self, *, states: Texts | None = None, limit: int = 50) -> Sequence[Owed]:
        """Work that is owed to this memory, the next first: what it is, how often it was tried,
        when it runs, why it failed. What is done has left the list."""
        self._owner_only("look at jobs")
        chosen = choices(states, "states", JobState)
        return list_jobs(
            self._desk, self.principal, chosen, check.integer(limit, "limit", 1, MAX_K)
        )

    def jobs_retry(self, id: str) -> Owed:
        """Run a job that is dead or waits at once, with all its tries before it again."""
        self._owner_only("retry a job")
        return retry_job(self._desk, self.principal, check.id(id))

    def jobs_cancel(self, id: str) -> Owed:
        """Take a job off the list; the result of one that runs is not taken any more."""
        self._owner_only("cancel a job")
        return cancel_job(self._desk, self.principal, check.id(id))

    def export(self) -> Iterator[str]:
        """Everything this user owns, as lines of JSON."""
        belongings = look_up.everything_of(self._desk, self.principal)
        return to_lines(self.principal.user_id, belongings)

    def import_(self, lines: Iterable[str]) -> Imported:
        """Bring in what `export` wrote: whole into an empty memory, else what is new."""
        belongings = from_lines(lines, self.principal.user_id)
        return bring_in(self._desk, self.principal, belongings, is_suspicious)

    # ——— shared by the verbs above ———

    def _owner_only(self, what: str) -> None:
        """An agent could learn from it of what it may not see."""
        if not self.principal.is_owner:
            raise NotAllowed(f"Only the owner may {what}.")

    def _within(self, sources: Texts) -> Within:
        return within(self._desk, self.principal, check.ids(sources, "sources"))

    def _choice(self, query: str | None, instead_of: str, sources: Texts | None = None) -> Choice:
        if query is None:
            raise MissingField(f"Give {instead_of} or a query.", field=instead_of)
        found = self.recall(query, sources=sources)
        return Choice(found.query, found.hits)

    def _merge_at_night(self, principal: Principal, ids: Sequence[str]) -> Merged:
        return merge(self._desk, principal, ids, Node.WORKER, NIGHT_ACTOR)

    def _link_at_night(
        self, principal: Principal, memories: Sequence[Memory], vectors: Vectors
    ) -> None:
        link_late(self._desk, principal, memories, vectors)

    def _days_ago(self, days: float | None) -> datetime | None:
        if days is None:
            return None
        span = check.number(days, "older_than_days", 0, check.MAX_DAYS)
        return self._desk.clock() - timedelta(days=span)


def _several(texts: Texts) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts
