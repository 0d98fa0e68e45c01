"""The sets go through the public API, and come out as numbers that do not change."""

from __future__ import annotations

import pytest

from benchmarks.quality import locomo, methods
from benchmarks.quality.methods import LoadedUser, TimedEmbedder
from benchmarks.quality.run import CHOICES, QualityResults, run_quality
from commonplace.language.embedders.hashing import HashingEmbedder
from support import quality_sets


class Silent:
    def start(self, what: str, steps: int) -> None:
        """Nobody looks."""

    def step(self) -> None:
        """Nobody looks."""


def play(data, sets=tuple(CHOICES), **more) -> QualityResults:
    return run_quality(data, sets, HashingEmbedder(), Silent(), **more)


def without_times(results: QualityResults):
    return {
        (name, method, category, metric): value
        for name, methods in results.sets.items()
        for method, categories in methods.items()
        for category, numbers in categories.items()
        for metric, value in numbers.items()
        if not metric.startswith("ms")
    }


@pytest.fixture
def data(tmp_path):
    return quality_sets.write_all(tmp_path / "data")


def test_run_quality_measures_commonplace_bm25_and_dense_on_every_set(data):
    sets = play(data).sets
    retrieval = {"locomo", "hotpotqa", "musique", "beam", "meetings"}
    assert set(sets) == retrieval | {"abstention", "precision"}
    for name in retrieval:
        assert set(sets[name]) == {"commonplace", "bm25", "dense"}
        costs = {"tokens", "ms", "ms embedder"}
        ranked = {"R@5", "R@10", "R@20", "nDCG@10"}
        assert set(sets[name]["commonplace"]["all"]) == ranked | costs
        assert set(sets[name]["bm25"]["all"]) == ranked


def test_run_quality_finds_evidence_through_citations(data):
    sets = play(data, ["locomo", "multihop"]).sets
    assert sets["locomo"]["commonplace"]["single-hop"]["R@5"] == 100
    assert sets["musique"]["commonplace"]["all"]["R@5"] > 0


def test_run_quality_is_deterministic(data):
    assert without_times(play(data)) == without_times(play(data))


def test_run_quality_repeats_on_a_used_store(data, store_url):
    once = play(data, ["locomo"], store=store_url)
    assert without_times(play(data, ["locomo"], store=store_url)) == without_times(once)


def test_run_quality_measures_abstention_at_the_given_floors(data):
    told = play(data, ["locomo"], floors=[0.0, 1.0]).sets["abstention"]["commonplace"]
    assert list(told) == ["all", "floor 0", "floor 1"]
    assert set(told["all"]) == {"R@10", "R@10 lost", "empty", "own empty"}
    assert told["floor 1"]["empty"] >= told["floor 0"]["empty"]


def test_foreign_questions_ask_each_question_of_another_user_once(data):
    (loaded,) = locomo.load(data)
    seats = [LoadedUser(owner, None, {}) for owner in loaded.owners]
    pairs = methods.foreign_questions(seats)
    assert all(question not in seat.owner.questions for seat, question in pairs)
    assert len(pairs) == 4  # two each: the adversarial ones stay out


def test_timed_embedder_caches_vectors():
    class Counting(HashingEmbedder):
        asked = 0

        def embed(self, texts):
            self.asked += len(texts)
            return super().embed(texts)

    model = Counting()
    timed = TimedEmbedder(model)
    first = timed.embed_passages(["one", "two", "one"])
    again = timed.embed_passages(["two", "one"])
    assert model.asked == 2
    assert (first[:2] == again[::-1]).all()
    assert timed.embed_passages([]).shape == (0, model.dimension)
