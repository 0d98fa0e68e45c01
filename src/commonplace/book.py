"""The book: one short method per verb. Here, and only here, adapters are chosen.

book = commonplace.open("memory.db")
me = book.user("ana")
me.remember("The wifi password is tulip42")
me.recall("how do I get online?")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from types import TracebackType
from typing import Any, Self, cast

from commonplace import settings as settings_table
from commonplace.bookkeeper import Bookkeeper
from commonplace.desk import Desk
from commonplace.errors import (
    BadSettings,
    EmbedderMismatch,
    InvalidInput,
    MissingField,
    NotAllowed,
    TooLong,
)
from commonplace.language.models.embedder import Embedder
from commonplace.model import check
from commonplace.model.delta import Delta
from commonplace.model.filters import FILTER_NAMES, Filters
from commonplace.model.journal import Node
from commonplace.model.lifecycle import LIFETIMES
from commonplace.model.portable import from_lines, to_lines
from commonplace.model.scope import Principal
from commonplace.recall import changes as journal_views
from commonplace.recall import look_up
from commonplace.recall.pack import Hit
from commonplace.recall.recall import Plan, Recalled, recall
from commonplace.recall.stats import Stats, stats
from commonplace.remember.bring_in import Imported, bring_in
from commonplace.remember.erase import Erased, erase, erase_user
from commonplace.remember.forget import Forgotten, Restored, forget, forget_matching, restore
from commonplace.remember.merge import Merged, merge
from commonplace.remember.profile import (
    Profile,
    ProfileChange,
    add_note,
    read_profile,
    set_field,
)
from commonplace.remember.remember import Remembered, remember
from commonplace.remember.update import Updated, update
from commonplace.settings import Settings
from commonplace.sleep.doctor import Finding, examine
from commonplace.sleep.tidy import ACTOR as NIGHT_ACTOR
from commonplace.sleep.tidy import Tidied, tidy
from commonplace.store.address import parse
from commonplace.store.cache import IndexCache
from commonplace.store.port import EmbedderIdentity
from commonplace.store.sql.store import SqlStore

MAX_K = 1000
MAX_BATCH = 1000
TIDIED_WHEN_OPENED = 200  # scopes; the rest are tidied when they come up next

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


def utc_now() -> datetime:
    return datetime.now(UTC)


def open(
    url: str | None = None,
    *,
    embedder: str | Embedder | None = None,
    clock: Callable[[], datetime] = utc_now,
    **flags: Any,
) -> Commonplace:
    """Open a store, making it when it is new. Settings can be given by name."""
    named = embedder if isinstance(embedder, str) else None
    chosen = settings_table.load({"store": url, "embedder": named, **flags})
    model = (
        cast(Embedder, embedder)
        if embedder is not None and named is None
        else make_embedder(chosen.embedder)
    )
    store = _open_store(chosen, clock())
    try:
        _hold_to_embedder(store, model)
        index = IndexCache(store, model.dimension, chosen.cache_mb << 20)
        shown = {**asdict(chosen), "store": store.url, "embedder": model.name}
        settings = {name: str(value) for name, value in shown.items()}
        book = Commonplace(Desk(store, index, model, clock, Bookkeeper(store), settings=settings))
        if chosen.tidy_on_open:
            book.tidy_what_is_due()
    except BaseException:
        store.close()
        raise
    return book


_EMBEDDERS = {
    "wordllama": ("commonplace.language.models.wordllama", "WordLlamaEmbedder"),
    "hashing": ("commonplace.language.models.hashing", "HashingEmbedder"),
}


def make_embedder(name: str) -> Embedder:
    """By name; imported only when wanted, because a model is heavy."""
    if name not in _EMBEDDERS:
        raise BadSettings(
            f"There is no embedder {name!r}.",
            remedy=f"Use one of: {', '.join(_EMBEDDERS)}.",
            field="embedder",
        )
    module, made = _EMBEDDERS[name]
    return cast(Embedder, getattr(import_module(module), made)())


def _open_store(chosen: Settings, now: datetime) -> SqlStore:
    address = parse(chosen.store or settings_table.default_store())
    if address.backend == "postgresql":
        try:
            postgres = import_module("commonplace.store.postgres.store")
        except ImportError as error:
            raise BadSettings(
                "PostgreSQL needs a driver that is not installed.",
                remedy="pip install 'commonplace[postgres]'",
                field="store",
            ) from error
        return cast(
            SqlStore,
            postgres.PostgresStore(
                address.target,
                now=now,
                pool_size=chosen.pool_size,
                lock_timeout=chosen.lock_timeout,
            ),
        )
    sqlite = import_module("commonplace.store.sqlite.store")
    return cast(
        SqlStore, sqlite.SqliteStore(address.target, now=now, lock_timeout=chosen.lock_timeout)
    )


def _hold_to_embedder(store: SqlStore, model: Embedder) -> None:
    mine = EmbedderIdentity(model.name, model.dimension)
    known = store.claim_embedder(mine)
    if known != mine:
        raise EmbedderMismatch(
            f"This store's vectors were made by {known.name} ({known.dimension} dimensions), "
            f"not by {mine.name} ({mine.dimension}).",
            remedy=f"Open it with {known.name}; or export each user and import into a new store.",
            field="embedder",
        )


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
            User(self._desk, Principal(scope.name, cleared=True)).tidy()

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


class User:
    """One user's memory, as its owner or one of the owner's agents sees it."""

    def __init__(self, desk: Desk, principal: Principal):
        self._desk = desk
        self.principal = principal

    def agent(self, name: str) -> User:
        """The same memory in the hands of a named agent."""
        agent = check.word(name, "agent")
        if self.principal.agent not in (None, agent):
            raise NotAllowed(
                f"{self.principal.agent} cannot act as {agent}.",
                remedy="Begin from the owner's handle: book.user(…).agent(…).",
                field="agent",
            )
        return User(self._desk, self.principal.as_agent(agent))

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
    ) -> Remembered:
        """Keep something: an idea, a contact, a value, a fact, a rule. Stored durably before it
        answers; what was not given (summary, tags, category) is derived from the words."""
        given = _given(locals())
        given["thread_id"] = given.pop("thread")
        return remember(self._desk, self.principal, [given])[0]

    def remember_many(self, items: Sequence[Mapping[str, Any]]) -> Sequence[Remembered]:
        """Keep several at once: one transaction and one call to the embedder, all or none."""
        return remember(
            self._desk, self.principal, [_item(item) for item in _items(items, MAX_BATCH)]
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
        wanted = _given(locals(), without=("id", "query", "thread"))
        _one_of(id=id, query=query)
        if id is None:
            return self._choice(query, "id")
        return update(self._desk, self.principal, check.word(id, "id"), wanted, _thread(thread))

    def merge(self, ids: Sequence[str], *, thread: str | None = None) -> Merged:
        """Fold two or more memories into one stable summary; the originals become history."""
        return merge(self._desk, self.principal, check.ids(ids), thread=_thread(thread))

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
        explain: bool = False,
        thread: str | None = None,
    ) -> Recalled:
        """Find what is relevant, best first, within a token budget; nothing relevant gives an
        empty answer. For a question about a fact; use list to browse."""
        return self.recall_many([query], **_given(locals(), without=("query",)))[0]

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
        explain: bool = False,
        thread: str | None = None,
    ) -> Sequence[Recalled]:
        """Several questions with one call to the embedder, an answer for each."""
        admitted = _filters(filters, kinds=kinds, categories=categories)
        plans = [
            Plan(
                query=check.text(query, "query"),
                k=check.integer(k, "k", 1, MAX_K),
                budget_tokens=_optional(budget_tokens, "budget_tokens", 0, 10_000_000),
                filters=admitted,
                threshold=None if threshold is None else check.number(threshold, "threshold", 0, 1),
                explain=check.flag(explain, "explain"),
                thread_id=_thread(thread),
            )
            for query in _items(queries, MAX_BATCH)
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
            _filters(filters, kinds=kinds, categories=categories),
            check.integer(limit, "limit", 1, MAX_K),
            None if after is None else check.word(after, "after"),
            check.flag(forgotten, "forgotten"),
        )

    def show(self, id: str) -> look_up.Shown:
        """One memory whole: its fields, its versions and what it is linked to."""
        return look_up.show(self._desk, self.principal, check.word(id, "id"))

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
        _one_of(ids=ids, query=query)
        if ids is not None:
            return forget(self._desk, self.principal, check.ids(ids), _thread(thread))
        if query is not None:
            return self._choice(query, "ids")
        admitted = _filters(
            filters,
            kinds=kinds,
            categories=categories,
            source_type=source_type,
            source_id=source_id,
            created_before=self._days_ago(older_than_days),
        )
        if admitted.is_empty:
            raise MissingField("Say what to forget: ids, a query or a filter.", field="ids")
        return forget_matching(self._desk, self.principal, admitted, _thread(thread))

    def restore(self, ids: Texts, *, thread: str | None = None) -> Restored:
        """Bring back what was forgotten, overridden or superseded, while it is not purged."""
        return restore(self._desk, self.principal, check.ids(ids), _thread(thread))

    def erase(self, ids: Texts, *, now: bool = False, thread: str | None = None) -> Erased:
        """Remove for good, with everything derived from it. Cannot be undone. With now: waits for
        the compaction after which no byte of it is left in the files."""
        now_too = check.flag(now, "now")
        return erase(self._desk, self.principal, check.ids(ids), now_too, _thread(thread))

    def erase_user(self, *, now: bool = False) -> Erased:
        """Remove this user's whole memory for good. Cannot be undone."""
        return erase_user(self._desk, self.principal, check.flag(now, "now"))

    def verify_forget(self, text: str, *, files: bool = False) -> Verified:
        """Does this text still stand anywhere in this user's memory? With files: also anywhere in
        the bytes of the store's files (SQLite), whoever they belong to."""
        sought = check.text(text, "text")
        raw = check.flag(files, "files")
        found = self._desk.store.mentions(self.principal.scope, sought, files=raw)
        receipts = self._desk.store.census(self.principal.scope).receipts
        return Verified(tuple(found), any(r.scrubbed_at is None for r in receipts))

    # ——— what happened ———

    def changes(self, thread: str = "main", *, since: int | None = None) -> Delta:
        """What changed since this agent last looked in this thread, and moves the mark."""
        start = _optional(since, "since", 0, 2**62)
        return journal_views.changes(
            self._desk, self.principal, check.word(thread, "thread"), start
        )

    def history(self, id: str) -> Sequence[dict[str, Any]]:
        """One item's life, newest first: who did what, when. Holds no text."""
        return journal_views.history(self._desk, self.principal, check.word(id, "id"))

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

    def tidy(self) -> Tidied:
        """Let go of what has ended, purge what was forgotten long ago, fill in missing vectors."""
        # Whoever asks for it, the night works on the whole memory.
        owner = Principal(self.principal.user_id, cleared=True)
        return tidy(self._desk, owner, self._merge_at_night)

    def stats(self, *, events: bool = False) -> Stats:
        """This memory in numbers: kinds, categories, states. With events: operations by day."""
        self._desk.books.flush()
        return stats(self._desk, self.principal, check.flag(events, "events"))

    def doctor(self, *, all_users: bool = False) -> Sequence[Finding]:
        """Is everything sound: the database, the index, vectors, erasures? Says what to do."""
        scope = None if check.flag(all_users, "all_users") else self.principal.scope
        return examine(self._desk, scope)

    def export(self) -> Iterator[str]:
        """Everything this user owns, as lines of JSON."""
        belongings = look_up.everything_of(self._desk, self.principal)
        return to_lines(self.principal.user_id, belongings)

    def import_(self, lines: Iterable[str]) -> Imported:
        """Bring in what `export` wrote: whole into an empty memory, else what is new."""
        belongings = from_lines(lines, self.principal.user_id)
        return bring_in(self._desk, self.principal, belongings)

    # ——— shared by the verbs above ———

    def _choice(self, query: str | None, instead_of: str) -> Choice:
        if query is None:
            raise MissingField(f"Give {instead_of} or a query.", field=instead_of)
        found = self.recall(query)
        return Choice(found.query, found.hits)

    def _merge_at_night(self, principal: Principal, ids: Sequence[str]) -> Merged:
        return merge(self._desk, principal, ids, Node.WORKER, NIGHT_ACTOR)

    def _days_ago(self, days: float | None) -> datetime | None:
        if days is None:
            return None
        span = check.number(days, "older_than_days", 0, check.MAX_DAYS)
        return self._desk.clock() - timedelta(days=span)


