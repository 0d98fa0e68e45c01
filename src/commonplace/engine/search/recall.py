"""Recall: plan, candidates, hits, pack; record what was read, off the answer's path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from commonplace.engine.access import readable_scopes, visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.memories.inbox import load_disputes
from commonplace.engine.prompt_injection import is_prompt_injection, is_quoted
from commonplace.engine.search.candidates import RecallRequest, Shortlist, select_candidates
from commonplace.engine.search.hits import HitLoader
from commonplace.engine.search.pack import (
    Hit,
    PackFunction,
    RelatedMemory,
    as_text,
    best_similarity,
    pack,
)
from commonplace.engine.search.plan import RecallPlan, parse_query
from commonplace.engine.search.rank import WEIGHTS, Ranked, sort_ranked
from commonplace.engine.search.recall_log import build_search, log_turn
from commonplace.engine.understanding import load_known_people, load_terminology
from commonplace.model.access.principal import Principal, ReadableScope, merge_readable_scopes
from commonplace.model.changeset import Bookkeeping
from commonplace.model.delta import shorten
from commonplace.model.filters import NO_FILTERS
from commonplace.model.journal import Entry, JournalStatus, Op
from commonplace.model.memory.memory import Link, Memory
from commonplace.model.sources.source import PASSAGE_KIND

RELATED_BULLETS = 2
MIN_CANDIDATES = 64  # lower bound of the shortlist
_CANDIDATE_GROWTH = 8

__all__ = ["RecallPlan", "Recalled", "recall", "record_search"]


@dataclass(frozen=True, slots=True)
class Recalled:
    query: str
    hits: tuple[Hit, ...]
    tokens: int
    degraded: bool  # lexical search only: the embedder is unavailable
    is_search: bool = True

    @property
    def is_empty(self) -> bool:
        return not self.hits

    @property
    def text(self) -> str:
        """The hits as bullets for a prompt."""
        return as_text(self.hits)


def recall(
    engine: EngineContext,
    principal: Principal,
    plans: Sequence[RecallPlan],
    packing: PackFunction = pack,
    scopes: Sequence[ReadableScope] | None = None,
) -> list[Recalled]:
    """Answer every plan of one turn, with a single embedder call for all of them. ``scopes`` limits
    the search; without it, all scopes that the caller may read are searched."""
    explain_requested = [plan.explain for plan in plans]
    plans = [replace(plan, explain=plan.explain or engine.recall_log) for plan in plans]
    with engine.store.read_session():
        readings = merge_readable_scopes(
            _readable_scopes(engine, principal, plans) if scopes is None else scopes
        )
        people, stamp = load_known_people(engine, principal, readings)
        terminology = load_terminology(engine, principal, stamp)
    understood = [parse_query(plan.query, people, terminology) for plan in plans]
    vectors = engine.embed([text for each in understood for text in each.texts])
    answers, start = [], 0
    for plan, each in zip(plans, understood, strict=True):
        end = start + len(each.texts)
        query_vectors = None if vectors is None else tuple(vectors[start:end])
        answers.append(
            _answer_plan(
                RecallRequest(engine, principal, readings, plan, each, query_vectors), packing
            )
        )
        start = end
    if not engine.recall_log:
        return answers
    _log_recall(engine, principal, plans, answers)
    return [
        answer if explained else _without_explanation(answer)
        for answer, explained in zip(answers, explain_requested, strict=True)
    ]


def _readable_scopes(
    engine: EngineContext, principal: Principal, plans: Sequence[RecallPlan]
) -> tuple[ReadableScope, ...]:
    """A plan that names sources searches every readable scope, else only the searched ones."""
    is_named = any(plan.within.sources for plan in plans)
    return readable_scopes(engine, principal, searching=not is_named)


def _log_recall(
    engine: EngineContext,
    principal: Principal,
    plans: Sequence[RecallPlan],
    answers: Sequence[Recalled],
) -> None:
    searches = [
        build_search(plan.logged_as, plan.query, answer.hits)
        for plan, answer in zip(plans, answers, strict=True)
        if plan.logged_as
    ]
    if searches:
        log_turn(engine, principal, searches, plans[0].thread_id, plans[0].turn)


def _without_explanation(answer: Recalled) -> Recalled:
    hits = (replace(hit, why=None, parts=None) for hit in answer.hits)
    return replace(answer, hits=tuple(hits))


def _answer_plan(request: RecallRequest, packing: PackFunction) -> Recalled:
    engine, principal, plan = request.engine, request.principal, request.plan
    degraded = request.vectors is None
    with engine.store.read_session():
        hits, nearest = _load_hits(request)
    if plan.hits_only:
        return Recalled(plan.query, tuple(hits), 0, degraded)
    packed, tokens = packing(hits, plan.budget_tokens)
    record_search(engine, principal, plan, packed, nearest)
    return Recalled(plan.query, tuple(packed), tokens, degraded)


def _load_hits(request: RecallRequest) -> tuple[list[Hit], float | None]:
    """Return the hits and the best similarity of all candidates."""
    engine, principal, plan = request.engine, request.principal, request.plan
    limit = max(MIN_CANDIDATES, 4 * plan.k)
    while True:
        shortlist = select_candidates(request, limit)
        links = _visible_links(engine, principal, shortlist)
        rows = HitLoader(engine, principal, plan, request.readings)
        best = rows.best(_lift_linked(shortlist.ranked, links), plan.k)
        if len(best) >= plan.k or shortlist.is_all:
            break
        limit *= _CANDIDATE_GROWTH  # several passages of one long turn crowded out other hits
    against = load_disputes(engine, principal, list(rows.memories_of(best)))
    hits = [rows.hit(ranked, against) for ranked in best]
    if not plan.hits_only:
        hits = _load_related(engine, principal, hits, links)
    return hits, shortlist.nearest


def _visible_links(engine: EngineContext, principal: Principal, shortlist: Shortlist) -> list[Link]:
    """Links of the shortlisted memories whose two ends the caller can see; strongest first."""
    ids = [ranked.id for ranked in shortlist.ranked if not ranked.is_passage]
    links = engine.store.links(principal.scope, ids)
    if not links:
        return []
    with engine.index.reading(principal.scope) as index:
        seen = index.candidates(NO_FILTERS, visibility_of(principal), engine.clock())
        slots = index.slot_of_id
        return [
            link
            for link in links
            if all(id in slots and seen[slots[id]] for id in (link.a, link.b))
        ]


def _lift_linked(ranked: Sequence[Ranked], links: Sequence[Link]) -> list[Ranked]:
    strengths: dict[str, float] = {}
    for link in links:
        for id in (link.a, link.b):
            strengths[id] = max(strengths.get(id, 0.0), link.strength)
    if not strengths:
        return list(ranked)
    weight = WEIGHTS.of("relation")
    return sort_ranked(
        [
            each.lifted("relation", weight * strengths[each.id]) if each.id in strengths else each
            for each in ranked
        ]
    )


def _load_related(
    engine: EngineContext, principal: Principal, hits: Sequence[Hit], links: Sequence[Link]
) -> list[Hit]:
    """Attach to each hit up to two linked memories that are not hits themselves."""
    if not links:
        return list(hits)
    shown = {hit.id for hit in hits}
    neighbours: dict[str, list[tuple[str, float]]] = {}
    for hit in hits:
        others = [
            (link.b if link.a == hit.id else link.a, link.strength)
            for link in links
            if hit.id in (link.a, link.b)
        ]
        neighbours[hit.id] = [pair for pair in others if pair[0] not in shown]
    ids = [id for pairs in neighbours.values() for id, _ in pairs]
    now, visibility = engine.clock(), visibility_of(principal)
    related = {
        memory.id: memory
        for memory in engine.store.fetch(principal.scope, ids)
        if memory.is_live(now) and visibility.admits(memory) and not is_prompt_injection(memory)
    }
    return [_attach_related(hit, neighbours[hit.id], related) for hit in hits]


def _attach_related(
    hit: Hit, pairs: Sequence[tuple[str, float]], related: Mapping[str, Memory]
) -> Hit:
    visible = [
        RelatedMemory(id, shorten(related[id].summary), strength, is_quoted(related[id]))
        for id, strength in pairs
        if id in related
    ]
    return replace(hit, related=tuple(visible[:RELATED_BULLETS]))


def record_search(
    engine: EngineContext,
    principal: Principal,
    plan: RecallPlan,
    hits: Sequence[Hit],
    nearest: float | None,
) -> None:
    """Record the search and the memories read, after the answer was returned."""
    entry = Entry(
        op=Op.SEARCH,
        node=plan.node,
        status=JournalStatus.OK if hits else JournalStatus.SKIPPED,
        similarity=nearest,
        meta={"hits": len(hits)},
    )
    engine.access_log.record_later(
        Bookkeeping(
            principal.scope,
            engine.clock(),
            touched={hit.id: 1 for hit in hits if hit.kind != PASSAGE_KIND},
            entries=(entry,),
            thread_id=plan.thread_id,
            actor=principal.actor,
        )
    )


def record_read_hits(
    engine: EngineContext,
    principal: Principal,
    plan: RecallPlan,
    hits: Sequence[Hit],
    verb: str,
    asked: str | None = None,
) -> None:
    """Record the hits that fitted the budget. ``asked``: the caller's original query, if the plan's
    query was expanded."""
    record_search(engine, principal, plan, hits, best_similarity(hits))
    log_turn(
        engine,
        principal,
        [build_search(verb, asked or plan.query, hits)],
        plan.thread_id,
        plan.turn,
    )
