"""erase reaches what waits: questions, held values, alternatives, and the words that name them."""

from __future__ import annotations

import pytest

from commonplace.errors import NotFound
from support.questions import asked, sides, tell, tell_of, values

SECRET = "xylophone"


def test_erase_of_a_disputed_memory_erases_the_conflict(me):
    there = tell(me, 1111)
    tell(me, SECRET)
    erased = me.erase(there.id)
    assert there.id in erased.ids
    assert me.conflicts() == []
    assert me.verify_forget(SECRET).clean


def test_erase_of_a_memory_erases_the_alternatives(me):
    there = tell(me, 1111)
    tell(me, SECRET, on_conflict="alternative")
    me.erase(there.id)
    assert me.conflicts(alternatives=True) == []
    assert me.verify_forget(SECRET).clean


def test_erase_keeps_a_held_value_that_disputes_another_memory(me):
    """But not a word of the erased one is left in it."""
    dana = tell_of(me, "Dana Levi", phone="052-111-2233")
    omer = tell_of(me, "Omer Katz", phone="054-999-8877")
    held = tell_of(me, "Dana Levi", phone="054-999-8877")
    me.erase(dana.id)
    assert sides(asked(me)) == ([omer.id], [held.id])
    assert me.verify_forget("052-111-2233").clean
    me.erase(omer.id)
    assert me.conflicts() == []
    assert me.verify_forget("Omer").clean


def test_erase_deletes_a_held_value_by_id(me, clock):
    there, first = tell(me, 1111), tell(me, SECRET)
    clock.tick(hours=1)
    second = tell(me, 3333)
    assert me.erase(first.id).ids == (first.id,)
    assert sides(asked(me)) == ([there.id], [second.id])
    assert me.verify_forget(SECRET).clean
    me.erase(second.id)
    assert me.conflicts() == []
    assert me.show(there.id).memory.conflict is None
    assert values(me) == [1111]


def test_erase_deletes_an_alternative_by_id(me):
    there = tell(me, 1111)
    other = tell(me, SECRET, on_conflict="alternative")
    me.erase(other.id)
    assert me.show(there.id).alternatives == ()
    assert me.verify_forget(SECRET).clean


def test_erase_accepts_memories_and_held_values_together(me):
    note = me.remember(f"A {SECRET} of my own", kind="note")
    tell(me, 1111)
    held = tell(me, SECRET)
    erased = me.erase([note.id, held.id])
    assert (set(erased.ids), erased.receipt.items) == ({note.id, held.id}, 2)
    assert me.verify_forget(SECRET).clean


def test_erase_with_an_unknown_id_erases_no_held_value(me):
    tell(me, 1111)
    held = tell(me, 2222)
    with pytest.raises(NotFound):
        me.erase([held.id, "nowhere"])
    assert sides(asked(me))[1] == [held.id]


def test_erase_of_a_replaced_memory_removes_that_text_from_the_conflict(me):
    there = tell(me, SECRET)
    tell(me, 2222)
    me.update(there.id, metadata={"value": 3333})
    me.erase(there.id)
    assert asked(me).held
    assert me.verify_forget(SECRET).clean


def test_erase_of_a_held_value_leaves_a_journal_entry_without_text(me):
    there = tell(me, 1111, category="house")
    held = tell(me, SECRET, category="garden", thread="in the garden")
    me.erase(held.id)
    rows = me.history(held.id)
    assert [row["event"] for row in rows] == ["ERASE"]
    assert "garden" not in repr((rows, me.history(there.id)))
    assert me.verify_forget("garden").clean


def test_erase_by_an_agent_refuses_a_hidden_held_value(me):
    tell(me, 1111)
    held = tell(me, SECRET, sensitivity="high")
    with pytest.raises(NotFound):
        me.agent("helper").erase(held.id)
    assert not me.verify_forget(SECRET).clean


def test_verify_forget_finds_held_values(me):
    tell(me, 1111)
    tell(me, SECRET)
    assert me.verify_forget(SECRET).found_in == ("held",)


def test_erase_user_deletes_held_values_and_alternatives(me):
    there = tell(me, 1111)
    tell(me, SECRET)
    tell(me, SECRET + "s", on_conflict="alternative")
    me.erase_user()
    assert (me.conflicts(alternatives=True), me.verify_forget(SECRET).clean) == ([], True)
    assert tell(me, 1111).relation == "new"
    assert there.id not in {memory.id for memory in me.list().memories}
