"""What is relevant, and in which order: evidence decides, and nothing is better than noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.engine.search.hits import explain_hit
from commonplace.engine.search.rank import (
    MEANING_SIGNALS,
    WEIGHTS,
    WORD_SIGNALS,
    Evidence,
    Ranked,
    best_slots,
    floors_at,
    judge_relevance,
    nearest_similarity,
    sort_ranked,
    sum_parts,
    weight_signals,
)
from commonplace.model.access.principal import ReadableScope, Scope

MINE = ReadableScope(Scope.of_user("ana"))
shares = st.floats(0, 1)
maybe = st.none() | shares


def array(*values):
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def judge(similarity, held=0.0, known=0.0, *, named=False, threshold=None, **options):
    """One unit among others that have more evidence, so that none is left out for being the best.
    Whether it is relevant, and whether it is weak."""
    found = Evidence(
        array(similarity), array(held), array(known), np.array([named]), np.array([True])
    )
    (judged,) = judge_relevance([found], threshold, **options)
    return bool(judged.relevant[0]), bool(judged.weak[0])


@pytest.mark.parametrize(
    ("evidence", "is_weak"),
    [
        ({"similarity": 0.5}, False),
        ({"similarity": 0.45}, True),
        ({"similarity": 0.45, "known": 0.2}, False),
        ({"similarity": 0.1, "held": 1.0}, False),
        ({"similarity": 0.0, "named": True}, False),
        ({"similarity": None, "known": 0.6}, False),
        ({"similarity": None, "known": 0.4}, True),
        ({"similarity": 0.1, "known": 0.1}, True),
        ({"similarity": None}, True),
    ],
)
def test_judge_relevance_marks_little_evidence_as_weak(evidence, is_weak):
    assert judge(**evidence) == (True, is_weak)
    assert judge(**evidence, strict=True) == (not is_weak, is_weak)


@pytest.mark.parametrize(
    ("evidence", "is_relevant"),
    [
        ({"similarity": 0.6, "threshold": 0.7}, False),
        ({"similarity": 0.6, "held": 1.0, "threshold": 0.7}, False),
        ({"similarity": 0.7, "threshold": 0.7}, True),
        ({"similarity": 0.05, "threshold": 0.0}, True),
        ({"similarity": None, "known": 0.6, "threshold": 0.7}, True),
        ({"similarity": None, "known": 0.1, "threshold": 0.7}, False),
        ({"similarity": 0.0}, False),
    ],
)
def test_judge_relevance_leaves_out_what_has_no_evidence(evidence, is_relevant):
    assert judge(**evidence)[0] is is_relevant


@given(maybe, shares, shares, st.booleans(), shares)
def test_judge_relevance_is_monotonic_in_evidence(similarity, held, known, named, more):
    if judge(similarity, held, known, named=named)[1]:
        return
    assert not judge(similarity, max(held, more), known, named=named)[1]
    assert not judge(similarity, held, max(known, more), named=named)[1]
    assert not judge(similarity, held, known, named=True)[1]
    if similarity is not None:
        assert not judge(max(similarity, more), held, known, named=named)[1]


def test_judge_relevance_without_a_floor_marks_nothing_as_weak():
    assert judge(0.1, floors=floors_at(0.0)) == (True, False)


def test_judge_relevance_for_a_caller_with_room_admits_what_may_be_chance():
    faint, clear = (evidence_of(each) for each in (0.1, 0.9))
    narrow = judge_relevance([faint, clear], None)
    wide = judge_relevance([faint, clear], None, floors_at(0.65, wide=True))
    assert [bool(each.relevant[0]) for each in narrow] == [False, True]
    assert [bool(each.relevant[0]) for each in wide] == [True, True]


def evidence_of(similarity):
    flags = (np.array([False]), np.array([True]))
    return Evidence(array(similarity), array(0.0), array(0.0), *flags)


# ——— the score ———


def scored(**signals):
    size = max((len(signal) for signal in signals.values()), default=0)
    return sum_parts(
        weight_signals({name: array(*signal) for name, signal in signals.items()}), size
    )


def test_score_of_full_words_and_meaning_is_one():
    whole = dict.fromkeys((*WORD_SIGNALS, *MEANING_SIGNALS), (1.0,))
    assert scored(**whole)[0] == pytest.approx(1.0)


def test_score_without_meaning_gives_words_the_whole_base():
    blind = dict.fromkeys(WORD_SIGNALS, (1.0,)) | dict.fromkeys(MEANING_SIGNALS, (None,))
    assert scored(**blind)[0] == pytest.approx(1.0)
    assert scored(**dict.fromkeys(WORD_SIGNALS, (1.0,)))[0] == pytest.approx(1.0)


@given(
    st.sampled_from([n for n in vars(type(WEIGHTS)) if n in WORD_SIGNALS + MEANING_SIGNALS]),
    shares,
    shares,
)
def test_score_is_monotonic_in_word_and_meaning_signals(name, less, more):
    rest = dict.fromkeys((*WORD_SIGNALS, *MEANING_SIGNALS), (0.5, 0.5))
    lower, higher = sorted((less, more))
    found = scored(**{**rest, name: (lower, higher)})
    assert found[1] >= found[0]


def test_score_is_lower_for_a_passage_that_asks():
    assert scored(words=(0.5, 0.5), asks=(0, 1))[1] < scored(words=(0.5, 0.5), asks=(0, 1))[0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=300), st.integers(1, 40))
def test_best_slots_hold_the_best_scores(scores, most):
    values = np.array(scores)
    (chosen,) = best_slots([values], [np.ones(len(values), dtype=bool)], most)
    left_out = np.delete(values, chosen)
    assert len(chosen) >= min(most, len(values))
    assert not len(left_out) or left_out.max() <= values[chosen].min()


@given(st.lists(st.lists(shares, max_size=60), min_size=1, max_size=4), st.integers(1, 40))
def test_best_slots_hold_the_best_scores_across_indexes(scores, most):
    """However few of them an index has."""
    values = [np.array(each) for each in scores]
    chosen = best_slots(values, [np.ones(len(each), dtype=bool) for each in values], most)
    taken = np.concatenate([each[slots] for each, slots in zip(values, chosen, strict=True)])
    left_out = np.concatenate(
        [np.delete(each, slots) for each, slots in zip(values, chosen, strict=True)]
    )
    assert len(taken) >= min(most, sum(map(len, values)))
    assert not len(left_out) or left_out.max() <= taken.min()


def test_judge_relevance_compares_with_the_best_of_all_indexes():
    """A little evidence is enough where nobody has more, in this index or another."""
    little, much = evidence_of(0.1), evidence_of(0.6)
    assert [bool(each.relevant[0]) for each in judge_relevance([little], None)] == [True]
    for several in ([little, much], [much, little]):
        judged = judge_relevance(several, None)
        assert [bool(each.relevant[0]) for each in judged] == [each is much for each in several]
    assert nearest_similarity([little, much]) == pytest.approx(0.6)


def ranked(id="a", score=0.5, **parts):
    talk = parts.pop("in_a_talk", False)
    return Ranked(id, 1, MINE, talk, 0.9, 0.5, score, parts, talk)


@given(st.permutations([ranked(id, score) for id in "abc" for score in (0.5, 0.6)]))
def test_sort_ranked_breaks_ties_by_id(shuffled):
    assert [each.id for each in sort_ranked(shuffled)] == ["a", "b", "c", "a", "b", "c"]


def test_ranked_lift_adds_a_part_to_the_score():
    lifted = ranked(words=0.5).lifted("relation", 0.02)
    assert lifted.score == pytest.approx(0.52)
    assert sum(lifted.parts.values()) == pytest.approx(lifted.score)


# ——— the explanation ———


def test_explain_hit_names_the_weightiest_reason_first():
    told = explain_hit(ranked(score=0.6, words=0.1, words_near=0.1, meaning=0.3, meaning_near=0.1))
    assert told == (
        "Recalled because its meaning is similar (90%) and it contains words of the query "
        "(50% of them)."
    )


def test_explain_hit_of_a_passage_names_surroundings_speaker_and_date():
    told = explain_hit(ranked(score=0.8, words_wide=0.4, speaker=0.25, date=0.15, in_a_talk=True))
    assert told == (
        "Recalled because the surrounding text matches, the person in the query said it and "
        "it was said at the time in the query."
    )


def test_explain_hit_without_signals_has_a_default_text():
    assert explain_hit(ranked(score=0.0)) == "Recalled because no better match was found."
