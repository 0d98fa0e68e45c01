"""Notes that say of which day they are, in their first line or in the name of their file."""

from datetime import UTC, datetime

import pytest

from commonplace.engine.sources.receive import document_date

NOW = datetime(2026, 7, 1, tzinfo=UTC)


def day(text, name=None):
    found = document_date(text, name, NOW)
    return found.date().isoformat() if found else None


@pytest.mark.parametrize(
    "head",
    [
        "Sunday, 1 March 2026",
        "Sunday 1 March 2026",
        "1 March 2026",
        "March 1, 2026",
        "March 1st, 2026",
        "1 Mar 2026",
        "2026-03-01",
        "1.3.2026",
        "# 2026-03-01",
        "## Sunday, 1 March 2026 ##",
        "**2026-03-01**",
        "Date: 1 March 2026",
        "Orion weekly, 1 March 2026",
        "# Orion weekly – March 1, 2026",
        "Orion weekly - 2026-03-01",
        "Orion weekly (2026-03-01)",
        "2026-03-01 | Orion weekly",
        "Haifa, Sunday, 1 March 2026",
        "יום ראשון, 1 במרץ 2026",
        "ישיבת צוות, 1 במרץ 2026",
    ],
)
def test_document_date_reads_a_date_in_the_first_line(head):
    assert day(f"\n{head}\n\nI slept badly.") == "2026-03-01"


@pytest.mark.parametrize(
    "text",
    [
        "I slept badly.\n1 March 2026\nAnd again.",
        "We met on 1 March 2026\nand talked.",
        "The lease ends, as we agreed, on 1 March 2026\nand not before.",
        "Plans for 1 March 2026\n\nBuy flowers.",
        "She left, 1 March 2026.\nI stayed.",
        "Born: 1 March 1985\nLives in Haifa.",
        "Dana: We moved, 1 March 2026\nAna: Oh.",
        "Dinner with Omer, 1 March 2026",
        "1 March\n\nI slept badly.",
        "March 2026\n\nI slept badly.",
        "31 June 2026\n\nI slept badly.",
        "Wedding of Noa, 14 August 2026\n\nBring flowers.",
    ],
)
def test_document_date_ignores_other_dates(text):
    assert day(text) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2026-03-01.md", "2026-03-01"),
        ("/home/ana/diary/2026-03-01.txt", "2026-03-01"),
        ("C:\\diary\\2026-03-01_standup.md", "2026-03-01"),
        ("2026-03-01/notes.md", None),
        ("notes-2026-03-01.md", None),
        ("2026-03.md", None),
        ("2026-13-01.md", None),
        ("2026-08-01.md", None),
    ],
)
def test_document_date_reads_the_file_name(name, expected):
    assert day("I slept badly.", name) == expected


def test_document_date_prefers_the_first_line_over_the_file_name():
    assert day("1 March 2026\n\nI slept badly.", "2026-03-04.md") == "2026-03-01"
