"""What no night may do, and which actions an undo takes back: pure rules."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.engine.maintenance.sleep.invariants import (
    NO_SUCCESSOR,
    PROTECTED,
    REMOVES_LIVE,
    TOO_MANY_ENDINGS,
    KnownItems,
    broken_rule,
)
from commonplace.engine.maintenance.sleep.undo_plan import plan_undo
from commonplace.model.changeset import build_change, build_removal
from commonplace.model.graph.steps import SetArchived
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.kinds import Stability, TtlPolicy
from commonplace.model.memory.memory import State
from commonplace.model.sleep import ItemKind, SleepChange, SleepTask
from support.clock import START
from support.making import a_memory, adding
from support.sources import a_source

NOW = START + timedelta(days=1)


def forgetting(memory):
    after = memory.evolve(state=State.SOFT_DELETED, purge_at=NOW + timedelta(days=30))
    return build_change(memory, after, op=Op.DELETE, event=Event.TTL)


def superseding(memory, successor):
    after = memory.evolve(state=State.SUPERSEDED, superseded_by=successor)
    return build_change(memory, after, op=Op.MERGE, event=Event.MERGE)


def removing(memory):
    return build_removal(memory, event=Event.TTL)


def rule(*steps, may_end=5, memories=(), sources=(), ends=()):
    known = KnownItems({m.id: m for m in memories}, {s.id: s for s in sources})
    return broken_rule(steps, ends, may_end, known, NOW)


def test_invariants_admit_as_many_endings_as_are_left():
    memories = [a_memory(), a_memory()]
    assert rule(*map(forgetting, memories), may_end=2) is None
    assert rule(*map(forgetting, memories), may_end=1) == TOO_MANY_ENDINGS


def test_invariants_count_endings_that_a_task_does_not_declare_and_those_it_only_declares():
    assert rule(forgetting(a_memory()), may_end=0) == TOO_MANY_ENDINGS
    assert rule(ends=["m1"], may_end=0) == TOO_MANY_ENDINGS


def test_invariants_count_an_expiry_that_is_set_to_the_past():
    memory = a_memory()
    step = build_change(memory, memory.evolve(expires_at=START), op=Op.UPDATE, event=Event.UPDATE)
    assert rule(step, may_end=0) == TOO_MANY_ENDINGS


def test_invariants_do_not_count_what_has_expired():
    expired = a_memory(expires_at=START)
    assert rule(removing(expired), memories=[expired], may_end=0) is None


@pytest.mark.parametrize(
    "fields", [{"pinned": True}, {"stability": Stability.PERMANENT}, {"id": "profile:city"}]
)
def test_invariants_refuse_to_end_what_is_protected(fields):
    memory = a_memory(**fields)
    successor = a_memory()
    assert rule(forgetting(memory)) == PROTECTED
    assert rule(adding(successor), superseding(memory, successor.id)) == PROTECTED


def test_invariants_end_nothing_that_is_pinned_though_it_would_have_expired():
    pinned = a_memory(pinned=True, expires_at=START)
    assert rule(removing(pinned), memories=[pinned]) == PROTECTED


def test_invariants_refuse_to_archive_what_is_kept_for_ever():
    entry = Entry(op=Op.UPDATE)
    kept = a_source(ttl_policy=TtlPolicy.KEEP_FOREVER)
    assert rule(SetArchived((kept.id,), NOW, entry), sources=[kept]) == PROTECTED
    other = a_source(ttl_policy=TtlPolicy.DECAY)
    assert rule(SetArchived((other.id,), NOW, entry), sources=[other]) is None


def test_invariants_want_outputs_before_inputs_are_superseded():
    old, new = a_memory(), a_memory()
    assert rule(adding(new), superseding(old, new.id)) is None
    assert rule(superseding(old, new.id), memories=[new]) is None
    assert rule(superseding(old, new.id), adding(new)) == NO_SUCCESSOR
    assert rule(superseding(old, new.id)) == NO_SUCCESSOR
    assert rule(superseding(old, old.id), memories=[old]) == NO_SUCCESSOR


def test_invariants_refuse_a_successor_that_the_same_batch_ends():
    one, two = a_memory(), a_memory()
    circle = superseding(one, two.id), superseding(two, one.id)
    assert rule(*circle, memories=[one, two]) == NO_SUCCESSOR
    ended = superseding(one, two.id), forgetting(two)
    assert rule(*ended, memories=[two]) == NO_SUCCESSOR


def test_invariants_refuse_to_delete_what_is_live():
    live = a_memory()
    assert rule(removing(live), memories=[live]) == REMOVES_LIVE
    purgeable = a_memory(state=State.SOFT_DELETED, purge_at=START)
    assert rule(removing(purgeable), memories=[purgeable]) is None
    restorable = a_memory(state=State.SOFT_DELETED, purge_at=NOW + timedelta(days=1))
    assert rule(removing(restorable), memories=[restorable]) == REMOVES_LIVE


# ——— the plan of an undo ———


def a_change(number, subject="m1", *, before=True, after_ref=None, **fields):
    return SleepChange(
        run="r",
        number=number,
        task=SleepTask.IDLE,
        why="",
        kind=ItemKind.MEMORY,
        subject=subject,
        before={"of": number} if before else None,
        after_ref=after_ref,
        **fields,
    )


def planned(changes, refs, record_refs):
    keyed = {(ItemKind.MEMORY, subject): ref for subject, ref in refs.items()}
    records = {(ItemKind.MEMORY, subject, n): ref for (subject, n), ref in record_refs.items()}
    return plan_undo(changes, keyed, records)


def test_undo_plan_takes_actions_on_one_item_back_to_the_first():
    changes = [a_change(1, after_ref="m1@2"), a_change(2, after_ref="m1@3")]
    plan = planned(changes, {"m1": "m1@3"}, {("m1", 1): "m1@1", ("m1", 2): "m1@2"})
    assert (plan.undone, plan.left) == ((1, 2), ())
    assert plan.targets == {(ItemKind.MEMORY, "m1"): {"of": 1}}


def test_undo_plan_leaves_every_action_on_an_item_that_changed_since():
    changes = [a_change(1, after_ref="m1@2"), a_change(2, after_ref="m1@3")]
    plan = planned(changes, {"m1": "m1@4"}, {("m1", 1): "m1@1", ("m1", 2): "m1@2"})
    assert plan.undone == ()
    assert [(each.number, each.reason) for each in plan.left] == [
        (1, "changed since"),
        (2, "changed since"),
    ]
    assert plan.targets == {}


def test_undo_plan_undoes_an_action_whole_or_not_at_all():
    changes = [a_change(1, after_ref="m1@2"), a_change(1, "m2", before=False, after_ref="m2@1")]
    records = {("m1", 1): "m1@1", ("m2", 1): None}
    plan = planned(changes, {"m1": "m1@2", "m2": None}, records)
    assert plan.undone == ()
    assert [(each.items, each.reason) for each in plan.left] == [(("m2",), "gone")]
    whole = planned(changes, {"m1": "m1@2", "m2": "m2@1"}, records)
    assert whole.undone == (1,)
    assert whole.targets[ItemKind.MEMORY, "m2"] is None
