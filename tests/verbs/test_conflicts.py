"""Another value of a contact or a kv is held until a person decides; what was there stays."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput, NotFound
from support.embedders import Switchable
from support.questions import asked, sides, tell, tell_of, values
from support.stores import all_rows


def test_conflict_shows_both_sides_with_evidence_and_dates(me, clock):
    there = tell(me, 1111, evidence=["a note on the fridge"], confidence=0.8)
    told_first = clock.now
    clock.tick(days=3)
    held = tell(me, 2222, evidence=["Omer said so"], source_type="chat", source_id="thread-7")
    assert (held.action, held.others) == ("pending", (there.id,))
    question = asked(me)
    assert question.id == held.conflict
    assert (question.kind, question.category, question.is_alternative) == ("kv", "knowledge", False)
    assert question.reason == held.reason
    assert "1111" in question.reason
    assert "2222" in question.reason
    assert question.opened_at == clock.now
    (stands,), (waits,) = question.standing, question.held
    assert (stands.id, stands.text, stands.evidence) == (
        there.id,
        "door code is 1111",
        ("a note on the fridge",),
    )
    assert (stands.told_at, stands.confidence, stands.is_live) == (told_first, 0.8, True)
    assert (waits.id, waits.text, waits.evidence) == (
        held.id,
        "door code is 2222",
        ("Omer said so",),
    )
    assert (waits.told_at, waits.told_by, waits.source) == (clock.now, "user:ana", "thread-7")
    assert not waits.is_live


def test_conflict_survives_a_restart(open_book):
    first = open_book()
    me = first.user("ana")
    there, held = tell(me, 1111), tell(me, 2222)
    before = me.conflicts()
    first.close()
    again = open_book().user("ana")
    assert again.conflicts() == before
    assert sides(asked(again)) == ([there.id], [held.id])
    again.resolve(held.conflict, "override")
    assert values(again) == [2222]


def test_conflict_keeps_the_existing_value_and_marks_hits_disputed(me):
    there, held = tell(me, 1111), tell(me, 2222)
    (hit,) = me.recall("door code").hits
    assert (hit.id, hit.disputed) == (there.id, "door code is 2222")
    shown = me.show(there.id)
    assert shown.memory.conflict == held.conflict
    assert [side.id for side in shown.held] == [held.id]


def test_held_value_is_not_reachable_by_other_verbs(me):
    tell(me, 1111)
    held = tell(me, "xylophone")
    assert [hit.text for hit in me.recall("door code xylophone").hits] == ["door code is 1111"]
    assert values(me) == [1111]
    assert me.list(forgotten=True).memories == ()
    for verb in (me.show, me.forget, me.restore, me.history):
        with pytest.raises(NotFound):
            verb(held.id)
    with pytest.raises(NotFound):
        me.update(held.id, importance=5)


def test_recall_marks_nothing_disputed_without_a_conflict(me):
    tell(me, 1111)
    (hit,) = me.recall("door code").hits
    assert hit.disputed is None
    assert me.conflicts() == []


def test_conflict_collects_a_later_held_value(me, clock):
    there, first = tell(me, 1111), tell(me, 2222)
    clock.tick(hours=1)
    second = tell(me, 3333)
    assert second.conflict == first.conflict
    assert sides(asked(me)) == ([there.id], [first.id, second.id])
    (hit,) = me.recall("door code").hits
    assert hit.disputed == "door code is 3333 (and 1 more)"


def test_remember_of_a_repeated_held_value_adds_nothing(me):
    tell(me, 1111)
    first = tell(me, 2222)
    again = tell(me, "2222")
    assert (again.action, again.conflict, again.id) == ("pending", first.conflict, first.id)
    assert again.revision == first.revision
    assert len(asked(me).held) == 1


def test_remember_of_the_current_value_refreshes_and_keeps_the_conflict(me):
    there, held = tell(me, 1111), tell(me, 2222)
    again = tell(me, 1111)
    assert (again.action, again.id, again.conflict) == ("refreshed", there.id, held.conflict)
    assert sides(asked(me)) == ([there.id], [held.id])


def test_conflict_covers_both_contacts_matched_by_a_value(me):
    dana = tell_of(me, "Dana Levi", phone="052-111-2233")
    omer = tell_of(me, "Omer Katz", phone="054-999-8877")
    held = tell_of(me, "Dana Levi", phone="054-999-8877")
    assert (held.action, set(held.others)) == ("pending", {dana.id, omer.id})
    standing, waiting = sides(asked(me))
    assert (set(standing), waiting) == ({dana.id, omer.id}, [held.id])


def test_conflicts_merge_when_a_held_value_matches_both(me, clock):
    dana = tell_of(me, "Dana Levi", phone="052-111-2233")
    omer = tell_of(me, "Omer Katz", phone="054-999-8877")
    first = tell_of(me, "Dana Levi", phone="053-000-0001")
    clock.tick(hours=1)
    second = tell_of(me, "Omer Katz", phone="053-000-0002")
    assert first.conflict != second.conflict
    assert len(me.conflicts()) == 2
    clock.tick(hours=1)
    third = tell_of(me, "Dana Levi", phone="054-999-8877")
    standing, waiting = sides(asked(me))
    assert set(standing) == {dana.id, omer.id}
    assert waiting == [first.id, second.id, third.id]
    assert third.conflict == asked(me).id
    for target in (dana, omer):
        assert me.show(target.id).memory.conflict == third.conflict


def test_conflicts_are_listed_oldest_first_up_to_limit(me, clock):
    conflicts = []
    for subject in ("door code", "alarm code", "bike lock"):
        tell(me, 1, subject)
        conflicts.append(tell(me, 2, subject).conflict)
        clock.tick(hours=1)
    assert [question.id for question in me.conflicts()] == conflicts
    assert [question.id for question in me.conflicts(limit=2)] == conflicts[:2]
    with pytest.raises(InvalidInput):
        me.conflicts(limit=0)


# ——— what the caller may wish instead ———


def test_on_conflict_ask_holds_the_value(me):
    tell(me, 1111)
    assert tell(me, 2222, on_conflict="ask").action == "pending"


def test_on_conflict_override_replaces_the_value_at_once(me):
    there = tell(me, 1111)
    new = tell(me, 2222, on_conflict="override")
    assert (new.action, new.relation, new.is_override) == ("overridden", "changed", True)
    assert (new.others, new.undo, new.conflict) == ((there.id,), (there.id,), None)
    assert values(me) == [2222]
    assert me.conflicts() == []


def test_on_conflict_insert_keeps_both_values(me):
    there = tell(me, 1111)
    new = tell(me, 2222, on_conflict="insert")
    assert (new.action, new.relation, new.others) == ("stored", "changed", (there.id,))
    assert values(me) == [1111, 2222]


def test_on_conflict_alternative_stores_the_value_without_a_conflict(me):
    there = tell(me, 1111)
    new = tell(me, 2222, on_conflict="alternative", source_type="email", source_id="mail-1")
    assert (new.action, new.conflict) == ("alternative", None)
    assert (values(me), me.conflicts()) == ([1111], [])
    (beside,) = me.show(there.id).alternatives
    assert (beside.id, beside.text, beside.source) == (new.id, "door code is 2222", "mail-1")
    (question,) = me.conflicts(alternatives=True)
    assert (question.id, question.is_alternative) == (new.id, True)
    assert sides(question) == ([there.id], [new.id])
    (hit,) = me.recall("door code").hits
    assert hit.disputed is None


def test_on_conflict_alternative_stores_equal_values_once(me, clock):
    there = tell(me, 1111)
    first = tell(me, 2222, on_conflict="alternative")
    clock.tick(hours=1)
    assert tell(me, 2222, on_conflict="alternative").id == first.id
    tell(me, 3333, on_conflict="alternative")
    assert [side.text for side in me.show(there.id).alternatives] == [
        "door code is 2222",
        "door code is 3333",
    ]


def test_on_conflict_alternative_works_for_facts(me):
    there = me.remember("Dana lives in Haifa", kind="fact")
    new = me.remember("Dana lives in Porto", kind="fact", on_conflict="alternative")
    assert new.action == "alternative"
    assert [side.text for side in me.show(there.id).alternatives] == ["Dana lives in Porto"]
    assert [memory.id for memory in me.list().memories] == [there.id]


def test_on_conflict_rejects_an_unknown_choice(me, store_url):
    tell(me, 1111)
    before = all_rows(store_url)
    with pytest.raises(InvalidInput) as caught:
        tell(me, 2222, on_conflict="shrug")
    assert caught.value.field == "on_conflict"
    assert all_rows(store_url) == before


def test_remember_never_conflicts_with_a_profile_field(me):
    me.profile_set("city", "Haifa")
    answer = tell(me, "Porto", "city")
    assert (answer.relation, answer.action) == ("new", "stored")
    assert me.profile().fields["city"] == "Haifa"


def test_conflict_is_detected_while_the_embedder_is_down(open_book):
    embedder = Switchable()
    me = open_book(embedder=embedder).user("ana")
    there = tell(me, 1111)
    embedder.down = True
    held = tell(me, 2222)
    assert (held.action, held.others) == ("pending", (there.id,))
