"""Invented memories: pseudo-words with Zipf frequencies, from a fixed seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commonplace.book import make_embedder
from commonplace.language.models.embedder import Vectors

SEED = 20260301
VOCABULARY = 4000

_CONSONANTS = tuple("bdfgklmnprstvz")
_VOWELS = tuple("aeiou")
_SHORTEST, _LONGEST = 8, 14  # words in a memory
_QUERY_WORDS = 4


class Writer:
    """Writes sentences that nobody said, always the same ones for the same seed."""

    def __init__(self, seed: int = SEED):
        self._random = np.random.default_rng(seed)
        self._words = np.array(self._vocabulary())
        ranks = np.arange(1, VOCABULARY + 1)
        self._frequencies = (1 / ranks) / (1 / ranks).sum()

    def _vocabulary(self) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < VOCABULARY:
            syllables = self._random.integers(2, 5)
            consonants = self._random.choice(_CONSONANTS, syllables)
            vowels = self._random.choice(_VOWELS, syllables)
            words["".join(c + v for c, v in zip(consonants, vowels, strict=True))] = None
        return list(words)

    def sentences(self, count: int) -> list[str]:
        lengths = self._random.integers(_SHORTEST, _LONGEST + 1, count)
        words = self._random.choice(self._words, int(lengths.sum()), p=self._frequencies)
        ends = np.cumsum(lengths)
        return [
            " ".join(words[end - length : end])
            for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
        ]

    def names(self, count: int) -> list[str]:
        """Two words each, all words alike often."""
        return [" ".join(pair) for pair in self._random.choice(self._words, (count, 2)).tolist()]

    def queries(self, memories: Sequence[str], count: int) -> list[str]:
        """Each asks for some memory by a few of its words."""
        chosen = self._random.integers(0, len(memories), count)
        return [self._some_words(memories[place]) for place in chosen.tolist()]

    def _some_words(self, memory: str) -> str:
        words = memory.split()
        kept = sorted(self._random.choice(len(words), _QUERY_WORDS, replace=False).tolist())
        return " ".join(words[place] for place in kept)

    def shuffled(self, sentence: str) -> str:
        """The same words in another order: to the hashing embedder, the same meaning."""
        return " ".join(self._random.permutation(sentence.split()))


class PreparedEmbedder:
    """The hashing embedder's vectors, made beforehand: a call costs a look into a dictionary, so
    that only the engine is measured."""

    def __init__(self) -> None:
        model = make_embedder("hashing")
        self._model = model
        self.calibration = model.calibration
        self.name = model.name
        self.dimension = model.dimension
        self._vector_of: dict[str, Vectors] = {}

    def prepare(self, texts: Sequence[str]) -> Vectors:
        vectors = self._model.embed(texts)
        self._vector_of.update(zip(texts, vectors, strict=True))
        return vectors

    def forget(self) -> None:
        """Make room: what was prepared so far is not asked for again."""
        self._vector_of.clear()

    def embed(self, texts: Sequence[str]) -> Vectors:
        unknown = [text for text in texts if text not in self._vector_of]
        if unknown:  # texts that the engine made while it compared two
            self.prepare(unknown)
        return np.array([self._vector_of[text] for text in texts], dtype=np.float32)