def _given(names: dict[str, Any], without: Sequence[str] = ()) -> dict[str, Any]:
    """A verb's own arguments, by name."""
    return {name: value for name, value in names.items() if name not in ("self", *without)}


def _thread(thread: str | None) -> str | None:
    return None if thread is None else check.word(thread, "thread")


def _one_of(**alternatives: object) -> None:
    given = [name for name, value in alternatives.items() if value is not None]
    if len(given) > 1:
        raise InvalidInput(f"Give {' or '.join(given)}, not both.", field=given[1])


def _items(items: object, limit: int) -> Sequence[Any]:
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Sequence):
        raise InvalidInput("A list is needed.", field="items")
    if len(items) > limit:
        raise TooLong(f"A batch holds at most {limit}.", field="items")
    return items


def _item(item: object) -> dict[str, Any]:
    """One of a batch: a text, or the fields that `remember` takes."""
    if isinstance(item, str):
        return {"content": item}
    if not isinstance(item, Mapping):
        raise InvalidInput("Each item is a text or a map of fields.", field="items")
    fields = {str(name): value for name, value in item.items()}
    if "thread" in fields:
        fields["thread_id"] = fields.pop("thread")
    return fields


def _optional(value: int | None, name: str, low: int, high: int) -> int | None:
    return None if value is None else check.integer(value, name, low, high)


def _filters(given: Mapping[str, Any] | None, **more: Any) -> Filters:
    """Filters from a map and from the arguments that a verb has for the commonest of them."""
    admitted = check.filters(given)
    extra = {name: value for name, value in more.items() if value is not None}
    if not extra:
        return admitted
    named = check.filters(extra)
    twice = [name for name in extra if getattr(admitted, name) not in (None, ())]
    if twice:
        raise InvalidInput(f"{twice[0]} is given twice.", field=twice[0])
    return Filters(
        **{name: getattr(named if name in extra else admitted, name) for name in FILTER_NAMES}
    )
