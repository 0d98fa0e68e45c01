"""remember says how the new relates to what is there, and does what the table says."""

from __future__ import annotations

import pytest

from commonplace.errors import NotFound


def said(content, **more):
    return {"content": content, **more}


def with_steps(title, *steps):
    return {"content": title, "steps": list(steps)}


def value(subject, of, **more):
    return {"metadata": {"subject": subject, "value": of}, **more}


def person(**fields):
    return {"metadata": fields}


def statements(**more):
    """First what is there, then what relates to it, each in its own way."""
    return {
        "there": said("Dana works at Intel", **more),
        "repeat": said("dana works at  Intel.", **more),
        "rewording": said("Dana works at Intel in Haifa", **more),
        "changed": said("Dana works at Google", **more),
        "near": said("Dana used to work at Google", **more),
        "new": said("The printer needs toner", **more),
    }


TELLINGS = {
    "note": statements(),
    "log": statements(),
    "summary": statements(),
    "soul": statements(),
    "fact": statements(),
    "insight": statements(),
    "event": statements(),
    "rule": statements(evidence=["said on Monday"]),
    "procedure": {
        "there": with_steps("Deploy the site", "Run the tests", "Push the branch"),
        "repeat": with_steps("deploy the site", "Run the tests", "Push the branch"),
        "rewording": with_steps("Deploy the site", "Run the tests", "Push the branch", "Rest"),
        "changed": with_steps("Deploy the site", "Run the tests", "Do not push the branch"),
        "near": with_steps("Deploy the app", "Run the tests", "Push the branch"),
        "new": with_steps("Water the plants", "Fill the can"),
    },
    "contact": {
        "there": person(name="Dana Levi", phone="052-111-2233"),
        "repeat": person(name="dana levi", phone="+972 52 111 2233"),
        "rewording": person(name="Dana Levi", email="dana@bank.example"),
        "changed": person(name="Dana Levi", phone="054-999-8877"),
        "new": person(name="Hardware store"),
    },
    "kv": {
        "there": value("electricity bill", 500),
        "repeat": value("Electricity bill", "five hundred"),
        "rewording": value("electricity bill", 500, content="The electricity bill of 500 is paid"),
        "changed": value("electricity bill", 620),
        "near": value("electricity bill of March", 620),
        "new": value("door code", 7788),
    },
}

FREE = dict.fromkeys(("repeat", "rewording", "changed", "near", "new"), "stored")
ASKING = {**FREE, "repeat": "refreshed", "rewording": "refreshed", "changed": "pending"}
REPLACING = {**FREE, "repeat": "refreshed", "rewording": "superseded", "changed": "superseded"}
ONCE_A_DAY = {**FREE, "repeat": "refreshed", "rewording": "refreshed"}
PROMISED = {
    **dict.fromkeys(("note", "log", "summary", "soul"), FREE),
    **dict.fromkeys(("contact", "kv"), ASKING),
    **dict.fromkeys(("fact", "insight", "rule", "procedure"), REPLACING),
    "event": ONCE_A_DAY,
}
CELLS = [
    pytest.param(kind, relation, PROMISED[kind][relation], id=f"{kind}-{relation}")
    for kind, assertions in TELLINGS.items()
    for relation in assertions
    if relation != "there"
]


def told(me, clock, kind, relation):
    """The first answer and the second."""
    there = me.remember(kind=kind, **TELLINGS[kind]["there"])
    clock.tick(hours=1)
    return there, me.remember(kind=kind, **TELLINGS[kind][relation])


def live(me):
    return {memory.id for memory in me.list().memories}


@pytest.mark.parametrize(("kind", "relation", "action"), CELLS)
def test_remember_relation_decides_action_and_restore_undoes_the_change(
    me, clock, kind, relation, action
):
    there, answer = told(me, clock, kind, relation)
    assert (answer.relation, answer.action) == (relation, action)
    assert answer.others == (() if relation == "new" else (there.id,))
    assert answer.is_new == (relation == "new")
    assert answer.memory_type == kind
    assert answer.has_metadata == (kind in ("contact", "kv", "procedure"))
    assert not answer.is_override
    assert (answer.conflict is not None) == (action == "pending")
    assert bool(answer.reason) or relation != "changed"
    idle = (relation, action) == ("repeat", "refreshed")  # with nothing new, nothing changes
    assert answer.revision == me.revision == (1 if idle else 2)
    assert_live_as(action, me, there, answer)
    assert bool(answer.undo) == (action in ("refreshed", "superseded") and not idle)
    if answer.undo:
        me.restore(list(answer.undo))
        assert_as_before(me, there.memory)


