"""Opening a store tidies it once a day, so that endings happen where no worker ever runs."""

from __future__ import annotations

import pytest

from commonplace.model.journal import Event
from support.whole import owned_by


@pytest.fixture
def left_alone(open_book, clock):
    """Two users with something that has ended, and a month in which nobody came."""
    with open_book() as book:
        for name in ("ana", "bob"):
            me = book.user(name)
            me.remember("Stays for good")
            me.remember("Ends in a week", ttl_days=7)
            me.forget(me.remember("Forgotten today").id)
    clock.tick(days=31)


def contents(me):
    return {memory.content for memory in owned_by(me).memories}


def test_open_deletes_expired_and_purges_forgotten_memories(left_alone, open_book):
    book = open_book()
    for name in ("ana", "bob"):
        me = book.user(name)
        assert contents(me) == {"Stays for good"}
        gone = [row.entry.event for row in owned_by(me).journal if row.entry.new_ref is None]
        assert sorted(gone) == [Event.DELETE, Event.TTL]


def test_open_tidies_at_most_once_a_day(left_alone, open_book, clock):
    me = open_book().user("ana")
    me.remember("Ends in an hour", ttl_days=1 / 24)
    revision = me.revision
    clock.tick(hours=23)
    assert open_book().user("ana").revision == revision
    assert contents(me) == {"Stays for good", "Ends in an hour"}
    clock.tick(hours=1, seconds=1)
    assert open_book().user("ana").revision == revision + 1
    assert contents(me) == {"Stays for good"}


def test_open_completes_pending_erasures(open_book, clock):
    with open_book() as book:
        me = book.user("ana")
        me.erase(me.remember("Erased, but not compacted").id)
        assert me.stats().erasures_pending == 1
    clock.tick(days=2)
    assert open_book().user("ana").stats().erasures_pending == 0


def test_open_without_tidy_on_open_changes_nothing(left_alone, open_book):
    me = open_book(tidy_on_open=False).user("ana")
    assert contents(me) == {"Stays for good", "Ends in a week", "Forgotten today"}
