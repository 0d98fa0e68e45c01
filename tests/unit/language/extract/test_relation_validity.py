"""When a relation began and ended, by the date of the passage that tells it (2026-03-18)."""

from __future__ import annotations

import pytest

from tests.support.reading_relations import edge, told


@pytest.mark.parametrize(
    ("said", "since"),
    [
        ("I joined Acme yesterday.", "2026-03-17"),
        ("I joined Acme last week.", "2026-03-09"),
        ("I joined Acme in January.", "2026-01-01"),
        ("I joined Acme in December.", "2025-12-01"),
        ("I joined Acme on February 2.", "2026-02-02"),
        ("I joined Acme on February 2, 2024.", "2024-02-02"),
        ("I joined Acme two years ago.", "2024-01-01"),
        ("I've worked at Acme since 2019.", "2019-01-01"),
        ("I have lived in Berlin for three years.", "2023-03-18"),
        ("Noa moved to Berlin last month.", "2026-02-01"),
        ("הצטרפתי לאקמי אתמול.", "2026-03-17"),
        ("הצטרפתי לאקמי בשבוע שעבר.", "2026-03-09"),
        ("הצטרפתי לאקמי לפני שבועיים.", "2026-03-02"),
        ("הצטרפתי לאקמי לפני שלושה שבועות.", "2026-02-23"),
        ("הצטרפתי לאקמי לפני 5 ימים.", "2026-03-13"),
        ("הצטרפתי לאקמי בשנה שעברה.", "2025-01-01"),
        ("הצטרפתי לאקמי ביום ראשון, 8 במרץ.", "2026-03-08"),
    ],
)
def test_relation_validity_starts_on_the_stated_date(said: str, since: str) -> None:
    began = edge(said).valid_from
    assert began is not None
    assert began.date().isoformat() == since


@pytest.mark.parametrize(
    "day",
    [
        "on 14 February 2026",
        "on 14 February",
        "on the 14th of February",
        "on the 14th of February, 2026",
        "on 14th February 2026",
        "on 14 Feb 2026",
        "on Feb. 14",
        "on February 14, 2026",
        "on February 14th",
        "on Saturday, 14 February 2026",
        "on Saturday, February 14",
        "on Saturday the 14th of February",
        "on 2026-02-14",
        "on 14.2.2026",
        "on 14/02/2026",
        "on 02/14/2026",
    ],
)
def test_relation_validity_reads_english_date_formats(day: str) -> None:
    for said in (f"I joined Acme {day}.", f"{day.capitalize()} I moved to Berlin."):
        began = edge(said).valid_from
        assert began is not None
        assert began.date().isoformat() == "2026-02-14"
    left = edge(f"I left Acme {day}.")
    assert left.ends
    assert left.valid_from == began


@pytest.mark.parametrize(
    "day",
    ["ב-14 בפברואר", "ב14 בפברואר 2026", "ב-14 לפברואר", "ב-14.2.2026", "ביום שבת, 14 בפברואר"],
)
def test_relation_validity_reads_hebrew_date_formats(day: str) -> None:
    began = edge(f"הצטרפתי לאקמי {day}.").valid_from
    assert began is not None
    assert began.date().isoformat() == "2026-02-14"


@pytest.mark.parametrize(
    ("said", "since"),
    [
        ("I've worked at Acme since 14 February 2025.", "2025-02-14"),
        ("I've worked at Acme since the 3rd of May.", "2025-05-03"),
        ("I've worked at Acme since Dec 2024.", "2024-12-01"),
        ("I've worked at Acme since early May.", "2025-05-01"),
        ("אני עובדת באקמי מאז 14 בפברואר 2025.", "2025-02-14"),
        ("אני עובדת באקמי מה-3 במאי.", "2025-05-03"),
        ("I joined Acme a fortnight ago.", "2026-03-02"),
        ("I joined Acme the week before last.", "2026-03-02"),
        ("Noa moved to Berlin the month before last.", "2026-01-01"),
        ("Noa married Dan Levi on 14 February 2026.", "2026-02-14"),
    ],
)
def test_relation_validity_reads_since_clauses_and_relative_weeks(said: str, since: str) -> None:
    began = edge(said).valid_from
    assert began is not None
    assert began.date().isoformat() == since


def test_relation_validity_reads_a_period_between_two_dates() -> None:
    found = edge("I worked at Acme from 3 March 2020 to 5 May 2022.")
    assert found.valid_from is not None
    assert found.valid_to is not None
    ends = (found.valid_from.date().isoformat(), found.valid_to.date().isoformat())
    assert ends == ("2020-03-03", "2022-05-05")


def test_relation_validity_ignores_an_ambiguous_numeric_date() -> None:
    assert edge("I joined Acme on 02/03/2026.").valid_from is None


def test_relation_validity_ignores_month_prefixes_in_place_names() -> None:
    assert edge("Noa moved to Berlin, in Maybach Street.").valid_from is None


