"""No passage, context, memory or delta of an ingested source contains its secrets, whatever its
format. The original is kept as it came."""

from __future__ import annotations

import json

import pytest

from support.settled import settled

SECRET = "Hunter2!x9"
TOLD = f"by the way my gmail password is {SECRET}"
CARD = "4532 0151 1283 0366"
IBAN = "DE89 3704 0044 0532 0130 00"

ORIGINALS = {
    "whatsapp": f"[01/03/2026, 09:30:00] Ana: Shall we meet?\n[01/03/2026, 09:31:00] Dan: {TOLD}\n",
    "transcript": (
        "Ana: Shall we meet on Tuesday at nine?\nDan: Yes, I will be there.\n"
        f"Ana: Good, {TOLD} and my card is {CARD}\nDan: Thanks, I wrote it down.\n"
    ),
    "vtt": f"WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ana>{TOLD}\n",
    "srt": f"1\n00:00:01,000 --> 00:00:04,000\nAna: {TOLD}\n",
    "slack": json.dumps([{"ts": "1772355000.000100", "user": "ana", "text": TOLD}]),
    "email": (
        f"From: Ana <ana@example.org>\nTo: dan@example.org\nSubject: {TOLD}\n"
        "Date: Sun, 01 Mar 2026 09:30:00 +0000\nMessage-ID: <1@example.org>\n\n"
        f"Hi Dan,\n\n{TOLD}. Please pay to {IBAN}.\n"
    ),
    "text": f"Notes of March.\n\n{TOLD}.\n",
    "markdown": f"# Notes: {TOLD}\n\nI wrote: {TOLD}.\n",
    "html": f"<html><head><title>Notes</title></head><body><p>{TOLD}.</p></body></html>",
    "conversation": json.dumps({"role": "user", "text": TOLD}) + "\n",
}
FORMATS = {"vtt": "transcript", "srt": "transcript"}
SECRETS = (SECRET, CARD, IBAN)


def ingested(me, name):
    return me.ingest(ORIGINALS[name], format=FORMATS.get(name, name))


@pytest.mark.parametrize("name", ORIGINALS)
def test_secret_of_a_source_is_nowhere_but_in_its_original(open_book, name):
    book = open_book(extraction="auto")
    me = book.user("ana")
    source = ingested(me, name).id
    settled(book)
    answers = (
        me.show(source),
        me.recall("gmail password").hits,
        me.query("gmail password card iban").text,
        me.context("gmail password card iban").text,
        me.list(),
        me.people(),
        me.edges(),
    )
    for secret in SECRETS:
        assert secret not in str(answers)
        assert {*me.verify_forget(secret).found_in} <= {"originals"}


@pytest.mark.parametrize("name", ORIGINALS)
def test_secret_makes_no_memory_without_its_value(open_book, name):
    book = open_book(extraction="auto")
    me = book.user("ana")
    ingested(me, name)
    settled(book)
    assert [each.content for each in me.list().memories if each.kind == "kv"] == []


@pytest.mark.parametrize("name", ORIGINALS)
def test_erased_passage_takes_its_secret_out_of_the_original(me, name):
    source = ingested(me, name).id
    hit = next(each for each in me.recall("gmail password", k=20).hits if "[secret]" in each.text)
    me.erase(hit.id, now=True)
    assert me.verify_forget(SECRET).clean or name == "markdown"  # its title says it, too
    assert me.show(source)


def test_answer_to_a_question_for_a_password_is_redacted_in_a_chat(me):
    source = me.ingest(
        "[01/03/2026, 09:30:00] Ana: what's your netflix password?\n"
        "[01/03/2026, 09:31:00] Dan: Zebra!44\n",
        format="whatsapp",
    ).id
    assert "Zebra" not in str(me.show(source))


def test_title_given_with_a_source_is_redacted(me):
    source = me.ingest("Some notes.", title=f"My gmail password is {SECRET}").id
    assert SECRET not in str(me.show(source))
    assert {*me.verify_forget(SECRET).found_in} == set()


def test_wifi_password_of_a_source_is_kept(me):
    me.ingest("The guest wifi password is tulip42. Breakfast is at eight.", title="Guests")
    assert "tulip42" in me.context("wifi password").text
