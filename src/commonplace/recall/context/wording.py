"""How the items of a context are said: a line each, the same words for the same item."""

from __future__ import annotations

from dataclasses import replace

from commonplace.model.delta import shorten
from commonplace.model.memory import Memory
from commonplace.recall.context.values import Item
from commonplace.recall.pack import Citation, Hit, one_line

LONG = 600  # characters: a longer memory is told by its summary, a passage by its beginning
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def weekday(number: int) -> str:
    """Not by `strftime`, which speaks the language of the machine."""
    return _DAYS[number]


def in_full(memory: Memory, disputed: str | None) -> Item:
    return _item(memory, "", one_line(memory.content), disputed)


def plainly(memory: Memory, disputed: str | None) -> Item:
    return _item(memory, "", _told(memory), disputed)


def by_category(memory: Memory, disputed: str | None) -> Item:
    return _item(memory, f"[{one_line(memory.category)}] ", _told(memory), disputed)


def as_goal(memory: Memory, disputed: str | None) -> Item:
    return _item(memory, f"[goals] ({memory.created_at:%Y-%m-%d}) ", _told(memory), disputed)


def by_date(memory: Memory, disputed: str | None) -> Item:
    when = memory.valid_from or memory.created_at
    return _item(memory, f"{when:%Y-%m-%d}: ", _told(memory), disputed)


def of_hit(hit: Hit) -> Item:
    told = replace(hit, text=hit.text if len(hit.text) <= LONG else _in_short(hit))
    return Item(one_line(told.bullet), hit.id, hit.citation)


def _in_short(hit: Hit) -> str:
    return hit.summary or shorten(hit.text, LONG)


def _told(memory: Memory) -> str:
    """What is longer than a paragraph would take everybody's place."""
    is_long = len(memory.content) > LONG and memory.summary
    return one_line(memory.summary if is_long else memory.content)


def _item(memory: Memory, before: str, text: str, disputed: str | None) -> Item:
    doubt = f" (disputed: {one_line(disputed)})" if disputed else ""
    source = Citation(memory.source_id) if memory.source_id else None
    return Item(f"- {before}{text}{doubt}", memory.id, source)
