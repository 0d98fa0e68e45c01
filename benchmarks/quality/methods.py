"""The product and the baselines (BM25, vectors) on the same questions; abstention.

The share of answers without a sure hit stands beside R@10 on the owner's own questions, since
whoever never answers is never wrong. With floors given, once for each of them: the curve to choose
one from.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

import commonplace
from benchmarks.quality.dataset import (
    ADVERSARIAL,
    ALL,
    DatasetQuestion,
    DatasetSource,
    DatasetUser,
    Numbers,
    QuestionOutcome,
    percent,
    recall_at,
)
from commonplace.api import Commonplace, User
from commonplace.engine.search.pack import Hit
from commonplace.language.embedders.embedder import Embedder, Vectors
from commonplace.language.text.terms import analyse

K = 20
NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)  # one moment for every run: nothing ages
PREFIX = "bench-quality-"  # of the users' names, should the store be somebody's own

CONVERSATION, PLAIN = "conversation", "text"  # how originals are read

ProgressStep = Callable[[], object]


class TimedEmbedder:
    """Tells its time apart, and makes no vector twice: what the product embedded when it took
    something in, the plain method beside it need not embed again."""

    def __init__(self, model: Embedder):
        self._model = model
        self._known_queries: dict[str, Vectors] = {}
        self._known_passages: dict[str, Vectors] = {}
        self.name, self.dimension = model.name, model.dimension
        self.calibration = model.calibration
        self.seconds = 0.0

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._look_up(texts, self._known_queries, self._model.embed_queries)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._look_up(texts, self._known_passages, self._model.embed_passages)

    def _look_up(
        self,
        texts: Sequence[str],
        known: dict[str, Vectors],
        embed: Callable[[Sequence[str]], Vectors],
    ) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            start = time.perf_counter()
            known.update(zip(missing, embed(missing), strict=True))
            self.seconds += time.perf_counter() - start
        rows = [known[text] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.dimension)

    def forget(self) -> None:
        """Make room: of another set, nothing is asked again."""
        self._known_queries.clear()
        self._known_passages.clear()


@contextmanager
def quality_store(model: Embedder, url: str | None) -> Iterator[Commonplace]:
    """A temporary one, unless another is named."""
    with TemporaryDirectory(prefix="commonplace-quality-", ignore_cleanup_errors=True) as folder:
        place = url or str(Path(folder) / "quality.db")
        with commonplace.open(
            place,
            embedder=model,
            clock=lambda: NOW,
            tidy_on_open=False,
            extraction="on-demand",  # else what is in the graph would depend on who is faster
        ) as book:
            yield book


@dataclass(frozen=True, slots=True)
class LoadedUser:
    """An owner whose sources are in the store."""

    owner: DatasetUser
    me: User
    originals: Mapping[str, DatasetSource]  # by the id of the source

    def unit_of(self, hit: Hit) -> str | None:
        """The unit that a hit cites; memories cite none."""
        cited = hit.citation
        original = self.originals.get(cited.source) if cited else None
        return original.cited(cited.label) if cited and original else None


def load_user(book: Commonplace, owner: DatasetUser, step: ProgressStep) -> LoadedUser:
    me = book.user(f"{PREFIX}{owner.name}")
    me.erase_user()  # what an earlier run may have left in somebody's own store
    originals = {}
    for original in owner.sources:
        kept = me.ingest(
            original.text,
            format=CONVERSATION if original.is_conversation else PLAIN,
            title=original.title,
            external_id=original.external_id,
            date=original.date,
        )
        originals[kept.id] = original
        step()
    me.recall(owner.name, k=1)  # the index is made once, not in the time of a question
    return LoadedUser(owner, me, originals)


NO_FLOOR = 0.0  # ranking is measured without it, and what it costs in a table of its own


def ask(
    book: Commonplace,
    seat: LoadedUser,
    question: DatasetQuestion,
    model: TimedEmbedder,
    floor: float | None,
    *,
    strict: bool = False,
) -> QuestionOutcome:
    before, start = model.seconds, time.perf_counter()
    told = seat.me.recall(question.text, k=K, threshold=floor, strict=strict)
    seconds = time.perf_counter() - start
    book.flush()  # what was noted about this question is there before the next one is asked
    costs = {
        "tokens": float(told.tokens),
        "ms": 1000 * seconds,
        "ms embedder": 1000 * (model.seconds - before),
    }
    ranked = tuple(seat.unit_of(hit) for hit in told.hits)
    return QuestionOutcome(question.category, question.gold, ranked, costs)


def ask_all(
    book: Commonplace,
    seat: LoadedUser,
    model: TimedEmbedder,
    step: ProgressStep,
    floor: float | None = NO_FLOOR,
) -> list[QuestionOutcome]:
    outcomes = []
    for question in seat.owner.questions:
        outcomes.append(ask(book, seat, question, model, floor))
        step()
    return outcomes


K1, B = 1.2, 0.75
_BATCH = 256

Floats = NDArray[np.float64]


class Bm25Baseline:
    """Okapi BM25 over the product's own terms, with the frequencies of one owner."""

    def __init__(self, texts: Sequence[str]):
        terms = [Counter(analyse(text)) for text in texts]
        lengths = np.array([counts.total() for counts in terms], dtype=np.float64)
        self._norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1e-9))
        postings: dict[str, list[tuple[int, int]]] = {}
        for place, counts in enumerate(terms):
            for term, count in counts.items():
                postings.setdefault(term, []).append((place, count))
        self._postings = {
            term: (np.array([p for p, _ in found]), np.array([c for _, c in found], dtype=float))
            for term, found in postings.items()
        }

    def scores(self, query: str) -> Floats:
        told = np.zeros(len(self._norm))
        for term in set(analyse(query)) & self._postings.keys():
            places, counts = self._postings[term]
            idf = np.log1p((len(told) - len(places) + 0.5) / (len(places) + 0.5))
            told[places] += idf * counts * (K1 + 1) / (counts + self._norm[places])
        return told


