"""Prompt caches: two contexts in a row share their beginning, as far as it says the same."""

from __future__ import annotations

import pytest

from commonplace.language.text.tokens import count_tokens
from support.sources import chat, turn


@pytest.fixture
def helper(me, clock):
    """Has something in every stable layer."""
    me.profile_set("preferred_name", "Ana")
    me.profile_note("Allergic to peanuts")
    me.remember("Be kind and brief", kind="soul")
    me.remember("Ask before spending", kind="rule", evidence=["said so"])
    for thing in ("tea", "storks", "trains", "maps"):
        me.remember(f"I prefer {thing} over anything else", category="preferences")
    me.remember("The heron pub opens at noon")
    clock.tick(hours=1)
    return me.agent("helper")


def both_begin_with(text, one, other):
    return one.text.startswith(text) and other.text.startswith(text)


VOLATILE = {
    "an event": {"content": "Dana launched the boat", "kind": "event"},
    "a note": {"content": "The heron pub has a garden"},
    "a summary": {"content": "Three mails were sorted", "kind": "summary"},
    "an insight": {"content": "Ana avoids crowds", "kind": "insight"},
}


@pytest.mark.parametrize("told", VOLATILE.values(), ids=VOLATILE)
def test_context_stable_prefix_is_unchanged_by_volatile_memories(me, helper, clock, told):
    before = helper.context("when does the heron pub open?")
    clock.tick(days=1)
    me.remember(**told)
    after = helper.context("where is the garden?")
    assert after.text != before.text
    assert after.stable_text == before.stable_text
    assert both_begin_with(before.stable_text, before, after)


def test_context_stable_prefix_ignores_query_thread_and_time(helper, clock):
    first = helper.context()
    clock.tick(hours=7)
    for query, thread in (("heron", "main"), ("spending", "t2"), (None, "t3")):
        assert helper.context(query, thread=thread).stable_text == first.stable_text


def test_context_stable_prefix_is_unchanged_by_an_ingested_conversation(me, helper):
    before = helper.context("heron")
    me.ingest(chat(*(turn("Dana", f"The heron said {n} things", n) for n in range(30))))
    assert helper.context("heron").stable_text == before.stable_text


STABLE = {
    "rules": {"content": "Never call at night", "kind": "rule", "evidence": ["x"]},
    "standing": {"content": "I prefer soup", "kind": "note", "category": "preferences"},
    "identity": {"content": "Run a marathon", "category": "goals"},
}


@pytest.mark.parametrize("layer", STABLE)
def test_context_appends_new_memories_at_the_end_of_a_stable_layer(me, helper, clock, layer):
    before = helper.context("heron")
    clock.tick(days=1)
    me.remember(**STABLE[layer])
    after = helper.context("heron")
    upto = [part.layer for part in before.parts].index(layer) + 1
    kept = "\n\n".join(part.text for part in before.parts[:upto])
    assert both_begin_with(kept, before, after)


def test_context_stable_prefix_of_an_overfull_layer_rarely_changes(me, clock):
    """Most additions to an overfull list still leave the beginning of the prompt as it is."""
    for number in range(60):
        clock.tick(minutes=1)
        me.remember(f"The colour number {number} goes with tea", kind="note", category="style")
    helper, same = me.agent("stylist"), 0
    before = helper.context(budget_tokens=500)
    for number in range(16):
        clock.tick(minutes=1)
        newest = f"The colour number {100 + number} goes with tea"
        me.remember(newest, kind="note", category="style")
        after = helper.context(budget_tokens=500)
        assert newest in after.stable_text
        assert after.tokens <= 500
        same += after.stable_text.startswith(before.stable_text)
        before = after
    assert same >= 12


def test_context_stable_prefix_covers_over_forty_percent_of_tokens(me, helper, clock):
    """The share that `make bench` reports, on a small store."""
    before = helper.context("when does the heron pub open?")
    clock.tick(minutes=5)
    me.remember("The heron pub has a garden")
    after = helper.context("when does the heron pub open?")
    assert count_tokens(after.stable_text) / after.tokens > 0.4
    assert both_begin_with(after.stable_text, before, after)


def test_context_keeps_an_insight_in_place_in_a_stable_layer(me, helper, clock):
    me.remember("Ana avoids crowds", kind="insight", category="preferences")
    before = helper.context()
    clock.tick(days=1)
    me.remember("I prefer soup", kind="note", category="preferences")
    assert helper.context().stable_text.startswith(before.stable_text)
