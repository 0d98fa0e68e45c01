"""update: fields change in place, new content makes a new item that takes the old one's place."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.errors import InvalidInput, MissingField, NotFound


@pytest.fixture
def note(me):
    return me.remember("The garden gate needs a new lock", metadata={"colour": "green"}).id


# ——— in place ———


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"category": "home"}, {"category": "home"}),
        ({"tags": ["gate", "lock"]}, {"tags": ("gate", "lock")}),
        ({"tags": []}, {"tags": ()}),
        ({"importance": 5}, {"importance": 5}),
        ({"pinned": True}, {"pinned": True}),
        ({"sensitivity": "low"}, {"sensitivity": "low"}),
        ({"confidence": 0.5}, {"confidence": 0.5}),
        ({"summary": "Gate!"}, {"summary": "Gate!"}),
        ({"metadata": {"size": 3}}, {"metadata": {"colour": "green", "size": 3}}),
        ({"metadata": {"colour": None}}, {"metadata": {}}),
    ],
)
def test_update_changes_a_field_in_place(me, clock, note, given, expected):
    before = me.show(note).memory
    clock.tick(minutes=5)
    answer = me.update(note, **given)
    after = me.show(note).memory
    assert (answer.id, answer.action, answer.replaced) == (note, "updated", None)
    assert after == before.evolve(**expected, updated_at=clock.now, version=2)
    assert answer.revision == me.revision == 2


def test_update_sets_moves_and_removes_an_expiry(me, clock, note):
    ends = me.update(note, ttl_days=2).memory.expires_at
    assert ends == clock.now + timedelta(days=2)
    moved = me.update(note, expires_at="2030-01-01").memory.expires_at
    assert moved.year == 2030
    assert me.update(note, expires_at="never").memory.expires_at is None


@pytest.mark.parametrize("ended", [{"ttl_days": 0}, {"expires_at": "2020-01-01"}])
def test_update_refuses_an_expiry_in_the_past(me, note, ended):
    with pytest.raises(InvalidInput, match="expired"):
        me.update(note, **ended)
    assert me.show(note).memory.expires_at is None


def test_update_makes_a_version_per_change(me, clock, note):
    clock.tick(minutes=5)
    me.update(note, importance=5)
    first, second = me.show(note).versions
    assert (first.memory.importance, second.memory.importance) == (2, 5)
    assert first.invalidated_at == second.recorded_at == clock.now
    assert second.invalidated_at is None
    newest = me.history(note)[0]
    assert (newest["event"], newest["meta"]) == ("UPDATE", {"fields": ["importance"]})


@pytest.mark.parametrize(
    "same",
    [
        {"importance": 2},
        {"content": "The garden gate needs a new lock"},
        {"content": " The garden gate needs a new lock "},
        {"metadata": {"colour": "green"}},
        {"pinned": False, "sensitivity": "normal"},
    ],
)
def test_update_without_a_difference_makes_no_revision(me, note, same):
    answer = me.update(note, **same)
    assert (answer.id, answer.action, answer.revision) == (note, "unchanged", 1)
    assert len(me.show(note).versions) == 1


def test_update_refuses_a_too_low_confidence_of_a_rule(me):
    rule = me.remember("Never before 9", kind="rule", evidence=["Monday"]).id
    with pytest.raises(InvalidInput):
        me.update(rule, confidence=0.5)
    assert me.show(rule).memory.confidence == 1.0


# ——— superseding ———

SUPERSEDED = {
    "note": {},
    "fact": {},
    "event": {},
    "insight": {},
    "log": {},
    "summary": {},
    "soul": {},
    "rule": {"evidence": ["Monday"]},
}


@pytest.mark.parametrize("kind", SUPERSEDED)
def test_update_content_supersedes(me, clock, kind):
    given = {"importance": 4, "thread": "t", **SUPERSEDED[kind]}
    old = me.remember("The garden gate needs a new lock", kind=kind, **given).memory
    clock.tick(minutes=5)
    answer = me.update(old.id, content="The garden gate has a new lock")
    before, after = me.show(old.id).memory, me.show(answer.id).memory
    assert (answer.action, answer.replaced, answer.is_override) == ("superseded", old.id, False)
    assert (before.state, before.superseded_by, before.valid_to) == (
        "superseded",
        after.id,
        clock.now,
    )
    assert (after.kind, after.importance, after.thread_id) == (kind, 4, "t")
    assert (after.valid_from, after.created_at) == (clock.now, clock.now)
    assert after.summary == "The garden gate has a new lock"
    assert [m.id for m in me.list().memories] == [after.id]
    assert me.revision == 2


def test_update_content_keeps_given_tags_and_derives_others_again(me):
    given = me.remember("Dana drinks tea", kind="note", tags=["family"]).id
    derived = me.remember("Dana drinks tea", kind="note").id
    assert me.update(given, content="Dana drinks coffee").memory.tags == ("family",)
    assert "coffee" in me.update(derived, content="Dana drinks coffee").memory.tags


def test_update_procedure_steps_as_text_or_list(me):
    old = me.remember("Make tea", kind="procedure", steps=["Boil", "Pour"]).id
    listed = me.update(old, metadata={"steps": ["Boil", "Wait", "Pour"]})
    assert listed.action == "superseded"
    assert listed.memory.content == "Make tea\n1. Boil\n2. Wait\n3. Pour"
    written = me.update(listed.id, content="Make tea fast\n1. Pour")
    assert written.memory.metadata["steps"] == ["Pour"]
    with pytest.raises(MissingField) as caught:
        me.update(written.id, content="Make tea somehow")
    assert caught.value.field == "steps"


def test_update_refuses_a_superseded_memory_and_names_the_successor(me, note):
    newer = me.update(note, content="The garden gate has a new lock").id
    with pytest.raises(NotFound) as refused:
        me.update(note, content="And another")
    assert newer in refused.value.remedy


# ——— overriding ———


def test_update_kv_value_overrides(me, clock):
    old = me.remember(
        kind="kv",
        metadata={"subject": "electricity bill", "value": 500, "unit": "NIS"},
        tags=["home"],
        pinned=True,
    ).id
    clock.tick(days=1)
    answer = me.update(old, metadata={"value": 600})
    assert (answer.action, answer.replaced, answer.is_override) == ("overridden", old, True)
    after = me.show(answer.id).memory
    assert after.content == "electricity bill is 600"
    assert after.metadata == {"subject": "electricity bill", "value": 600, "unit": "NIS"}
    assert (after.tags, after.pinned) == (("home",), True)
    with pytest.raises(NotFound):
        me.show(old)
    assert [m.id for m in me.list(forgotten=True).memories] == [old]
    assert len(me.show(answer.id).versions) == 1


def test_update_contact_keeps_fields_not_given(me):
    old = me.remember(
        kind="contact", metadata={"name": "Dan", "phone": "555-1", "email": "dan@x.org"}
    ).id
    after = me.update(old, metadata={"phone": "555-2"}).memory
    assert after.content == "Dan, phone 555-2, email dan@x.org"
    assert after.metadata == {"name": "Dan", "phone": "555-2", "email": "dan@x.org"}


def test_update_contact_keeps_its_text_unless_an_old_value_is_in_the_text(me):
    met = me.remember("Dan, met in Rome", kind="contact", metadata={"name": "Dan"}).id
    assert me.update(met, metadata={"phone": "555"}).memory.content == "Dan, met in Rome"
    told = me.remember("Eva at 111", kind="contact", metadata={"name": "Eva", "phone": "111"}).id
    assert me.update(told, metadata={"phone": "222"}).memory.content == "Eva, phone 222"


def test_update_kv_metadata_outside_the_text_changes_in_place(me):
    id = me.remember(kind="kv", metadata={"subject": "bill", "value": 500}).id
    assert me.update(id, metadata={"unit": "NIS"}).action == "updated"


def test_update_kv_content_requires_a_value(me):
    id = me.remember(kind="kv", metadata={"subject": "bill", "value": 500}).id
    with pytest.raises(MissingField) as caught:
        me.update(id, content="I paid the bill")
    assert caught.value.field == "metadata.value"
    told = me.update(id, content="The bill is 600 now").memory
    assert (told.content, told.metadata["value"]) == ("The bill is 600 now", "600")
    given = me.update(told.id, content="The bill is 700 now", metadata={"value": 700}).memory
    assert (given.content, given.metadata["value"]) == ("The bill is 700 now", 700)


@pytest.mark.parametrize("gone", [{"value": None}, {"subject": None}])
def test_update_refuses_removal_of_a_required_field(me, gone):
    id = me.remember(kind="kv", metadata={"subject": "bill", "value": 500}).id
    with pytest.raises(MissingField):
        me.update(id, metadata=gone)


# ——— by query ———


def test_update_by_query_returns_candidates_and_changes_nothing(me, note):
    choice = me.update(query="garden gate", content="Something else")
    assert [hit.id for hit in choice.candidates] == [note]
    assert not choice.is_empty
    assert me.update(query="rocket engines", content="x").is_empty
    assert me.revision == 1


def test_update_refuses_missing_fields_or_target(me, note):
    with pytest.raises(MissingField):
        me.update(note)
    with pytest.raises(MissingField):
        me.update(content="x")
