"""remember: every kind with its defaults, all of it stored or nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.errors import CommonplaceError, MissingField, NotAllowed
from support.embedders import Counting

RULE = {"kind": "rule", "content": "Never book flights before 9", "evidence": ["said on Monday"]}

# What is given, and which life, days and category follow from the kind.
KINDS = {
    "note": ({"kind": "note", "content": "Zebras sleep standing"}, "stable", None, "knowledge"),
    "contact": (
        {"kind": "contact", "metadata": {"name": "Dan"}},
        "stable",
        None,
        "relationships",
    ),
    "kv": (
        {"kind": "kv", "metadata": {"subject": "zebra count", "value": 3}},
        "stable",
        None,
        "knowledge",
    ),
    "fact": ({"kind": "fact", "content": "Zebras sleep standing"}, "stable", None, "knowledge"),
    "event": ({"kind": "event", "content": "The zebra was fed"}, "stable", None, "event"),
    "insight": (
        {"kind": "insight", "content": "Ana calms down near animals"},
        "stable",
        None,
        "relationship_dynamic",
    ),
    "procedure": (
        {"kind": "procedure", "content": "Feed a zebra", "steps": ["Open", "Feed"]},
        "stable",
        None,
        "procedural",
    ),
    "log": ({"kind": "log", "content": "asked for hay prices"}, "volatile", 30, "activity"),
    "summary": ({"kind": "summary", "content": "compared hay prices"}, "volatile", 7, "history"),
    "rule": (RULE, "stable", None, "constraints"),
    "soul": ({"kind": "soul", "content": "I am patient"}, "permanent", None, "identity"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_remember_applies_the_defaults_of_each_kind(me, clock, kind):
    given, life, days, category = KINDS[kind]
    answer = me.remember(**given)
    stored = me.show(answer.id).memory
    assert stored == answer.memory
    assert (stored.kind, stored.stability, stored.category) == (kind, life, category)
    assert stored.expires_at == (None if days is None else clock.now + timedelta(days=days))
    assert stored.summary
    assert stored.tags
    assert (stored.importance, stored.confidence, stored.sensitivity) == (2, 1.0, "normal")
    assert (answer.memory_type, answer.relation, answer.action) == (kind, "new", "stored")
    assert answer.is_new
    assert not answer.is_override
    assert answer.has_metadata == bool(stored.metadata)
    assert (answer.warnings, answer.conflict) == ((), None)
    assert answer.revision == me.revision == 1


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({}, "content"),
        ({"kind": "contact", "content": "my plumber"}, "metadata.name"),
        ({"kind": "kv", "metadata": {"subject": "bill"}}, "metadata.value"),
        ({"kind": "procedure", "content": "Feed a zebra"}, "steps"),
        ({"kind": "rule", "content": "Never before 9"}, "evidence"),
    ],
)
def test_remember_names_a_missing_field_and_stores_nothing(me, given, missing):
    with pytest.raises(MissingField) as caught:
        me.remember(**given)
    assert caught.value.field == missing
    assert me.list().memories == ()
    assert me.revision == 0


def test_remember_stores_every_field_as_given(me):
    given = {
        "kind": "fact",
        "summary": "Zebras!",
        "category": "animals",
        "tags": ["zoo", "sleep"],
        "metadata": {"source": {"page": 3}, "ok": True},
        "importance": 4,
        "confidence": 0.75,
        "evidence": ["a book", "a keeper"],
        "stability": "permanent",
        "sensitivity": "low",
        "pinned": True,
        "facet": "preference",
        "source_type": "email",
        "source_id": "gmail:ana/1",
        "job_id": "j1",
        "agent_id": "helper",
        "run_id": "r1",
        "actor_id": "a1",
        "role": "user",
    }
    stored = me.show(me.remember("Zebras sleep standing", thread="t1", **given).id).memory
    shown = {name: getattr(stored, name) for name in given}
    shown.update(tags=list(stored.tags), evidence=list(stored.evidence))
    assert shown == given
    assert stored.thread_id == "t1"


def test_remember_normalises_text(me):
    stored = me.remember("  Cafe\u0301 au lait\r\nevery day ").memory
    assert stored.content == "Café au lait\nevery day"


def test_remember_categorises_a_hebrew_memory(me):
    stored = me.remember("אני מעדיפה תה ירוק בבוקר").memory
    assert stored.category == "preferences"
    assert [hit.id for hit in me.recall("תה ירוק").hits] == [stored.id]


# ——— batches ———


def test_remember_many_is_one_revision(me):
    answers = me.remember_many(["Zebras sleep standing", {"content": "x", "thread": "t"}, RULE])
    assert me.revision == 1
    assert {answer.revision for answer in answers} == {1}
    assert {m.id for m in me.list().memories} == {answer.id for answer in answers}
    assert me.show(answers[1].id).memory.thread_id == "t"


@pytest.mark.parametrize(
    "bad", [{"kind": "kv"}, {"content": ""}, {"content": "x", "colour": "red"}, 5, None]
)
def test_remember_many_with_an_invalid_item_stores_nothing(me, bad):
    with pytest.raises(CommonplaceError):
        me.remember_many(["Zebras sleep standing", bad, "Lions do not"])
    assert me.list().memories == ()
    assert me.revision == 0


def test_remember_many_empty_batch_changes_nothing(me):
    assert list(me.remember_many([])) == []
    assert me.revision == 0


def test_remember_many_and_recall_many_call_the_embedder_once(open_book):
    embedder = Counting()
    me = open_book(embedder=embedder).user("ana")
    me.remember_many([f"note number {n}" for n in range(20)])
    assert embedder.calls == 1
    me.recall_many(["note", "number", "7"])
    assert embedder.calls == 2


# ——— who wrote it ———


def test_remember_by_an_agent_sets_its_agent_id(me):
    helper = me.agent("helper")
    assert helper.remember("Ana is planning a trip").memory.agent_id == "helper"
    with pytest.raises(NotAllowed):
        helper.remember("I am the writer", agent_id="writer")
    assert len(me.list().memories) == 1


def test_remember_is_isolated_between_users(book):
    ana, ben = book.user("ana"), book.user("ben")
    id = ana.remember("The safe code is 4711").id
    assert ben.recall("safe code").is_empty
    assert ben.list().memories == ()
    assert ben.revision == 0
    with pytest.raises(CommonplaceError) as caught:
        ben.show(id)
    assert caught.value.code == "not_found"
