"""What is said beside a relation: in the third person, and never other than it was meant."""

from __future__ import annotations

import pytest

from commonplace.language.extract.extract import extract
from support.accounts import account


def described(*said):
    found = extract(account(*said))
    return {edge.type: edge.description for edge in found.edges}


def test_whom_somebody_brings_is_another_one():
    told = described("My brother Noam called. My husband Ben will bring him along.")
    assert told["spouse"] == "The user's husband Ben will bring Noam along."


@pytest.mark.parametrize(
    "text",
    [
        "My husband Ben will bring him along.",
        "My wife Greta will call her tomorrow.",
        "My wife Greta will call her soon.",
    ],
)
def test_a_pronoun_that_means_nobody_who_was_named_is_left_as_it_is(text):
    assert described(text)["spouse"].count(text.split()[2]) == 1


def test_what_follows_whom_somebody_calls_is_not_theirs():
    told = described("My lawyer Tal Shapiro called. My assistant Greta will call her soon.")
    assert told["reports-to"] == "The user's assistant Greta will call Tal Shapiro soon."


def test_of_another_clause_the_one_before_may_be_meant():
    told = described("My brother Noam called when I wanted to help him with Jira.")
    assert told["sibling"].endswith("when the user wanted to help Noam with Jira.")


def test_at_moms_is_where_she_lives_and_not_that_she_is_there():
    told = described(("Dana", "I'm staying at my mom's in Haifa."), "Ok.")
    assert told["child-of"] == "Dana is staying at Dana's mom's home in Haifa."
    assert (
        described("My sister Noa's in Berlin.")["sibling"] == "The user's sister Noa is in Berlin."
    )


def test_another_ones_i_is_never_left_in_it():
    said = "It has been a while, and I wanted to tell you that my wife Tamar joined Intel with you."
    told = described(("Dana", said), "Ok.")
    assert not [each for each in told.values() if " I " in each or " my " in each]


def test_in_hebrew_too_it_is_told_of_whoever_says_it():
    told = described(("דנה", "אני גרה בתל אביב."), "כן.")
    assert told["lives-in"] == "דנה גרה בתל אביב"
