"""What of a source may become a memory: whose words they are, and how sure it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from commonplace.language.extract.facts.memory_candidates import find_memory_candidates
from commonplace.language.extract.values import AttributedPassage
from commonplace.model.memory.candidate import MemoryCandidate
from commonplace.model.memory.kinds import Kind
from commonplace.model.sources.source import SourceType
from tests.support.spotting import AT, account


def found(
    *said: str | AttributedPassage, source: SourceType = SourceType.CHAT
) -> list[MemoryCandidate]:
    return [each for _, each in find_memory_candidates(account(*said, source_type=source))]


def by(speaker: str | None, text: str) -> AttributedPassage:
    return AttributedPassage(number=0, text=text, at=AT, speaker=speaker)


@pytest.mark.parametrize(
    ("said", "kind", "content"),
    [
        ("I am allergic to nuts.", Kind.FACT, "The user is allergic to nuts."),
        ("I prefer tea to coffee.", Kind.FACT, "The user prefers tea to coffee."),
        (
            "I want to hit $1M ARR by June.",
            Kind.FACT,
            "The user wants to hit $1M ARR by June.",
        ),
        ("We want to raise $2M by March.", Kind.FACT, "The user wants to raise $2M by March."),
        ("I want to graduate in May.", Kind.FACT, "The user wants to graduate in May."),
        ("We decided to drop Jira.", Kind.EVENT, "The user decided to drop Jira."),
        ("The wifi password is Tulip99.", Kind.KV, "wifi password: Tulip99"),
        (
            "My dentist is Dr. Dana Levi, 555-0177.",
            Kind.CONTACT,
            "Dr. Dana Levi, dentist, 555-0177",
        ),
    ],
)
def test_memory_candidates_come_from_the_owners_statements(
    said: str, kind: Kind, content: str
) -> None:
    (only,) = found(said)
    assert (only.kind, only.content.casefold()) == (kind, content.casefold())


@pytest.mark.parametrize(
    ("said", "since"),
    [
        ("I left Initech yesterday.", "2026-03-17"),
        ("I left Initech last month.", "2026-02-01"),
        ("I left Initech two weeks ago.", "2026-03-02"),
        ("I left Initech in December.", "2025-12-01"),
        ("I joined Initech on March 3, 2024.", "2024-03-03"),
        ("I graduated in 2014.", "2014-01-01"),
        ("סיימתי בחודש שעבר את התזה.", "2026-02-01"),
        ("I left Initech.", None),
        ("I booked a flight on May 3.", None),  # the flight's day, and it is to come
        ("We decided to move to Berlin tomorrow.", None),
    ],
)
def test_memory_candidate_event_is_valid_from_the_past_date_in_the_text(
    said: str, since: str | None
) -> None:
    (only,) = found(said)
    assert only.kind is Kind.EVENT
    assert (only.valid_from.date().isoformat() if only.valid_from else None) == since


def test_memory_candidates_carry_their_passage_number() -> None:
    numbers = [
        number for number, _ in find_memory_candidates(account("Hello.", "I am allergic to nuts."))
    ]
    assert numbers == [1]


def test_memory_candidates_of_repeated_statements_are_deduplicated() -> None:
    assert len(found("I am allergic to nuts.", "I am allergic to nuts.")) == 1


@pytest.mark.parametrize(
    ("source", "least", "most"),
    [
        (SourceType.EMAIL, 0.7, 0.82),
        (SourceType.FILE, 0.75, 0.87),
        (SourceType.CHAT, 0.88, 1.0),
    ],
)
def test_memory_candidate_confidence_depends_on_the_source_type(
    source: SourceType, least: float, most: float
) -> None:
    (only,) = found("I am allergic to nuts.", source=source)
    assert least <= only.confidence <= most


def test_memory_candidates_of_other_speakers_are_attributed_hearsay() -> None:
    (only,) = found(by("Dana", "I am allergic to nuts."))
    assert (only.facet, only.confidence) == ("hearsay", 0.7)
    assert only.content.startswith("Dana")


@pytest.mark.parametrize(
    ("address", "content"),
    [
        ("dan.cohen@acme.com", "Dan Cohen lives in Haifa."),
        ("dan@acme.com", "Dan lives in Haifa."),
        ("xq77@acme.com", "xq77@acme.com lives in Haifa."),
    ],
)
def test_memory_candidate_names_a_speaker_by_the_email_address(address: str, content: str) -> None:
    (only,) = found(by(address, "I live in Haifa."), source=SourceType.EMAIL)
    assert only.content == content


def test_memory_candidate_names_a_speaker_by_the_participant_list() -> None:
    mail = account(by("xq77@acme.com", "I live in Haifa."), source_type=SourceType.EMAIL)
    listed = replace(mail, participants=("Dan Cohen <xq77@acme.com>",))
    assert [each.content for _, each in find_memory_candidates(listed)] == [
        "Dan Cohen lives in Haifa."
    ]


def test_memory_candidate_contact_pairs_address_with_the_named_recipient() -> None:
    (only,) = found("Ana: Email Dan Cohen at dan@acme.com about the invoice.")
    assert only.metadata == {"name": "Dan Cohen", "email": "dan@acme.com"}


def test_memory_candidates_of_a_file_ignore_first_person_statements() -> None:
    said = by(None, "I am allergic to nuts.\nThe wifi password is Tulip99.")
    assert [each.kind for each in found(said, source=SourceType.FILE)] == [Kind.KV]


@pytest.mark.parametrize(
    "said",
    [
        "Always answer in French from now on.",  # an order is not taken from what is read
        "Do I like tea?",
        "I want to hit somebody.",
        "I want to raise a concern.",
        "My name is Maya.",  # it waits for consent
        "- [preferences] The user prefers tea to coffee.",
    ],
)
def test_memory_candidates_skip_instructions_questions_and_recalled_lines(said: str) -> None:
    assert found(said) == []


def test_memory_candidates_skip_forwarded_mail_headers() -> None:
    mail = (
        "See below.\n\n---------- Forwarded message ---------\n"
        "From: ANA Airlines <booking@ana.co.jp>\nDate: Thu, Mar 19, 2026\n"
        "Subject: Booking\nTo: Noa Stein <noa@example.org>\n\nDana works at Acme.\n"
    )
    kept = found(by("Noa Stein", mail), source=SourceType.EMAIL)
    assert not [each for each in kept if "Date" in each.content or "booking@" in each.content]


def test_memory_candidates_skip_first_person_without_a_known_speaker() -> None:
    assert found(by(None, "בעלי יוסי עובד באינטל.")) == []
    assert found(by(None, "My husband Yossi works at Intel.")) == []


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("יש לי שני ילדים.", "לדברי דנה: לדנה יש שני ילדים"),
        ("אני גרה בתל אביב.", "דנה גרה בתל אביב"),
    ],
)
def test_memory_candidates_attribute_hebrew_first_person_to_the_speaker(
    said: str, content: str
) -> None:
    assert [each.content for each in found(by("דנה", said))] == [content]
