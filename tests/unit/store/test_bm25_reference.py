"""Postings and BM25 agree with the textbook formula, written naively."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.store.cache import postings as postings_module
from commonplace.store.cache.postings import Postings

K1, B = 1.2, 0.75

words = st.sampled_from("abcdef")
documents = st.lists(st.lists(words, max_size=8), min_size=1, max_size=8)


def naive_bm25(query, documents, live, asked):
    """Scores and the share of the query's terms held, for each document that may be asked."""
    counts = [Counter(document) for document in documents]
    alive = [place for place, is_live in enumerate(live) if is_live]
    average = max(sum(len(documents[p]) for p in alive) / len(alive), 1e-9) if alive else 1.0
    scores = [0.0] * len(documents)
    held = [0.0] * len(documents)
    for term in set(query):
        frequency = sum(term in counts[place] for place in alive)
        idf = math.log(1 + (len(alive) - frequency + 0.5) / (frequency + 0.5))
        for place in range(len(documents)):
            if asked[place] and alive and counts[place][term]:
                tf = counts[place][term]
                norm = K1 * (1 - B + B * len(documents[place]) / average)
                scores[place] += idf * tf * (K1 + 1) / (tf + norm)
                held[place] += 1 / len(set(query))
    return scores, held


def indexed(documents):
    postings = Postings()
    for slot, document in enumerate(documents):
        postings.add(slot, Counter(document))
    return postings


@pytest.fixture(params=[1, 4096], ids=["folded at once", "never folded"])
def fold_at_least(request, monkeypatch):
    monkeypatch.setattr(postings_module, "_FOLD_AT_LEAST", request.param)


@pytest.mark.usefixtures("fold_at_least")
def test_bm25_equals_the_reference():
    @given(documents, st.lists(words, max_size=4), st.data())
    def equal(documents, query, data):
        flags = st.lists(st.booleans(), min_size=len(documents), max_size=len(documents))
        live = data.draw(flags)
        asked = [a and b for a, b in zip(live, data.draw(flags), strict=True)]
        lengths = np.array([len(document) for document in documents], dtype=np.int32)
        scores, held = indexed(documents).bm25(
            query, np.array(live), lengths, np.array(asked, dtype=bool)
        )
        wanted_scores, wanted_held = naive_bm25(query, documents, live, asked)
        assert scores.tolist() == pytest.approx(wanted_scores, rel=1e-4, abs=1e-6)
        assert held.tolist() == pytest.approx(wanted_held, rel=1e-4, abs=1e-6)

    equal()


@given(documents, documents)
def test_postings_are_unchanged_by_folding(first, second):
    """Half is asked for (and may be folded), half comes later: together they are the whole."""
    all_documents = first + second
    postings = indexed(first)
    flags = np.ones(len(first), dtype=bool)
    postings.bm25(["a"], flags, np.ones(len(first), dtype=np.int32), flags)
    for slot, document in enumerate(second, len(first)):
        postings.add(slot, Counter(document))
    expected = {slot: dict(Counter(doc)) for slot, doc in enumerate(all_documents) if doc}
    assert postings.by_slot() == expected


def test_postings_of_an_unknown_term_are_empty():
    slots, counts = indexed([["a"]]).of("z")
    assert (len(slots), len(counts)) == (0, 0)


def test_bm25_filter_does_not_change_scores():
    documents = [["a", "b"], ["a"], ["c"]]
    lengths = np.array([2, 1, 1], dtype=np.int32)
    live = np.ones(3, dtype=bool)
    everyone, _ = indexed(documents).bm25(["a"], live, lengths, live)
    only_first, _ = indexed(documents).bm25(["a"], live, lengths, np.array([True, False, False]))
    assert only_first[0] == everyone[0]
    assert only_first[1] == 0
