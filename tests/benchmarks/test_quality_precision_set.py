"""PrecisionMemBench by its own rules: noise is a failure, and so is what was superseded."""

from __future__ import annotations

import pytest

from benchmarks.quality import precision
from benchmarks.quality.precision import (
    Belief,
    BeliefAnswer,
    ExpectedBeliefs,
    PrecisionCase,
    drift,
    judge_case,
    summarise_cases,
)
from benchmarks.quality.precision_run import BaselineMethod, ProductMethod, run_cases
from support import quality_sets

BELIEFS = {
    each.id: each
    for each in (
        Belief("a", "me", "entity", "a", "…"),
        Belief("old", "me", "entity", "old", "…", superseded_by="a"),
        Belief("theirs", "someone", "entity", "theirs", "…"),
    )
}


def case(**expected: object) -> PrecisionCase:
    return PrecisionCase("case", "kind", "query", ("s",), ExpectedBeliefs(**expected), user="me")


def ids(*names: str) -> frozenset[str]:
    return frozenset(names)


def test_judge_case_exact_answer_passes_as_active():
    verdict = judge_case(case(only=ids("a")), BeliefAnswer(ids("a")), BELIEFS)
    assert (verdict.precision, verdict.recall, verdict.passed_as) == (1, 1, "active")


def test_judge_case_noise_fails_and_lowers_precision():
    verdict = judge_case(case(only=ids("a")), BeliefAnswer(ids("a", "b")), BELIEFS)
    assert (verdict.precision, verdict.recall, verdict.passed_as) == (0.5, 1, None)


def test_judge_case_empty_answer_to_a_wanted_belief_has_zero_precision():
    verdict = judge_case(case(only=ids("a")), BeliefAnswer(ids()), BELIEFS)
    assert (verdict.precision, verdict.recall, verdict.passed_as) == (0, 0, None)


def test_judge_case_empty_answer_to_an_empty_case_passes_as_empty():
    verdict = judge_case(case(only=ids()), BeliefAnswer(ids()), BELIEFS)
    assert (verdict.precision, verdict.recall, verdict.passed_as) == (None, None, "empty")


def test_judge_case_pinned_and_excluded_beliefs_pass_as_structural():
    expected = case(only=ids(), pinned=ids("p"), not_questions=ids("q"))
    assert judge_case(expected, BeliefAnswer(ids(), ids("p")), BELIEFS).passed_as == "structural"
    assert judge_case(expected, BeliefAnswer(ids(), ids("p"), ids("q")), BELIEFS).passed_as is None
    assert judge_case(expected, BeliefAnswer(ids()), BELIEFS).passed_as is None


def test_judge_case_counts_leaks_and_superseded_beliefs():
    verdict = judge_case(case(), BeliefAnswer(ids("old"), ids("theirs")), BELIEFS)
    assert (verdict.leaks, verdict.superseded) == (1, 1)


def test_drift_is_the_share_of_unwanted_beliefs():
    turn = case(only=ids("a"))
    assert drift(turn, BeliefAnswer(ids("a", "b", "c", "d"))) == 0.75
    assert drift(turn, BeliefAnswer(ids())) == 0


def test_summarise_cases_leaves_missing_values_out_of_means():
    verdicts = [
        judge_case(case(only=ids("a")), BeliefAnswer(ids("a", "b")), BELIEFS),
        judge_case(case(only=ids()), BeliefAnswer(ids()), BELIEFS),
    ]
    told = summarise_cases(verdicts, [0.5, 0.0])["all"]
    assert told == {
        "precision": 50,
        "recall": 100,
        "active": 0,
        "structural": 0,
        "empty": 50,
        "leaks": 0,
        "superseded": 0,
        "drift": 25,
    }


@pytest.fixture
def whole(tmp_path):
    quality_sets.write_precision(tmp_path)
    return precision.load(tmp_path)


def test_precision_set_is_loaded_from_files(whole):
    assert len(whole.beliefs) == 7
    assert whole.beliefs[0].text == "tomatoes, love apples: Grows tomatoes in the greenhouse."
    assert whole.cases[3].user == "other-user"
    assert [turn.created is not None for turn in whole.sessions[0]] == [True, False, False]


def test_product_method_has_no_leaks_and_no_superseded_beliefs(whole, book):
    told = run_cases(whole, ProductMethod(book, whole.beliefs, "bench-"))["all"]
    assert (told["leaks"], told["superseded"]) == (0, 0)
    assert told["drift"] == 0
    assert told["structural"] == 25


def test_product_method_finds_the_replacing_belief_and_pinned_ones(whole, book):
    product = ProductMethod(book, whole.beliefs, "bench-")
    asked = PrecisionCase(
        "c", "k", "waters by drip irrigation", ("domain:garden",), ExpectedBeliefs()
    )
    assert product.search(asked) == ["drip"]
    assert product.pinned(asked, False) == {"paths"}
    assert product.pinned(asked, True) == {"fence"}


def test_baseline_method_filters_user_and_scope_but_not_superseded(whole):
    asked = PrecisionCase("c", "k", "waters", ("domain:garden",), ExpectedBeliefs())
    found = BaselineMethod(whole.beliefs, None).search(asked)
    assert set(found) == {"hose-old", "drip"}
    assert (
        BaselineMethod(whole.beliefs, None).search(
            PrecisionCase("c", "k", "greenhouse", ("x",), ExpectedBeliefs())
        )
        == []
    )
