"""Two plain methods to stand beside: BM25 alone, and the embedder alone, over the same units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from commonplace.language.analyse import analyse
from commonplace.language.models.embedder import Embedder

K1, B = 1.2, 0.75
_BATCH = 256

Floats = NDArray[np.float64]


class Bm25:
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


class Dense:
    """Cosine of the question with each unit."""

    def __init__(self, model: Embedder, texts: Sequence[str]):
        self._model = model
        self._rows = _embedded(model, texts)

    def scores(self, queries: Sequence[str]) -> Floats:
        """A row for each query."""
        return np.asarray(_embedded(self._model, queries) @ self._rows.T, dtype=np.float64)


def _embedded(model: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """In batches of texts that are about as long: a batch costs as much as its longest."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    rows = np.zeros((len(texts), model.dimension), dtype=np.float32)
    for start in range(0, len(order), _BATCH):
        places = order[start : start + _BATCH]
        rows[places] = model.embed([texts[place] for place in places])
    return rows


def best(scores: Floats, k: int) -> list[int]:
    """Places of the k highest above nothing; of equals, the earlier."""
    order = np.argsort(-scores, kind="stable")[:k]
    return [int(place) for place in order if scores[place] > 0]
