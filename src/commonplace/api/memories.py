"""Memory verbs: remember, observe, update, merge, forget, restore, erase, resolve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from commonplace.api.handle import (
    MAX_BATCH,
    MAX_K,
    Moment,
    Texts,
    UserHandle,
    named_arguments,
    optional_word,
    read_cursor,
    read_item_fields,
    read_list,
    read_thread,
    require_at_most_one,
)
from commonplace.api.search import RecallVerbs
from commonplace.engine.follow_up_jobs import READ_JOB
from commonplace.errors import InvalidInput, MissingField, NotFound
from commonplace.lazy import lazy_imports
from commonplace.model import validation
from commonplace.model.graph.elements import NODE_PREFIX as OF_NODES
from commonplace.model.memory.memory import ConflictResolution as Decided
from commonplace.model.model_calls import REQUEST_PREFIX
from commonplace.model.sources.source import ConversationTurn, SpeakerRole

with lazy_imports(__name__):
    from commonplace.engine.conversation.handed_over import read_handed_over
    from commonplace.engine.conversation.observe import Observed, observe_turns
    from commonplace.engine.graph.edit import MergedNodes, merge_nodes
    from commonplace.engine.graph.visible_graph import find_unambiguous_node
    from commonplace.engine.maintenance.jobs import bind_job_kinds, has_model_now
    from commonplace.engine.maintenance.tidy import scrub
    from commonplace.engine.maintenance.worker import Worker
    from commonplace.engine.memories import inbox as inbox
    from commonplace.engine.memories.conflicts import Resolved, resolve_conflict
    from commonplace.engine.memories.inbox import OpenConflict
    from commonplace.engine.memories.merge import Merged, merge_memories
    from commonplace.engine.memories.remember import Remembered, remember
    from commonplace.engine.memories.update import Updated, update_memory
    from commonplace.engine.removal.erase import Compact, Erased, erase_items, erase_user
    from commonplace.engine.removal.forget import Forgotten, forget_items, forget_matching
    from commonplace.engine.removal.forget_requests import (
        OpenForgetRequest,
        choices_of_passages,
        close_forget_requests,
        dismiss_forget_request,
        list_forget_requests,
        requests_about,
    )
    from commonplace.engine.removal.offers import offer_to_forget
    from commonplace.engine.removal.restore import Restored, restore_items
    from commonplace.engine.search import plan
    from commonplace.engine.search.pack import Choice
    from commonplace.engine.sources.removal import locate_items

_FORGET_REMEDY = (
    "Look up the id first (recall or list), or search by words: forget --query TEXT (query=…)."
)


class RememberVerbs(RecallVerbs):
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
        questions: Sequence[str] | None = None,
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
        """Store a memory: a note, contact, value, fact or rule.

        Kind, summary, tags and category are derived from the text unless given. The answer says how
        it relates to stored memories; a different value for a contact or kv is held until a person
        decides."""
        fields = named_arguments(locals())
        fields["thread_id"] = fields.pop("thread")
        return remember(self._engine, self._request, [fields])[0]

    def remember_many(self, items: Sequence[Mapping[str, Any]]) -> Sequence[Remembered]:
        """Store several memories in one transaction.

        One call to the embedder; all are stored, or none."""
        return remember(
            self._engine,
            self._request,
            [read_item_fields(item) for item in read_list(items, MAX_BATCH)],
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
        """Update a memory.

        New content creates a new version (undo with restore); other fields change in place. By
        query: lists candidates and changes nothing."""
        changes = named_arguments(locals(), without=("id", "query", "thread"))
        require_at_most_one(id=id, query=query)
        if id is None:
            return self._candidates_for(
                query, "id", sources=plan.NO_PASSAGES
            )  # passages are immutable
        return update_memory(
            self._engine, self._request, validation.word(id, "id"), changes, read_thread(thread)
        )

    def merge(self, ids: Sequence[str], *, thread: str | None = None) -> Merged | MergedNodes:
        """Merge memories into a summary, or nodes into one.

        Memories become one stable summary, and the originals become history. Nodes, by id or name,
        become the first one; split undoes it."""
        item_ids = validation.ids(ids)
        if self._are_nodes(item_ids):
            return merge_nodes(self._engine, self._request, item_ids)
        return merge_memories(self._engine, self._request, item_ids, thread=read_thread(thread))

    def _are_nodes(self, ids: Sequence[str]) -> bool:
        """True if any is a node: the others are then reported as missing."""
        if any(id.startswith(OF_NODES) for id in ids):
            return True
        memories = {memory.id for memory in self._engine.store.fetch(self.principal.scope, ids)}
        rest = [id for id in ids if id not in memories]
        called = [id for id in rest if find_unambiguous_node(self._engine, self.principal, id)]
        if memories and called:
            raise InvalidInput(
                f"{called[0]!r} is a node, but other ids are memories.",
                remedy="Merge either memories or nodes.",
                field="ids",
            )
        return bool(called)


class ObserveVerbs(RecallVerbs):
    def observe(
        self,
        text: str,
        *,
        role: str = "user",
        speaker: str | None = None,
        thread: str = "main",
        at: Moment | None = None,
        session: str | None = None,
        run_id: str | None = None,
        job_id: str | None = None,
        facts: Sequence[str | Mapping[str, Any]] | None = None,
        relations: Sequence[Mapping[str, Any]] | None = None,
        wait: bool = False,
    ) -> Observed:
        """Record one conversation turn and extract memories.

        Call it for each turn as it is said. The turn is stored in the thread's conversation, and at
        most three memories are extracted from it. The answer lists what was stored, what is held
        for a person, and what was skipped and why. facts, relations: what you found in the turn
        yourself; each is checked against its words. A configured language model reads the turn
        within a minute; wait: until it has."""
        turn = named_arguments(locals(), without=("wait",))
        return self.observe_many([turn], wait=wait)[0]

    def observe_many(
        self, turns: Sequence[str | Mapping[str, Any]], *, wait: bool = False
    ) -> Sequence[Observed]:
        """Record several conversation turns, in order.

        One transaction and one call to the embedder; one answer per turn. wait: until a configured
        language model has read them."""
        waits = validation.flag(wait, "wait")
        given = [self._turn_fields(turn) for turn in read_list(turns, MAX_BATCH, "turns")]
        if not given:
            return []
        parsed = [self._read_observed_turn(each) for each in given]
        handed = {
            place: read_handed_over(each.get("facts"), each.get("relations"))
            for place, each in enumerate(given)
            if each.get("facts") or each.get("relations")
        }
        observed = observe_turns(
            self._engine, self._request, parsed, self._forget_candidates, handed
        )
        if waits:
            self._wait_for_model(observed)
            return [self._with_requests(each) for each in observed]
        return observed

    def _with_requests(self, observed: Observed) -> Observed:
        """With the requests to forget that a model found in the turn."""
        more = choices_of_passages(self._engine, self.principal, observed.passages)
        return replace(observed, forget=(*observed.forget, *more))

    def _wait_for_model(self, observed: Sequence[Observed]) -> None:
        """Until it has read the turns, cannot be reached, or takes too long."""
        if not has_model_now(self._engine, self.principal.own_scope):
            return
        kinds = bind_job_kinds(self._engine, closes_windows=True)
        worker = Worker(self._engine, kinds)
        for source in dict.fromkeys(each.source_id for each in observed if each.source_id):
            worker.see_through(self.principal.own_scope, READ_JOB, source, READ_PATIENCE_SECONDS)

    def _turn_fields(self, turn: object) -> Mapping[str, Any]:
        fields = {"text": turn} if isinstance(turn, str) else turn
        if not isinstance(fields, Mapping):
            raise InvalidInput("Each turn must be a text or a map of fields.", field="turns")
        validation.known_fields(fields, _TURN_FIELDS, "A turn")
        return fields

    def _read_observed_turn(self, fields: Mapping[str, Any]) -> ConversationTurn:
        given = {name: value for name, value in fields.items() if value is not None}
        return ConversationTurn(
            text=validation.text(given.get("text", ""), "text"),
            thread=validation.word(given.get("thread", "main"), "thread"),
            at=validation.local_time(given["at"], "at") if "at" in given else self._engine.clock(),
            is_dated="at" in given,
            role=validation.choice(
                _fold_role(given.get("role", SpeakerRole.USER)), "role", SpeakerRole, {}
            ),
            **{name: optional_word(given.get(name), name) for name in _TURN_WORDS},
        )

    def _forget_candidates(self, query: str) -> Choice:
        return offer_to_forget(self._engine, self.principal, query)


def _fold_role(role: object) -> object:
    """Case-insensitive: frameworks use User, USER and user."""
    return role.strip().casefold() if isinstance(role, str) else role


_TURN_WORDS = ("speaker", "session", "run_id", "job_id")
_TURN_FIELDS = ("text", "role", "thread", "at", *_TURN_WORDS, "facts", "relations")
READ_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Verified:
    """Where a text is still stored."""

    found_in: tuple[str, ...]
    scrub_pending: bool

    @property
    def clean(self) -> bool:
        return not self.found_in


class ForgetVerbs(RecallVerbs):
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
        keep_evidence: bool = False,
    ) -> Forgotten | Choice:
        """Forget items by id or filter; restorable for 30 days.

        By query: offers memories, turns, profile notes and graph items, and forgets nothing; choose
        one or several of them by id. A memory takes along the turn or passage it came from, unless
        keep_evidence."""
        keeps = validation.flag(keep_evidence, "keep_evidence")
        require_at_most_one(ids=ids, query=query)
        if ids is not None:
            item_ids = validation.ids(ids)
            with self._hint_node_ids(item_ids, _FORGET_REMEDY):
                acting = locate_items(self._engine, self.principal, item_ids)
                answered = requests_about(self._engine, self.principal, item_ids)
                forgotten = forget_items(
                    self._engine,
                    self._request.acting_as(acting),
                    item_ids,
                    read_thread(thread),
                    keeps,
                )
            if answered:
                close_forget_requests(self._engine, self._request, answered)
            return forgotten
        if query is not None:
            asked = validation.text(query, "query")
            return offer_to_forget(self._engine, self.principal, asked)
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
        return forget_matching(self._engine, self._request, admitted, read_thread(thread), keeps)

    def restore(self, ids: Texts, *, thread: str | None = None) -> Restored:
        """Restore what was forgotten, overridden or superseded.

        Possible until it is purged."""
        item_ids = validation.ids(ids)
        acting = locate_items(self._engine, self.principal, item_ids)
        return restore_items(
            self._engine, self._request.acting_as(acting), item_ids, read_thread(thread)
        )

    def erase(
        self,
        ids: Texts,
        *,
        now: bool = False,
        keep_evidence: bool = False,
        thread: str | None = None,
    ) -> Erased:
        """Erase items permanently, with all derived data.

        Cannot be undone. A memory takes along the turn or passage it came from, unless
        keep_evidence. now: wait for the compaction that removes the last bytes from the files.
        """
        compact = self._compaction(now)
        item_ids = validation.ids(ids)
        with self._hint_node_ids(item_ids):
            acting = locate_items(self._engine, self.principal, item_ids)
            return erase_items(
                self._engine,
                self._request.acting_as(acting),
                item_ids,
                compact,
                read_thread(thread),
                validation.flag(keep_evidence, "keep_evidence"),
            )

    def _compaction(self, now: bool) -> Compact | None:
        return partial(scrub, self._engine) if validation.flag(now, "now") else None

    @contextmanager
    def _hint_node_ids(
        self, item_ids: Sequence[str], otherwise: str | None = None
    ) -> Iterator[None]:
        """Removals need ids, because names can be ambiguous; an error for a name gives the node's
        id as its remedy. ``otherwise``: the remedy for all other texts."""
        try:
            yield
        except NotFound as error:
            for each in item_ids:
                if node := find_unambiguous_node(self._engine, self.principal, each):
                    remedy = f"Give its id: {node.id} is called {node.name!r}."
                    raise NotFound(error.message, remedy=remedy, field="ids") from None
            if otherwise is None:
                raise
            raise NotFound(error.message, remedy=otherwise, field="ids") from None

    def erase_user(self, *, now: bool = False) -> Erased:
        """Erase this user's whole memory permanently.

        Cannot be undone."""
        self._refuse_team_keys("erase a whole memory")
        return erase_user(self._engine, self._request, self._compaction(now))

    def verify_forget(self, text: str, *, files: bool = False) -> Verified:
        """Check whether a text is still stored anywhere.

        Looks in this user's memory; with files also in the bytes of the store's files (SQLite), of
        all users."""
        self._require_owner("search a whole memory for a text")
        sought = validation.text(text, "text")
        raw = validation.flag(files, "files")
        if raw:
            self._refuse_all_keys("search the store's files")
        scope = self.principal.scope
        found = self._engine.store.mentions(scope, sought, files=raw)
        receipts = self._engine.store.statistics(self.principal.scope).receipts
        return Verified(tuple(found), any(r.scrubbed_at is None for r in receipts))

    def _days_ago(self, days: float | None) -> datetime | None:
        if days is None:
            return None
        span = validation.number(days, "older_than_days", 0, validation.MAX_DAYS)
        return self._engine.clock() - timedelta(days=span)


class InboxVerbs(UserHandle):
    def forget_requests(
        self, *, limit: int = 50, after: str | None = None
    ) -> Sequence[OpenForgetRequest]:
        """List what you asked to forget in conversations.

        A language model found these requests, oldest first, each with the items it may mean.
        Nothing was forgotten: forget one or several of them by id, or dismiss the request with
        resolve. A request is listed for 7 days after it was said."""
        most = validation.integer(limit, "limit", 1, MAX_K)
        return list_forget_requests(self._engine, self.principal, most, read_cursor(after))

    def conflicts(
        self, *, limit: int = 50, after: str | None = None, alternatives: bool = False
    ) -> Sequence[OpenConflict]:
        """List open conflicts, oldest first.

        Each with its current and held values, evidence and dates. alternatives: include values that
        sources contradict."""
        most = validation.integer(limit, "limit", 1, MAX_K)
        others = validation.flag(alternatives, "alternatives")
        return inbox.list_conflicts(self._engine, self.principal, most, others, read_cursor(after))

    def resolve(
        self,
        conflict: str,
        choice: str,
        *,
        target: str | None = None,
        held: str | None = None,
        thread: str | None = None,
    ) -> Resolved:
        """Resolve a conflict: override, insert or dismiss.

        override: the held value replaces the target (undo with restore). insert: keep both.
        dismiss: keep the current value, or dismiss a request to forget."""
        id, decided = (
            validation.word(conflict, "conflict"),
            validation.choice(choice, "choice", Decided, {}),
        )
        if id.startswith(REQUEST_PREFIX):
            return dismiss_forget_request(
                self._engine, self._request, id, decided, read_thread(thread)
            )
        return resolve_conflict(
            self._engine,
            self._request,
            id,
            decided,
            None if target is None else validation.word(target, "target"),
            None if held is None else validation.word(held, "held"),
            read_thread(thread),
        )
