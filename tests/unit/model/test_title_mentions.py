"""How a document's title is mentioned elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.sources.source import MAX_TITLE_WORDS, find_mentioned_titles, title_key


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("Heron Lake", "heron lake"),
        ("Heron Lake (film)", "heron lake"),
        ("  The   Beatles ", "the beatles"),
        ("Rock-n-Roll: a history", "rock-n-roll a history"),
        ("ＦＵＬＬ width", "full width"),
        ("יומן המסע", "יומן המסע"),
        ("(film)", ""),
    ],
)
def test_title_key_folds_case_spaces_and_qualifiers(title, key):
    assert title_key(title) == key


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("They filmed Heron Lake in spring.", ["heron lake"]),
        ("HERON LAKE, and heron lake again", ["heron lake"]),
        ("A heron at a lake", []),
        ("The herons of Heron Lakes", []),
        ("She saw It once", []),
        ("", []),
    ],
)
def test_find_mentioned_titles_matches_whole_titles(text, found):
    assert (
        list(find_mentioned_titles(text, {"heron lake", "it", "", "long " * MAX_TITLE_WORDS}))
        == found
    )


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=30))
def test_find_mentioned_titles_finds_a_title_inside_any_text(before, after, title):
    key = title_key(title)
    text = f"{before} \n {key} \n {after}"
    found = list(find_mentioned_titles(text, {key}))
    if len(key) >= 4 and 0 < len(key.split(" ")) <= MAX_TITLE_WORDS and title_key(key) == key:
        assert found == [key]
    else:
        assert found in ([], [key])
