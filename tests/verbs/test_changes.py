"""The delta header: what happened since an agent last looked, in any thread, by anyone."""

from __future__ import annotations

import pytest

from commonplace.errors import NotFound


def told(delta):
    return [(change.what, change.text) for change in delta.changes]


def test_changes_keep_a_cursor_per_agent_and_thread(me):
    me.remember("First")
    helper, writer = me.agent("helper"), me.agent("writer")
    assert told(helper.changes("t1")) == [("created", "First")]
    assert helper.changes("t1").header == ""
    assert told(helper.changes("t2")) == [("created", "First")]
    assert told(writer.changes("t1")) == [("created", "First")]
    assert told(me.changes("t1")) == [("created", "First")]
    me.remember("Second", thread="elsewhere")
    delta = helper.changes("t1")
    assert told(delta) == [("created", "Second")]
    assert delta.header.startswith("Memory updates since rev 1:\n")
    assert (delta.since, delta.revision) == (1, 2)


def test_changes_since_never_moves_the_cursor_backwards(me):
    for text in ("First", "Second", "Third"):
        me.remember(text)
    me.changes()
    assert {text for _, text in told(me.changes(since=1))} == {"Second", "Third"}
    assert me.changes().header == ""
    assert me.changes(since=99).changes == ()


def test_changes_header_labels_each_kind_of_change(me, clock):
    fact = me.remember("Dana lives in Haifa", kind="fact", importance=5).id
    lost = me.remember("Hay is cheap", importance=4).id
    erased = me.remember("The code is 4711").id
    me.changes()
    me.update(fact, content="Dana lives in Berlin")
    me.forget(lost)
    me.erase(erased)
    assert me.changes().header == (
        "Memory updates since rev 3:\n"
        "- ↑updated: [knowledge] Dana lives in Berlin (supersedes an earlier one)\n"
        "- −forgotten: [knowledge] Hay is cheap\n"
        "- ×deleted: [knowledge] an item"
    )
    me.restore(lost)
    assert told(me.changes()) == [("restored", "Hay is cheap")]
    me.merge([lost, me.remember("Straw is cheap").id])
    assert [what for what, _ in told(me.changes())] == ["merged"]


def test_changes_header_shows_three_bullets_most_important_first(me):
    me.remember("The door is green")
    me.changes()
    for importance in (1, 5, 2, 4, 3):
        me.remember(f"Importance {importance}", importance=importance)
    assert me.changes().header.splitlines()[1:] == [
        "- +created: [knowledge] Importance 5 (imp=5)",
        "- +created: [knowledge] Importance 4 (imp=4)",
        "- +created: [knowledge] Importance 3 (imp=3)",
        "- … and 2 more",
    ]


def test_changes_report_only_the_latest_of_several_updates(me):
    first = me.remember(kind="kv", metadata={"subject": "bill", "value": 500}).id
    second = me.update(first, metadata={"value": 600}).id
    me.update(second, metadata={"value": 700})
    assert told(me.changes()) == [("updated", "bill is 700")]


def test_changes_omit_memories_forgotten_or_expired_before_the_read(me, clock):
    me.forget(me.remember("A slip of the tongue").id)
    me.remember("Call the plumber", ttl_days=1)
    clock.tick(days=1)
    assert me.changes().header == ""


def test_changes_ignore_recall_and_list(me):
    me.remember("Hay is cheap")
    me.changes()
    me.recall("hay")
    me.list()
    assert me.events()[0]["op"] == "search"
    assert me.changes().header == ""


def test_changes_report_expired_and_idle_memories_once(me, clock):
    me.remember("Bought hay", kind="event", importance=1)
    me.remember("Call the plumber", ttl_days=1, category="tasks")
    me.changes()
    clock.tick(days=60)
    me.tidy()
    assert set(told(me.changes())) == {("forgotten", "Bought hay"), ("deleted", "")}
    me.tidy()
    assert me.changes().header == ""
    clock.tick(days=31)
    assert me.tidy().purged == 1
    assert me.changes().header == ""


def test_changes_omit_imported_forgotten_memories(book):
    ana, ben = book.user("ana"), book.user("ben")
    ana.forget(ana.remember("Long forgotten").id)
    ana.remember("Still known")
    ben.remember("Something of his own")
    ben.changes()
    ben.import_(ana.export())
    assert told(ben.changes()) == [("created", "Still known")]


# ——— the journal's views ———


def test_history_lists_entries_newest_first_without_text(me, clock):
    id = me.remember("Hay is cheap").id
    clock.tick(days=1)
    me.agent("helper").update(id, importance=4)
    newest, oldest = me.history(id)
    assert (newest["event"], newest["actor"], newest["ts"]) == (
        "UPDATE",
        "agent:helper",
        clock.now,
    )
    assert (newest["old_ref"], newest["new_ref"]) == (f"{id}@1", f"{id}@2")
    assert (oldest["event"], oldest["actor"]) == ("ADD", "user:ana")
    assert "cheap" not in repr(me.history(id))