def assert_live_as(action, me, there, answer):
    expected = {
        "stored": {there.id, answer.id},
        "refreshed": {there.id},
        "superseded": {answer.id},
        "pending": {there.id},
    }
    assert live(me) == expected[action]
    assert (answer.id == there.id) == (action == "refreshed")


def assert_as_before(me, before):
    """It says what it said, is found by it, and nothing else is there."""
    assert live(me) == {before.id}
    restored = me.show(before.id).memory
    bookkeeping = {"version": 1, "updated_at": None, "last_accessed_at": None}
    assert restored.evolve(**bookkeeping) == before.evolve(**bookkeeping)
    assert [hit.id for hit in me.recall(before.content, k=1).hits] == [before.id]


@pytest.mark.parametrize("relation", ["repeat", "rewording"])
def test_remember_stores_the_same_event_on_another_day(me, clock, relation):
    first = me.remember(kind="event", **TELLINGS["event"]["there"])
    clock.tick(days=1)
    second = me.remember(kind="event", **TELLINGS["event"][relation])
    assert (second.relation, second.action) == (relation, "stored")
    assert live(me) == {first.id, second.id}
    again = me.remember(kind="event", **TELLINGS["event"][relation])
    assert (again.relation, again.action, again.id) == ("repeat", "refreshed", second.id)


def test_remember_event_refreshes_the_one_of_the_same_day(me, clock):
    fuller = me.remember(kind="event", **TELLINGS["event"]["rewording"])
    clock.tick(days=1)
    shorter = me.remember(kind="event", **TELLINGS["event"]["there"])
    again = me.remember(kind="event", **TELLINGS["event"]["rewording"])
    assert (again.relation, again.action, again.id) == ("rewording", "refreshed", shorter.id)
    assert live(me) == {fuller.id, shorter.id}


def test_remember_reworded_event_keeps_the_added_detail(me, clock):
    _, answer = told(me, clock, "event", "rewording")
    assert me.show(answer.id).memory.content == "Dana works at Intel in Haifa"


def test_remember_contacts_with_similar_names_are_distinct(me):
    me.remember(kind="contact", **person(name="Dana Levi", phone="052-111-2233"))
    other = me.remember(kind="contact", **person(name="Dana Cohen", phone="054-999-8877"))
    assert (other.action, other.relation) == ("stored", "new")


def test_remember_contact_with_a_known_phone_and_another_name_is_held(me):
    there = me.remember(kind="contact", **person(name="Dana Levi", phone="052-111-2233"))
    answer = me.remember(kind="contact", **person(name="Omer", phone="0521112233"))
    assert (answer.relation, answer.action, answer.others) == ("changed", "pending", (there.id,))


def test_remember_contact_merges_added_fields(me, clock):
    there, answer = told(me, clock, "contact", "rewording")
    merged = me.show(there.id).memory
    assert merged.metadata == {
        "name": "Dana Levi",
        "phone": "052-111-2233",
        "email": "dana@bank.example",
    }
    assert "dana@bank.example" in merged.content
    assert answer.memory == merged


@pytest.mark.parametrize("kind", ["fact", "kv", "event"])
def test_remember_does_not_compare_memories_of_different_kinds(me, kind):
    me.remember(kind="note", content="electricity bill is 500")
    more = value("electricity bill", 620) if kind == "kv" else said("electricity bill is 620")
    assert me.remember(kind=kind, **more).relation == "new"


def test_remember_does_not_compare_memories_of_different_users(book, me):
    me.remember(kind="kv", **value("door code", 1))
    answer = book.user("bob").remember(kind="kv", **value("door code", 2))
    assert (answer.relation, answer.others) == ("new", ())


def test_remember_does_not_compare_forgotten_memories(me):
    old = me.remember(kind="kv", **value("door code", 1)).id
    me.forget(old)
    assert me.remember(kind="kv", **value("door code", 2)).relation == "new"


@pytest.mark.parametrize("action", ["pending", "stored"])
def test_remember_answer_id_is_shown_or_held_as_a_conflict(me, action):
    me.remember(kind="kv", **value("door code", 1))
    wish = {"pending": "ask", "stored": "insert"}[action]
    answer = me.remember(kind="kv", on_conflict=wish, **value("door code", 2))
    assert answer.action == action
    if action == "stored":
        assert me.show(answer.id).memory == answer.memory
    else:
        with pytest.raises(NotFound):
            me.show(answer.id)
        assert [side.id for side in me.conflicts()[0].held] == [answer.id]
