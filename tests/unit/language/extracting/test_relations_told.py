"""What a sentence tells of how two relate: the table of patterns, by examples."""

from __future__ import annotations

import pytest
from tests.support.spotting import OWNER, account, spotted

from commonplace.language.extracting.found import Extracted, FoundEdge
from commonplace.language.extracting.told import told_of


def read(*said: str) -> Extracted:
    source = account(*said)
    return told_of(source, spotted(source))


def as_words(found: Extracted, edge: FoundEdge) -> str:
    names = [found.nodes[end].name.replace(OWNER.name, "I") for end in (edge.a, edge.b)]
    return f"{names[0]} {edge.type} {names[1]}" + (" (over)" if edge.ends else "")


def told(*said: str) -> set[str]:
    found = read(*said)
    return {as_words(found, edge) for edge in found.edges}


TOLD = {
    # family
    "My sister Noa called.": {"I sibling Noa"},
    "Noa, my older sister, is a nurse.": {"I sibling Noa"},
    "Dan is my brother.": {"I sibling Dan"},
    "I have a brother named Dan.": {"I sibling Dan"},
    "Will my sister Noa come?": {"I sibling Noa"},
    "My mother Ana is seventy.": {"I child-of Ana"},
    "My daughter Noa is five.": {"Noa child-of I"},
    "Dan's wife Ana is a nurse.": {"Dan spouse Ana"},
    "Dan is married to Ana.": {"Dan spouse Ana"},
    "Dan and Ana got married.": {"Dan spouse Ana"},
    "Dan and Ana broke up.": {"Dan partner Ana (over)"},
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
    "I work at Acme as a designer.": {"I works-at Acme"},
    "I joined Acme last week.": {"I works-at Acme"},
    "I left Acme in March.": {"I works-at Acme (over)"},
    "I used to work at Acme.": {"I works-at Acme (over)"},
    "Ben is the CEO of Globex.": {"Ben works-at Globex"},
    "Dana, who works at Acme, moved to Berlin.": {"Dana works-at Acme", "Dana lives-in Berlin"},
    "Ben founded Globex in 2015.": {"Ben founded Globex"},
    "Acme acquired Globex last year.": {"Acme acquired Globex"},
    # places, tools, projects
    "Noa lives in Berlin.": {"Noa lives-in Berlin"},
    "Noa moved to Berlin.": {"Noa lives-in Berlin"},
    "Noa used to live in Berlin.": {"Noa lives-in Berlin (over)"},
    "We use Slack.": {"I uses Slack"},
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
def test_a_sentence_tells_a_relation(said: str, wanted: set[str]) -> None:
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
def test_what_is_denied_asked_wished_or_quoted_is_no_relation(said: str) -> None:
    assert told(said) == set()
