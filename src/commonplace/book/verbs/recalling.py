"""Recalling, browsing, looking at one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from commonplace.book.requests import (
    given,
    listed,
    moments,
    optional_integer,
    refuse_both,
    thread_name,
)
from commonplace.book.verbs.handle import MAX_BATCH, MAX_K, MAX_TURN, Handle, Moment, Texts
from commonplace.desk import Desk
from commonplace.errors import MissingField, NotFound
from commonplace.graph.artifacts import ShownArtifact, show_artifact
from commonplace.graph.find import node_called
from commonplace.graph.first_reading import extract_when_first_read
from commonplace.model import check
from commonplace.model.graph.artifact import PREFIX as OF_ARTIFACTS
from commonplace.model.graph.edge import PREFIX as OF_EDGES
from commonplace.model.graph.node import PREFIX as OF_NODES
from commonplace.model.reach import Reading
from commonplace.recall import look_up
from commonplace.recall.graph.nodes import WholeEdge, WholeNode, show_edge, show_node
from commonplace.recall.look_up_sources import ShownSource, known_source, show_source
from commonplace.recall.pack import Choice, Hit
from commonplace.recall.past import desk_at
from commonplace.recall.recall import Plan, Recalled, recall
from commonplace.recall.within import EVERYWHERE, Within, within


class Recalling(Handle):
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
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        explain: bool = False,
        thread: str | None = None,
        turn: int | None = None,
    ) -> Recalled:
        """Search memories and source passages for a query.

        Best first, within a token budget; the answer is empty when nothing is relevant. Use it for
        a question about a fact; use list or sources to browse. as_of: what was true then. known_at:
        what was known then."""
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
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        explain: bool = False,
        thread: str | None = None,
        turn: int | None = None,
    ) -> Sequence[Recalled]:
        """Search for several queries with one embedder call.

        One answer per query."""
        admitted = self._filters(filters, kinds=kinds, categories=categories)
        desk = self._desk_at(as_of, known_at)
        looked_at = EVERYWHERE if sources is None else self._within(desk, sources)
        plans = [
            Plan(
                query=check.text(query, "query"),
                k=check.integer(k, "k", 1, MAX_K),
                budget_tokens=optional_integer(budget_tokens, "budget_tokens", 0, 10_000_000),
                filters=admitted,
                threshold=None if threshold is None else check.number(threshold, "threshold", 0, 1),
                explain=check.flag(explain, "explain"),
                thread_id=thread_name(thread),
                turn=optional_integer(turn, "turn", 0, MAX_TURN),
                within=looked_at,
            )
            for query in listed(queries, MAX_BATCH)
        ]
        found = recall(desk, self.principal, plans)
        self._first_read(hit for each in found for hit in each.hits)
        return found

    def _first_read(self, hits: Iterable[Hit]) -> None:
        cited = [hit.citation for hit in hits if hit.citation and hit.citation.team]
        extract_when_first_read(self._desk, self.principal, [each.source for each in cited])

    def list(
        self,
        *,
        kinds: Texts | None = None,
        categories: Texts | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int = 50,
        after: str | None = None,
        forgotten: bool = False,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> look_up.Page:
        """List memories, newest first.

        forgotten: those that can be restored. as_of: what was true then. known_at: what was known
        then."""
        refuse_both(forgotten, as_of, known_at)
        return look_up.list_memories(
            self._desk_at(as_of, known_at),
            self.principal,
            self._filters(filters, kinds=kinds, categories=categories),
            check.integer(limit, "limit", 1, MAX_K),
            None if after is None else check.id(after, "after"),
            check.flag(forgotten, "forgotten"),
        )

    def show(
        self, id: str, *, as_of: Moment | None = None, known_at: Moment | None = None
    ) -> look_up.Shown | ShownSource | WholeNode | WholeEdge | ShownArtifact:
        """Show one item: memory, source, node, edge or artifact.

        A memory with its fields, versions and links; a source with its passages; a passage with
        those around it; a node by id or name. as_of and known_at show an earlier state."""
        wanted = check.id(id)
        then = moments(as_of, known_at, self._desk.clock())
        desk = desk_at(self._desk, self.principal, then)
        if source := known_source(desk, self.principal, wanted):
            shown = show_source(desk, self.principal, source)
            if shown.source.team_id:
                extract_when_first_read(self._desk, self.principal, [shown.source.id])
            return shown
        if wanted.startswith(OF_NODES):
            return show_node(self._desk, self.principal, wanted, then)
        if wanted.startswith(OF_EDGES):
            return show_edge(self._desk, self.principal, wanted)
        if wanted.startswith(OF_ARTIFACTS):
            return show_artifact(self._desk, self.principal, wanted)
        try:
            return look_up.show(desk, self.principal, wanted, then)
        except NotFound:
            if node_called(self._desk, self.principal, wanted) is None:
                raise
            return show_node(self._desk, self.principal, wanted, then)

    def _within(self, desk: Desk, sources: Texts) -> Within:
        return within(desk, self.principal, check.ids(sources, "sources"))

    def _choice(self, query: str | None, instead_of: str, sources: Texts | None = None) -> Choice:
        if query is None:
            raise MissingField(f"Give {instead_of} or a query.", field=instead_of)
        looked_at = EVERYWHERE if sources is None else self._within(self._desk, sources)
        plan = Plan(query=check.text(query, "query"), within=looked_at)
        own = Reading(self.principal.home)  # nobody changes or forgets what is another's
        found = recall(self._desk, self.principal, [plan], reach=(own,))[0]
        return Choice(found.query, found.hits)
