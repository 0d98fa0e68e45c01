"""People write small letters, leave words out and speak to each other; it tells the same."""

from __future__ import annotations

import pytest

from commonplace.language.extract.extract import extract
from commonplace.language.extract.values import AttributedPassage
from tests.support.reading_relations import as_words
from tests.support.spotting import AT, OWNER, account


def told(*said: str | AttributedPassage) -> set[str]:
    found = extract(account(*said))
    return {as_words(found, edge) for edge in found.edges}


def names(*said: str) -> set[str]:
    return {node.name for node in extract(account(*said)).nodes if not node.is_owner}


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("fine i guess. im with my roommate Dana", "I roommate Dana"),
        ("i would stay. my boyfriend Marcus grew up in Lisbon", "Marcus grew-up-in Lisbon"),
        ("Worried about the rent.", "I worries-about rent"),
        ("What worries me most is the rent.", "I worries-about rent"),
        ("Goals for 2027: open a bakery, run a marathon.", "I goal open a bakery"),
        ("Dentist: Dr. Novak", "I dentist Dr. Novak"),
        ("Omar from work is ill.", "I colleague Omar"),
        ("My mother would like to come, her name is Loretta.", "I child Loretta"),
        ("Tom's wife, Grace, used to be a nurse at Mercy Hospital.", "Tom spouse Grace"),
        ("Dr. Marsh wants me to rest.", "I doctor Dr. Marsh"),
        ("I'm dating a girl called Yasmin.", "I partner Yasmin"),
        ("My sister Odile and her kids Remy and Omar are here.", "Remy child Odile"),
        ("My new boss will be Gareth Pugh.", "I reports-to Gareth Pugh"),
        ("Brigid lives in Cork, and thinks we should wait.", "Brigid lives-in Cork"),
        ("התחלתי לעבוד בסטארטאפ בשם לוטם.", "I works-at לוטם"),
        ("אני אוהבת קרמיקה ושונאת פקקים.", "I likes קרמיקה"),
    ],
)
def test_relation_patterns_read_informal_writing(said: str, wanted: str) -> None:
    assert wanted in told(said)


def test_relation_first_person_possessive_binds_the_owner_only() -> None:
    assert told("I met Oksana, and my lead Martin Kask.") == {
        "I acquaintance Oksana",
        "I reports-to Martin Kask",
    }


def test_relation_with_old_is_marked_as_ended() -> None:
    assert told("My old boss Gunther called.") == {"I reports-to Gunther (over)"}


def test_relation_with_a_trailing_condition_is_not_extracted() -> None:
    assert told("I work at Acme Robotics, if they take me.") == set()


# ——— you ———


def _said(number: int, speaker: str, text: str) -> AttributedPassage:
    return AttributedPassage(
        number=number, text=text, at=AT, speaker=speaker, by_owner=speaker == OWNER.name
    )


def test_second_person_resolves_to_the_other_of_two_speakers() -> None:
    asked = _said(1, "Rosalind Tan", "Hello! Bring your friend Tasha.")
    answered = _said(2, OWNER.name, "I will.")
    assert "I friend Tasha" in told(asked, answered)


def test_second_person_among_three_speakers_needs_an_address_by_name() -> None:
    others = _said(1, "Rosalind Tan", "Hello."), _said(2, "Ben Ashworth", "Hello.")
    assert told(*others, _said(3, OWNER.name, "Bring your friend Tasha.")) == set()
    assert told(*others, _said(3, OWNER.name, "Ben, bring your friend Tasha.")) == {
        "Ben Ashworth friend Tasha"
    }


# ——— who is kept ———


def test_extraction_keeps_a_person_with_a_phone_number() -> None:
    assert "Harriet Bloom" in names("You can call Harriet Bloom on 555 0177 22.")
    assert "Harriet Bloom" not in names("I read a book by Harriet Bloom.")


def test_pronoun_resolution_respects_gendered_names() -> None:
    said = "Colin met Dana at the fair. She lives in Leeds."
    assert "Dana lives-in Leeds" in told(said)
