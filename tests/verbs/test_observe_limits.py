"""observe: three memories of a turn, so many of a day, and one call to the embedder."""

from __future__ import annotations

import pytest

from commonplace.engine.memories.candidates import SkipReason
from commonplace.model.memory.kinds import Action
from support.embedders import Counting, Switchable

MANY = (
    "I am allergic to peanuts. I love hiking. I hate cilantro. I play the violin. "
    "My sister Noa works at Google."
)


def reasons(observed):
    return [each.reason for each in observed.skipped]


def like(thing):
    return f"I love {thing}."


THINGS = ("hiking", "old maps", "black tea", "loud trains", "small dogs")


def test_observe_stores_at_most_three_memories_by_confidence(me):
    observed = me.observe(MANY)
    assert len(observed.stored) == 3
    assert reasons(observed) == [SkipReason.TURN_FULL] * len(observed.skipped) != []
    sure = [each.confidence for each in observed.stored]
    assert sure == sorted(sure, reverse=True)
    assert min(sure) >= max(each.confidence for each in observed.skipped)


def test_observe_daily_limit_follows_the_setting_and_resets_next_day(open_book, clock):
    me = open_book(observe_daily=2).user("ana")
    told = [me.observe(like(thing)) for thing in THINGS[:3]]
    assert [len(each.stored) for each in told] == [1, 1, 0]
    assert reasons(told[2]) == [SkipReason.DAY_FULL]
    assert len(me.list().memories) == 2
    assert len(me.show(told[0].source_id).passages) == 3  # the turns themselves are kept
    clock.tick(days=1)
    assert len(me.observe(like(THINGS[3])).stored) == 1


def test_observe_daily_limit_does_not_count_refreshes(open_book, clock):
    me = open_book(observe_daily=1).user("ana")
    me.observe(like("hiking"))
    clock.tick(minutes=1)
    (again,) = me.observe(like("hiking")).stored
    assert again.remembered.action is Action.REFRESHED
    assert reasons(me.observe(like("old maps"))) == [SkipReason.DAY_FULL]


def test_observe_daily_limit_counts_held_values(open_book, clock):
    me = open_book(observe_daily=2).user("ana")
    for value in ("one1", "two2", "three3"):
        clock.tick(minutes=1)
        last = me.observe(f"Remember that the wifi password is {value}.")
    assert (last.conflicts, reasons(last)) == ((), [SkipReason.DAY_FULL])


def test_observe_daily_limit_is_not_released_by_forget_and_erase(open_book):
    me = open_book(observe_daily=2).user("ana")
    first, second = (me.observe(like(thing)).stored[0].remembered.id for thing in THINGS[:2])
    me.forget(first)
    me.erase(second)
    assert reasons(me.observe(like(THINGS[2]))) == [SkipReason.DAY_FULL]


def test_observe_daily_limit_is_per_user_across_threads_and_agents(open_book):
    book = open_book(observe_daily=1)
    me = book.user("ana")
    me.agent("planner").observe(like("hiking"), thread="a")
    assert reasons(me.observe(like("old maps"), thread="b")) == [SkipReason.DAY_FULL]
    assert book.user("ben").observe(like("hiking")).stored


def test_observe_many_applies_the_daily_limit_in_order(open_book):
    me = open_book(observe_daily=3).user("ana")
    answers = me.observe_many([like(thing) for thing in THINGS])
    assert [len(each.stored) for each in answers] == [1, 1, 1, 0, 0]
    assert [reasons(each) for each in answers[3:]] == [[SkipReason.DAY_FULL]] * 2


def test_observe_daily_limit_of_zero_stores_no_memories(open_book):
    me = open_book(observe_daily=0).user("ana")
    assert reasons(me.observe(like("hiking"))) == [SkipReason.DAY_FULL]


def test_observe_daily_limit_does_not_reveal_hidden_memories_to_an_agent(open_book, clock):
    """An agent that could tell by the day's limit whether it was right would guess on."""
    me = open_book(observe_daily=2).user("ana")
    me.observe("My dentist is Dr. Rosen, 050-123-4567.", thread="own")
    planner = me.agent("planner")  # which does not see relationships
    known = planner.observe("My dentist is Dr. Rosen, 050-123-4567.", thread="a")
    clock.tick(minutes=1)
    assert [each.remembered.action for each in known.stored] == [Action.STORED]
    assert len(me.list(kinds=["contact"]).memories) == 1
    full = planner.observe("My dentist is Dr. Rosen, 050-123-4567.", thread="a")
    assert reasons(full) == [SkipReason.DAY_FULL]


def test_observe_stores_at_most_five_souls(me):
    for number in range(6):
        observed = me.observe(
            f"Update your soul: guards garden number {number} with {THINGS[number % 5]}."
        )
    assert len(me.list(kinds=["soul"]).memories) <= 5
    assert [each.reason for each in observed.skipped] == [SkipReason.REFUSED]


def test_observe_calls_the_embedder_once_per_turn_or_batch(open_book):
    embedder = Counting()
    me = open_book(embedder=embedder).user("ana")
    me.observe("My sister Noa works at Google. I love hiking.")
    assert embedder.calls == 1
    me.observe_many([like(thing) for thing in THINGS] + ["ok", "Thanks, that helps."])
    assert embedder.calls == 2


@pytest.mark.parametrize("turn", [MANY, "ok"])
def test_observe_stores_everything_during_an_embedder_outage(open_book, clock, turn):
    embedder = Switchable()
    embedder.down = True
    book = open_book(embedder=embedder, worker="off")
    me = book.user("ana")
    observed = me.observe(turn)
    assert len(observed.stored) == (3 if turn == MANY else 0)
    assert all("embedder is down" in each.remembered.warnings[0] for each in observed.stored)
    assert len(me.show(observed.source_id).passages) == 1
    embedder.down = False
    clock.tick(minutes=5)
    book.work(once=True)
    assert all(finding.ok for finding in me.doctor())
