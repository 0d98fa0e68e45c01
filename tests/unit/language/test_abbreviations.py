"""What abbreviations stand for: long forms are added, whole words only, and capitals count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.query.abbreviations import (
    Terminology,
    abbreviation_key,
    add_long_forms,
    build_terminology,
    is_valid_short_form,
    load_shipped_abbreviations,
)
from commonplace.model.profile.fields import Abbreviation

SHIPPED = build_terminology(load_shipped_abbreviations())


def expanded(text: str, *own: tuple[str, str]) -> str:
    mine = [Abbreviation(short, long, own=True) for short, long in own]
    return by(build_terminology([*load_shipped_abbreviations(), *mine]), text)


def by(table: Terminology, text: str) -> str:
    return add_long_forms(text, table.find_matches(text))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("YC deadline", "YC (Y Combinator) deadline"),
        ("the YC app", "the YC app (Y Combinator application)"),
        ("YC apps are due", "YC apps (Y Combinator application) are due"),
        ("my ML model", "my ML model (machine learning model)"),
        ("the CEO's car", "the CEO's (chief executive officer) car"),
        ("bday of Tom", "bday (birthday) of Tom"),
        ("Bday of Tom", "Bday (birthday) of Tom"),
        ('גרנו בת"א', 'גרנו בת"א (תל אביב)'),
        ("טסנו לחו״ל", "טסנו לחו״ל (חוץ לארץ)"),
    ],
)
def test_abbreviation_expansion_appends_the_long_form(text, query):
    assert expanded(text) == query


@pytest.mark.parametrize("text", ["yc deadline", "MLops", "YCX", "x-YC-y", "YC_deadline", "a day"])
def test_abbreviation_expansion_matches_whole_words_and_case(text):
    assert expanded(text) == text


def test_uppercase_abbreviation_ignores_the_lowercase_word_and_all_caps_text():
    own = ("IT", "information technology")
    assert expanded("should I do it?", own) == "should I do it?"
    assert expanded("It is late", own) == "It is late"
    assert expanded("WHY IS IT SO LATE", own) == "WHY IS IT SO LATE"
    assert expanded("call IT support", own) == "call IT (information technology) support"


def test_lowercase_abbreviation_matches_any_case():
    own = ("pmo", "project office")
    assert expanded("PMO review", own) == "PMO (project office) review"
    assert expanded("the pmo", own) == "the pmo (project office)"


def test_abbreviation_expansion_accepts_a_query_of_abbreviations_only():
    assert expanded("YC MVP") == "YC (Y Combinator) MVP (minimum viable product)"


def test_abbreviation_expansion_does_not_match_across_a_comma():
    assert expanded("YC, app") == "YC (Y Combinator), app"


def test_own_abbreviation_overrides_the_shipped_one():
    assert expanded("YC", ("YC", "Yacht Club")) == "YC (Yacht Club)"


def test_abbreviation_expansion_does_not_repeat_a_long_form():
    assert expanded("the YC (Y Combinator) app, YC") == "the YC (Y Combinator) app, YC"
    assert expanded("YC and YC") == "YC (Y Combinator) and YC"


def test_shipped_abbreviations_are_unique_and_expand():
    keys = [abbreviation_key(each.short) for each in load_shipped_abbreviations()]
    assert len(keys) == len(set(keys))
    for each in load_shipped_abbreviations():
        assert is_valid_short_form(each.short), each
        assert by(SHIPPED, each.short) == f"{each.short} ({each.long})", each


SHORTS = st.sampled_from(["a", "A", "bb", "B C", "c", "IT", "é", "אב", 'א"ב', "1", "b"])
LONGS = st.lists(SHORTS, min_size=1, max_size=3).map(" ".join)
TABLES = st.lists(st.builds(Abbreviation, SHORTS, LONGS), max_size=6).map(build_terminology)
TEXTS = st.text(max_size=80) | st.lists(SHORTS | st.sampled_from(["(", ")", ","])).map(" ".join)


@given(TEXTS, TABLES)
def test_abbreviation_expansion_is_idempotent(text, table):
    once = by(table, text)
    assert by(table, once) == once


@given(TEXTS, TABLES)
def test_abbreviation_expansion_preserves_the_text(text, table):
    written = iter(by(table, text))
    assert all(letter in written for letter in text)


def test_own_abbreviation_overrides_longer_shipped_ones():
    assert expanded("the YC app", ("YC", "Yacht Club")) == "the YC (Yacht Club) app"
    assert expanded("an ML model", ("ml", "Maple Leaf")) == "an ML (Maple Leaf) model"


def test_abbreviation_equal_to_its_long_form_adds_nothing():
    assert expanded("the YC app", ("YC", "YC")) == "the YC app"
