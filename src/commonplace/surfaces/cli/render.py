"""Answers on a terminal: one renderer of records and tables, driven by `layouts.toml`.

A layout is a text. Each of its lines is one of these:

    text {attribute} [bold]text[/]   one line; attributes of the answer in braces, styles in markup
    ~text    !text                   the same, all of it dim, or yellow
    ?attribute text {attribute}      printed alone, in yellow, when the attribute is empty
    #attribute Title                 a heading, when the attribute is not empty
    *attribute: line                 a line for each item; several such lines make one record
    +attribute                       each item by the layout of its own class; maps as a table
    |attribute: Title=text {name} | Title=text    a table with these columns
    =attribute                       text for a program, printed unchanged

A line is left out when an attribute that it names is None or empty; ``⟦ … ⟧`` is a part of a line
that is left out alone, also for 0 and False. ``{self}`` is the item itself, ``{rank}`` its number.
Formats: short, ids, count, day, minute, ``?`` (prints nothing), ``+noun`` (a number with its noun),
``@table`` (the word for a value), or one of Python's own. What has to be computed is a function in
`computed.py`. Ids are never cut and never wrapped.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache
from importlib import resources
from itertools import groupby
from string import Formatter
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from commonplace.errors import CommonplaceError
from commonplace.model.delta import shorten
from commonplace.operations.serialization import as_data
from commonplace.operations.table import Operation
from commonplace.surfaces.cli.computed import COMPUTED, Markup

_TABLES: Mapping[str, Any] = tomllib.loads(
    (resources.files(__package__) / "layouts.toml").read_text("utf-8")
)
LAYOUTS: Mapping[str, str] = _TABLES["layouts"]
_WORDS: Mapping[str, Mapping[str, str]] = _TABLES["words"]
EMPTY: Mapping[str, str] = _TABLES["empty"]

ID = re.compile(r"(?:\w+:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:#\d+)?")
_WORD = re.compile(r"\S+\s*|\s+")
_OPTIONAL = re.compile(r"⟦(.*?)⟧", re.S)
_STYLES = {"~": "dim", "!": "yellow"}
_DATES = {"day": "%Y-%m-%d", "minute": "%Y-%m-%d %H:%M"}
_NARROWEST = 14  # minimum width of a text column, or its longest word
_BREAK = "¶"  # in a template
_GAP = 2
_CELL = 200  # characters


# ——— printing ———


def show_answer(operation: Operation, answer: Any, as_json: bool) -> None:
    if operation.name == "export":
        sys.stdout.writelines(f"{line}\n" for line in answer)
    elif as_json:
        sys.stdout.write(json.dumps(as_data(answer), ensure_ascii=False, indent=2) + "\n")
    elif (text := raw_text(answer)) is not None:
        sys.stdout.write(f"{text}\n" if text else "")
    else:
        shown = Text(EMPTY[operation.name], "dim") if answer in ([], ()) else drawn(answer)
        Console(highlight=False).print(shown, crop=False)


def show_error(error: CommonplaceError, as_json: bool) -> None:
    if as_json:
        sys.stderr.write(json.dumps({"error": error.as_dict()}, ensure_ascii=False) + "\n")
        return
    console = Console(stderr=True, highlight=False)
    console.print(_line(f"[bold red]{error.code}: [/]{escape(error.message)}"), crop=False)
    console.print(_line(f"[bold]→ [/]{escape(error.remedy)}"), crop=False)


def raw_text(answer: Any) -> str | None:
    """Text for a program: not wrapped and not coloured. None: the answer is for people."""
    if isinstance(answer, str):
        return answer.rstrip("\n")
    layout = LAYOUTS.get(type(answer).__name__, "")
    return str(getattr(answer, layout[1:].strip())) if layout.startswith("=") else None


def drawn(answer: Any) -> RenderableType:
    if isinstance(answer, list | tuple):
        if answer and all(isinstance(each, Mapping) for each in answer):
            return _table_of_maps(answer)
        return Group(*map(drawn, answer))
    layout = LAYOUTS.get(type(answer).__name__)
    if layout is None:
        pairs = as_data(answer).items() if is_dataclass(answer) else [("", answer)]
        return _line("\n".join(f"[dim]{name}[/] {escape(plain(value))}" for name, value in pairs))
    return Group(*_lines(layout.strip("\n").splitlines(), answer))


def _lines(layout: Iterable[str], item: Any, rank: int = 0) -> Iterator[RenderableType]:
    for path, lines in groupby(layout, _repeated):
        if path:
            inner = [line.partition(": ")[2] for line in lines]
            for number, each in enumerate(reached(item, path) or (), 1):
                yield from _lines(inner, each, number)
            continue
        for line in lines:
            sign, (name, _, rest) = line[:1], line[1:].partition(" ")
            if sign == "?" and not reached(item, name):
                yield _line(f"[yellow]{filled(rest, item)}[/]")
                return
            if sign == "#" and reached(item, name):
                yield _line(f"[bold]{rest}[/]")
            elif sign == "+" and (items := reached(item, name)):
                yield drawn(items)
            elif sign == "|" and (items := reached(item, name[:-1])):
                columns = [column.partition("=")[::2] for column in rest.split(" | ")]
                cells = [[_text(filled(text, i) or "") for _, text in columns] for i in items]
                yield TableRows([title for title, _ in columns], cells)
            elif sign not in tuple("?#+|"):
                style = _STYLES.get(sign, "")
                text = filled(line[1:] if style else line, item, rank)
                if text is not None:
                    yield _line(f"[{style}]{text}[/]" if style else text)


def _repeated(line: str) -> str:
    return line[1:].partition(": ")[0] if line.startswith("*") else ""


def _line(markup: str) -> WrappedText:
    return WrappedText(_text(markup))


def _text(markup: str) -> Text:
    return Text.from_markup(markup, emoji=False)


@dataclass(frozen=True, slots=True)
class WrappedText:
    """Wrapped between words, and indented like its first line; an id is never broken."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.split(allow_blank=True):
            indent = len(line.plain) - len(line.plain.lstrip(" "))
            width = max(options.max_width - indent, 1)
            for piece in line[indent:].divide(_breaks(line.plain[indent:], width)):
                piece.rstrip()
                yield Text(" " * indent, no_wrap=True, overflow="ignore").append_text(piece)


