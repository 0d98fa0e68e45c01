"""Two agents of one user share one memory, each under its own name and with its own cursor."""

from __future__ import annotations

import pytest

from commonplace.errors import NotAllowed
from support.embedders import Interrupted


def test_agents_of_one_user_share_memories_and_changes(me):
    helper, writer = me.agent("helper"), me.agent("writer")
    trip = helper.remember("Ana is planning a trip to Rome").id
    (hit,) = writer.recall("trip to Rome").hits
    assert hit.id == trip
    assert [change.id for change in writer.changes().changes] == [trip]
    new = writer.update(trip, content="Ana is planning a trip to Oslo").id
    assert [change.what for change in helper.changes().changes] == ["updated"]
    assert writer.history(new)[0]["actor"] == "agent:writer"
    assert me.show(trip).memory.agent_id == "helper"


def test_list_and_recall_filter_by_agent_id(me):
    ids = {name: me.agent(name).remember(f"Written by {name}").id for name in ("one", "two")}
    for name, id in ids.items():
        shown = me.list(filters={"agent_id": name}).memories
        assert [m.id for m in shown] == [id]
        assert [hit.id for hit in me.recall("written", filters={"agent_id": name}).hits] == [id]


def test_agent_can_forget_and_restore_memories_of_another_agent(me):
    helper, writer = me.agent("helper"), me.agent("writer")
    trip = helper.remember("Ana is planning a trip to Rome").id
    writer.forget(trip)
    assert helper.recall("trip").is_empty
    helper.restore(trip)
    assert [hit.id for hit in writer.recall("trip").hits] == [trip]


def test_recall_sees_writes_of_another_open_instance(open_book):
    here, there = open_book().user("ana"), open_book().user("ana")
    first = here.remember("The garden gate needs a new lock").id
    assert [hit.id for hit in there.recall("garden gate").hits] == [first]
    there.forget(first)
    assert here.recall("garden gate").is_empty
    there.restore(first)
    here.erase(first)
    assert there.recall("garden gate").is_empty


def test_update_merges_a_concurrent_change(open_book):
    """A replacement is made of the row as it is when it is applied, not as it was before."""
    embedder = Interrupted()
    here, there = open_book(embedder=embedder).user("ana"), open_book().user("ana")
    id = here.remember(kind="contact", metadata={"name": "Dan", "phone": "1"}).id
    embedder.meanwhile = lambda: there.update(id, tags=["family"], metadata={"met": "Rome"})
    after = here.update(id, metadata={"phone": "2"}).memory
    assert after.metadata == {"name": "Dan", "phone": "2", "met": "Rome"}
    assert after.tags == ("family",)


def test_agent_handle_refuses_another_agent_name(me):
    with pytest.raises(NotAllowed):
        me.agent("helper").agent("writer")
    assert me.agent("helper").agent("helper").principal.agent == "helper"


def test_agent_cannot_change_the_profile_by_any_verb(me):
    me.profile_set("city", "Haifa")
    note = me.profile_note("Left-handed").id
    helper = me.agent("helper")
    other = me.remember("A note of its own").id
    for change in (
        lambda: helper.forget("profile:city"),
        lambda: helper.erase(note),
        lambda: helper.merge([note, other]),
        lambda: helper.update(note, importance=5),
    ):
        with pytest.raises(NotAllowed):
            change()
    helper.forget(categories="profile")
    assert me.profile().fields == {"city": "Haifa"}
    assert list(me.profile().notes) == [note]


def test_change_log_and_events_hide_ids_of_hidden_memories(me):
    hidden = me.remember("Diagnosis: anaemia", sensitivity="high", thread="t").id
    seen = me.remember("Lunch at noon", thread="t").id
    helper = me.agent("helper")
    assert {row["memory_id"] for row in helper.change_log("t")} == {seen}
    assert hidden not in {row["memory_id"] for row in helper.events()}
    assert {row["memory_id"] for row in me.change_log("t")} == {seen, hidden}
