"""Context: select memories for each layer, recall for the query, compose, record reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from commonplace.engine.access import visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.history.changes import load_delta, move_cursor
from commonplace.engine.memories.inbox import load_disputes, summarise_dispute
from commonplace.engine.prompt_context import wording
from commonplace.engine.prompt_context.budget import (
    STABLE_SHARE,
    ComposedText,
    LayerLines,
    compose_text,
)
from commonplace.engine.prompt_context.layers import (
    LAYER_BY_NAME,
    RECENT_PERIOD,
    Context,
    ContextCitation,
    ContextLine,
    LayerName,
    asks_for_procedures,
    is_low_priority,
    is_shown,
)
from commonplace.engine.prompt_context.wording import Conversations, find_conversations
from commonplace.engine.prompt_injection import may_enter_prompt
from commonplace.engine.search.pack import Hit
from commonplace.engine.search.plan import RecallPlan, SearchTargets
from commonplace.engine.search.recall import Recalled, recall, record_read_hits
from commonplace.engine.understanding import understand_message
from commonplace.model.access.principal import Principal
from commonplace.model.delta import MAX_BULLETS, Delta
from commonplace.model.filters import Filters, Visibility
from commonplace.model.journal import JournalNode
from commonplace.model.memory.kinds import POLICIES, Categories, ContextMode, Kind
from commonplace.model.memory.memory import Memory
from commonplace.model.profile.fields import is_abbreviation
from commonplace.store.cache.scope_index import Mask, ScopeIndex
from commonplace.store.sql.rows import exact_micros

PROFILE_CATEGORY, GOALS_CATEGORY = "profile", "goals"
_LAYER_OF_KIND = {
    str(kind): LayerName(policy.layer) for kind, policy in POLICIES.items() if policy.layer
}
_RECENT_KINDS = [kind for kind, layer in _LAYER_OF_KIND.items() if layer is LayerName.EPISODES]
_SENTENCE_WORDS = 40  # words
_LINE_OVERHEAD = 5  # tokens of a line beside its words: "- [", category, "] ", its end


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a context is asked for, checked."""

    query: str | None
    thread: str
    budget: int
    moment: datetime  # now, or the moment that is looked back at
    categories: tuple[str, ...] = ()  # only these; none: all that the agent may see
    is_past: bool = False
    turn: int | None = None  # of the thread, for the recall log

    def asks_for(self, category: str | None) -> bool:
        return not self.categories or category in self.categories


@dataclass(frozen=True, slots=True)
class IndexedMemory:
    """A memory by what the index knows of it."""

    id: str
    kind: str
    category: str
    agent: str | None
    created: int  # microseconds
    weight: tuple[int, int]  # pinned, importance
    words: int


def list_indexed_memories(
    index: ScopeIndex, seen: Visibility, said: Categories, asked: ContextRequest, now: datetime
) -> list[IndexedMemory]:
    """Oldest first; of one moment, in the order in which they came."""
    size = index.size
    mask = index.visible(seen, now) & ~index.passages
    always = [PROFILE_CATEGORY, *always_shown_categories(said)]
    late = index.numeric["created_at"][:size] > exact_micros(asked.moment - RECENT_PERIOD)
    mask &= (
        _column_mask(index, "kind", _LAYER_OF_KIND.keys() - _RECENT_KINDS)
        | _column_mask(index, "category", always)
        | (
            late
            & (
                _column_mask(index, "kind", _RECENT_KINDS)
                | _column_mask(index, "category", (GOALS_CATEGORY,))
            )
        )
    )
    slots = np.flatnonzero(mask)
    slots = slots[np.argsort(index.numeric["created_at"][slots], kind="stable")]
    words = {name: _column_values(index, name) for name in ("kind", "category", "agent_id")}
    return [
        IndexedMemory(
            index.ids[slot],
            str(words["kind"][index.coded["kind"][slot]]),
            str(words["category"][index.coded["category"][slot]]),
            words["agent_id"][index.coded["agent_id"][slot]],
            int(index.numeric["created_at"][slot]),
            (int(index.numeric["pinned"][slot]), int(index.numeric["importance"][slot])),
            int(index.lengths[slot]),
        )
        for slot in slots.tolist()
    ]


