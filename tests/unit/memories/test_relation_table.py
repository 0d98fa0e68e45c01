"""The table of relations, written out a second time, cell by cell."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.engine.memory_relation import ComparedMemory, RelationVerdict, decide_action
from commonplace.model.memory.kinds import (
    ACTION_TABLE,
    Action,
    Kind,
    MemoryRelation,
    OnConflict,
    action_for,
)
from support.clock import START
from support.making import a_memory

# Each kind with what it does about: repeat, rewording, changed, near, new.
PROMISED = {
    "note": ("stored", "stored", "stored", "stored", "stored"),
    "log": ("stored", "stored", "stored", "stored", "stored"),
    "summary": ("stored", "stored", "stored", "stored", "stored"),
    "soul": ("stored", "stored", "stored", "stored", "stored"),
    "contact": ("refreshed", "refreshed", "pending", "stored", "stored"),
    "kv": ("refreshed", "refreshed", "pending", "stored", "stored"),
    "fact": ("refreshed", "superseded", "superseded", "stored", "stored"),
    "insight": ("refreshed", "superseded", "superseded", "stored", "stored"),
    "rule": ("refreshed", "superseded", "superseded", "stored", "stored"),
    "procedure": ("refreshed", "superseded", "superseded", "stored", "stored"),
    "event": ("refreshed", "refreshed", "stored", "stored", "stored"),
}
RELATIONS = ("repeat", "rewording", "changed", "near", "new")
CELLS = [
    pytest.param(relation, kind, action, id=f"{relation}-{kind}")
    for kind, actions in PROMISED.items()
    for relation, action in zip(RELATIONS, actions, strict=True)
]

# What the caller may wish instead of being asked, for each kind that has a changed value.
WISHES = {
    "contact": {"ask": "pending", "override": "overridden", "insert": "stored"},
    "kv": {"ask": "pending", "override": "overridden", "insert": "stored"},
    "fact": {"ask": "superseded", "override": "superseded", "insert": "superseded"},
    "note": {"ask": "stored", "override": "stored", "insert": "stored"},
    "event": {"ask": "stored", "override": "stored", "insert": "stored"},
}


def decided(relation, kind, *, on_conflict="ask", new=None, old=None, said_at=None):
    """What is decided about a new memory that relates so to the only one that is there."""
    stands = old or a_memory("Told before", kind=Kind(kind))
    told = new or a_memory("Told now", kind=Kind(kind))
    weighed = [ComparedMemory(stands, RelationVerdict(MemoryRelation(relation)), 0.9)]
    return decide_action(told, weighed, START, OnConflict(on_conflict), said_at)


def test_action_table_covers_every_relation_and_kind():
    assert set(PROMISED) == set(Kind)
    assert tuple(MemoryRelation) == RELATIONS
    assert set(ACTION_TABLE) == {(relation, kind) for relation in MemoryRelation for kind in Kind}


@pytest.mark.parametrize(("relation", "kind", "action"), CELLS)
def test_action_table_gives_the_promised_action_on_the_same_day(relation, kind, action):
    assert action_for(MemoryRelation(relation), Kind(kind), same_day=True) == action


@pytest.mark.parametrize(("relation", "kind", "action"), CELLS)
def test_action_table_stores_an_event_of_another_day_separately(relation, kind, action):
    told = action_for(MemoryRelation(relation), Kind(kind), same_day=False)
    assert told == ("stored" if kind == "event" else action)


@pytest.mark.parametrize(("relation", "kind", "action"), CELLS)
def test_decide_action_for_one_neighbour_follows_the_action_table(relation, kind, action):
    decision = decided(relation, kind)
    assert (decision.relation, decision.action) == (relation, action)
    assert len(decision.others) == (0 if relation == "new" else 1)


@pytest.mark.parametrize("relation", ["repeat", "rewording"])
def test_decide_action_compares_events_by_valid_from_not_created_at(relation):
    yesterday = START - timedelta(days=1)
    told_before = a_memory("Told before", kind=Kind.EVENT, created_at=yesterday)
    of_yesterday = a_memory("Told now", kind=Kind.EVENT, valid_from=yesterday)
    of_today = a_memory("Told now", kind=Kind.EVENT)
    assert decided(relation, "event", new=of_yesterday, old=told_before).action == "refreshed"
    assert decided(relation, "event", new=of_today, old=told_before).action == "stored"


@pytest.mark.parametrize("kind", WISHES)
def test_on_conflict_choice_applies_only_to_kinds_that_ask(kind):
    told = {wish: decided("changed", kind, on_conflict=wish).action for wish in WISHES[kind]}
    assert told == WISHES[kind]


@pytest.mark.parametrize("kind", PROMISED)
def test_on_conflict_alternative_never_asks_and_never_supersedes(kind):
    action = decided("changed", kind, on_conflict="alternative").action
    replaces = ACTION_TABLE[MemoryRelation.CHANGED, Kind(kind)] in (
        Action.PENDING,
        Action.SUPERSEDED,
    )
    assert action == ("alternative" if replaces else "stored")


@pytest.mark.parametrize("wish", list(OnConflict))
@pytest.mark.parametrize("relation", ["repeat", "near", "new"])
def test_on_conflict_choice_does_not_affect_repeat_near_or_new(relation, wish):
    assert (
        decided(relation, "kv", on_conflict=wish).action
        == PROMISED["kv"][RELATIONS.index(relation)]
    )


def test_decide_action_ranks_repeat_above_changed_above_rewording():
    stands = {relation: a_memory(f"It was {relation}", kind=Kind.KV) for relation in RELATIONS[:4]}

    def among(*relations):
        weighed = [
            ComparedMemory(stands[r], RelationVerdict(MemoryRelation(r)), 0.9) for r in relations
        ]
        return decide_action(a_memory(kind=Kind.KV), weighed, START, OnConflict.ASK).relation

    assert among("near", "rewording", "changed", "repeat") == "repeat"
    assert among("near", "rewording", "changed") == "changed"
    assert among("near", "rewording") == "rewording"


def test_decide_action_supersedes_all_certain_contradictions():
    old = [a_memory(f"It was {n}", kind=Kind.FACT) for n in range(3)]
    weighed = [
        ComparedMemory(each, RelationVerdict(MemoryRelation.CHANGED, f"reason {each.id}"), 0.9)
        for each in old
    ]
    decision = decide_action(a_memory(kind=Kind.FACT), weighed, START, OnConflict.ASK)
    assert {each.id for each in decision.others} == {each.id for each in old}


def test_decide_action_picks_the_closest_of_uncertain_changes():
    near, far = a_memory("near", kind=Kind.FACT), a_memory("far", kind=Kind.FACT)
    weighed = [
        ComparedMemory(far, RelationVerdict(MemoryRelation.CHANGED, certain=False), 0.89),
        ComparedMemory(near, RelationVerdict(MemoryRelation.CHANGED, certain=False), 0.93),
    ]
    decision = decide_action(a_memory(kind=Kind.FACT), weighed, START, OnConflict.ASK)
    assert decision.others == (near,)


def test_decide_action_stores_facts_said_earlier_or_ended_without_superseding():
    since_march = a_memory("It is so", kind=Kind.FACT, valid_from=START)
    before = START - timedelta(days=9)
    earlier = a_memory("It was so", kind=Kind.FACT, valid_from=before)
    over = a_memory("It was so", kind=Kind.FACT, valid_to=START - timedelta(days=1))
    for told, said_at in ((earlier, before), (over, None)):
        decision = decided("changed", "fact", new=told, old=since_march, said_at=said_at)
        assert (decision.relation, decision.action) == ("near", "stored")


def test_decide_action_supersedes_what_was_said_before_whatever_its_start():
    since_march = a_memory("It is so", kind=Kind.FACT, valid_from=START)
    began_earlier = a_memory("Not so", kind=Kind.FACT, valid_from=START - timedelta(days=9))
    for said_at in (None, START + timedelta(days=1)):
        decision = decided("changed", "fact", new=began_earlier, old=since_march, said_at=said_at)
        assert decision.action == "superseded"
