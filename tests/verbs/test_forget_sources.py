"""A source is forgotten, restored and erased whole, by its id or by its name elsewhere."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.errors import NotFound
from support.clock import START
from support.sources import chat, letter, turn

TALK = chat(turn("Dana", "A heron sat on the wall."), turn("Ana", "Which wall?", 1))


def texts(me, query="heron wall"):
    return [hit.text for hit in me.recall(query).hits]


@pytest.fixture
def talk(me):
    return me.ingest(TALK, external_id="c1", thread="main").id


def test_forget_source_hides_all_passages_and_restore_reverts(me, talk):
    before = texts(me)
    assert len(before) == 2
    assert me.forget(talk).ids == (talk,)
    assert me.recall("heron wall").is_empty
    assert me.sources().sources == ()
    assert [source.id for source in me.sources(forgotten=True).sources] == [talk]
    for id in (talk, f"{talk}#1"):
        with pytest.raises(NotFound):
            me.show(id)
    assert me.forget(talk).already == (talk,)
    assert me.restore(talk).ids == (talk,)
    assert me.restore(talk).already == (talk,)
    assert texts(me) == before
    assert len(me.show(talk).passages) == 2


def test_reingest_of_a_forgotten_source_keeps_the_source_forgotten(me, talk):
    me.forget(talk)
    for append in (False, True):
        again = me.ingest(TALK, external_id="c1", append=append)
        assert (again.id, again.action) == (talk, "forgotten")
    assert me.recall("heron wall").is_empty


def test_purged_source_cannot_be_restored_but_can_be_ingested_again(me, talk, clock):
    me.forget(talk)
    clock.tick(days=31)
    with pytest.raises(NotFound):
        me.restore(talk)
    assert me.sources(forgotten=True).sources == ()
    assert me.tidy().purged == 1
    assert me.verify_forget("heron").clean
    assert me.ingest(TALK, external_id="c1").is_new


@pytest.mark.parametrize("slip", ["2a", "-1", "", "1#2", "²", "٢", "9" * 30, "0", "01", " 1"])
def test_mistyped_passage_id_never_means_the_whole_source(me, talk, slip):
    """Forgetting, and far more so erasing, everything because of a typing error would be fatal."""
    for verb in ("forget", "restore", "erase"):
        with pytest.raises(NotFound):
            getattr(me, verb)(f"{talk}#{slip}")
    with pytest.raises(NotFound):
        me.show(f"{talk}#{slip}")
    assert len(me.show(talk).passages) == 2


def test_not_found_is_equal_for_unknown_and_foreign_sources(book, me):
    bobs = book.user("bob").ingest(TALK).id
    for verb in ("forget", "restore", "erase", "show", "history"):
        messages = []
        for id in (bobs, "source:00000000-0000-0000-0000-000000000000"):
            with pytest.raises(NotFound) as refused:
                getattr(me, verb)(id)
            messages.append(refused.value.message.replace(id, "it"))
        assert messages[0] == messages[1], verb


def test_forget_restore_and_erase_accept_a_source_alias(me, talk, tmp_path):
    path = tmp_path / "note.txt"
    path.write_text("A heron on the wall.")
    file = me.ingest(path).id
    mail = me.ingest(letter("A heron.", id="<7@example.org>")).id
    assert {source.id for source in me.sources().sources} == {talk, file, mail}
    for id in (talk, file, mail):
        name = me.show(id).source.alias
        assert me.show(name).source.id == id
        assert me.forget(name).ids == (id,)
        assert me.restore(name).ids == (id,)
    assert me.show("chat:c1").source.id == talk
    assert me.forget(f"bespoke:{path}").ids == (file,)
    assert me.erase("chat:c1").ids == (talk,)
    with pytest.raises(NotFound):
        me.forget("chat:c1")


def test_forget_restore_and_erase_accept_memories_and_sources_together(me, talk):
    memory = me.remember("The heron is grey").id
    assert set(me.forget([memory, talk]).ids) == {memory, talk}
    assert set(me.restore([memory, talk]).ids) == {memory, talk}
    assert set(me.erase([memory, talk]).ids) == {memory, talk}


def test_erase_source_erases_derived_memories(me, talk):
    derived = me.remember("The heron has a name", source_id=talk).id
    other = me.remember("The stork has a name").id
    erased = me.erase(talk)
    assert set(erased.ids) == {talk, derived}
    assert me.verify_forget("heron").clean
    assert [memory.id for memory in me.list().memories] == [other]
    assert me.history(talk)[0]["event"] == "ERASE"
    assert me.change_log("main") == []
    assert me.ingest(TALK, external_id="c1").is_new


def test_erase_of_an_unprocessed_source_cancels_the_job(open_book):
    book = open_book(worker="off")
    me = book.user("ana")
    done = me.ingest(TALK, wait=False)
    me.erase(done.id)
    assert me.jobs() == []


def test_forget_by_filter_includes_sources(me, talk, clock):
    mail = me.ingest(letter("A heron.")).id
    memory = me.remember("The heron is grey", kind="note", source_id=talk).id
    assert set(me.forget(source_type="email").ids) == {mail}
    assert set(me.forget(source_id=talk).ids) == {talk, memory}
    me.restore([talk, mail, memory])
    assert me.forget(kinds="note").ids == (memory,)
    clock.tick(days=3)
    assert set(me.forget(older_than_days=1).ids) == {talk, mail}


def test_forget_by_age_uses_source_dates_not_ingest_time(me, clock):
    """A note of a year ago may come in today; a talk that still goes on is not old."""
    old = me.ingest("A heron came.", date=clock() - timedelta(days=365)).id
    undated = me.ingest("A heron on the wall.").id
    talk = me.ingest(chat(turn("Dana", "Old"), turn("Ana", "And new", 60 * 24 * 9))).id
    clock.tick(days=10)
    assert me.forget(filters={"created_before": START - timedelta(days=1)}).ids == (old,)
    assert me.forget(older_than_days=5).ids == (undated,)
    assert me.forget(older_than_days=0.5).ids == (talk,)


def test_forget_by_query_offers_passages_that_can_be_forgotten(me, talk):
    offered = me.forget(query="heron wall").candidates
    assert {hit.citation.source for hit in offered} == {talk}
    assert me.forget(offered[0].id).ids == (offered[0].id,)


def test_update_by_query_offers_only_memories(me, talk):
    memory = me.remember("The heron by the wall is grey").id
    offered = me.update(query="heron wall", content="x").candidates
    assert [hit.id for hit in offered] == [memory]


def test_erase_user_deletes_sources_of_that_user_only(me, book, talk):
    bobs = book.user("bob").ingest(TALK).id
    assert talk in me.erase_user().ids
    assert me.sources().sources == ()
    assert me.recall("heron").is_empty
    assert me.verify_forget("heron").clean
    assert len(book.user("bob").show(bobs).passages) == 2


def test_changes_report_each_source_event_once(me):
    agent = me.agent("helper")
    agent.changes()
    done = me.ingest(TALK, title="Birds")
    delta = agent.changes()
    (change,) = delta.changes
    assert change.what == "created"
    assert "[history] quoted: «Birds: " in delta.header
    assert agent.changes().header == ""
    me.forget(done.id)
    assert "−forgotten: [history] quoted: «Birds" in agent.changes().header
    me.restore(done.id)
    assert "⟲restored: [history] quoted: «Birds" in agent.changes().header
    me.erase(done.id)
    assert "×deleted: [history] an item" in agent.changes().header
