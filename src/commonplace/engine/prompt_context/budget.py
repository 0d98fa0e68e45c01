"""Token budget: how much of each layer is shown; composing the text. Pure.

Soul and rules are allotted first, from the whole budget. The stable layers get at most a fixed
share of the rest, independent of the volatile layers: otherwise one recalled line more would change
the beginning of the prompt and invalidate prefix caches. Stable layers are filled in order, so each
depends only on those before it. Each volatile layer gets its own share first; the remainder goes to
the earlier layers, so the later ones shrink first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from commonplace.engine.prompt_context.layers import (
    PART_SEPARATOR,
    ContextCitation,
    ContextLine,
    ContextPart,
    KeepPolicy,
    Layer,
)
from commonplace.language.text.tokens import count_tokens, cut_to_tokens

STABLE_SHARE = 0.6  # of the budget after soul and rules
BLOCK_SIZE = 8  # maximum number of items dropped at once; in between, the beginning is unchanged
MAX_MISSES = 3  # consecutive items that are too long
MIN_CUT = 6  # minimum tokens of a truncated item


class ItemCosts(Protocol):
    """Costs of a layer's items, in display order. Computed on access: counting is expensive."""

    def __len__(self) -> int: ...
    def __getitem__(self, place: int, /) -> int: ...


@dataclass(frozen=True, slots=True)
class LayerDemand:
    """The costs and the budget policy of a layer."""

    costs: ItemCosts
    heading: int = 0
    keep: KeepPolicy = KeepPolicy.FIRST
    share: float = 0.0
    older: int = 0  # number of older items that were not loaded


@dataclass(frozen=True, slots=True)
class LayerAllotment:
    """The shown items of a layer. ``cut``: tokens to which the last item is truncated."""

    places: tuple[int, ...] = ()
    cost: int = 0
    cut: int | None = None


NO_ALLOTMENT = LayerAllotment()


def stable_room(budget: int, outranking: Sequence[LayerAllotment]) -> int:
    return int(max(0, budget - total_cost(outranking)) * STABLE_SHARE)


def total_cost(allotments: Sequence[LayerAllotment]) -> int:
    return sum(each.cost for each in allotments)


def allot_budget(demands: Sequence[LayerDemand], room: int) -> list[LayerAllotment]:
    """The allotment of each layer; their total cost is at most ``room``."""
    allotments = [
        _allot(demand, int(demand.share * room)) if demand.share else NO_ALLOTMENT
        for demand in demands
    ]
    for place, demand in enumerate(demands):
        remaining = room - total_cost(allotments)
        allotments[place] = _allot(demand, allotments[place].cost + remaining)
    return allotments


def _allot(demand: LayerDemand, room: int) -> LayerAllotment:
    left = room - demand.heading
    if left <= 0 or not len(demand.costs):
        return NO_ALLOTMENT
    match demand.keep:
        case KeepPolicy.WHOLE:
            found = _allot_whole(demand.costs, left)
        case KeepPolicy.NEWEST:
            found = _allot_newest(demand, left)
        case _:
            found = _allot_first(demand.costs, left)
    return (
        LayerAllotment(found.places, found.cost + demand.heading, found.cut)
        if found.places
        else NO_ALLOTMENT
    )


def _allot_first(costs: ItemCosts, room: int) -> LayerAllotment:
    """In order, skipping items that are too long; stop after several in a row."""
    places: list[int] = []
    spent = missed = 0
    for place in range(len(costs)):
        if spent + costs[place] <= room:
            places.append(place)
            spent, missed = spent + costs[place], 0
        else:
            missed += 1
        if missed == MAX_MISSES:
            break
    return LayerAllotment(tuple(places), spent)


def _allot_whole(costs: ItemCosts, room: int) -> LayerAllotment:
    spent = 0
    for place in range(len(costs)):
        remaining = room - spent
        if costs[place] > remaining:
            before = tuple(range(place))
            if remaining < MIN_CUT:
                return LayerAllotment(before, spent)
            return LayerAllotment((*before, place), room, remaining)
        spent += costs[place]
    return LayerAllotment(tuple(range(len(costs))), spent)


def _allot_newest(demand: LayerDemand, room: int) -> LayerAllotment:
    """The newest items, starting at a block boundary: new items are appended, and the beginning is
    unchanged until a whole block is dropped."""
    places: list[int] = []
    spent, left_out = 0, -1  # left_out: the newest item that does not fit
    for place in range(len(demand.costs) - 1, -1, -1):
        cost = demand.costs[place]
        if cost > room:
            continue
        if spent + cost > room:
            left_out = place
            break
        places.append(place)
        spent += cost
    begins = _next_block(demand.older + left_out + 1, len(places)) - demand.older
    chosen = tuple(each for each in reversed(places) if each >= begins)
    return LayerAllotment(chosen, sum(demand.costs[each] for each in chosen))


