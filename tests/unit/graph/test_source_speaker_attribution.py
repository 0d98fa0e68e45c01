"""Who speaks where nobody is named: whoever brought it, unless somebody else speaks in it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from commonplace.engine.graph.extraction.extraction_input import build_extraction_input
from commonplace.language.extract.people.participants import has_other_speaker, has_several_speakers
from commonplace.language.extract.values import OwnerIdentity
from commonplace.model.sources.source import ContentType, Passage, Source, SourceType

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ANA = OwnerIdentity(name="Ana", names=frozenset({"Ana", "ana"}))


CHAT = "Ravi: I love Python.\nand\nso\non\nAna: ok.\nRavi: My wife Lena works at Bosch."


@pytest.mark.parametrize(
    "text",
    [
        CHAT,
        "Ravi Rao: I love Python.\nso long\nAna: ok.\nRavi Rao: My wife is Lena.",
        "10:01 Ravi: I love Python.\n10:02 Ana: ok.\n10:03 Ravi: My wife is Lena.",
        "> **Ravi**: I love it.\n> **Ana**: ok.\n> **Ravi**: My wife is Lena.",
        "רועי: אני אוהב פייתון.\nנועה: יופי.\nרועי: אשתי לנה.",
    ],
)
def test_has_several_speakers_detects_alternating_speaker_labels(text):
    assert has_several_speakers([text])
    assert has_several_speakers(text.split("\n"))


@pytest.mark.parametrize(
    "text",
    [
        "My wife Lena works at Bosch.",
        "Dan: 5 pm pickup.\nNoa: dentist.\nMy wife is Lena.",
        "Dan: call him.\nDan: send the contract.",
        "Milk: 2\nBread: 1\nMilk: again",
        "To do: this.\nNote: that.\nTo do: I said so.",
    ],
)
def test_has_several_speakers_ignores_labelled_notes_of_one_author(text):
    assert not has_several_speakers([text])


@pytest.mark.parametrize(
    "text",
    [
        "Dana: I live in Tel Aviv. My husband Yossi works at Intel.\nAna: Yes.",
        "Dana: I live in Tel Aviv.",
        "Dana: I live in Tel Aviv.\nAna: I love it.\nOmer: My wife is Tamar.",
        "- Dana: I live in Tel Aviv.\n- Omer: My wife is Tamar.",
        "1. Dana Levi: my wife is Tamar.",
        "Zeynal: I live in Baku.\nAna: Yes.",
        "Zeynal Aliyev: I live in Baku.",
        "Dana  10:03 AM\nI live in Tel Aviv.\nAna  10:04 AM\nYes.",
        "Dana Levi [10:03]\nI live in Tel Aviv.",
        "Letter from Dana:\n\nI live in Tel Aviv now.",
        "Dana wrote to me:\nI live in Tel Aviv now.",
        "Dear Ana,\nI live in Tel Aviv now.",
        "I live in Tel Aviv now.\nLove, Dana",
        "I live in Tel Aviv now.\n\nBest wishes,\nDana Levi\n",
        "דנה: אני גרה בתל אביב. בעלי יוסי עובד באינטל.\nאנה: כן.",
        "דנה: נולדתי בחיפה.",
        "Interviewer: where do you live?\nGuest: I live in Haifa.",
        "Speaker 1: I live in Haifa.\nSpeaker 2: Ok.",
    ],
)
def test_has_other_speaker_detects_speaker_labels_letters_and_signatures(text):
    assert has_other_speaker([text], ANA.names)


@pytest.mark.parametrize(
    "text",
    [
        "Ana: I live in Tel Aviv.",
        "Ana Stein: I live in Tel Aviv.",
        "Monday: I met Dana Levi.\nTuesday: my brother Noam comes.",
        "Note: I live in Tel Aviv.\nTODO: call my sister.\nAddress: I moved to Haifa.",
        "May: I moved to Berlin.\nMood: I am happy.\nUpdate: I work at Intel now.",
        "Dana: call her about the lease.\nI have to pay it.",
        "My wife Dana: 40 next week. I have to buy a present.",
        "Dear Dana,\nI live in Tel Aviv now.\nLove, Ana",
        "I met Dana at 10:03\nMy wife was late.",
        "הערה: אני גרה בתל אביב.",
    ],
)
def test_has_other_speaker_ignores_note_labels_and_own_letters(text):
    assert not has_other_speaker([text], ANA.names)


def said_by_the_owner(source_type, *passages):
    source = Source(
        id="source:1",
        user_id="ana",
        source_type=source_type,
        content_type=next(iter(ContentType)),
        origin="test",
        external_id="1",
        created_at=NOW,
        updated_at=NOW,
    )
    said = build_extraction_input(source, passages, ANA, "ana").passages
    return [each.by_owner for each in said]


def passage(number, text, **more):
    return Passage(source_id="source:1", number=number, turn=number, text=text, at=NOW, **more)


@pytest.mark.parametrize(("text", "by_owner"), [(CHAT, False), ("My wife is Lena.", True)])
def test_extraction_input_attributes_a_pasted_chat_not_to_the_owner(text, by_owner):
    assert said_by_the_owner(SourceType.TEXT_IMPORT, passage(1, text)) == [by_owner]


def test_extraction_input_attributes_each_chat_turn_separately():
    turns = [passage(1, CHAT, role="user"), passage(2, "My wife is Lena.", role="user")]
    assert said_by_the_owner(SourceType.CHAT, *turns) == [False, True]