def _breaks(line: str, width: int) -> Iterator[int]:
    """The positions of line breaks. A word that is too long is broken, unless it contains an id."""
    column = 0
    for word in _WORD.finditer(line):
        needs = cell_len(word[0].rstrip())
        if column and column + needs > width:
            yield word.start()
            column = 0
        if needs > width and not ID.search(word[0]):
            for place, letter in enumerate(word[0].rstrip(), word.start()):
                if column + cell_len(letter) > width:
                    yield place
                    column = 0
                column += cell_len(letter)
            column += len(word[0]) - len(word[0].rstrip())
        else:
            column += cell_len(word[0])


# ——— templates ———


def filled(template: str, item: Any, rank: int = 0) -> Markup | None:
    """None: an attribute that the line needs is empty."""
    pieces = []
    for place, piece in enumerate(
        _OPTIONAL.split(template.replace(_BREAK, "\n"))
    ):  # every other one is optional
        text = _replaced(piece, item, rank, is_optional=place % 2 == 1)
        if text is None and place % 2 == 0:
            return None
        pieces.append(text or "")
    return Markup("".join(pieces))


def _replaced(template: str, item: Any, rank: int, *, is_optional: bool) -> str | None:
    pieces = []
    for literal, name, spec, _ in _parsed(template):
        pieces.append(literal)
        if name is None:
            continue
        value = rank if name == "rank" else reached(item, name)
        if value is None or value in ("", (), [], {}) or (is_optional and value in (0, False)):
            return None
        pieces.append(_written(value, spec or ""))
    return "".join(pieces)