def always_shown_categories(said: Categories) -> list[str]:
    return [category.name for category in said.in_mode(ContextMode.ALL)]


def _column_mask(index: ScopeIndex, column: str, wanted: Iterable[str]) -> Mask:
    codes = [index.words[column].known(str(word)) for word in wanted]
    return np.isin(index.coded[column][: index.size], codes)


def _column_values(index: ScopeIndex, column: str) -> list[str | None]:
    return list(index.words[column].codes)  # codes count up in the order of arrival


@dataclass(frozen=True, slots=True)
class LayerSelection:
    """The ids of each layer, in the order in which they are shown."""

    ids: Mapping[str, Sequence[str]]
    goals: frozenset[str]  # among the user's identity
    older: int  # how many the standing layer has before its first


def select_for_layers(
    found: Sequence[IndexedMemory], said: Categories, asked: ContextRequest, agent: str | None
) -> LayerSelection:
    """Pure. Each card goes into the first layer that has a place for it."""
    since = exact_micros(asked.moment - RECENT_PERIOD)
    always = frozenset(always_shown_categories(said))
    layers: dict[str, list[IndexedMemory]] = {name: [] for name in LayerName}
    for card in found:
        name = _layer_of(card, since, always, asked, agent)
        if name:
            layers[name].append(card)
    layers[LayerName.SOUL] = layers[LayerName.SOUL][-_max_items(LayerName.SOUL) :]
    layers[LayerName.RULES] = _most_important(layers[LayerName.RULES], _max_items(LayerName.RULES))
    for name in (LayerName.EPISODES, LayerName.SUMMARIES):
        layers[name] = layers[name][-_max_items(name) :][::-1]
    standing = _newest_that_fit(layers[LayerName.STANDING], asked.budget)
    older = len(layers[LayerName.STANDING]) - len(standing)
    ids = {name: [card.id for card in own] for name, own in layers.items()}
    ids[LayerName.STANDING] = [card.id for card in standing]
    goals = frozenset(c.id for c in layers[LayerName.IDENTITY] if not _is_profile_item(c))
    return LayerSelection(ids, goals, older)


def _layer_of(
    card: IndexedMemory,
    since: int,
    always: frozenset[str],
    asked: ContextRequest,
    agent: str | None,
) -> LayerName | None:
    """Soul and rules are who the agent is, whatever categories it asks for."""
    policy, layer = POLICIES[Kind(card.kind)], _LAYER_OF_KIND.get(card.kind)
    if policy.is_standing_instruction:
        is_mine = not policy.is_private_to_agent or card.agent in (None, agent)
        return layer if is_mine else None
    if not asked.asks_for(card.category) or is_abbreviation(card.id):
        return None
    if not is_shown(card.kind, card.category, asked.categories):
        return None
    is_late = card.created > since
    if _is_profile_item(card) or (card.category == GOALS_CATEGORY and is_late):
        return LayerName.IDENTITY
    if card.category in always:
        return LayerName.STANDING
    return layer if is_late or card.kind not in _RECENT_KINDS else None


def _is_profile_item(card: IndexedMemory) -> bool:
    return card.id.startswith(f"{PROFILE_CATEGORY}:")


def _most_important(own: Sequence[IndexedMemory], most: int) -> list[IndexedMemory]:
    """The pinned, the important, the newest; shown oldest first, as all of them are."""
    best = sorted(own, key=lambda card: (card.weight, card.created))[-most:]
    chosen = {card.id for card in best}
    return [card for card in own if card.id in chosen]


def _newest_that_fit(own: Sequence[IndexedMemory], budget: int) -> list[IndexedMemory]:
    """No word costs less than a token, so the rows of older ones need not be fetched. What is
    long is told in short, so its many words say nothing."""
    room = int(budget * STABLE_SHARE)
    for place in range(len(own) - 1, -1, -1):
        room -= min(own[place].words, _SENTENCE_WORDS) + _LINE_OVERHEAD
        if room < 0:
            return list(own[place + 1 :])
    return list(own)


def _max_items(name: LayerName) -> int:
    return LAYER_BY_NAME[name].most or 0


