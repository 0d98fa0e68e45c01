"""Reports: tables and targets for a terminal, as JSON and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

from rich.console import Console
from rich.table import Table as RichTable

Cell = str | float | int | None


@dataclass
class Table:
    name: str
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: Cell) -> None:
        if len(cells) != len(self.columns):
            raise ValueError(f"{self.name}: {len(cells)} cells for {len(self.columns)} columns")
        self.rows.append(cells)


@dataclass(frozen=True, slots=True)
class Target:
    wanted: str
    most: float
    measured: float | None  # None: not measured in this run

    @property
    def verdict(self) -> str:
        if self.measured is None:
            return "not measured"
        return "met" if self.measured <= self.most else "missed"


@dataclass
class Report:
    machine: dict[str, str]
    tables: list[Table] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)

    def as_json(self) -> str:
        whole = {
            "machine": self.machine,
            "tables": {
                table.name: {
                    "title": table.title,
                    "rows": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
                    "notes": table.notes,
                }
                for table in self.tables
            },
            "targets": [{**asdict(t), "verdict": t.verdict} for t in self.targets],
        }
        return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"

    def print(self, console: Console) -> None:
        for table in [*self.tables, *([self._verdicts()] if self.targets else [])]:
            console.print(table.title, style="bold")
            shown = RichTable()
            for place, column in enumerate(table.columns):
                numeric = any(isinstance(row[place], int | float) for row in table.rows)
                shown.add_column(column, justify="right" if numeric else "left")
            for row in table.rows:
                shown.add_row(*map(readable, row))
            console.print(shown)
            for note in table.notes:
                console.print(f"  {note}", style="dim", highlight=False)
            console.print()

    def _verdicts(self) -> Table:
        table = Table("targets", "Targets", ("wanted", "at most", "measured", "verdict"))
        for target in self.targets:
            table.add(target.wanted, target.most, target.measured, target.verdict)
        return table

    def as_markdown(self) -> str:
        sections = [
            "# Benchmarks",
            "## What it is",
            _ABOUT,
            "## How to",
            _HOW_TO,
            "## Reference",
            "### The machine",
            "\n".join(f"- {name}: {value}" for name, value in self.machine.items()),
            "### What was held constant",
            _CONSTANT,
            *map(as_markdown, [self._verdicts(), *self.tables]),
            "## Limits",
            _LIMITS,
        ]
        return "\n\n".join(sections) + "\n"


def readable(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:,.3g}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def as_markdown(table: Table) -> str:
    notes = "\n".join(f"- {note}" for note in table.notes)
    parts = (f"### {table.title}", "\n".join(_markdown_lines(table)), notes)
    return "\n\n".join(filter(None, parts))


def _markdown_lines(table: Table) -> Iterator[str]:
    yield _markdown_row(table.columns)
    yield _markdown_row(["---"] * len(table.columns))
    for row in table.rows:
        yield _markdown_row([readable(cell) for cell in row])


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


_ABOUT = """\
Speed and size of the engine on SQLite and PostgreSQL, compared in the same run with a plain numpy
scan and with other libraries. [Quality](#quality) measures what recall returns. Times depend on
the machine and its load: compare the ratios within one run."""

_HOW_TO = """\
- `python -m benchmarks --markdown docs/benchmarks.md` writes this page.
- `make bench` prints the same tables. The other libraries need the extra `bench`; PostgreSQL comes
  with the extra `dev`.
- `--quick` takes a minute or two. `--sizes 1000,10000`, `--passages 600,10000` and `--users 100`
  choose what is measured."""

_CONSTANT = """\
- All methods use the same memories, vectors and queries: sentences of 8 to 14 pseudo-words (4,000
  words, Zipf frequencies, fixed seed); a query is four words of one of them. 256 dimensions,
  float32.
- All methods use the same conversations: sessions of 25 turns by two people, 6 to 34 words each.
  Every other word is a small word; the others come from 20,000 pseudo-words with Zipf frequencies
  and from the session's topic. Each session is a source. Every other question names the speaker.
- Vectors are computed in advance by the `hashing` embedder and read from a dictionary. The times
  include no embedder, except where ingesting says so.
- One BLAS thread. Methods alternate call by call, so that noise affects all of them equally.
- The engine runs the full hybrid recall through `me.recall` (catching up with the database, both
  arms, ranking, rows, links, counting tokens), k = 5. What it writes after the answer is finished
  before the next method's turn. Other libraries are asked for five results by vector only.
- SQLite with WAL and `synchronous=FULL`; PostgreSQL with its default durability, over a socket,
  its tables analysed after loading, as autovacuum does soon afterwards."""

_LIMITS = """\
These numbers say nothing about:

- Quality: `python -m benchmarks quality` measures it.
- The embedder, which costs more than the engine with most models.
- Real memories: invented sentences have few near neighbours, so hardly any links.
- Concurrency: one client at a time. Several processes can share a store, but were not measured
  here.

How to read the comparisons:

- The numpy scan stores, fetches and filters nothing; it is a lower bound, not a competitor.
- chromadb searches approximately and uses its own threads; the engine's scan is exact.
- Bytes on disk include versions and the journal, which the other libraries do not store."""
