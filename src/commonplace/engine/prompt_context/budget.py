"""Token budget: how much of each layer is shown; composing the text. Pure.

Soul and rules are paid first, from the whole budget. Of what they leave, the stable layers have at
most a fixed share, however much or little the volatile ones hold: else a recalled line more or
less would reword the beginning of the prompt, and no prefix cache would hold. Stable layers are
filled in their order, so that each depends on those before it alone. A volatile layer has a share
of its own first, then what is left goes to the earlier ones: the later ones shrink first.
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

STABLE_SHARE = 0.6  # of what soul and rules leave
BLOCK_SIZE = 8  # at most so many make way together, and the beginning stands still in between
MAX_MISSES = 3  # too long ones in a row
MIN_CUT = 6  # tokens of an item that are worth showing


class ItemCosts(Protocol):
    """Of a layer's items, in the order they are shown. Asked one by one: counting is dear."""

    def __len__(self) -> int: ...
    def __getitem__(self, place: int, /) -> int: ...


@dataclass(frozen=True, slots=True)
class LayerDemand:
    """What a layer would cost."""

    costs: ItemCosts
    heading: int = 0
    keep: KeepPolicy = KeepPolicy.FIRST
    share: float = 0.0
    older: int = 0  # items that are older than the first of these and were not even asked for


@dataclass(frozen=True, slots=True)
class LayerAllotment:
    """Of a layer. ``cut``: the last item is shortened to so many tokens."""

    places: tuple[int, ...] = ()
    cost: int = 0
    cut: int | None = None


NO_ALLOTMENT = LayerAllotment()


def stable_room(budget: int, outranking: Sequence[LayerAllotment]) -> int:
    return int(max(0, budget - total_cost(outranking)) * STABLE_SHARE)


def total_cost(kept: Sequence[LayerAllotment]) -> int:
    return sum(each.cost for each in kept)


def allot_budget(wishes: Sequence[LayerDemand], room: int) -> list[LayerAllotment]:
    """What each layer keeps; together they cost no more than the room."""
    kept = [_allot(wish, int(wish.share * room)) if wish.share else NO_ALLOTMENT for wish in wishes]
    for place, wish in enumerate(wishes):
        left = room - total_cost(kept)
        kept[place] = _allot(wish, kept[place].cost + left)
    return kept


def _allot(wish: LayerDemand, room: int) -> LayerAllotment:
    left = room - wish.heading
    if left <= 0 or not len(wish.costs):
        return NO_ALLOTMENT
    match wish.keep:
        case KeepPolicy.WHOLE:
            found = _allot_whole(wish.costs, left)
        case KeepPolicy.NEWEST:
            found = _allot_newest(wish, left)
        case _:
            found = _allot_first(wish.costs, left)
    return (
        LayerAllotment(found.places, found.cost + wish.heading, found.cut)
        if found.places
        else NO_ALLOTMENT
    )


def _allot_first(costs: ItemCosts, room: int) -> LayerAllotment:
    """In their order; one that is too long is left out, and does not stand in the others' way.
    When several in a row are, there is no room."""
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
        left = room - spent
        if costs[place] > left:
            before = tuple(range(place))
            if left < MIN_CUT:
                return LayerAllotment(before, spent)
            return LayerAllotment((*before, place), room, left)
        spent += costs[place]
    return LayerAllotment(tuple(range(len(costs))), spent)


def _allot_newest(wish: LayerDemand, room: int) -> LayerAllotment:
    """The newest, from a place that moves in blocks: what comes is added at the end, and the
    beginning stays as it is until a whole block makes way."""
    places: list[int] = []
    spent, left_out = 0, -1  # the newest that there is no room for
    for place in range(len(wish.costs) - 1, -1, -1):
        cost = wish.costs[place]
        if cost > room:
            continue
        if spent + cost > room:
            left_out = place
            break
        places.append(place)
        spent += cost
    begins = _next_block(wish.older + left_out + 1, len(places)) - wish.older
    found = tuple(each for each in reversed(places) if each >= begins)
    return LayerAllotment(found, sum(wish.costs[each] for each in found))


