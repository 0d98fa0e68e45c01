"""Sensitivity high: the owner by id or cleared, agents only when cleared, others never."""

from __future__ import annotations

import pytest

from commonplace.errors import NotAllowed, NotFound

TEXT = "Ana takes lithium for her mood"


@pytest.fixture
def secret(me):
    return me.remember(TEXT, sensitivity="sensitive").id


def finds(handle):
    return [hit.id for hit in handle.recall("lithium mood").hits]


def lists(handle):
    return [memory.id for memory in handle.list().memories]


def test_sensitive_memory_is_hidden_from_search_and_lists_unless_cleared(book, me, secret):
    for handle in (me, me.agent("helper")):
        assert finds(handle) == lists(handle) == []
        assert handle.changes("t").header == ""
    cleared = book.user("ana", cleared=True)
    for handle in (cleared, cleared.agent("helper")):
        assert finds(handle) == lists(handle) == [secret]
        assert TEXT in handle.changes("u").header


def test_sensitive_memory_is_accessible_by_id_to_the_owner(me, secret):
    assert me.show(secret).memory.content == TEXT
    assert me.history(secret)[0]["event"] == "ADD"
    assert me.update(secret, importance=5).memory.importance == 5


@pytest.mark.parametrize("verb", ["show", "history", "update", "forget", "restore", "erase"])
def test_sensitive_memory_is_not_found_by_id_for_an_agent(me, secret, verb):
    fields = {"importance": 5} if verb == "update" else {}
    agent = me.agent("helper")
    with pytest.raises(NotFound) as hidden:
        getattr(agent, verb)(secret, **fields)
    with pytest.raises(NotFound) as unknown:
        getattr(agent, verb)("no-such-id", **fields)
    assert hidden.value.message.replace(secret, "no-such-id") == unknown.value.message
    assert me.show(secret).memory.importance == 2


def test_changes_omit_the_erase_of_a_sensitive_memory_for_an_agent(book, me, secret):
    agent, cleared = me.agent("helper"), book.user("ana", cleared=True).agent("writer")
    agent.changes()
    cleared.changes()
    me.erase(secret)
    assert agent.changes().header == ""
    assert "×deleted" in cleared.changes().header


def test_changes_omit_the_purge_of_a_sensitive_memory_for_an_agent(me, secret, clock):
    agent = me.agent("helper")
    agent.changes()
    me.forget(secret)
    clock.tick(days=31)
    assert me.tidy().purged == 1
    assert agent.changes().changes == ()


def test_sensitive_memory_is_not_shown_as_related_or_linked_to_an_agent(me, secret):
    other = me.remember("Ana takes lithium for her moods", kind="note").id
    agent = me.agent("helper")
    (hit,) = agent.recall("lithium mood").hits
    assert (hit.id, hit.related) == (other, ())
    assert agent.show(other).links == ()
    (link,) = me.show(other).links
    assert {link.a, link.b} == {other, secret}


def test_update_sensitivity_takes_effect_at_once(me):
    id = me.remember(TEXT).id
    agent = me.agent("helper")
    assert finds(agent) == [id]
    me.update(id, sensitivity="high")
    assert finds(agent) == []
    me.update(id, sensitivity="normal")
    assert finds(agent) == [id]


def test_verify_forget_doctor_and_history_refuse_probing_by_an_agent(me):
    hidden = me.remember("Diagnosis: lupus", sensitivity="high").id
    helper = me.agent("helper")
    with pytest.raises(NotAllowed):
        helper.verify_forget("lupus")
    with pytest.raises(NotAllowed):
        helper.doctor(all_users=True)
    me.erase(hidden)
    with pytest.raises(NotFound):
        helper.history(hidden)


def test_show_versions_omits_sensitive_versions_for_an_agent(book, me, clock):
    me.profile_set("city", "Hideout")
    me.update("profile:city", sensitivity="high")
    me.profile_set("city", "Haifa")
    me.update("profile:city", sensitivity="normal")

    def told(handle, **then):
        versions = handle.show("profile:city", **then).versions
        return {version.memory.metadata["value"] for version in versions}

    cleared = book.user("ana", cleared=True).agent("helper")
    assert told(me) == told(cleared) == {"Hideout", "Haifa"}
    assert told(me.agent("helper")) == told(me.agent("helper"), known_at=clock()) == {"Haifa"}


def test_sensitive_text_is_hidden_from_an_agent_at_every_past_moment(me, clock):
    """Though they were not when they were told, and something else is said by now."""
    me.profile_set("city", "Hideout")
    clock.tick(days=1)
    then = clock()
    clock.tick(days=1)
    me.update("profile:city", sensitivity="high")
    me.profile_set("city", "Haifa")
    me.update("profile:city", sensitivity="normal")
    helper = me.agent("helper")
    for moment in ({"known_at": then}, {"as_of": then}):
        assert helper.list(**moment).memories == ()
        assert helper.recall("which city?", threshold=0, **moment).is_empty
        with pytest.raises(NotFound):
            helper.show("profile:city", **moment)
        assert me.show("profile:city", **moment).memory.metadata["value"] == "Hideout"
