"""recall: plan, ask both arms, rank, pack; then note what was read, off the answer's path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from commonplace.desk import Desk, Vector, visibility_of
from commonplace.language.detect import script
from commonplace.model.changes import Bookkeeping
from commonplace.model.delta import shorten
from commonplace.model.filters import NO_FILTERS, Filters
from commonplace.model.journal import Entry, Node, Op, Status
from commonplace.model.memory import Link, Memory
from commonplace.model.scope import Principal
from commonplace.recall.arms import Found, ask_arms
from commonplace.recall.conflicts import held_against
from commonplace.recall.explain import sentence
from commonplace.recall.pack import Hit, Related, as_text, pack
from commonplace.recall.rank import Evidence, Floats, Promises, Ranked, ceilings, rank

RELATED_BULLETS = 2
LOOKED_AT = 200  # candidates at most: where hundreds are tied, more would not be better


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked request."""

    query: str
    k: int = 5
    budget_tokens: int | None = None
    filters: Filters = NO_FILTERS
    threshold: float | None = None
    explain: bool = False
    thread_id: str | None = None
    node: Node = Node.HOTPATH


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


def recall(desk: Desk, principal: Principal, plans: Sequence[Plan]) -> list[Recalled]:
    """One answer for each plan, with one call to the embedder for all of them."""
    vectors = desk.embed([plan.query for plan in plans])
    return [
        _answer(desk, principal, plan, None if vectors is None else vectors[place])
        for place, plan in enumerate(plans)
    ]


def _answer(desk: Desk, principal: Principal, plan: Plan, vector: Vector | None) -> Recalled:
    found = ask_arms(
        desk,
        principal.scope,
        plan.query,
        vector,
        plan.filters,
        visibility_of(principal),
        plan.k,
    )
    seen = _look_at_the_best(desk, principal, plan, found)
    best = seen.ranked[: plan.k]
    against = held_against(desk, principal, [ranked.memory for ranked in best])
    hits = [_hit(ranked, plan.explain, against) for ranked in best]
    hits = _with_related(desk, principal, hits, seen.links)
    packed, tokens = pack(hits, plan.budget_tokens)
    _note(desk, principal, plan, packed, seen.evidence)
    return Recalled(plan.query, tuple(packed), tokens, found.degraded)


@dataclass(slots=True)
class _Seen:
    """What is known of the candidates that were looked at."""

    links: Sequence[Link]  # strongest first
    evidence: list[Evidence] = field(default_factory=list)
    ranked: list[Ranked] = field(default_factory=list)


def _look_at_the_best(desk: Desk, principal: Principal, plan: Plan, found: Found) -> _Seen:
    """Links, then rows, the most promising first, until no other can come among the best.

    Ends as if all rows had been read: the most that a candidate can score is known without its
    row, and most often it is exactly what it scores.
    """
    now = desk.clock()
    promises = _promises(desk, plan, found)
    highest = ceilings(promises, plan.threshold)
    places = _promising(found, highest, plan.k)
    links = desk.store.links(principal.scope, [found.ids[place] for place in places])
    if links:
        strengths = _strongest(links)
        promises = replace(promises, related=np.array([strengths.get(id, 0) for id in found.ids]))
        highest = ceilings(promises, plan.threshold)
        places = _promising(found, highest, plan.k)
    seen = _Seen(links)
    for group in _in_turn(places, plan.k + 1):
        enough = len(seen.ranked) >= plan.k
        if enough and seen.ranked[plan.k - 1].score > highest[group[0]]:
            break
        _look(desk, principal, plan, found, promises, group, seen)
        seen.ranked = rank(seen.evidence, now, plan.threshold)
    return seen


def _promises(desk: Desk, plan: Plan, found: Found) -> Promises:
    asked = desk.similarities(found.cosines, plan.query)
    return Promises(
        similarities=np.full(len(found.ids), np.nan) if asked is None else asked,
        words=found.words,
        held=found.held,
        related=np.zeros(len(found.ids)),
        age_days=found.age_days,
        importance=found.importance,
        kinds=found.kinds,
        may_be_blind=desk.calibration.is_blind_somewhere,
    )


