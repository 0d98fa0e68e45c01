"""Who of those who take part is the owner: under a fuller or a shorter name, too, as long as it can
be nobody else."""

from __future__ import annotations

import pytest

from commonplace.language.extract.entity_recognition import recognise_entities
from commonplace.language.extract.people.participants import identify_owner, parse_participant
from commonplace.language.extract.values import OwnerIdentity
from support.accounts import account, kept


def called(owner, *listed):
    """The names that the owner takes part by."""
    here = identify_owner(owner, [parse_participant(each) for each in listed])
    return here.names - owner.names


@pytest.mark.parametrize(
    ("name", "listed", "expected"),
    [
        ("Ana", ["Ana Stein", "Ruth Abel"], {"Ana Stein"}),
        ("Ana Stein", ["Ana", "Ruth"], {"Ana"}),
        ("Ana Stein", ["Ana S.", "Ruth"], {"Ana S."}),
        ("dana77", ["Dana Levi", "Ruth"], {"Dana Levi"}),
        ("אנה", ["אנה שטיין", "רות"], {"אנה שטיין"}),
        ("Ana", ["Ana Stein", "Ana S."], {"Ana Stein", "Ana S."}),
        # Somebody else, or nobody knows:
        ("Ana", ["Ana Stein", "Ana Brown"], set()),
        ("Ana", ["Ana", "Ana Stein"], set()),
        ("Ana", ["Anabel Cruz", "Anna Levi", "Ana Airlines"], set()),
        ("Ana Stein", ["Ana Brown", "Uri Stein", "Ms. Stein"], set()),
    ],
)
def test_identify_owner_accepts_an_unambiguous_fuller_or_shorter_name(name, listed, expected):
    assert called(OwnerIdentity(name=name, names=frozenset({name})), *listed) == expected


def test_identify_owner_rejects_names_of_known_others():
    owner = OwnerIdentity(name="Ana", names=frozenset({"Ana"}), others=frozenset({"ana brown"}))
    assert called(owner, "Ana Brown", "Ruth") == set()
    assert set(kept(recognise_entities(account("I met Ana Brown.", owner=owner)))) == {"Ana Brown"}


def test_identify_owner_rejects_a_conflicting_full_name():
    owner = OwnerIdentity(name="Ana", names=frozenset({"Ana", "Ana Stein"}))
    assert called(owner, "Ana Brown", "Ruth") == set()


def test_identify_owner_rejects_a_name_with_another_address():
    owner = OwnerIdentity(
        name="Ana", names=frozenset({"Ana"}), addresses=frozenset({"ana@example.org"})
    )
    assert called(owner, "Ana Stein <stein@example.com>") == set()
    assert called(owner, "A. Stein <ana@example.org>") == {"A. Stein"}


def addresses(owner, *listed):
    return identify_owner(owner, [parse_participant(each) for each in listed]).addresses


@pytest.mark.parametrize(
    ("name", "listed", "expected"),
    [
        ("Ana Stein", "Ana Stein <ana@stein.example>", {"ana@stein.example"}),
        ("Ana", "Ana <ana@stein.example>", {"ana@stein.example"}),
        ("Ana Stein", "Ana <ana@stein.example>", set()),
        ("Ana", "Ana Stein <ana@stein.example>", set()),
        ("Ana Stein", "Ana Brown <ana@brown.example>", set()),
    ],
)
def test_identify_owner_learns_an_address_listed_with_the_exact_name(name, listed, expected):
    owner = OwnerIdentity(name=name, names=frozenset({name, "ana"}))
    assert addresses(owner, listed, "Ruth Abel <ruth@abel.example>") == expected


def test_identify_owner_rejects_another_name_on_a_shared_address():
    known = frozenset({"family@stein.example"})
    owner = OwnerIdentity(name="Ana Stein", names=frozenset({"Ana Stein"}), addresses=known)
    assert called(owner, "Ben Stein <family@stein.example>") == set()
    listed = ["Ben Stein <family@stein.example>"]
    found = recognise_entities(account(("Ben Stein", "Hi."), owner=owner, participants=listed))
    assert set(kept(found)) == {"Ben Stein"}


def test_owner_node_carries_only_addresses_listed_in_the_source():
    known = frozenset({"ana@stein.example"})
    owner = OwnerIdentity(name="Ana Stein", names=frozenset({"Ana Stein"}), addresses=known)
    assert recognise_entities(account("Hi.", owner=owner)).nodes[0].addresses == ()
    here = recognise_entities(
        account("Hi.", owner=owner, participants=["A. S. <ana@stein.example>"])
    )
    assert here.nodes[0].addresses == ("ana@stein.example",)


@pytest.mark.parametrize(
    "text",
    [
        "I booked the Ana Hotel in Tokyo.",
        "Ana Airlines is great.",
        "From: ANA Airlines <booking@ana.co.jp>",
        "I met Anabel Cruz.",
    ],
)
def test_owner_aliases_exclude_names_with_the_owners_name_as_prefix(text):
    owner = OwnerIdentity(name="Ana", names=frozenset({"Ana"}))
    assert recognise_entities(account(text, owner=owner)).nodes[0].aliases == ()


def test_participant_that_is_a_company_makes_no_person():
    owner = OwnerIdentity(name="Ana", names=frozenset({"Ana"}))
    listed = ["ANA Airlines <booking@ana.co.jp>", "Emily Post <emily@example.org>"]
    assert kept(recognise_entities(account("Hi.", owner=owner, participants=listed))) == {
        "Emily Post": "Person"
    }


def test_participant_with_the_owners_first_name_in_the_owners_source_is_another():
    owner = OwnerIdentity(name="Ana", names=frozenset({"Ana"}))
    found = recognise_entities(account("Hi.", ("Ana Stein", "Hello."), owner=owner))
    assert set(kept(found)) == {"Ana Stein"}
    assert found.nodes[0].aliases == ()


def test_participant_with_a_no_reply_mailbox_makes_no_node():
    listed = ["Wolt <no-reply@wolt.com>", "Noa Stein <info@example.org>"]
    found = recognise_entities(
        account(("Wolt", "Thank you."), ("Noa Stein", "Hi."), participants=listed)
    )
    assert set(kept(found)) == {"Noa Stein"}
