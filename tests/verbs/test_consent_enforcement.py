"""Neither `remember` nor `update` lets an agent say what it would have to propose."""

from __future__ import annotations

import pytest

from commonplace.errors import NotAllowed


@pytest.fixture
def helper(me):
    return me.agent("helper", may_resolve=True)


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "kv", "metadata": {"subject": "city", "value": "Rome"}},
        {"kind": "kv", "metadata": {"subject": "Preferred_Name", "value": "Bob"}},
        {"kind": "kv", "metadata": {"subject": "my time zone", "value": "Europe/Rome"}},
        {"content": "Preferred name is Bob"},  # which is read as a kv
    ],
)
def test_remember_refuses_a_profile_field_from_an_agent(me, helper, given):
    for tell in (
        lambda: helper.remember(**given, category="profile"),
        lambda: helper.remember_many(["Tea is hot", {**given, "category": "profile"}]),
    ):
        with pytest.raises(NotAllowed) as refused:
            tell()
        assert "propose" in refused.value.remedy
    assert me.revision == 0
    assert me.remember(**given, category="profile").memory.category == "profile"


def test_update_refuses_an_agent_turning_a_memory_into_a_profile_field(me, helper):
    elsewhere = helper.remember(kind="kv", metadata={"subject": "city", "value": "Rome"})
    another = helper.remember(
        kind="kv", category="profile", metadata={"subject": "shoe size", "value": 41}
    )
    for id, change in (
        (elsewhere.id, {"category": "profile"}),
        (another.id, {"metadata": {"subject": "city", "value": "Rome"}}),
    ):
        with pytest.raises(NotAllowed):
            helper.update(id, **change)
    assert me.update(elsewhere.id, category="profile").action == "updated"


def test_remember_accepts_other_profile_category_memories_from_an_agent(me, helper):
    told = helper.remember("Ana is allergic to peanuts", kind="fact", category="profile")
    assert told.memory.category == "profile"
    assert helper.remember(kind="kv", metadata={"subject": "city", "value": "Rome"}).is_new
    assert me.profile().fields == {}


def test_update_of_profile_field_decides_its_open_proposals(me, helper):
    me.profile_set("city", "Porto")
    for city in ("Berlin", "Haifa"):
        helper.propose("city", city)
    me.update("profile:city", metadata={"value": "Haifa"})
    assert (me.profile().fields, me.proposals()) == ({"city": "Haifa"}, [])
    rows = me.history("profile:city")
    told = [row["meta"]["decision"] for row in rows if "decision" in row["meta"]]
    assert sorted(told) == ["accepted", "declined"]


def test_update_of_profile_field_survives_erase_of_the_proposal_source(me, helper):
    source = me.ingest("A letter").id
    helper.propose("tone", "warm", confidence=0.9, source_id=source)
    me.update("profile:tone", metadata={"value": "brief"})
    me.update("profile:tone", metadata={"value": "warm"})
    me.erase(source)
    assert me.profile().fields == {"tone": "warm"}
