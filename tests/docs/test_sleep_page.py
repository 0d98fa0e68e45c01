"""The page about sleep has the code's own numbers, names every task, and its example runs."""

import re
from pathlib import Path

from benchmarks.year.command import BEGIN, END
from commonplace.engine.maintenance.sleep import near_pairs
from commonplace.engine.maintenance.sleep.tasks import consolidation
from commonplace.model.graph import storylines
from commonplace.model.graph.assertion import SOURCE_WEIGHTS
from commonplace.model.graph.salience import ARCHIVED_BELOW, INITIAL_SALIENCE
from commonplace.model.memory.lifecycle import LIFETIMES
from commonplace.model.sleep import (
    ENDED_SHARE,
    FINGERPRINT_REST,
    MAX_PAIRS_A_DAY,
    MIN_ENDINGS,
    NIGHT_AT,
    NIGHTLY_TASKS,
    SLEEP_ACTOR,
    STAGGER,
    SUNDAY,
    UNDO_RETENTION,
    WEEK_AT,
    WEEKLY_TASKS,
    SleepTask,
)
from commonplace.model.sources.source import SourceType

PAGE = (Path(__file__).parents[2] / "docs/sleep.md").read_text(encoding="utf-8")


def rows_after(heading):
    section = PAGE.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return {cells[0]: cells[1:] for cells in (line.strip("| ").split(" | ") for line in lines)}


TASKS = {name.strip("`"): cells for name, cells in rows_after("Tasks").items()}
SCHEDULES = rows_after("When")


def test_sleep_page_lists_every_task_in_order():
    assert list(TASKS) == [task.value for task in SleepTask]


def test_sleep_page_schedules_match_the_code():
    assert SCHEDULES["nightly"] == [f"{NIGHT_AT:%H:%M}", "all but macros"]
    assert set(SleepTask) - set(NIGHTLY_TASKS) == {SleepTask.MACROS}
    assert SUNDAY == 6
    assert SCHEDULES["weekly"] == [f"Sunday {WEEK_AT:%H:%M}", ", ".join(WEEKLY_TASKS)]
    assert f"within {STAGGER.total_seconds() / 60:g} minutes" in PAGE


def test_sleep_page_limits_match_the_code():
    share = f"{ENDED_SHARE:.0%}".replace("%", " %")
    assert f"more than {share} of the live memories, or {MIN_ENDINGS} where" in PAGE
    assert f"For {UNDO_RETENTION.days} days; after that" in PAGE
    assert f"has the actor `{SLEEP_ACTOR}`" in PAGE


def test_sleep_page_numbers_of_tasks_on_memories_match_the_code():
    assert f"; {LIFETIMES.restorable.days} days after" in TASKS["expiry"][1]
    assert f"unread for {LIFETIMES.idle.days} days" in TASKS["idle"][1]
    assert LIFETIMES.merge_batch == 5
    assert TASKS["volatile"][1] == f"in fives, when {LIFETIMES.volatile.days} days old"
    pairs = TASKS["duplicates"][1]
    assert f"at most {MAX_PAIRS_A_DAY} pairs a day" in pairs
    band = f"from {near_pairs.SIMILAR:.2f} to below {near_pairs.TOO_SIMILAR:.2f}"
    assert f"similarity {band}, at most {near_pairs.MAX_AGE.days} days apart" in pairs
    assert f"a pair rests {FINGERPRINT_REST.days} days" in pairs


def test_sleep_page_numbers_of_tasks_on_sources_match_the_code():
    below, older = consolidation.SALIENCE_BELOW, consolidation.OLDER_THAN.days
    together = f"salience below {below:g}, and older than {older} days or "
    assert TASKS["consolidation"][1] == f"{together}{consolidation.OVERLAPPING} that share a node"
    assert TASKS["archive"][1] == f"salience below {ARCHIVED_BELOW:g}"
    assert f"Salience is {INITIAL_SALIENCE:g} at first" in PAGE


def test_sleep_page_numbers_of_storylines_match_the_code():
    email, slack = (SOURCE_WEIGHTS[each] for each in (SourceType.EMAIL, SourceType.SLACK_THREAD))
    assert f"(a conversation counts 1, a mail {email:g}, Slack {slack:g})" in PAGE
    assert f"count for {storylines.MIN_SCORE:g} together" in PAGE
    assert f"at least {storylines.MIN_DAYS} days that span more than" in PAGE
    assert f"span more than {storylines.MIN_SPAN.days} days" in PAGE
    assert f"After {storylines.CLOSED_AFTER.days} days without a source" in PAGE
    first, again = storylines.FIRST_SUMMARIES, storylines.REFRESH_SUMMARIES
    assert f"from the {first} newest summaries, and again from the {again} newest" in PAGE
    span = f"at least {storylines.MIN_STORYLINES} storylines say that span"
    assert f"{span} {storylines.MACRO_SPAN.days} days or more" in PAGE
    assert f"or by {storylines.TIED_SOURCES} shared sources" in PAGE


def test_sleep_page_commands_are_in_the_reference():
    reference = Path(__file__).parents[2] / "docs/reference/commands.md"
    known = reference.read_text(encoding="utf-8")
    for command in re.findall(r"^commonplace ([a-z]+(?: (?:log|undo))?)\b", PAGE, re.M):
        assert f"commonplace {command}" in known, command


def test_sleep_page_example_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(code, "docs/sleep.md", "exec"), {})


def test_sleep_page_has_the_simulated_year():
    table = PAGE.partition(BEGIN)[2].partition(END)[0]
    months = re.findall(r"^\| \d{4}-(\d\d)-\d\d \|", table, re.M)
    assert len(months) >= 6, "run `python -m benchmarks year --write`"
    assert months == [f"{number:02}" for number in range(1, len(months) + 1)]
