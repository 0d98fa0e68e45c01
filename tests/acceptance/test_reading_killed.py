"""Killed at any moment of reading, or read by two at once: nothing is doubled, nothing lost."""

from __future__ import annotations

import pytest

from commonplace.model.graph.snapshot import MODEL_ACTOR
from commonplace.model.jobs import LEASE
from commonplace.store.queries import AssertionQuery, JournalQuery
from support.findings import memory, relation, turns
from support.kills import AT_WORK, IN_A_WRITE, killed_at
from support.model_server import model_server
from support.processes import Child
from support.reading_children import (
    OWNER,
    open_with_model,
    read_when_told,
    read_while_owed,
    say_all,
)
from support.scenarios import wait_until_alone
from support.stores import raw
from support.whole import assert_whole

FOUND = turns(
    memory(1, "picking up my son Ori from judo", "The user's son Ori does judo."),
    memory(2, "Ori's coach is Grigory", "Ori's coach is Grigory."),
    memory(
        3,
        "gym locker is 0417",
        "gym locker: 0417",
        kind="value",
        subject="gym locker",
        value="0417",
    ),
    relations=[
        relation(1, "my son Ori", "Ori", "child", "me"),
        relation(2, "coach is Grigory", "Grigory", "coach-of", "Ori"),
    ],
)


@pytest.fixture
def model():
    with model_server(FOUND) as server:
        yield server


def _there(url, model):
    """Memories, assertions of the model, and how many windows were read."""
    assert_whole(url, OWNER)
    with open_with_model(url, model.url) as book:
        me = book.user(OWNER)
        store, scope = me._engine.store, me.principal.scope
        (source,) = me.sources().sources
        found = store.assertions(scope, AssertionQuery(sources=[source.id]))
        rows = store.journal(scope, JournalQuery())
        windows = [row for row in rows if row.entry.meta.get("read_by") == "model"]
        return (
            sorted((item.kind, item.content, item.confidence) for item in me.list().memories),
            sorted(each.name for each in found.nodes if each.by == MODEL_ACTOR),
            sorted(each.type for each in found.edges if each.by == MODEL_ACTOR),
            len([row for row in windows if row.entry.subject == source.id]),
        )


@pytest.fixture
def undisturbed(tmp_path, model):
    url = str(tmp_path / "undisturbed.db")
    with open_with_model(url, model.url) as book:
        say_all(book.user(OWNER))
        while book.work(once=True).done:
            pass
    there = _there(url, model)
    assert there[-1] == 1
    assert len(there[0]) >= 3
    return there


@killed_at([*AT_WORK, *IN_A_WRITE])
def test_reading_killed_at_any_failpoint_is_completed_by_another_process(
    store_url, failpoint, undisturbed, model
):
    asked = len(model.requests)
    with Child(read_while_owed, store_url, model.url, failpoint) as child:
        assert child.rest() == []
        assert child.was_killed()
    wait_until_alone(store_url)
    assert_whole(store_url, OWNER)
    raw(store_url, f"UPDATE jobs SET due_at = due_at - {int(LEASE.total_seconds() * 1e6)}")
    with Child(read_while_owed, store_url, model.url, None) as other:
        other.rest()
    assert _there(store_url, model) == undisturbed
    assert len(model.requests) == asked + 1  # an answer that came is kept


def test_reading_by_two_workers_at_once_doubles_nothing(store_url, undisturbed, model):
    with open_with_model(store_url, model.url) as book:
        say_all(book.user(OWNER))
    children = [Child(read_when_told, store_url, model.url) for _ in range(2)]
    with children[0] as one, children[1] as two:
        assert [one.hear(), two.hear()] == ["ready", "ready"]
        one.tell("go")
        two.tell("go")
        assert sum(one.rest() + two.rest()) == 1
    assert _there(store_url, model) == undisturbed
