"""recall: understand, plan, ask the arms, fuse, rank, pack; then note what was read, off the
answer's path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from commonplace.desk import Desk, Vector, visibility_of
from commonplace.language.suspicious import is_suspicious
from commonplace.model.changes import Bookkeeping
from commonplace.model.delta import shorten
from commonplace.model.filters import NO_FILTERS
from commonplace.model.journal import Entry, Op, Status
from commonplace.model.memory import Link, Memory, State
from commonplace.model.scope import Principal
from commonplace.model.source import CATEGORY, PASSAGE, SPOKEN, Passage, Source
from commonplace.recall.conflicts import held_against, in_short
from commonplace.recall.explain import sentence
from commonplace.recall.fuse import WEIGHTS
from commonplace.recall.log import log_turn, searched
from commonplace.recall.pack import Citation, Hit, Packing, Related, as_text, pack
from commonplace.recall.plan import Plan, Understood, understand
from commonplace.recall.planted import is_planted
from commonplace.recall.rank import Ranked, in_order
from commonplace.recall.shortlist import Shortlist, shortlist
from commonplace.recall.vocabulary import stamp_of, vocabulary

RELATED_BULLETS = 2
CANDIDATES = 64  # at least so many are looked at closely
_MORE = 8

__all__ = ["Plan", "Recalled", "note", "recall"]


@dataclass(frozen=True, slots=True)
class Recalled:
    query: str
    hits: tuple[Hit, ...]
    tokens: int
    degraded: bool  # answered by words alone: the embedder is down
    is_search: bool = True

    @property
    def is_empty(self) -> bool:
        return not self.hits

    @property
    def text(self) -> str:
        """The hits as bullets for a prompt."""
        return as_text(self.hits)


def recall(
    desk: Desk, principal: Principal, plans: Sequence[Plan], packing: Packing = pack
) -> list[Recalled]:
    """One answer for each plan, with one call to the embedder for all of them; they are plans of
    one turn."""
    wishes = [plan.explain for plan in plans]
    plans = [replace(plan, explain=plan.explain or desk.recall_log) for plan in plans]
    with desk.index.reading(principal.scope) as index:
        people, stamp = list(index.people), stamp_of(index, desk, principal)
    words = vocabulary(desk, principal, stamp)
    understood = [understand(plan.query, people, words) for plan in plans]
    vectors = desk.embed([text for each in understood for text in each.texts])
    answers, start = [], 0
    for plan, each in zip(plans, understood, strict=True):
        end = start + len(each.texts)
        mine = None if vectors is None else tuple(vectors[start:end])
        answers.append(_answer(desk, principal, plan, each, mine, packing))
        start = end
    if not desk.recall_log:
        return answers
    _log(desk, principal, plans, answers)
    return [
        answer if explained else _unexplained(answer)
        for answer, explained in zip(answers, wishes, strict=True)
    ]


def _log(
    desk: Desk, principal: Principal, plans: Sequence[Plan], answers: Sequence[Recalled]
) -> None:
    searches = [
        searched(plan.logged_as, plan.query, answer.hits)
        for plan, answer in zip(plans, answers, strict=True)
        if plan.logged_as
    ]
    if searches:
        log_turn(desk, principal, searches, plans[0].thread_id, plans[0].turn)


def _unexplained(answer: Recalled) -> Recalled:
    hits = (replace(hit, why=None, parts=None) for hit in answer.hits)
    return replace(answer, hits=tuple(hits))


def _answer(
    desk: Desk,
    principal: Principal,
    plan: Plan,
    understood: Understood,
    vectors: tuple[Vector, ...] | None,
    packing: Packing,
) -> Recalled:
    most = max(CANDIDATES, 4 * plan.k)
    while True:
        found = shortlist(desk, principal, plan, understood, vectors, most)
        links = _links(desk, principal, found)
        rows = _Rows(desk, principal, plan)
        best = rows.best(_with_relations(found.ranked, links), plan.k)
        if len(best) >= plan.k or found.is_all:
            break
        most *= _MORE  # one long turn had taken the places of others
    against = held_against(desk, principal, list(rows.memories_of(best)))
    hits = [rows.hit(ranked, against) for ranked in best]
    if plan.hits_only:
        return Recalled(plan.query, tuple(hits), 0, degraded=vectors is None)
    hits = _with_related(desk, principal, hits, links)
    packed, tokens = packing(hits, plan.budget_tokens)
    note(desk, principal, plan, packed, found.nearest)
    return Recalled(plan.query, tuple(packed), tokens, degraded=vectors is None)


def _links(desk: Desk, principal: Principal, found: Shortlist) -> list[Link]:
    """Of the memories among the best, to what the caller can still be shown; strongest first."""
    ids = [ranked.id for ranked in found.ranked if not ranked.is_passage]
    links = desk.store.links(principal.scope, ids)
    if not links:
        return []
    with desk.index.reading(principal.scope) as index:
        seen = index.candidates(NO_FILTERS, visibility_of(principal), desk.clock())
        slots = index.slot_of_id
        return [
            link
            for link in links
            if all(id in slots and seen[slots[id]] for id in (link.a, link.b))
        ]


def _with_relations(ranked: Sequence[Ranked], links: Sequence[Link]) -> list[Ranked]:
    strengths: dict[str, float] = {}
    for link in links:
        for id in (link.a, link.b):
            strengths[id] = max(strengths.get(id, 0.0), link.strength)
    if not strengths:
        return list(ranked)
    worth = WEIGHTS.of("relation")
    return in_order(
        [
            each.lifted("relation", worth * strengths[each.id]) if each.id in strengths else each
            for each in ranked
        ]
    )


class _Rows:
    """Visit 2: the rows of the best. What changed since the index was asked is judged again."""

    def __init__(self, desk: Desk, principal: Principal, plan: Plan):
        self._desk = desk
        self._principal = principal
        self._plan = plan
        self._memories: dict[str, Memory] = {}
        self._passages: dict[int, Passage] = {}
        self._sources: dict[str, Source] = {}
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
        store, scope = self._desk.store, self._principal.scope
        ids = [each.id for each in group if not each.is_passage]
        self._memories |= {memory.id: memory for memory in store.fetch(scope, ids)}
        self._passages |= store.passages(scope, [each.unit for each in group if each.is_passage])
        sources = {passage.source_id for passage in self._passages.values()}
        missing = list(sources - self._sources.keys())
        self._sources |= {source.id: source for source in store.sources(scope, missing)}

    def _stands(self, ranked: Ranked) -> bool:
        visibility = self._plan.within.visibility(self._principal)
        if ranked.is_passage:
            passage = self._passages.get(ranked.unit)
            source = self._sources.get(passage.source_id) if passage else None
            return (
                source is not None
                and source.state is State.ACTIVE
                and visibility.admits_source(source)
            )
        memory = self._memories.get(ranked.id)
        return (
            memory is not None
            and memory.is_live(self._desk.clock())
            and visibility.admits(memory)
            and self._plan.filters.admits(memory)
        )

    def _is_news(self, ranked: Ranked) -> bool:
        """Of a long turn in a conversation its best passage: another turn says more than its
        rest. A document has no turns, only pages."""
        if not ranked.is_passage:
            return True
        passage = self._passages[ranked.unit]
        if self._sources[passage.source_id].content_type not in SPOKEN:
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
            kind=memory.kind,
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
        passage = self._passages[ranked.unit]
        source = self._sources[passage.source_id]
        return Hit(
            id=passage.id,
            text=passage.text,
            kind=PASSAGE,
            category=CATEGORY,
            date=passage.at,
            similarity=ranked.similarity,
            score=ranked.score,
            source_type=source.source_type,
            citation=Citation(
                source.id,
                title=source.title or None,
                position=passage.number,
                speaker=passage.speaker,
                session=passage.session,
                label=passage.label,
            ),
            tags=source.tags,
            forgettable=False,
            suspicious=passage.suspicious or is_suspicious(passage.speaker or ""),
        )


def _in_turn(ranked: Sequence[Ranked], first: int) -> Iterator[Sequence[Ranked]]:
    """Almost always the first group is enough."""
    start, end = 0, first
    while start < len(ranked):
        yield ranked[start:end]
        start, end = end, 3 * end


def _with_related(
    desk: Desk, principal: Principal, hits: Sequence[Hit], links: Sequence[Link]
) -> list[Hit]:
    """One or two neighbours of each hit that are not hits themselves."""
    if not links:
        return list(hits)
    shown = {hit.id for hit in hits}
    wanted: dict[str, list[tuple[str, float]]] = {}
    for hit in hits:
        others = [
            (link.b if link.a == hit.id else link.a, link.strength)
            for link in links
            if hit.id in (link.a, link.b)
        ]
        wanted[hit.id] = [pair for pair in others if pair[0] not in shown]
    ids = [id for pairs in wanted.values() for id, _ in pairs]
    now, visibility = desk.clock(), visibility_of(principal)
    texts = {
        memory.id: shorten(memory.summary)
        for memory in desk.store.fetch(principal.scope, ids)
        if memory.is_live(now) and visibility.admits(memory) and not is_planted(memory)
    }
    return [_related(hit, wanted[hit.id], texts) for hit in hits]


def _related(hit: Hit, pairs: Sequence[tuple[str, float]], texts: Mapping[str, str]) -> Hit:
    visible = [Related(id, texts[id], strength) for id, strength in pairs if id in texts]
    return replace(hit, related=tuple(visible[:RELATED_BULLETS]))


def note(
    desk: Desk, principal: Principal, plan: Plan, hits: Sequence[Hit], nearest: float | None
) -> None:
    """What was read is written down later, off the answer's path."""
    entry = Entry(
        op=Op.SEARCH,
        node=plan.node,
        status=Status.OK if hits else Status.SKIPPED,
        similarity=nearest,
        meta={"hits": len(hits)},
    )
    desk.books.later(
        Bookkeeping(
            principal.scope,
            desk.clock(),
            touched={hit.id: 1 for hit in hits if hit.kind != PASSAGE},
            entries=(entry,),
            thread_id=plan.thread_id,
            actor=principal.actor,
        )
    )
