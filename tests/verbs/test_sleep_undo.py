"""Undo of a run of sleep: live rows are what they were; what changed since stays."""

from __future__ import annotations

import json

import pytest

from commonplace.engine.maintenance.sleep.runner import sleep
from commonplace.engine.maintenance.sleep.task import Batch, NightAction
from commonplace.engine.maintenance.sleep.tasks.archive import archive_sources
from commonplace.errors import InvalidInput, NotFound
from commonplace.model.changeset import build_change, build_removal
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.graph.assertion import Note
from commonplace.model.graph.steps import PutNode, PutNote, RemoveNotes
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.sleep import RunState
from commonplace.store.queries import GraphQuery, SourceListing
from support.sleep_tasks import (
    a_catalog,
    forget_drafts,
    live,
    merge_twins,
    usual_catalog,
)

DRAFT = "The old draft about tea."
TWINS = ("One twin says tea.", "Another twin says tea.")
OTHERS = ("The boat is blue.", "Ana plays chess on Mondays.")


@pytest.fixture
def book(open_book):
    """Jobs run when a test says so: a worker would have a night of its own."""
    return open_book(worker="off")


def say(me, *contents, **fields):
    return [me.remember(each, kind="note", on_conflict="insert", **fields).id for each in contents]


def sleeping(me, catalog):
    return sleep(me._engine, me._request, None, False, lambda _: None, catalog)


def live_rows(me):
    """An export without its history: journal, old versions, and version numbers."""
    rows = [json.loads(line) for line in me.export()]
    kept = [row for row in rows if row["type"] not in ("journal", "version", "commonplace")]
    for row in kept:
        row.pop("version", None)
    return sorted(json.dumps(row, sort_keys=True) for row in kept if not _says_nothing(row))


def _says_nothing(row):
    """Statistics of something that was never read and is not archived: the same as none."""
    return row["type"] == "marks" and not row["touched_at"] and not row.get("archived_at")


def left(undone):
    return [(each.reason, each.items) for each in undone.left]


def test_sleep_undo_restores_the_live_rows(me, clock):
    say(me, DRAFT, *TWINS, *OTHERS)
    before = live_rows(me)
    clock.tick(hours=1)
    report = sleeping(me, usual_catalog())
    assert report.ended == 3
    assert live_rows(me) != before
    clock.tick(hours=1)
    undone = me.sleep_undo(report.id)
    assert (undone.undone, undone.left) == (2, ())
    assert live_rows(me) == before
    assert me.sleep_log()[0].state is RunState.UNDONE


def test_sleep_undo_twice_does_nothing_more(me):
    say(me, DRAFT)
    report = sleeping(me, usual_catalog())
    first = me.sleep_undo(report.id)
    again = me.sleep_undo(report.id)
    assert (again.undone, again.items, again.left) == (0, 0, ())
    assert again.revision == first.revision


def test_sleep_undo_is_in_the_history_as_a_restoration(me):
    (id,) = say(me, DRAFT)
    report = sleeping(me, usual_catalog())
    me.sleep_undo(report.id)
    newest = me.history(id)[0]
    assert (newest["event"], newest["actor"]) == (Event.RESTORE, "user:ana")
    assert newest["meta"] == {"undone": report.id}


def test_sleep_undo_leaves_an_action_whose_item_changed_since(me):
    say(me, DRAFT, *TWINS, *OTHERS)
    report = sleeping(me, usual_catalog())
    summary = next(m for m in me.list().memories if m.content.startswith("Both"))
    me.update(summary.id, content="Both of them say something else.")
    undone = me.sleep_undo(report.id)
    assert undone.undone == 1
    assert left(undone) == [("changed since", (summary.id,))]
    contents = {memory.content for memory in me.list().memories}
    assert contents == {DRAFT, *OTHERS, "Both of them say something else."}


