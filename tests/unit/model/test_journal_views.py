"""One log, three views, with the columns that their readers expect; none of them holds text."""

from __future__ import annotations

from commonplace.model.journal import Event, JournalNode, JournalStatus, Op
from support.clock import START
from support.pure_values import journal_row

ROW = journal_row(
    "m1",
    7,
    op=Op.UPDATE,
    event=Event.UPDATE,
    node=JournalNode.WORKER,
    old_ref="m1@1",
    new_ref="m1@2",
    similarity=0.9,
    meta={"fields": ["tags"]},
)


def test_journal_history_view_has_the_agreed_columns():
    assert ROW.as_history() == {
        "id": "ana/7",
        "memory_id": "m1",
        "event": Event.UPDATE,
        "old_ref": "m1@1",
        "new_ref": "m1@2",
        "actor": "user:ana",
        "meta": {"fields": ["tags"]},
        "ts": START,
    }


def test_journal_change_log_view_has_the_agreed_columns():
    assert ROW.as_change() == {
        "id": "ana/7",
        "thread_id": "t",
        "rev": 7,
        "memory_id": "m1",
        "event": Event.UPDATE,
        "meta": {"fields": ["tags"]},
        "ts": START,
    }


def test_journal_event_view_has_the_agreed_columns():
    assert ROW.as_event() == {
        "id": "ana/7",
        "user_id": "ana",
        "thread_id": "t",
        "node": JournalNode.WORKER,
        "op": Op.UPDATE,
        "status": JournalStatus.OK,
        "memory_id": "m1",
        "category": "knowledge",
        "sim": 0.9,
        "ts": START,
    }


def test_journal_enumerations_have_the_agreed_values():
    assert set(JournalNode) == {"hotpath", "context", "episodic", "worker", "api"}
    assert {"classify", "search", "create", "update", "merge", "delete", "link"} <= set(Op)
    assert set(JournalStatus) == {"ok", "error", "skipped"}
    assert set(Event) == {
        *("ADD", "UPDATE", "DELETE", "MERGE", "LINK"),
        *("TTL", "RESTORE", "OVERRIDE", "CONSENT", "ERASE"),
    }
