"""Questions for a story: of everything, or of one thing."""

import pytest

from commonplace.language.query.story_questions import parse_story_question


@pytest.mark.parametrize(
    "text",
    [
        "What's happening lately?",
        "what is new",
        "So, what's going on in my life these days?",
        "What have I been up to in the last few weeks?",
        "what has been on my mind recently?",
        "catch me up",
        "מה קורה לאחרונה?",
        "מה חדש אצלי?",
        "במה אני עסוק בזמן האחרון?",
    ],
)
def test_story_question_about_everything(text):
    found = parse_story_question(text)
    assert found is not None
    assert found.is_of_all


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("How is the Google job going?", "the google job"),
        ("how's the kitchen coming along?", "the kitchen"),
        ("What's the latest on Dana?", "dana"),
        ("any updates on the thesis", "the thesis"),
        ("where do things stand with the bank loan?", "the bank loan"),
        ("איך הולך עם השיפוץ?", "השיפוץ"),
        ("מה קורה עם גוגל?", "גוגל"),
    ],
)
def test_story_question_about_one_thing(text, subject):
    found = parse_story_question(text)
    assert found is not None
    assert found.subject == subject


@pytest.mark.parametrize(
    "text",
    [
        "where does Dana work?",
        "what did I say about compensation?",
        "what happened on Tuesday?",
        "how is Dana related to me?",
        "what's my name?",
        "איפה דנה עובדת?",
        "",
    ],
)
def test_question_for_a_fact_is_no_story_question(text):
    assert parse_story_question(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "any updates?",
        "is there any news?",
        "What's the latest?",
        "what's going on with my life?",
        "יש חדש?",
        "מה החדשות?",
        "מה קורה עם החיים שלי?",
    ],
)
def test_story_question_for_news_is_about_everything(text):
    found = parse_story_question(text)
    assert found is not None
    assert found.is_of_all


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("How are things with Dana?", "dana"),
        ("any news on the loan?", "the loan"),
        ("what's the latest on Google?", "google"),
        ("How is work?", "work"),
        ("how is work going?", "work"),
        ("What's going on at Google?", "google"),
        ("איך העניינים עם דנה?", "דנה"),
        ("איך העבודה?", "העבודה"),
        ("מה קורה בגוגל?", "גוגל"),
        ("יש עדכונים על גוגל?", "גוגל"),
    ],
)
def test_story_question_for_news_of_one_thing(text, subject):
    found = parse_story_question(text)
    assert found is not None
    assert (found.subject, found.is_history) == (subject, False)


@pytest.mark.parametrize(
    "text", ["What's the story of Google?", "tell me the history of Google", "מה הסיפור של Google?"]
)
def test_story_question_for_how_something_came_about(text):
    found = parse_story_question(text)
    assert found is not None
    assert (found.subject, found.is_history) == ("google", True)


@pytest.mark.parametrize(
    "text",
    [
        "how is it going?",
        "How are you doing?",
        "how's she doing?",
        "איך הולך לי?",
        "איך אתה מתקדם?",
    ],
)
def test_pronoun_is_no_subject_of_a_story_question(text):
    assert parse_story_question(text) is None
