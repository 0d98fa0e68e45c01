"""Who said what: nodes, relationships and notes, each with its teller."""

from __future__ import annotations


def test_contributions_are_those_of_one_teller_newest_first(me, clock):
    me.nodes_add("Sarah Chen")
    me.nodes_add("Acme", node_type="Entity", type="organization")
    clock.tick(minutes=1)
    agent = me.agent("helper")
    agent.note("Sarah Chen", "Plays the cello")
    clock.tick(minutes=1)
    me.note("Sarah Chen", "Lives upstairs")
    clock.tick(minutes=1)
    agent.relate("Sarah Chen", "Acme", "works-at")

    def told(by=None):
        found = me.contributions(by=by)
        return [(each.what, each.text) for each in found if each.by != "user:ana" or by]

    assert [what for what, _ in told("agent:helper")] == ["edge", "note"]
    assert told("helper") == told("agent:helper") == told()
    assert ("note", "Lives upstairs") in told("ana")
    assert ("note", "Plays the cello") not in told("ana")
    assert told("nobody") == []