@pytest.mark.parametrize("said", ["I work at Acme.", "I work at Acme on Mondays in May."])
def test_relation_validity_has_no_start_without_a_date(said: str) -> None:
    assert edge(said).valid_from is None


def test_relation_validity_reads_a_past_period_between_two_years() -> None:
    found = edge("I worked at Acme from 2015 to 2019.")
    assert found.valid_from is not None
    assert found.valid_to is not None
    assert (found.valid_from.year, found.valid_to.year, found.ends) == (2015, 2019, False)


@pytest.mark.parametrize(
    ("said", "until"),
    [
        ("I left Acme on Friday.", "2026-03-13"),
        ("I left Acme in January.", "2026-01-01"),
        ("I used to work at Acme.", None),
        ("I worked at Acme until 2020.", "2020-01-01"),
        ("Dana is no longer my manager.", None),
        ("I made up with Dana yesterday.", "2026-03-17"),
        ("Dana and I made up on Friday.", "2026-03-13"),
    ],
)
def test_relation_end_is_dated_by_the_stated_day(said: str, until: str | None) -> None:
    found = edge(said)
    assert found.ends
    assert (found.valid_from.date().isoformat() if found.valid_from else None) == until


def test_relation_end_ignores_made_up_a_story() -> None:
    assert not told("Dana and Noa made up a story.")


def test_relation_validity_ignores_future_dates_for_past_starts() -> None:
    assert edge("I joined Acme, and the party is on 2030-01-01.").valid_from is None


@pytest.mark.parametrize(
    ("said", "since"),
    [
        ("I start at Acme next Monday.", "2026-03-23"),
        ("Tomorrow I start at Acme.", "2026-03-19"),
        ("I'm joining Acme on April 1.", "2026-04-01"),
        ("I'm joining Acme on 1 April.", "2026-04-01"),
        ("I'm joining Acme the week after next.", "2026-03-30"),
        ("I'm joining Acme in a fortnight.", "2026-03-30"),
        ("From the 1st of April I work at Acme.", "2026-04-01"),
        ("I will join Acme in two weeks.", "2026-03-30"),
        ("I'm joining Acme in January.", "2027-01-01"),
        ("I start my new job at Acme on Monday.", "2026-03-23"),
        ("My first day at Acme is next Monday.", "2026-03-23"),
        ("From April 1 I work at Acme.", "2026-04-01"),
        ("As of next month I work at Acme.", "2026-04-01"),
        ("I work at Acme as of March 1.", "2026-03-01"),
        ("Starting Monday I work at Acme.", "2026-03-23"),
        ("I live in Haifa from tomorrow.", "2026-03-19"),
        ("Dana will be my manager next month.", "2026-04-01"),
        ("החל מאפריל אני עובדת באקמי.", "2026-04-01"),
        ("מחר אני מתחילה לעבוד באקמי.", "2026-03-19"),
        ("אני מתחילה לעבוד באקמי ביום ראשון.", "2026-03-22"),
    ],
)
def test_relation_validity_reads_future_start_dates(said: str, since: str) -> None:
    began = edge(said).valid_from
    assert began is not None
    assert began.date().isoformat() == since


def test_relation_validity_merges_a_start_date_from_a_second_sentence() -> None:
    began = edge("I have a new job at Acme! I start at Acme on Monday.").valid_from
    assert began is not None
    assert began.date().isoformat() == "2026-03-23"


@pytest.mark.parametrize(
    ("said", "until"),
    [
        ("I'm leaving Acme next month.", "2026-04-01"),
        ("I'm leaving my job at Acme on Friday.", "2026-03-20"),
        ("My last day at Acme is next Friday.", "2026-03-27"),
    ],
)
def test_relation_end_reads_future_dates(said: str, until: str) -> None:
    found = edge(said)
    assert found.ends
    assert found.valid_from is not None
    assert found.valid_from.date().isoformat() == until


def test_relation_validity_of_a_coming_period_is_in_the_current_year() -> None:
    found = edge("I'm working at Acme from June to August.")
    assert found.valid_from is not None
    assert found.valid_to is not None
    assert (found.valid_from.year, found.valid_to.year) == (2026, 2026)


@pytest.mark.parametrize(
    ("said", "until"),
    [
        ("Dan works at Acme until the end of May.", "2026-06-01"),
        ("Dan works at Acme until the end of December.", "2027-01-01"),
        ("Dan works at Acme until February.", "2027-02-01"),
        ("Dan works at Acme until June 2027.", "2027-06-01"),
        ("Dan works at Acme until 30 September.", "2026-09-30"),
        ("Dan works at Acme until January 31.", "2027-01-31"),
        ("Dan works at Acme until the end of March.", "2026-04-01"),
        ("Dan works at Acme until Friday.", "2026-03-20"),
        ("Dan works at Acme.", None),
    ],
)
def test_relation_validity_reads_future_until_dates(said: str, until: str | None) -> None:
    found = edge(said)
    assert not found.ends
    assert (found.valid_to.date().isoformat() if found.valid_to else None) == until
