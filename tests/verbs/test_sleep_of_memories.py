"""What a night ends: expired, idle and volatile memories, expired notes; within its limits."""

from __future__ import annotations

import pytest

from commonplace.engine.maintenance.sleep.tasks.expiry import run_expiry
from commonplace.engine.maintenance.sleep.tasks.idle import run_idle
from commonplace.engine.maintenance.sleep.tasks.notes import run_notes
from commonplace.engine.maintenance.sleep.tasks.volatile import run_volatile
from support.sleeping import actions_of, rehearsed, sleep_through


@pytest.fixture
def book(open_book):
    """Jobs run when a test says so: a worker would have a night of its own."""
    return open_book(worker="off")


def live(me):
    return {memory.id for memory in me.list(limit=1000).memories}


def test_expiry_deletes_what_has_ended_and_ends_nothing_else(me, clock):
    kept = me.remember("The tulip code is 4711").id
    ended = me.remember("Call the plumber about the lily", ttl_days=1).id
    forgotten = me.remember("Buy a fern").id
    me.forget([forgotten])
    clock.tick(days=31)
    found = actions_of(sleep_through(me, run_expiry, live=0))
    assert [action.can_be_undone for action in found] == [False] * len(found)
    assert [action.ends for action in found] == [()] * len(found)  # they had ended before
    assert live(me) == {kept}
    assert me.verify_forget("lily").clean
    assert me.verify_forget("fern").clean
    assert me.history(ended)[0]["actor"] == "worker:sleep"
    assert actions_of(sleep_through(me, run_expiry)) == []


def test_expiry_in_a_dry_run_shows_all_stages_and_changes_nothing(me, clock):
    me.remember("Call the plumber", ttl_days=1)
    me.forget([me.remember("Buy a fern").id])
    me.ingest("Ana: A heron came.", format="transcript", ttl_policy="ephemeral")
    clock.tick(days=31)
    before = list(me.export())
    shown = rehearsed(me, run_expiry).actions
    assert sorted(action.why for action in shown) == ["expired", "expired", "forgotten long ago"]
    assert rehearsed(me, run_expiry).actions == shown
    assert list(me.export()) == before


def test_expiry_of_more_than_a_batch_is_complete(me, clock):
    parcels = ({"content": f"Parcel {n} came", "kind": "note"} for n in range(230))
    me.remember_many([{**parcel, "ttl_days": 1} for parcel in parcels])
    clock.tick(days=2)
    batches = sleep_through(me, run_expiry)
    assert [len(batch.actions) for batch in batches] == [100, 100, 30, 0]


def test_idle_memories_end_within_the_limit_least_important_first(me, clock):
    one = [me.remember(f"Saw bird {n}", kind="event", importance=1).id for n in range(4)]
    two = [me.remember(f"Met person {n}", kind="event").id for n in range(8)]
    kept = [
        me.remember("Pinned sight", kind="event", pinned=True).id,
        me.remember("A wedding", kind="event", importance=3).id,
        me.remember("The code is 4711", kind="note").id,
    ]
    clock.tick(days=60)
    (batch,) = sleep_through(me, run_idle, live=15)  # 20 % would be 3: at least 5
    assert (len(batch.actions), batch.waiting) == (5, 7)
    assert not live(me) & set(one)
    assert len(live(me) & set(two)) == 7
    (rest,) = sleep_through(me, run_idle, live=1000)
    assert (len(rest.actions), rest.waiting) == (7, 0)
    assert live(me) == set(kept)
    assert set(me.restore(one).ids) == set(one)


def test_idle_memories_are_told_once_in_the_delta_header(me, clock):
    me.remember("Saw a heron", kind="event")
    assert me.changes().header is not None
    clock.tick(days=61)
    sleep_through(me, run_idle)
    header = me.changes().header
    assert "−forgotten" in header
    assert "heron" in header
    assert me.changes().header == ""


def test_idle_ends_nothing_in_a_second_night_and_nothing_that_was_read(me, clock):
    me.remember("Saw a heron", kind="event")
    clock.tick(days=59)
    me.recall("heron")
    clock.tick(days=2)
    assert actions_of(sleep_through(me, run_idle)) == []
    clock.tick(days=60)
    assert len(actions_of(sleep_through(me, run_idle))) == 1
    assert actions_of(sleep_through(me, run_idle)) == []


def volatile(me, count, **more):
    fields = {"kind": "note", "stability": "volatile", **more}
    return [me.remember(f"Volatile matter {n} of {fields}", **fields).id for n in range(count)]


def test_volatile_memories_are_merged_in_fives_into_a_stable_summary(me, clock):
    ids = volatile(me, 12)
    pinned = volatile(me, 5, pinned=True)
    clock.tick(days=8)
    actions = actions_of(sleep_through(me, run_volatile))
    assert [action.ends for action in actions] == [tuple(ids[:5]), tuple(ids[5:10])]
    assert [type(step).__name__ for step in actions[0].steps] == ["AddMemory"] + [
        "ChangeMemory"
    ] * 5
    summaries = [m for m in me.list(limit=100).memories if m.kind == "summary"]
    assert [m.stability for m in summaries] == ["stable", "stable"]
    assert live(me) == {*ids[10:], *pinned, *(m.id for m in summaries)}
    assert actions_of(sleep_through(me, run_volatile)) == []


def test_volatile_memories_over_the_limit_wait(me, clock):
    ids = volatile(me, 15)
    clock.tick(days=8)
    (batch,) = sleep_through(me, run_volatile, live=35)  # 7 may end: one batch of five
    assert (len(batch.actions), batch.waiting) == (1, 10)
    (batch,) = sleep_through(me, run_volatile, live=0, ended=1)
    assert (len(batch.actions), batch.waiting) == (0, 10)
    assert len(live(me) & set(ids)) == 10


def test_volatile_memories_that_changed_meanwhile_are_not_merged(me, clock):
    ids = volatile(me, 5)
    clock.tick(days=8)

    def meanwhile(night):
        decide = run_volatile(night)
        me.update(ids[0], importance=3)
        return decide

    assert actions_of(sleep_through(me, meanwhile)) == []
    assert live(me) == set(ids)


def test_expired_notes_leave_the_node_and_its_search_text(me, clock):
    node = me.nodes_add("Sarah Chen").id
    me.note([node], "wants to learn the zither", lifetime="week")
    me.note([node], "has an allergy to nuts", lifetime="forever")
    clock.tick(days=8)
    (action,) = actions_of(sleep_through(me, run_notes))
    assert action.items == 1
    assert [note.content for note in me.node(node).notes] == ["has an allergy to nuts"]
    assert me.verify_forget("zither").clean
    assert not me.verify_forget("allergy to nuts").clean
    assert actions_of(sleep_through(me, run_notes)) == []


@pytest.mark.parametrize("task", [run_expiry, run_idle, run_volatile, run_notes])
def test_an_empty_memory_sleeps_well(me, task):
    assert actions_of(sleep_through(me, task)) == []
