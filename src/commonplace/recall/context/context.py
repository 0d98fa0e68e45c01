"""context: gather the layers, recall for the query, compose; then note what was recalled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from commonplace.desk import Desk
from commonplace.model.delta import MAX_BULLETS, Delta
from commonplace.model.filters import Filters
from commonplace.model.journal import Node
from commonplace.model.scope import Principal
from commonplace.recall.changes import has_looked, since_last_look
from commonplace.recall.context import now, wording
from commonplace.recall.context.cards import Asked
from commonplace.recall.context.compose import Composed, Lines, compose
from commonplace.recall.context.gather import Gathered, gather
from commonplace.recall.context.layers import (
    BY_NAME,
    Name,
    asks_for_procedures,
    is_light,
    is_wanted,
)
from commonplace.recall.context.noting import was_read
from commonplace.recall.context.values import Cited, Context, Item
from commonplace.recall.pack import Hit
from commonplace.recall.plan import Plan
from commonplace.recall.recall import Recalled, recall
from commonplace.recall.understanding import understanding
from commonplace.recall.within import Within

_FEWEST, _MOST = 12, 500  # hits that are looked at
_TYPICAL = 40  # tokens of the budget for each

_WORDS = {
    Name.SOUL: wording.in_full,
    Name.RULES: wording.in_full,
    Name.IDENTITY: wording.plainly,
    Name.STANDING: wording.by_category,
    Name.EPISODES: wording.by_date,
    Name.SUMMARIES: wording.by_date,
}


def context(desk: Desk, principal: Principal, asked: Asked) -> Context:
    gathered = gather(desk, principal, asked)
    meant = _in_other_words(desk, principal, asked)
    plan = _plan(desk, asked, meant)
    recalled = recall(desk, principal, [plan])[0] if plan else None
    delta = _delta(desk, principal, asked)
    lines = [
        *_of_memories(gathered),
        _hits(recalled, desk, asked, gathered.talks.heard),
        _time(gathered, asked),
    ]
    composed = _with_changes(lines, delta, asked.budget)
    if delta and (not delta.header or _says_changes(composed)):  # else it is told next time
        has_looked(desk, principal, asked.thread, delta)
    if plan and recalled:
        said = _said(recalled, composed.citations)
        was_read(desk, principal, plan, said, "context", asked.query)
    return Context(
        query=meant,
        stable_text=composed.text_of(stable=True),
        volatile_text=composed.text_of(stable=False),
        tokens=composed.tokens,
        budget_tokens=asked.budget,
        parts=composed.parts,
        citations=composed.citations,
        delta=delta,
        degraded=recalled is not None and recalled.degraded,
    )


def _in_other_words(desk: Desk, principal: Principal, asked: Asked) -> str | None:
    """A follow-up says little by itself: what the conversation was about is put in."""
    if asked.query is None:
        return None
    return understanding(desk, principal, asked.query, thread=asked.thread).query


def _delta(desk: Desk, principal: Principal, asked: Asked) -> Delta | None:
    """A look at the past tells no changes, and moves no cursor. Who asks for some categories hears
    of these, and how many others there were."""
    if asked.is_past:
        return None
    delta = since_last_look(desk, principal, asked.thread, in_short=not asked.categories)
    wanted = tuple(each for each in delta.changes if asked.asks_for(each.category))
    return replace(delta, changes=wanted, elsewhere=len(delta.changes) - len(wanted))


def _with_changes(lines: Sequence[Lines], delta: Delta | None, budget: int) -> Composed:
    """A header is said whole, for its last line counts what it leaves out: it has as many bullets
    as there is room for."""
    order = list(BY_NAME)
    for bullets in range(MAX_BULLETS, -1, -1):
        header = delta.header_of(bullets) if delta and bullets else ""
        told = [*lines, _changes(header)]
        composed = compose(sorted(told, key=lambda each: order.index(each.layer.name)), budget)
        if not header or _says_changes(composed):
            break
    return composed


def _says_changes(composed: Composed) -> bool:
    return any(part.layer == Name.CHANGES for part in composed.parts)


def _of_memories(gathered: Gathered) -> list[Lines]:
    found = []
    for name, say in _WORDS.items():
        items = [
            (wording.as_goal if name is Name.IDENTITY and memory.id in gathered.goals else say)(
                memory, gathered.disputed.get(memory.id)
            )
            for memory in gathered.memories[name]
        ]
        older = gathered.older if name is Name.STANDING else 0
        found.append(Lines(BY_NAME[name], items, older=older))
    return found


def _changes(header: str) -> Lines:
    heading, _, bullets = header.partition("\n")
    return Lines(BY_NAME[Name.CHANGES], [Item(bullets)] if bullets else [], heading)


def _time(gathered: Gathered, asked: Asked) -> Lines:
    said = {m.id: m.metadata.get("value") for m in gathered.memories[Name.IDENTITY]}
    zone = now.zone_of(said.get(now.ZONE))
    told = now.lines(asked.moment, zone, gathered.talks.last)
    return Lines(BY_NAME[Name.TIME], [Item(line) for line in told])


def _plan(desk: Desk, asked: Asked, meant: str | None) -> Plan | None:
    if meant is None or asked.budget == 0:
        return None
    return Plan(
        query=meant,
        k=max(_FEWEST, min(_MOST, asked.budget // _TYPICAL)),
        filters=Filters(categories=asked.categories),
        explain=desk.recall_log,
        thread_id=asked.thread,
        turn=asked.turn,
        logged_as=None,
        node=Node.CONTEXT,
        within=Within(procedures=asks_for_procedures(asked.categories)),
        hits_only=True,
    )


def _hits(recalled: Recalled | None, desk: Desk, asked: Asked, heard: frozenset[str]) -> Lines:
    found = recalled.hits if recalled else ()
    hits = _best_of_each([hit for hit in found if _may_enter(hit, asked, heard)], desk)
    return Lines(BY_NAME[Name.RECALLED], [wording.of_hit(hit) for hit in hits])


def _best_of_each(hits: Sequence[Hit], desk: Desk) -> list[Hit]:
    """At most so many of a category as the file says; insights last."""
    said = desk.categories()
    counts: Counter[str] = Counter()
    found: list[Hit] = []
    for hit in hits:
        if counts[hit.category] < said.known(hit.category).rag_length:
            counts[hit.category] += 1
            found.append(hit)
    return sorted(found, key=lambda hit: is_light(hit.kind))


def _may_enter(hit: Hit, asked: Asked, heard: frozenset[str]) -> bool:
    """What reads like instructions to an agent does not enter its prompt; nor does what was said
    in this thread just now, the question itself first of all."""
    is_news = not hit.suspicious and hit.id not in heard
    return is_news and is_wanted(hit.kind, hit.category, asked.categories)


def _said(recalled: Recalled, cited: Sequence[Cited]) -> list[Hit]:
    """What was recalled and found room. Lists that everybody gets are not touched."""
    said = {each.id for each in cited if each.layer == Name.RECALLED}
    return [hit for hit in recalled.hits if hit.id in said]
