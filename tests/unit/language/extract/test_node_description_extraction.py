"""What a source plainly says that somebody or something is: one sentence, or none."""

from __future__ import annotations

import pytest

from commonplace.language.extract.values import AttributedPassage
from commonplace.language.fields.writing_policy import check_writing
from commonplace.model.memory.kinds import Kind
from tests.support.reading_relations import read
from tests.support.spotting import AT


def described(*said: str | AttributedPassage) -> dict[str, str]:
    return {node.name: node.description for node in read(*said).nodes if node.description}


@pytest.mark.parametrize(
    ("said", "name", "description"),
    [
        ("Noa is a nurse in Haifa.", "Noa", "Noa is a nurse in Haifa."),
        ("My sister Noa is a nurse.", "Noa", "Noa is a nurse."),
        ("My sister Noa lives in Haifa.", "Noa", "Noa is the user's sister."),
        ("Dana is my manager.", "Dana", "Dana is the user's manager."),
        ("Dana, our new CTO, called.", "Dana", "Dana is the user's CTO."),
        ("My dentist is Dana.", "Dana", "Dana is the user's dentist."),
        ("Noa is Dan's sister.", "Noa", "Noa is Dan's sister."),
        ("I met Dana, CTO of Acme.", "Dana", "Dana is CTO of Acme."),
        ("Dan works as a carpenter at Acme.", "Dan", "Dan works as a carpenter at Acme."),
        ("Dana was my boss at Acme.", "Dana", "Dana was the user's boss at Acme."),
        ("I work at Acme, a start-up in Berlin.", "Acme", "Acme is a start-up in Berlin."),
        ("I work at Acme. Acme is based in Berlin.", "Acme", "Acme is based in Berlin."),
        ("Apollo is our billing migration.", "Apollo", "Apollo is the user's billing migration."),
        ("I use Notion, a note-taking app.", "Notion", "Notion is a note-taking app."),
        (
            "I'm going to PyCon, a conference in Berlin.",
            "PyCon",
            "PyCon is a conference in Berlin.",
        ),
    ],
)
def test_node_description_states_the_role_or_nature_in_one_sentence(
    said: str, name: str, description: str
) -> None:
    found = described(said)[name]
    assert found == description
    assert check_writing(Kind.FACT, found) == ()


def test_concept_description_is_the_stating_sentence() -> None:
    runway = {"runway": "The user is worried about runway."}
    assert described("I'm worried about runway.") == runway
    assert described("I'm worried about runway though.") == runway


def test_concept_from_a_list_has_no_description() -> None:
    assert described("My goals: run a 10k. Open a bakery.") == {}


@pytest.mark.parametrize(
    "said",
    [
        "Dana lives in Haifa.",
        "Is Dana a nurse? Dana lives in Haifa.",
        "I don't think Dana is a nurse. Dana lives in Haifa.",
        "Maybe Dana is a nurse. Dana lives in Haifa.",
        "Dana is not my manager. Dana lives in Haifa.",
        "The sister of Dana is a nurse, and Dana lives in Haifa.",
        "Dana is a star. Dana lives in Haifa.",  # what one thinks of her
        "Dana is an awful doctor. Dana lives in Haifa.",
        "Dana is the one who called. Dana lives in Haifa.",
        "A woman called Dana lives in Haifa.",
        "Dana, the plumber is here. Dana lives in Haifa.",
    ],
)
def test_node_description_is_empty_without_a_plain_statement(said: str) -> None:
    assert "Dana" not in described(said)


def test_node_description_prefers_own_role_over_relation_to_the_owner() -> None:
    said = "My sister Noa lives in Haifa. Noa is a nurse."
    assert described(said)["Noa"] == "Noa is a nurse."


def test_node_description_attributes_possessives_to_the_speaker() -> None:
    said = AttributedPassage(number=0, text="My sister Noa lives in Haifa.", at=AT, speaker="Dan")
    assert described(said)["Noa"] == "Noa is Dan's sister."


def test_node_description_skips_possessives_of_an_unknown_speaker() -> None:
    said = AttributedPassage(number=0, text="Noa, a friend of my mother, lives in Haifa.", at=AT)
    assert described(said) == {}


def test_node_description_is_never_set_for_the_owner() -> None:
    assert described("I am a nurse. I work at Acme.") == {}
