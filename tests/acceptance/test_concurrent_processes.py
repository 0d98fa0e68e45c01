"""Several processes on one store: nothing is lost, nothing is locked, nothing is read stale."""

from __future__ import annotations

import pytest

from commonplace.errors import StoreBusy
from commonplace.model.memory.memory import State
from support.children import change_in_place, decide_then_wait, extend_the_chain, hold_before_commit
from support.processes import Child
from support.scenarios import live_of, writers_and_readers
from support.whole import assert_whole, open_plainly

USER = "ana"


@pytest.fixture
def fact(store_url):
    with open_plainly(store_url) as book:
        return book.user(USER).remember("Dana lives in Haifa", kind="fact").id


def two_that_decided_on_the_same(store_url, *requests):
    """Two processes that have both decided, and only then are let go; what each of them says."""
    with (
        Child(decide_then_wait, store_url, USER, *requests[0]) as one,
        Child(decide_then_wait, store_url, USER, *requests[1]) as other,
    ):
        assert one.hear() == other.hear()  # both say which revision they decided on
        one.tell("go")
        other.tell("go")
        return [one.hear(), other.hear()]


def test_concurrent_readers_see_every_acknowledged_write_at_once(store_url):
    writers_and_readers(store_url, USER, writes=20)


def test_concurrent_updates_on_one_revision_are_both_applied(store_url, fact):
    """Both end up in the memory, one after the other: no update is lost."""
    told = two_that_decided_on_the_same(
        store_url,
        ("update", {"id": fact, "importance": 5}),
        ("update", {"id": fact, "tags": ["home"]}),
    )
    assert sorted((revision, decisions) for _, _, revision, decisions in told) == [(2, 1), (3, 2)]
    belongings = assert_whole(store_url, USER)
    (memory,) = belongings.memories
    assert (memory.importance, memory.tags, memory.version) == (5, ("home",), 3)
    assert belongings.revision == 3


def test_concurrent_content_updates_leave_one_live_memory(store_url, fact):
    """The faster one supersedes; the slower one decides again and finds that its target is gone."""
    told = two_that_decided_on_the_same(
        store_url,
        ("update", {"id": fact, "content": "Dana lives in Porto"}),
        ("update", {"id": fact, "content": "Dana lives in Lima"}),
    )
    assert sorted(outcome for outcome, *_ in told) == ["done", "refused"]
    winner = next(id for outcome, id, *_ in told if outcome == "done")
    loser = next(answer for answer in told if answer[0] == "refused")
    assert loser == ("refused", "not_found", None, 1)
    belongings = assert_whole(store_url, USER)
    assert list(live_of(belongings)) == [winner]
    assert belongings.revision == 2
    old = next(memory for memory in belongings.memories if memory.id == fact)
    assert (old.state, old.superseded_by) == (State.SUPERSEDED, winner)


def test_concurrent_remembers_on_one_revision_are_both_stored(store_url, fact):
    told = two_that_decided_on_the_same(
        store_url,
        ("remember", {"content": "Dana has a dog"}),
        ("remember", {"content": "Dana has a cat"}),
    )
    assert sorted((revision, decisions) for _, _, revision, decisions in told) == [(2, 1), (3, 2)]
    assert len(live_of(assert_whole(store_url, USER))) == 3


def test_concurrent_updates_by_four_processes_keep_every_version(store_url, fact):
    count = 8
    with (
        Child(change_in_place, store_url, USER, fact, 0, count) as a,
        Child(change_in_place, store_url, USER, fact, 1, count) as b,
        Child(change_in_place, store_url, USER, fact, 2, count) as c,
        Child(change_in_place, store_url, USER, fact, 3, count) as d,
    ):
        acknowledged = [said for child in (a, b, c, d) for said in child.rest()]
    belongings = assert_whole(store_url, USER)
    by_revision = {v.memory.version: v.memory.metadata.get("mark") for v in belongings.versions}
    assert by_revision == {1: None} | {revision: mark for mark, revision in acknowledged}
    assert len(acknowledged) == 4 * count
    assert belongings.revision == 1 + 4 * count


def test_concurrent_content_updates_by_four_processes_make_one_chain(store_url, fact):
    """Each superseded item names the next; exactly the last is live."""
    count = 5
    with (
        Child(extend_the_chain, store_url, USER, fact, 0, count) as a,
        Child(extend_the_chain, store_url, USER, fact, 1, count) as b,
        Child(extend_the_chain, store_url, USER, fact, 2, count) as c,
        Child(extend_the_chain, store_url, USER, fact, 3, count) as d,
    ):
        acknowledged = dict(said for child in (a, b, c, d) for said in child.rest())
    belongings = assert_whole(store_url, USER)
    memories = {memory.id: memory for memory in belongings.memories}
    chain = [fact]
    while successor := memories[chain[-1]].superseded_by:
        chain.append(successor)
    assert chain[0] == fact
    assert set(chain) == set(memories)
    assert {id: memories[id].content for id in chain[1:]} == acknowledged
    assert list(live_of(belongings)) == [chain[-1]]
    assert belongings.revision == 1 + 4 * count


def test_concurrent_readers_see_revisions_in_commit_order(store_url, fact):
    """Numbers are in commit order: who has seen n + 1 has seen n."""
    request = ("remember", {"content": "Dana sings in a choir"})
    with (
        open_plainly(store_url) as book,
        Child(decide_then_wait, store_url, USER, *request) as second,
    ):
        me = book.user(USER)
        assert second.hear() == ("decided", 1)
        with Child(hold_before_commit, store_url, USER, "Dana plays the cello") as first:
            assert first.hear() == "holding"
            second.tell("go")
            assert me.revision == 1
            assert me.recall("cello choir").is_empty
            first.tell("go")
            assert first.hear() == 2
        assert me.recall("cello").hits[0].text == "Dana plays the cello"
        assert second.hear()[2] == 3
        assert me.recall("choir").hits[0].text == "Dana sings in a choir"
        assert me.recall("cello").hits[0].text == "Dana plays the cello"
    assert assert_whole(store_url, USER).revision == 3


def test_write_blocked_beyond_lock_timeout_raises_store_busy(store_url, open_book):
    me = open_book(lock_timeout=0.2).user(USER)
    me.remember("Dana has a boat")
    with Child(hold_before_commit, store_url, USER, "Dana plays the cello") as other:
        assert other.hear() == "holding"
        with pytest.raises(StoreBusy) as refused:
            me.remember("Dana sings in a choir")
        assert refused.value.retryable
        other.tell("go")
        assert other.hear() == 2
    assert me.remember("Dana sings in a choir").revision == 3
    assert_whole(store_url, USER)
