"""A readable table of pairs in ten languages, and what comparing them comes to."""

import pytest

from commonplace.engine.memory_relation import SAME_WORDS_SHARE
from commonplace.language.compare.compare import CompareVerdict, Comparison, compare
from support.statement_pairs import table

ACCEPTED = {
    "changed": {"changed"},
    "both": {"both", "apart"},
    "apart": {"apart", "both"},
    "same": {"same", "equal"},
    "more": {"more"},
    "unlike": {"changed", "masked", "both", "apart"},
}


def verdict(found: Comparison) -> str:
    if found.verdict is CompareVerdict.MASKED and found.words_alike >= SAME_WORDS_SHARE:
        return "changed"
    return found.verdict.value


@pytest.mark.parametrize(("wanted", "language", "old", "new"), table())
def test_compare_verdict_matches_the_labelled_pairs(wanted, language, old, new):
    found = compare(old, new)
    assert verdict(found) in ACCEPTED[wanted], found


@pytest.mark.parametrize(
    ("old", "new"), [(old, new) for wanted, _, old, new in table() if wanted == "same"]
)
def test_compare_same_pairs_are_the_same_in_reverse_order(old, new):
    assert verdict(compare(new, old)) in ACCEPTED["same"]