def _promising(found: Found, highest: Floats, wanted: int) -> list[int]:
    """Places of those that may be relevant, best first; before them the nearest in meaning,
    relevant or not, because the journal tells how near the best was."""
    by_promise = np.argsort(-highest, kind="stable")
    possible = np.count_nonzero(highest > -np.inf)
    promising: list[int] = by_promise[: min(possible, max(LOOKED_AT, wanted))].tolist()
    if np.isnan(found.cosines).all():
        return promising
    nearest = int(np.nanargmax(found.cosines))
    return [nearest, *(place for place in promising if place != nearest)]


def _in_turn(places: Sequence[int], first: int) -> Iterator[Sequence[int]]:
    """In growing groups: most answers are in the first."""
    start, end = 0, first
    while start < len(places):
        yield places[start:end]
        start, end = end, 3 * end


def _look(
    desk: Desk,
    principal: Principal,
    plan: Plan,
    found: Found,
    promises: Promises,
    places: Sequence[int],
    seen: _Seen,
) -> None:
    rows = desk.store.fetch(principal.scope, [found.ids[place] for place in places])
    visible = {memory.id: memory for memory in _admitted(desk, principal, plan, rows)}
    for place in places:
        memory = visible.get(found.ids[place])
        if memory is not None:
            asked = float(promises.similarities[place])
            seen.evidence.append(
                Evidence(
                    memory,
                    _similarity(desk, plan.query, memory, asked, float(found.cosines[place])),
                    float(found.words[place]),
                    float(found.held[place]),
                    float(promises.related[place]),
                )
            )


def _admitted(
    desk: Desk, principal: Principal, plan: Plan, rows: Sequence[Memory]
) -> Iterator[Memory]:
    """What changed since the arms were asked is judged again, by its row."""
    now, visibility = desk.clock(), visibility_of(principal)
    for memory in rows:
        if memory.is_live(now) and visibility.admits(memory) and plan.filters.admits(memory):
            yield memory


def _strongest(links: Sequence[Link]) -> dict[str, float]:
    strengths: dict[str, float] = {}
    for link in links:
        for id in (link.a, link.b):
            strengths[id] = max(strengths.get(id, 0.0), link.strength)
    return strengths


def _similarity(
    desk: Desk, query: str, memory: Memory, asked: float, cosine: float
) -> float | None:
    """Known only where the model can read both sides; ``asked`` is how the query's side sees it."""
    if math.isnan(asked):
        return None
    written_in = script(memory.content)
    if written_in is script(query):
        return asked
    told = desk.calibration.similarity(cosine, written_in)
    return None if told is None else min(asked, told)


def _hit(ranked: Ranked, explain: bool, against: Mapping[str, Sequence[str]]) -> Hit:
    memory = ranked.memory
    return Hit(
        id=memory.id,
        text=memory.content,
        kind=memory.kind,
        category=memory.category,
        date=memory.updated_at,
        similarity=ranked.similarity,
        score=round(ranked.score, 6),
        source_type=memory.source_type,
        citation=memory.source_id,
        importance=memory.importance,
        tags=memory.tags,
        metadata=memory.metadata,
        disputed=_disputed(against.get(memory.id, ())),
        why=sentence(ranked) if explain else None,
        parts=dict(ranked.parts) if explain else None,
    )


def _disputed(values: Sequence[str]) -> str | None:
    """The newest that waits, in short: who tells much must not push the memory out of a budget."""
    if not values:
        return None
    more = f" (and {len(values) - 1} more)" if len(values) > 1 else ""
    return f"{shorten(values[-1])}{more}"


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
        if memory.is_live(now) and visibility.admits(memory)
    }
    return [_related(hit, wanted[hit.id], texts) for hit in hits]


def _related(hit: Hit, pairs: Sequence[tuple[str, float]], texts: Mapping[str, str]) -> Hit:
    visible = [Related(id, texts[id], strength) for id, strength in pairs if id in texts]
    return replace(hit, related=tuple(visible[:RELATED_BULLETS]))


def _note(
    desk: Desk, principal: Principal, plan: Plan, hits: Sequence[Hit], evidence: Sequence[Evidence]
) -> None:
    known = [each.similarity for each in evidence if each.similarity is not None]
    entry = Entry(
        op=Op.SEARCH,
        node=plan.node,
        status=Status.OK if hits else Status.SKIPPED,
        similarity=max(known, default=None),
        meta={"hits": len(hits)},
    )
    desk.books.later(
        Bookkeeping(
            principal.scope,
            desk.clock(),
            touched={hit.id: 1 for hit in hits},
            entries=(entry,),
            thread_id=plan.thread_id,
            actor=principal.actor,
        )
    )
