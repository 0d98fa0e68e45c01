"""forget and restore: gone from every read at once, back until the day of purging."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.errors import MissingField, NotFound


def live(me):
    return {memory.id for memory in me.list(limit=1000).memories}


@pytest.fixture
def note(me):
    return me.remember("The garden gate needs a new lock").id


def test_forget_hides_a_memory_from_every_read(me, clock, note):
    answer = me.forget(note)
    assert (answer.ids, answer.already) == ((note,), ())
    assert answer.restorable_until == clock.now + timedelta(days=30)
    assert me.recall("garden gate").is_empty
    assert live(me) == set()
    with pytest.raises(NotFound):
        me.show(note)
    assert [m.id for m in me.list(forgotten=True).memories] == [note]


def test_restore_brings_back_a_forgotten_memory_unchanged(me, clock, note):
    before = me.show(note).memory
    me.forget(note)
    clock.tick(days=29)
    answer = me.restore(note)
    assert (answer.ids, answer.already, answer.replaced) == ((note,), (), ())
    assert me.show(note).memory == before.evolve(updated_at=clock.now, version=3)
    assert [hit.id for hit in me.recall("garden gate").hits] == [note]
    assert [event["event"] for event in me.history(note)] == ["RESTORE", "DELETE", "ADD"]


def test_forget_and_restore_are_idempotent(me, note):
    me.forget(note)
    again = me.forget([note])
    assert (again.ids, again.already, again.revision) == ((), (note,), 2)
    me.restore(note)
    again = me.restore(note)
    assert (again.ids, again.already, again.revision) == ((), (note,), 3)


def test_restore_after_purge_is_not_found(me, clock, note):
    me.forget(note)
    clock.tick(days=30)
    assert me.tidy().purged == 1
    with pytest.raises(NotFound):
        me.restore(note)
    assert me.list(forgotten=True).memories == ()


@pytest.mark.parametrize("verb", ["forget", "restore", "erase", "show"])
def test_not_found_is_equal_for_unknown_purged_and_foreign_ids(book, me, clock, note, verb):
    other = book.user("ben").remember("The safe code is 4711").id
    me.forget(note)
    clock.tick(days=31)
    me.tidy()
    messages = set()
    for id in ("no-such-id", other, note):
        with pytest.raises(NotFound) as caught:
            getattr(me, verb)(id)
        messages.add(caught.value.message.replace(id, "ID"))
    assert len(messages) == 1
    assert live(book.user("ben")) == {other}


def test_forget_with_an_unknown_id_forgets_nothing(me, note):
    with pytest.raises(NotFound):
        me.forget([note, "no-such-id"])
    assert live(me) == {note}


def test_forget_of_an_unknown_passage_id_is_not_found(me):
    with pytest.raises(NotFound):
        me.forget("source:7e7c1c6e#3")


# ——— by filter and by query ———


@pytest.fixture
def several(me, clock):
    """Ids by name: an old mail, a new mail, a new note, a pinned new note."""
    mail = {"source_type": "email", "source_id": "gmail:1", "category": "work"}
    ids = {"old": me.remember("An old mail about hay", **mail).id}
    clock.tick(days=100)
    ids["new"] = me.remember("A new mail about hay", **mail).id
    ids["note"] = me.remember("A note about straw", kind="fact").id
    ids["pinned"] = me.remember("A pinned note about straw", kind="note", pinned=True).id
    return ids


@pytest.mark.parametrize(
    ("asked", "gone"),
    [
        ({"source_type": "email"}, {"old", "new"}),
        ({"source_id": "gmail:1", "older_than_days": 50}, {"old"}),
        ({"categories": "work"}, {"old", "new"}),
        ({"kinds": ["fact", "kv"]}, {"note"}),
        ({"older_than_days": 50}, {"old"}),
        ({"older_than_days": 500}, set()),
        ({"filters": {"pinned": True}}, {"pinned"}),
    ],
)
def test_forget_by_filter(me, several, asked, gone):
    answer = me.forget(**asked)
    assert set(answer.ids) == {several[name] for name in gone}
    assert live(me) == {id for name, id in several.items() if name not in gone}
    assert me.revision == (5 if gone else 4)


def test_forget_refuses_empty_arguments(me, several):
    for nothing in ({}, {"filters": {}}, {"kinds": []}):
        with pytest.raises(MissingField):
            me.forget(**nothing)
    assert live(me) == set(several.values())


def test_forget_by_query_offers_candidates_before_forgetting(me, several):
    choice = me.forget(query="mail about hay")
    found = [hit.id for hit in choice.candidates]
    assert set(found) == {several["old"], several["new"]}
    assert live(me) == set(several.values())
    me.forget(found)
    assert live(me) == {several["note"], several["pinned"]}


# ——— restoring what was replaced ———


def test_restore_swaps_a_superseded_fact_back_and_forth(me):
    old = me.remember("Dana lives in Haifa", kind="fact").id
    new = me.update(old, content="Dana lives in Berlin").id
    answer = me.restore(old)
    assert (answer.ids, answer.replaced) == ((old,), (new,))
    assert live(me) == {old}
    stored = me.show(old).memory
    assert (stored.superseded_by, stored.valid_to) == (None, None)
    assert me.restore(new).replaced == (old,)
    assert live(me) == {new}


def test_restore_swaps_an_overridden_value_back_and_forth(me):
    old = me.remember(kind="kv", metadata={"subject": "bill", "value": 500}).id
    new = me.update(old, metadata={"value": 600}).id
    assert me.restore(old).replaced == (new,)
    assert [hit.text for hit in me.recall("bill").hits] == ["bill is 500"]
    assert me.restore(new).replaced == (old,)
    assert [hit.text for hit in me.recall("bill").hits] == ["bill is 600"]


def test_restore_reaches_far_back_in_a_supersede_chain(me):
    first = me.remember("Dana lives in Haifa", kind="fact").id
    second = me.update(first, content="Dana lives in Berlin").id
    third = me.update(second, content="Dana lives in Rome").id
    assert me.restore(first).replaced == (third,)
    assert live(me) == {first}


def test_tidy_purges_an_overridden_value_after_thirty_days(me, clock):
    old = me.remember(kind="kv", metadata={"subject": "bill", "value": 500}).id
    new = me.update(old, metadata={"value": 600}).id
    clock.tick(days=30)
    me.tidy()
    with pytest.raises(NotFound):
        me.restore(old)
    assert live(me) == {new}


def test_restore_after_the_expiry_date_clears_expires_at(me, clock):
    id = me.remember("Call the plumber", ttl_days=5).id
    me.forget(id)
    clock.tick(days=10)
    me.restore(id)
    assert me.show(id).memory.expires_at is None


def test_show_omits_forgotten_versions_of_a_field_that_was_set_again(me, clock):
    """To nobody, today or at a look back: it comes back only by being restored."""
    me.profile_set("city", "Hideout")
    me.abbreviate("YC", "Hideout")
    me.forget(["profile:city", "abbreviation:yc"])
    clock.tick(days=1)
    me.profile_set("city", "Haifa")
    me.abbreviate("YC", "Haifa")
    for handle in (me, me.agent("helper")):
        for id in ("profile:city", "abbreviation:yc"):
            shown = handle.show(id)
            assert [v.memory.metadata["value"] for v in shown.versions] == ["Haifa"]
            assert handle.show(id, known_at=clock()).versions == shown.versions


def test_restore_brings_back_all_versions(me):
    me.profile_set("city", "Porto")
    me.profile_set("city", "Haifa")
    me.forget("profile:city")
    me.restore("profile:city")
    told = {version.memory.metadata["value"] for version in me.show("profile:city").versions}
    assert told == {"Porto", "Haifa"}
