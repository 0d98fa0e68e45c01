"""What comparing must never get wrong, whatever the words around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.compare.compare import CompareVerdict, compare

TAKEN_AS_THE_SAME = {
    CompareVerdict.EQUAL,
    CompareVerdict.SAME,
    CompareVerdict.MORE,
    CompareVerdict.LESS,
    CompareVerdict.OPEN,
}

NAMES = st.sampled_from(["Dana", "Noa", "Tal", "Omar", "Priya", "Lucas", "Mei", "Ivan", "Zoe"])
SUBJECTS = st.sampled_from(["The pump", "Our team", "The old printer", "The shop", "My neighbour"])
VERBS = st.sampled_from(
    ["likes", "trusts", "called", "owes money to", "works with", "is taller than", "sits beside"]
)
PATTERNS = st.sampled_from(
    [
        "{s} needs {n} litres of water.",
        "{s} was checked {n} times.",
        "{s} costs {n} dollars.",
        "{s} has {n} spare parts.",
        "Call {s} after {n} minutes.",
        "{s} opened on {n} March 2024.",
        "At {n} o'clock {s} closes.",
        "{s} uses version {n}.2.1.",
    ]
)
HEBREW = st.sampled_from(["דנה", "נועה", "יוסי", "מיכל", "אורי", "שירה"])
HEBREW_VERBS = st.sampled_from(["סומכת על", "מכירה את", "עובדת עם", "כתבה על", "גרה ליד"])
ANY_TEXT = st.text(max_size=200)


@given(SUBJECTS, PATTERNS, st.integers(1, 28), st.integers(1, 28))
def test_compare_never_equates_statements_with_different_numbers(subject, pattern, one, other):
    old, new = pattern.format(s=subject, n=one), pattern.format(s=subject, n=other)
    assert (compare(old, new).verdict in TAKEN_AS_THE_SAME) == (one == other)


@given(NAMES, VERBS, NAMES, NAMES)
def test_compare_never_equates_statements_with_different_names(subject, verb, one, other):
    found = compare(f"{subject} {verb} {one}.", f"{subject} {verb} {other}.").verdict
    assert (found in TAKEN_AS_THE_SAME) == (one == other)


@given(HEBREW, HEBREW_VERBS, HEBREW, HEBREW)
def test_compare_never_equates_different_hebrew_names_without_capitals(subject, verb, one, other):
    found = compare(f"{subject} {verb} {one}.", f"{subject} {verb} {other}.").verdict
    assert (found in TAKEN_AS_THE_SAME) == (one == other)


@given(NAMES, VERBS, NAMES)
def test_compare_never_equates_statements_with_swapped_names(one, verb, other):
    found = compare(f"{one} {verb} {other}.", f"{other} {verb} {one}.").verdict
    assert (found in TAKEN_AS_THE_SAME) == (one == other)


@given(
    NAMES,
    st.sampled_from(["eat meat", "live in Haifa", "like Tal", "use the lift", "work on Friday"]),
    st.sampled_from(["does not", "doesn't", "no longer does", "never does"]),
)
def test_compare_never_equates_a_statement_with_its_negation(subject, deed, denial):
    found = compare(f"{subject} does {deed}.", f"{subject} {denial} {deed}.").verdict
    assert found not in TAKEN_AS_THE_SAME


@given(ANY_TEXT)
def test_compare_finds_any_text_equal_to_itself(text):
    assert compare(text, text).verdict is CompareVerdict.EQUAL


@given(ANY_TEXT, ANY_TEXT)
def test_compare_same_is_symmetric_and_more_mirrors_less(one, other):
    forth, back = compare(one, other).verdict, compare(other, one).verdict
    assert (forth is CompareVerdict.SAME) == (back is CompareVerdict.SAME)
    assert (forth is CompareVerdict.MORE) == (back is CompareVerdict.LESS)


@pytest.mark.parametrize(
    "piece", ["a", "1", "1.", "a@", "a'", "א״", "😀", "(", '"', "one ", "+1 ", "a\u0301", "a1-"]
)
def test_compare_is_linear_on_texts_of_maximum_length(piece):
    """Every pattern is linear: one that is not would run into the time-out of the suite."""
    long = (piece * 32_000)[:32_000]
    assert compare(long, long).verdict is CompareVerdict.EQUAL
    assert compare(long, f"Dana {long}").verdict is not CompareVerdict.EQUAL


def test_compare_separates_long_texts_without_shared_words():
    one = " ".join(f"word{n}" for n in range(4_000))
    other = " ".join(f"term{n}" for n in range(4_000))
    assert compare(one, other).verdict is CompareVerdict.APART


def test_compare_ignores_direction_marks():
    marked = "\u200fדנה גרה בחיפה\u200e"
    assert compare("דנה גרה בחיפה", marked).verdict in (CompareVerdict.EQUAL, CompareVerdict.SAME)


def test_compare_masks_the_differing_value_of_two_statements():
    found = compare("The server has 16 GB of memory.", "The server has 32 GB of memory.")
    assert found.verdict is CompareVerdict.MASKED
    assert found.masked == ("The server has … of memory.",) * 2
    assert found.words_alike == 1.0


def test_compare_reason_shows_the_old_and_the_new_value():
    assert compare("Dana lives in Haifa", "Dana moved to Akko").reason == "lives in: Haifa → Akko"


@given(NAMES, NAMES, st.sampled_from(["wife", "manager", "landlord", "dentist", "teacher"]))
def test_compare_never_replaces_what_a_named_relative_is_by_what_that_one_does(owner, name, noun):
    old = f"{owner}'s {noun} {name} is fond of long walks."
    for new in (f"{owner}'s {noun} {name} is 41.", f"{owner}'s {noun}, {name}, is in Rome."):
        assert compare(old, new).verdict is not CompareVerdict.CHANGED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Beto has a knee operation and is then 5 weeks at home.", "June 14 is 25 years of us."),
        ("The course is 30 hours.", "2 May is 10 years of Acme."),
    ],
)
def test_compare_takes_no_amount_for_a_deadline_and_no_day_for_a_subject(old, new):
    assert compare(old, new).verdict is not CompareVerdict.CHANGED
