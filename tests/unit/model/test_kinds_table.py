"""The policy table says what the contract's table of kinds says, cell by cell."""

from __future__ import annotations

import pytest

from commonplace.model.memory.kinds import (
    POLICIES,
    ContextLayer,
    ContextUse,
    Kind,
    OnContentChange,
    Stability,
    WhenKnown,
    WritingStyle,
    kinds_where,
)

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


def test_kind_policies_cover_every_kind():
    assert set(POLICIES) == set(CONTRACT) == set(Kind)
    assert all(policy.kind is kind for kind, policy in POLICIES.items())


@pytest.mark.parametrize("kind", Kind)
def test_kind_policy_row_matches_the_contract(kind):
    policy = POLICIES[kind]
    row = (policy.stability, policy.ttl_days, policy.category, policy.context, policy.required)
    assert row == CONTRACT[kind]


def test_rule_policy_requires_stability_and_confidence():
    assert POLICIES[Kind.RULE].allowed == {STABLE, PERMANENT}
    assert POLICIES[Kind.RULE].min_confidence == 0.8


def test_soul_policy_is_permanent_and_limited_to_five():
    assert POLICIES[Kind.SOUL].allowed == {PERMANENT}
    assert {kind: p.max_live for kind, p in POLICIES.items() if p.max_live} == {Kind.SOUL: 5}


def test_content_change_overrides_contacts_and_kvs_only():
    overridden = {
        kind
        for kind, policy in POLICIES.items()
        if policy.on_content_change is OnContentChange.OVERRIDE
    }
    assert overridden == {Kind.CONTACT, Kind.KV}


def test_idle_policy_lists_kinds_and_importance_limits():
    idle = {kind: policy.idle_below for kind, policy in POLICIES.items() if policy.idle_below}
    below_three = dict.fromkeys((Kind.EVENT, Kind.INSIGHT, Kind.LOG, Kind.SUMMARY), 3)
    assert idle == {**below_three, Kind.FACT: 2}


def test_recall_weight_is_reduced_for_insights_only():
    lighter = {kind for kind, policy in POLICIES.items() if policy.recall_weight < 1}
    assert lighter == {Kind.INSIGHT}


# column or property: the kinds of which it holds
RULES = {
    "asks_on_change": {Kind.CONTACT, Kind.KV},
    "recurs": {Kind.EVENT},
    "has_fields": {Kind.CONTACT, Kind.KV},
    "has_steps": {Kind.PROCEDURE},
    "category_from_content": {Kind.NOTE, Kind.FACT, Kind.KV},
    "is_instruction": {Kind.PROCEDURE, Kind.RULE, Kind.SOUL},
    "is_standing_instruction": {Kind.RULE, Kind.SOUL},
    "is_private_to_agent": {Kind.RULE, Kind.SOUL},
    "can_merge": set(Kind) - {Kind.SOUL},
    "is_extracted": {Kind.NOTE, Kind.CONTACT, Kind.KV, Kind.FACT, Kind.EVENT, Kind.INSIGHT},
    "reaches_graph": {Kind.NOTE, Kind.CONTACT, Kind.KV, Kind.FACT, Kind.EVENT},
    "is_screened": {Kind.FACT, Kind.EVENT, Kind.INSIGHT, Kind.LOG},
}


@pytest.mark.parametrize("rule", RULES)
def test_kind_policy_flags_hold_for_the_expected_kinds(rule):
    assert set(kinds_where(lambda policy: getattr(policy, rule))) == RULES[rule]


def test_when_known_policy_lists_the_expected_kinds():
    told = {rule: set(kinds_where(lambda p, r=rule: p.when_known is r)) for rule in WhenKnown}
    assert told == {
        WhenKnown.STORE: {Kind.NOTE, Kind.LOG, Kind.SUMMARY, Kind.SOUL},
        WhenKnown.ASK: {Kind.CONTACT, Kind.KV},
        WhenKnown.REPLACE: {Kind.FACT, Kind.INSIGHT, Kind.RULE, Kind.PROCEDURE},
        WhenKnown.ONCE_A_DAY: {Kind.EVENT},
    }


def test_context_layer_is_set_for_the_expected_kinds():
    layers = {kind: policy.layer for kind, policy in POLICIES.items() if policy.layer}
    assert layers == {
        Kind.SOUL: ContextLayer.SOUL,
        Kind.RULE: ContextLayer.RULES,
        Kind.EVENT: ContextLayer.EPISODES,
        Kind.SUMMARY: ContextLayer.SUMMARIES,
    }


def test_writing_style_is_set_for_the_expected_kinds():
    styles = {kind: policy.writing for kind, policy in POLICIES.items() if policy.writing}
    assert styles == {
        Kind.FACT: WritingStyle.THIRD_PERSON,
        Kind.INSIGHT: WritingStyle.THIRD_PERSON,
        Kind.EVENT: WritingStyle.PAST_TENSE,
    }


def test_stated_metadata_is_set_for_the_expected_kinds():
    stated = {kind: set(p.stated_metadata) for kind, p in POLICIES.items() if p.stated_metadata}
    assert stated == {
        Kind.KV: {"subject", "value"},
        Kind.CONTACT: {"name", "phone", "email", "role", "description"},
        Kind.PROCEDURE: {"steps"},
    }


@pytest.mark.parametrize("kind", Kind)
def test_required_metadata_is_part_of_stated_metadata(kind):
    policy = POLICIES[kind]
    needed = {name.partition(".")[2] for name in policy.required if "." in name}
    assert needed <= set(policy.stated_metadata)