@dataclass(frozen=True, slots=True)
class GatheredLayers:
    """The memories of each layer, in the order they are shown."""

    memories: Mapping[str, Sequence[Memory]]
    goals: frozenset[str]  # ids, of those among the user's identity
    older: int  # how many older ones the standing layer has
    disputed: Mapping[str, str | None]
    talks: Conversations


def gather_layers(
    engine: EngineContext, principal: Principal, asked: ContextRequest
) -> GatheredLayers:
    seen, said = visibility_of(principal), engine.categories()
    with engine.index.reading(principal.scope) as index:
        found = list_indexed_memories(index, seen, said, asked, engine.clock())
        heard = find_conversations(index, seen, asked.thread, asked.moment, engine.clock())
    taken = select_for_layers(found, said, asked, principal.agent)
    rows = _load_memories(engine, principal, [id for ids in taken.ids.values() for id in ids])
    against = load_disputes(engine, principal, list(rows.values()))
    return GatheredLayers(
        {name: _sort_layer(rows, ids, name) for name, ids in taken.ids.items()},
        taken.goals,
        taken.older,
        {id: summarise_dispute(values) for id, values in against.items()},
        heard,
    )


def _load_memories(
    engine: EngineContext, principal: Principal, ids: Sequence[str]
) -> dict[str, Memory]:
    """What changed since the index was asked is judged again. What reads like instructions to an
    agent does not enter its prompt."""
    now, seen = engine.clock(), visibility_of(principal)
    return {
        memory.id: memory
        for memory in engine.store.fetch(principal.scope, ids)
        if memory.is_live(now)
        and seen.admits(memory)
        and may_enter_prompt(engine, principal, memory)
    }


def _sort_layer(rows: Mapping[str, Memory], ids: Sequence[str], layer: str) -> list[Memory]:
    """Insights come last in their layer; in a stable one all keep their places, for what comes
    must come at its end."""
    found = [rows[id] for id in ids if id in rows]
    return (
        found
        if LAYER_BY_NAME[layer].stable
        else sorted(found, key=lambda each: is_low_priority(each.kind))
    )


_MIN_HITS, _MAX_HITS = 12, 500  # hits that are looked at
_TOKENS_PER_HIT = 40  # tokens of the budget for each

_WORDING_OF_LAYER = {
    LayerName.SOUL: wording.in_full,
    LayerName.RULES: wording.in_full,
    LayerName.IDENTITY: wording.plainly,
    LayerName.STANDING: wording.by_category,
    LayerName.EPISODES: wording.by_date,
    LayerName.SUMMARIES: wording.by_date,
}


def context(engine: EngineContext, principal: Principal, asked: ContextRequest) -> Context:
    with engine.store.read_session():
        gathered = gather_layers(engine, principal, asked)
        meant = _expand_query(engine, principal, asked)
    plan = _build_plan(engine, asked, meant)
    recalled = recall(engine, principal, [plan])[0] if plan else None
    delta = _load_delta(engine, principal, asked)
    lines = [
        *_memory_lines(gathered),
        _hit_lines(recalled, engine, asked, gathered.talks.heard),
        _time_lines(gathered, asked),
    ]
    composed = _compose_with_changes(lines, delta, asked.budget)
    if delta and (not delta.header or _has_changes(composed)):  # else it is told next time
        move_cursor(engine, principal, asked.thread, delta)
    if plan and recalled:
        said = _shown_hits(recalled, composed.citations)
        record_read_hits(engine, principal, plan, said, "context", asked.query)
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


def _expand_query(engine: EngineContext, principal: Principal, asked: ContextRequest) -> str | None:
    """A follow-up says little by itself: what the conversation was about is put in."""
    if asked.query is None:
        return None
    return understand_message(engine, principal, asked.query, thread=asked.thread).query


def _load_delta(engine: EngineContext, principal: Principal, asked: ContextRequest) -> Delta | None:
    """A look at the past tells no changes, and moves no cursor. Who asks for some categories hears
    of these, and how many others there were."""
    if asked.is_past:
        return None
    with engine.store.read_session():
        delta = load_delta(engine, principal, asked.thread, in_short=not asked.categories)
    wanted = tuple(each for each in delta.changes if asked.asks_for(each.category))
    return replace(delta, changes=wanted, elsewhere=len(delta.changes) - len(wanted))


