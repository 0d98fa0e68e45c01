"""Ranking: one pure sum of named parts, with a floor below which nothing is relevant."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.model.kinds import Kind
from commonplace.recall.explain import sentence
from commonplace.recall.rank import Evidence, is_relevant, rank
from support.clock import START
from support.pure_values import memories, memory, shares

similarities = st.none() | shares
evidence = st.builds(Evidence, memories, similarities, shares, shares, shares)


def one(similarity=0.8, words=0.5, held=0.5, related=0.0, **fields):
    return Evidence(memory(**fields), similarity, words, held, related)


def score(each):
    return rank([each], START, threshold=0.0)[0].score


@pytest.mark.parametrize(
    ("similarity", "held", "threshold", "relevant"),
    [
        (0.5, 0.0, None, True),
        (0.49, 0.9, None, False),
        (0.1, 1.0, None, True),
        (0.6, 0.0, 0.7, False),
        (0.6, 1.0, 0.7, False),
        (0.7, 0.0, 0.7, True),
        (0.2, 0.0, 0.1, True),
        (None, 0.5, None, True),
        (None, 0.49, None, False),
        (None, 1.0, 0.9, True),
        (None, 0.0, 0.0, False),
    ],
)
def test_what_is_relevant(similarity, held, threshold, relevant):
    assert is_relevant(one(similarity=similarity, held=held), threshold) is relevant


@settings(max_examples=30)
@given(st.lists(evidence, max_size=6), similarities)
def test_only_the_relevant_come_back_and_best_first(candidates, threshold):
    ranked = rank(candidates, START, threshold)
    relevant = [each for each in candidates if is_relevant(each, threshold)]
    assert len(ranked) == len(relevant)
    assert [r.score for r in ranked] == sorted((r.score for r in ranked), reverse=True)


@given(evidence, shares)
def test_more_of_anything_never_ranks_lower(each, more):
    base = score(each) if is_relevant(each, 0.0) else None
    if base is None:
        return
    for name in ("similarity", "words", "related"):
        value = getattr(each, name)
        if value is not None and more >= value:
            better = Evidence(
                each.memory,
                more if name == "similarity" else each.similarity,
                more if name == "words" else each.words,
                each.held,
                more if name == "related" else each.related,
            )
            assert score(better) >= base


def test_seven_tenths_meaning_and_three_tenths_words():
    now_old = {"updated_at": START - timedelta(days=10_000), "importance": 1}
    (ranked,) = rank([one(similarity=0.6, words=0.5, **now_old)], START)
    assert ranked.parts["similarity"] == pytest.approx(0.42)
    assert ranked.parts["keywords"] == pytest.approx(0.15)
    assert ranked.score == pytest.approx(0.57)


def test_where_meaning_is_unknown_words_carry_the_base():
    (ranked,) = rank([one(similarity=None, words=0.5, held=1.0)], START)
    assert ranked.parts["keywords"] == pytest.approx(0.5)
    assert "similarity" not in ranked.parts


def test_recent_important_and_linked_ones_come_first_among_equals():
    old = START - timedelta(days=200)
    plain = one(id="a", updated_at=old)
    for better in (
        one(id="b", updated_at=START),
        one(id="b", updated_at=old, importance=5),
        one(id="b", updated_at=old, related=0.9),
    ):
        assert [r.memory.id for r in rank([plain, better], START)] == ["b", "a"]


def test_insights_weigh_less():
    assert score(one(kind=Kind.INSIGHT)) == pytest.approx(0.8 * score(one()), abs=1e-5)


@given(st.permutations([one(id=id, words=words) for id in "abc" for words in (0.5, 0.6)]))
def test_the_order_does_not_depend_on_where_the_candidates_came_from(shuffled):
    order = [r.memory.id for r in rank(shuffled, START)]
    assert order == ["a", "b", "c", "a", "b", "c"]


@given(evidence)
def test_the_parts_add_up_to_the_score(each):
    for ranked in rank([each], START, 0.0):
        assert ranked.score == pytest.approx(sum(ranked.parts.values()))


def test_an_explanation_names_the_weightiest_reason_first():
    (ranked,) = rank([one(similarity=0.9, words=1.0, held=0.5)], START)
    assert sentence(ranked) == (
        "Recalled because its meaning is close (90%) and "
        "it holds the words asked for (50% of them)."
    )


def test_an_explanation_says_what_else_weighed():
    (ranked,) = rank([one(similarity=0.0, words=0.1, held=1.0, importance=5)], START)
    assert "it is important" in sentence(ranked)
    assert "it is recent" in sentence(ranked)


@given(evidence)
def test_every_hit_can_be_explained(each):
    for ranked in rank([each], START, 0.0):
        assert sentence(ranked).startswith("Recalled because ")
