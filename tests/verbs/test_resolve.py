"""resolve: a person decides, once; what was not mentioned is kept, and restore undoes it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.errors import CommonplaceError, InvalidInput, NotFound
from support.questions import asked, sides, tell, tell_of, values
from support.stores import all_rows


@pytest.fixture
def disputed(me):
    """One that stands, and one that is held against it."""
    return tell(me, 1111), tell(me, 2222)


# ——— the three choices ———


def test_resolve_override_replaces_the_target_by_the_held_value(me, clock, disputed):
    there, held = disputed
    clock.tick(days=1)
    resolved = me.resolve(held.conflict, "override")
    assert (resolved.conflict, resolved.choice) == (held.conflict, "override")
    assert (resolved.ids, resolved.replaced, resolved.dropped) == ((held.id,), (there.id,), ())
    assert resolved.is_override
    assert resolved.revision == me.revision
    assert (values(me), me.conflicts()) == ([2222], [])
    stored = me.show(held.id).memory
    assert (stored.id, stored.version, stored.created_at) == (held.id, 1, clock.now)
    assert stored.conflict is None
    assert [hit.id for hit in me.recall("door code").hits] == [held.id]


def test_resolve_insert_keeps_both_values_undisputed(me, disputed):
    _, held = disputed
    resolved = me.resolve(held.conflict, "insert")
    assert (resolved.ids, resolved.replaced, resolved.dropped) == ((held.id,), (), ())
    assert not resolved.is_override
    assert (values(me), me.conflicts()) == ([1111, 2222], [])
    assert [hit.disputed for hit in me.recall("door code").hits] == [None, None]


def test_resolve_dismiss_keeps_the_current_value(me, disputed):
    there, held = disputed
    resolved = me.resolve(held.conflict, "dismiss")
    assert (resolved.ids, resolved.replaced, resolved.dropped) == ((), (), (held.id,))
    assert (values(me), me.conflicts()) == ([1111], [])
    assert me.show(there.id).memory.conflict is None
    assert me.recall("door code").hits[0].disputed is None


def test_resolve_dismissed_value_can_be_held_again(me, disputed):
    me.resolve(disputed[1].conflict, "dismiss")
    again = tell(me, 2222)
    assert again.action == "pending"
    assert again.conflict != disputed[1].conflict


# ——— which of several ———


def test_resolve_override_chooses_the_newest_held_value_by_default(me, clock, disputed):
    clock.tick(hours=1)
    newest = tell(me, 3333)
    resolved = me.resolve(newest.conflict, "override")
    assert (resolved.ids, resolved.dropped) == ((newest.id,), (disputed[1].id,))
    assert values(me) == [3333]


def test_resolve_override_accepts_a_held_id(me, clock, disputed):
    clock.tick(hours=1)
    newest = tell(me, 3333)
    resolved = me.resolve(newest.conflict, "override", held=disputed[1].id)
    assert (resolved.ids, resolved.dropped) == ((disputed[1].id,), (newest.id,))
    assert values(me) == [2222]


def test_resolve_insert_keeps_all_held_values_or_the_named_one(me, clock, disputed):
    clock.tick(hours=1)
    newest = tell(me, 3333)
    resolved = me.resolve(newest.conflict, "insert", held=newest.id)
    assert (resolved.ids, resolved.dropped) == ((newest.id,), (disputed[1].id,))
    more = [tell(me, value, "alarm code") for value in (1, 2, 3)]
    me.resolve(more[-1].conflict, "insert")
    assert values(me) == [1, 1111, 2, 3, 3333]


def test_resolve_dismiss_of_one_held_value_keeps_the_conflict_open(me, clock, disputed):
    there, first = disputed
    clock.tick(hours=1)
    second = tell(me, 3333)
    assert me.resolve(first.conflict, "dismiss", held=first.id).dropped == (first.id,)
    assert sides(asked(me)) == ([there.id], [second.id])
    me.resolve(first.conflict, "dismiss", held=second.id)
    assert me.conflicts() == []
    assert me.show(there.id).memory.conflict is None


def test_resolve_override_requires_a_target_among_several(me):
    dana = tell_of(me, "Dana Levi", phone="052-111-2233")
    omer = tell_of(me, "Omer Katz", phone="054-999-8877")
    held = tell_of(me, "Dana Levi", phone="054-999-8877")
    with pytest.raises(InvalidInput) as caught:
        me.resolve(held.conflict, "override")
    assert caught.value.field == "target"
    assert dana.id in caught.value.remedy
    resolved = me.resolve(held.conflict, "override", target=dana.id)
    assert resolved.replaced == (dana.id,)
    assert {memory.id for memory in me.list().memories} == {omer.id, held.id}
    assert me.show(omer.id).memory.conflict is None


# ——— what is refused changes nothing ———

REFUSED = {
    "unknown question": (("nowhere", "override"), {}, "not_found", "conflict"),
    "unknown choice": (("$", "shrug"), {}, "invalid_input", "choice"),
    "unknown target": (("$", "override"), {"target": "nowhere"}, "invalid_input", "target"),
    "unknown held": (("$", "override"), {"held": "nowhere"}, "invalid_input", "held"),
    "a target to insert": (("$", "insert"), {"target": "$there"}, "invalid_input", "target"),
    "a target to dismiss": (("$", "dismiss"), {"target": "$there"}, "invalid_input", "target"),
    "a held id for a question": (("$held", "override"), {}, "not_found", "conflict"),
    "a memory for a question": (("$there", "override"), {}, "not_found", "conflict"),
    "an empty target": (("$", "override"), {"target": " "}, None, "target"),
    "no text": ((7, "override"), {}, "invalid_input", "conflict"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_resolve_refuses_invalid_input_without_a_change(me, store_url, disputed, case):
    (question, choice), more, code, field = REFUSED[case]
    named = {"$": disputed[1].conflict, "$there": disputed[0].id, "$held": disputed[1].id}
    more = {name: named.get(value, value) for name, value in more.items()}
    before = all_rows(store_url)
    with pytest.raises(CommonplaceError) as caught:
        me.resolve(named.get(question, question), choice, **more)
    assert caught.value.field == field
    assert caught.value.code == (code or caught.value.code)
    assert caught.value.remedy
    assert all_rows(store_url) == before


def test_resolve_refuses_a_conflict_resolved_before(me, disputed):
    me.resolve(disputed[1].conflict, "insert")
    with pytest.raises(NotFound):
        me.resolve(disputed[1].conflict, "override")
    assert values(me) == [1111, 2222]


def test_resolve_conflict_of_another_user_is_not_found(book, me, disputed):
    with pytest.raises(NotFound):
        book.user("bob").resolve(disputed[1].conflict, "override")
    assert book.user("bob").conflicts() == []


# ——— a target that is gone ———


def forgotten(me, clock, there):
    me.forget(there.id)


def updated_and_forgotten(me, clock, there):
    me.forget(me.update(there.id, metadata={"value": 7777}).id)


def expired(me, clock, there):
    me.update(there.id, ttl_days=1)
    clock.tick(days=2)


def expired_and_tidied(me, clock, there):
    expired(me, clock, there)
    me.tidy()


def purged(me, clock, there):
    me.forget(there.id)
    clock.tick(days=31)
    me.tidy()


@pytest.mark.parametrize(
    "goes", [forgotten, updated_and_forgotten, expired, expired_and_tidied, purged]
)
def test_resolve_override_inserts_when_the_target_is_gone(me, clock, disputed, goes):
    there, held = disputed
    goes(me, clock, there)
    assert asked(me).id == held.conflict
    assert not any(side.is_live for side in asked(me).standing)
    resolved = me.resolve(held.conflict, "override")
    assert (resolved.ids, resolved.replaced, resolved.is_override) == ((held.id,), (), False)
    assert (values(me), me.conflicts()) == ([2222], [])


def test_restore_of_a_conflict_target_reopens_the_dispute(me, disputed):
    there, held = disputed
    me.forget(there.id)
    me.restore(there.id)
    assert sides(asked(me)) == ([there.id], [held.id])
    assert me.recall("door code").hits[0].disputed == "door code is 2222"


# ——— override is delete and insert ———


def test_resolve_override_keeps_fields_absent_from_the_new_value(me):
    old = tell_of(
        me,
        "Dana Levi",
        phone="052-111-2233",
        role="plumber",
        metadata={"met_at": "the fair"},
        pinned=True,
        importance=4,
        category="house",
        sensitivity="low",
        facet="trusted",
    )
    held = tell_of(me, "Dana Levi", phone="054-999-8877")
    me.resolve(held.conflict, "override")
    new = me.show(held.id).memory
    assert new.id != old.id
    assert new.metadata == {
        "name": "Dana Levi",
        "phone": "054-999-8877",
        "role": "plumber",
        "met_at": "the fair",
    }
    assert (new.pinned, new.importance, new.category) == (True, 4, "house")
    assert new.facet == "trusted"
    assert "plumber" in new.content
    assert "plumber" in new.summary
    assert "052-111-2233" not in new.content
    assert [hit.id for hit in me.recall("plumber").hits] == [held.id]


def test_remember_override_keeps_explicit_tags(me):
    tell(me, 1111, tags=["home", "security"])
    new = tell(me, 2222, on_conflict="override")
    assert new.memory.tags == ("home", "security")
    given = tell(me, 3333, on_conflict="override", tags=["office"])
    assert given.memory.tags == ("office",)


def test_remember_override_takes_fields_given_with_the_new_value(me):
    tell(me, 1111, importance=4, pinned=True, category="house", sensitivity="high")
    new = tell(
        me,
        2222,
        on_conflict="override",
        importance=1,
        pinned=False,
        category="office",
        sensitivity="low",
    ).memory
    assert (new.importance, new.pinned, new.category) == (1, False, "office")
    assert new.sensitivity == "low"


def test_remember_override_of_several_values_is_held(me):
    tell(me, 1111)
    tell(me, 2222, on_conflict="insert")
    assert tell(me, 3333, on_conflict="override").action == "pending"


def test_resolve_override_refuses_an_expired_held_value(me, clock):
    there = tell(me, 1111)
    held = tell(me, 2222, ttl_days=1)
    clock.tick(days=3)
    assert me.recall("door code").hits[0].disputed is None
    with pytest.raises(InvalidInput, match="expired"):
        me.resolve(held.conflict, "override")
    me.resolve(held.conflict, "dismiss")
    assert [memory.id for memory in me.list().memories] == [there.id]


def test_remember_contact_with_differing_metadata_is_held(me):
    tell_of(me, "Dana Levi", metadata={"address": "Old St 1"})
    moved = tell_of(me, "Dana Levi", metadata={"address": "New St 9"})
    assert (moved.relation, moved.action) == ("changed", "pending")
    assert moved.reason == "address: Old St 1 → New St 9"


def test_recall_keeps_a_disputed_memory_within_budget_despite_a_long_held_value(me):
    there = tell(me, 1111)
    tell(me.agent("helper"), 2222, content="the door code is 2222 " + "and on " * 4000)
    answer = me.recall("door code", budget_tokens=512)
    assert [hit.id for hit in answer.hits] == [there.id]


def test_remember_override_keeps_high_sensitivity(me):
    tell(me, 1111, sensitivity="high")
    new = tell(me, 2222, on_conflict="override")
    assert me.show(new.id).memory.sensitivity == new.memory.sensitivity == "high"


@pytest.mark.parametrize("way", ["resolve", "on_conflict"])
def test_override_hides_the_old_memory_and_starts_a_new_version_chain(me, way, clock):
    old = tell(me, "xylophone")
    if way == "resolve":
        new = tell(me, 2222)
        me.resolve(new.conflict, "override")
    else:
        new = tell(me, 2222, on_conflict="override")
    assert [memory.id for memory in me.list().memories] == [new.id]
    assert [hit.id for hit in me.recall("door code xylophone").hits] == [new.id]
    with pytest.raises(NotFound):
        me.show(old.id)
    assert [version.memory.version for version in me.show(new.id).versions] == [1]
    (gone,) = me.list(forgotten=True).memories
    assert (gone.id, gone.purge_at) == (old.id, clock.now + timedelta(days=30))


@pytest.mark.parametrize("way", ["resolve", "on_conflict"])
def test_restore_swaps_the_two_sides_of_an_override(me, way):
    old = tell(me, 1111)
    if way == "resolve":
        new = tell(me, 2222)
        me.resolve(new.conflict, "override")
    else:
        new = tell(me, 2222, on_conflict="override")
    restored = me.restore(old.id)
    assert (restored.ids, restored.replaced) == ((old.id,), (new.id,))
    assert values(me) == [1111]
    assert me.restore(new.id).replaced == (old.id,)
    assert values(me) == [2222]


def test_override_can_be_restored_for_30_days(me, clock):
    old = tell(me, 1111)
    tell(me, 2222, on_conflict="override")
    clock.tick(days=29)
    me.tidy()
    me.restore(old.id)
    assert values(me) == [1111]
    later = tell(me, 3333, on_conflict="override")
    clock.tick(days=31)
    with pytest.raises(NotFound):
        me.restore(old.id)
    assert values(me) == [3333]
    assert later.others == (old.id,)


def test_resolve_insert_links_the_stored_value(me):
    friend = me.remember("The door code is 2222", kind="note")
    tell(me, 1111)
    held = tell(me, 2222)
    assert held.id not in {id for link in me.show(friend.id).links for id in (link.a, link.b)}
    me.resolve(held.conflict, "insert")
    linked = {id for link in me.show(held.id).links for id in (link.a, link.b)}
    assert friend.id in linked
