"""Steps carry the journal line that tells of them: references and numbers, never text."""

from __future__ import annotations

from hypothesis import given

from commonplace.model.changeset import (
    IndexEntry,
    Receipt,
    build_add,
    build_change,
    build_link,
    build_removal,
)
from commonplace.model.journal import Event, JournalNode, Op
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import Link, Sensitivity
from support.clock import START
from support.pure_values import memories, memory

INDEX = IndexEntry({"key": 1}, None)


def test_build_add_refers_to_the_first_version():
    step = build_add(memory(), INDEX, similarity=0.8)
    assert (step.entry.op, step.entry.event) == (Op.CREATE, Event.ADD)
    assert (step.entry.old_ref, step.entry.new_ref) == (None, "m1@1")
    assert step.entry.similarity == 0.8


def test_build_change_increments_the_version_and_refers_to_the_old_one():
    step = build_change(
        memory(version=4),
        memory(category="home"),
        op=Op.UPDATE,
        event=Event.UPDATE,
        node=JournalNode.API,
    )
    assert step.after.version == 5
    assert (step.entry.old_ref, step.entry.new_ref) == ("m1@4", "m1@5")
    assert (step.entry.category, step.entry.node) == ("home", JournalNode.API)


def test_build_removal_has_no_new_reference():
    entry = build_removal(memory(), event=Event.ERASE).entry
    assert (entry.old_ref, entry.new_ref, entry.meta) == ("m1@1", None, {})


def test_build_removal_records_sensitivity_and_owning_agent():
    secret = build_removal(memory(sensitivity=Sensitivity.HIGH), event=Event.ERASE).entry
    soul = build_removal(memory(kind=Kind.SOUL, agent_id="helper"), event=Event.ERASE).entry
    assert secret.meta == {"sensitivity": "high"}
    assert soul.meta == {"soul_of": "helper"}


def test_build_link_names_both_ends_and_the_strength():
    entry = build_link(Link.between("b", "a", 0.8, START)).entry
    assert (entry.subject, entry.new_ref, entry.similarity) == ("a", "b", 0.8)


@given(memories)
def test_changeset_steps_write_no_text_into_the_journal(row):
    row = row.evolve(content="the secret words", summary="the secret words", category="c")
    steps = [
        build_add(row, INDEX),
        build_change(row, row, op=Op.UPDATE, event=Event.UPDATE),
        build_removal(row, event=Event.ERASE),
    ]
    assert all("the secret words" not in repr(step.entry) for step in steps)


def test_erase_receipt_reports_the_scrub_status():
    assert Receipt("r", START, 1).scrub == "pending"
    assert Receipt("r", START, 1, START).scrub == "complete"
