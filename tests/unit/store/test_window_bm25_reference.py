"""BM25 of windows agrees with the textbook formula over texts that are joined by hand."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.engine.search.context_scores import ContextQuery
from commonplace.engine.search.context_scores import score_lexical as words_in_contexts
from commonplace.store.cache.scope_index import ScopeIndex
from commonplace.store.cache.windows import NEAR_WINDOW, WIDE_WINDOW
from commonplace.store.queries import Counters, IndexedPassage, IndexedRow, IndexedSource, IndexPage

K1, B = 1.2, 0.75

words = st.sampled_from("abcdef")
turns = st.lists(words, min_size=1, max_size=6)
talks = st.lists(st.lists(turns, min_size=1, max_size=7), min_size=1, max_size=3)
memories = st.lists(turns, max_size=3)
queries = st.lists(words, min_size=1, max_size=4)


def page(talks, memories, forgotten=()):
    """Each talk one source with one session; unit numbers count up."""
    sources, passages, rows, terms, unit = [], [], [], [], 0
    for place, talk in enumerate(talks):
        state = "soft_deleted" if place in forgotten else "active"
        id = f"source:{place}"
        people = json.dumps(["ana", f"person {place}"])
        sources.append(IndexedSource(id, "ana", "", people, "[]", "normal", "chat", None, state))
        for number, said in enumerate(talk, 1):
            unit += 1
            passages.append(IndexedPassage(unit, id, number, None, None, None, 0))
            terms.append((unit, " ".join(sorted(said)), 1))
    for said in memories:
        unit += 1
        row = dict.fromkeys(IndexedRow._fields)
        row |= {"unit": unit, "id": f"memory {unit}", "kind": "note", "category": "knowledge"}
        row |= {"tags": "[]", "importance": 2, "sensitivity": "normal", "pinned": 0}
        row |= {"state": "active", "created_at": 0, "updated_at": 0}
        rows.append(IndexedRow(**row))
        terms.append((unit, " ".join(sorted(said)), 1))
    return IndexPage(Counters(seq=1), rows, terms, [], sources, passages)


def indexed(*args, **more):
    index = ScopeIndex(2)
    index.absorb(page(*args, **more))
    return index


def everything(index, names=frozenset(), takes_part=None, proper=frozenset()):
    mask = index.live[: index.size].copy()
    nobody = np.zeros(index.size, bool)
    return ContextQuery(mask, names, nobody if takes_part is None else takes_part, proper)


def words_in_context(index, query, asked):
    (found,) = words_in_contexts([index], query, [asked])
    return found


# ——— the reference ———


def windowed(talks, memories, reach):
    """The text of each unit's window, in the order of units; these are short enough to fit."""
    joined = []
    for talk in talks:
        for at in range(len(talk)):
            window = talk[max(at - reach.back, 0) : at + reach.ahead + 1]
            joined.append([word for said in window for word in said])
    return joined + [list(said) for said in memories]


def naive_bm25(query, texts):
    counts = [Counter(text) for text in texts]
    average = sum(map(len, texts)) / len(texts)
    scores = [0.0] * len(texts)
    for term in set(query):
        frequency = sum(term in each for each in counts)
        idf = math.log(1 + (len(texts) - frequency + 0.5) / (frequency + 0.5))
        for place, each in enumerate(counts):
            pull = K1 * (1 - B + B * len(texts[place]) / average)
            scores[place] += idf * each[term] * (K1 + 1) / (each[term] + pull)
    return scores


def by_unit(index, values):
    return [float(values[index.slot_of[unit]]) for unit in range(1, index.size + 1)]


def alone(talks, memories):
    return [list(said) for talk in talks for said in talk] + [list(said) for said in memories]


# ——— what is promised ———


@settings(max_examples=60)
@given(talks, memories, queries)
def test_window_bm25_agrees_with_the_reference(talks, memories, query):
    index = indexed(talks, memories)
    found = words_in_context(index, query, everything(index))
    texts = {
        "unit": alone(talks, memories),
        "near": windowed(talks, memories, NEAR_WINDOW),
        "wide": windowed(talks, memories, WIDE_WINDOW),
    }
    for name, joined in texts.items():
        expected = naive_bm25(query, joined)
        assert by_unit(index, getattr(found, name)) == pytest.approx(expected, rel=1e-3, abs=1e-5)
    shares = [len(set(text) & set(query)) / len(set(query)) for text in texts["unit"]]
    assert by_unit(index, found.held) == pytest.approx(shares, abs=1e-5)


