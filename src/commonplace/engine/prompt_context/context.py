"""Context: select memories for each layer, recall for the query, compose, record reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

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
from commonplace.engine.prompt_context.graph_lines import GraphLines, load_graph_lines
from commonplace.engine.prompt_context.layers import (
    LAYER_BY_NAME,
    QUOTATIONS_LAYER,
    RECENT_PERIOD,
    UPCOMING_PERIOD,
    Context,
    ContextLine,
    ContextRequest,
    LayerName,
    is_low_priority,
    is_shown,
)
from commonplace.engine.prompt_context.profile_truth import (
    disputed_fields,
    own_places,
    without_outdated,
)
from commonplace.engine.prompt_context.recalled import (
    build_plan,
    hit_lines,
    shown_hits,
    without_repeated_memories,
)
from commonplace.engine.prompt_context.wording import Conversations, find_conversations
from commonplace.engine.prompt_injection import may_enter_prompt
from commonplace.engine.search.recall import Recalled, recall, record_read_hits
from commonplace.engine.understanding import Understanding, understand_message
from commonplace.language.text.filler import is_filler
from commonplace.model.access.principal import Principal
from commonplace.model.delta import MAX_BULLETS, Delta, has_left, has_news
from commonplace.model.filters import Visibility
from commonplace.model.memory.kinds import POLICIES, Categories, ContextMode, Kind
from commonplace.model.memory.memory import Memory
from commonplace.model.profile.fields import is_abbreviation
from commonplace.model.quotation import EXPLANATION
from commonplace.model.sources.source import split_passage_id
from commonplace.store.cache.scope_index import Mask, ScopeIndex
from commonplace.store.sql.rows import exact_micros

PROFILE_CATEGORY, GOALS_CATEGORY = "profile", "goals"
DATED_CATEGORIES = ("event", "tasks", GOALS_CATEGORY)  # may have a date to come
DATED_PERIOD = timedelta(days=60)  # how long ago something to come may have been said
MAX_DATED = 60  # newest of these, whose texts are read for a date
_LAYER_OF_KIND = {
    str(kind): LayerName(policy.layer) for kind, policy in POLICIES.items() if policy.layer
}
_RECENT_KINDS = [kind for kind, layer in _LAYER_OF_KIND.items() if layer is LayerName.EPISODES]
_SENTENCE_WORDS = 40
_LINE_OVERHEAD = 5  # tokens of a line in addition to its words: "- [", category, "] ", newline


@dataclass(frozen=True, slots=True)
class IndexedMemory:
    """The indexed columns of a memory."""

    id: str
    kind: str
    category: str
    agent: str | None
    created: int  # microseconds
    weight: tuple[int, int]  # pinned, importance
    words: int


def list_indexed_memories(
    index: ScopeIndex,
    visibility: Visibility,
    categories: Categories,
    request: ContextRequest,
    now: datetime,
) -> list[IndexedMemory]:
    """Oldest first; equal times in insertion order."""
    size = index.size
    mask = index.visible(visibility, now) & ~index.passages
    always = [PROFILE_CATEGORY, *always_shown_categories(categories)]
    times = index.numeric["created_at"][:size]
    is_recent = times > exact_micros(request.moment - RECENT_PERIOD)
    may_be_dated = times > exact_micros(request.moment - DATED_PERIOD)
    mask &= (
        _column_mask(index, "kind", _LAYER_OF_KIND.keys() - _RECENT_KINDS)
        | _column_mask(index, "category", always)
        | (is_recent & _column_mask(index, "category", (GOALS_CATEGORY,)))
        | (
            may_be_dated
            & (
                _column_mask(index, "kind", _RECENT_KINDS)
                | _column_mask(index, "category", DATED_CATEGORIES)
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


def always_shown_categories(categories: Categories) -> list[str]:
    return [category.name for category in categories.in_mode(ContextMode.ALL)]


def _column_mask(index: ScopeIndex, column: str, values: Iterable[str]) -> Mask:
    codes = [index.words[column].known(str(word)) for word in values]
    return np.isin(index.coded[column][: index.size], codes)


def _column_values(index: ScopeIndex, column: str) -> list[str | None]:
    return list(index.words[column].codes)  # codes are consecutive, in insertion order


@dataclass(frozen=True, slots=True)
class LayerSelection:
    """The ids of each layer, in display order."""

    ids: Mapping[str, Sequence[str]]
    goals: frozenset[str]  # ids in the identity layer
    older: int  # number of older items omitted from the standing layer
    dated: Sequence[str]  # ids of what may have a date of its own, newest first


def select_for_layers(
    memories: Sequence[IndexedMemory],
    categories: Categories,
    request: ContextRequest,
    agent: str | None,
) -> LayerSelection:
    """Pure. Assign each memory to the first layer that accepts it."""
    since = exact_micros(request.moment - RECENT_PERIOD)
    always = frozenset(always_shown_categories(categories))
    layers: dict[str, list[IndexedMemory]] = {name: [] for name in LayerName}
    dated: list[str] = []
    for card in memories:
        name = _layer_of(card, since, always, request, agent)
        if name:
            layers[name].append(card)
        if _may_be_dated(card, request):
            dated.append(card.id)
    layers[LayerName.SOUL] = _for_all_first(layers[LayerName.SOUL], _max_items(LayerName.SOUL))
    layers[LayerName.RULES] = _most_important(layers[LayerName.RULES], _max_items(LayerName.RULES))
    layers[LayerName.SUMMARIES] = layers[LayerName.SUMMARIES][::-1]
    newest = _newest_that_fit(layers[LayerName.STANDING], request.budget)
    older = len(layers[LayerName.STANDING]) - len(newest)
    ids = {name: [card.id for card in own] for name, own in layers.items()}
    ids[LayerName.STANDING] = [card.id for card in newest]
    goals = frozenset(c.id for c in layers[LayerName.IDENTITY] if not _is_profile_item(c))
    return LayerSelection(ids, goals, older, dated[-MAX_DATED:][::-1])


def _layer_of(
    card: IndexedMemory,
    since: int,
    always: frozenset[str],
    request: ContextRequest,
    agent: str | None,
) -> LayerName | None:
    """Soul and rules are shown for every category filter."""
    policy, layer = POLICIES[Kind(card.kind)], _LAYER_OF_KIND.get(card.kind)
    if policy.is_standing_instruction:
        is_mine = not policy.is_private_to_agent or card.agent in (None, agent)
        return layer if is_mine else None
    if not request.asks_for(card.category) or is_abbreviation(card.id):
        return None
    if not is_shown(card.kind, card.category, request.categories):
        return None
    is_recent = card.created > since
    if _is_profile_item(card) or (card.category == GOALS_CATEGORY and is_recent):
        return LayerName.IDENTITY
    if card.category in always:
        return LayerName.STANDING
    return layer if card.kind not in _RECENT_KINDS else None


def _may_be_dated(card: IndexedMemory, request: ContextRequest) -> bool:
    is_dated = card.kind in _RECENT_KINDS or card.category in DATED_CATEGORIES
    is_fixed = POLICIES[Kind(card.kind)].is_standing_instruction or _is_profile_item(card)
    return (
        is_dated
        and not is_fixed
        and request.asks_for(card.category)
        and is_shown(card.kind, card.category, request.categories)
    )


def _is_profile_item(card: IndexedMemory) -> bool:
    return card.id.startswith(f"{PROFILE_CATEGORY}:")


def _for_all_first(memories: Sequence[IndexedMemory], most: int) -> list[IndexedMemory]:
    """Those for all agents before an agent's own, then the newest; keep the order, oldest first."""
    return _select_best(memories, [(card.agent is None, card.created) for card in memories], most)


