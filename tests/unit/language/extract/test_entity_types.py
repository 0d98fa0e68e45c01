"""People, organisations, places, projects, products, events and groups, as the seed draws the
line between them."""

from __future__ import annotations

import pytest

from commonplace.model.graph.types import NodeType
from support.accounts import kept, spotted

PERSON, ORGANIZATION, LOCATION, PROJECT = "Person", "organization", "location", "project"
PRODUCT, EVENT, GROUP = "product", "event", "group"


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        # "Person: always individuals"
        ("I had lunch with Sarah.", "Sarah", PERSON),
        ("John told me about it.", "John", PERSON),
        ("My manager was away.", "My manager", PERSON),
        ("Then Ezgi told me to wait.", "Ezgi", PERSON),
        ("We hired Ms. Obuya last week.", "Ms. Obuya", PERSON),
        # "use Entity for groups"
        ("The engineering team is tired.", "engineering team", GROUP),
        ("I presented to the board.", "the board", GROUP),
        ("I miss my family.", "my family", GROUP),
        ("We saw the Cedar Street Quartet live.", "Cedar Street Quartet", GROUP),
        # "Organizations: companies, institutions"
        ("I have an offer from Google.", "Google", ORGANIZATION),
        ("We pitched to Y Combinator.", "Y Combinator", ORGANIZATION),
        ("She works at Brightwell.", "Brightwell", ORGANIZATION),
        ("I study at Haifa University.", "Haifa University", ORGANIZATION),
        ("The Bank of Israel raised rates.", "Bank of Israel", ORGANIZATION),
        ("Our client is Alder & Finch.", "Alder & Finch", ORGANIZATION),
        # "Locations: cities, countries, offices"
        ("The Chicago office is cold.", "Chicago office", LOCATION),
        ("I grew up in the Bay Area.", "Bay Area", LOCATION),
        ("We moved to Tromsø in the spring.", "Tromsø", LOCATION),
        ("They live on Baker Street now.", "Baker Street", LOCATION),
        ("I flew to New York City on Monday.", "New York City", LOCATION),
        # "Projects: concrete initiatives"
        ("The Q4 launch slipped.", "Q4 launch", PROJECT),
        ("I lead the website redesign.", "website redesign", PROJECT),
        ("The Apollo project is late.", "Apollo", PROJECT),
        ("Agenda: Project Heron, hiring.", "Project Heron", PROJECT),
        # "Products: software, tools, physical products"
        ("I bought an iPhone.", "iPhone", PRODUCT),
        ("We use Slack at work.", "Slack", PRODUCT),
        ("We switched to Quillpad last month.", "Quillpad", PRODUCT),
        # "Events: meetings, conferences, milestones"
        ("I'm preparing for the YC interview.", "YC interview", EVENT),
        ("The team offsite was fun.", "team offsite", EVENT),
        ("I'm running the Harbour Half Marathon.", "Harbour Half Marathon", EVENT),
        ("We will be at Maya's wedding.", "Maya's wedding", EVENT),
    ],
)
def test_entity_recognition_assigns_the_kind_of_the_guidelines(text, name, kind):
    found = {spelling.casefold(): what for spelling, what in kept(spotted(text)).items()}
    assert found.get(name.casefold()) == kind


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("דיברתי עם יוסי אתמול", "יוסי", PERSON),
        ("דנה כהן התקשרה", "דנה כהן", PERSON),
        ('פגשתי את ד"ר לוינסון', 'ד"ר לוינסון', PERSON),
        ("אמא שלי הגיעה", "אמא שלי", PERSON),
        ("אני גר בתל אביב", "תל אביב", LOCATION),
        ("טסנו לברלין", "ברלין", LOCATION),
        ("המשרד ברחוב הרצל", "רחוב הרצל", LOCATION),
        ("היא עובדת בגוגל", "גוגל", ORGANIZATION),
        ("הוא לומד באוניברסיטת תל אביב", "אוניברסיטת תל אביב", ORGANIZATION),
        ("החשבון שלי בבנק הפועלים", "בנק הפועלים", ORGANIZATION),
        ("פרויקט נרקיס מתעכב", "פרויקט נרקיס", PROJECT),
        ("הלכנו לכנס המפתחים", "כנס המפתחים", EVENT),
        ("המשפחה שלי באה", "המשפחה שלי", GROUP),
    ],
)
def test_entity_recognition_strips_hebrew_prefixes_from_names(text, name, kind):
    assert kept(spotted(text)).get(name) == kind


@pytest.mark.parametrize(
    "text",
    ["The engineering team met the board.", "My family and my parents came.", "הצוות שלנו גדל"],
)
def test_entity_recognition_never_makes_a_group_a_person(text):
    assert all(node.type is NodeType.ENTITY for node in spotted(text).nodes[1:])


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("We're building Lanternfish, an app for tide tables.", "Lanternfish", PROJECT),
        ("Kestrel is a climbing club.", "Kestrel", GROUP),
        ("I met Orla, a nurse from Cork.", "Orla", PERSON),
        ("We use Figma and Quillpad.", "Quillpad", PRODUCT),
        ("I had dinner with Sarah, Tom and Ezgi.", "Ezgi", PERSON),
    ],
)
def test_entity_recognition_takes_the_kind_from_apposition_or_list(text, name, kind):
    """In an apposition, or by the other names of a list."""
    assert kept(spotted(text)).get(name) == kind


def test_entity_recognition_decides_the_kind_over_all_mentions():
    found = spotted("Brightwell was founded in 2010.", "I started at Brightwell.", "Brightwell!")
    assert kept(found) == {"Brightwell": "organization"}


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("I met Jordan for coffee.", "Jordan", PERSON),
        ("We flew to Jordan.", "Jordan", LOCATION),
        ("I told Paris about it.", "Paris", PERSON),
        ("She lives in Paris.", "Paris", LOCATION),
        ("I work at Target.", "Target", ORGANIZATION),
    ],
)
def test_entity_recognition_disambiguates_the_kind_by_context(text, name, kind):
    assert kept(spotted(text)) == {name: kind}


def test_entity_confidence_ranks_cued_above_known_above_guessed_names():
    cued, known, guessed = (
        spotted(text).nodes[1].confidence
        for text in ("I moved to Berlin.", "Well, Berlin again.", "Then came Vexley again.")
    )
    assert cued >= 0.9 > known >= 0.7 > guessed >= 0.4