def test_change_log_lists_only_writes_of_the_thread(me):
    one = me.remember("Hay is cheap", thread="t1").id
    me.remember("The gate is green", thread="t2")
    me.recall("hay", thread="t1")
    (row,) = me.change_log("t1")
    assert (row["memory_id"], row["event"], row["rev"], row["thread_id"]) == (one, "ADD", 1, "t1")
    assert me.change_log("t3") == []


def test_events_list_searches_with_the_best_similarity(me):
    me.remember("The garden gate needs a new lock")
    me.recall("garden gate lock", thread="t1")
    me.recall("rocket engines")
    nothing, found, created = me.events()
    assert (found["op"], found["status"], found["thread_id"]) == ("search", "ok", "t1")
    assert found["sim"] > 0.5
    assert (nothing["op"], nothing["status"]) == ("search", "skipped")
    assert (created["op"], created["status"]) == ("create", "ok")
    assert len(me.events(limit=1)) == 1


def test_stats_count_kinds_states_and_operations_by_day(me, clock):
    me.remember("Hay is cheap", kind="fact")
    gone = me.remember("Straw is cheap", kind="fact").id
    me.remember(kind="contact", metadata={"name": "Dan"})
    clock.tick(days=1)
    me.forget(gone)
    me.recall("hay")
    me.remember("Call the plumber", ttl_days=1)
    clock.tick(days=1)
    numbers = me.stats(events=True)
    assert (numbers.user_id, numbers.revision, numbers.live) == ("ana", 5, 2)
    assert numbers.kinds == {"contact": 1, "fact": 1}
    assert numbers.states == {"active": 2, "expired": 1, "soft_deleted": 1}
    counted = {(row.day, row.node, row.op): row.count for row in numbers.operations}
    assert counted["2026-03-01", "hotpath", "create"] == 3
    assert counted["2026-03-02", "hotpath", "delete"] == 1
    assert counted["2026-03-02", "hotpath", "search"] == 1
    assert me.stats().operations == ()


def test_journal_reads_show_nothing_of_another_user(book):
    id = book.user("ana").remember("Hay is cheap", thread="t1").id
    ben = book.user("ben")
    ben.remember("His own")
    shown = repr([ben.change_log("t1"), ben.events(), ben.changes(), ben.stats()])
    assert id not in shown
    assert "ana" not in shown
    with pytest.raises(NotFound):
        ben.history(id)


# ——— touches ———


def test_recall_updates_access_count_without_a_new_revision(book, me, clock):
    id = me.remember("The garden gate needs a new lock").id
    other = me.remember("Dana drinks tea").id
    before = me.show(id).memory
    clock.tick(days=1)
    me.recall("garden gate")
    me.recall("garden gate")
    book.flush()
    assert me.show(id).memory == before.evolve(access_count=2, last_accessed_at=clock.now)
    assert me.show(other).memory.access_count == 0
    assert me.revision == 2
    assert len(me.show(id).versions) == 1


def test_list_show_profile_and_export_leave_access_count_unchanged(book, me):
    id = me.remember("The garden gate needs a new lock").id
    me.list()
    me.show(id)
    me.profile()
    list(me.export())
    book.flush()
    assert me.show(id).memory.access_count == 0


def test_change_log_files_each_change_under_the_callers_thread(me):
    one, two = me.remember_many(
        [{"content": "Tea at five", "thread": "a"}, {"content": "Rain at six", "thread": "b"}]
    )
    me.update(one.id, importance=4, thread="c")
    newer = me.update(two.id, content="Snow at six", thread="c").id
    me.forget(newer, thread="d")
    me.restore(newer, thread="d")
    events = {thread: [row["event"] for row in me.change_log(thread)] for thread in "abcd"}
    assert events["a"] == ["ADD"]
    assert events["b"] == ["ADD"]
    assert set(events["c"]) == {"UPDATE"}
    assert events["d"] == ["RESTORE", "DELETE"]
    me.erase(one.id, thread="e")
    assert [row["event"] for row in me.change_log("e")] == ["ERASE"]
    assert me.change_log("a") == []  # not even the name of its conversation stays


READS_THAT_MARK = {
    "changes": lambda me: me.changes("t").header,
    "context": lambda me: me.context("kettle", thread="t").delta.header,
    "query": lambda me: me.query("kettle", thread="t").header,
}


@pytest.mark.parametrize("read", READS_THAT_MARK.values(), ids=READS_THAT_MARK)
def test_read_only_key_does_not_move_the_mark_of_an_agent_that_it_names(book, me, read):
    me.remember("The kettle is green", category="tasks")
    as_planner = book.authenticate(me.keys_create("reader", read_only=True).token).agent("planner")
    assert "kettle" in read(as_planner)
    assert read(as_planner) == "", "it has a mark of its own"
    assert "kettle" in read(me.agent("planner"))


def test_read_only_key_of_an_agent_moves_the_mark_of_that_agent(book, me):
    me.remember("The kettle is green", category="tasks")
    key = me.keys_create("planner's", for_agent="planner", read_only=True)
    assert "kettle" in book.authenticate(key.token).changes("t").header
    assert me.agent("planner").changes("t").header == ""
