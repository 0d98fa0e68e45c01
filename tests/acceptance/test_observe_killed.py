"""Killed while a turn is observed: the turn and what came of it are there, or neither; and two
processes at once neither lose a turn nor go beyond what a day may give."""

from __future__ import annotations

from support.kills import IN_A_WRITE, killed_at
from support.processes import Child
from support.scenarios import wait_until_alone
from support.source_children import die_while_observing, observe_many_things
from support.whole import assert_whole, open_plainly

TURN = "I am allergic to peanuts. I live in Berlin."
DAILY = 5
EACH = 8


def kept(url):
    """Turns, memories and proposals of a memory that is whole."""
    belongings = assert_whole(url, "ana")
    with open_plainly(url) as book:
        me = book.user("ana")
        turns = [p.text for source in me.sources().sources for p in me.show(source.id).passages]
    return turns, len(belongings.memories), len(belongings.proposals)


@killed_at(IN_A_WRITE)
def test_observe_killed_stores_turn_and_memories_together_or_neither(store_url, failpoint):
    with open_plainly(store_url) as book:
        book.user("ana").observe("Hello!")
    with Child(die_while_observing, store_url, "ana", failpoint, TURN) as child:
        assert child.rest() == []
        assert child.was_killed()
    wait_until_alone(store_url)
    done = failpoint == "apply.after_commit"
    assert kept(store_url) == ((["Hello!", TURN], 2, 1) if done else (["Hello!"], 0, 0))
    with open_plainly(store_url) as book:
        book.user("ana").observe(TURN)
    assert kept(store_url) == (["Hello!", TURN, *([TURN] if done else [])], 2, 1)


def test_observe_by_two_processes_keeps_every_turn_and_the_daily_limit(store_url):
    with open_plainly(store_url):
        pass
    with (
        Child(observe_many_things, store_url, "ana", "one", EACH, DAILY) as one,
        Child(observe_many_things, store_url, "ana", "other", EACH, DAILY) as other,
    ):
        assert one.hear() == other.hear() == "ready"
        one.tell("go")
        other.tell("go")
        stored = one.hear() + other.hear()
    turns, memories, _ = kept(store_url)
    assert len(turns) == len(set(turns)) == 2 * EACH
    assert memories == stored == DAILY
