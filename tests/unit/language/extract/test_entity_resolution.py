"""One node for each individual of a source, however they are called in it."""

from __future__ import annotations

import pytest

from commonplace.language.extract.entity_recognition import recognise_entities
from commonplace.language.extract.values import OwnerIdentity
from support.accounts import account, kept, node_called, spoken_of, spotted


@pytest.mark.parametrize(
    ("texts", "name", "aliases"),
    [
        (
            ["I met Sarah Chen.", "Sarah's plan is good.", "Dr. Chen agreed. S. Chen signed."],
            "Sarah Chen",
            {"Sarah", "Dr. Chen", "S. Chen"},
        ),
        (["Mike emailed me.", "Michael Brown agreed."], "Michael Brown", {"Mike"}),
        (["Melanie Hart told me.", "I asked Mel about it."], "Melanie Hart", {"Mel"}),
        (["My manager, Dana, told me.", "My manager is great."], "Dana", {"My manager"}),
        (["my sister Noa is here", "I called my sister"], "Noa", {"my sister"}),
        (["Dana is my manager.", "I asked my manager."], "Dana", {"my manager"}),
        (["אחותי נועה התקשרה", "דיברתי עם אחותי"], "נועה", {"אחותי"}),
        (["דיברתי עם דנה כהן", "דנה אמרה שכן"], "דנה כהן", {"דנה"}),
        (["Dana's husband Tom cooks.", "I like Dana's husband."], "Tom", {"Dana's husband"}),
    ],
)
def test_entity_resolution_joins_spellings_of_one_person(texts, name, aliases):
    found = spotted(*texts)
    node = node_called(found, name)
    assert aliases <= set(node.aliases)
    assert not aliases & {each.name for each in found.nodes}


def test_entity_resolution_separates_people_with_one_first_name():
    told = account("Sarah Chen met Sarah Levi.", "Levi said no, and Chen said yes.")
    found = recognise_entities(told)
    assert set(kept(found)) == {"Sarah Chen", "Sarah Levi"}
    assert spoken_of(found, told, "Sarah Levi") == ["Sarah Levi", "Levi"]
    assert spoken_of(found, told, "Sarah Chen") == ["Sarah Chen", "Chen"]


def test_entity_resolution_assigns_a_shared_first_name_to_neither_person():
    told = account("Sarah Chen called.", "Then Sarah Levi called.", "I told Sarah. Sarah knew.")
    found = recognise_entities(told)
    assert spoken_of(found, told, "Sarah Levi") == ["Sarah Levi"]
    assert spoken_of(found, told, "Sarah Chen") == ["Sarah Chen"]
    assert spoken_of(found, told, "Sarah") == ["Sarah", "Sarah"]


@pytest.mark.parametrize("before", ["", "John Smith called. "])
def test_entity_resolution_separates_mr_and_mrs(before):
    told = account(f"{before}Mr. Smith came. Mrs. Smith wrote. Mr. Smith left.")
    found = recognise_entities(told)
    assert len(kept(found)) == 2
    assert spoken_of(found, told, "Mrs. Smith") == ["Mrs. Smith"]


@pytest.mark.parametrize(
    ("text", "company"),
    [
        ("Microsoft is my favourite client.", "Microsoft"),
        ("Our partner is Acme Corp.", "Acme Corp"),
        ("My landlord, Globex GmbH, called.", "Globex GmbH"),
    ],
)
def test_entity_resolution_keeps_a_company_in_a_role_an_organization(text, company):
    assert kept(spotted(text)) == {company: "organization"}


def test_entity_resolution_makes_friend_no_alias():
    found = spotted("My friend Tom is here.", "My friend Noa too.")
    assert all(not node.aliases for node in found.nodes)
    assert set(kept(found)) >= {"Tom", "Noa"}


def test_entity_resolution_assigns_my_manager_to_the_speaker():
    found = spotted(("Tom Baker", "My manager is away."), "My manager too.")
    assert set(kept(found)) == {"Tom Baker", "Tom Baker's manager", "My manager"}


@pytest.mark.parametrize(
    ("texts", "name", "aliases"),
    [
        (["I work at Acme Corp.", "Acme is hiring."], "Acme Corp", {"Acme"}),
        (["We met Y Combinator.", "YC said yes."], "Y Combinator", {"YC"}),
        (["Agenda: Project Heron.", "On Heron, the beta slips."], "Project Heron", {"Heron"}),
        (["She joined Brightwell Analytics.", "I like Brightwell."], "Brightwell Analytics", set()),
    ],
)
def test_entity_resolution_joins_short_and_long_names_of_a_thing(texts, name, aliases):
    found = spotted(*texts)
    assert len(found.nodes) == 2
    assert {found.nodes[1].name, *found.nodes[1].aliases} >= {name, *aliases}


# ——— those who take part ———


def test_recognised_nodes_always_begin_with_the_owner():
    for text in ("Nothing to see.", "I am Alex Rivera.", ""):
        node = spotted(text).nodes[0]
        assert (node.name, node.is_owner, node.type.value) == ("Alex Rivera", True, "Person")


def test_owner_spans_cover_names_and_not_pronouns():
    told = account(("Tom", "Alex and I met; I told Alex Rivera, and he told me."))
    assert spoken_of(recognise_entities(told), told, "Alex Rivera") == ["Alex", "Alex Rivera"]


def test_participants_are_certain_nodes_with_addresses():
    found = spotted(
        ("Priya Raman", "Hello."),
        participants=["Tom Baker <Tom@Example.com>", "dana.levi@example.com", "Priya Raman"],
    )
    assert {node.confidence for node in found.nodes} == {0.95}
    assert node_called(found, "Tom Baker").addresses == ("tom@example.com",)
    assert node_called(found, "Dana Levi").addresses == ("dana.levi@example.com",)
    assert node_called(found, "Priya Raman").passages == (0,)


@pytest.mark.parametrize(
    "speaker",
    ["user", "assistant", "Speaker 1", "system", "Unknown", "Acme Support", "no-reply", "3"],
)
def test_participant_with_a_role_label_makes_no_node(speaker):
    assert len(spotted((speaker, "Hello there.")).nodes) == 1


def test_participant_with_the_owners_address_is_the_owner():
    owner = OwnerIdentity(name="Alex Rivera", addresses=frozenset({"alex@example.com"}))
    found = spotted("Hi.", owner=owner, participants=["A. R. <alex@example.com>"])
    assert len(found.nodes) == 1
    assert found.nodes[0].addresses == ("alex@example.com",)