def _compose_with_changes(
    lines: Sequence[LayerLines], delta: Delta | None, budget: int
) -> ComposedText:
    """A header is said whole, for its last line counts what it leaves out: it has as many bullets
    as there is room for."""
    order = list(LAYER_BY_NAME)
    for bullets in range(MAX_BULLETS, -1, -1):
        header = delta.header_of(bullets) if delta and bullets else ""
        told = [*lines, _change_lines(header)]
        composed = compose_text(sorted(told, key=lambda each: order.index(each.layer.name)), budget)
        if not header or _has_changes(composed):
            break
    return composed


def _has_changes(composed: ComposedText) -> bool:
    return any(part.layer == LayerName.CHANGES for part in composed.parts)


def _memory_lines(gathered: GatheredLayers) -> list[LayerLines]:
    found = []
    for name, say in _WORDING_OF_LAYER.items():
        items = [
            (
                wording.as_goal
                if name is LayerName.IDENTITY and memory.id in gathered.goals
                else say
            )(memory, gathered.disputed.get(memory.id))
            for memory in gathered.memories[name]
        ]
        older = gathered.older if name is LayerName.STANDING else 0
        found.append(LayerLines(LAYER_BY_NAME[name], items, older=older))
    return found


def _change_lines(header: str) -> LayerLines:
    heading, _, bullets = header.partition("\n")
    return LayerLines(
        LAYER_BY_NAME[LayerName.CHANGES], [ContextLine(bullets)] if bullets else [], heading
    )


def _time_lines(gathered: GatheredLayers, asked: ContextRequest) -> LayerLines:
    said = {m.id: m.metadata.get("value") for m in gathered.memories[LayerName.IDENTITY]}
    zone = wording.zone_of(said.get(wording.TIME_ZONE_FIELD))
    told = wording.time_lines(asked.moment, zone, gathered.talks.last)
    return LayerLines(LAYER_BY_NAME[LayerName.TIME], [ContextLine(line) for line in told])


def _build_plan(
    engine: EngineContext, asked: ContextRequest, meant: str | None
) -> RecallPlan | None:
    if meant is None or asked.budget == 0:
        return None
    return RecallPlan(
        query=meant,
        k=max(_MIN_HITS, min(_MAX_HITS, asked.budget // _TOKENS_PER_HIT)),
        filters=Filters(categories=asked.categories),
        explain=engine.recall_log,
        thread_id=asked.thread,
        turn=asked.turn,
        logged_as=None,
        node=JournalNode.CONTEXT,
        within=SearchTargets(procedures=asks_for_procedures(asked.categories)),
        hits_only=True,
    )


def _hit_lines(
    recalled: Recalled | None, engine: EngineContext, asked: ContextRequest, heard: frozenset[str]
) -> LayerLines:
    found = recalled.hits if recalled else ()
    hits = _limit_per_category([hit for hit in found if _may_enter(hit, asked, heard)], engine)
    return LayerLines(LAYER_BY_NAME[LayerName.RECALLED], [wording.of_hit(hit) for hit in hits])


def _limit_per_category(hits: Sequence[Hit], engine: EngineContext) -> list[Hit]:
    """At most so many of a category as the file says; insights last."""
    said = engine.categories()
    counts: Counter[str] = Counter()
    found: list[Hit] = []
    for hit in hits:
        if counts[hit.category] < said.known(hit.category).rag_length:
            counts[hit.category] += 1
            found.append(hit)
    return sorted(found, key=lambda hit: is_low_priority(hit.kind))


def _may_enter(hit: Hit, asked: ContextRequest, heard: frozenset[str]) -> bool:
    """What reads like instructions to an agent does not enter its prompt; nor does what was said
    in this thread just now, the question itself first of all."""
    is_news = not hit.suspicious and hit.id not in heard
    return is_news and is_shown(hit.kind, hit.category, asked.categories)


def _shown_hits(recalled: Recalled, cited: Sequence[ContextCitation]) -> list[Hit]:
    """What was recalled and found room. Lists that everybody gets are not touched."""
    said = {each.id for each in cited if each.layer == LayerName.RECALLED}
    return [hit for hit in recalled.hits if hit.id in said]
