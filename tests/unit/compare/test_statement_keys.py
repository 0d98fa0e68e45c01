"""Keys find the statements that a new one could change or repeat."""

import pytest

from commonplace.language.compare.compare import CompareVerdict, compare
from commonplace.language.compare.keys import statement_keys, subject_terms
from support.statement_pairs import table

# A reason with a colon comes from a frame: "lives in: Haifa → Akko".
BY_FRAME = [
    (old, new)
    for _, _, old, new in table()
    for found in [compare(old, new)]
    if found.verdict is CompareVerdict.CHANGED and ": " in found.reason
]


@pytest.mark.parametrize(("old", "new"), BY_FRAME)
def test_statement_keys_overlap_for_values_changed_by_a_frame(old, new):
    assert statement_keys(old) & statement_keys(new)


def test_statement_keys_join_frame_and_subject():
    assert statement_keys("Dana lives in Haifa") == {"lives_in|dana"}
    assert statement_keys("I live in Haifa") == statement_keys("The user lives in Akko")


def test_statement_keys_of_symmetric_frames_ignore_argument_order():
    assert statement_keys("Dan is married to Ana") == statement_keys("Ana is married to Dan")


@pytest.mark.parametrize(
    "text", ["my wifi password", "the wifi password", "wifi password", "Wifi Password"]
)
def test_subject_terms_ignore_articles_possessives_and_case(text):
    assert subject_terms(text) == subject_terms("wifi password")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wi-Fi password", "wifi password"),
        ("wi fi password", "wifi password"),
        ("e-mail", "email"),
        ("log-in", "login"),
    ],
)
def test_subject_terms_ignore_hyphens_and_split_words(one, other):
    assert subject_terms(one) == subject_terms(other)


def test_subject_terms_differ_by_subject_and_are_never_empty():
    assert subject_terms("wifi password") != subject_terms("router password")
    assert subject_terms("הסיסמה של נטפליקס") == subject_terms("סיסמת נטפליקס")
    assert subject_terms("?")
