"""Recall: plan, candidates, hits, pack; record what was read, off the answer's path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from commonplace.engine.access import readable_scopes, visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.memories.inbox import load_disputes
from commonplace.engine.prompt_injection import is_injected_memory, is_quoted
from commonplace.engine.search.candidates import RecallRequest, select_candidates
from commonplace.engine.search.deep.fusion import fuse, keep_found
from commonplace.engine.search.graph.hits import GRAPH_KINDS, add_graph_hits
from commonplace.engine.search.graph.matches import asks_for_story
from commonplace.engine.search.hits import HitLoader
from commonplace.engine.search.overview import SPARE, arrange_overview
from commonplace.engine.search.pack import (
    Hit,
    PackFunction,
    RelatedMemory,
    as_text,
    best_similarity,
    merge_hits,
    pack,
)
from commonplace.engine.search.plan import DeepSearch, RecallPlan, parse_query
from commonplace.engine.search.profile_hits import (
    PROPOSAL_KIND,
    SPARE_HITS,
    add_asked_fields,
    add_proposals,
    asks_about_owner,
    put_owner_first,
)
from commonplace.engine.search.rank import WEIGHTS, Ranked, sort_ranked
from commonplace.engine.search.recall_log import build_search, log_turn
from commonplace.engine.search.supersession import (
    SETTLED,
    load_statements,
    mark_outdated,
    put_current_first,
    settle,
)
from commonplace.engine.search.withheld import Withheld, count_withheld
from commonplace.engine.understanding import load_terminology, load_vocabulary
from commonplace.model.access.principal import Principal, ReadableScope, merge_readable_scopes
from commonplace.model.changeset import Bookkeeping
from commonplace.model.delta import shorten
from commonplace.model.filters import NO_FILTERS, Filters
from commonplace.model.graph.salience import TOP_HITS
from commonplace.model.journal import Entry, JournalStatus, Op
from commonplace.model.memory.memory import Link, Memory
from commonplace.model.sources.source import PASSAGE_KIND
from commonplace.store.queries import NO_LIMIT, MemoryListing

RELATED_BULLETS = 2
_OTHER_KINDS = frozenset({PASSAGE_KIND, PROPOSAL_KIND, *GRAPH_KINDS})  # not memories
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
    withheld: Withheld | None = None  # what the agent's allowlist held back
    deep: DeepSearch | None = None  # of a deep query: the other wordings, and whose they are

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
        plans = [_select_by_metadata(engine, principal, plan) for plan in plans]
        readings = merge_readable_scopes(
            _readable_scopes(engine, principal, plans) if scopes is None else scopes
        )
        vocabulary = load_vocabulary(engine, principal, readings)
        terminology = load_terminology(engine, principal, vocabulary.stamp)
        archived = _archived_sources(engine, principal, plans)
    understood = [
        [
            parse_query(wording, vocabulary.people, terminology)
            for wording in (*plan.wordings, *plan.phrasings)
        ]
        for plan in plans
    ]
    texts = [text for wordings in understood for each in wordings for text in each.texts]
    vectors = engine.embed_queries(texts)
    answers, start = [], 0
    for plan, wordings in zip(plans, understood, strict=True):
        requests = []
        for each in wordings:
            end = start + len(each.texts)
            query_vectors = None if vectors is None else tuple(vectors[start:end])
            worded = replace(plan, query=each.query, also=(), deep=None)
            requests.append(
                RecallRequest(
                    engine,
                    principal,
                    readings,
                    worded,
                    each,
                    query_vectors,
                    asked=wordings[0],
                    archived=frozenset() if plan.include_archived else archived,
                )
            )
            start = end
        answers.append(_answer_plan(plan, requests, packing))
    if not engine.recall_log:
        return answers
    _log_recall(engine, principal, plans, answers)
    return [
        answer if explained else _without_explanation(answer)
        for answer, explained in zip(answers, explain_requested, strict=True)
    ]


def _select_by_metadata(
    engine: EngineContext, principal: Principal, plan: RecallPlan
) -> RecallPlan:
    """The index holds no metadata: the database selects, before anything is scored."""
    if not plan.filters.metadata:
        return plan
    listing = MemoryListing(
        filters=Filters(metadata=plan.filters.metadata),
        visibility=visibility_of(principal),
        now=engine.clock(),
        limit=NO_LIMIT,
    )
    found = frozenset(memory.id for memory in engine.store.page(principal.own_scope, listing))
    return replace(plan, within=replace(plan.within, ids=found))


def _readable_scopes(
    engine: EngineContext, principal: Principal, plans: Sequence[RecallPlan]
) -> tuple[ReadableScope, ...]:
    """A plan that names sources searches every readable scope, else only the searched ones."""
    is_named = any(plan.within.sources for plan in plans)
    return readable_scopes(engine, principal, searching=not is_named)


def _archived_sources(
    engine: EngineContext, principal: Principal, plans: Sequence[RecallPlan]
) -> frozenset[str]:
    """Of the caller; for a moment of the past, none: they are archived today."""
    if not engine.moment.is_now or all(plan.include_archived for plan in plans):
        return frozenset()
    return engine.store.archived_sources(principal.own_scope)


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


def _answer_plan(
    plan: RecallPlan, requests: Sequence[RecallRequest], packing: PackFunction
) -> Recalled:
    """``requests``: one for each wording of the plan's query, then one for each phrasing of a deep
    search."""
    engine, principal = requests[0].engine, requests[0].principal
    degraded = requests[0].vectors is None
    worded, phrased = requests[: len(plan.wordings)], requests[len(plan.wordings) :]
    with engine.store.read_session():
        found = [_load_hits(request) for request in worded]
        hits = found[0][0]
        if len(found) > 1:
            hits = put_current_first(merge_hits([each for each, _ in found], plan.k))
        if phrased:
            hits = keep_found(hits, _load_hits(requests[0], requests[1:])[0], plan.k)
        withheld = count_withheld(requests[0], phrased)
    nearest = max((near for _, near in found if near is not None), default=None)
    if plan.hits_only:
        return Recalled(plan.query, tuple(hits), 0, degraded, withheld=withheld, deep=plan.deep)
    packed, tokens = packing(hits, plan.budget_tokens)
    record_search(engine, principal, plan, packed, nearest)
    return Recalled(plan.query, tuple(packed), tokens, degraded, withheld=withheld, deep=plan.deep)


def _load_hits(
    request: RecallRequest, others: Sequence[RecallRequest] = ()
) -> tuple[list[Hit], float | None]:
    """Return the hits and the best similarity of all candidates. ``others``: other wordings of the
    request, whose candidates are fused with its own before rows are loaded."""
    asked, is_story = request.plan, asks_for_story(request)
    if (is_overview := is_about_something(request) and not is_story) or is_story:
        request = replace(request, plan=replace(asked, k=asked.k + SPARE))
    engine, principal, plan = request.engine, request.principal, request.plan
    limit = max(MIN_CANDIDATES, 4 * plan.k)
    wanted = plan.k + (SPARE_HITS if asks_about_owner(request) else 0)
    while True:
        shortlists = [select_candidates(each, limit) for each in (request, *others)]
        candidates = [each.ranked for each in shortlists]
        links = _visible_links(engine, principal, candidates)
        rows = HitLoader(engine, principal, plan, request.readings)
        lists = [_lift_linked(ranked, links) for ranked in candidates]
        checked = [each for ranked in lists for each in ranked[: SETTLED * plan.k]]
        statements = load_statements(engine, principal, plan, checked)
        settled = fuse(
            [settle(ranked, statements, memories=plan.within.memories) for ranked in lists]
        )
        best = rows.best(add_asked_fields(request, settled.ranked), wanted)
        if len(best) >= plan.k or all(each.is_all for each in shortlists):
            break
        limit *= _CANDIDATE_GROWTH  # several passages of one long turn crowded out other hits
    rows.load_merged(settled.passages, best)
    against = load_disputes(engine, principal, list(rows.memories_of(best)))
    loaded = [rows.hit(each, against) for each in best]
    hits = put_owner_first(request, mark_outdated(loaded, statements))[: plan.k]
    hits = add_proposals(request, hits)
    if is_story:
        request = replace(request, plan=asked)
    hits = _add_graph_hits(request, others, hits)[: request.plan.k]
    hits = [hit for hit in hits if not (hit.weak and plan.strict)]
    if is_overview:
        hits = arrange_overview(hits, frozenset(request.understood.terms), asked.k)
    if not plan.hits_only:
        hits = _load_related(engine, principal, hits, links)
    return hits, shortlists[0].nearest


def is_about_something(request: RecallRequest) -> bool:
    understood = request.understood
    return understood.is_overview and not understood.asks_for_all


def _add_graph_hits(
    request: RecallRequest, others: Sequence[RecallRequest], hits: Sequence[Hit]
) -> list[Hit]:
    """Of the first wording that the graph answers: the first others are complete questions."""
    answered = add_graph_hits(request, hits)
    for other in others:
        if any(hit.kind in GRAPH_KINDS for hit in answered):
            break
        answered = add_graph_hits(other, hits)
    return answered


def _visible_links(
    engine: EngineContext, principal: Principal, shortlists: Sequence[Sequence[Ranked]]
) -> list[Link]:
    """Links of the shortlisted memories whose two ends the caller can see; strongest first."""
    ids = list(
        dict.fromkeys(each.id for ranked in shortlists for each in ranked if not each.is_passage)
    )
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
        if memory.is_live(now)
        and visibility.admits(memory)
        and not is_injected_memory(engine, memory)
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
    """Record the search and what was read, after the answer was returned: memories, and per reader
    the sources of passages."""
    cited = dict.fromkeys(
        hit.citation.source for hit in hits if hit.kind == PASSAGE_KIND and hit.citation
    )
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
            touched={hit.id: 1 for hit in hits if hit.kind not in _OTHER_KINDS},
            read=_read_of_graph(hits)
            | {source: place < TOP_HITS for place, source in enumerate(cited)},
            entries=(entry,),
            thread_id=plan.thread_id,
            actor=principal.actor,
        )
    )


def _read_of_graph(hits: Sequence[Hit]) -> dict[str, bool]:
    """Whether each node, edge and artifact is among the first hits."""
    return {hit.id: at < TOP_HITS for at, hit in enumerate(hits) if hit.kind in GRAPH_KINDS}


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
