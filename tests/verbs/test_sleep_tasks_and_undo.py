"""Each task on memories and sources through `sleep`: what the report says, a second night that has
nothing to do, and an undo that brings back what was live."""

from __future__ import annotations

import pytest

from commonplace.model.memory.kinds import Kind
from support.making import a_memory
from support.sleeping import store_beside

SARAH = "Ana: My colleague Sarah Chen works at Acme. Sarah Chen has got a zither."


def idle(me, clock):
    for n in range(3):
        me.remember(f"Saw bird {n}", kind="event", importance=1)
    clock.tick(days=61)


def volatile(me, clock):
    for n in range(5):
        me.remember(f"Volatile matter {n}", kind="note", stability="volatile")
    clock.tick(days=8)


def duplicates(me, clock):
    source = me.ingest(SARAH, format="transcript").id
    contents = ("Dana's dentist is on Yarkon Street", "The dentist of Dana is on Yarkon Street")
    facts = [a_memory(each, kind=Kind.FACT, created_at=clock.now) for each in contents]
    near = ("Tom likes hiking in summer", "Tom likes hiking in winter")
    facts += [a_memory(each, kind=Kind.FACT, created_at=clock.now) for each in near]
    store_beside(me, [facts[0].evolve(source_id=source, evidence=(source,)), *facts[1:]])


def consolidation(me, clock):
    me.extract([me.ingest(SARAH, format="transcript").id])
    clock.tick(days=50)


def archive(me, clock):
    me.extract([me.ingest(SARAH, format="transcript").id])
    clock.tick(days=200)


DONE = {idle: (3, 3), volatile: (1, 5), duplicates: (2, 1), consolidation: (1, 0), archive: (1, 0)}


@pytest.fixture
def me(open_book):
    """Nobody else works meanwhile."""
    return open_book(worker="off").user("ana")


def what_is_live(me):
    """Everything but when it was last changed, and its version."""
    memories = {
        memory.id: memory.evolve(updated_at=memory.created_at, version=1)
        for memory in me.list(limit=1000).memories
    }
    links = me._engine.store.links(me.principal.scope, list(memories))
    notes = {
        (node.id, note.id, note.content)
        for node in me.people().nodes
        for note in me.node(node.id).notes
    }
    archived = me._engine.store.archived_sources(me.principal.own_scope)
    return memories, {(link.a, link.b) for link in links}, notes, archived


@pytest.mark.parametrize("prepare", DONE, ids=lambda each: each.__name__)
def test_a_task_reports_what_it_did_and_can_be_undone(me, clock, prepare):
    prepare(me, clock)
    me._engine.access_log.flush()
    task, (actions, ended) = prepare.__name__, DONE[prepare]
    before = what_is_live(me)
    shown = me.sleep(tasks=[task], dry_run=True)
    assert what_is_live(me) == before
    done = me.sleep(tasks=[task])
    assert (done.tasks[0].actions, done.ended) == (actions, ended)
    assert done.tasks[0].outcome == ""
    assert shown.tasks[0].actions == actions
    assert what_is_live(me) != before
    clock.tick(seconds=1)
    assert me.sleep(tasks=[task]).tasks[0].actions == 0
    me.sleep_undo(done.id)
    assert what_is_live(me) == before


@pytest.mark.parametrize("task", ["expiry", "notes"])
def test_what_has_expired_stays_gone_after_an_undo(me, clock, task):
    me.remember("Call the plumber about the lily", ttl_days=7)
    me.note([me.nodes_add("Sarah Chen").id], "grows a lily", lifetime="week")
    clock.tick(days=8)
    done = me.sleep(tasks=["expiry", "notes"])
    assert [(each.actions, each.outcome) for each in done.tasks] == [(1, ""), (1, "")]
    clock.tick(seconds=1)
    me.sleep_undo(done.id)
    assert me.verify_forget("lily").clean
    assert me.sleep(tasks=[task]).tasks[0].actions == 0
