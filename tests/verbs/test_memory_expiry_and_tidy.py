"""Expiry at the instant, idleness, purge, folding: with tidy, and without anyone asking for it."""

from __future__ import annotations

from functools import partial

import pytest

from commonplace.errors import NotFound


def live(me):
    return {memory.id for memory in me.list(limit=1000).memories}


def test_expiry_hides_a_memory_at_the_exact_instant(me, clock):
    id = me.remember("Call the plumber", ttl_days=1).id
    clock.tick(days=1, microseconds=-1)
    assert live(me) == {id}
    assert [hit.id for hit in me.recall("plumber").hits] == [id]
    clock.tick(microseconds=1)
    assert live(me) == set()
    assert me.recall("plumber").is_empty
    with pytest.raises(NotFound):
        me.show(id)
    with pytest.raises(NotFound):
        me.update(id, importance=3)


@pytest.mark.parametrize("kept", [{"pinned": True}, {"kind": "log", "pinned": True}])
def test_expiry_does_not_apply_to_a_pinned_memory(me, clock, kept):
    id = me.remember("Call the plumber", ttl_days=1, **kept).id
    clock.tick(days=400)
    me.tidy()
    assert live(me) == {id}
    me.update(id, pinned=False)
    assert live(me) == set()


def test_tidy_deletes_expired_memories_for_good(me, clock):
    id = me.remember("Call the plumber tulip", ttl_days=1).id
    clock.tick(days=1)
    assert me.tidy().expired == 1
    assert me.verify_forget("tulip").clean
    newest = me.history(id)[0]
    assert (newest["event"], newest["actor"]) == ("TTL", "worker:tidy")
    with pytest.raises(NotFound):
        me.restore(id)


def test_expiry_hides_an_ephemeral_artifact_and_tidy_deletes_the_text(me, clock):
    id = me.artifacts_create("Draft", "Dear tulip", ttl_policy="ephemeral").id
    other = me.artifacts_create("Letter", "Dear rose", ttl_policy="keep_forever").id
    made = "MATCH (a:Artifact) RETURN a.entity_key"

    def shown():
        explored = me.explore(text_matches=["tulip", "rose"], granularity=1).episodic.artifacts
        return [
            {artifact.id for artifact in me.artifacts().artifacts},
            {artifact.entity_key for artifact in explored},
            {key for (key,) in me.traverse(cypher=made).rows},
        ]

    clock.tick(days=30, microseconds=-1)
    assert shown() == [{id, other}] * 3
    clock.tick(microseconds=1)
    assert shown() == [{other}] * 3
    for ask in (me.artifact, me.show, me.forget, me.restore):
        with pytest.raises(NotFound):
            ask(id)
    assert me.tidy().expired == 1
    assert me.verify_forget("tulip").clean
    newest = me.history(id)[0]
    assert (newest["event"], newest["actor"]) == ("TTL", "worker:tidy")
    clock.tick(days=400)
    assert me.tidy().expired == 0
    assert [artifact.id for artifact in me.artifacts().artifacts] == [other]


def test_tidy_purges_a_forgotten_artifact_after_thirty_days(me, clock):
    id = me.artifacts_create("Draft", "Dear tulip").id
    me.forget(id)
    clock.tick(days=30)
    assert me.tidy().purged == 1
    assert me.verify_forget("tulip").clean


IDLE = {
    "event": {"kind": "event"},
    "insight": {"kind": "insight"},
    "log": {"kind": "log", "stability": "stable"},
    "summary": {"kind": "summary", "stability": "stable"},
    "fact": {"kind": "fact", "importance": 1},
}
KEPT = {
    "an important event": {"kind": "event", "importance": 3},
    "a pinned event": {"kind": "event", "pinned": True},
    "a permanent event": {"kind": "event", "stability": "permanent"},
    "a fact": {"kind": "fact"},
    "a note": {"kind": "note", "importance": 1},
    "a rule": {"kind": "rule", "evidence": ["e"], "importance": 1},
    "a soul": {"kind": "soul", "importance": 1},
    "a procedure": {"kind": "procedure", "steps": ["s"], "importance": 1},
    "a contact": {"kind": "contact", "metadata": {"name": "Dan"}, "importance": 1},
    "a value": {"kind": "kv", "metadata": {"subject": "s", "value": 1}, "importance": 1},
}


def test_tidy_forgets_memories_unread_for_sixty_days_by_kind(me, clock):
    idle = {me.remember(f"Idle {name}", **given).id for name, given in IDLE.items()}
    kept = {me.remember(f"Kept {name}", **given).id for name, given in KEPT.items()}
    clock.tick(days=60, microseconds=-1)
    assert me.tidy().idle == 0
    clock.tick(microseconds=1)
    assert me.tidy().idle == len(idle)
    assert live(me) == kept
    assert {m.id for m in me.list(forgotten=True).memories} == idle
    clock.tick(days=30)
    assert me.tidy().purged == len(idle)


def test_recall_and_restore_reset_idleness(me, clock):
    read = me.remember("Bought hay for the zebra", kind="event").id
    lost = me.remember("Bought straw for the donkey", kind="event").id
    clock.tick(days=40)
    assert me.recall("hay zebra", k=1).hits[0].id == read
    clock.tick(days=25)
    assert me.tidy().idle == 1
    assert live(me) == {read}
    me.restore(lost)
    assert me.tidy().idle == 0
    assert live(me) == {read, lost}


