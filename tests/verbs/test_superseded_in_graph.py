"""Removing what replaced a fact does not make the old fact current again, in the graph either."""

from __future__ import annotations

import pytest

OLD, NEW = "I work at Siemens", "I work at Bosch now"
QUESTION = "who is my employer?"


@pytest.fixture
def book(open_book):
    return open_book(extraction="auto", worker="off", tidy_on_open=False)


def current(user):
    return sorted(
        each.to_name for each in user.edges().edges if each.relationship_type == "works-at"
    )


def history(user):
    edges = user.edges(past=True).edges
    return sorted((each.to_name, str(each.valid_to)) for each in edges)


@pytest.fixture(params=["remembered", "observed", "observed in two threads"])
def employers(me, clock, request):
    """The ids of the old and the new memory."""
    if request.param == "remembered":
        old = me.remember(OLD, kind="fact").id
        clock.tick(days=3)
        return old, me.remember(NEW, kind="fact").id
    old = me.observe(OLD, thread="t1").stored[0].remembered.id
    clock.tick(days=3)
    thread = "t1" if request.param == "observed" else "t2"
    return old, me.observe(NEW, thread=thread).stored[0].remembered.id


def assert_not_revived(me):
    assert current(me) == []
    assert not any(hit.kind == "edge" and "Siemens" in hit.text for hit in me.recall(QUESTION).hits)
    assert "where the user works" not in me.context("work").text


@pytest.mark.parametrize("remove", ["forget", "erase"])
def test_removing_the_newer_fact_does_not_revive_the_older_relation(me, employers, remove):
    new = employers[1]
    assert current(me) == ["Bosch"]
    helper = me.agent("supervisor")
    helper.changes()
    getattr(me, remove)(new)
    assert_not_revived(me)
    assert "Siemens" not in helper.changes().header
    me.extract()
    assert_not_revived(me)


def test_restoring_the_newer_fact_brings_back_the_state_before(me, employers):
    before = history(me)
    me.forget(employers[1])
    me.restore(employers[1])
    assert (history(me), current(me)) == (before, ["Bosch"])
    me.extract()
    assert (history(me), current(me)) == (before, ["Bosch"])


def test_restoring_the_older_fact_after_the_newer_was_removed_revives_it(me, employers):
    old, new = employers
    me.erase(new)
    me.restore(old)
    assert current(me) == ["Siemens"]


def test_the_older_relation_goes_with_its_own_memory(me, employers):
    old, new = employers
    me.erase(new)
    me.erase(old)
    assert history(me) == []
    assert me.verify_forget("Siemens").clean


def test_saying_the_older_fact_again_makes_it_current(me, employers, clock):
    me.erase(employers[1])
    clock.tick(days=2)
    me.remember("I work at Siemens again", kind="fact")
    assert current(me) == ["Siemens"]


def test_update_and_restore_of_the_older_wording_swap_the_relations(me, clock):
    old = me.remember("Mira works at Kelp Labs", kind="fact")
    clock.tick(days=1)
    me.update(old.id, content="Mira works at Bluefin")
    assert current(me) == ["Bluefin"]
    me.restore(old.id)
    assert current(me) == ["Kelp Labs"]


def test_forgetting_a_turn_does_not_revive_what_it_replaced(me, clock):
    me.observe(OLD, thread="t1")
    clock.tick(days=3)
    seen = me.observe(NEW, thread="t1")
    me.forget(seen.passages[0])
    assert_not_revived(me)
    me.restore(seen.passages[0])
    assert current(me) == ["Bosch"]


def test_a_relation_that_a_document_ended_is_open_without_the_document(me, clock):
    me.remember("Mira works at Kelp Labs", kind="fact")
    clock.tick(days=3)
    letter = me.ingest("Mira works at Bluefin.", wait=True)
    me.extract()
    assert current(me) == ["Bluefin"]
    me.erase(letter.id)
    assert current(me) == ["Kelp Labs"]
