"""A month of somebody's conversations, and five questions about it: the tour in `docs/tour.md`,
of which the demo shows a part. The originals are in the folder `month`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources

import commonplace
from commonplace.book import Commonplace, User
from commonplace.ingest.ingest import Ingested

AFTERWARDS = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FOLDER = "month"


@dataclass(frozen=True, slots=True)
class Original:
    file: str
    title: str
    told_of: str  # for the reader of the tour
    date: str | None = None  # where the original does not say


ORIGINALS = (
    Original("chat-with-noa.jsonl", "Chat with Noa", "four talks between Ana and her sister"),
    Original("chat-with-the-assistant.jsonl", "Ljubljana", "Ana plans a journey with an assistant"),
    Original("letter-from-the-landlord.eml", "Your lease from May", "a letter, with a quotation"),
    Original("release-meeting.vtt", "Release", "what was said at work", "2026-02-23T10:00:00Z"),
    Original("notes-on-bread.md", "Sourdough", "a page of notes", "2026-02-22"),
)


@dataclass(frozen=True, slots=True)
class Question:
    query: str
    look: str  # what to look at in the answer


QUESTIONS = (
    Question(
        "When does Noa's pottery course begin?",
        "The course is in one turn and its date in another, which names no course. The date is "
        "found by what stands beside it, because Noa said it, because it holds a time, and because "
        "it follows a question with these words.",
    ),
    Question(
        "What did Maya decide about the release?",
        "Who was asked about, spoke. That her first words are themselves a question counts against "
        "them.",
    ),
    Question(
        "How much will the rent be?",
        "Of the letter, the signature and the quotation are gone; its title helps to find it. Two "
        "hits were asked for and there is only one good one: the second has little to show for "
        "itself, and its bars say so.",
    ),
    Question(
        "What can I not eat?",
        "Memories and passages come in one list. A memory stands alone, so it has fewer bars.",
    ),
    Question(
        "Which colour is the sofa of the neighbours?",
        "Nothing in this month is about that, and so the answer is empty.",
    ),
)
MEMORY = "I cannot eat sesame, it makes me ill"


def opened() -> Commonplace:
    """The month by its own words: what is made of such words has a tour of its own (`spring`)."""
    return commonplace.open(":memory:", clock=lambda: AFTERWARDS, extraction="on-demand")


def ingest_the_month(me: User) -> Iterator[tuple[Original, Ingested]]:
    folder = resources.files(__package__) / FOLDER
    for original in ORIGINALS:
        with resources.as_file(folder / original.file) as path:
            yield original, me.ingest(path, title=original.title, date=original.date)
