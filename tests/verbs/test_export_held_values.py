"""export and import of open questions and alternatives."""

from __future__ import annotations

import json

import pytest

from commonplace.errors import InvalidInput
from support.questions import asked, tell, tell_of, values


@pytest.fixture
def asking(me, clock):
    """Two questions, one of them about two people, and two alternatives."""
    tell(me, 1111, importance=4)
    tell(me, 2222, importance=1)
    clock.tick(hours=1)
    tell(me, 3333, evidence=["Omer said so"])
    clock.tick(hours=1)
    tell(me, 4444, on_conflict="alternative", source_type="email", source_id="mail-1")
    tell_of(me, "Dana Levi", phone="052-111-2233")
    clock.tick(hours=1)
    tell_of(me, "Omer Katz", phone="054-999-8877")
    clock.tick(hours=1)
    tell_of(me, "Dana Levi", phone="054-999-8877")
    me.remember("Dana lives in Haifa", kind="fact")
    me.remember("Dana lives in Porto", kind="fact", on_conflict="alternative")
    return me


def told(questions):
    return [
        (q.id, q.kind, q.reason, q.opened_at, q.standing, q.held, q.is_alternative)
        for q in questions
    ]


def test_import_into_an_empty_memory_keeps_conflicts_and_alternatives(asking, book):
    ben = book.user("ben")
    answer = ben.import_(list(asking.export()))
    assert answer.whole
    assert told(ben.conflicts(alternatives=True)) == told(asking.conflicts(alternatives=True))
    assert list(ben.export())[1:] == list(asking.export())[1:]
    assert all(finding.ok for finding in ben.doctor())


def test_resolve_works_on_an_imported_conflict(asking, book):
    ben = book.user("ben")
    ben.import_(list(asking.export()))
    question = ben.conflicts()[0]
    ben.resolve(question.id, "override", held=question.held[0].id)
    assert values(ben) == [2222]
    assert ben.show(question.held[0].id).memory.importance == 1  # it was mentioned


def test_import_skips_repeats_and_keeps_differing_values_as_alternatives(me, book):
    here = book.user("ben")
    same, mine = tell(here, 7, "alarm code"), tell(here, 1111)
    fact = here.remember("Dana lives in Haifa", kind="fact")
    tell(me, 7, "alarm code")
    other = tell(me, 2222)
    moved = me.remember("Dana lives in Porto", kind="fact")
    new = me.remember("The printer needs toner", kind="fact")
    answer = here.import_(list(me.export()))
    assert (answer.whole, answer.memories) == (False, 1)
    assert set(answer.alternatives) == {other.id, moved.id}
    assert {memory.id for memory in here.list().memories} == {same.id, mine.id, fact.id, new.id}
    assert [side.text for side in here.show(mine.id).alternatives] == ["door code is 2222"]
    assert [side.text for side in here.show(fact.id).alternatives] == ["Dana lives in Porto"]
    assert here.conflicts() == []


def test_import_twice_keeps_each_alternative_once(me, book):
    here = book.user("ben")
    mine = tell(here, 1111)
    tell(me, 2222)
    lines = list(me.export())
    for _ in range(2):
        here.import_(lines)
    assert len(here.show(mine.id).alternatives) == 1


def test_import_into_a_nonempty_memory_turns_held_values_to_alternatives(asking, book):
    """An import never asks; what waits there is not lost here."""
    here = book.user("ben")
    mine = tell(here, 1111)
    here.import_(list(asking.export()))
    assert here.conflicts() == []
    assert [side.text for side in here.show(mine.id).alternatives] == [
        "door code is 2222",
        "door code is 3333",
        "door code is 4444",
    ]
    fact = here.list(kinds="fact").memories[0]
    assert [side.text for side in here.show(fact.id).alternatives] == ["Dana lives in Porto"]
    before = here.conflicts(alternatives=True)
    here.import_(list(asking.export()))
    assert here.conflicts(alternatives=True) == before


def test_import_into_the_exported_memory_changes_no_conflicts(asking):
    before = told(asking.conflicts(alternatives=True))
    asking.import_(list(asking.export()))
    assert told(asking.conflicts(alternatives=True)) == before


BROKEN = {
    "about nothing": {"targets": ["nowhere"]},
    "in a question and beside a memory": {"beside": "$target"},
    "in no question and beside nothing": {"conflict": None},
    "with an unknown field": {"colour": "red"},
    "without a date": {"held_at": None},
}


@pytest.mark.parametrize("case", BROKEN)
def test_import_rejects_an_invalid_held_value_and_imports_nothing(me, book, case):
    there = tell(me, 1111)
    tell(me, 2222)
    lines = [json.loads(line) for line in me.export()]
    held = next(line for line in lines if line["type"] == "held")
    held.update({n: there.id if v == "$target" else v for n, v in BROKEN[case].items()})
    ben = book.user("ben")
    with pytest.raises(InvalidInput):
        ben.import_([json.dumps(line) for line in lines])
    assert (ben.revision, ben.conflicts()) == (0, [])
    assert asked(me).standing[0].id == there.id
