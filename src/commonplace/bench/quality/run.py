"""One run: every set that was asked for, with the product and the plain methods, into numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Protocol

from commonplace.bench.quality import (
    abstention,
    beam,
    locomo,
    meetings,
    multihop,
    precision,
    precision_play,
)
from commonplace.bench.quality.baselines import Bm25, Dense, best
from commonplace.bench.quality.metrics import Numbers, Outcome, summarise
from commonplace.bench.quality.play import PREFIX, K, TimedEmbedder, a_store, ask_all, seat
from commonplace.bench.quality.values import Loaded, Owner
from commonplace.book import Commonplace
from commonplace.errors import NotFound
from commonplace.language.models.embedder import Embedder

PRODUCT, BM25, DENSE = METHODS = ("commonplace", "bm25", "dense")
PRECISION = "precision"
CHOICES: dict[str, ModuleType] = {
    "locomo": locomo,
    "multihop": multihop,
    "beam": beam,
    "meetings": meetings,
    PRECISION: precision,
}
VARIABLE = "COMMONPLACE_BENCH_DATA"

Categories = dict[str, Numbers]


class Bar(Protocol):
    def start(self, what: str, steps: int) -> None: ...

    def step(self) -> None: ...


@dataclass
class Results:
    sets: dict[str, dict[str, Categories]] = field(default_factory=dict)
    sizes: dict[str, str] = field(default_factory=dict)  # what each set is made of, in words
    remarks: dict[str, Sequence[str]] = field(default_factory=dict)


def data_folder(given: Path | None) -> Path:
    return given or Path(os.environ.get(VARIABLE) or Path("..") / "shared" / "data")


def present(data: Path, asked: Sequence[str]) -> list[str]:
    """The sets to measure: those asked for, or all that are there."""
    if not data.is_dir():
        raise NotFound(
            f"The data to measure with is not at {data}.",
            remedy=f"Name the folder with --data or {VARIABLE}; it is not part of the package.",
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


def run(
    data: Path,
    chosen: Sequence[str],
    model: Embedder,
    bar: Bar,
    store: str | None = None,
    floors: Sequence[float] = (),
) -> Results:
    results, timed = Results(), TimedEmbedder(model)
    with a_store(timed, store) as book:
        for name in chosen:
            if name == PRECISION:
                _precision(book, timed, precision.load(data), bar, results)
                continue
            for loaded in CHOICES[name].load(data):
                _retrieval(book, timed, loaded, bar, results, floors)
                timed.forget()
    return results


def _retrieval(
    book: Commonplace,
    model: TimedEmbedder,
    loaded: Loaded,
    bar: Bar,
    results: Results,
    floors: Sequence[float],
) -> None:
    sources = sum(len(owner.sources) for owner in loaded.owners)
    units = sum(len(owner.units) for owner in loaded.owners)
    questions = sum(len(owner.questions) for owner in loaded.owners)
    bar.start(f"{loaded.name}: taking in", sources)
    seats = [seat(book, owner, bar.step) for owner in loaded.owners]
    bar.start(f"{loaded.name}: asking", questions)
    outcomes = [o for each in seats for o in ask_all(book, each, model, bar.step)]
    bar.start(f"{loaded.name}: plain methods", 2 * len(loaded.owners))
    results.sets[loaded.name] = {
        PRODUCT: summarise(outcomes),
        BM25: summarise(_plain(loaded.owners, by_words, bar.step)),
        DENSE: summarise(_plain(loaded.owners, lambda owner: by_vectors(owner, model), bar.step)),
    }
    results.sizes[loaded.name] = (
        f"{len(loaded.owners)} users, {sources:,} sources, {units:,} units, {questions:,} questions"
    )
    results.remarks[loaded.name] = loaded.remarks
    if loaded.name == locomo.FOLDER and len(seats) > 1:
        bar.start("abstention: others' questions", abstention.questions_asked(seats, floors))
        told = abstention.measure(book, seats, model, outcomes, floors, bar.step)
        results.sets[abstention.NAME] = {PRODUCT: told}


def _plain(
    owners: Sequence[Owner],
    method: Callable[[Owner], list[Outcome]],
    step: Callable[[], object],
) -> list[Outcome]:
    outcomes = []
    for owner in owners:
        outcomes += method(owner)
        step()
    return outcomes


def by_words(owner: Owner) -> list[Outcome]:
    index = Bm25(_texts(owner))
    scores = [index.scores(question.text) for question in owner.questions]
    return _outcomes(owner, [best(row, K) for row in scores])


def by_vectors(owner: Owner, model: Embedder) -> list[Outcome]:
    scores = Dense(model, _texts(owner)).scores([question.text for question in owner.questions])
    return _outcomes(owner, [best(row, K) for row in scores])


def _texts(owner: Owner) -> list[str]:
    """The same words that the product has to find a unit by: who speaks, or the title."""
    return [
        unit.spoken if source.is_conversation else f"{source.title}\n{unit.text}"
        for source in owner.sources
        for unit in source.units
    ]


def _outcomes(owner: Owner, rankings: Sequence[Sequence[int]]) -> list[Outcome]:
    ids = [unit.id for unit in owner.units]
    return [
        Outcome(question.category, question.gold, tuple(ids[place] for place in ranking))
        for question, ranking in zip(owner.questions, rankings, strict=True)
    ]


def _precision(
    book: Commonplace,
    model: TimedEmbedder,
    whole: precision.PrecisionSet,
    bar: Bar,
    results: Results,
) -> None:
    turns = sum(map(len, whole.sessions))
    bar.start("precision", len(METHODS) * (len(whole.cases) + turns))
    for user in sorted({belief.user for belief in whole.beliefs}):
        book.user(f"{PREFIX}{user}").erase_user()
    methods: Mapping[str, precision_play.Method] = {
        PRODUCT: precision_play.Product(book, whole.beliefs, PREFIX),
        BM25: precision_play.Plain(whole.beliefs, None),
        DENSE: precision_play.Plain(whole.beliefs, model),
    }
    results.sets[PRECISION] = {
        name: precision_play.play(whole, method, bar.step) for name, method in methods.items()
    }
    results.sizes[PRECISION] = (
        f"{len(whole.beliefs)} beliefs, {len(whole.cases)} cases, {turns} turns of sessions"
    )
    model.forget()