@settings(max_examples=40)
@given(talks, memories, queries)
def test_known_share_is_one_for_all_and_zero_for_no_query_terms(talks, memories, query):
    index = indexed(talks, memories)
    known = by_unit(index, words_in_context(index, query, everything(index)).known)
    for window, share in zip(windowed(talks, memories, NEAR_WINDOW), known, strict=True):
        held = set(query) & set(window)
        if held == set(query):
            assert share == pytest.approx(1)
        elif not held:
            assert share == 0
        else:
            assert 0 < share < 1


@settings(max_examples=30)
@given(talks, memories, queries, st.data())
def test_window_bm25_ignores_soft_deleted_sources(talks, memories, query, data):
    gone = data.draw(st.sets(st.integers(0, len(talks) - 1)))
    left = [talk for place, talk in enumerate(talks) if place not in gone]
    if not left and not memories:
        return
    index, without = indexed(talks, memories, forgotten=gone), indexed(left, memories)
    found = words_in_context(index, query, everything(index))
    expected = words_in_context(without, query, everything(without))
    live = [slot for slot in range(index.size) if index.live[slot]]
    for name in ("unit", "near", "wide", "held", "known"):
        ours = sorted(float(getattr(found, name)[slot]) for slot in live)
        theirs = sorted(getattr(expected, name).tolist())
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-6)


@settings(max_examples=40)
@given(st.lists(talks, min_size=1, max_size=4), memories, queries)
def test_window_bm25_over_several_indexes_equals_one_index(dealt, memories, query):
    """How rare a term is, and how long texts are, is counted over all."""
    indexes = [indexed(talks, []) for talks in dealt] + [indexed([], memories)]
    apart = words_in_contexts(indexes, query, [everything(index) for index in indexes])
    whole = indexed([talk for talks in dealt for talk in talks], memories)
    together = words_in_context(whole, query, everything(whole))
    for name in ("unit", "near", "wide", "held", "known"):
        ours = [
            value
            for index, found in zip(indexes, apart, strict=True)
            for value in by_unit(index, getattr(found, name))
        ]
        assert ours == pytest.approx(by_unit(whole, getattr(together, name)), rel=1e-4, abs=1e-6)


def test_window_bm25_filter_does_not_change_scores():
    index = indexed([[["a"], ["b"], ["a", "c"]]], [["a"]])
    whole = words_in_context(index, ["a"], everything(index))
    asked = everything(index)
    asked.mask[1:] = False
    first = words_in_context(index, ["a"], asked)
    assert first.near[0] == pytest.approx(whole.near[0])
    assert first.unit[0] == pytest.approx(whole.unit[0])
    assert not first.unit[1:].any()


def test_participant_name_is_no_query_term_in_own_sources():
    """In a talk with a, the word "a" is on every turn's mind; elsewhere it is a word."""
    index = indexed([[["a", "b"], ["c"]], [["a"], ["b"]]], [])
    takes_part = index.of_sources(["source:0"])
    found = words_in_context(index, ["a", "b"], everything(index, frozenset("a"), takes_part))
    plain = words_in_context(index, ["b"], everything(index))
    assert by_unit(index, found.unit)[0] == pytest.approx(by_unit(index, plain.unit)[0])
    assert by_unit(index, found.held) == pytest.approx([1.0, 0.0, 0.5, 0.5])
    assert by_unit(index, found.known)[0] == pytest.approx(1.0)
    assert by_unit(index, found.unit)[2] > 0


def test_missing_proper_name_lowers_the_known_share():
    index = indexed([[["a", "b"], ["c"]]], [["d"]])
    plain = words_in_context(index, ["b", "f"], everything(index))
    proper = words_in_context(index, ["b", "f"], everything(index, proper=frozenset("f")))
    assert by_unit(index, proper.known)[0] < by_unit(index, plain.known)[0]
    held = words_in_context(index, ["b", "a"], everything(index, proper=frozenset("a")))
    assert by_unit(index, held.known)[0] == pytest.approx(1.0)
