"""One quality run: every chosen dataset with the product and the baselines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Protocol

from benchmarks.quality import beam, locomo, meetings, methods, multihop, precision, precision_run
from benchmarks.quality.dataset import Dataset, DatasetUser, Numbers, QuestionOutcome, summarise
from benchmarks.quality.methods import (
    PREFIX,
    Bm25Baseline,
    DenseBaseline,
    K,
    TimedEmbedder,
    ask_all,
    best,
    load_user,
    quality_store,
)
from commonplace.api import Commonplace
from commonplace.errors import NotFound
from commonplace.language.embedders.embedder import Embedder

PRODUCT, BM25, DENSE = METHODS = ("commonplace", "bm25", "dense")
PRECISION = "precision"
CHOICES: dict[str, ModuleType] = {
    "locomo": locomo,
    "multihop": multihop,
    "beam": beam,
    "meetings": meetings,
    PRECISION: precision,
}
DATA_VARIABLE = "COMMONPLACE_BENCH_DATA"

Categories = dict[str, Numbers]


class ProgressBar(Protocol):
    def start(self, what: str, steps: int) -> None: ...

    def step(self) -> None: ...


@dataclass
class QualityResults:
    sets: dict[str, dict[str, Categories]] = field(default_factory=dict)
    sizes: dict[str, str] = field(default_factory=dict)  # what each set is made of, in words
    remarks: dict[str, Sequence[str]] = field(default_factory=dict)


def data_folder(given: Path | None) -> Path:
    return given or Path(os.environ.get(DATA_VARIABLE) or Path("..") / "shared" / "data")


def available_sets(data: Path, asked: Sequence[str]) -> list[str]:
    """The sets to measure: those asked for, or all that are there."""
    if not data.is_dir():
        raise NotFound(
            f"The data to measure with is not at {data}.",
            remedy=f"Name the folder with --data or {DATA_VARIABLE}; it is not in the package.",
            field="data",
        )
    found = [name for name, reader in CHOICES.items() if reader.files(data)]
    missing = [name for name in asked if name not in found]
    if missing or not found:
        raise NotFound(
            f"{data} has no files of {', '.join(missing) or 'any set'}.",
            remedy="The sets and where their files lie are listed in docs/benchmarks.md.",
            field="set",
        )
    return [name for name in found if not asked or name in asked]


def run_quality(
    data: Path,
    chosen: Sequence[str],
    model: Embedder,
    bar: ProgressBar,
    store: str | None = None,
    floors: Sequence[float] = (),
) -> QualityResults:
    results, timed = QualityResults(), TimedEmbedder(model)
    with quality_store(timed, store) as book:
        for name in chosen:
            if name == PRECISION:
                _measure_precision(book, timed, precision.load(data), bar, results)
                continue
            for loaded in CHOICES[name].load(data):
                _measure_retrieval(book, timed, loaded, bar, results, floors)
                timed.forget()
    return results


def _measure_retrieval(
    book: Commonplace,
    model: TimedEmbedder,
    loaded: Dataset,
    bar: ProgressBar,
    results: QualityResults,
    floors: Sequence[float],
) -> None:
    sources = sum(len(owner.sources) for owner in loaded.owners)
    units = sum(len(owner.units) for owner in loaded.owners)
    questions = sum(len(owner.questions) for owner in loaded.owners)
    bar.start(f"{loaded.name}: taking in", sources)
    seats = [load_user(book, owner, bar.step) for owner in loaded.owners]
    bar.start(f"{loaded.name}: asking", questions)
    outcomes = [o for each in seats for o in ask_all(book, each, model, bar.step)]
    bar.start(f"{loaded.name}: plain methods", 2 * len(loaded.owners))
    results.sets[loaded.name] = {
        PRODUCT: summarise(outcomes),
        BM25: summarise(_baseline_outcomes(loaded.owners, bm25_outcomes, bar.step)),
        DENSE: summarise(
            _baseline_outcomes(loaded.owners, lambda owner: dense_outcomes(owner, model), bar.step)
        ),
    }
    results.sizes[loaded.name] = (
        f"{len(loaded.owners)} users, {sources:,} sources, {units:,} units, {questions:,} questions"
    )
    results.remarks[loaded.name] = loaded.remarks
    if loaded.name == locomo.FOLDER and len(seats) > 1:
        bar.start("abstention: others' questions", methods.questions_asked(seats, floors))
        told = methods.measure_abstention(book, seats, model, outcomes, floors, bar.step)
        results.sets[methods.ABSTENTION] = {PRODUCT: told}


def _baseline_outcomes(
    owners: Sequence[DatasetUser],
    method: Callable[[DatasetUser], list[QuestionOutcome]],
    step: Callable[[], object],
) -> list[QuestionOutcome]:
    outcomes = []
    for owner in owners:
        outcomes += method(owner)
        step()
    return outcomes


def bm25_outcomes(owner: DatasetUser) -> list[QuestionOutcome]:
    index = Bm25Baseline(_texts(owner))
    scores = [index.scores(question.text) for question in owner.questions]
    return _outcomes(owner, [best(row, K) for row in scores])


def dense_outcomes(owner: DatasetUser, model: Embedder) -> list[QuestionOutcome]:
    scores = DenseBaseline(model, _texts(owner)).scores(
        [question.text for question in owner.questions]
    )
    return _outcomes(owner, [best(row, K) for row in scores])


def _texts(owner: DatasetUser) -> list[str]:
    """The same words that the product has to find a unit by: who speaks, or the title."""
    return [
        unit.spoken if source.is_conversation else f"{source.title}\n{unit.text}"
        for source in owner.sources
        for unit in source.units
    ]


def _outcomes(owner: DatasetUser, rankings: Sequence[Sequence[int]]) -> list[QuestionOutcome]:
    ids = [unit.id for unit in owner.units]
    return [
        QuestionOutcome(question.category, question.gold, tuple(ids[place] for place in ranking))
        for question, ranking in zip(owner.questions, rankings, strict=True)
    ]


def _measure_precision(
    book: Commonplace,
    model: TimedEmbedder,
    whole: precision.PrecisionSet,
    bar: ProgressBar,
    results: QualityResults,
) -> None:
    turns = sum(map(len, whole.sessions))
    bar.start("precision", len(METHODS) * (len(whole.cases) + turns))
    for user in sorted({belief.user for belief in whole.beliefs}):
        book.user(f"{PREFIX}{user}").erase_user()
    methods: Mapping[str, precision_run.PrecisionMethod] = {
        PRODUCT: precision_run.ProductMethod(book, whole.beliefs, PREFIX),
        BM25: precision_run.BaselineMethod(whole.beliefs, None),
        DENSE: precision_run.BaselineMethod(whole.beliefs, model),
    }
    results.sets[PRECISION] = {
        name: precision_run.run_cases(whole, method, bar.step) for name, method in methods.items()
    }
    results.sizes[PRECISION] = (
        f"{len(whole.beliefs)} beliefs, {len(whole.cases)} cases, {turns} turns of sessions"
    )
    model.forget()
