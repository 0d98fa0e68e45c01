"""Hits: load the rows of the best candidates, recheck access, explain why each was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from commonplace.engine.context import EngineContext
from commonplace.engine.memories.inbox import summarise_dispute
from commonplace.engine.prompt_injection import (
    is_injected_memory,
    is_quoted,
    is_suspicious_again,
)
from commonplace.engine.search.pack import Citation, Hit
from commonplace.engine.search.plan import RecallPlan
from commonplace.engine.search.rank import MEANING_SIGNALS, WEIGHTS, WORD_SIGNALS, Ranked
from commonplace.language.observe.forget_requests import asks_only_to_forget
from commonplace.language.text.filler import content_terms, is_filler
from commonplace.model.access.principal import Principal, ReadableScope
from commonplace.model.delta import shorten
from commonplace.model.memory.memory import Memory, State
from commonplace.model.sources.source import (
    PASSAGE_KIND,
    SOURCE_CATEGORY,
    SPOKEN_CONTENT,
    Passage,
    Source,
    SpeakerRole,
    is_source_id,
)
from commonplace.store.queries import PassagesByUnit

_REASON_TEXTS = {
    "meaning": "its meaning is similar",
    "words": "it contains words of the query",
    "context": "the surrounding text matches",
    "speaker": "the person in the query said it",
    "date": "it was said at the time in the query",
    "answer": "it contains the type of answer asked for",
    "relation": "it is linked to other memories",
    "recency": "it is recent",
    "importance": "it is important",
    "named": "the query names it",
    "follows": "it follows a similar question",
    "introduces": "it is one of the first to mention it",
    "instructs": "the query asks for rules",
    "title": "another hit mentions its title",
    "graph": "the graph connects it with names in the query",
}
_MIN_SHARE = 0.12  # of the whole score
_MAX_REASONS = 3
_CLOSE_SIMILARITY = 0.2
MAX_SAID = 200  # characters of the turn that a memory was made from


def explain_hit(ranked: Ranked) -> str:
    reasons = [
        _describe_reason(name, ranked)
        for name, part in sorted(_reasons(ranked).items(), key=lambda reason: -reason[1])
        if ranked.score > 0
        and part / ranked.score >= _MIN_SHARE
        and _is_worth_showing(name, ranked)
    ]
    return f"Recalled because {_join_reasons(reasons) or 'no better match was found'}."


def _reasons(ranked: Ranked) -> dict[str, float]:
    """A window includes the unit itself: what exceeds the unit's own part comes from its
    neighbours. A unit without neighbours gets all of it."""
    parts = dict(ranked.parts)
    around = 0.0
    for own, *wider in (WORD_SIGNALS, MEANING_SIGNALS):
        own_signal = parts.get(own, 0.0) / WEIGHTS.of(own)
        for name in wider:
            part = parts.pop(name, 0.0)
            beyond = (
                max(0.0, part - own_signal * WEIGHTS.of(name)) if ranked.has_neighbours else 0.0
            )
            around += beyond
            parts[own] = parts.get(own, 0.0) + part - beyond
    parts["context"] = around
    return {name: part for name, part in parts.items() if name in _REASON_TEXTS}


def _is_worth_showing(name: str, ranked: Ranked) -> bool:
    """The nearest item is not always similar."""
    return name != "meaning" or ranked.similarity is None or ranked.similarity >= _CLOSE_SIMILARITY


def _join_reasons(reasons: list[str]) -> str:
    reasons = reasons[:_MAX_REASONS]
    if len(reasons) < 3:
        return " and ".join(reasons)
    return f"{', '.join(reasons[:-1])} and {reasons[-1]}"


def _describe_reason(name: str, ranked: Ranked) -> str:
    if name == "meaning" and ranked.similarity is not None:
        return f"{_REASON_TEXTS[name]} ({ranked.similarity:.0%})"
    if name == "words" and ranked.held:
        return f"{_REASON_TEXTS[name]} ({ranked.held:.0%} of them)"
    return _REASON_TEXTS[name]


class HitLoader:
    """Loads hits and checks again what changed since the indexes were searched."""

    def __init__(
        self,
        engine: EngineContext,
        principal: Principal,
        plan: RecallPlan,
        readings: Sequence[ReadableScope],
    ):
        self._engine = engine
        self._principal = principal
        self._plan = plan
        self._others = [reading for reading in readings if not reading.is_own]
        self._authors: dict[str, str] = {}  # other users, by source
        self._memories: dict[str, Memory] = {}
        self._passages: dict[
            tuple[ReadableScope, int], Passage
        ] = {}  # unit numbers are unique only within a scope
        self._sources: dict[tuple[ReadableScope, str], Source] = {}
        self._turns: set[tuple[str, int]] = set()  # turns that have a hit
        self._merged: dict[str, Ranked] = {}  # passages that are one hit with a memory

    def best(self, ranked: Sequence[Ranked], k: int) -> list[Ranked]:
        """The first k that are still live and visible."""
        found: list[Ranked] = []
        for group in _in_batches(ranked, k):
            self._fetch(group)
            found += [
                each
                for each in group
                if self._is_current(each) and self._says_something(each) and self._is_new_turn(each)
            ]
            if len(found) >= k:
                break
        self._load_authors(found[:k])
        return found[:k]

    def _load_authors(self, found: Sequence[Ranked]) -> None:
        """Who brought the sources from which memories among the hits were extracted."""
        ids = {str(memory.source_id) for memory in self.memories_of(found) if memory.source_id}
        wanted = sorted(filter(is_source_id, ids))
        for reading in self._others if wanted else ():
            for source in self._engine.live_sources(reading.scope, wanted):
                if source.user_id != self._principal.user_id and reading.covers(source.id):
                    self._authors[source.id] = source.user_id

    def memories_of(self, ranked: Sequence[Ranked]) -> Iterator[Memory]:
        return (self._memories[each.id] for each in ranked if not each.is_passage)

    def _fetch(self, group: Sequence[Ranked]) -> None:
        """Memories are in the caller's scope; passages take one statement for each scope."""
        ids = [each.id for each in group if not each.is_passage]
        memories = self._engine.store.fetch(self._principal.scope, ids)
        self._memories |= {memory.id: memory for memory in memories}
        units: dict[ReadableScope, list[int]] = {}
        for each in group:
            if each.is_passage:
                units.setdefault(each.reading, []).append(each.unit)
        for reading, unit_numbers in units.items():
            self._fetch_passages(reading, unit_numbers)

    def _fetch_passages(self, reading: ReadableScope, units: Sequence[int]) -> None:
        passages = self._engine.store.passages(reading.scope, PassagesByUnit(units))
        self._passages |= {(reading, unit): passage for unit, passage in passages.items()}
        sources = {passage.source_id for passage in passages.values()}
        missing = [id for id in sources if (reading, id) not in self._sources]
        for source in self._engine.live_sources(reading.scope, missing):
            self._sources[reading, source.id] = source

    def _is_current(self, ranked: Ranked) -> bool:
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
            and memory.is_live(self._engine.clock())
            and visibility.admits(memory)
            and self._plan.filters.admits(memory)
        )

    def _passage_and_source(self, ranked: Ranked) -> tuple[Passage, Source]:
        passage = self._passages[ranked.reading, ranked.unit]
        return passage, self._sources[ranked.reading, passage.source_id]

    def _says_something(self, ranked: Ranked) -> bool:
        if not ranked.is_passage:
            return True
        passage, source = self._passage_and_source(ranked)
        if source.content_type not in SPOKEN_CONTENT:
            return True
        return not (is_filler(passage.text, passage.role) or _is_forget_request(passage))

    def _is_new_turn(self, ranked: Ranked) -> bool:
        """Keep one passage, the best, of each turn of a conversation: other turns add more than the
        rest of a long one. Documents have no turns."""
        if not ranked.is_passage:
            return True
        passage, source = self._passage_and_source(ranked)
        if source.content_type not in SPOKEN_CONTENT:
            return True
        turn = (passage.source_id, passage.turn)
        is_first = turn not in self._turns
        self._turns.add(turn)
        return is_first

    def load_merged(self, passages: Mapping[str, Ranked], best: Sequence[Ranked]) -> None:
        """Passages that are one hit with a memory among the best, by memory."""
        self._merged = {each.id: passages[each.id] for each in best if each.id in passages}
        if self._merged:
            self._fetch([*self._merged.values()])

    def hit(self, ranked: Ranked, disputes: Mapping[str, Sequence[str]]) -> Hit:
        hit = self._passage_hit(ranked) if ranked.is_passage else self._memory_hit(ranked, disputes)
        if not self._plan.explain:
            return hit
        return replace(hit, why=explain_hit(ranked), parts=dict(ranked.parts))

    def _memory_hit(self, ranked: Ranked, disputes: Mapping[str, Sequence[str]]) -> Hit:
        memory = self._memories[ranked.id]
        said_as, said_by = self._said_as(memory)
        return Hit(
            id=memory.id,
            text=memory.content,
            kind=str(memory.kind),
            category=memory.category,
            date=memory.updated_at,
            similarity=ranked.similarity,
            score=ranked.score,
            source_type=memory.source_type,
            citation=self._cite(memory),
            importance=memory.importance,
            tags=memory.tags,
            metadata=memory.metadata,
            disputed=summarise_dispute(disputes.get(memory.id, ())),
            summary=memory.summary if memory.summary != memory.content else None,
            evidence=tuple(each for each in memory.evidence if is_source_id(each)),
            said_as=said_as,
            said_by=said_by,
            suspicious=is_injected_memory(self._engine, memory),
            weak=ranked.weak,
            quoted=is_quoted(memory),
        )

    def _said_as(self, memory: Memory) -> tuple[str | None, str | None]:
        """The words of the turn and who said them, if the memory leaves something out of them."""
        merged = self._merged.get(memory.id)
        passage = self._passages.get((merged.reading, merged.unit)) if merged else None
        if passage is None or passage.suspicious:
            return None, None
        told = content_terms(" ".join((memory.content, *map(str, memory.metadata.values()))))
        if not content_terms(passage.text) - told:
            return None, None
        return shorten(passage.text, MAX_SAID), passage.speaker or passage.role

    def _cite(self, memory: Memory) -> Citation | None:
        if memory.source_id is None:
            return None
        return Citation(memory.source_id, brought_by=self._authors.get(memory.source_id))

    def _passage_hit(self, ranked: Ranked) -> Hit:
        passage, source = self._passage_and_source(ranked)
        is_own = ranked.reading.is_own
        return Hit(
            id=passage.id,
            text=passage.text,
            kind=PASSAGE_KIND,
            category=SOURCE_CATEGORY,
            date=source.local_time(passage.at),
            similarity=ranked.similarity,
            score=ranked.score,
            source_type=str(source.source_type),
            citation=Citation(
                source.id,
                title=source.title or None,
                position=passage.number,
                speaker=passage.speaker,
                role=passage.role,
                session=passage.session,
                label=passage.label,
                team=None if is_own else source.team_id,
                brought_by=None if is_own else self._another(source.user_id),
            ),
            tags=source.tags,
            forgettable=is_own,
            suspicious=passage.suspicious
            or is_suspicious_again(self._engine, passage.speaker or ""),
            weak=ranked.weak,
            quoted=True,
        )

    def _another(self, user_id: str) -> str | None:
        return user_id if user_id != self._principal.user_id else None


def _in_batches(ranked: Sequence[Ranked], first: int) -> Iterator[Sequence[Ranked]]:
    """The first batch is almost always enough."""
    start, end = 0, first
    while start < len(ranked):
        yield ranked[start:end]
        start, end = end, 3 * end


def _is_forget_request(passage: Passage) -> bool:
    """A request to forget names what it is about; it tells nothing of it."""
    return passage.role == SpeakerRole.USER and asks_only_to_forget(passage.text)
