"""Embedder benchmark: calibration quality, and the speed of re-embedding a store."""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import commonplace
from benchmarks.fixtures import Database, SentenceGenerator, available_databases
from benchmarks.measure import timed
from benchmarks.report import Report, Table, as_markdown
from commonplace.api import make_embedder
from commonplace.errors import BadSettings
from commonplace.language.embedders.calibration import (
    CalibrationPair,
    calibrate,
    cosines_of,
    parse_pairs,
)
from commonplace.language.embedders.embedder import (
    Calibration,
    Embedder,
    SymmetricEmbedder,
    Vectors,
    unit_rows,
)
from commonplace.language.text.detect import Script

EMBEDDERS = ("hashing", "wordllama", "minilm")
THRESHOLDS = (0.75, 0.80, 0.85, 0.88, 0.95)
BEGIN, END = "<!-- embedders: begin -->", "<!-- embedders: end -->"
_STS = Path("sts") / "stsb-en-dev.csv"
_HIGHEST_SCORE = 5
_BATCH = 1000


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    models = _available()
    pairs = sts_pairs(_data_folder()) + parse_pairs(
        asked.pairs.read_text(encoding="utf-8").splitlines()
    )
    with (
        tempfile.TemporaryDirectory(prefix="commonplace-bench-") as folder,
        available_databases(Path(folder)) as found,
    ):
        tables = [
            calibration_table(models, pairs),
            threshold_table(models, pairs),
            reembed_table(models, found, asked.size),
        ]
    Report(machine={}, tables=tables).print(Console(width=None if sys.stdout.isatty() else 120))
    if asked.write:
        write_tables(asked.write, tables)


def calibration_table(models: Sequence[Embedder], pairs: Sequence[CalibrationPair]) -> Table:
    """Drawn anew from half of the pairs, proved on the other half."""
    columns = ("embedder", "script", "held out", "correlation", "error", "unrelated", "verdict")
    table = Table("sight", "What each embedder sees, on held-out pairs", columns)
    for model in models:
        for script, proof in calibrate(model, pairs).proofs.items():
            verdict = "seen" if proof.holds else "blind"
            row = (proof.held_out, proof.correlation, proof.error, proof.unrelated, verdict)
            table.add(model.name, str(script), *row)
    table.notes.append("Scripts with fewer than 40 pairs are left out: they would prove nothing.")
    return table


def threshold_table(models: Sequence[Embedder], pairs: Sequence[CalibrationPair]) -> Table:
    """What people say of the pairs that pass each threshold, by the map that ships."""
    table = Table(
        "meaning",
        "Judged similarity of the pairs at or above each threshold (mean, and how many)",
        ("embedder", *(f"≥ {threshold:g}" for threshold in THRESHOLDS)),
    )
    for model in models:
        known = [p for p in pairs if p.script in model.calibration.knots]
        judged = np.array([pair.similarity for pair in known])
        scripts = np.array([str(pair.script) for pair in known])
        cosines = cosines_of(model, known)
        told = np.zeros(len(known))
        for script in model.calibration.knots:
            here = scripts == str(script)
            told[here] = model.calibration.similarities(cosines[here], script)
        table.add(model.name, *(_mean_and_count(judged[told >= t]) for t in THRESHOLDS))
    return table


def _mean_and_count(judged: NDArray[np.float64]) -> str:
    return f"{judged.mean():.2f} ({len(judged)})" if len(judged) else "–"


def reembed_table(models: Sequence[Embedder], found: Sequence[Database], size: int) -> Table:
    columns = ("embedder", "database", "memories", "seconds", "memories/s")
    table = Table("reembed", "Changing over to each embedder", columns)
    sentences = SentenceGenerator().sentences(size)
    for database in found:
        for model in models:
            seconds = _reembed_seconds(database, model, sentences)
            table.add(model.name, database.name, size, seconds, size / seconds)
    return table


def _reembed_seconds(database: Database, model: Embedder, sentences: Sequence[str]) -> float:
    url = database.create(f"reembed_{model.name.replace('-', '_')}")
    model.embed_passages(["loaded beforehand"])
    with commonplace.open(url, embedder=_RandomEmbedder(), tidy_on_open=False) as book:
        for start in range(0, len(sentences), _BATCH):
            batch = sentences[start : start + _BATCH]
            book.user("ana").remember_many([{"content": each, "kind": "log"} for each in batch])
        return timed(lambda: book.reembed(model))


class _RandomEmbedder(SymmetricEmbedder):
    """What a store is changed over from: vectors at random, so that no memory is near another."""

    name = "before"
    dimension = 256
    calibration = Calibration(dict.fromkeys(Script, ((0.0, 0.0), (1.0, 1.0))))

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return unit_rows(self._random.standard_normal((len(texts), self.dimension)))


def sts_pairs(folder: Path) -> list[CalibrationPair]:
    """Never part of the project; without it English is not measured."""
    file = folder / _STS
    if not file.exists():
        Console(stderr=True).print(f"{file} is missing: Latin script is measured without it")
        return []
    with file.open(encoding="utf-8", newline="") as opened:
        return [
            CalibrationPair(a, b, float(score) / _HIGHEST_SCORE)
            for a, b, score in csv.reader(opened)
        ]


def write_tables(page: Path, tables: Sequence[Table]) -> None:
    """Between the page's marks; the rest of it is written by hand."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    written = "\n\n".join(as_markdown(table) for table in tables)
    page.write_text(f"{before}{BEGIN}\n\n{written}\n\n{END}{after}", encoding="utf-8")


def _available() -> list[Embedder]:
    found = []
    for name in EMBEDDERS:
        try:
            found.append(make_embedder(name))
        except BadSettings as error:
            Console(stderr=True).print(f"{error.message} {error.remedy}")
    return found


def _data_folder() -> Path:
    return Path(os.environ.get("COMMONPLACE_BENCH_DATA") or Path("..") / "shared" / "data")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks embedders", description=__doc__)
    parser.add_argument(
        "--pairs",
        type=Path,
        default=Path("labelled") / "similarity.jsonl",
        metavar="FILE",
        help="labelled pairs (%(default)s)",
    )
    parser.add_argument(
        "--size", type=int, default=2000, help="number of memories to embed again (%(default)s)"
    )
    parser.add_argument(
        "--write", type=Path, metavar="PAGE", help="write the tables into this page"
    )
    return parser
