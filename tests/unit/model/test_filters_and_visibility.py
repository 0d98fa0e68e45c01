"""What a filter admits, and what a caller may see at all."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given

from commonplace.model.filters import EXACT_FIELDS, Filters, Visibility
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import Sensitivity
from support.clock import START
from support.pure_values import memories, memory

MOMENT = timedelta(microseconds=1)
ONE = memory(
    kind=Kind.KV,
    category="home",
    tags=("a", "b"),
    importance=3,
    pinned=True,
    agent_id="helper",
    role="user",
)


@pytest.mark.parametrize(
    ("filters", "admitted"),
    [
        (Filters(), True),
        (Filters(kinds=(Kind.KV,)), True),
        (Filters(kinds=(Kind.KV, Kind.NOTE)), True),
        (Filters(kinds=(Kind.NOTE,)), False),
        (Filters(categories=("work", "home")), True),
        (Filters(categories=("work",)), False),
        (Filters(tags=("b", "z")), True),
        (Filters(tags=("z",)), False),
        (Filters(pinned=True), True),
        (Filters(pinned=False), False),
        (Filters(importance_min=3, importance_max=3), True),
        (Filters(importance_min=4), False),
        (Filters(importance_max=2), False),
        (Filters(created_after=START - MOMENT, created_before=START + MOMENT), True),
        (Filters(created_after=START), False),
        (Filters(created_before=START), False),
        (Filters(updated_after=START), False),
        (Filters(updated_before=START), False),
        (Filters(agent_id="helper", role="user"), True),
        (Filters(agent_id="helper", role="assistant"), False),
    ],
)
def test_filters_admit_matching_memories_only(filters, admitted):
    assert filters.admits(ONE) is admitted


@pytest.mark.parametrize("name", [name for name in EXACT_FIELDS if name != "pinned"])
def test_filters_compare_exact_fields_by_equality(name):
    item = memory(**{name: "x"})
    assert Filters(**{name: "x"}).admits(item)
    assert not Filters(**{name: "y"}).admits(item)
    assert not Filters(**{name: "x"}).admits(memory())


@given(memories)
def test_filters_without_conditions_admit_everything(row):
    assert Filters().is_empty
    assert Filters().admits(row)


def test_filters_are_empty_only_without_conditions():
    assert not Filters(pinned=False).is_empty
    assert not Filters(kinds=(Kind.KV,)).is_empty


SECRET = memory(sensitivity=Sensitivity.HIGH)
SOUL = memory(kind=Kind.SOUL, agent_id="helper")
COMMON_SOUL = memory(kind=Kind.SOUL)


@pytest.mark.parametrize(
    ("visibility", "item", "seen"),
    [
        (Visibility(), memory(), True),
        (Visibility(), SECRET, False),
        (Visibility(cleared=True), SECRET, True),
        (Visibility(agent="helper"), SECRET, False),
        (Visibility(), SOUL, True),
        (Visibility(agent="helper"), SOUL, True),
        (Visibility(agent="writer"), SOUL, False),
        (Visibility(cleared=True, agent="writer"), SOUL, False),
        (Visibility(agent="writer"), COMMON_SOUL, True),
        (Visibility(agent="writer"), memory(agent_id="helper"), True),
    ],
)
def test_visibility_hides_sensitive_items_and_souls_of_other_agents(visibility, item, seen):
    assert visibility.admits(item) is seen
