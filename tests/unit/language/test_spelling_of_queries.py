"""A query's terms as the texts spell them: what looks misspelt is put right, names never are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.query.question import correct_spelling


class Known(set):
    def beginning_with(self, letters):
        return sorted(term for term in self if term.startswith(letters))


VOCABULARY = Known(
    ["kettle", "garden", "gardener", "painting", "paintings", "2026", "cat", "שולחן"]
)


@pytest.mark.parametrize(
    ("term", "spelled"),
    [
        ("kettle", "kettle"),
        ("kettel", "kettle"),
        ("gardan", "garden"),
        ("paintng", "painting"),
        ("שולחנ", "שולחן"),
        ("car", "car"),
        ("2025", "2025"),
        ("unheard", "unheard"),
        ("ettle", "ettle"),
        ("gardeners2", "gardeners2"),
    ],
)
def test_how_a_term_is_spelled(term, spelled):
    assert correct_spelling([term], VOCABULARY) == {term: spelled}


def test_a_name_stays_as_it_is():
    assert correct_spelling(["kettel"], VOCABULARY, proper={"kettel"}) == {"kettel": "kettel"}


def test_where_two_are_equally_near_it_is_the_same_one_every_time():
    known = Known(["paintinga", "paintingb"])
    assert correct_spelling(["paintingc"], known) == {"paintingc": "paintinga"}


@given(st.lists(st.text(max_size=12), max_size=6))
def test_every_term_gets_an_answer_that_is_known_or_itself(terms):
    found = correct_spelling(terms, VOCABULARY)
    assert set(found) == set(terms)
    assert all(other in VOCABULARY or other == term for term, other in found.items())
