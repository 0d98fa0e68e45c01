"""Open proposals for the profile are hidden with what they come from, and restored with it."""

from __future__ import annotations

import pytest

from commonplace.errors import NotFound

MOVED = "We've moved to York, love it here"
QUESTION = "where do I live?"


@pytest.fixture
def observed(me):
    seen = me.observe(MOVED, thread="t1")
    return seen.stored[0].remembered.id, seen.passages[0], seen.source_id


@pytest.mark.parametrize("place", [0, 1, 2], ids=["memory", "turn", "source"])
def test_forget_hides_the_proposal_and_restore_brings_it_back(me, observed, place):
    item = observed[place]
    before = me.proposals()
    assert [each.value for each in before] == ["York"]
    me.forget(item)
    assert me.proposals() == []
    assert not any("York" in hit.text for hit in me.recall(QUESTION).hits)
    assert me.stats().proposals == 0
    me.restore(item)
    assert me.proposals() == before
    assert any(hit.proposed for hit in me.recall(QUESTION).hits)


def test_forget_of_a_turn_without_a_memory_hides_its_proposal(me):
    seen = me.observe("call me Izzy", thread="t1")
    assert [each.value for each in me.proposals()] == ["Izzy"]
    me.forget(seen.passages[0])
    assert me.proposals() == []
    assert not any("Izzy" in hit.text for hit in me.recall("what should you call me?").hits)


def test_forget_of_another_turn_keeps_the_proposal(me, observed):
    other = me.observe("The kiln is fired on Sundays at nine.", thread="t1")
    me.forget(other.passages[0])
    assert [each.value for each in me.proposals()] == ["York"]


def test_proposal_stays_while_another_turn_says_the_same(me, observed, clock):
    again = me.observe("I live in York now, by the way.", thread="t2")
    assert [each.signals for each in me.proposals()] == [2]
    me.forget(observed[1])
    (left,) = me.proposals()
    assert (left.value, left.signals) == ("York", 1)
    assert not any("moved" in text for text in left.evidence)
    me.forget(again.passages[0])
    assert me.proposals() == []


def test_signal_added_meanwhile_keeps_the_forgotten_one_restorable(me, observed):
    me.observe("I live in York now, by the way.", thread="t2")
    me.forget(observed[1])
    me.observe("As I said, I live in York.", thread="t3")
    me.restore(observed[1])
    assert any("moved" in text for text in me.proposals()[0].evidence)


def test_forgotten_proposal_cannot_be_accepted(me, observed):
    (proposal,) = me.proposals()
    me.forget(observed[0])
    with pytest.raises(NotFound):
        me.accept(proposal.id)


def test_restored_proposal_is_not_open_after_its_time(me, observed, clock):
    me.forget(observed[0])
    clock.tick(days=8)
    me.restore(observed[0])
    assert me.proposals() == []


def test_purge_ends_the_proposal_of_what_is_purged(open_book, clock):
    me = open_book(restorable_days=2).user("ana")
    me.forget(me.observe(MOVED, thread="t1").stored[0].remembered.id)
    clock.tick(days=3)
    me.tidy()
    assert me.proposals() == []
    assert me.verify_forget("moved to York").clean
