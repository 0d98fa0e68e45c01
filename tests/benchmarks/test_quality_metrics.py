"""Recall, nDCG and the plain methods, against examples worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.quality.dataset import QuestionOutcome, ndcg_at, recall_at, summarise
from benchmarks.quality.methods import Bm25Baseline, DenseBaseline, best
from commonplace.language.embedders.hashing import HashingEmbedder

GOLD = frozenset({"a", "b"})


def test_recall_at_is_the_share_of_gold_among_the_first_k():
    ranked = ["x", "a", "y", "z", "v", "b"]
    assert recall_at(5, ranked, GOLD) == 0.5
    assert recall_at(10, ranked, GOLD) == 1


def test_ranking_metrics_count_repeated_units_once_but_use_their_ranks():
    assert recall_at(5, ["a", "a", "a", "a", "a", "b"], GOLD) == 0.5
    assert ndcg_at(10, ["a", "a", "b"], GOLD) == pytest.approx(
        (1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3))
    )


def test_ndcg_counts_the_rank_of_a_hit_without_citation():
    assert ndcg_at(10, [None, "a"], frozenset({"a"})) == pytest.approx(1 / math.log2(3))


def test_ndcg_is_1_when_all_ranks_are_gold():
    many = frozenset(map(str, range(30)))
    assert ndcg_at(10, [str(place) for place in range(10)], many) == pytest.approx(1)


def test_ranking_metrics_of_an_empty_answer_are_zero():
    assert recall_at(20, [], GOLD) == ndcg_at(10, [], GOLD) == 0


def test_summarise_excludes_adversarial_questions_from_all_and_uses_percent():
    told = summarise(
        [
            QuestionOutcome("temporal", GOLD, ["a", "b"], {"tokens": 10, "ms": 1}),
            QuestionOutcome("single-hop", GOLD, ["a", "x"], {"tokens": 20, "ms": 2}),
            QuestionOutcome("adversarial", GOLD, ["x"], {"tokens": 90, "ms": 9}),
        ]
    )
    assert list(told) == ["all", "adversarial", "single-hop", "temporal"]
    assert told["all"]["R@5"] == 75
    assert told["all"]["tokens"] == 15
    assert told["adversarial"]["R@20"] == 0
    assert set(told["all"]) == {"R@5", "R@10", "R@20", "nDCG@10", "tokens", "ms"}


def test_bm25_baseline_matches_the_formula():
    index = Bm25Baseline(["red lamp", "red red kite kite", "stone"])
    lengths, average = [2, 4, 1], 7 / 3
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    wanted = [
        idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / average)) if count else 0
        for count, length in zip([1, 2, 0], lengths, strict=True)
    ]
    assert index.scores("Red") == pytest.approx(wanted)


def test_dense_baseline_is_the_cosine_per_unit():
    model = HashingEmbedder()
    texts = ["a lamp on the desk", "rain over the harbour", "the desk lamp"]
    rows = DenseBaseline(model, texts).scores(["desk lamp", "harbour rain"])
    wanted = model.embed(["desk lamp", "harbour rain"]) @ model.embed(texts).T
    assert rows == pytest.approx(wanted)
    assert best(rows[1], 1) == [1]


def test_best_keeps_positive_scores_and_breaks_ties_by_position():
    assert best(np.array([0.0, 2.0, 5.0, 2.0, -1.0]), 4) == [2, 1, 3]
