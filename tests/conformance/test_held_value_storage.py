"""What a store promises of values that wait: in one question about a memory, or beside it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.errors import StaleDecision
from commonplace.model.changeset import (
    ClearScope,
    HoldValues,
    ImportScope,
    ReleaseHeld,
    build_removal,
)
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import Sensitivity, group_conflicts
from commonplace.store.queries import DisputedMemories, HeldQuery
from support.clock import START
from support.making import (
    ANA,
    BOB,
    a_held,
    a_memory,
    adding,
    changeset,
    holding,
    indexed,
    put,
    updating,
)
from support.stores import all_rows

ASKED = Entry(op=Op.HOLD, event=Event.UPDATE)
DECIDED = Entry(op=Op.RESOLVE, event=Event.UPDATE)


@pytest.fixture
def targets(store):
    """Two memories that can be asked about."""
    pair = [a_memory("The code is 1"), a_memory("The key is red")]
    put(store, pair)
    return pair


def texts(store, **query):
    return [held.memory.content for held in store.held(ANA, HeldQuery(**query))]


def conflicts_of(store, memories):
    return [memory.conflict for memory in store.fetch(ANA, [memory.id for memory in memories])]


def test_held_value_round_trips_every_field(store, targets):
    value = a_held(
        'Ana said "2" — שלום 100%',
        conflict="q",
        kind=Kind.KV,
        mentioned=("metadata", "importance"),
        reason="1 → 2",
        metadata={"subject": "code", "value": {"deep": [2, None]}},
        evidence=("she said so",),
        tags=("a", "é"),
        importance=5,
        confidence=0.25,
        sensitivity=Sensitivity.HIGH,
        pinned=True,
        thread_id="t",
        source_type="email",
        source_id="mail-1",
        valid_from=START,
        expires_at=START + timedelta(days=9),
    )
    store.apply(changeset(HoldValues("q", (value,), ASKED, targets=(targets[0].id,))))
    (back,) = store.held(ANA)
    assert back.memory.evolve(arrived_at=None) == value.memory.evolve(arrived_at=None)
    assert (back.conflict, back.alternative_to, back.mentioned) == ("q", None, value.mentioned)
    assert (back.reason, back.actor, back.held_at) == ("1 → 2", "user:test", START)


def test_hold_marks_the_target_and_leaves_the_rest_unchanged(store, targets):
    store.apply(changeset(holding("The code is 2", targets[0], conflict="q")))
    assert conflicts_of(store, targets) == ["q", None]
    assert [memory.id for memory in store.page(ANA, DisputedMemories())] == [targets[0].id]
    assert store.page(ANA, DisputedMemories(["another"])) == []
    assert store.fetch(ANA, [targets[0].id]) == [targets[0].evolve(conflict="q")]
    assert len(store.versions(ANA, [targets[0].id])) == 1


def test_hold_survives_an_update_of_the_target(store, targets):
    store.apply(changeset(holding("The code is 2", targets[0], conflict="q")))
    store.apply(changeset(updating(targets[0], importance=5)))
    assert conflicts_of(store, targets) == ["q", None]


def test_held_values_are_found_by_conflict_memory_or_id_oldest_first(store, targets):
    later, latest = START + timedelta(hours=1), START + timedelta(hours=2)
    first = a_held("first", conflict="q", held_at=later)
    before = a_held("before", conflict="q", held_at=START)
    beside = a_held("beside", alternative_to=targets[1].id, held_at=latest)
    store.apply(changeset(HoldValues("q", (first, before), ASKED, targets=(targets[0].id,))))
    store.apply(changeset(HoldValues(None, (beside,), ASKED)))
    assert [held.memory.content for held in store.held(ANA)] == ["before", "first", "beside"]
    assert texts(store, conflicts=["q"]) == ["before", "first"]
    assert texts(store, alternative_to=[targets[1].id]) == ["beside"]
    assert texts(store, ids=[first.memory.id, beside.memory.id]) == ["first", "beside"]
    assert texts(store, ids=["nowhere"]) == texts(store) == []


def test_held_alternative_marks_no_conflict(store, targets):
    store.apply(changeset(HoldValues(None, (a_held("else", alternative_to=targets[0].id),), ASKED)))
    assert conflicts_of(store, targets) == [None, None]
    assert store.page(ANA, DisputedMemories()) == []


def test_hold_again_moves_the_value_to_the_new_target(store, targets):
    value = a_held("else", alternative_to=targets[0].id, reason="before")
    store.apply(changeset(HoldValues(None, (value,), ASKED)))
    moved = a_held("else", id=value.memory.id, alternative_to=targets[1].id, reason="now")
    store.apply(changeset(HoldValues(None, (moved,), ASKED)))
    (back,) = store.held(ANA)
    assert (back.alternative_to, back.reason) == (targets[1].id, "now")


def test_conflict_absorbs_other_conflicts_with_values_and_targets(store, targets):
    store.apply(changeset(holding("one", targets[0], conflict="q1")))
    store.apply(changeset(holding("two", targets[1], conflict="q2")))
    store.apply(changeset(holding("three", *targets, conflict="q1", absorbs=("q2",))))
    assert conflicts_of(store, targets) == ["q1", "q1"]
    assert sorted(texts(store, conflicts=["q1"])) == ["one", "three", "two"]
    assert texts(store, conflicts=["q2"]) == []
    (conflict,) = group_conflicts(store.held(ANA), store.page(ANA, DisputedMemories()))
    assert (conflict.id, len(conflict.targets), len(conflict.held)) == ("q1", 2, 3)


def test_memory_is_target_of_at_most_one_conflict(store, targets):
    store.apply(changeset(holding("one", targets[0], conflict="q1")))
    store.apply(changeset(holding("two", targets[0], conflict="q2")))
    assert conflicts_of(store, targets[:1]) == ["q2"]


def test_hold_releases_a_memory_from_the_conflict(store, targets):
    store.apply(changeset(holding("one", targets[0], conflict="q")))
    follows = HoldValues("q", (), ASKED, targets=(targets[1].id,), releases=(targets[0].id,))
    store.apply(changeset(follows))
    assert conflicts_of(store, targets) == [None, "q"]
    assert texts(store, conflicts=["q"]) == ["one"]


def test_release_held_keeps_the_conflict_until_closed(store, targets):
    first, second = a_held("one", conflict="q"), a_held("two", conflict="q")
    store.apply(changeset(HoldValues("q", (first, second), ASKED, targets=(targets[0].id,))))
    store.apply(changeset(ReleaseHeld((first.memory.id,), DECIDED)))
    assert (texts(store, conflicts=["q"]), conflicts_of(store, targets)) == (["two"], ["q", None])
    store.apply(changeset(ReleaseHeld((second.memory.id,), DECIDED, "q")))
    assert (store.held(ANA), store.page(ANA, DisputedMemories())) == ([], [])


def test_hold_accepts_a_target_of_the_same_changeset(store):
    memory = a_memory("The lamp is green")
    store.apply(changeset(adding(memory), holding("The lamp is red", memory, conflict="q")))
    assert conflicts_of(store, [memory]) == ["q"]


def test_hold_increments_revision_and_journal(store, targets):
    before = store.counters(ANA)
    store.apply(changeset(holding("one", targets[0], conflict="q")))
    after = store.counters(ANA)
    assert (after.revision, after.journal) == (before.revision + 1, before.journal + 1)


def test_hold_on_a_stale_revision_writes_nothing(store, store_url, targets):
    rows = all_rows(store_url)
    with pytest.raises(StaleDecision):
        store.apply(changeset(holding("one", targets[0], conflict="q"), decided_on=0))
    assert all_rows(store_url) == rows


# ——— what goes, goes with what it was about ———


@pytest.mark.parametrize("event", [Event.ERASE, Event.DELETE, Event.TTL])
def test_removal_of_a_memory_removes_held_alternatives(store, targets, event):
    store.apply(changeset(HoldValues(None, (a_held("else", alternative_to=targets[0].id),), ASKED)))
    store.apply(changeset(build_removal(targets[0], event=event)))
    assert store.held(ANA) == []


def test_purge_of_a_target_keeps_the_conflict_without_reason_text(store, targets):
    store.apply(changeset(holding("one", targets[0], conflict="q")))
    store.apply(changeset(build_removal(targets[0], event=Event.DELETE)))
    (held,) = store.held(ANA)
    assert (held.conflict, held.reason) == ("q", "")


def test_erase_of_the_last_target_removes_the_conflict(store, targets):
    store.apply(changeset(holding("one", *targets, conflict="q")))
    store.apply(changeset(build_removal(targets[0], event=Event.ERASE)))
    assert [(held.conflict, held.reason) for held in store.held(ANA)] == [("q", "")]
    store.apply(changeset(build_removal(targets[1], event=Event.ERASE)))
    assert store.held(ANA) == []


def test_erase_of_all_targets_at_once_removes_the_conflict(store, targets):
    store.apply(changeset(holding("one", *targets, conflict="q")))
    store.apply(changeset(*(build_removal(target, event=Event.ERASE) for target in targets)))
    assert store.held(ANA) == []


def test_clear_scope_removes_held_values_of_that_scope_only(store, targets):
    his = a_memory("His", user_id="bob")
    put(store, [his], BOB)
    store.apply(changeset(holding("of bob", his, conflict="q"), scope=BOB))
    store.apply(changeset(holding("of ana", targets[0], conflict="q")))
    store.apply(changeset(ClearScope(Entry(op=Op.DELETE, event=Event.ERASE))))
    assert store.held(ANA) == []
    assert [held.memory.content for held in store.held(BOB)] == ["of bob"]
    assert store.fetch(BOB, [his.id])[0].conflict == "q"


def test_conflict_ids_may_repeat_across_scopes(store, targets):
    his = a_memory("His", user_id="bob")
    put(store, [his], BOB)
    store.apply(changeset(holding("of bob", his, conflict="q"), scope=BOB))
    store.apply(changeset(holding("of ana", targets[0], conflict="q")))
    store.apply(changeset(ReleaseHeld((), DECIDED, "q")))
    assert store.page(ANA, DisputedMemories()) == []
    assert [memory.id for memory in store.page(BOB, DisputedMemories())] == [his.id]


def test_import_scope_includes_conflicts_and_held_values(store):
    disputed = a_memory("The code is 1", conflict="q")
    values = (a_held("The code is 2", conflict="q"), a_held("else", alternative_to=disputed.id))
    copy = ImportScope(((disputed, indexed(disputed)),), (), (), (), 1, 0, values)
    store.apply(changeset(copy))
    assert [memory.id for memory in store.page(ANA, DisputedMemories(["q"]))] == [disputed.id]
    assert sorted(held.memory.content for held in store.held(ANA)) == ["The code is 2", "else"]


# ——— loose ends ———


def loose(store):
    return {what: count for what, count in store.statistics(ANA).loose_ends.items() if count}


def test_loose_ends_are_empty_for_a_complete_conflict(store, targets):
    store.apply(changeset(holding("one", targets[0], conflict="q")))
    store.apply(changeset(HoldValues(None, (a_held("else", alternative_to=targets[0].id),), ASKED)))
    assert loose(store) == {}


def test_loose_ends_count_empty_conflicts_and_orphaned_alternatives(store, targets):
    store.apply(changeset(HoldValues("q", (), ASKED, targets=(targets[0].id,))))
    store.apply(changeset(HoldValues(None, (a_held("else", alternative_to="nowhere"),), ASKED)))
    assert loose(store) == {
        "disputed memories without a held value": 1,
        "alternatives without a memory": 1,
    }