def _next_block(number: int, fitting: int) -> int:
    """At most half of those that fit make way: 1, 2, 4 or 8 at a time, counted from the oldest."""
    block = 1
    while 2 * block <= min(BLOCK_SIZE, fitting // 2):
        block *= 2
    return -(-number // block) * block


_LINE_END = 1  # tokens; between two parts there are two


@dataclass(frozen=True, slots=True)
class LayerLines:
    """What a layer could say."""

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
    """Never over the budget, by the tokenizer's own count of the whole text."""
    scales, allowed = _TokenCounter(lines), budget
    while True:
        composed = _compose_within(lines, allowed, scales)
        over = composed.tokens - budget
        if over <= 0:
            return composed
        allowed -= over  # lines side by side cost more than each alone


def _compose_within(
    lines: Sequence[LayerLines], budget: int, scales: _TokenCounter
) -> ComposedText:
    first = [each for each in lines if each.layer.outranks]
    stable = [each for each in lines if each.layer.stable and not each.layer.outranks]
    volatile = [each for each in lines if not each.layer.stable]
    said = _TextBuilder()
    foremost = allot_budget([scales.wish(each) for each in first], budget)
    said.add(first, foremost)
    kept = allot_budget([scales.wish(each) for each in stable], stable_room(budget, foremost))
    said.add(stable, kept)
    left = budget - total_cost([*foremost, *kept])
    once = _deduplicate(volatile, said.ids, left, scales)
    said.add(once, allot_budget([scales.wish(each) for each in once], left))
    return said.composed()


class _TokenCounter:
    """What lines cost. Each is counted once, when it is first asked for: most never are."""

    def __init__(self, lines: Sequence[LayerLines]):
        self._known: dict[str, int] = {}
        marked = sum(len(each.items) for each in lines if each.layer.marked)
        self._mark = f" [{'0' * len(str(marked))}]"  # which number it will be is not known yet

    def wish(self, lines: LayerLines) -> LayerDemand:
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
    scales: _TokenCounter
    items: Sequence[ContextLine]
    mark: str

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> int:
        return self.scales.cost(self.items[place].line + self.mark)


def _deduplicate(
    volatile: Sequence[LayerLines], shown: frozenset[str], room: int, scales: _TokenCounter
) -> list[LayerLines]:
    """An item is said by the first layer that has it, where that layer has room for it by its own
    share; else by the next that has it."""
    told = set(shown)
    found: list[LayerLines] = []
    for place, lines in enumerate(volatile):
        fresh = replace(lines, items=[i for i in lines.items if i.id is None or i.id not in told])
        later = {item.id for other in volatile[place + 1 :] for item in other.items if item.id}
        contested = later & {item.id for item in fresh.items}
        sure = _certain_places(fresh, room, scales) if contested else ()
        kept = [i for at, i in enumerate(fresh.items) if at in sure or i.id not in contested]
        told |= {item.id for item in kept if item.id}
        found.append(replace(fresh, items=kept))
    return found


def _certain_places(lines: LayerLines, room: int, scales: _TokenCounter) -> tuple[int, ...]:
    (kept,) = allot_budget([scales.wish(lines)], int(lines.layer.share * room))
    return kept.places


class _TextBuilder:
    """What is said so far, with the numbers that it is cited by."""

    def __init__(self) -> None:
        self._parts: list[ContextPart] = []
        self._citations: list[ContextCitation] = []
        self._marks = 0

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(cited.id for cited in self._citations)

    def add(self, lines: Sequence[LayerLines], kept: Sequence[LayerAllotment]) -> None:
        for each, of_it in zip(lines, kept, strict=True):
            if of_it.places:
                self._add(each, of_it)

    def _add(self, lines: LayerLines, kept: LayerAllotment) -> None:
        items = [lines.items[place] for place in kept.places]
        if kept.cut is not None:
            cut = cut_to_tokens(items[-1].line, kept.cut - _LINE_END)
            items[-1] = replace(items[-1], line=cut)
        said = [item.line + self._cite(item, lines.layer) for item in items]
        self._parts.append(
            ContextPart(
                str(lines.layer.name),
                lines.layer.stable,
                "\n".join([lines.title, *said]),
                kept.cost,
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
