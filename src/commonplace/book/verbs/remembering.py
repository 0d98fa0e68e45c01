"""Remembering, changing, merging."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.book.requests import fields_of, given, listed, one_of, thread_name
from commonplace.book.verbs.handle import MAX_BATCH, Moment
from commonplace.book.verbs.recalling import Recalling
from commonplace.errors import InvalidInput
from commonplace.graph.find import node_called
from commonplace.graph.saying import MergedNodes, merge_nodes
from commonplace.model import check
from commonplace.model.graph.node import PREFIX as OF_NODES
from commonplace.recall.pack import Choice
from commonplace.recall.within import NONE
from commonplace.remember.merge import Merged, merge
from commonplace.remember.remember import Remembered, remember
from commonplace.remember.update import Updated, update


class Remembering(Recalling):
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
        """Store a memory: a note, contact, value, fact or rule.

        Kind, summary, tags and category are derived from the text unless given. The answer says how
        it relates to stored memories; a different value for a contact or kv is held until a person
        decides."""
        fields = given(locals())
        fields["thread_id"] = fields.pop("thread")
        return remember(self._desk, self.principal, [fields])[0]

    def remember_many(self, items: Sequence[Mapping[str, Any]]) -> Sequence[Remembered]:
        """Store several memories in one transaction.

        One call to the embedder; all are stored, or none."""
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
        """Update a memory.

        New content creates a new version (undo with restore); other fields change in place. By
        query: lists candidates and changes nothing."""
        wanted = given(locals(), without=("id", "query", "thread"))
        one_of(id=id, query=query)
        if id is None:
            return self._choice(query, "id", sources=NONE)  # a passage never changes
        return update(self._desk, self.principal, check.word(id, "id"), wanted, thread_name(thread))

    def merge(self, ids: Sequence[str], *, thread: str | None = None) -> Merged | MergedNodes:
        """Merge memories into a summary, or nodes into one.

        Memories become one stable summary, and the originals become history. Nodes, by id or name,
        become the first one; split undoes it."""
        wanted = check.ids(ids)
        if self._are_nodes(wanted):
            return merge_nodes(self._desk, self.principal, wanted)
        return merge(self._desk, self.principal, wanted, thread=thread_name(thread))

    def _are_nodes(self, ids: Sequence[str]) -> bool:
        """One that is called so is enough: then it is the others that are not there."""
        if any(id.startswith(OF_NODES) for id in ids):
            return True
        memories = {memory.id for memory in self._desk.store.fetch(self.principal.scope, ids)}
        rest = [id for id in ids if id not in memories]
        called = [id for id in rest if node_called(self._desk, self.principal, id)]
        if memories and called:
            raise InvalidInput(
                f"{called[0]!r} is a node, but other ids are memories.",
                remedy="Merge either memories or nodes.",
                field="ids",
            )
        return bool(called)
