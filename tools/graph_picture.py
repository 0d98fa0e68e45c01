"""`docs/images/graph.svg`: the graph of the tour, as `commonplace graph` gives it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any
from xml.sax.saxutils import escape

from tools.graph_layout import Frame, Point, placed
from tools.spring import Calendar, live_through_it, opened

Row = Mapping[str, Any]

_FRAME = Frame(width=1180, height=760, margin=(92, 28))
_BEND = 90
_LETTER = 7.6  # how wide one is, about
_COLOURS = {"Person": "#dbeafe", "Concept": "#fef3c7", "Entity": "#dcfce7"}
_LEGEND = (("Person", "people"), ("Concept", "ideas"), ("Entity", "things"))
_STYLE = """<style>
text { font-family: system-ui, sans-serif; font-size: 14px; fill: #1f2937; text-anchor: middle }
.edge { stroke: #64748b; stroke-width: 1.4; fill: none }
.over { stroke-dasharray: 5 4 }
.type { font-size: 11.5px; fill: #475569; paint-order: stroke; stroke: #fff; stroke-width: 4px }
.box { stroke: #64748b; stroke-width: 1.2 }
.gone { stroke: #dc2626 }
.owner { font-weight: bold }
.key { text-anchor: start; font-size: 12px }
</style>"""


def graph_picture() -> str:
    """SVG. Red is what goes with the last source."""
    calendar = Calendar()
    with opened(calendar) as book:
        me = book.user("ana")
        me.profile_set("preferred_name", "Ana")
        letter = [ingested.id for _, ingested, _ in live_through_it(me, calendar)][-1]
        before = json.loads(me.graph(past=True))
        me.erase(letter)
        after = json.loads(me.graph(past=True))
    left = {row["id"] for row in (*after["nodes"], *after["edges"])}
    gone = {row["id"] for row in (*before["nodes"], *before["edges"])} - left
    return picture_of(before["nodes"], before["edges"], gone)


def picture_of(nodes: Sequence[Row], edges: Sequence[Row], gone: Collection[str] = ()) -> str:
    ends = [(edge["from_entity_key"], edge["to_entity_key"]) for edge in edges]
    at = placed([node["id"] for node in nodes], ends, _FRAME)
    lines = [*_lines(edges, at)]
    size = f"{_FRAME.width:.0f} {_FRAME.height + 40:.0f}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" role="img">',
        "<title>People, ideas and things, and how they relate</title>",
        _STYLE,
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *(_path(line, line.edge["id"] in gone) for line in lines),
        *(_box(node, at[node["id"]], node["id"] in gone) for node in nodes),
        *(_type(line) for line in lines),
        *_key(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


@dataclass(frozen=True, slots=True)
class _Line:
    """An edge as it is drawn; several between the same two bend away from each other."""

    edge: Row
    start: Point
    bend: Point
    end: Point

    @property
    def middle(self) -> Point:
        (x1, y1), (bx, by), (x2, y2) = self.start, self.bend, self.end
        return (x1 + 2 * bx + x2) / 4, (y1 + 2 * by + y2) / 4


def _lines(edges: Sequence[Row], at: Mapping[str, Point]) -> Iterator[_Line]:
    between: dict[tuple[str, ...], list[Row]] = {}
    for edge in edges:
        pair = tuple(sorted((edge["from_entity_key"], edge["to_entity_key"])))
        between.setdefault(pair, []).append(edge)
    for pair, several in between.items():
        (x1, y1), (x2, y2) = (at[id] for id in pair)
        length = sqrt((x2 - x1) ** 2 + (y2 - y1) ** 2) or 1.0
        for place, edge in enumerate(several):
            away = _BEND * (place - (len(several) - 1) / 2) / length
            bend = (x1 + x2) / 2 - (y2 - y1) * away, (y1 + y2) / 2 + (x2 - x1) * away
            yield _Line(edge, (x1, y1), bend, (x2, y2))


def _path(line: _Line, is_gone: bool) -> str:
    looks = "edge" + " over" * bool(line.edge["valid_to"]) + " gone" * is_gone
    (x1, y1), (bx, by), (x2, y2) = line.start, line.bend, line.end
    way = f"M{x1:.0f} {y1:.0f} Q{bx:.0f} {by:.0f} {x2:.0f} {y2:.0f}"
    return f'<path class="{looks}" d="{way}"/>'


def _type(line: _Line) -> str:
    x, y = line.middle
    word = escape(line.edge["relationship_type"])
    return f'<text class="type" x="{x:.0f}" y="{y + 4:.0f}">{word}</text>'


def _box(node: Row, at: Point, is_gone: bool) -> str:
    x, y = at
    name = escape(node["name"])
    width = len(node["name"]) * _LETTER + 22
    fill = _COLOURS[node["node_type"]]
    looks, word = "box" + " gone" * is_gone, "owner" if node["is_owner"] else "name"
    return (
        f'<rect class="{looks}" x="{x - width / 2:.0f}" y="{y - 15:.0f}" width="{width:.0f}" '
        f'height="30" rx="8" fill="{fill}"/><text class="{word}" x="{x:.0f}" y="{y + 5:.0f}">'
        f"{name}</text>"
    )


def _key() -> Iterator[str]:
    y = _FRAME.height + 22
    for place, (type, word) in enumerate(_LEGEND):
        x = 20 + 110 * place
        yield f'<rect class="box" x="{x}" y="{y - 12:.0f}" width="18" height="14" rx="4" '
        yield f'fill="{_COLOURS[type]}"/><text class="key" x="{x + 25}" y="{y:.0f}">{word}</text>'
    for place, (looks, word) in enumerate(
        (("edge over", "it is over"), ("edge gone", "only the letter tells of it"))
    ):
        x = 350 + 140 * place
        yield f'<path class="{looks}" d="M{x} {y - 5:.0f} h28"/>'
        yield f'<text class="key" x="{x + 36}" y="{y:.0f}">{word}</text>'