def test_import_starts_the_idle_period(book, clock):
    ana = book.user("ana")
    ana.remember("Bought hay", kind="event")
    lines = list(ana.export())
    clock.tick(days=300)
    ben = book.user("ben")
    ben.import_(lines)
    assert ben.tidy().idle == 0
    clock.tick(days=60)
    assert ben.tidy().idle == 1


def test_tidy_twice_changes_nothing_more(me, clock):
    me.remember("Bought hay", kind="event")
    me.remember("Call the plumber", ttl_days=1)
    me.forget(me.remember("Straw is cheap").id)
    me.remember_many([{"content": f"Scribble {n}", "stability": "volatile"} for n in range(5)])
    clock.tick(days=61)
    assert me.tidy().changed > 0
    before = list(me.export())
    assert me.tidy().changed == 0
    assert list(me.export()) == before


def test_open_runs_tidy_once_a_day(open_book, clock):
    open_book = partial(open_book, worker="off")  # a worker would sleep
    book = open_book()
    id = book.user("ana").remember("Call the plumber", ttl_days=1).id
    clock.tick(days=1)
    open_book()
    assert book.user("ana").history(id)[0]["event"] == "TTL"
    second = book.user("ana").remember("Call the painter", ttl_days=0.5).id
    clock.tick(hours=23)
    open_book()
    assert book.user("ana").history(second)[0]["event"] == "ADD"
    clock.tick(hours=2)
    open_book(tidy_on_open=False)
    assert book.user("ana").history(second)[0]["event"] == "ADD"
    open_book()
    assert book.user("ana").history(second)[0]["event"] == "TTL"


# ——— merging ———


def test_merge_supersedes_the_originals_by_a_summary(me, clock):
    one = me.remember("Hay is cheap", importance=4, category="farm").id
    other = me.remember("Straw is cheaper", category="farm", confidence=0.5).id
    clock.tick(days=1)
    answer = me.merge([one, other])
    summary = me.show(answer.id).memory
    assert (summary.kind, summary.stability, summary.expires_at) == ("summary", "stable", None)
    assert summary.content == "- Hay is cheap\n- Straw is cheaper"
    assert (summary.importance, summary.confidence, summary.category) == (4, 0.5, "farm")
    assert answer.merged == (one, other)
    assert live(me) == {answer.id}
    for id in (one, other):
        original = me.show(id).memory
        assert (original.state, original.superseded_by) == ("superseded", answer.id)
    assert me.revision == 3


def test_restore_of_a_merged_original_keeps_the_summary(me):
    ids = [me.remember(text).id for text in ("Hay is cheap", "Straw is cheaper")]
    summary = me.merge(ids).id
    assert me.restore(ids[0]).replaced == ()
    assert live(me) == {ids[0], summary}


def test_tidy_merges_volatile_memories_in_groups_of_five(me, clock):
    ids = []
    for n in range(12):
        ids.append(me.remember(f"Scribble {n}", stability="volatile").id)
        clock.tick(minutes=1)
    assert me.tidy().merged == 0
    clock.tick(days=7)
    assert me.tidy().merged == 10
    summaries = me.list(kinds="summary").memories
    assert sorted(m.metadata["merged_from"] for m in summaries) == sorted([ids[:5], ids[5:10]])
    assert live(me) == {*ids[10:], *(m.id for m in summaries)}
    night = me.history(summaries[0].id)[0]
    assert (night["event"], night["actor"]) == ("MERGE", "worker:tidy")
    assert {e["node"] for e in me.events() if e["op"] in ("merge",)} == {"worker"}


def test_tidy_by_an_agent_ends_only_what_has_expired(me, clock):
    me.remember_many([{"content": f"Scribble {n}", "stability": "volatile"} for n in range(5)])
    me.remember("Bought hay", kind="event", importance=1)
    me.remember("Call the plumber", ttl_days=1)
    clock.tick(days=61)
    done = me.agent("helper").tidy()
    assert (done.expired, done.idle, done.merged) == (1, 0, 0)
    done = me.tidy()
    assert (done.expired, done.idle, done.merged) == (0, 1, 5)


def test_open_tidies_other_users_when_a_merge_would_be_too_long(open_book, clock):
    """Five that are too long to be one memory stay five."""
    book = open_book()
    me = book.user("ana")
    for number in range(5):
        me.remember(f"{number} " + "long " * 2000, stability="volatile")
    book.user("ben").remember("Lunch", kind="log", ttl_days=1)
    clock.tick(days=9)
    again = open_book()
    assert len(again.user("ana").list().memories) == 5
    assert again.user("ben").list().memories == ()


def test_tidy_merges_only_memories_of_equal_sensitivity(me, clock):
    for number in range(4):
        me.remember(f"Standup {number}", stability="volatile")
    me.remember("Diagnosis: anaemia", stability="volatile", sensitivity="high")
    clock.tick(days=9)
    assert me.tidy().merged == 0
    assert len(me.list().memories) == 4


def test_expired_memory_is_not_found_by_forget_restore_or_show(me, clock):
    short = me.remember("Parking until noon", ttl_days=1).id
    clock.tick(days=2)
    for verb in (me.forget, me.restore, me.show):
        with pytest.raises(NotFound):
            verb(short)


def test_forgotten_memory_is_not_restorable_after_the_purge_date(me, clock):
    gone = me.remember("Old news").id
    me.forget(gone)
    assert [memory.id for memory in me.list(forgotten=True).memories] == [gone]
    clock.tick(days=31)
    assert me.list(forgotten=True).memories == ()
    with pytest.raises(NotFound):
        me.restore(gone)
