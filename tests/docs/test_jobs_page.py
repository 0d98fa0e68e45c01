"""The page about jobs names every kind of background work, and the code's own numbers."""

import re
from datetime import timedelta
from pathlib import Path

from commonplace.engine import follow_up_jobs
from commonplace.engine.follow_up_jobs import GROWING_SOURCE_DELAY, MODEL_TRIES, OUTAGE_TRIES
from commonplace.engine.maintenance.jobs import bind_job_kinds
from commonplace.engine.maintenance.worker import POLL_SECONDS, TIDY_CHECK_INTERVAL
from commonplace.model.jobs import (
    BACKOFF_GROWTH,
    BEATS_PER_LEASE,
    FIRST_WAIT,
    JITTER,
    LEASE,
    LONGEST_WAIT,
    MAX_TRIES,
    JobState,
)
from commonplace.settings import BY_NAME

PAGE = (Path(__file__).parents[2] / "docs/jobs.md").read_text(encoding="utf-8")
KINDS = re.findall(r"^\| `([\w-]+)` \| .+ \| .+ \| .+ \|$", PAGE, re.M)


def test_jobs_page_names_every_job_kind():
    assert set(KINDS) == set(bind_job_kinds(None))
    declared = {name for name in vars(follow_up_jobs) if name.endswith("_JOB")}
    assert set(KINDS) == {getattr(follow_up_jobs, name) for name in declared}


def test_jobs_page_numbers_match_the_code():
    beat = LEASE.total_seconds() / BEATS_PER_LEASE
    assert f"{LEASE.total_seconds():g} seconds, renewed every {beat:g}" in PAGE
    assert f"every {POLL_SECONDS:g} seconds" in PAGE
    assert f"| {MAX_TRIES}; of `embed` {OUTAGE_TRIES} " in PAGE
    assert f"of `summarise` {MODEL_TRIES} " in PAGE
    first = FIRST_WAIT.total_seconds()
    waits = [first * BACKOFF_GROWTH**step for step in range(3)]
    assert f"{waits[0]:g} seconds, {waits[1]:g}, {waits[2]:g} …" in PAGE
    assert f"less up to {JITTER * 100:g} %" in PAGE
    assert (timedelta(hours=1), timedelta(hours=1)) == (LONGEST_WAIT, TIDY_CHECK_INTERVAL)
    assert timedelta(minutes=1) == GROWING_SOURCE_DELAY
    assert f"| states | {', '.join(JobState)} |" in PAGE


def test_jobs_page_settings_exist():
    for name, value in re.findall(r"`(\w+) = ([\w-]+)`", PAGE):
        assert value in BY_NAME[name].help or value == BY_NAME[name].default
