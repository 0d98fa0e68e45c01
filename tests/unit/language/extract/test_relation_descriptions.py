"""What is said beside a relation: in the third person, and never other than it was meant."""

from __future__ import annotations

import pytest

from commonplace.language.extract.extract import extract
from support.accounts import account


def described(*said):
    found = extract(account(*said))
    return {edge.type: edge.description for edge in found.edges}


def test_edge_description_resolves_object_pronoun_to_another_person():
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
def test_edge_description_keeps_pronouns_without_antecedent(text):
    assert described(text)["spouse"].count(text.split()[2]) == 1


def test_edge_description_resolves_her_before_an_adverb_as_object():
    told = described("My lawyer Tal Shapiro called. My assistant Greta will call her soon.")
    assert told["reports-to"] == "The user's assistant Greta will call Tal Shapiro soon."


def test_edge_description_resolves_pronoun_across_clauses():
    told = described("My brother Noam called when I wanted to help him with Jira.")
    assert told["sibling"].endswith("when the user wanted to help Noam with Jira.")


def test_edge_description_reads_possessive_place_as_home_not_contraction():
    told = described(("Dana", "I'm staying at my mom's in Haifa."), "Ok.")
    assert told["child"] == "Dana is staying at Dana's mom's home in Haifa."
    assert (
        described("My sister Noa's in Berlin.")["sibling"] == "The user's sister Noa is in Berlin."
    )


def test_edge_description_holds_no_first_person_of_another_speaker():
    said = "It has been a while, and I wanted to tell you that my wife Tamar joined Intel with you."
    told = described(("Dana", said), "Ok.")
    assert not [each for each in told.values() if " I " in each or " my " in each]


def test_edge_description_of_hebrew_uses_the_speakers_name():
    told = described(("דנה", "אני גרה בתל אביב."), "כן.")
    assert told["lives-in"] == "דנה גרה בתל אביב"