@cache
def _parsed(template: str) -> tuple[tuple[str, str | None, str | None, str | None], ...]:
    return tuple(Formatter().parse(template))


def reached(item: Any, path: str) -> Any:
    for place, name in enumerate(path.split(".")):
        if place == 0 and name in COMPUTED:
            item = COMPUTED[name](item)
        elif name == "items" and isinstance(item, Mapping):
            item = list(item.items())
        elif isinstance(item, Mapping):
            item = item.get(name)
        elif name.isdigit():
            item = item and item[int(name)]
        elif name != "self":
            item = getattr(item, name, None)
    return item


def _written(value: Any, spec: str) -> str:
    if isinstance(value, Markup):
        return value
    if spec == "?":
        return ""
    if spec.startswith("@"):
        return _WORDS[spec[1:]].get(str(value), escape(plain(value)))
    if spec == "count":
        return str(len(value))
    if spec == "counts":
        return escape(", ".join(f"{name} {count}" for name, count in value.items()))
    if spec.startswith("+"):
        return several(value if isinstance(value, int) else len(value), spec[1:])
    if spec == "short":
        return escape(shorten(plain(value)))
    if spec == "str":
        return escape(str(value))
    if spec == "ids":
        return " ".join(map(str, value))
    return escape(format(value, _DATES.get(spec, spec)) if spec else plain(value))


def several(count: int, noun: str) -> str:
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun}"


def plain(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return ", ".join(map(str, value))
    return json.dumps(as_data(value), ensure_ascii=False)


# ——— tables ———


@dataclass(frozen=True, slots=True)
class TableRows:
    titles: Sequence[str]
    cells: Sequence[Sequence[Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = self._widths(console, options)
        yield self._table(widths) if widths else self._records()

    def _widths(self, console: Console, options: ConsoleOptions) -> list[int]:
        """Each column's minimum and a share of the remaining width. Empty: they do not fit."""
        columns = range(len(self.titles))
        least, most = [0] * len(self.titles), [0] * len(self.titles)
        for cells in ([Text(title) for title in self.titles], *self.cells):
            for place in columns:
                needs = Measurement.get(console, options, cells[place])
                ids = max(map(len, ID.findall(cells[place].plain)), default=0)
                narrow = max(ids, min(needs.minimum, _NARROWEST))
                least[place] = max(least[place], narrow)
                most[place] = max(most[place], needs.maximum)
        room = options.max_width - sum(least) - _GAP * (len(self.titles) - 1)
        if room < 0:
            return []
        extra = sum(most) - sum(least)
        if extra <= room:
            return most
        return [low + (high - low) * room // extra for low, high in zip(least, most, strict=True)]

    def _table(self, widths: Sequence[int]) -> Table:
        table = Table(
            box=None,
            padding=(0, _GAP, 0, 0),
            pad_edge=False,
            header_style="dim",
            show_header=any(self.titles),
        )
        for title, width in zip(self.titles, widths, strict=True):
            table.add_column(title, width=width, overflow="fold")
        for cells in self.cells:
            table.add_row(*cells)
        return table

    def _records(self) -> Group:
        lines: list[WrappedText] = []
        for cells in self.cells:
            named = [pair for pair in zip(self.titles, cells, strict=True) if pair[1].plain]
            for place, (title, cell) in enumerate(named):
                line = Text("  " if place else "")
                line.append(f"{title}: " if title and place else "", "dim")
                lines.append(WrappedText(line.append_text(cell)))
        return Group(*lines)


def _table_of_maps(answer: Sequence[Mapping[str, Any]]) -> TableRows:
    """Rows of a journal: a column for each field that any of them has."""
    rows = [as_data(row) for row in answer]
    empty: tuple[Any, ...] = (None, "", [], {})
    names = [name for name in rows[0] if any(row.get(name) not in empty for row in rows)]

    def cell(row: Mapping[str, Any], name: str) -> Text:
        value = row.get(name)
        return Text("" if value in empty else shorten(plain(value), _CELL))

    return TableRows(names, [[cell(row, name) for name in names] for row in rows])
