"""Whether two proposed values are one: as for rewordings, 0.05 stricter."""

from __future__ import annotations

import pytest

from commonplace.engine.memory_relation import FULL_REWORDING_SIMILARITY, REWORDING_SIMILARITY
from commonplace.engine.profile.profile import is_equal_value, is_same_value
from commonplace.language.compare.compare import CompareVerdict
from commonplace.model.profile.consent import STRICTER_BY


def test_proposal_value_equal_text_is_the_same_without_similarity():
    assert is_same_value(CompareVerdict.EQUAL, None)


@pytest.mark.parametrize("verdict", [CompareVerdict.OPEN, CompareVerdict.SAME])
def test_proposal_value_rewording_needs_a_higher_similarity(verdict):
    assert STRICTER_BY == 0.05
    assert not is_same_value(verdict, FULL_REWORDING_SIMILARITY)
    assert is_same_value(verdict, FULL_REWORDING_SIMILARITY + STRICTER_BY)


@pytest.mark.parametrize("verdict", [CompareVerdict.MORE, CompareVerdict.LESS])
def test_proposal_value_with_more_or_less_content_is_different(verdict):
    """Short of 1.0, which no two different texts reach."""
    assert not is_same_value(verdict, REWORDING_SIMILARITY)
    assert not is_same_value(verdict, 0.99)


@pytest.mark.parametrize(
    "verdict",
    [CompareVerdict.CHANGED, CompareVerdict.MASKED, CompareVerdict.BOTH, CompareVerdict.APART],
)
def test_proposal_value_that_differs_is_never_the_same(verdict):
    assert not is_same_value(verdict, 1.0)


@pytest.mark.parametrize(
    "verdict", [each for each in CompareVerdict if each is not CompareVerdict.EQUAL]
)
def test_proposal_value_without_similarity_is_different(verdict):
    assert not is_same_value(verdict, None)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (5, 5.0, True),
        (5, "5", True),
        (5.0, "5", True),
        (5, 6, False),
        (5.5, 5, False),
        ("Haifa", "haifa", True),
        (True, True, True),
        (True, 1, False),
        (True, "True", False),
        (["run"], ["run"], True),
        (["run"], ["run", "read"], False),
    ],
)
def test_is_equal_value_compares_numbers_by_value(one, other, equal):
    assert is_equal_value(one, other) is is_equal_value(other, one) is equal
