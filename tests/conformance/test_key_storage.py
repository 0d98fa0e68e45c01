"""What a store promises of keys: kept as they are, told in the journal, and no part of a memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.errors import StaleDecision
from commonplace.model.access.key import token_digest
from commonplace.model.access.principal import Scope
from commonplace.model.access.team import ChangeKey
from commonplace.model.changeset import Bookkeeping, ClearScope
from commonplace.model.journal import Entry, Event, Op
from commonplace.store.queries import JournalQuery
from support.clock import START
from support.making import ANA, BOB, a_key, a_memory, changeset, put

ADMIN = Scope.of_the_store()


def ending(key, **fields):
    return ChangeKey(key, replace(key, **fields), Entry(op=Op.REVOKE, subject=key.id))


def test_key_round_trips_every_field_with_the_token_digest(store):
    step = a_key(
        "the token",
        agent="planner",
        read_only=True,
        cleared=True,
        may_resolve=True,
        team="crew",
        expires_at=START + timedelta(days=3, microseconds=7),
    )
    store.apply(changeset(step))
    assert store.keys(ANA, step.key.id) == {step.key: token_digest("the token")}
    assert list(store.keys(ANA)) == [step.key]
    assert store.keys(BOB, step.key.id) == {}
    assert store.keys(ADMIN, step.key.id) == {}


def test_admin_key_is_listed_for_no_user(store):
    step = a_key(user_id=None)
    store.apply(changeset(step, scope=ADMIN))
    assert list(store.keys(ADMIN, step.key.id)) == [step.key]
    assert list(store.keys(ANA)) == []


def test_keys_are_listed_oldest_first(store):
    steps = [a_key(created_at=START + timedelta(days=day)) for day in (2, 0, 1)]
    store.apply(changeset(*steps))
    assert list(store.keys(ANA)) == [steps[1].key, steps[2].key, steps[0].key]


def test_keys_change_no_revision_and_write_journal_entries_without_event(store):
    put(store, [a_memory()])
    before = store.counters(ANA)
    step = a_key()
    store.apply(changeset(step, decided_on=before.revision))
    store.apply(changeset(ending(step.key, revoked_at=START)))
    after = store.counters(ANA)
    assert (after.revision, after.epoch) == (before.revision, before.epoch)
    told = store.journal(ANA, JournalQuery(subject=step.key.id))
    assert [(row.entry.op, row.entry.event) for row in told] == [
        (Op.GRANT, None),
        (Op.REVOKE, None),
    ]
    assert store.journal(ANA, JournalQuery(subject=step.key.id, events_only=True)) == []


def test_change_key_on_a_stale_state_refuses_the_whole_changeset(store):
    step = a_key()
    store.apply(changeset(step))
    soon = {"expires_at": START + timedelta(minutes=5)}
    store.apply(changeset(ending(step.key, **soon)))
    for late in ({"revoked_at": START}, {"expires_at": START + timedelta(days=9)}):
        with pytest.raises(StaleDecision):
            store.apply(changeset(a_key(), ending(step.key, **late)))
    assert list(store.keys(ANA)) == [replace(step.key, **soon)]
    ended = ending(replace(step.key, **soon), revoked_at=START)
    store.apply(changeset(ended))
    with pytest.raises(StaleDecision):
        store.apply(changeset(ended))


def test_first_key_can_be_created_once(store):
    first = replace(a_key(user_id=None), if_first=True)
    store.apply(changeset(first, scope=ADMIN))
    with pytest.raises(StaleDecision):
        store.apply(changeset(replace(a_key(user_id=None), if_first=True), scope=ADMIN))
    store.apply(changeset(a_key(user_id=None), scope=ADMIN))
    assert len(store.keys(ADMIN)) == 2


def test_record_of_key_use_keeps_the_latest_day(store):
    step = a_key()
    store.apply(changeset(step))
    day = START.replace(hour=0)
    for at, known in (
        (START, day),
        (START + timedelta(hours=3), day),
        (START + timedelta(days=2), day + timedelta(days=2)),
        (START, day + timedelta(days=2)),
    ):
        store.record(Bookkeeping(ANA, at, used_keys=(step.key.id, "nowhere")))
        assert next(iter(store.keys(ANA))).last_used_at == known


def test_clear_scope_removes_keys_of_that_scope_only(store):
    store.apply(changeset(a_key(label="Xanadu", agent="Kublai")))
    store.apply(changeset(a_key(user_id="bob"), scope=BOB))
    assert store.mentions(ANA, "kublai") == store.mentions(ANA, "xanadu") == ["keys"]
    erased = ClearScope(Entry(op=Op.DELETE, event=Event.ERASE))
    store.apply(changeset(erased))
    assert (store.keys(ANA), store.mentions(ANA, "Xanadu")) == ({}, [])
    assert len(store.keys(BOB)) == 1
