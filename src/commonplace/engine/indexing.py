"""Indexing of memories and passages: terms, keys, traits and vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from commonplace.engine.context import EngineContext, Vector
from commonplace.language.compare.keys import memory_keys, memory_name_keys
from commonplace.language.embedders.embedder import Vectors
from commonplace.language.text.detect import traits_of
from commonplace.language.text.terms import count_terms
from commonplace.model.changeset import IndexEntry
from commonplace.model.memory.memory import Memory
from commonplace.model.sources.source import (
    Passage,
    Source,
    text_to_embed,
    text_to_index,
)

EMBED_BATCH_SIZE = 256


def build_indexing(memory: Memory, vectors: Sequence[Vector] | Vectors | None) -> IndexEntry:
    """``vectors``: of its indexed texts."""
    terms = Counter[str]()
    for text in memory.indexed_texts:
        terms.update(count_terms(text))
    keys = memory_keys(memory) | memory_name_keys(memory)
    blob = None if vectors is None else pack_vectors(vectors)
    return IndexEntry(terms, blob, keys, traits_of(memory.searchable_text))


def pack_vectors(vectors: Sequence[Vector] | Vectors) -> bytes:
    """As the store keeps them: the vector of the text first, then those of the questions."""
    return np.asarray(vectors, dtype="<f4").tobytes()


def group_by_memory(memories: Sequence[Memory], rows: Vectors) -> list[Vectors]:
    """``rows``: of the indexed texts of all of them, in this order."""
    ends = np.cumsum([len(memory.indexed_texts) for memory in memories])
    return np.split(rows, ends[:-1]) if memories else []


def texts_of_memories(memories: Sequence[Memory]) -> list[str]:
    return [text for memory in memories for text in memory.indexed_texts]


def build_passage_indexing(source: Source, passage: Passage, vector: Vector | None) -> IndexEntry:
    blob = None if vector is None else vector.astype("<f4").tobytes()
    text = text_to_index(source.content_type, source.title, passage.text)
    return IndexEntry(count_terms(text), blob, traits=traits_of(passage.text))


def index_memories(
    engine: EngineContext, memories: Sequence[Memory]
) -> tuple[list[IndexEntry], Vectors | None]:
    """The index entry of each and the vector of its text, with one call to the embedder."""
    rows = engine.embed_passages(texts_of_memories(memories))
    if rows is None:
        return [build_indexing(memory, None) for memory in memories], None
    grouped = group_by_memory(memories, np.asarray(rows, dtype=np.float32))
    entries = [build_indexing(*each) for each in zip(memories, grouped, strict=True)]
    return entries, np.array([vectors[0] for vectors in grouped], dtype=np.float32)


def passage_text_to_embed(source: Source, passage: Passage) -> str:
    return text_to_embed(passage.speaker, source.content_type, source.title, passage.text)


def index_passages(
    engine: EngineContext, passages: Sequence[tuple[Source, Passage]]
) -> list[IndexEntry]:
    """The index entry of each. The embedder is called in batches; if one fails, the vectors of all
    are computed later."""
    texts = [passage_text_to_embed(*each) for each in passages]
    rows: list[Vector] = []
    for start in range(0, len(texts), EMBED_BATCH_SIZE):
        vectors = engine.embed_passages(texts[start : start + EMBED_BATCH_SIZE])
        if vectors is None:
            return [build_passage_indexing(source, passage, None) for source, passage in passages]
        rows += list(np.asarray(vectors, dtype=np.float32))
    return [
        build_passage_indexing(source, passage, row)
        for (source, passage), row in zip(passages, rows, strict=True)
    ]
