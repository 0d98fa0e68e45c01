"""What a sentence tells of how two relate: the table of patterns, by examples."""

from __future__ import annotations

import pytest

from commonplace.language.extract.values import AttributedPassage
from tests.support.reading_relations import edge, read, told
from tests.support.spotting import AT

TOLD = {
    # family
    "My sister Noa called.": {"I sibling Noa"},
    "Noa, my older sister, is a nurse.": {"I sibling Noa"},
    "Dan is my brother.": {"I sibling Dan"},
    "I have a brother named Dan.": {"I sibling Dan"},
    "Will my sister Noa come?": {"I sibling Noa"},
    "My mother Ana is seventy.": {"I child Ana"},
    "My daughter Noa is five.": {"Noa child I"},
    "Dan's wife Ana is a nurse.": {"Dan spouse Ana"},
    "Dan is married to Ana.": {"Dan spouse Ana"},
    "Dan and Ana got married.": {"Dan spouse Ana"},
    "Dan and Ana broke up.": {"Dan partner Ana (over)"},
    "Dan and Ana are getting married.": {"Dan partner Ana"},
    "Ana, Noa's cousin, is here.": {"Noa cousin Ana"},
    "Ana was my aunt.": {"I relative Ana"},
    "My landlord is Dan.": {"I landlord Dan"},
    "The landlord is Dan.": {"I landlord Dan"},
    "My dentist Dana is expensive.": {"I dentist Dana"},
    # friends, colleagues
    "Dana is my best friend.": {"I friend Dana"},
    "Dana is a friend of mine.": {"I friend Dana"},
    "I'm friends with Dana.": {"I friend Dana"},
    "My friends Dana and Noa called.": {"I friend Dana", "I friend Noa"},
    "Dana is my manager.": {"I reports-to Dana"},
    "My boss is Dana.": {"I reports-to Dana"},
    "Dana is no longer my manager.": {"I reports-to Dana (over)"},
    "Dana reports to Ben.": {"Dana reports-to Ben"},
    "Ben manages Dana.": {"Dana reports-to Ben"},
    "Dana and I work together at Acme.": {
        "Dana colleague I",
        "Dana works-at Acme",
        "I works-at Acme",
    },
    # organisations
    "I accepted the Acme job offer.": {"I works-at Acme"},
    "I declined the Acme job offer.": {"I declined-offer Acme"},
    "I turned down an offer from Acme.": {"I declined-offer Acme"},
    "I took Acme's offer.": {"I works-at Acme"},
    "I got the Acme job!": {"I works-at Acme"},
    "I work at Acme as a designer.": {"I works-at Acme"},
    "I joined Acme last week.": {"I works-at Acme"},
    "I left Acme in March.": {"I works-at Acme (over)"},
    "I used to work at Acme.": {"I works-at Acme (over)"},
    "Ben is the CEO of Globex.": {"Ben works-at Globex"},
    "Dana, who works at Acme, moved to Berlin.": {"Dana works-at Acme", "Dana lives-in Berlin"},
    "Dana joined in May; she used to work at Globex.": {"Dana works-at Globex (over)"},
    "Joined Acme last week.": {"I works-at Acme"},
    "I left Acme in May, and joined Globex.": {"I works-at Acme (over)", "I works-at Globex"},
    "Our client is Globex. My contact there is Dana.": {
        "I client Globex",
        "I contact Dana",
        "Dana works-at Globex",
    },
    "Dana is at Stanford University.": {"Dana studies-at Stanford University"},
    "Ben founded Globex in 2015.": {"Ben founded Globex"},
    "Acme acquired Globex last year.": {"Acme acquired Globex"},
    # places, tools, projects
    "Noa lives in Berlin.": {"Noa lives-in Berlin"},
    "Noa moved to Berlin.": {"Noa lives-in Berlin"},
    "Noa used to live in Berlin.": {"Noa lives-in Berlin (over)"},
    "Noa is moving to Berlin.": {"Noa moving-to Berlin"},
    "I signed the lease on the flat in Berlin yesterday.": {"I lives-in Berlin"},
    "I was born in Haifa.": {"I born-in Haifa"},
    "Dana flew to Chicago last week.": {"Dana visits Chicago"},
    "We use Slack.": {"I uses Slack"},
    "I can't stand Jira.": {"I dislikes Jira"},
    "I switched from Jira to Notion.": {"I uses Notion", "I uses Jira (over)"},
    "Dana leads Apollo.": {"Dana leads Apollo"},
    "The launch is part of Q4.": {"the launch part-of Q4"},
    # Hebrew
    "אחותי נועה גרה בחיפה.": {"I sibling נועה", "נועה lives-in חיפה"},
    "אני עובד באקמי.": {"I works-at אקמי"},
    "עבדתי באקמי.": {"I works-at אקמי (over)"},
    "המנהלת שלי דנה.": {"I reports-to דנה"},
    "דן נשוי לנועה.": {"דן spouse נועה"},
}


