"""What is held against a memory follows it: when it is replaced, restored, adopted or goes."""

from __future__ import annotations

import pytest

from commonplace.errors import NotFound
from support.questions import asked, sides, tell, tell_of, values


def replace_by_update(me, there):
    return me.update(there.id, metadata={"value": 7777}).id


def replace_by_override(me, there):
    return tell(me, 7777, on_conflict="override").id


REPLACING = [replace_by_update, replace_by_override]


# ——— questions ———


@pytest.mark.parametrize("replacing", REPLACING)
def test_conflict_moves_to_the_replacement_of_the_disputed_memory(me, replacing):
    there, held = tell(me, 1111), tell(me, 2222)
    new = replacing(me, there)
    assert sides(asked(me)) == ([new], [held.id])
    assert asked(me).id == held.conflict
    assert me.recall("door code").hits[0].disputed == "door code is 2222"
    me.resolve(held.conflict, "override")
    assert values(me) == [2222]


@pytest.mark.parametrize("replacing", REPLACING)
def test_conflict_reason_names_the_replacement_value(me, replacing):
    there, _ = tell(me, 1111), tell(me, 2222)
    replacing(me, there)
    assert "7777" in asked(me).reason
    assert "1111" not in asked(me).reason


def test_conflict_drops_a_held_value_that_became_current(me, clock):
    there, first = tell(me, 1111), tell(me, 2222)
    clock.tick(hours=1)
    second = tell(me, 3333)
    me.update(there.id, metadata={"value": 2222})
    assert [side.id for side in asked(me).held] == [second.id]
    tell(me, 3333, on_conflict="override")
    assert me.conflicts() == []
    assert values(me) == [3333]
    with pytest.raises(NotFound):
        me.resolve(first.conflict, "override")


@pytest.mark.parametrize("replacing", REPLACING)
def test_conflict_moves_back_to_a_restored_memory(me, replacing):
    there, held = tell(me, 1111), tell(me, 2222)
    new = replacing(me, there)
    assert me.restore(there.id).replaced == (new,)
    assert sides(asked(me)) == ([there.id], [held.id])
    assert "1111" in asked(me).reason
    me.resolve(held.conflict, "override")
    assert values(me) == [2222]


def test_conflict_is_unchanged_by_an_update_in_place(me):
    there, held = tell(me, 1111), tell(me, 2222)
    me.update(there.id, importance=5)
    assert sides(asked(me)) == ([there.id], [held.id])
    assert me.show(there.id).memory.conflict == held.conflict


def test_conflict_with_two_memories_follows_the_replacement_of_either(me):
    dana = tell_of(me, "Dana Levi", phone="052-111-2233")
    omer = tell_of(me, "Omer Katz", phone="054-999-8877")
    held = tell_of(me, "Dana Levi", phone="054-999-8877")
    new = me.update(dana.id, metadata={"phone": "053-000-0001"}).id
    standing, waiting = sides(asked(me))
    assert (set(standing), waiting) == ({new, omer.id}, [held.id])
    with pytest.raises(NotFound):
        me.show(dana.id)


# ——— alternatives ———


def beside(me, id):
    return [side.text for side in me.show(id).alternatives]


@pytest.mark.parametrize("replacing", REPLACING)
def test_alternative_moves_to_the_replacement_and_back_on_restore(me, replacing):
    there = tell(me, 1111)
    tell(me, 2222, on_conflict="alternative")
    new = replacing(me, there)
    assert beside(me, new) == ["door code is 2222"]
    me.restore(there.id)
    assert beside(me, there.id) == ["door code is 2222"]


def test_alternative_of_a_fact_moves_to_the_superseding_fact(me):
    me.remember("Dana lives in Haifa", kind="fact")
    me.remember("Dana lives in Porto", kind="fact", on_conflict="alternative")
    newer = me.remember("Dana lives in Lima", kind="fact")
    assert newer.action == "superseded"
    assert beside(me, newer.id) == ["Dana lives in Porto"]
    newest = me.remember("Dana lives in Porto", kind="fact")
    assert (newest.action, beside(me, newest.id)) == ("superseded", [])


def test_resolve_adopts_an_alternative_by_override_or_insert(me):
    there = tell(me, 1111, importance=4)
    other = tell(me, 2222, on_conflict="alternative")
    third = tell(me, 3333, on_conflict="alternative")
    resolved = me.resolve(other.id, "override")
    assert (resolved.ids, resolved.replaced, resolved.dropped) == ((other.id,), (there.id,), ())
    assert (values(me), me.show(other.id).memory.importance) == ([2222], 4)
    assert beside(me, other.id) == ["door code is 3333"]
    me.resolve(third.id, "insert")
    assert values(me) == [2222, 3333]
    assert me.conflicts(alternatives=True) == []


def test_resolve_dismisses_a_single_alternative(me):
    there = tell(me, 1111)
    other = tell(me, 2222, on_conflict="alternative")
    tell(me, 3333, on_conflict="alternative")
    assert me.resolve(other.id, "dismiss").dropped == (other.id,)
    assert beside(me, there.id) == ["door code is 3333"]


def test_restore_reverts_an_adopted_alternative(me):
    there = tell(me, 1111)
    other = tell(me, 2222, on_conflict="alternative")
    me.resolve(other.id, "override")
    me.restore(there.id)
    assert values(me) == [1111]


def test_resolve_override_with_an_alternative_supersedes_the_fact(me):
    there = me.remember("Dana lives in Haifa", kind="fact")
    other = me.remember("Dana lives in Porto", kind="fact", on_conflict="alternative")
    me.resolve(other.id, "override")
    assert me.show(there.id).memory.superseded_by == other.id
    assert [memory.content for memory in me.list().memories] == ["Dana lives in Porto"]


def test_resolve_of_an_alternative_keeps_the_open_conflict(me):
    there, held = tell(me, 1111), tell(me, 2222)
    other = tell(me, 3333, on_conflict="alternative")
    assert sides(asked(me)) == ([there.id], [held.id])
    me.resolve(other.id, "override")
    assert sides(asked(me)) == ([other.id], [held.id])


def test_purge_of_a_memory_deletes_the_alternatives(me, clock):
    there = tell(me, 1111)
    other = tell(me, "xylophone", on_conflict="alternative")
    me.forget(there.id)
    clock.tick(days=31)
    me.tidy()
    assert me.conflicts(alternatives=True) == []
    assert me.verify_forget("xylophone").clean
    with pytest.raises(NotFound):
        me.resolve(other.id, "insert")


def test_purge_of_a_memory_removes_that_text_from_the_conflict(me, clock):
    there, held = tell(me, "xylophone"), tell(me, 2222)
    me.forget(there.id)
    clock.tick(days=31)
    me.tidy()
    assert sides(asked(me)) == ([], [held.id])
    assert me.verify_forget("xylophone").clean
