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
def test_correct_spelling_maps_terms_to_the_vocabulary(term, spelled):
    assert correct_spelling([term], VOCABULARY) == {term: spelled}


def test_correct_spelling_leaves_proper_names_unchanged():
    assert correct_spelling(["kettel"], VOCABULARY, proper={"kettel"}) == {"kettel": "kettel"}


def test_correct_spelling_breaks_ties_deterministically():
    known = Known(["paintinga", "paintingb"])
    assert correct_spelling(["paintingc"], known) == {"paintingc": "paintinga"}


@given(st.lists(st.text(max_size=12), max_size=6))
def test_correct_spelling_returns_a_known_term_or_the_input(terms):
    found = correct_spelling(terms, VOCABULARY)
    assert set(found) == set(terms)
    assert all(other in VOCABULARY or other == term for term, other in found.items())
