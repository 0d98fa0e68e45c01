"""Who relates to whom: the one who is named, and not the one by whom they are called."""

from __future__ import annotations

import pytest

from commonplace.language.extracting.extract import extract
from support.accounts import account


def told(*said):
    found = extract(account(*said))
    names = ["I" if node.is_owner else node.name for node in found.nodes]
    return {
        f"{names[edge.a]} {edge.type} {names[edge.b]}" + (" (over)" if edge.ends else "")
        for edge in found.edges
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Uri Katz married my sister Shira.", {"I sibling Shira", "Uri Katz spouse Shira"}),
        (
            "My brother Noam is dating my friend Dana.",
            {"I sibling Noam", "I friend Dana", "Noam partner Dana"},
        ),
        ("Tom is in love with my sister Shira.", {"I sibling Shira", "Tom likes Shira"}),
        ("Ben broke up with my sister Shira.", {"I sibling Shira", "Ben partner Shira (over)"}),
        ("Luca fell out with my boss Lena.", {"I reports-to Lena", "Luca conflict Lena"}),
        ("Carl divorced my aunt Ruth.", {"I relative Ruth", "Carl spouse Ruth (over)"}),
        ("Tom reports to my boss Lena.", {"I reports-to Lena", "Tom reports-to Lena"}),
        ("Tom married my sister.", {"I sibling my sister"}),
        ("Dana's boss's wife is my friend.", {"Dana reports-to Dana's boss"}),
        ("My sister Noa's birthday is tomorrow.", {"I sibling Noa"}),
        ("My sister is Dana Katz's friend.", set()),
        ("The mother of Dana Levi works at Intel.", set()),
        ("אמא של דנה לוי עובדת באינטל.", set()),
        ("בן זוגי אבי התחיל לעבוד במובילאיי.", set()),
    ],
)
def test_whose_sister_somebody_marries_is_not_who_they_marry(text, expected):
    assert told(text) == expected


def test_what_others_tell_of_theirs_is_not_of_them_either():
    expected = {"Dana sibling Shira", "Uri Katz spouse Shira"}
    assert told(("Dana", "Uri Katz married my sister Shira."), "Ok.") == expected
