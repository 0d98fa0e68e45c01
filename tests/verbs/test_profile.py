"""The profile: the owner's fields and notes, versioned and forgettable like everything else."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput, NotAllowed


def test_profile_set_accepts_several_value_types(me):
    me.profile_set("preferred_name", "Ana")
    me.profile_set("Time Zone", "Asia/Jerusalem")
    me.profile_set("goals", ["run a marathon", "read more"])
    me.profile_set("age", 41)
    assert me.profile().fields == {
        "age": 41,
        "goals": ["run a marathon", "read more"],
        "preferred_name": "Ana",
        "time_zone": "Asia/Jerusalem",
    }


def test_profile_field_appears_in_recall_and_changes(me):
    change = me.profile_set("preferred_name", "Ana")
    assert change.id == "profile:preferred_name"
    (hit,) = me.recall("preferred name").hits
    assert (hit.id, hit.text, hit.category) == (change.id, "Preferred name is Ana", "profile")
    assert me.changes().header == (
        "Memory updates since rev 0:\n- +created: [profile] Preferred name is Ana (imp=2)"
    )


def test_profile_set_again_makes_a_new_version(me):
    me.profile_set("city", "Haifa")
    me.profile_set("city", "Berlin")
    assert me.profile().fields == {"city": "Berlin"}
    assert [v.memory.metadata["value"] for v in me.show("profile:city").versions] == [
        "Haifa",
        "Berlin",
    ]
    assert me.recall("Haifa").is_empty


def test_update_profile_field_keeps_its_id(me):
    me.profile_set("city", "Haifa")
    answer = me.update("profile:city", metadata={"value": "Berlin"})
    assert (answer.id, answer.action, answer.memory.version) == ("profile:city", "updated", 2)
    assert me.profile().fields == {"city": "Berlin"}
    assert [hit.text for hit in me.recall("city Berlin").hits] == ["City is Berlin"]


def test_profile_note_numbers_are_never_reused(me):
    assert [me.profile_note(f"Note {n}").id for n in range(2)] == ["profile:0", "profile:1"]
    me.erase("profile:1")
    assert me.profile_note("Note 2").id == "profile:2"
    me.erase_user()
    assert me.profile_note("Note 3").id == "profile:3"
    assert me.profile().notes == {"profile:3": "Note 3"}


def test_update_profile_note_keeps_its_number(me):
    me.profile_note("Allergic to nuts")
    assert me.update("profile:0", content="Allergic to peanuts").id == "profile:0"
    assert me.profile().notes == {"profile:0": "Allergic to peanuts"}


def test_forget_and_restore_work_on_profile_notes_and_fields(me):
    me.profile_note("Allergic to nuts")
    me.profile_set("city", "Haifa")
    me.forget(["profile:0", "profile:city"])
    assert (me.profile().fields, me.profile().notes) == ({}, {})
    me.restore(["profile:0", "profile:city"])
    assert me.profile().fields == {"city": "Haifa"}
    assert me.profile().notes == {"profile:0": "Allergic to nuts"}


def test_profile_set_revives_a_forgotten_field(me):
    me.profile_set("city", "Haifa")
    me.forget("profile:city")
    me.profile_set("city", "Berlin")
    assert me.profile().fields == {"city": "Berlin"}


def test_profile_is_read_only_for_an_agent(me):
    me.profile_set("city", "Haifa")
    agent = me.agent("helper")
    assert agent.profile().fields == {"city": "Haifa"}
    for attempt in (
        lambda: agent.profile_set("city", "Berlin"),
        lambda: agent.profile_note("Likes tea"),
        lambda: agent.update("profile:city", metadata={"value": "Berlin"}),
        lambda: agent.update("profile:city", importance=5),
    ):
        with pytest.raises(NotAllowed):
            attempt()
    assert me.profile().fields == {"city": "Haifa"}
    assert me.revision == 1


@pytest.mark.parametrize("name", ["", "1st", "a.b", "ש", "x" * 41, 5])
def test_profile_set_refuses_an_invalid_field_name(me, name):
    with pytest.raises(InvalidInput):
        me.profile_set(name, "x")
    assert me.revision == 0


def test_profile_set_revives_an_expired_field(me, clock):
    me.profile_set("city", "Haifa")
    me.update("profile:city", ttl_days=1)
    clock.tick(days=2)
    me.profile_set("city", "Jaffa")
    assert me.profile().fields == {"city": "Jaffa"}
    me.tidy()
    assert me.profile().fields == {"city": "Jaffa"}


def test_profile_set_with_the_same_value_changes_nothing(me):
    me.profile_set("city", "Haifa")
    before = me.revision
    me.profile_set("city", "Haifa")
    assert me.revision == before
