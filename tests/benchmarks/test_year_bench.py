"""The simulated year as a benchmark: a few days of it, with a night that counts its calls."""

from datetime import UTC, datetime

import pytest

from benchmarks.duplicates import duplicates
from benchmarks.year import command
from benchmarks.year.generate import DAYS, GeneratedYear
from benchmarks.year.measure import measure_month, play_months, table_of
from benchmarks.year.play import awake, begin, sleeping
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import Memory


def memory(content, kind=Kind.FACT, day=1):
    at = datetime(2025, 1, day, tzinfo=UTC)
    return Memory(
        id=f"{day}-{content}",
        user_id="noga",
        kind=kind,
        content=content,
        summary=content,
        category="knowledge",
        created_at=at,
        updated_at=at,
    )


def test_year_duplicates_are_the_later_ones_that_say_the_same():
    first, second = memory("The user drives a Golf."), memory("the user drives a golf", day=2)
    other = memory("The user drives a Yaris.", day=3)
    assert duplicates([other, second, first]) == [(first, second)]


def test_year_duplicates_count_what_says_less():
    whole = memory("The race is on May 9, the user is doomed.")
    part = memory("The race is on May 9.", day=2)
    assert duplicates([whole, part]) == [(whole, part)]


def test_year_events_of_different_days_are_no_duplicates():
    events = [memory("The user bought bread.", Kind.EVENT, day) for day in (1, 2)]
    assert duplicates(events) == []
    assert len(duplicates([*events, memory("The user  bought bread", Kind.EVENT, 2)])) == 1


def test_year_benchmark_plays_days_with_a_night_after_each():
    nights = []
    months = play_months(GeneratedYear(1), 4, "hashing", lambda me, day: nights.append(day.number))
    assert nights == [0, 1, 2, 3]
    (month,) = months
    assert len(month.seconds_of_nights) == 4
    assert month.live > 0
    assert month.asked == sum(each.answer_on(3) is not None for each in GeneratedYear(1).questions)
    assert 0 < month.found["top"] <= month.asked
    assert month.disk_bytes > 100_000
    table = table_of(months, "A year")
    assert dict(zip(table.columns, table.rows[0], strict=True))["live"] == month.live


def test_year_nights_lose_no_answer_of_the_first_days():
    rested, tired = (
        play_months(GeneratedYear(1), 4, "hashing", night)[0] for night in (sleeping, awake)
    )
    assert rested.asked == tired.asked > 0
    assert rested.found["top"] >= tired.found["top"]
    assert rested.found["context"] >= tired.found["context"]
    assert rested.live <= tired.live
    assert rested.duplicates <= tired.duplicates


def test_year_measurement_leaves_no_trace_in_the_store(tmp_path):
    """Questions are asked in a copy: nothing that they find counts as read."""
    (tmp_path / "other").mkdir()
    played = begin(tmp_path, GeneratedYear(1), "hashing")
    days = list(GeneratedYear(1).days(4))
    for day in days:
        played.play(day, awake)

    def state():
        played.book.flush()
        memories = played.me.list(limit=200).memories
        return played.me.revision, sorted((each.id, each.access_count) for each in memories)

    before = state()
    assert measure_month(played, days[-1], (), tmp_path / "other").found["top"] > 0
    assert state() == before
    assert list((tmp_path / "other").iterdir()) == []
    played.book.close()


@pytest.mark.parametrize(("months", "days"), [(1, 31), (2, 59), (11, 334), (12, DAYS)])
def test_year_command_plays_whole_months(months, days):
    assert command.days_of(months) == days


def test_year_command_has_a_row_for_each_arm(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(command, "NIGHTS", {"with nights": awake, "without nights": awake})
    monkeypatch.setattr(command, "days_of", lambda months: 1)
    target, page = tmp_path / "year.json", tmp_path / "page.md"
    page.write_text(f"before\n{command.BEGIN}\nold\n{command.END}\nafter\n", encoding="utf-8")
    options = ["--months", "1", "--embedder", "hashing", "--json", str(target)]
    command.main([*options, "--write", str(page)])
    shown = capsys.readouterr().out
    assert "A simulated year with nights, hashing" in shown
    assert "A simulated year without nights, hashing" in shown
    assert '"live"' in target.read_text(encoding="utf-8")
    written = page.read_text(encoding="utf-8")
    assert written.splitlines()[0] == "before"
    assert written.splitlines()[-1] == "after"
    assert "| 2025-01-01 |" in written
    assert "old" not in written
