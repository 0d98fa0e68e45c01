"""What may be a hit: met or brought in, not archived, true and known at the time asked about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.standing import standing
from commonplace.model.source import Source
from commonplace.model.time_travel import last_said, was_said
from commonplace.recall.explore.asked import Asked
from commonplace.recall.explore.explanation import Match, MetBy
from commonplace.recall.explore.filters import admitted
from commonplace.recall.explore.gather import Gathered
from commonplace.recall.explore.score import Scored, fused, scored
from commonplace.recall.explore.view import View

Thing = Node | Edge | Source | Artifact
BroughtIn = Mapping[str, Match]  # by something else that was met


class Candidates:
    def __init__(self, view: View, asked: Asked, gathered: Gathered, now: datetime):
        self._view = view
        self._asked = asked
        self._gathered = gathered
        self._now = now
        self._fused = fused(gathered.by_query) if asked.widen else {}

    def met(self, known: Iterable[str]) -> dict[str, None]:
        """Those of the known ones that were met; where nothing is looked for, all of them."""
        if self._asked.is_open:
            return dict.fromkeys(known)
        return {id: None for id in known if id in self._gathered.matches}

    def admitted(self, edges: Iterable[Edge]) -> list[Edge]:
        """That held at the time asked about, and that the filters let pass."""
        then, now, nodes = self._asked.then, self._now, self._view.picture.nodes
        holding = (
            edge for edge in edges if edge.holds(then, now) and edge.a in nodes and edge.b in nodes
        )
        return admitted(holding, self._asked.relationship_filters)

    def scored(self, things: Iterable[Thing], brought_in: BroughtIn) -> list[Scored]:
        hits = (self._scored(thing, brought_in) for thing in things if self._is_known(thing))
        return [hit for hit in hits if hit is not None]

    def _scored(self, thing: Thing, brought_in: BroughtIn) -> Scored | None:
        stands = standing(thing, self._view.picture.marks_of(thing.id), self._now)
        if stands.is_archived and not self._asked.include_archived:
            return None
        matches = self._matches(thing.id, brought_in)
        return scored(
            thing.id,
            matches=matches,
            semantic=self._semantic(thing.id, matches),
            updated_at=_updated_at(thing),
            salience=stands.salience,
            weights=self._asked.weights,
            now=self._now,
        )

    def _matches(self, id: str, brought_in: BroughtIn) -> Sequence[Match]:
        if met := self._gathered.matches.get(id):
            return met
        return (brought_in[id],) if id in brought_in else ()

    def _semantic(self, id: str, matches: Sequence[Match]) -> float:
        """The best match; of several queries that were made from one, what they come to
        together. A match of words stands for itself."""
        if not self._asked.widen:
            return max((match.similarity for match in matches), default=0.0)
        by_words = (match.similarity for match in matches if match.by is not MetBy.QUERY)
        return max(self._fused.get(id, 0.0), *by_words, 0.0)

    def _is_known(self, thing: Thing) -> bool:
        then = self._asked.then
        if isinstance(thing, Source):
            return was_said(thing, then)
        return then.known_at is None or thing.created_at <= then.known_at


def _updated_at(thing: Thing) -> datetime:
    return last_said(thing) if isinstance(thing, Source) else thing.updated_at
