"""Quality reports: tables, JSON, and a section of docs/benchmarks.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.quality.dataset import ALL, METRICS, Numbers
from benchmarks.quality.methods import ABSTENTION
from benchmarks.quality.precision import ACTIVE, EMPTY, STRUCTURAL
from benchmarks.quality.run import PRECISION, QualityResults
from benchmarks.report import Cell, Report, Table, as_markdown
from commonplace.errors import InvalidInput

BEGIN, END = "<!-- quality: begin -->", "<!-- quality: end -->"
COSTS = ("tokens", "ms", "ms embedder")
COLUMNS: Mapping[str, Sequence[str]] = {
    PRECISION: (
        *("precision", "recall", ACTIVE, STRUCTURAL, EMPTY),
        *("leaks", "superseded", "drift"),
    ),
    ABSTENTION: ("R@10", "empty", "own empty"),
}


def as_json(results: QualityResults) -> str:
    return json.dumps({"sets": results.sets}, indent=2, ensure_ascii=False) + "\n"


def tables(results: QualityResults, embedder: str) -> list[Table]:
    return [_table(name, results, embedder) for name in results.sets]


def _table(name: str, results: QualityResults, embedder: str) -> Table:
    columns = COLUMNS.get(name, (*METRICS, *COSTS))
    size = results.sizes.get(name)
    title = f"{name}, with {embedder}" + (f": {size}" if size else "")
    table = Table(name, title, ("category", "method", *columns))
    methods = results.sets[name]
    for category in dict.fromkeys(each for told in methods.values() for each in told):
        for method, told in methods.items():
            if category in told:
                table.add(category, method, *_cells(told[category], columns))
    table.notes += [f"{remark}." for remark in results.remarks.get(name, ())]
    return table


def _cells(numbers: Numbers, columns: Sequence[str]) -> list[Cell]:
    found = (numbers.get(column) for column in columns)
    return [value if value is None else round(value, 1) for value in found]


def show(results: QualityResults, embedder: str, console: Console) -> None:
    Report(machine={}, tables=tables(results, embedder)).print(console)


def short_table(table: Table) -> Table:
    """For the page: `all` and the product's own categories, not every method in each of them."""
    kept = [row for row in table.rows if row[0] == ALL or row[1] == table.rows[0][1]]
    return Table(table.name, table.title, table.columns, kept, table.notes)


def write(
    page: Path,
    runs: Sequence[tuple[QualityResults, str]],
    machine: Mapping[str, str],
) -> None:
    """Between the page's marks, which are added at its end when it has none."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    if BEGIN not in text:
        text = f"{text.rstrip()}\n\n{BEGIN}\n{END}\n".lstrip()
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise InvalidInput(f"{page} has {BEGIN} but no {END}.", field="write")
    page.write_text(f"{before}{BEGIN}\n\n{_section(runs, machine)}\n\n{END}{after}", "utf-8")


def kept_section(page: Path) -> str:
    """The section as it is in the page, for rewriting the rest of the page."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    _, begun, rest = text.partition(BEGIN)
    section, ended, _ = rest.partition(END)
    return f"\n{BEGIN}{section}{END}\n" if begun and ended else ""


def _section(runs: Sequence[tuple[QualityResults, str]], machine: Mapping[str, str]) -> str:
    found = [table for results, embedder in runs for table in tables(results, embedder)]
    parts = [
        "## Quality",
        _ABOUT,
        "### How to measure quality",
        _HOW_TO,
        "### Where it was measured",
        "\n".join(f"- {name}: {value}" for name, value in machine.items()),
        "### What was held constant for quality",
        _CONSTANT,
        *(as_markdown(short_table(table)) for table in found),
        "### Limits of the quality numbers",
        _LIMITS,
    ]
    return "\n\n".join(parts)


_ABOUT = """\
How well recall finds the evidence of questions in public data sets, compared with plain BM25 and a
plain vector search."""

_HOW_TO = """\
`python -m benchmarks quality --data DIR --write` writes this section. Without `--write` it prints
the same tables with every category; `--json` prints numbers. `--set locomo` (repeatable) chooses a
set, `--embedder` (repeatable) the model, `--store URL` another database than a temporary SQLite
file. The data is not part of the package. DIR, or the folder in `COMMONPLACE_BENCH_DATA`, or
`../shared/data`, has any of:

- `locomo/*.json`: conversations as LoCoMo publishes them
- `multihop/NAME.json` with `NAME_corpus.json`: MuSiQue, HotpotQA, 2Wiki as HippoRAG has them
- `beam*/CHAT/chat.json` with `probing_questions/probing_questions.json`: BEAM
- `meetings/*.jsonl`: QMSum
- `precisionmembench/`: `beliefs.seed.json`, `retrieval.cases.json`, and the session cases"""

_CONSTANT = """\
- All calls use the public API: each conversation is a user, each session a source. `me.ingest`,
  then `me.recall(question, k=20, threshold=0)`: the ranking alone, without the relevance floor.
  Abstention and precisionmembench leave out weak hits (`strict=True`): `empty` is the share of
  others' questions for which nothing is sure. No language model is used.
- The clock is fixed, so two runs give the same numbers except `ms`.
- R@k is the share of a question's evidence among the first k hits; nDCG@10 also counts the rank.
  Both are means over questions, in percent. A hit counts for the one turn (or paragraph) that it
  cites: several hits of one turn take up their ranks and count once.
- `all` excludes adversarial questions. Questions without evidence in the files are not asked.
  Malformed evidence ids are repaired if their meaning is clear, else dropped; the notes under each
  table count them.
- `bm25` (k1 = 1.2, b = 0.75, the product's terms) and `dense` (cosine with the same embedder) use
  the same units with the same text: `Speaker: text`, or title and text. Frequencies are per user.
- LoCoMo: the caption of a shared picture is in brackets after the turn's text. BEAM: the set's own
  numbering at the end of messages is removed. QMSum: transcription marks such as {vocalsound} are
  removed. HotpotQA and MuSiQue: a paragraph is a unit.
- precisionmembench: beliefs are facts with their names and aliases as metadata and their scopes as
  tags; `pinned` ones are listed, the others recalled within the scope. The persona texts that some
  cases mention belong to its authors' runner and are not scored. Participants of a relation are
  added for every method, as that runner does.
- `ms` is a whole recall, including the embedder; `ms embedder` is the embedder's part."""

_LIMITS = """\
- Only retrieval of the evidence is measured, not whether a reader would answer correctly.
- All of these sets are English.
- Annotators mark a few turns; other turns that would answer as well do not count.
- In QMSum a span often has a hundred utterances, so recall at 20 is low for every method.
- `abstention` asks each user another user's questions, which mostly name people unknown to the
  user. Unanswerable questions about known people are harder."""