@pytest.mark.parametrize(("said", "wanted"), TOLD.items())
def test_relation_patterns_extract_the_expected_edges(said: str, wanted: set[str]) -> None:
    assert told(said) == wanted


NOT_TOLD = [
    "I don't work at Acme.",
    "Dana isn't my sister.",
    "Do I work at Acme?",
    "If I worked at Acme, I'd be happy.",
    "I might join Acme.",
    "Dana wants to work at Acme.",
    "Dana will move to Berlin, maybe.",
    "I wish I lived in Berlin.",
    "It is not true that Dana works at Acme.",
    "I thought Dana worked at Acme.",
    'The book says "Dan works at Acme".',
    "I work at Acme, not!",
    "אני לא עובד באקמי.",
    "אולי דן גר בחיפה.",
]


@pytest.mark.parametrize("said", NOT_TOLD)
def test_relation_patterns_ignore_negation_question_wish_and_quotation(said: str) -> None:
    assert told(said) == set()


# ——— who is meant ———


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Noa called. She works at Acme.", {"Noa works-at Acme"}),
        ("Noa called. Her brother Dan is ill.", {"Noa sibling Dan"}),
        ("My sister Noa met Dan. She lives in Berlin.", {"I sibling Noa", "Noa lives-in Berlin"}),
        ("Noa called. It rains. She works at Acme.", {"Noa works-at Acme"}),
        ("נועה התקשרה. היא עובדת באקמי.", {"נועה works-at אקמי"}),
    ],
)
def test_relation_pronoun_resolves_to_its_antecedent(said: str, wanted: set[str]) -> None:
    assert wanted <= told(said)


def test_relation_with_an_ambiguous_pronoun_is_not_extracted() -> None:
    assert told("Dana and Noa called. She works at Acme.") == set()


def test_relation_by_pronoun_has_lower_confidence_than_by_name() -> None:
    assert edge("Noa called. She works at Acme.").confidence < edge("Noa works at Acme.").confidence


def test_relation_first_person_resolves_to_the_speaker() -> None:
    said = AttributedPassage(number=0, text="I work at Acme.", at=AT, speaker="Dana")
    assert told(said) == {"Dana works-at Acme"}


def test_relation_first_person_without_a_speaker_is_not_extracted() -> None:
    said = AttributedPassage(number=0, text="I work at Acme. Dana works at Globex.", at=AT)
    assert told(said) == {"Dana works-at Globex"}


def test_relation_located_in_comes_from_documents_only() -> None:
    said = "Noa moved to Haifa, Berlin."
    assert told(said) == {"Noa lives-in Haifa"}
    assert "Haifa located-in Berlin" in told(AttributedPassage(number=0, text=said, at=AT))


def test_relation_from_hearsay_has_lower_confidence() -> None:
    heard = edge("Dana said that Ben works at Acme.")
    assert 0.7 <= heard.confidence < edge("Ben works at Acme.").confidence


# ——— how close, how friendly ———


@pytest.mark.parametrize(
    ("said", "attitude", "proximity"),
    [
        ("Dana is my best friend.", 5, 5),
        ("Dana is a friend of mine.", 4, 4),
        ("I adore Dan.", 5, None),
        ("I can't stand Dan.", 1, None),
        ("I fell out with Dan.", 2, None),
        ("My sister Noa called.", None, 4),
        ("My manager is Dana. Dana is great.", 4, 3),
        ("My manager is Dana. She is awful.", 1, 3),
        ("My manager is Dana. I adore her.", 5, 3),
        ("המנהלת שלי היא דנה, והיא אישה מקסימה.", 5, 3),
    ],
)
def test_relation_attitude_and_proximity_follow_the_wording(
    said: str, attitude: int | None, proximity: int | None
) -> None:
    found = edge(said)
    assert (found.attitude, found.proximity) == (attitude, proximity)


def test_relation_of_feeling_is_an_edge_only_without_another_relation() -> None:
    assert told("I miss Dana.") == {"I misses Dana"}
    assert told("My friend Dana moved away. I miss Dana.") == {"I friend Dana"}


# ——— what it says ———


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("I work at Acme as a designer.", "The user works at Acme as a designer."),
        ("Dana and I work together at Acme.", "Dana and the user work together at Acme."),
        ("I fell out with Dan yesterday.", "The user fell out with Dan on 2026-03-17."),
        ("Noa called. She works at Acme.", "Noa works at Acme."),
    ],
)
def test_edge_description_is_in_the_third_person(said: str, wanted: str) -> None:
    assert read(said).edges[0].description == wanted


def test_edge_description_is_limited_to_280_characters() -> None:
    said = "I work at Acme " + "and there is a lot to be said for it " * 12
    assert len(edge(said).description) <= 280


def test_edge_types_are_single_lowercase_words() -> None:
    types = {each.type for said in TOLD for each in read(said).edges}
    assert all(type == type.lower() and " " not in type for type in types)
