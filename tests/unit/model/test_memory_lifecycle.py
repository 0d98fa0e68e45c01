"""When a memory ends: expiry, idleness, purge and folding, as functions of a row and a clock."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import assume, given

from commonplace.model.memory.kinds import POLICIES, Kind, Stability
from commonplace.model.memory.lifecycle import (
    IDLE_KINDS,
    default_expiry,
    has_expired,
    is_idle,
    is_mergeable,
    is_purgeable,
)
from commonplace.model.memory.memory import State
from support.clock import START
from support.pure_values import memories, memory, moments, spans

DAY = timedelta(days=1)
MOMENT = timedelta(microseconds=1)


# ——— expiry ———


def test_expiry_takes_effect_at_its_instant():
    ending = memory(expires_at=START + DAY)
    assert ending.is_live(START + DAY - MOMENT)
    assert not ending.is_live(START + DAY)
    assert has_expired(ending, START + DAY)


@pytest.mark.parametrize("kept", [{"pinned": True}, {"stability": Stability.PERMANENT}])
def test_expiry_is_ignored_for_pinned_and_permanent_memories(kept):
    ending = memory(expires_at=START, **kept)
    assert ending.ends_at is None
    assert not has_expired(ending, START + 1000 * DAY)


@pytest.mark.parametrize(
    ("kind", "stability", "ttl_days", "days"),
    [
        (Kind.LOG, Stability.VOLATILE, None, 30),
        (Kind.SUMMARY, Stability.VOLATILE, None, 7),
        (Kind.SUMMARY, Stability.STABLE, None, None),
        (Kind.LOG, Stability.VOLATILE, 2, 2),
        (Kind.NOTE, Stability.STABLE, None, None),
        (Kind.NOTE, Stability.VOLATILE, None, None),
        (Kind.NOTE, Stability.STABLE, 0.5, 0.5),
    ],
)
def test_default_expiry_uses_the_given_ttl_or_that_of_the_kind(kind, stability, ttl_days, days):
    expected = None if days is None else START + timedelta(days=days)
    assert default_expiry(POLICIES[kind], stability, ttl_days, START) == expected


@given(memories, moments)
def test_active_memory_is_either_live_or_expired(row, now):
    active = row.evolve(state=State.ACTIVE)
    assert active.is_live(now) != has_expired(active, now)


@given(memories, moments)
def test_inactive_memory_is_neither_live_nor_expired(row, now):
    assume(row.state is not State.ACTIVE)
    assert not row.is_live(now)
    assert not has_expired(row, now)


@given(memories, moments, spans)
def test_expiry_and_purge_are_monotonic_in_time(row, now, later):
    if has_expired(row, now):
        assert has_expired(row, now + later)
    if is_purgeable(row, now):
        assert is_purgeable(row, now + later)


# ——— idleness ———


@pytest.mark.parametrize("kind", IDLE_KINDS)
def test_idleness_begins_after_sixty_days_without_access(kind):
    unread = memory(kind=kind, importance=1)
    assert not is_idle(unread, START + 60 * DAY - MOMENT)
    assert is_idle(unread, START + 60 * DAY)


def test_idleness_counts_from_the_last_access():
    read = memory(kind=Kind.EVENT, last_accessed_at=START + 30 * DAY)
    assert not is_idle(read, START + 89 * DAY)
    assert is_idle(read, START + 90 * DAY)


def test_idleness_of_an_imported_memory_counts_from_arrival():
    old = memory(kind=Kind.EVENT, arrived_at=START + 300 * DAY)
    assert not is_idle(old, START + 359 * DAY)
    assert is_idle(old, START + 360 * DAY)


def test_idleness_counts_from_the_last_update():
    restored = memory(kind=Kind.EVENT, updated_at=START + 70 * DAY)
    assert not is_idle(restored, START + 71 * DAY)


@pytest.mark.parametrize(
    ("kind", "importance", "idle"),
    [
        (Kind.EVENT, 2, True),
        (Kind.EVENT, 3, False),
        (Kind.INSIGHT, 2, True),
        (Kind.LOG, 2, True),
        (Kind.SUMMARY, 3, False),
        (Kind.FACT, 1, True),
        (Kind.FACT, 2, False),
    ],
)
def test_idleness_depends_on_importance(kind, importance, idle):
    assert is_idle(memory(kind=kind, importance=importance), START + 100 * DAY) is idle


@given(memories, moments)
def test_idleness_applies_to_live_unpinned_low_importance_kinds_only(row, now):
    if is_idle(row, now):
        assert row.kind in {Kind.EVENT, Kind.INSIGHT, Kind.LOG, Kind.SUMMARY, Kind.FACT}
        assert row.importance < (2 if row.kind is Kind.FACT else 3)
        assert not row.pinned
        assert row.stability is not Stability.PERMANENT
        assert row.is_live(now)


# ——— purge and folding ———


def test_purge_takes_effect_at_purge_at_for_deleted_memories():
    forgotten = memory(state=State.SOFT_DELETED, purge_at=START + 30 * DAY)
    assert not is_purgeable(forgotten, START + 30 * DAY - MOMENT)
    assert is_purgeable(forgotten, START + 30 * DAY)
    assert not is_purgeable(forgotten.evolve(state=State.ACTIVE), START + 30 * DAY)


def test_volatile_memory_without_expiry_is_mergeable_after_seven_days():
    volatile = memory(stability=Stability.VOLATILE)
    assert not is_mergeable(volatile, START + 7 * DAY - MOMENT)
    assert is_mergeable(volatile, START + 7 * DAY)


@pytest.mark.parametrize(
    "kept",
    [
        {"stability": Stability.STABLE},
        {"expires_at": START + 90 * DAY},
        {"pinned": True},
        {"state": State.SUPERSEDED},
    ],
)
def test_stable_expiring_pinned_or_superseded_memory_is_not_mergeable(kept):
    assert not is_mergeable(memory(**{"stability": Stability.VOLATILE, **kept}), START + 30 * DAY)


@given(memories, moments)
def test_lifecycle_rules_are_functions_of_row_and_clock(row, now):
    for rule in (has_expired, is_idle, is_mergeable, is_purgeable):
        assert rule(row, now) == rule(row.evolve(), now)
