"""recall: understand, plan, ask the arms, fuse, rank, pack; then note what was read, off the
answer's path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from commonplace.desk import Desk, reach_of, visibility_of
from commonplace.model.changes import Bookkeeping
from commonplace.model.delta import shorten
from commonplace.model.filters import NO_FILTERS
from commonplace.model.journal import Entry, Op, Status
from commonplace.model.memory import Link
from commonplace.model.reach import Reading, each_scope_once
from commonplace.model.scope import Principal
from commonplace.model.source import PASSAGE
from commonplace.recall.conflicts import held_against
from commonplace.recall.fuse import WEIGHTS
from commonplace.recall.known import known_before
from commonplace.recall.log import log_turn, searched
from commonplace.recall.pack import Hit, Packing, Related, as_text, pack
from commonplace.recall.plan import Plan, understand
from commonplace.recall.planted import is_planted
from commonplace.recall.rank import Ranked, in_order
from commonplace.recall.rows import Rows
from commonplace.recall.shortlist import Asking, Shortlist, shortlist
from commonplace.recall.vocabulary import vocabulary

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
    desk: Desk,
    principal: Principal,
    plans: Sequence[Plan],
    packing: Packing = pack,
    reach: Sequence[Reading] | None = None,
) -> list[Recalled]:
    """One answer for each plan, with one call to the embedder for all of them; they are plans of
    one turn. ``reach`` narrows where it looks; without it, everywhere that they may read."""
    wishes = [plan.explain for plan in plans]
    plans = [replace(plan, explain=plan.explain or desk.recall_log) for plan in plans]
    readings = each_scope_once(_reach(desk, principal, plans) if reach is None else reach)
    people, stamp = known_before(desk, principal, readings)
    words = vocabulary(desk, principal, stamp)
    understood = [understand(plan.query, people, words) for plan in plans]
    vectors = desk.embed([text for each in understood for text in each.texts])
    answers, start = [], 0
    for plan, each in zip(plans, understood, strict=True):
        end = start + len(each.texts)
        mine = None if vectors is None else tuple(vectors[start:end])
        answers.append(_answer(Asking(desk, principal, readings, plan, each, mine), packing))
        start = end
    if not desk.recall_log:
        return answers
    _log(desk, principal, plans, answers)
    return [
        answer if explained else _unexplained(answer)
        for answer, explained in zip(answers, wishes, strict=True)
    ]


def _reach(desk: Desk, principal: Principal, plans: Sequence[Plan]) -> tuple[Reading, ...]:
    """A source that is named is looked for wherever it may be read."""
    is_named = any(plan.within.sources for plan in plans)
    return reach_of(desk, principal, searching=not is_named)


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


def _answer(asking: Asking, packing: Packing) -> Recalled:
    desk, principal, plan = asking.desk, asking.principal, asking.plan
    degraded = asking.vectors is None
    most = max(CANDIDATES, 4 * plan.k)
    while True:
        found = shortlist(asking, most)
        links = _links(desk, principal, found)
        rows = Rows(desk, principal, plan)
        best = rows.best(_with_relations(found.ranked, links), plan.k)
        if len(best) >= plan.k or found.is_all:
            break
        most *= _MORE  # one long turn had taken the places of others
    against = held_against(desk, principal, list(rows.memories_of(best)))
    hits = [rows.hit(ranked, against) for ranked in best]
    if plan.hits_only:
        return Recalled(plan.query, tuple(hits), 0, degraded)
    hits = _with_related(desk, principal, hits, links)
    packed, tokens = packing(hits, plan.budget_tokens)
    note(desk, principal, plan, packed, found.nearest)
    return Recalled(plan.query, tuple(packed), tokens, degraded)


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