def test_sleep_undo_can_be_tried_again_for_what_it_left(me, clock):
    (draft, *_) = say(me, DRAFT, *TWINS, *OTHERS)
    report = sleeping(me, usual_catalog())
    summary = next(m for m in me.list().memories if m.content.startswith("Both"))
    me.update(summary.id, content="Both of them say something else.")
    assert me.sleep_undo(report.id).undone == 1
    assert me.sleep_log()[0].state is RunState.PARTLY_UNDONE
    again = me.sleep_undo(report.id)
    assert (again.undone, left(again)) == (0, [("changed since", (summary.id,))])
    (taken_back, stays) = me.sleep_log(run=report.id)[0].actions
    assert (taken_back.can_be_undone, stays.can_be_undone) == (False, True)
    clock.tick(days=1)
    assert sleeping(me, usual_catalog()).ended == 0
    assert draft in {memory.id for memory in me.list().memories}


def test_sleep_undo_that_undid_nothing_is_not_final(me):
    (draft,) = say(me, DRAFT)
    report = sleeping(me, a_catalog(idle=forget_drafts()))
    me.restore(draft)
    undone = me.sleep_undo(report.id)
    assert (undone.undone, left(undone)) == (0, [("changed since", (draft,))])
    (run,) = me.sleep_log()
    assert (run.state, run.undone_at) == (RunState.DONE, None)
    assert sleeping(me, a_catalog(idle=forget_drafts())).ended == 1  # nothing rests


def test_sleep_undo_leaves_what_is_gone(me, clock):
    (draft,) = say(me, DRAFT)
    report = sleeping(me, usual_catalog())
    me.erase(draft)
    undone = me.sleep_undo(report.id)
    assert (undone.undone, left(undone)) == (0, [("expired, purged or erased", (draft,))])
    assert me.list().memories == ()


def test_sleep_undo_leaves_what_had_expired(open_book, clock):
    me = open_book(worker="off").user("ana")  # a worker would tidy first

    def expire(night):
        def decide():
            steps = [
                build_removal(m, event=Event.TTL, node=JournalNode.WORKER)
                for m in night.engine.store.fetch(night.scope, [id])
            ]
            actions = [NightAction("expired", tuple(steps), can_be_undone=False)] if steps else []
            return Batch(actions)

        return decide

    (id,) = say(me, OTHERS[0], ttl_days=1)
    clock.tick(days=2)
    report = sleeping(me, a_catalog(expiry=expire))
    undone = me.sleep_undo(report.id)
    assert left(undone) == [("expired, purged or erased", (id,))]
    assert me._engine.store.fetch(me.principal.scope, [id]) == []


def test_sleep_undo_takes_several_actions_on_one_item_back_together(me):
    def amend(night):
        """A later task that changes what an earlier one made."""

        def decide():
            made = live(night, "Both of them")
            actions = [
                NightAction(
                    "tagged",
                    (build_change(m, m.evolve(tags=("tea",)), op=Op.UPDATE, event=Event.UPDATE),),
                )
                for m in made
                if m.tags != ("tea",)
            ]
            return Batch(actions)

        return decide

    say(me, *TWINS, *OTHERS)
    before = live_rows(me)
    report = sleeping(me, a_catalog(duplicates=merge_twins, insights=amend))
    assert me.sleep_undo(report.id).undone == 2
    assert live_rows(me) == before


def test_sleep_does_not_do_again_what_was_undone(me, clock):
    say(me, DRAFT)
    report = sleeping(me, usual_catalog())
    me.sleep_undo(report.id)
    clock.tick(days=1)
    assert sleeping(me, usual_catalog()).ended == 0
    clock.tick(days=31)
    assert sleeping(me, usual_catalog()).ended == 1


def test_sleep_undo_of_an_unknown_run_is_refused(me):
    with pytest.raises(NotFound, match="Unknown run"):
        me.sleep_undo("sleep:none")


