"""A year of one person's conversations, with a night after each day and, to compare, without."""

from __future__ import annotations

import sys

import pytest
from rich.console import Console

from benchmarks.report import Report
from benchmarks.year.command import days_of
from benchmarks.year.generate import DAYS, GeneratedYear
from benchmarks.year.measure import play_months, table_of
from benchmarks.year.play import awake, sleeping

pytestmark = pytest.mark.soak

QUARTER = 3
COMPARED_MONTHS = 6
TOLERATED = 0.03  # of the answers: another question has its place in the top three


@pytest.fixture(scope="module")
def year():
    """Month by month, with nights."""
    return played(DAYS, sleeping, "with nights")


@pytest.fixture(scope="module")
def sleepless_half():
    return played(days_of(COMPARED_MONTHS), awake, "without nights")


def played(days, night, title):
    months = play_months(GeneratedYear(1), days, "wordllama", night)
    report = Report(machine={}, tables=[table_of(months, f"A simulated year {title}")])
    report.print(Console(file=sys.__stdout__, width=200))
    return months


def test_simulated_year_growth_of_live_memories_flattens(year):
    first = year[QUARTER - 1].live
    last = year[-1].live - year[-1 - QUARTER].live
    assert last < first


def test_simulated_year_answers_do_not_get_worse(year):
    """From the middle of the year on, when facts have changed for the first time: a value that
    never changed is easier to find, whatever the nights do."""
    middle, late = year[COMPARED_MONTHS - 1], year[-1]
    assert late.asked > middle.asked
    assert late.share("context") >= middle.share("context") - TOLERATED
    assert late.share("stale") <= middle.share("stale") + TOLERATED


def test_simulated_year_has_hardly_any_duplicates(year):
    """At most one in a hundred; in a small memory one at all."""
    assert all(month.duplicates <= max(1, month.live // 100) for month in year)


def test_simulated_year_has_storylines_and_macros(year):
    assert year[QUARTER - 1].storylines > 0
    assert year[-1].storylines > year[QUARTER - 1].storylines
    assert year[-1].macros > 0


def test_simulated_year_archives_what_nobody_reads(year):
    assert year[-1].archived > year[QUARTER - 1].archived


def test_simulated_year_nights_keep_the_memory_smaller_and_lose_no_answers(year, sleepless_half):
    rested, tired = year[COMPARED_MONTHS - 1], sleepless_half[-1]
    assert rested.day == tired.day
    assert rested.asked == tired.asked
    assert rested.live < tired.live
    assert rested.duplicates <= tired.duplicates
    for what in ("top", "context"):
        assert rested.share(what) >= tired.share(what) - TOLERATED, what