class DenseBaseline:
    """Cosine of the question with each unit."""

    def __init__(self, model: Embedder, texts: Sequence[str]):
        self._model = model
        self._rows = _embedded(model.embed_passages, model.dimension, texts)

    def scores(self, queries: Sequence[str]) -> Floats:
        """A row for each query."""
        asked = _embedded(self._model.embed_queries, self._model.dimension, queries)
        return np.asarray(asked @ self._rows.T, dtype=np.float64)


def _embedded(
    embed: Callable[[Sequence[str]], Vectors], dimension: int, texts: Sequence[str]
) -> NDArray[np.float32]:
    """In batches of texts that are about as long: a batch costs as much as its longest."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    rows = np.zeros((len(texts), dimension), dtype=np.float32)
    for start in range(0, len(order), _BATCH):
        places = order[start : start + _BATCH]
        rows[places] = embed([texts[place] for place in places])
    return rows


def best(scores: Floats, k: int) -> list[int]:
    """Places of the k highest above nothing; of equals, the earlier."""
    order = np.argsort(-scores, kind="stable")[:k]
    return [int(place) for place in order if scores[place] > 0]


ABSTENTION = "abstention"


def measure_abstention(
    book: Commonplace,
    seats: Sequence[LoadedUser],
    model: TimedEmbedder,
    own: Sequence[QuestionOutcome],
    floors: Sequence[float],
    step: ProgressStep,
) -> dict[str, Numbers]:
    """`own`: what came back for their own questions with no floor at all."""
    best = _mean_recall(own)
    told = {ALL: _abstention_at_floor(book, seats, model, best, step)}
    for floor in floors:
        with commonplace.open(
            book.url, embedder=model, clock=lambda: NOW, tidy_on_open=False, recall_floor=floor
        ) as other:
            moved = [replace(each, me=other.user(each.me.principal.user_id)) for each in seats]
            told[f"floor {floor:g}"] = _abstention_at_floor(other, moved, model, best, step)
    return told


def _abstention_at_floor(
    book: Commonplace,
    seats: Sequence[LoadedUser],
    model: TimedEmbedder,
    best: float,
    step: ProgressStep,
) -> Numbers:
    mine = [(each, question) for each in seats for question in _answerable(each)]
    own = [ask(book, each, question, model, None) for each, question in _counted(mine, step)]
    foreign = [  # weak hits aside: they say that nothing is sure
        ask(book, each, question, model, None, strict=True)
        for each, question in _counted(foreign_questions(seats), step)
    ]
    return {
        "R@10": percent(_mean_recall(own)),
        "R@10 lost": percent(best - _mean_recall(own)),
        "empty": percent(_empty_share(foreign)),
        "own empty": percent(_empty_share(own)),
    }


def _counted(
    pairs: Iterable[tuple[LoadedUser, DatasetQuestion]], step: ProgressStep
) -> Iterator[tuple[LoadedUser, DatasetQuestion]]:
    for pair in pairs:
        yield pair
        step()


def _mean_recall(own: Sequence[QuestionOutcome]) -> float:
    mine = [each for each in own if each.category != ADVERSARIAL]
    return sum(recall_at(10, o.ranked, o.gold) for o in mine) / len(mine) if mine else 0.0


def questions_asked(seats: Sequence[LoadedUser], floors: Sequence[float]) -> int:
    """How many, for a progress bar."""
    own = sum(len(list(_answerable(seat))) for seat in seats)
    return (1 + len(floors)) * (own + len(foreign_questions(seats)))


def foreign_questions(seats: Sequence[LoadedUser]) -> list[tuple[LoadedUser, DatasetQuestion]]:
    """Every question once, to someone else; the others take turns, so that all are asked all."""
    pairs = []
    for place, asker in enumerate(seats):
        others = [*seats[place + 1 :], *seats[:place]]
        if others:
            pairs += list(zip(cycle(others), _answerable(asker), strict=False))
    return pairs


def _answerable(seat: LoadedUser) -> Iterator[DatasetQuestion]:
    return (each for each in seat.owner.questions if each.category != ADVERSARIAL)


def _empty_share(outcomes: Sequence[QuestionOutcome]) -> float:
    return sum(not each.ranked for each in outcomes) / len(outcomes) if outcomes else 0.0
