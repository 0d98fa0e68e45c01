"""Killed at any moment of ingesting: nothing is half-done, another finishes it, exactly once."""

from __future__ import annotations

from commonplace.engine.maintenance.worker import Worked
from commonplace.model.jobs import LEASE
from commonplace.model.sources.source import ProcessingStatus
from support.kills import AT_WORK, IN_A_WRITE, killed_at
from support.processes import Child
from support.scenarios import wait_until_alone
from support.source_children import die_while_ingesting, ingest_when_told, process_what_is_owed
from support.sources import chat, turn
from support.stores import raw
from support.whole import assert_whole, open_plainly

TALK = chat(*(turn("Dana", f"Heron number {n} sat on the wall.", n) for n in range(5)))


def let_leases_end(url):
    """As if their holder had been silent for as long as a lease lasts."""
    raw(url, f"UPDATE jobs SET due_at = due_at - {int(LEASE.total_seconds() * 1e6)}")


def kept(url):
    """The sources of Ana's, each with its passages, in a memory that is whole."""
    assert_whole(url, "ana")
    with open_plainly(url) as book:
        me = book.user("ana")
        return [(source, me.show(source.id).passages) for source in me.sources().sources]


def assert_ingested_once(url):
    ((source, passages),) = kept(url)
    assert source.status is ProcessingStatus.PROCESSED
    assert [passage.number for passage in passages] == [1, 2, 3, 4, 5]
    with open_plainly(url) as book:
        me = book.user("ana")
        assert me.jobs() == []
        assert [row["event"] for row in me.history(source.id)] == ["UPDATE", "ADD"]
        assert len(me.recall("heron", k=10).hits) == 5


@killed_at(IN_A_WRITE)
def test_ingest_killed_during_receive_stores_all_or_nothing(store_url, failpoint):
    with Child(die_while_ingesting, store_url, "ana", failpoint, TALK, False) as child:
        assert child.rest() == []
        assert child.was_killed()
    wait_until_alone(store_url)
    if failpoint == "apply.after_commit":
        ((source, passages),) = kept(store_url)
        assert (source.status, passages) == (ProcessingStatus.RAW, ())
    else:
        assert kept(store_url) == []
        with open_plainly(store_url) as book:
            assert book.user("ana").revision == 0
            assert book.user("ana").jobs() == []
    with open_plainly(store_url) as book:
        assert book.user("ana").ingest(TALK).is_processed
    assert_ingested_once(store_url)


@killed_at([*AT_WORK, *IN_A_WRITE])
def test_process_killed_at_any_failpoint_is_completed_once_by_another_process(store_url, failpoint):
    with open_plainly(store_url) as book:
        book.user("ana").ingest(TALK, wait=False)
    with Child(process_what_is_owed, store_url, failpoint) as child:
        assert child.rest() == []
        assert child.was_killed()
    wait_until_alone(store_url)
    ((source, passages),) = kept(store_url)
    done = failpoint == "apply.after_commit"
    assert (source.status is ProcessingStatus.PROCESSED, len(passages)) == (done, 5 if done else 0)
    with Child(process_what_is_owed, store_url) as early:  # it is still held
        assert early.rest() == [Worked()]
    let_leases_end(store_url)
    with Child(process_what_is_owed, store_url) as other:
        assert other.rest() == [Worked(done=0 if done else 1)]
    assert_ingested_once(store_url)


def test_ingest_of_one_original_by_two_processes_makes_one_source(store_url):
    with open_plainly(store_url):
        pass  # the store is there before they start
    children = [Child(ingest_when_told, store_url, "ana", TALK) for _ in range(2)]
    with children[0] as one, children[1] as two:
        assert [one.hear(), two.hear()] == ["ready", "ready"]
        one.tell("go")
        two.tell("go")
        said = [one.hear(), two.hear()]
    assert said[0][0] == said[1][0]
    assert sorted(action for _, action, *_ in said) == ["received", "unchanged"]
    assert [rest for _, _, *rest in said] == [[True, 5], [True, 5]]
    assert_ingested_once(store_url)