def _most_important(memories: Sequence[IndexedMemory], most: int) -> list[IndexedMemory]:
    """Those for all agents first, then by pinned, importance and age; keep the order, oldest
    first."""
    keys = [(card.agent is None, card.weight, card.created) for card in memories]
    return _select_best(memories, keys, most)


def _select_best(
    memories: Sequence[IndexedMemory], keys: Sequence[tuple[Any, ...]], most: int
) -> list[IndexedMemory]:
    best = sorted(range(len(memories)), key=lambda place: (keys[place], place))[-most:]
    return [memories[place] for place in sorted(best)]


def _newest_that_fit(memories: Sequence[IndexedMemory], budget: int) -> list[IndexedMemory]:
    """Drop the older memories that cannot fit, before their rows are fetched: a word costs at least
    one token. Long memories are shown by their summaries, so their words are capped."""
    room = int(budget * STABLE_SHARE)
    for place in range(len(memories) - 1, -1, -1):
        room -= min(memories[place].words, _SENTENCE_WORDS) + _LINE_OVERHEAD
        if room < 0:
            return list(memories[place + 1 :])
    return list(memories)


def _max_items(name: LayerName) -> int:
    return LAYER_BY_NAME[name].most or 0


@dataclass(frozen=True, slots=True)
class GatheredLayers:
    """The memories of each layer, in display order."""

    memories: Mapping[str, Sequence[Memory]]
    goals: frozenset[str]  # ids in the identity layer
    older: int  # number of older items omitted from the standing layer
    disputed: Mapping[str, str | None]
    conversations: Conversations
    graph: GraphLines

    @property
    def shown_after_recall(self) -> frozenset[str]:
        """Ids of the layers that follow what was recalled."""
        later = (LayerName.SUMMARIES, LayerName.UPCOMING)
        return frozenset(memory.id for name in later for memory in self.memories[name])

    def shown_before_recall(self, stable: ComposedText) -> list[Memory]:
        """The memories in the stable part, and the recent events."""
        ids = {cited.id for cited in stable.citations}
        memories = [memory for each in self.memories.values() for memory in each]
        return [m for m in memories if m.id in ids] + [*self.memories[LayerName.EPISODES]]


