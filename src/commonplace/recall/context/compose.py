"""From lines to text: pure, so that the same memory always gives the same words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from commonplace.language.tokens import count_tokens, cut_to_tokens
from commonplace.recall.context.budget import Kept, Wish, share_out, spent, stable_room
from commonplace.recall.context.layers import Layer
from commonplace.recall.context.values import BETWEEN, Cited, Item, Part

_LINE_END = 1  # tokens; between two parts there are two


@dataclass(frozen=True, slots=True)
class Lines:
    """What a layer could say."""

    layer: Layer
    items: Sequence[Item]
    heading: str = ""
    older: int = 0

    @property
    def title(self) -> str:
        return self.heading or self.layer.heading


@dataclass(frozen=True, slots=True)
class Composed:
    parts: tuple[Part, ...]
    citations: tuple[Cited, ...]
    tokens: int

    @property
    def text(self) -> str:
        return BETWEEN.join(part.text for part in self.parts)

    def text_of(self, stable: bool) -> str:
        return BETWEEN.join(part.text for part in self.parts if part.stable is stable)


def compose(lines: Sequence[Lines], budget: int) -> Composed:
    """Never over the budget, by the tokenizer's own count of the whole text."""
    scales, allowed = _Scales(lines), budget
    while True:
        composed = _composed(lines, allowed, scales)
        over = composed.tokens - budget
        if over <= 0:
            return composed
        allowed -= over  # lines side by side cost more than each alone


def _composed(lines: Sequence[Lines], budget: int, scales: _Scales) -> Composed:
    first = [each for each in lines if each.layer.outranks]
    stable = [each for each in lines if each.layer.stable and not each.layer.outranks]
    volatile = [each for each in lines if not each.layer.stable]
    said = _Said()
    foremost = share_out([scales.wish(each) for each in first], budget)
    said.add(first, foremost)
    kept = share_out([scales.wish(each) for each in stable], stable_room(budget, foremost))
    said.add(stable, kept)
    left = budget - spent([*foremost, *kept])
    once = _each_once(volatile, said.ids, left, scales)
    said.add(once, share_out([scales.wish(each) for each in once], left))
    return said.composed()


class _Scales:
    """What lines cost. Each is counted once, when it is first asked for: most never are."""

    def __init__(self, lines: Sequence[Lines]):
        self._known: dict[str, int] = {}
        marked = sum(len(each.items) for each in lines if each.layer.marked)
        self._mark = f" [{'0' * len(str(marked))}]"  # which number it will be is not known yet

    def wish(self, lines: Lines) -> Wish:
        if not lines.items:
            return Wish(())
        layer = lines.layer
        return Wish(
            _Costs(self, lines.items, self._mark if layer.marked else ""),
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
class _Costs:
    scales: _Scales
    items: Sequence[Item]
    mark: str

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> int:
        return self.scales.cost(self.items[place].line + self.mark)


def _each_once(
    volatile: Sequence[Lines], shown: frozenset[str], room: int, scales: _Scales
) -> list[Lines]:
    """An item is said by the first layer that has it, where that layer has room for it by its own
    share; else by the next that has it."""
    told = set(shown)
    found: list[Lines] = []
    for place, lines in enumerate(volatile):
        fresh = replace(lines, items=[i for i in lines.items if i.id is None or i.id not in told])
        later = {item.id for other in volatile[place + 1 :] for item in other.items if item.id}
        contested = later & {item.id for item in fresh.items}
        sure = _sure(fresh, room, scales) if contested else ()
        kept = [i for at, i in enumerate(fresh.items) if at in sure or i.id not in contested]
        told |= {item.id for item in kept if item.id}
        found.append(replace(fresh, items=kept))
    return found


def _sure(lines: Lines, room: int, scales: _Scales) -> tuple[int, ...]:
    (kept,) = share_out([scales.wish(lines)], int(lines.layer.share * room))
    return kept.places


class _Said:
    """What is said so far, with the numbers that it is cited by."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._citations: list[Cited] = []
        self._marks = 0

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(cited.id for cited in self._citations)

    def add(self, lines: Sequence[Lines], kept: Sequence[Kept]) -> None:
        for each, of_it in zip(lines, kept, strict=True):
            if of_it.places:
                self._add(each, of_it)

    def _add(self, lines: Lines, kept: Kept) -> None:
        items = [lines.items[place] for place in kept.places]
        if kept.cut is not None:
            cut = cut_to_tokens(items[-1].line, kept.cut - _LINE_END)
            items[-1] = replace(items[-1], line=cut)
        said = [item.line + self._cite(item, lines.layer) for item in items]
        self._parts.append(
            Part(
                str(lines.layer.name),
                lines.layer.stable,
                "\n".join([lines.title, *said]),
                kept.cost,
                tuple(item.id for item in items if item.id),
            )
        )

    def _cite(self, item: Item, layer: Layer) -> str:
        if item.id is None:
            return ""
        mark = None
        if layer.marked:
            self._marks += 1
            mark = f"[{self._marks}]"
        self._citations.append(Cited(mark, item.id, str(layer.name), item.source))
        return f" {mark}" if mark else ""

    def composed(self) -> Composed:
        text = BETWEEN.join(part.text for part in self._parts)
        tokens = count_tokens(text) if text else 0
        return Composed(tuple(self._parts), tuple(self._citations), tokens)
