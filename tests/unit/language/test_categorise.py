"""The rules that give a text its category."""

import pytest

from commonplace.language.fields.classify import CATEGORY_RULES, categorise

EXAMPLES = {
    "goals": [
        "My goal is to run a marathon",
        "My main goal this year is to save money",
        "I want to learn Spanish by December",
        "We aim to double the revenue",
        "I'm saving up for a house",
        "Our ambition is to be the best",
        "המטרה שלי היא לרוץ מרתון",
        "אני שואפת ללמוד רפואה",
        "אני רוצה לסיים את התואר עד יוני",
        "החלום שלי הוא לטוס ליפן",
    ],
    "constraints": [
        "Always answer in English",
        "Never book flights before 9 am",
        "The rule is: no phones at dinner",
        "You should never share the password",
        "I never eat meat",
        "Shoes are not allowed inside",
        "תמיד לענות בעברית",
        "אסור לי לאכול בוטנים",
        "לעולם לא לשלוח מיילים בשבת",
    ],
    "tasks": [
        "I need to call my brother",
        "We have to renew the passport",
        "TODO: water the plants",
        "The deadline is Friday",
        "The rent is due on the first",
        "Remind me to buy milk",
        "Don’t forget to pay the bill",
        "I must finish the report",
        "The car needs to be washed",
        "אני צריך לקנות חלב",
        "חייבת לשלם חשבון חשמל",
        "להזכיר לי להתקשר לרופא",
        "הדדליין ביום שישי",
    ],
    "profile": [
        "My name is Dana",
        "I live in Haifa",
        "I'm from Argentina",
        "I was born in 1985",
        "My birthday is on May 3",
        "I work at a bank",
        "I am 34 years old",
        "My phone number is 052-1234567",
        "The user lives in Berlin",
        "קוראים לי דנה",
        "אני גר בתל אביב",
        "נולדתי בחיפה",
        "יום ההולדת שלי בשלישי במאי",
        "אני בת 34",
    ],
    "preferences": [
        "I prefer tea to coffee",
        "My favourite colour is blue",
        "Dana's favorite film is Alien",
        "I love hiking",
        "I really hate Mondays",
        "I don't like olives",
        "Dana loves jazz",
        "We can't stand the noise",
        "אני אוהב קפה",
        "דנה מעדיפה תה",
        "אני שונאת כוסברה",
        "הצבע האהוב עליי הוא כחול",
    ],
    "relationships": [
        "My wife is called Ruth",
        "My older brother plays chess",
        "My boss is on holiday",
        "I love my wife",
        "אשתי רופאה",
        "אחי גר בלונדון",
        "הבוס שלי בחופש",
        "אמא שלי מבשלת",
    ],
    "interests": [
        "I'm interested in astronomy",
        "My hobby is pottery",
        "She is passionate about chess",
        "I'm really into board games",
        "אני מתעניין באסטרונומיה",
        "התחביב שלי הוא קדרות",
    ],
    "projects": [
        "The Apollo project is late",
        "We launch in March",
        "The release date moved to June",
        "Sprint 12 starts on Sunday",
        "הפרויקט החדש מתעכב",
        "הספרינט נגמר ביום חמישי",
    ],
}

NOTHING_FITS = [
    "I would like to know the time",
    "It looks like rain",
    "He acted like a fool",
    "The flight was late due to the weather",
    "It must have been cold",
    "I have to admit it was good",
    "You don't have to come",
    "He came from work",
    "The press release was short",
    "Water boils at 100 degrees",
    "I'm not interested in sport",
    "The post got 100 likes",
    "Nobody was there",
    "Always happy to help",
    "Never saw this coming",
    "They remind me of that day",
    "It was a nice reminder of summer",
    "Being my own boss is great",
    "",
    "ירד גשם כל היום",
    "הרכבת איחרה",
    "אחיזה טובה",
]


@pytest.mark.parametrize(
    ("category", "text"),
    [(category, text) for category, texts in EXAMPLES.items() for text in texts],
)
def test_categorise_returns_the_expected_category(category: str, text: str) -> None:
    assert categorise(text) == category


@pytest.mark.parametrize("text", NOTHING_FITS)
def test_categorise_returns_none_without_a_matching_rule(text: str) -> None:
    assert categorise(text) is None


def test_category_rules_all_have_examples() -> None:
    assert {rule.category for rule in CATEGORY_RULES} == set(EXAMPLES)
