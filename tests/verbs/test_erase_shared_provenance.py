"""erase: of what a source tells, that stays which another source or the owner tells as well."""

from __future__ import annotations

import pytest

from commonplace.errors import NotAllowed, NotFound

SAID = "I am allergic to peanuts."


@pytest.fixture
def told(me):
    """The memory that a first conversation left, and its source."""
    observed = me.observe(SAID, thread="t1")
    return observed.stored[0].remembered.id, observed.source_id


def test_observe_stores_the_turns_passages_as_evidence(me):
    observed = me.observe(SAID)
    assert observed.stored[0].remembered.memory.evidence == observed.passages


def test_erase_keeps_a_memory_supported_by_a_second_conversation(me, told):
    id, first = told
    second = me.observe(SAID, thread="t2")
    assert second.stored[0].remembered.id == id
    erased = me.erase([first])
    assert (id in erased.ids, erased.rewritten) == (False, (id,))
    memory = me.show(id).memory
    assert (memory.source_id, memory.thread_id) == (second.source_id, "t2")
    assert memory.evidence == second.passages
    assert id in me.erase([second.source_id]).ids
    with pytest.raises(NotFound):
        me.show(id)


def test_erase_of_all_supporting_conversations_erases_the_memory(me, told):
    id, first = told
    second = me.observe(SAID, thread="t2").source_id
    assert {id, first, second} == set(me.erase([first, second]).ids)


def test_erase_of_a_source_keeps_a_memory_the_owner_remembered(me, told):
    id, first = told
    content = me.show(id).memory.content
    assert me.remember(content, kind="fact").id == id
    me.erase([first])
    memory = me.show(id).memory
    assert (memory.content, memory.source_id, memory.thread_id) == (content, None, None)
    assert (memory.actor_id, memory.role) == (None, None)


def test_erase_of_a_source_erases_a_memory_an_agent_repeated(me, told):
    id, first = told
    me.agent("helper").remember(me.show(id).memory.content, kind="fact")
    assert id in me.erase([first]).ids


def test_remember_refuses_owner_evidence_from_an_agent(me):
    with pytest.raises(NotAllowed):
        me.agent("helper").remember("Tea at five", kind="fact", evidence=["owner"])


def test_erase_keeps_a_memory_remembered_with_another_source(me, told):
    id, first = told
    letter = me.ingest("A letter about peanuts.", origin="file", external_id="a.txt").source.id
    me.remember(me.show(id).memory.content, kind="fact", source_id=letter)
    me.erase([first])
    assert me.show(id).memory.source_id == letter


def test_erase_ignores_support_by_a_forgotten_source(me, told):
    id, first = told
    second = me.observe(SAID, thread="t2").source_id
    me.forget([second])
    assert id in me.erase([first]).ids


def test_erase_removes_text_found_only_in_the_erased_source(me):
    me.observe("Remember that Dana Levi is my dentist, phone 03-555-0142.", thread="t1")
    first = me.sources(thread="t1").sources[0].id
    me.observe("Remember that Dana Levi is my dentist.", thread="t2")
    me.erase([first])
    assert me.verify_forget("03-555-0142").clean


def test_observe_repeated_in_a_thread_adds_no_version(me, told):
    before = me.show(told[0]).memory
    me.observe(SAID, thread="t1")
    assert me.show(told[0]).memory.version == before.version


def test_changes_omit_a_memory_that_gained_a_supporting_source(me, told):
    helper = me.agent("helper")
    helper.changes("t9")
    me.observe(SAID, thread="t2")
    assert "peanuts" not in helper.changes("t9").header


def test_export_and_import_keep_supporting_evidence(me, told, book):
    id, _ = told
    me.remember(me.show(id).memory.content, kind="fact")
    other = book.user("ana-elsewhere")
    other.import_(list(me.export()))
    source = other.sources(thread="t1").sources[0].id
    other.erase([source])
    assert [m.content for m in other.list(kinds=["fact"]).memories] == [me.show(id).memory.content]
