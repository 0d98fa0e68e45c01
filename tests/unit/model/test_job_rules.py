"""When a job that failed is tried again, and what a change leaves to be done."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.engine.follow_up_jobs import EMBED_JOB, with_follow_up_jobs
from commonplace.model.changeset import Changeset, EnqueueJob, ImportScope, RewriteMemory
from commonplace.model.jobs import (
    BACKOFF_GROWTH,
    FIRST_WAIT,
    JITTER,
    LONGEST_WAIT,
    MAX_TRIES,
    next_retry,
    retry_delay,
)
from commonplace.model.journal import Entry, Op
from support.clock import START
from support.making import ANA, a_job, a_memory, adding, indexed, updating


@given(st.text(max_size=40), st.integers(0, 10_000))
def test_retry_delay_is_bounded_and_deterministic(id, tries):
    wait = retry_delay(id, tries)
    assert FIRST_WAIT * (1 - JITTER) <= wait <= LONGEST_WAIT
    assert wait == retry_delay(id, tries)


def test_retry_delay_is_exponential_up_to_one_hour():
    waits = [retry_delay("a job", tries) for tries in range(1, 12)]
    bounds = [min(FIRST_WAIT * BACKOFF_GROWTH**n, LONGEST_WAIT) for n in range(11)]
    assert all(b * (1 - JITTER) <= w <= b for w, b in zip(waits, bounds, strict=True))
    assert bounds[:3] == [timedelta(seconds=s) for s in (10, 40, 160)]
    assert bounds[-1] == timedelta(hours=1)


def test_retry_delay_differs_between_jobs():
    assert len({retry_delay(f"job {number}", 1) for number in range(50)}) == 50


def test_next_retry_is_none_after_the_last_try():
    failed = a_job(tries=MAX_TRIES - 1)
    assert next_retry(failed, START) == START + retry_delay(failed.id, failed.tries)
    assert next_retry(failed.evolve(tries=MAX_TRIES), START) is None


def owed_by(*steps):
    before = Changeset(ANA, START, "test", steps)
    after = with_follow_up_jobs(before, lambda: "job 1", extracts=False)
    added = after.steps[len(steps) :]
    assert after.steps[: len(steps)] == steps
    return [step.job for step in added if isinstance(step, EnqueueJob)]


MEMORY = a_memory()
WITHOUT = indexed(MEMORY, vector=False)
ENTRY = Entry(op=Op.UPDATE)


@pytest.mark.parametrize(
    "step",
    [
        adding(MEMORY, vector=False),
        RewriteMemory(MEMORY, WITHOUT, ENTRY),
        ImportScope(((MEMORY, WITHOUT),), (), (), (), 1, 0),
    ],
    ids=["added", "rewritten", "copied"],
)
def test_follow_up_embed_job_is_queued_for_missing_vectors(step):
    (job,) = owed_by(adding(MEMORY), step, step)
    assert (job.id, job.kind, job.scope, job.key) == ("job 1", EMBED_JOB, ANA, "")
    assert job.due_at == START + FIRST_WAIT
    assert job.max_tries > MAX_TRIES


def test_follow_up_embed_job_is_not_queued_for_present_vectors():
    reworded = updating(MEMORY, reindexed=True, content="The lamp is blue")
    copied = ImportScope(((MEMORY, indexed(MEMORY)),), (), (), (), 1, 0)
    assert owed_by(adding(MEMORY), updating(MEMORY, importance=4), reworded, copied) == []