def gather_layers(
    engine: EngineContext, principal: Principal, request: ContextRequest
) -> GatheredLayers:
    visibility, categories = visibility_of(principal), engine.categories()
    with engine.index.reading(principal.scope) as index:
        found = list_indexed_memories(index, visibility, categories, request, engine.clock())
        conversations = find_conversations(
            index, visibility, request.thread, request.moment, engine.clock()
        )
    selection = select_for_layers(found, categories, request, principal.agent)
    wanted = [*(id for ids in selection.ids.values() for id in ids), *selection.dated]
    rows = _load_memories(engine, principal, list(dict.fromkeys(wanted)))
    layers = {name: _sort_layer(rows, ids, name) for name, ids in selection.ids.items()}
    dated = [rows[id] for id in selection.dated if id in rows]
    layers[LayerName.EPISODES] = _sort_recent(select_recent(dated, request.moment.date()))
    layers[LayerName.UPCOMING] = select_upcoming(dated, request.moment.date())
    identity = without_repeated_memories(layers[LayerName.IDENTITY], ())
    layers[LayerName.IDENTITY] = identity
    standing = without_repeated_memories(layers[LayerName.STANDING], identity)
    layers[LayerName.STANDING] = without_outdated(standing, identity)
    layers[LayerName.SUMMARIES] = [
        memory for memory in layers[LayerName.SUMMARIES] if not is_filler(memory.content)
    ][: _max_items(LayerName.SUMMARIES)]
    disputes = load_disputes(engine, principal, [m for each in layers.values() for m in each])
    disputed = {id: summarise_dispute(values) for id, values in disputes.items()}
    return GatheredLayers(
        layers,
        selection.goals,
        selection.older,
        disputed_fields(identity, standing) | disputed,
        conversations,
        load_graph_lines(engine, principal, request.asks_for, own_places(identity)),
    )


def select_recent(dated: Sequence[Memory], today: date) -> list[Memory]:
    """Pure. Events by their own date, newest first."""
    days = {memory.id: wording.day_of(memory) for memory in dated if memory.kind in _RECENT_KINDS}
    recent = [m for m in dated if m.id in days and today - RECENT_PERIOD < days[m.id] <= today]
    ordered = sorted(recent, key=lambda memory: days[memory.id], reverse=True)
    return ordered[: _max_items(LayerName.EPISODES)]


def select_upcoming(dated: Sequence[Memory], today: date) -> list[Memory]:
    """Pure. What has a date in the next days, soonest first."""
    days = {memory.id: wording.day_ahead(memory) for memory in dated}
    ahead = [
        (day, memory)
        for memory in dated
        if (day := days[memory.id]) and today <= day <= today + UPCOMING_PERIOD
    ]
    ordered = sorted(ahead, key=lambda each: each[0])
    return [memory for _, memory in ordered][: _max_items(LayerName.UPCOMING)]


