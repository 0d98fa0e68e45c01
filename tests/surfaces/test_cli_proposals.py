"""What is proposed for the profile, as a person reads it on a terminal."""

from __future__ import annotations

import pytest
from rich.console import Console

import commonplace
from commonplace.operations.table import BY_NAME
from commonplace.surfaces.cli.render import drawn, show_answer
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


def test_cli_propose_shows_expiry_and_signals(me):
    told = printed(me.agent("helper").propose("city", "Berlin"))
    assert "? proposed city: Berlin" in told
    assert "waits until 2026-03-08, 1 independent signal" in told


def test_cli_proposals_show_current_value_actor_reason_and_commands(me):
    me.profile_set("city", "Haifa")
    asked = me.agent("helper").propose("city", "Berlin", reason="A flat", evidence=["I moved"])
    told = printed(me.proposals())
    for words in ("city: Berlin", "now: Haifa", "by agent:helper", "A flat", "“I moved”"):
        assert words in told
    assert f"profile accept | decline {asked.id}" in told


def test_cli_proposals_prints_a_message_for_an_empty_list(me, capsys):
    show_answer(BY_NAME["profile proposals"], me.proposals(), as_json=False)
    assert capsys.readouterr().out == "No proposals.\n"


def test_cli_accept_names_proposals_declined_with_the_decision(me):
    helper = me.agent("helper")
    berlin, jaffa = helper.propose("city", "Berlin"), helper.propose("city", "Jaffa")
    told = printed(me.accept(berlin.id))
    assert "✓ accepted: city: Berlin" in told
    assert jaffa.id in told
    assert "− declined: tone: brief" in printed(me.decline(helper.propose("tone", "brief").id))


def test_cli_propose_distinguishes_applied_from_already_set(me):
    helper = me.agent("helper")
    assert "✓ applied tone: brief" in printed(helper.propose("tone", "brief", confidence=0.9))
    assert "already in the profile: tone: Brief" in printed(helper.propose("tone", "Brief"))


def test_cli_propose_and_observe_show_a_reached_limit(me):
    me.profile_set("goals", [f"goal {number}" for number in range(100)])
    heard = me.agent("helper").observe("My goal is to run a marathon", thread="t")
    assert "− limit reached: goals_add" in printed(heard.proposals[0])
    assert "run a marathon" in printed(heard)


def test_cli_stats_and_tidy_count_proposals(me):
    me.agent("helper").propose("city", "Berlin")
    assert "1 open proposal (profile proposals)" in printed(me.stats())
    me._engine.clock.tick(days=8)
    assert "expired proposals 1" in printed(me.tidy())
