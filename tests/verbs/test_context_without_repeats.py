"""Context: no filler, nothing twice, speakers, and events by their own date."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest


def layer(context, name):
    texts = [part.text.split("\n")[1:] for part in context.parts if part.layer == name]
    return texts[0] if texts else []


def day(month, day, hour=9):
    return datetime(2026, month, day, hour, tzinfo=UTC)


@pytest.fixture
def helper(me, clock):
    """After a conversation a month ago."""
    agent = me.agent("helper")
    for role, text in (
        ("user", "My neighbour Boaz plays the cello in the garden shed."),
        ("assistant", "Done."),
        ("user", "ok thanks"),
        ("assistant", "A cello likes an even temperature in the shed."),
        ("assistant", "Noted, cello in the shed."),
    ):
        agent.observe(text, role=role, thread="old", at=day(2, 1))
    return agent


def test_context_names_the_role_of_a_speaker_without_a_name(helper):
    shown = "\n".join(layer(helper.context("cello shed", thread="new"), "recalled"))
    assert "(assistant, 2026-02-01) A cello likes" in shown
    helper.observe("cellos everywhere!", role="user", thread="old", at=day(2, 2))
    assert "(user, 2026-02-02)" in helper.query("cellos everywhere", thread="q").text


def test_context_recalls_no_filler_and_keeps_no_summary_of_it(helper, me):
    text = helper.context("done thanks noted cello shed ok", thread="new").text
    for filler in ("Done.", "ok thanks", "Noted,"):
        assert filler not in text
    assert not me.list(kinds="summary").memories


def test_context_shows_a_memory_and_not_the_turn_it_was_made_from(me):
    helper = me.agent("helper")
    (kept,) = helper.observe("I love pickled herring.", thread="old", at=day(2, 1)).stored
    text = helper.context("pickled herring?", thread="new").text
    assert text.count("herring") == 1
    assert kept.remembered.memory.content in text


def test_context_of_a_first_look_shows_no_line_twice(me):
    me.remember("The garage code is 4711", kind="note")
    me.remember("Boaz plays the cello", kind="note")
    first = me.context("garage code", thread="new")
    assert first.text.count("The garage code is 4711") == 1
    assert first.text.count("Boaz plays the cello") == 1
    assert me.context("garage code", thread="new").delta.header == ""


def test_context_that_recalls_all_that_is_new_has_no_header(me):
    me.remember("The garage code is 4711", kind="note")
    first = me.context("garage code", thread="new")
    assert first.text.count("The garage code is 4711") == 1
    assert "Memory updates" not in first.text
    assert me.context("bees", thread="new").delta.header == ""


def test_context_shows_lines_with_the_same_words_once(me):
    me.remember("The garage code is kept by Boaz", kind="note")
    me.remember("Boaz kept the garage code.", kind="note")
    assert len(layer(me.context("who kept the garage code?"), "recalled")) == 1


def test_context_dates_a_goal_by_when_it_was_said(me, clock):
    me.observe("My goal is to learn Portuguese this year.", at=day(2, 25))
    assert "(2026-02-25)" in "\n".join(layer(me.context(), "identity"))
    hit = me.recall("learn Portuguese", kinds=["fact"]).hits[0]
    assert hit.date == day(2, 25)


def test_context_shows_events_by_their_own_date(me):
    me.observe("I got married in 2016.")
    me.remember("Dana sold the boat", kind="event", valid_from=day(2, 27))
    me.remember("Dana bought the boat", kind="event", valid_from=day(2, 1))
    assert layer(me.context(), "episodes") == ["- 2026-02-27: Dana sold the boat [1]"]


def test_context_lists_what_comes_up_soonest_first(me):
    me.remember("The rent is due on 10 March 2026", category="tasks")
    me.remember("Renew the passport by 2026-03-04", category="tasks")
    me.remember("Send the report by 2026-05-04", category="tasks")
    assert layer(me.context(), "upcoming") == [
        "- 2026-03-04: Renew the passport by 2026-03-04 [1]",
        "- 2026-03-10: The rent is due on 10 March 2026 [2]",
    ]
