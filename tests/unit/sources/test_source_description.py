"""Summary, keywords, tags and purpose, in the source's own words."""

from dataclasses import replace

import pytest

from commonplace.engine.sources.describe import SUMMARY_LENGTH, describe
from commonplace.engine.sources.formats.parse import parse_source
from commonplace.model.sources.source import (
    ContentType,
    ContextType,
    ParsedSource,
    SourceTurn,
    SourceType,
)

MEETING = """Ana: Good morning everybody.
Dan: Morning!
Ana: Today we talk about the budget for the launch in May.
Dan: The marketing budget is twenty thousand, and the launch needs thirty.
Noa: Can we move money from hiring to marketing?
Ana: Yes. We move ten thousand from hiring to the marketing budget.
Dan: Great, thanks.
Noa: Then the launch in May stays as planned.
Ana: Bye!
"""

HEBREW = (
    "שלום לכולם. הטיול לרומא יוצא בחודש מאי. הטיסה לרומא עולה אלף שקלים. "
    "דנה תזמין את המלון ברומא ליד התחנה. המלון עולה יותר מהטיסה. תודה רבה!"
)


def note(text, title=None):
    return ParsedSource(
        source_type=SourceType.TEXT_IMPORT,
        content_type=ContentType.TEXT_NOTE,
        turns=(SourceTurn(text=text),),
        title=title,
    )


def test_describe_meeting_gives_keywords_tags_summary_and_context_type():
    found = describe(parse_source(MEETING))
    assert {"budget", "launch", "marketing"} <= set(found.keywords)
    assert 5 <= len(found.keywords) <= 10
    assert 3 <= len(found.tags) <= 5
    assert "budget" in found.summary
    assert found.context_type is ContextType.TEAM_MEETING


def test_describe_summary_quotes_sentences_with_their_speakers():
    summary = describe(parse_source(MEETING)).summary
    assert 0 < len(summary) <= SUMMARY_LENGTH
    assert summary == (
        "Ana: Today we talk about the budget for the launch in May. "
        "Ana: We move ten thousand from hiring to the marketing budget."
    )


def test_describe_keywords_exclude_greetings_and_participant_names():
    found = describe(parse_source(MEETING))
    assert not {"ana", "dan", "noa", "morning everybody", "bye", "thanks"} & set(found.keywords)


def test_describe_hebrew_source_in_hebrew():
    found = describe(note(HEBREW, "טיול לרומא"))
    assert any("רומא" in word for word in found.keywords)
    assert any("מלון" in word for word in found.keywords)
    assert "רומא" in found.summary
    assert not {"תודה", "שלום"} & set(found.keywords)
    assert 3 <= len(found.tags) <= 5


def test_describe_short_source_uses_the_text_as_summary():
    assert (
        describe(note("The wifi password is tulip42.")).summary == "The wifi password is tulip42."
    )


@pytest.mark.parametrize("text", ["Hi.", "…", "a " * 5000, "x" * 5000, "Go! " * 500])
def test_describe_gives_a_summary_for_texts_with_little_content(text):
    found = describe(note(text))
    assert 0 < len(found.summary) <= SUMMARY_LENGTH


def test_describe_source_without_turns_is_empty():
    empty = ParsedSource(source_type=SourceType.EMAIL, content_type=ContentType.EMAIL)
    assert describe(empty).summary == ""
    assert describe(empty).keywords == ()


def test_describe_is_deterministic():
    assert describe(parse_source(MEETING)) == describe(parse_source(MEETING))


def test_describe_tags_include_title_words_and_channel():
    message = '{"user": "U1", "ts": "1772366401.0", "text": "The venue costs 500."}'
    raw = f'{{"channel": "launch", "messages": [{message}]}}'
    assert describe(parse_source(raw, format="slack")).tags[0] == "launch"
    assert "tulips" in describe(note("They need water twice a week.", "Tulips in the garden")).tags


@pytest.mark.parametrize(
    ("title", "text", "purpose"),
    [
        ("Sprint planning", "We take six tickets.", ContextType.PLANNING),
        ("Brainstorm: names", "Tulip, rose, daisy.", ContextType.BRAINSTORMING),
        ("Phone call with the bank", "They will call back.", ContextType.PHONE_CALL),
        ("Weekly meeting", "Three things were decided.", ContextType.TEAM_MEETING),
        ("Diary", "It rained.", ContextType.PERSONAL_REFLECTION),
        (None, "I feel calmer since I run in the morning.", ContextType.PERSONAL_REFLECTION),
        ("Code review", "The tests are slow.", ContextType.WORK_SESSION),
        (None, "סיכום פגישה: החלטנו לעבור דירה.", ContextType.TEAM_MEETING),
        ("סיעור מוחות", "שמות לחברה.", ContextType.BRAINSTORMING),
        (None, "Tulips need water.", None),
    ],
)
def test_describe_context_type_follows_title_and_text_rules(title, text, purpose):
    assert describe(note(text, title)).context_type is purpose


def test_describe_context_type_of_mail_and_slack_follows_the_format():
    mail = parse_source("From: a@x.org\nSubject: Sprint planning\n\nHi", format="email")
    assert describe(mail).context_type is ContextType.EMAIL_THREAD
    slack = parse_source(
        '[{"user": "U1", "ts": "1772366401.0", "text": "planning for May"}]', format="slack"
    )
    assert describe(slack).context_type is ContextType.SLACK_DISCUSSION


def test_describe_context_type_of_a_meeting_follows_its_text():
    raw = "Ana: Let us brainstorm names.\nDan: Tulip!\nAna: Rose."
    assert (
        describe(parse_source(raw, format="transcript")).context_type is ContextType.BRAINSTORMING
    )


def test_summary_of_a_chat_leaves_out_the_replies_of_an_assistant():
    said = (("user", "Dana Levi moved to Haifa in May."), ("assistant", "Haifa is lovely in May."))
    chat = ParsedSource(
        source_type=SourceType.CHAT,
        content_type=ContentType.TEXT_NOTE,
        turns=tuple(SourceTurn(text=text, role=role) for role, text in said),
    )
    assert describe(chat).summary == "Dana Levi moved to Haifa in May."
    replies = replace(chat, turns=chat.turns[1:])
    assert describe(replies).summary == "Haifa is lovely in May."
