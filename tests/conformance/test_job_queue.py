"""Work that is owed is done once: enqueued with its cause, held by one, finished by its result."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import pytest

from commonplace.errors import LeaseLost, StaleDecision
from commonplace.model.changeset import ClearScope, EnqueueJob, FinishJob, RetryJob, WithdrawJobs
from commonplace.model.jobs import LEASE, Failure, JobState
from commonplace.model.journal import Entry, Event, Op
from commonplace.store.queries import JobQuery, JournalQuery, ReservedJobs
from commonplace.store.sqlite.store import STATEMENTS, SqliteStore
from support.clock import START
from support.making import ANA, BOB, a_job, a_memory, adding, changeset
from support.processes import Child
from support.stores import all_rows
from support.workers import claim_all

ALL = JobQuery()
OUTAGE = Failure("outage", "It did not answer.")


def later(**span):
    return START + timedelta(**span)


def owe(store, *jobs):
    for job in jobs:
        store.apply(changeset(EnqueueJob(job), scope=job.scope))


def only(store, scope=ANA):
    (job,) = store.jobs(scope, ALL)
    return job


# ——— in ———


def test_enqueue_job_is_atomic_with_the_changeset(store):
    cause = adding(a_memory())
    with pytest.raises(StaleDecision):
        store.apply(changeset(cause, EnqueueJob(a_job()), decided_on=7))
    assert store.jobs(ANA, ALL) == []
    store.apply(changeset(cause, EnqueueJob(a_job(kind="embed", payload={"source": "source:1"}))))
    job = only(store)
    assert (job.kind, job.payload, job.state) == ("embed", {"source": "source:1"}, "queued")


def test_jobs_change_neither_revision_nor_journal(store):
    """No line in the journal and no revision of its own."""
    owe(store, a_job())
    assert store.counters(ANA).revision == 0
    applied = store.apply(
        changeset(adding(a_memory()), EnqueueJob(a_job(key="other")), decided_on=0)
    )
    assert applied.revision == 1
    assert len(store.journal(ANA, JournalQuery())) == 1
    finished = store.claim_job("w", START)
    assert store.apply(changeset(FinishJob(finished), decided_on=1)).revision == 1


def test_enqueue_job_with_the_same_kind_and_key_keeps_one(store):
    first = a_job(key="source:1", payload={"part": 1})
    owe(store, first, a_job(key="source:1", payload={"part": 2}, due_at=later(hours=1)))
    assert only(store) == first
    owe(store, a_job(key="source:2"), a_job(BOB, key="source:1"), a_job(kind="x", key="source:1"))
    assert [len(store.jobs(scope, ALL)) for scope in (ANA, BOB)] == [3, 1]


def test_enqueue_job_while_running_queues_another_run(store):
    """What came while the first run looked the other way is not lost."""
    owe(store, a_job())
    held = store.claim_job("w", START)
    owe(store, a_job(payload={"part": 2}))
    assert only(store).state is JobState.RUNNING
    store.apply(changeset(FinishJob(held), at=later(seconds=3)))
    again = only(store)
    assert (again.state, again.tries, again.due_at) == ("queued", 0, later(seconds=3))
    assert again.payload == {"part": 2}
    store.apply(changeset(FinishJob(store.claim_job("w", later(seconds=3)))))
    assert store.jobs(ANA, ALL) == []


READS = JobQuery(kinds=["read"])


# ——— claimed ———


def test_claim_job_takes_the_longest_due_across_scopes(store):
    order = [(ANA, 3), (BOB, 1), (ANA, 2), (BOB, 4)]
    owe(store, *(a_job(scope, key=str(n), due_at=later(seconds=n)) for scope, n in order))
    assert store.next_due() == later(seconds=1)
    assert store.claim_job("w", START) is None
    claimed = [store.claim_job("w", later(seconds=3)) for _ in range(4)]
    assert [job and job.key for job in claimed] == ["1", "2", "3", None]
    assert claimed[0].scope == BOB
    assert (claimed[0].worker, claimed[0].tries, claimed[0].lease) == ("w", 1, 1)
    assert claimed[0].due_at == later(seconds=3) + LEASE


def test_claim_job_filters_by_kind_scope_and_id(store):
    owe(store, a_job(kind="process"), a_job(BOB, kind="embed", key="x"))
    assert store.next_due(["extract"]) is None
    assert store.claim_job("w", START, kinds=["extract"]) is None
    assert store.claim_job("w", START, scope=BOB, id=only(store).id) is None
    assert store.claim_job("w", START, kinds=["embed", "extract"]).scope == BOB
    assert store.claim_job("w", START, scope=ANA, id=only(store).id) == only(store)


def test_claim_job_waits_for_due_jobs_that_come_before_it(store):
    def claim(at=START):
        return store.claim_job("w", at, kinds=["read"], after=("read", "extract"))

    due = {"1": START, "2": later(hours=1)}
    owe(store, *(a_job(kind="extract", key=key, due_at=at) for key, at in due.items()))
    owe(store, *(a_job(kind="read", key=key) for key in "23"), a_job(BOB, kind="read", key="1"))
    assert claim().scope == BOB
    first = store.claim_job("w", START, kinds=["extract"])
    assert claim() is None  # it runs
    assert store.claim_job("w", START, scope=ANA, id=store.jobs(ANA, READS)[0].id) is not None
    store.fail_job(first, START, OUTAGE, later(hours=1))
    assert claim().kind == "read"


def test_claim_job_leaves_reserved_jobs_of_others(store):
    owe(store, a_job(kind="read", key="x"), a_job(BOB, kind="read", key="x"))
    owe(store, a_job(kind="embed"))
    nobody = ReservedJobs(["read"])
    assert store.claim_job("w", START, reserved=nobody).kind == "embed"
    assert store.claim_job("w", START, reserved=nobody) is None
    assert store.next_due(["read"], nobody) is None
    bob = ReservedJobs(["read"], [BOB])
    assert store.next_due(["read"], bob) == START
    assert store.claim_job("w", START, reserved=bob).scope == BOB
    assert store.claim_job("w", START, reserved=bob) is None
    assert store.claim_job("w", START).scope == ANA


def test_claim_job_by_eight_threads_gives_each_job_once(store):
    owe(store, *(a_job(scope, key=str(n)) for scope in (ANA, BOB) for n in range(20)))

    def drain(name):
        return list(iter(lambda: store.claim_job(name, START), None))

    with ThreadPoolExecutor(8) as pool:
        claimed = [job for jobs in pool.map(drain, "abcdefgh") for job in jobs]
    assert len(claimed) == 40
    assert len({(job.scope, job.id) for job in claimed}) == 40


def test_claim_job_by_eight_threads_gives_one_of_a_users_jobs_in_order(store):
    owe(store, *(a_job(scope, key=str(n)) for scope in (ANA, BOB) for n in range(20)))
    with ThreadPoolExecutor(8) as pool:
        claims = pool.map(lambda name: store.claim_job(name, START, in_order=["count"]), "abcdefgh")
        claimed = [job.scope.name for job in claims if job]
    assert sorted(claimed) == ["ana", "bob"]


def test_claim_job_by_two_processes_gives_each_job_once(store, store_url):
    owe(store, *(a_job(key=str(n)) for n in range(40)))
    with Child(claim_all, store_url, "a") as one, Child(claim_all, store_url, "b") as other:
        children = (one, other)
        assert [child.hear() for child in children] == ["ready", "ready"]
        for child in children:
            child.tell("go")
        claimed = [id for child in children for id in child.hear()]
    assert len(claimed) == len(set(claimed)) == 40


# ——— held ———


def test_claim_job_takes_over_an_expired_lease_and_counts_a_try(store):
    owe(store, a_job())
    lost = store.claim_job("gone", START)
    assert store.claim_job("next", START + LEASE - timedelta(seconds=1)) is None
    taken = store.claim_job("next", START + LEASE)
    assert (taken.id, taken.worker, taken.tries, taken.lease) == (lost.id, "next", 2, 2)


def test_extend_lease_keeps_the_job_until_another_worker_takes_over(store):
    owe(store, a_job())
    held = store.claim_job("w", START)
    assert store.extend_lease(held, START + 2 * LEASE)
    assert store.claim_job("next", START + LEASE) is None
    taken = store.claim_job("next", START + 2 * LEASE)
    assert not store.extend_lease(held, START + 4 * LEASE)
    assert store.extend_lease(taken, START + 4 * LEASE)


def test_finish_job_with_a_lost_lease_is_refused_and_writes_nothing(store, store_url):
    owe(store, a_job())
    slow = store.claim_job("slow", START)
    taken = store.claim_job("next", START + LEASE)
    before = all_rows(store_url)
    late = a_memory("Too late")
    with pytest.raises(LeaseLost):
        store.apply(changeset(adding(late), FinishJob(slow), EnqueueJob(a_job(key="follow-up"))))
    assert not store.fail_job(slow, START, OUTAGE, None)
    assert all_rows(store_url) == before
    store.apply(changeset(adding(a_memory("In time")), FinishJob(taken)))
    with pytest.raises(LeaseLost):
        store.apply(changeset(adding(late), FinishJob(taken)))
    assert store.jobs(ANA, ALL) == store.fetch(ANA, [late.id]) == []


def test_finish_job_with_an_expired_lease_is_accepted_before_a_takeover(store):
    owe(store, a_job())
    slow = store.claim_job("slow", START)
    store.apply(changeset(FinishJob(slow), at=START + 3 * LEASE))
    assert store.jobs(ANA, ALL) == []


# ——— failed ———


def test_fail_job_requeues_at_the_given_time_with_the_failure(store):
    owe(store, a_job())
    assert store.fail_job(store.claim_job("w", START), START, OUTAGE, later(seconds=9))
    waiting = only(store)
    assert (waiting.state, waiting.failure, waiting.tries) == ("queued", OUTAGE, 1)
    assert store.claim_job("w", later(seconds=8)) is None
    assert store.claim_job("w", later(seconds=9)).tries == 2


def test_dead_job_is_not_claimed_until_retried(store):
    owe(store, a_job())
    assert store.fail_job(store.claim_job("w", START), START, OUTAGE, None)
    dead = only(store)
    assert (dead.state, dead.due_at) == (JobState.DEAD, None)
    assert store.claim_job("w", later(days=9)) is store.next_due() is None
    store.apply(changeset(RetryJob(dead.id), at=later(days=1)))
    retried = only(store)
    assert (retried.state, retried.tries, retried.due_at) == ("queued", 0, later(days=1))
    assert retried.failure is None
    assert store.claim_job("w", later(days=1)).lease == 2


def test_enqueue_job_revives_a_dead_job(store):
    owe(store, a_job())
    store.fail_job(store.claim_job("w", START), START, OUTAGE, None)
    owe(store, a_job(due_at=later(seconds=5)))
    again = only(store)
    assert (again.state, again.tries, again.due_at) == ("queued", 0, later(seconds=5))


def test_enqueue_job_during_the_last_try_gets_fresh_tries(store):
    """That the try failed says nothing about what came while it ran."""
    owe(store, a_job(max_tries=1))
    held = store.claim_job("w", START)
    owe(store, a_job(payload={"part": 2}, max_tries=1))
    assert store.fail_job(held, later(seconds=1), OUTAGE, None)
    again = only(store)
    assert (again.state, again.tries, again.due_at) == ("queued", 0, later(seconds=1))
    assert (again.payload, again.failure) == ({"part": 2}, OUTAGE)
    vanishing = store.claim_job("w", later(seconds=1))
    assert vanishing.tries == 1
    owe(store, a_job(payload={"part": 3}, max_tries=1))
    taken_over = store.claim_job("w", later(seconds=1) + LEASE)
    assert (taken_over.tries, taken_over.payload) == (1, {"part": 3})
    assert store.claim_job("w", later(seconds=1) + 2 * LEASE) is None
    assert only(store).state is JobState.DEAD


def test_claim_job_marks_an_abandoned_job_dead_after_max_tries(store):
    owe(store, a_job(max_tries=2))
    for lease in (0, 1):
        assert store.claim_job("w", START + lease * LEASE).tries == lease + 1
    assert store.claim_job("w", START + 2 * LEASE) is None
    assert (only(store).state, only(store).failure.code) == (JobState.DEAD, "abandoned")


# ——— by hand ———


def test_retry_job_ignores_a_running_job_and_refuses_an_unknown_one(store):
    owe(store, a_job())
    held = store.claim_job("w", START)
    store.apply(changeset(RetryJob(held.id)))
    assert only(store) == held
    for scope, id in ((BOB, held.id), (ANA, "nowhere")):
        with pytest.raises(StaleDecision):
            store.apply(changeset(RetryJob(id), scope=scope))


def test_withdraw_jobs_by_id_removes_the_job_and_refuses_a_late_result(store):
    owe(store, a_job())
    held = store.claim_job("w", START)
    withdrawn = WithdrawJobs(ids=(held.id,))
    with pytest.raises(StaleDecision):
        store.apply(changeset(withdrawn, scope=BOB))
    store.apply(changeset(withdrawn))
    with pytest.raises(StaleDecision):
        store.apply(changeset(withdrawn))
    with pytest.raises(LeaseLost):
        store.apply(changeset(adding(a_memory()), FinishJob(held)))


def test_withdraw_jobs_by_key_removes_jobs_of_every_kind_in_the_scope(store):
    owe(store, *(a_job(key=key, due_at=later(seconds=n)) for n, key in enumerate("abc")))
    owe(store, a_job(BOB, key="b", due_at=later(hours=1)), a_job(kind="embed", key="b"))
    held = store.claim_job("w", START, kinds=["count"])
    store.apply(changeset(adding(a_memory()), WithdrawJobs((held.key, "b"))))
    assert [job.key for job in store.jobs(ANA, ALL)] == ["c"]
    assert [job.key for job in store.jobs(BOB, ALL)] == ["b"]
    with pytest.raises(LeaseLost):
        store.apply(changeset(FinishJob(held)))


def test_sqlite_claim_job_uses_the_due_index(tmp_path):
    path = tmp_path / "memory.db"
    SqliteStore(str(path), now=START).close()
    kinds = {"any_kind": 0, "kinds": json.dumps(["embed"])}
    kinds |= {"reserved": json.dumps(["read"]), "reserved_for": json.dumps(["user:ana"])}
    claiming = {"now": 1, "of": None, "until": 2, "worker": "w", "in_order": "[]", **kinds}
    claiming |= {"later": "", "earlier": ""}
    with closing(sqlite3.connect(path)) as connection:
        for name, values in (("next_due", kinds), ("claim_job", claiming)):
            plan = connection.execute(f"EXPLAIN QUERY PLAN {STATEMENTS[name]}", values).fetchall()
            assert any("jobs USING INDEX jobs_due" in row[3] for row in plan), plan


def test_jobs_are_listed_by_kind_key_and_state_next_due_first(store):
    keys = {"a": 2, "b": 1, "c": 3}
    owe(store, *(a_job(key=key, due_at=later(seconds=at)) for key, at in keys.items()))
    owe(store, a_job(kind="embed", due_at=later(hours=1)))
    store.fail_job(store.claim_job("w", later(seconds=1)), START, OUTAGE, None)
    assert [job.key for job in store.jobs(ANA, JobQuery(kinds=["count"]))] == ["a", "c", "b"]
    assert [job.key for job in store.jobs(ANA, JobQuery(states=[JobState.DEAD]))] == ["b"]
    assert [job.key for job in store.jobs(ANA, JobQuery(keys=["c", "x"]))] == ["c"]
    assert len(store.jobs(ANA, JobQuery(limit=2))) == 2
    assert store.jobs(BOB, ALL) == []


def test_clear_scope_removes_jobs_of_that_scope_only(store):
    owe(store, a_job(), a_job(BOB))
    held = store.claim_job("w", START, scope=ANA)
    gone = Entry(op=Op.DELETE, event=Event.ERASE)
    store.apply(changeset(ClearScope(gone)))
    assert store.jobs(ANA, ALL) == []
    with pytest.raises(LeaseLost):
        store.apply(changeset(adding(a_memory()), FinishJob(held)))
    assert len(store.jobs(BOB, ALL)) == 1


def test_when_enqueued_callback_runs_after_the_commit(store):
    told = []
    store.when_enqueued(lambda: told.append(len(store.jobs(ANA, ALL))))
    store.apply(changeset(adding(a_memory())))
    owe(store, a_job())
    assert told == [1]
