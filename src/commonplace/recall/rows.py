"""Visit 2: the rows of the best, and the hits that are made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from commonplace.desk import Desk
from commonplace.language.suspicious import is_suspicious
from commonplace.model.memory import Memory, State
from commonplace.model.reach import Reading
from commonplace.model.scope import Principal
from commonplace.model.source import CATEGORY, PASSAGE, SPOKEN, Passage, Source
from commonplace.recall.conflicts import in_short
from commonplace.recall.explain import sentence
from commonplace.recall.pack import Citation, Hit
from commonplace.recall.plan import Plan
from commonplace.recall.planted import is_planted
from commonplace.recall.rank import Ranked


class Rows:
    """What changed since the indexes were asked is judged again."""

    def __init__(self, desk: Desk, principal: Principal, plan: Plan):
        self._desk = desk
        self._principal = principal
        self._plan = plan
        self._memories: dict[str, Memory] = {}
        self._passages: dict[tuple[Reading, int], Passage] = {}  # units are numbers of one scope
        self._sources: dict[tuple[Reading, str], Source] = {}
        self._turns: set[tuple[str, int]] = set()  # that have a hit

    def best(self, ranked: Sequence[Ranked], k: int) -> list[Ranked]:
        """The first k that still stand."""
        found: list[Ranked] = []
        for group in _in_turn(ranked, k):
            self._fetch(group)
            found += [each for each in group if self._stands(each) and self._is_news(each)]
            if len(found) >= k:
                break
        return found[:k]

    def memories_of(self, ranked: Sequence[Ranked]) -> Iterator[Memory]:
        return (self._memories[each.id] for each in ranked if not each.is_passage)

    def _fetch(self, group: Sequence[Ranked]) -> None:
        """Memories are the asker's own; passages may be of any scope, one statement for each."""
        ids = [each.id for each in group if not each.is_passage]
        memories = self._desk.store.fetch(self._principal.scope, ids)
        self._memories |= {memory.id: memory for memory in memories}
        units: dict[Reading, list[int]] = {}
        for each in group:
            if each.is_passage:
                units.setdefault(each.reading, []).append(each.unit)
        for reading, wanted in units.items():
            self._fetch_passages(reading, wanted)

    def _fetch_passages(self, reading: Reading, units: Sequence[int]) -> None:
        found = self._desk.store.passages(reading.scope, units)
        self._passages |= {(reading, unit): passage for unit, passage in found.items()}
        sources = {passage.source_id for passage in found.values()}
        missing = [id for id in sources if (reading, id) not in self._sources]
        for source in self._desk.sources(reading.scope, missing):
            self._sources[reading, source.id] = source

    def _stands(self, ranked: Ranked) -> bool:
        reading = ranked.reading
        visibility = self._plan.within.visibility(self._principal, reading)
        if ranked.is_passage:
            passage = self._passages.get((reading, ranked.unit))
            source = self._sources.get((reading, passage.source_id)) if passage else None
            return (
                source is not None
                and source.state is State.ACTIVE
                and reading.covers(source.id)
                and visibility.admits_source(source)
            )
        memory = self._memories.get(ranked.id)
        return (
            memory is not None
            and reading.is_own
            and memory.is_live(self._desk.clock())
            and visibility.admits(memory)
            and self._plan.filters.admits(memory)
        )

    def _said(self, ranked: Ranked) -> tuple[Passage, Source]:
        passage = self._passages[ranked.reading, ranked.unit]
        return passage, self._sources[ranked.reading, passage.source_id]

    def _is_news(self, ranked: Ranked) -> bool:
        """Of a long turn in a conversation its best passage: another turn says more than its
        rest. A document has no turns, only pages."""
        if not ranked.is_passage:
            return True
        passage, source = self._said(ranked)
        if source.content_type not in SPOKEN:
            return True
        turn = (passage.source_id, passage.turn)
        is_first = turn not in self._turns
        self._turns.add(turn)
        return is_first

    def hit(self, ranked: Ranked, against: Mapping[str, Sequence[str]]) -> Hit:
        hit = self._passage_hit(ranked) if ranked.is_passage else self._memory_hit(ranked, against)
        if not self._plan.explain:
            return hit
        return replace(hit, why=sentence(ranked), parts=dict(ranked.parts))

    def _memory_hit(self, ranked: Ranked, against: Mapping[str, Sequence[str]]) -> Hit:
        memory = self._memories[ranked.id]
        return Hit(
            id=memory.id,
            text=memory.content,
            kind=str(memory.kind),
            category=memory.category,
            date=memory.updated_at,
            similarity=ranked.similarity,
            score=ranked.score,
            source_type=memory.source_type,
            citation=Citation(memory.source_id) if memory.source_id else None,
            importance=memory.importance,
            tags=memory.tags,
            metadata=memory.metadata,
            disputed=in_short(against.get(memory.id, ())),
            summary=memory.summary if memory.summary != memory.content else None,
            suspicious=is_planted(memory),
        )

    def _passage_hit(self, ranked: Ranked) -> Hit:
        passage, source = self._said(ranked)
        is_own = ranked.reading.is_own
        return Hit(
            id=passage.id,
            text=passage.text,
            kind=PASSAGE,
            category=CATEGORY,
            date=passage.at,
            similarity=ranked.similarity,
            score=ranked.score,
            source_type=str(source.source_type),
            citation=Citation(
                source.id,
                title=source.title or None,
                position=passage.number,
                speaker=passage.speaker,
                session=passage.session,
                label=passage.label,
                team=None if is_own else source.team_id,
                brought_by=None if is_own else self._another(source.user_id),
            ),
            tags=source.tags,
            forgettable=False,
            suspicious=passage.suspicious or is_suspicious(passage.speaker or ""),
        )

    def _another(self, user_id: str) -> str | None:
        return user_id if user_id != self._principal.user_id else None


def _in_turn(ranked: Sequence[Ranked], first: int) -> Iterator[Sequence[Ranked]]:
    """Almost always the first group is enough."""
    start, end = 0, first
    while start < len(ranked):
        yield ranked[start:end]
        start, end = end, 3 * end
