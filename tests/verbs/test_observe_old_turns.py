"""observe: what was said long ago holds since then, and does not replace what was said later."""

from __future__ import annotations

from datetime import UTC, datetime


def at(year):
    return datetime(year, 10, 1, tzinfo=UTC)


def facts(me):
    return [memory.content for memory in me.list(kinds=["fact"]).memories]


def recalled(me, **when):
    hits = me.recall("where does the user work", kinds=["fact"], **when).hits
    return [hit.text for hit in hits]


def test_observe_sets_valid_from_to_the_time_of_the_turn(me):
    (kept,) = me.observe("I work at Acme.", at=at(2020)).stored
    assert kept.remembered.memory.valid_from == at(2020)


def test_observe_older_turn_arriving_later_becomes_history(me):
    me.observe("I work at Acme.", at=at(2022))
    me.observe("I work at Globex.", at=at(2019), thread="old")
    assert facts(me) == ["The user works at Acme."]
    assert recalled(me) == ["The user works at Acme."]
    assert recalled(me, as_of=at(2020)) == ["The user works at Globex."]
    assert recalled(me, as_of=at(2023)) == ["The user works at Acme."]
    assert recalled(me, as_of=at(2018)) == []


def test_observe_dated_turns_supersede_at_the_time_of_the_turn(me):
    me.observe("I work at Globex.", at=at(2019))
    me.observe("I work at Acme.", at=at(2022))
    assert facts(me) == ["The user works at Acme."]
    assert recalled(me, as_of=at(2020)) == ["The user works at Globex."]
    assert recalled(me, as_of=at(2023)) == ["The user works at Acme."]


def test_observe_dates_a_memory_by_its_turn_and_its_arrival_by_the_clock(me, clock):
    (kept,) = me.observe("I work at Acme.", at=at(2020)).stored
    memory = me.show(kept.remembered.id).memory
    assert (memory.created_at, memory.updated_at) == (at(2020), at(2020))
    assert memory.arrived_at == clock.now