def _next_block(number: int, fitting: int) -> int:
    """Round up to a block of 1, 2, 4 or 8 items, at most half of those that fit."""
    block = 1
    while 2 * block <= min(BLOCK_SIZE, fitting // 2):
        block *= 2
    return -(-number // block) * block


_LINE_END = 1  # tokens; two between parts


@dataclass(frozen=True, slots=True)
class LayerLines:
    """All lines of a layer, before budgeting."""

    layer: Layer
    items: Sequence[ContextLine]
    heading: str = ""
    older: int = 0

    @property
    def title(self) -> str:
        return self.heading or self.layer.heading


@dataclass(frozen=True, slots=True)
class ComposedText:
    parts: tuple[ContextPart, ...]
    citations: tuple[ContextCitation, ...]
    tokens: int

    @property
    def text(self) -> str:
        return PART_SEPARATOR.join(part.text for part in self.parts)

    def text_of(self, stable: bool) -> str:
        return PART_SEPARATOR.join(part.text for part in self.parts if part.stable is stable)


def compose_text(lines: Sequence[LayerLines], budget: int) -> ComposedText:
    """Compose the text; the whole text's token count is at most the budget."""
    counter, allowed = _TokenCounter(lines), budget
    while True:
        composed = _compose_within(lines, allowed, counter)
        over = composed.tokens - budget
        if over <= 0:
            return composed
        allowed -= over  # joined lines can cost more than the sum of their costs


def _compose_within(
    lines: Sequence[LayerLines], budget: int, counter: _TokenCounter
) -> ComposedText:
    first = [each for each in lines if each.layer.outranks]
    stable = [each for each in lines if each.layer.stable and not each.layer.outranks]
    volatile = [each for each in lines if not each.layer.stable]
    builder = _TextBuilder()
    outranking = allot_budget([counter.demand(each) for each in first], budget)
    builder.add(first, outranking)
    allotments = allot_budget(
        [counter.demand(each) for each in stable], stable_room(budget, outranking)
    )
    builder.add(stable, allotments)
    remaining = budget - total_cost([*outranking, *allotments])
    distinct = _deduplicate(volatile, builder.ids, remaining, counter)
    builder.add(distinct, allot_budget([counter.demand(each) for each in distinct], remaining))
    return builder.composed()


class _TokenCounter:
    """Caches line costs. Lines are counted on first use: most never are."""

    def __init__(self, lines: Sequence[LayerLines]):
        self._known: dict[str, int] = {}
        marked = sum(len(each.items) for each in lines if each.layer.marked)
        self._mark = f" [{'0' * len(str(marked))}]"  # placeholder: the number is not known yet

    def demand(self, lines: LayerLines) -> LayerDemand:
        if not lines.items:
            return LayerDemand(())
        layer = lines.layer
        return LayerDemand(
            _LineCosts(self, lines.items, self._mark if layer.marked else ""),
            self.cost(lines.title) + _LINE_END,
            layer.keep,
            layer.share,
            lines.older,
        )

    def cost(self, line: str) -> int:
        if line not in self._known:
            self._known[line] = count_tokens(line) + _LINE_END
        return self._known[line]


@dataclass(frozen=True, slots=True)
class _LineCosts:
    counter: _TokenCounter
    items: Sequence[ContextLine]
    mark: str

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> int:
        return self.counter.cost(self.items[place].line + self.mark)


def _deduplicate(
    volatile: Sequence[LayerLines], shown: frozenset[str], room: int, counter: _TokenCounter
) -> list[LayerLines]:
    """Show an item in the first layer that contains it and can afford it from its own share; else
    in the next layer that contains it."""
    shown_ids = set(shown)
    layers: list[LayerLines] = []
    for place, lines in enumerate(volatile):
        unseen = replace(
            lines, items=[i for i in lines.items if i.id is None or i.id not in shown_ids]
        )
        later = {item.id for other in volatile[place + 1 :] for item in other.items if item.id}
        contested = later & {item.id for item in unseen.items}
        certain = _certain_places(unseen, room, counter) if contested else ()
        chosen = [i for at, i in enumerate(unseen.items) if at in certain or i.id not in contested]
        shown_ids |= {item.id for item in chosen if item.id}
        layers.append(replace(unseen, items=chosen))
    return layers


def _certain_places(lines: LayerLines, room: int, counter: _TokenCounter) -> tuple[int, ...]:
    (allotment,) = allot_budget([counter.demand(lines)], int(lines.layer.share * room))
    return allotment.places


class _TextBuilder:
    """The parts composed so far, with their citations."""

    def __init__(self) -> None:
        self._parts: list[ContextPart] = []
        self._citations: list[ContextCitation] = []
        self._marks = 0

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(cited.id for cited in self._citations)

    def add(self, lines: Sequence[LayerLines], allotments: Sequence[LayerAllotment]) -> None:
        for each, allotment in zip(lines, allotments, strict=True):
            if allotment.places:
                self._add(each, allotment)

    def _add(self, lines: LayerLines, allotment: LayerAllotment) -> None:
        items = [lines.items[place] for place in allotment.places]
        if allotment.cut is not None:
            cut = cut_to_tokens(items[-1].line, allotment.cut - _LINE_END)
            items[-1] = replace(items[-1], line=cut)
        texts = [item.line + self._cite(item, lines.layer) for item in items]
        self._parts.append(
            ContextPart(
                str(lines.layer.name),
                lines.layer.stable,
                "\n".join([lines.title, *texts]),
                allotment.cost,
                tuple(item.id for item in items if item.id),
            )
        )

    def _cite(self, item: ContextLine, layer: Layer) -> str:
        if item.id is None:
            return ""
        mark = None
        if layer.marked:
            self._marks += 1
            mark = f"[{self._marks}]"
        self._citations.append(ContextCitation(mark, item.id, str(layer.name), item.source))
        return f" {mark}" if mark else ""

    def composed(self) -> ComposedText:
        text = PART_SEPARATOR.join(part.text for part in self._parts)
        tokens = count_tokens(text) if text else 0
        return ComposedText(tuple(self._parts), tuple(self._citations), tokens)
