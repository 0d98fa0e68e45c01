"""Souls: at most five, one agent's own, superseded when updated."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput, LimitReached, NotFound


def test_souls_are_limited_to_five(me):
    ids = [me.remember(f"Principle number {n}", kind="soul").id for n in range(5)]
    with pytest.raises(LimitReached):
        me.remember("One too many", kind="soul")
    assert me.revision == 5
    me.forget(ids[0])
    sixth = me.remember("Now there is room", kind="soul").id
    with pytest.raises(LimitReached):
        me.restore(ids[0])
    me.forget(sixth)
    assert me.restore(ids[0]).ids == (ids[0],)


def test_remember_many_applies_the_limit_of_souls(me):
    with pytest.raises(LimitReached):
        me.remember_many([{"kind": "soul", "content": f"Principle {n}"} for n in range(6)])
    assert me.list().memories == ()


def test_update_soul_supersedes_and_keeps_the_chain(me):
    ids = [me.remember(f"I am calm, version {n}", kind="soul").id for n in range(5)]
    second = me.update(ids[0], content="I am calm and brief")
    third = me.update(second.id, content="I am calm, brief and kind")
    assert second.action == third.action == "superseded"
    assert me.show(ids[0]).memory.superseded_by == second.id
    assert me.show(second.id).memory.superseded_by == third.id
    live = [m.content for m in me.list(kinds="soul").memories]
    assert len(live) == 5
    assert "I am calm, brief and kind" in live


def test_soul_of_an_agent_is_visible_to_that_agent_and_the_owner(me):
    helper, writer = me.agent("helper"), me.agent("writer")
    own = helper.remember("I plan in small steps", kind="soul", agent_id="helper").id
    common = me.remember("Be honest in every step", kind="soul").id

    def sees(handle):
        listed = {m.id for m in handle.list(kinds="soul").memories}
        found = {hit.id for hit in handle.recall("steps", k=9, kinds="soul").hits}
        told = {change.id for change in handle.changes().changes}
        return listed | found | told

    assert sees(helper) == sees(me) == {own, common}
    assert sees(writer) == {common}
    with pytest.raises(NotFound):
        writer.show(own)
    with pytest.raises(NotFound):
        writer.update(own, content="I plan nothing")


def test_changes_omit_the_erase_of_a_soul_of_another_agent(me):
    helper, writer = me.agent("helper"), me.agent("writer")
    own = helper.remember("I plan in small steps", kind="soul", agent_id="helper").id
    for agent in (helper, writer):
        agent.changes()
    me.erase(own)
    assert writer.changes().header == ""
    assert "×deleted" in helper.changes().header


def test_merge_refuses_souls(me):
    ids = [me.remember(f"Principle {n}", kind="soul").id for n in range(2)]
    with pytest.raises(InvalidInput, match="cannot be merged"):
        me.merge(ids)
