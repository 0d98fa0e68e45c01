"""Killed at any moment of extracting, or done by two at once: what comes of it is the same."""

from __future__ import annotations

import pytest

from commonplace.model.jobs import LEASE
from support.graph_told import OWNER, TALKS, take_in, told
from support.kills import AT_WORK, IN_A_WRITE, killed_at
from support.processes import Child
from support.scenarios import wait_until_alone
from support.source_children import extract_when_told, extract_while_owed, relate_when_told
from support.stores import raw
from support.whole import assert_whole, open_plainly

NUMBERS = range(len(TALKS))


@pytest.fixture
def undisturbed(tmp_path):
    """What comes of the talks where nothing happens."""
    return _extracted(str(tmp_path / "undisturbed.db"))


def _extracted(url):
    with open_plainly(url) as book:
        me = book.user(OWNER)
        for number in NUMBERS:
            take_in(me, number)
        me.extract()
        return told(me), _remembered(me)


def _remembered(me):
    return sorted((item.kind, item.content) for item in me.list(limit=100).memories)


def _there(url):
    assert_whole(url, OWNER)
    with open_plainly(url) as book:
        me = book.user(OWNER)
        assert me.extract().left == 0
        return told(me), _remembered(me)


@killed_at([*AT_WORK, *IN_A_WRITE])
def test_extract_killed_at_any_failpoint_is_completed_by_another_process(
    store_url, failpoint, undisturbed
):
    with Child(extract_while_owed, store_url, OWNER, failpoint) as child:
        assert child.rest() == []
        assert child.was_killed()
    wait_until_alone(store_url)
    assert_whole(store_url, OWNER)
    raw(store_url, f"UPDATE jobs SET due_at = due_at - {int(LEASE.total_seconds() * 1e6)}")
    with Child(extract_while_owed, store_url, OWNER, None) as other:
        other.rest()
    assert _there(store_url) == undisturbed


def test_extract_by_two_concurrent_processes_makes_one_graph(store_url, undisturbed):
    with open_plainly(store_url) as book:
        for number in NUMBERS:
            take_in(book.user(OWNER), number)
    children = [Child(extract_when_told, store_url, OWNER) for _ in range(2)]
    with children[0] as one, children[1] as two:
        assert [one.hear(), two.hear()] == ["ready", "ready"]
        one.tell("go")
        two.tell("go")
        assert sum(one.rest() + two.rest()) >= len(TALKS)
    assert _there(store_url) == undisturbed


def test_extract_keeps_relations_added_concurrently(store_url, undisturbed):
    with open_plainly(store_url) as book:
        for number in NUMBERS:
            take_in(book.user(OWNER), number)
    with (
        Child(extract_when_told, store_url, OWNER) as one,
        Child(relate_when_told, store_url, OWNER, 5) as two,
    ):
        assert [one.hear(), two.hear()] == ["ready", "ready"]
        one.tell("go")
        two.tell("go")
        one.rest()
        assert two.rest() == [5]
    (nodes, edges), remembered = undisturbed
    (nodes_now, edges_now), remembered_now = _there(store_url)
    assert remembered_now == remembered
    assert edges <= edges_now
    assert len(edges_now) == len(edges) + 5
    assert {node[2] for node in nodes_now} == {node[2] for node in nodes} | {
        f"Guest {number}" for number in range(5)
    }