def _sort_recent(memories: Sequence[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda each: is_low_priority(each.kind))


def _load_memories(
    engine: EngineContext, principal: Principal, ids: Sequence[str]
) -> dict[str, Memory]:
    """Load the rows and check again what changed since the index was read. Suspected prompt
    injections are left out."""
    now, visibility = engine.clock(), visibility_of(principal)
    return {
        memory.id: memory
        for memory in engine.store.fetch(principal.scope, ids)
        if memory.is_live(now)
        and visibility.admits(memory)
        and may_enter_prompt(engine, principal, memory)
    }


def _sort_layer(rows: Mapping[str, Memory], ids: Sequence[str], layer: str) -> list[Memory]:
    """Low-priority kinds (insights) come last, except in stable layers: these only grow at the
    end."""
    memories = [rows[id] for id in ids if id in rows]
    return (
        memories
        if LAYER_BY_NAME[layer].stable
        else sorted(memories, key=lambda each: is_low_priority(each.kind))
    )


_WORDING_OF_LAYER = {
    LayerName.SOUL: wording.in_full,
    LayerName.RULES: wording.in_full,
    LayerName.STANDING: wording.by_category,
    LayerName.EPISODES: wording.by_date,
    LayerName.SUMMARIES: wording.by_date,
    LayerName.UPCOMING: wording.by_day_ahead,
}


def context(engine: EngineContext, principal: Principal, request: ContextRequest) -> Context:
    with engine.store.read_session():
        gathered = gather_layers(engine, principal, request)
        understood = _understand(engine, principal, request)
    plan = build_plan(engine, request, understood)
    recalled = recall(engine, principal, [plan])[0] if plan else None
    delta = _load_delta(engine, principal, request)
    fixed = [
        LayerLines(QUOTATIONS_LAYER, [ContextLine(f"- {EXPLANATION}")]),
        *_memory_lines(gathered),
        LayerLines(LAYER_BY_NAME[LayerName.PEOPLE], gathered.graph.people),
    ]
    stable = compose_text([each for each in fixed if each.layer.stable], request.budget)
    before = gathered.shown_before_recall(stable)
    lines = [
        *fixed,
        hit_lines(
            recalled,
            engine,
            request,
            gathered.conversations.current | gathered.shown_after_recall,
            before,
        ),
        _time_lines(gathered, request),
    ]
    told = _without_outdated(_without_shown(delta, stable), recalled)
    composed, news = _compose_news(lines, told, request.budget)
    if delta and (not news or not has_news(news) or _has_changes(composed)):  # else next time
        move_cursor(engine, principal, request.thread, delta)
    if plan and recalled:
        shown = shown_hits(recalled, composed.citations)
        record_read_hits(engine, principal, plan, shown, "context", request.query)
    return Context(
        query=understood.query if understood else None,
        stable_text=composed.text_of(stable=True),
        volatile_text=composed.text_of(stable=False),
        tokens=composed.tokens,
        budget_tokens=request.budget,
        parts=composed.parts,
        citations=composed.citations,
        delta=delta,
        degraded=recalled is not None and recalled.degraded,
        withheld=recalled.withheld if recalled else None,
    )


def _understand(
    engine: EngineContext, principal: Principal, request: ContextRequest
) -> Understanding | None:
    """A follow-up question is expanded with the topic of its conversation."""
    if request.query is None:
        return None
    return understand_message(engine, principal, request.query, thread=request.thread)


def _load_delta(
    engine: EngineContext, principal: Principal, request: ContextRequest
) -> Delta | None:
    """None for a point in time, which moves no cursor. With a category filter, changes of other
    categories are only counted."""
    if request.is_past:
        return None
    with engine.store.read_session():
        delta = load_delta(engine, principal, request.thread, in_short=not request.categories)
    matching = tuple(each for each in delta.changes if request.asks_for(each.category))
    asked = {each.id for each in matching}
    others = sum(each.id not in asked and not each.derived for each in delta.changes)
    return replace(delta, changes=matching, elsewhere=others)


def _without_outdated(delta: Delta | None, recalled: Recalled | None) -> Delta | None:
    """The changes that nothing has outdated since."""
    outdated = [hit for hit in recalled.hits if hit.outdated] if recalled else []
    if delta is None or not outdated:
        return delta
    ids = {hit.id for hit in outdated}
    said = {split_passage_id(hit.id)[0]: hit.text for hit in outdated}
    changes = tuple(
        each
        for each in delta.changes
        if has_left(each) or not (each.id in ids or said.get(each.id, "\0") in each.text)
    )
    return replace(delta, changes=changes)


def _without_shown(delta: Delta | None, composed: ComposedText) -> Delta | None:
    """The changes that a text does not show."""
    if delta is None or not has_news(delta):
        return None
    ids = {cited.id for cited in composed.citations}
    changes = tuple(each for each in delta.changes if has_left(each) or each.id not in ids)
    return replace(delta, changes=changes)


def _compose_news(
    lines: Sequence[LayerLines], news: Delta | None, budget: int
) -> tuple[ComposedText, Delta | None]:
    """The text, and the changes that its header is to tell. On a first look all is new: the header
    leaves out what is shown anywhere, as long as there is room for that beside the header."""
    if news is not None and news.is_first:
        others = _without_shown(news, compose_text(lines, budget))
        composed = _compose_with_changes(lines, others, budget)
        shown = {cited.id for cited in composed.citations}
        kept = {change.id for change in others.changes} if others else set()
        if shown.issuperset(each.id for each in news.changes if each.id not in kept):
            return composed, others
    return _compose_with_changes(lines, news, budget), news


def _compose_with_changes(
    lines: Sequence[LayerLines], delta: Delta | None, budget: int
) -> ComposedText:
    """Fit as many change bullets as the budget allows. The header is never truncated: its last line
    counts the omitted changes."""
    order = list(LAYER_BY_NAME)
    for bullets in range(MAX_BULLETS, -1, -1):
        header = delta.header_of(bullets) if delta and bullets else ""
        with_changes = [*lines, _change_lines(header)]
        composed = compose_text(
            sorted(with_changes, key=lambda each: order.index(each.layer.name)), budget
        )
        if not header or _has_changes(composed):
            break
    return composed


def _has_changes(composed: ComposedText) -> bool:
    return any(part.layer == LayerName.CHANGES for part in composed.parts)


def _memory_lines(gathered: GatheredLayers) -> list[LayerLines]:
    layers = [_identity_lines(gathered)]
    for name, to_line in _WORDING_OF_LAYER.items():
        items = [to_line(m, gathered.disputed.get(m.id)) for m in gathered.memories[name]]
        older = gathered.older if name is LayerName.STANDING else 0
        layers.append(LayerLines(LAYER_BY_NAME[name], items, older=older))
    return layers


def _identity_lines(gathered: GatheredLayers) -> LayerLines:
    """The profile, core beliefs, then goals."""
    memories, goals = gathered.memories[LayerName.IDENTITY], gathered.goals
    profile = [m for m in memories if m.id not in goals]
    lines = [wording.plainly(m, gathered.disputed.get(m.id)) for m in profile]
    lines += gathered.graph.beliefs
    lines += [wording.as_goal(m, gathered.disputed.get(m.id)) for m in memories if m.id in goals]
    return LayerLines(LAYER_BY_NAME[LayerName.IDENTITY], lines)


def _change_lines(header: str) -> LayerLines:
    heading, _, bullets = header.partition("\n")
    return LayerLines(
        LAYER_BY_NAME[LayerName.CHANGES], [ContextLine(bullets)] if bullets else [], heading
    )


def _time_lines(gathered: GatheredLayers, request: ContextRequest) -> LayerLines:
    profile = {m.id: m.metadata.get("value") for m in gathered.memories[LayerName.IDENTITY]}
    zone = wording.zone_of(profile.get(wording.TIME_ZONE_FIELD))
    texts = wording.time_lines(request.moment, zone, gathered.conversations.last)
    return LayerLines(LAYER_BY_NAME[LayerName.TIME], [ContextLine(line) for line in texts])
