"""Readable tags."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.text.terms import extract_keywords


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Meetings about budgets. The budget meeting is at 10.", ("meeting", "budget")),
        ("Dana loves Jazz", ("dana", "loves", "jazz")),
        ("We do not go to NY, not ever", ("ever",)),
        ("המטבח הגדול, מטבח", ("מטבח", "הגדול")),
        ("苹果 123", ("苹果",)),
        ("3.5 100 2024-01-01", ()),
        ("", ()),
    ],
)
def test_extract_keywords_returns_the_expected_tags(text: str, expected: tuple[str, ...]) -> None:
    assert extract_keywords(text) == expected


def test_extract_keywords_obeys_the_limit_and_refuses_a_negative_one() -> None:
    assert extract_keywords("alpha beta gamma delta", limit=2) == ("alpha", "beta")
    assert extract_keywords("alpha", limit=0) == ()
    with pytest.raises(ValueError, match="limit"):
        extract_keywords("alpha", limit=-1)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_extract_keywords_is_deterministic_bounded_and_without_numbers(text: str) -> None:
    tags = extract_keywords(text)
    assert tags == extract_keywords(text)
    assert len(tags) <= 5
    assert not any(tag.isdigit() for tag in tags)