def test_sleep_undo_of_another_users_run_is_refused(book, me):
    report = sleeping(me, usual_catalog())
    with pytest.raises(NotFound, match="Unknown run"):
        book.user("bob").sleep_undo(report.id)


def test_sleep_undo_waits_for_the_end_of_a_run(me):
    seen = []
    refused = []

    def watching(run):
        seen.append(run)
        if run.is_running:
            with pytest.raises(InvalidInput) as error:
                me.sleep_undo(run.id)
            refused.append(error.value.code)

    sleep(me._engine, me._request, None, False, watching, usual_catalog())
    assert len(refused) == len(seen) - 1 > 0


def test_sleep_can_be_undone_for_thirty_days(me, clock):
    say(me, DRAFT)
    first = sleeping(me, usual_catalog())
    clock.tick(days=31)
    sleeping(me, usual_catalog())
    undone = me.sleep_undo(first.id)
    assert (undone.undone, undone.left) == (0, ())
    assert me.list().memories == ()


# ——— the graph and sources ———


def a_worker_entry(subject):
    return Entry(op=Op.UPDATE, event=Event.UPDATE, node=JournalNode.WORKER, subject=subject)


def describe(night):
    """Writes a description, replaces a note, archives a source."""

    def decide():
        store = night.engine.store
        graph = store.whole_graph(night.scope)
        node = next(each for each in graph.nodes if each.name == "Maria")
        if node.description == "A friend.":
            return Batch()
        after = node.evolve(description="A friend.", version=node.version + 1, is_dirty=False)
        (note,) = store.graph_items(night.scope, GraphQuery(notes_about=[node.id])).notes
        new = Note(
            id="note:new",
            about=node.id,
            content="She sails.",
            added_by="worker:sleep",
            date_added=night.now,
        )
        steps = (
            PutNote(new, a_worker_entry(node.id)),
            RemoveNotes((note.id,), a_worker_entry(node.id)),
            PutNode(node, after, a_worker_entry(node.id), "Maria A friend."),
        )
        (source,) = graph_sources(night)
        archive = archive_sources([source], night.now)
        return Batch([NightAction("described", steps), NightAction("not read", (archive,))])

    return decide


def graph_sources(night):
    listing = SourceListing(visibility=OWNER_VISIBILITY)
    return [each.id for each in night.engine.store.sources(night.scope, listing)]


def test_sleep_undo_restores_descriptions_notes_and_archived_marks(me, clock):
    node = me.nodes_add("Maria", node_type="Person").id
    me.note(node, "She lives in Bergen.")
    source = me.ingest(b"Maria sails.", title="Maria").id
    before = live_rows(me)
    clock.tick(hours=1)
    report = sleeping(me, a_catalog(descriptions=describe))
    store, scope = me._engine.store, me.principal.scope
    assert store.archived_sources(scope) == {source}
    assert live_rows(me) != before
    undone = me.sleep_undo(report.id)
    assert (undone.undone, undone.left) == (2, ())
    assert store.archived_sources(scope) == frozenset()
    assert live_rows(me) == before


def test_sleep_undo_leaves_a_node_that_changed_since(me, clock):
    node = me.nodes_add("Maria", node_type="Person").id
    me.note(node, "She lives in Bergen.")
    me.ingest(b"Maria sails.", title="Maria")
    report = sleeping(me, a_catalog(descriptions=describe))
    me.note(node, "She moved to Oslo.")
    undone = me.sleep_undo(report.id)
    assert left(undone) == [("changed since", (node,))]
    assert undone.undone == 1


def test_sleep_undo_data_leaves_with_what_is_erased(me):
    (draft,) = say(me, DRAFT)
    report = sleeping(me, a_catalog(idle=forget_drafts()))
    assert "sleep_changes" in me._engine.store.mentions(me.principal.scope, "draft about tea")
    me.erase(draft)
    assert me._engine.store.mentions(me.principal.scope, "draft about tea") == []
    assert me.sleep_log(run=report.id)[0].actions[0].can_be_undone is False
