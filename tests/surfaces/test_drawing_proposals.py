"""What is proposed for the profile, as a person reads it on a terminal."""

from __future__ import annotations

import pytest
from rich.console import Console

import commonplace
from commonplace.surfaces.cli.render import drawn
from support.clock import Clock


@pytest.fixture
def me():
    with commonplace.open(":memory:", embedder="hashing", clock=Clock()) as book:
        yield book.user("ana")


def printed(answer):
    console = Console(width=120, highlight=False)
    with console.capture() as caught:
        console.print(drawn(answer))
    return caught.get()


def test_a_proposal_says_until_when_it_waits(me):
    told = printed(me.agent("helper").propose("city", "Berlin"))
    assert "? proposed city: Berlin" in told
    assert "waits until 2026-03-08, 1 independent signal" in told


def test_the_inbox_shows_what_stands_who_and_why_and_what_to_do(me):
    me.profile_set("city", "Haifa")
    asked = me.agent("helper").propose("city", "Berlin", reason="A flat", evidence=["I moved"])
    told = printed(me.proposals())
    for words in ("city: Berlin", "now: Haifa", "by agent:helper", "A flat", "“I moved”"):
        assert words in told
    assert f"profile accept | decline {asked.id}" in told


def test_an_empty_inbox_says_so(me):
    assert "Nothing." in printed(me.proposals())


def test_a_decision_names_what_was_declined_with_it(me):
    helper = me.agent("helper")
    berlin, jaffa = helper.propose("city", "Berlin"), helper.propose("city", "Jaffa")
    told = printed(me.accept(berlin.id))
    assert "✓ accepted: city: Berlin" in told
    assert jaffa.id in told
    assert "− declined: tone: brief" in printed(me.decline(helper.propose("tone", "brief").id))


def test_what_applies_and_what_holds_are_told_apart(me):
    helper = me.agent("helper")
    assert "✓ applied tone: brief" in printed(helper.propose("tone", "brief", confidence=0.9))
    assert "already in the profile: tone: Brief" in printed(helper.propose("tone", "Brief"))


def test_what_has_no_room_is_told_as_what_a_turn_has_left(me):
    me.profile_set("goals", [f"goal {number}" for number in range(100)])
    heard = me.agent("helper").observe("My goal is to run a marathon", thread="t")
    assert "− limit reached: goals_add" in printed(heard.proposals[0])
    assert "run a marathon" in printed(heard)


def test_stats_and_tidy_tell_of_them(me):
    me.agent("helper").propose("city", "Berlin")
    assert "1 open proposal (profile proposals)" in printed(me.stats())
    me._engine.clock.tick(days=8)
    assert "expired proposals 1" in printed(me.tidy())
