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


def test_every_set_has_the_product_and_both_plain_methods(data):
    sets = play(data).sets
    retrieval = {"locomo", "hotpotqa", "musique", "beam", "meetings"}
    assert set(sets) == retrieval | {"abstention", "precision"}
    for name in retrieval:
        assert set(sets[name]) == {"commonplace", "bm25", "dense"}
        costs = {"tokens", "ms", "ms embedder"}
        ranked = {"R@5", "R@10", "R@20", "nDCG@10"}
        assert set(sets[name]["commonplace"]["all"]) == ranked | costs
        assert set(sets[name]["bm25"]["all"]) == ranked


def test_the_evidence_is_found_through_its_citation(data):
    sets = play(data, ["locomo", "multihop"]).sets
    assert sets["locomo"]["commonplace"]["single-hop"]["R@5"] == 100
    assert sets["musique"]["commonplace"]["all"]["R@5"] > 0


def test_two_runs_give_the_same_numbers(data):
    assert without_times(play(data)) == without_times(play(data))


def test_a_store_that_was_used_before_gives_the_same_numbers_again(data, store_url):
    once = play(data, ["locomo"], store=store_url)
    assert without_times(play(data, ["locomo"], store=store_url)) == without_times(once)


def test_abstention_is_measured_at_the_floors_that_are_given(data):
    told = play(data, ["locomo"], floors=[0.0, 1.0]).sets["abstention"]["commonplace"]
    assert list(told) == ["all", "floor 0", "floor 1"]
    assert set(told["all"]) == {"R@10", "R@10 lost", "empty", "own empty"}
    assert told["floor 1"]["empty"] >= told["floor 0"]["empty"]


def test_every_question_is_asked_to_someone_else_once(data):
    (loaded,) = locomo.load(data)
    seats = [LoadedUser(owner, None, {}) for owner in loaded.owners]
    pairs = methods.foreign_questions(seats)
    assert all(question not in seat.owner.questions for seat, question in pairs)
    assert len(pairs) == 4  # two each: the adversarial ones stay out


def test_what_was_embedded_once_is_not_embedded_again():
    class Counting(HashingEmbedder):
        asked = 0

        def embed(self, texts):
            self.asked += len(texts)
            return super().embed(texts)

    model = Counting()
    timed = TimedEmbedder(model)
    first = timed.embed(["one", "two", "one"])
    again = timed.embed(["two", "one"])
    assert model.asked == 2
    assert (first[:2] == again[::-1]).all()
    assert timed.embed([]).shape == (0, model.dimension)
