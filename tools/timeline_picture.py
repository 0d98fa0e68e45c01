"""`docs/images/storylines.svg`: a macro, its storylines and their sources over months."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from textwrap import wrap
from xml.sax.saxutils import escape

import commonplace
from commonplace.engine.graph_search.listing import Mentioning
from commonplace.engine.graph_search.stories.story_listing import (
    MacroShown,
    StorylineShown,
    WholeMacro,
    WholeStoryline,
)

_TALKS = {
    "2026-01-06": ("Dana Levi", "My friend Omri Katz builds kitchens. I can ask him for a price."),
    "2026-01-12": ("Dana Levi", "The flat is ours: I signed the contract this morning."),
    "2026-01-19": ("Dana Levi", "I measured the rooms of the flat, and the kitchen is tiny."),
    "2026-01-28": ("Dana Levi", "The bank agreed to the mortgage, at four per cent."),
    "2026-02-04": ("Dana Levi", "I got the keys, and I met Omri Katz in the flat."),
    "2026-02-11": ("Omri Katz", "The old kitchen is out, and the walls are dry."),
    "2026-02-20": ("Omri Katz", "The new cabinets come in two weeks."),
    "2026-03-06": ("Omri Katz", "The cabinets are here, and one door is broken."),
    "2026-03-17": ("Omri Katz", "I put in the new door and the lamps."),
    "2026-03-28": ("Omri Katz", "The kitchen is finished. Send me a photo of the first dinner."),
}

_WIDTH, _LEFT, _RIGHT = 1080.0, 40.0, 40.0
_ROW, _TOP, _LINE = 118.0, 64.0, 18.0
_LETTERS = 132  # of a line of text
_STYLE = """<style>
text { font-family: system-ui, sans-serif; font-size: 13px; fill: #1f2937 }
.name { font-weight: bold; font-size: 15px }
.month { fill: #64748b; font-size: 12px }
.grid { stroke: #e2e8f0 }
.macro { fill: #ede9fe; stroke: #7c3aed }
.storyline { fill: #dbeafe; stroke: #2563eb }
.source { fill: #2563eb }
</style>"""


@dataclass(frozen=True, slots=True)
class Bar:
    """A macro or a storyline."""

    kind: str
    name: str
    text: str
    days: tuple[datetime, ...]  # of its sources, or of all sources of its storylines


class _Calendar:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def timeline_picture() -> str:
    """SVG. The storylines and the macro are those that a night makes without a model."""
    return picture_of_bars(_bars())


def _bars() -> list[Bar]:
    calendar = _Calendar()
    with commonplace.open(":memory:", clock=calendar, worker="off") as book:
        me = book.user("ana")
        me.nodes_add("Dana Levi")
        me.nodes_add("Omri Katz")
        me.relate("Dana Levi", "Omri Katz", "friend")
        for day, (speaker, text) in _TALKS.items():
            calendar.now = datetime.fromisoformat(f"{day}T18:00+00:00")
            me.ingest(f"{speaker}: {text}\nAna: Good to know.", format="transcript", title=day)
        me.extract()
        calendar.now += timedelta(days=1)
        me.sleep(tasks=["storylines", "macros"])
        macro = me.show(me.macros(anchor="Dana Levi").macros[0].id)
        assert isinstance(macro, WholeMacro)
        bars = [_bar("macro", macro.macro, macro.sources)]
        for storyline in reversed(macro.storylines):
            whole = me.show(storyline.id)
            assert isinstance(whole, WholeStoryline)
            bars.append(_bar("storyline", storyline, whole.sources))
    return bars


def _bar(kind: str, story: StorylineShown | MacroShown, sources: Sequence[Mentioning]) -> Bar:
    days = tuple(sorted(each.said_at for each in sources))
    return Bar(kind, story.name, story.description, days)


def picture_of_bars(bars: Sequence[Bar]) -> str:
    days = [day for bar in bars for day in bar.days]
    first = min(days).replace(day=1, hour=0)
    last = _next_month(max(days))
    scale = (_WIDTH - _LEFT - _RIGHT) / (last - first).total_seconds()

    def x(day: datetime) -> float:
        return _LEFT + (day - first).total_seconds() * scale

    height = _TOP + _ROW * len(bars)
    months = list(_months(first, last))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {height:.0f}" '
        'role="img">',
        "<title>A macro, its storylines and their sources over months</title>",
        _STYLE,
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for month in months:
        at = x(month)
        parts.append(f'<line class="grid" x1="{at:.1f}" y1="34" x2="{at:.1f}" y2="{height:.0f}"/>')
        parts.append(f'<text class="month" x="{at + 6:.1f}" y="28">{month:%B %Y}</text>')
    for row, bar in enumerate(bars):
        top = _TOP + row * _ROW
        start, end = x(bar.days[0]) - 8, x(bar.days[-1]) + 8
        parts.append(
            f'<rect class="{bar.kind}" x="{start:.1f}" y="{top:.1f}" '
            f'width="{end - start:.1f}" height="18" rx="9"/>'
        )
        if bar.kind == "storyline":
            parts += [
                f'<circle class="source" cx="{x(day):.1f}" cy="{top + 9:.1f}" r="4"/>'
                for day in bar.days
            ]
        parts.append(
            f'<text class="name" x="{_LEFT:.0f}" y="{top + 38:.1f}">{escape(bar.name)}</text>'
        )
        for place, line in enumerate(wrap(bar.text, _LETTERS)[:3]):
            y = top + 38 + _LINE * (place + 1)
            parts.append(f'<text x="{_LEFT:.0f}" y="{y:.1f}">{escape(line)}</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _months(first: datetime, last: datetime) -> Iterator[datetime]:
    month = first
    while month < last:
        yield month
        month = _next_month(month)


def _next_month(day: datetime) -> datetime:
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1, hour=0)
