"""The policy table says what the contract's table of kinds says, cell by cell."""

from __future__ import annotations

import pytest

from commonplace.model.memory.kinds import POLICIES, ContextUse, Kind, OnContentChange, Stability

VOLATILE, STABLE, PERMANENT = Stability.VOLATILE, Stability.STABLE, Stability.PERMANENT
YES = ContextUse.YES

# kind: life, days, category, in context, required
CONTRACT = {
    Kind.NOTE: (STABLE, None, "knowledge", YES, ("content",)),
    Kind.CONTACT: (STABLE, None, "relationships", YES, ("metadata.name",)),
    Kind.KV: (STABLE, None, "knowledge", YES, ("metadata.subject", "metadata.value")),
    Kind.FACT: (STABLE, None, "knowledge", YES, ("content",)),
    Kind.EVENT: (STABLE, None, "event", YES, ("content",)),
    Kind.INSIGHT: (STABLE, None, "relationship_dynamic", ContextUse.LOW, ("content",)),
    Kind.PROCEDURE: (STABLE, None, "procedural", ContextUse.ON_REQUEST, ("steps",)),
    Kind.LOG: (VOLATILE, 30, "activity", YES, ("content",)),
    Kind.SUMMARY: (VOLATILE, 7, "history", YES, ("content",)),
    Kind.RULE: (STABLE, None, "constraints", ContextUse.EARLY, ("content", "evidence")),
    Kind.SOUL: (PERMANENT, None, "identity", ContextUse.FIRST, ("content",)),
}


def test_every_kind_has_its_row():
    assert set(POLICIES) == set(CONTRACT) == set(Kind)
    assert all(policy.kind is kind for kind, policy in POLICIES.items())


@pytest.mark.parametrize("kind", Kind)
def test_a_row_of_the_table(kind):
    policy = POLICIES[kind]
    row = (policy.stability, policy.ttl_days, policy.category, policy.context, policy.required)
    assert row == CONTRACT[kind]


def test_rules_are_durable_and_well_founded():
    assert POLICIES[Kind.RULE].allowed == {STABLE, PERMANENT}
    assert POLICIES[Kind.RULE].min_confidence == 0.8


def test_souls_are_permanent_and_few():
    assert POLICIES[Kind.SOUL].allowed == {PERMANENT}
    assert {kind: p.max_live for kind, p in POLICIES.items() if p.max_live} == {Kind.SOUL: 5}


def test_only_contacts_and_values_are_overridden():
    overridden = {
        kind
        for kind, policy in POLICIES.items()
        if policy.on_content_change is OnContentChange.OVERRIDE
    }
    assert overridden == {Kind.CONTACT, Kind.KV}


def test_which_kinds_idle_away_and_below_which_importance():
    idle = {kind: policy.idle_below for kind, policy in POLICIES.items() if policy.idle_below}
    below_three = dict.fromkeys((Kind.EVENT, Kind.INSIGHT, Kind.LOG, Kind.SUMMARY), 3)
    assert idle == {**below_three, Kind.FACT: 2}


def test_insights_weigh_less_in_recall():
    lighter = {kind for kind, policy in POLICIES.items() if policy.recall_weight < 1}
    assert lighter == {Kind.INSIGHT}
