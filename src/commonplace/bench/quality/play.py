"""The product, asked through its public API: each owner a user, each session a source."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import commonplace
from commonplace.bench.quality.metrics import Outcome
from commonplace.bench.quality.values import Original, Owner, Question
from commonplace.book import Commonplace, User
from commonplace.language.models.embedder import Embedder, Vectors
from commonplace.recall.pack import Hit

K = 20
NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)  # one moment for every run: nothing ages
PREFIX = "bench-quality-"  # of the users' names, should the store be somebody's own

CONVERSATION, PLAIN = "conversation", "text"  # how originals are read

Step = Callable[[], object]


class TimedEmbedder:
    """Tells its time apart, and makes no vector twice: what the product embedded when it took
    something in, the plain method beside it need not embed again."""

    def __init__(self, model: Embedder):
        self._model = model
        self._known: dict[str, Vectors] = {}
        self.name, self.dimension = model.name, model.dimension
        self.calibration = model.calibration
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            start = time.perf_counter()
            self._known.update(zip(missing, self._model.embed(missing), strict=True))
            self.seconds += time.perf_counter() - start
        rows = [self._known[text] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.dimension)

    def forget(self) -> None:
        """Make room: of another set, nothing is asked again."""
        self._known.clear()


@contextmanager
def a_store(model: Embedder, url: str | None) -> Iterator[Commonplace]:
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
class Seat:
    """An owner whose sources are in the store."""

    owner: Owner
    me: User
    originals: Mapping[str, Original]  # by the id of the source

    def unit_of(self, hit: Hit) -> str | None:
        """The unit that a hit cites; memories cite none."""
        cited = hit.citation
        original = self.originals.get(cited.source) if cited else None
        return original.cited(cited.label) if cited and original else None


def seat(book: Commonplace, owner: Owner, step: Step) -> Seat:
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
    return Seat(owner, me, originals)


NO_FLOOR = 0.0  # ranking is measured without it, and what it costs in a table of its own


def ask(
    book: Commonplace, seat: Seat, question: Question, model: TimedEmbedder, floor: float | None
) -> Outcome:
    before, start = model.seconds, time.perf_counter()
    told = seat.me.recall(question.text, k=K, threshold=floor)
    seconds = time.perf_counter() - start
    book.flush()  # what was noted about this question is there before the next one is asked
    costs = {
        "tokens": float(told.tokens),
        "ms": 1000 * seconds,
        "ms embedder": 1000 * (model.seconds - before),
    }
    ranked = tuple(seat.unit_of(hit) for hit in told.hits)
    return Outcome(question.category, question.gold, ranked, costs)


def ask_all(
    book: Commonplace, seat: Seat, model: TimedEmbedder, step: Step, floor: float | None = NO_FLOOR
) -> list[Outcome]:
    outcomes = []
    for question in seat.owner.questions:
        outcomes.append(ask(book, seat, question, model, floor))
        step()
    return outcomes
