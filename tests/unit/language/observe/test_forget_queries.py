"""Queries to forget: the request and its reason are cut off, in texts of bounded length only."""

from __future__ import annotations

import pytest

from commonplace.language.observe.forget_requests import clean_forget_query


@pytest.mark.parametrize(
    ("query", "about"),
    [
        ("forget what I said about the Garmin, I sold it", "the Garmin"),
        ("everything about my running", "my running"),
        ("the   safe\n combo please", "the safe combo"),
    ],
)
def test_forget_query_is_what_it_is_about(query, about):
    assert clean_forget_query(query) == about


@pytest.mark.parametrize("gap", [" ", "\t", "\n", ", "])
def test_forget_query_that_is_long_is_not_searched_for_a_reason(gap):
    """The pattern of a reason tries every run of spaces: on a whole message that is quadratic."""
    query = f"a{gap * 20_000}because it is wrong"
    assert clean_forget_query(query) == query
