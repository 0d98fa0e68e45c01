"""remember_many: as if one after the other, in one transaction and few calls to the embedder."""

from __future__ import annotations

import pytest

from support.embedders import Counting
from support.questions import asked, values

# Each batch as it is told: what becomes of a thing may depend on the one before it.
BATCHES = {
    "values": [
        {"kind": "kv", "metadata": {"subject": "door code", "value": 1}},
        {"kind": "kv", "metadata": {"subject": "door code", "value": 2}},
        {"kind": "kv", "metadata": {"subject": "door code", "value": 2}},
        {"kind": "kv", "metadata": {"subject": "door code", "value": 3}},
        {"kind": "kv", "metadata": {"subject": "door code", "value": 1}},
    ],
    "overrides": [
        {"kind": "kv", "metadata": {"subject": "door code", "value": 1}},
        {"kind": "kv", "metadata": {"subject": "door code", "value": 2}},
        {"kind": "kv", "metadata": {"subject": "door code", "value": 3}, "on_conflict": "override"},
        {"kind": "kv", "metadata": {"subject": "door code", "value": 4}},
        {"kind": "kv", "metadata": {"subject": "door code", "value": 4}, "on_conflict": "override"},
        {"kind": "kv", "metadata": {"subject": "door code", "value": 5}},
    ],
    "alternatives": [
        {"kind": "fact", "content": "Dana lives in Haifa"},
        {"kind": "fact", "content": "Dana lives in Porto", "on_conflict": "alternative"},
        {"kind": "fact", "content": "Dana lives in Porto", "on_conflict": "alternative"},
        {"kind": "fact", "content": "Dana lives in Lima"},
        {"kind": "fact", "content": "Dana lives in Lima", "evidence": ["she said so"]},
    ],
    "people": [
        {"kind": "contact", "metadata": {"name": "Dana Levi", "phone": "052-111-2233"}},
        {"kind": "contact", "metadata": {"name": "Dana Levi", "email": "dana@bank.example"}},
        {"kind": "contact", "metadata": {"name": "Dana Levi", "role": "banker"}},
        {"kind": "contact", "metadata": {"name": "Omer Katz", "phone": "054-999-8877"}},
        {"kind": "contact", "metadata": {"name": "Omer Katz", "phone": "053-000-0001"}},
        {"kind": "contact", "metadata": {"name": "Dana Levi", "phone": "054-999-8877"}},
    ],
}


def as_it_stands(me):
    """Everything but ids, numbers and dates."""
    kept = [
        (m.kind, m.content, sorted(m.metadata.items(), key=str), m.evidence, bool(m.conflict))
        for m in me.list().memories
    ]
    questions = [
        (
            sorted(side.text for side in question.standing),
            [side.text for side in question.held],
            question.reason,
        )
        for question in me.conflicts(alternatives=True)
    ]
    return sorted(kept, key=str), sorted(questions, key=str)


@pytest.mark.parametrize("batch", BATCHES)
def test_remember_many_equals_sequential_remembers(book, clock, batch):
    together, apart = book.user("together"), book.user("apart")
    answers = together.remember_many(BATCHES[batch])
    one_by_one = []
    for given in BATCHES[batch]:
        clock.tick(microseconds=1)
        one_by_one.append(apart.remember(**given))
    told = [(a.relation, a.action, a.reason, len(a.others)) for a in answers]
    assert told == [(a.relation, a.action, a.reason, len(a.others)) for a in one_by_one]
    assert as_it_stands(together) == as_it_stands(apart)
    assert together.revision == 1


def test_remember_many_orders_held_values_of_one_batch(me):
    answers = me.remember_many(BATCHES["values"])
    assert [side.id for side in asked(me).held] == [answers[1].id, answers[3].id]
    me.resolve(answers[1].conflict, "override")
    assert values(me) == [3]


def test_remember_many_refuses_the_whole_batch_for_one_invalid_item(me):
    bad = [*BATCHES["values"], {"kind": "kv", "metadata": {"subject": "no value"}}]
    with pytest.raises(Exception, match="value"):
        me.remember_many(bad)
    assert (me.revision, me.conflicts()) == (0, [])


@pytest.fixture
def counted(open_book):
    embedder = Counting()
    me = open_book(embedder=embedder).user("ana")

    def calls(work, *arguments, **named):
        before = embedder.calls
        work(*arguments, **named)
        return embedder.calls - before

    return me, calls


def test_remember_many_calls_the_embedder_once_for_new_memories(counted):
    me, calls = counted
    many = [{"content": f"Thing {n} stands on shelf {n}"} for n in range(20)]
    assert calls(me.remember_many, many) == 1


def test_remember_many_calls_the_embedder_at_most_twice_for_changed_memories(counted):
    me, calls = counted
    first = [{"kind": "rule", "content": f"Call {n} rings", "evidence": ["x"]} for n in range(9)]
    later = [{"kind": "rule", "content": f"Call {n} is loud", "evidence": ["x"]} for n in range(9)]
    me.remember_many(first)
    assert calls(me.remember_many, later) <= 2


def test_remember_many_embeds_merged_contents_with_the_batch(counted):
    me, calls = counted
    people = [{"kind": "contact", "metadata": {"name": f"Person N{n} Q{n}"}} for n in range(9)]
    me.remember_many(people)
    fuller = [{**each, "metadata": {**each["metadata"], "role": "plumber"}} for each in people]
    assert calls(me.remember_many, fuller) == 1
    assert len(me.recall("plumber", k=20).hits) == 9
