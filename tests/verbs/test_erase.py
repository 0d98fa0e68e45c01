"""erase: the item and all that was made of it, for good, with a receipt that holds no text."""

from __future__ import annotations

import pytest

from commonplace.errors import NotAllowed, NotFound, StoreFull

TEXT = "The safe code is tulip-4711"


@pytest.fixture
def secret(me):
    return me.remember(TEXT, tags=["tulip-4711"], evidence=["tulip-4711 was said"]).id


def test_erase_leaves_only_a_journal_entry_without_text(me, secret):
    answer = me.erase(secret)
    assert (answer.ids, answer.rewritten) == ((secret,), ())
    assert (answer.receipt.items, answer.receipt.scrub, answer.scrub) == (1, "pending", "pending")
    assert me.verify_forget("tulip-4711").clean
    newest = me.history(secret)[0]
    assert (newest["event"], newest["new_ref"], newest["meta"]) == ("ERASE", None, {})
    for verb in (me.show, me.forget, me.restore, me.erase):
        with pytest.raises(NotFound):
            verb(secret)
    assert "tulip" not in "".join(me.export())


def test_erase_accepts_a_forgotten_memory(me, secret):
    me.forget(secret)
    assert not me.verify_forget("tulip-4711").clean
    me.erase(secret)
    assert me.verify_forget("tulip-4711").clean


def test_erase_deletes_all_versions(me, secret):
    me.update(secret, summary="tulip again")
    me.update(secret, summary="something else")
    assert me.verify_forget("tulip again").found_in == ("versions",)
    me.erase(secret)
    assert me.verify_forget("tulip again").clean


def test_verify_forget_names_the_tables_that_hold_a_text(me, secret):
    assert set(me.verify_forget("tulip-4711").found_in) >= {"memories", "versions"}
    assert me.verify_forget("TULIP-4711").found_in == me.verify_forget("tulip-4711").found_in
    assert me.verify_forget("100%").clean
    assert me.verify_forget("s_fe code").clean
    me.remember(kind="contact", metadata={"name": 'Dan "the man"', "note": "one\ntwo"})
    assert "memories" in me.verify_forget('"the man"').found_in
    assert "memories" in me.verify_forget("one\ntwo").found_in


def test_verify_forget_searches_only_the_callers_memory(book, secret):
    assert book.user("ben").verify_forget("tulip-4711").clean


def test_erase_stays_pending_until_tidy_has_compacted_the_database(me, secret):
    me.erase(secret)
    assert me.verify_forget("tulip-4711").scrub_pending
    assert me.stats().erasures_pending == 1
    assert me.tidy().scrubbed
    assert not me.verify_forget("tulip-4711").scrub_pending
    assert me.stats().erasures_pending == 0


def test_erase_now_completes_the_scrub(me, secret):
    assert me.erase(secret, now=True).scrub == "complete"


def test_erase_of_a_superseding_memory_does_not_revive_the_old_memory(me):
    old = me.remember("Dana lives in Haifa", kind="fact").id
    new = me.remember("Dana lives in Berlin", kind="fact").id
    me.erase(new)
    assert me.list().memories == ()
    stored = me.show(old).memory
    assert (stored.state, stored.superseded_by) == ("superseded", None)


# ——— summaries ———


@pytest.fixture
def merged(me):
    """Three memories and the summary that they were merged into."""
    ids = [me.remember(text).id for text in (TEXT, "The gate is green", "Hay is cheap")]
    return [*ids, me.merge(ids).id]


def test_erase_rewrites_a_summary_from_the_remaining_originals(me, merged):
    secret, gate, hay, summary = merged
    answer = me.erase(secret)
    assert answer.rewritten == (summary,)
    stored = me.show(summary)
    assert stored.memory.content == "- The gate is green\n- Hay is cheap"
    assert stored.memory.metadata["merged_from"] == [gate, hay]
    assert len(stored.versions) == 1
    assert me.verify_forget("tulip-4711").clean
    assert [hit.id for hit in me.recall("hay cheap").hits] == [summary]


def test_erase_of_all_originals_erases_the_summary(me, merged):
    *originals, summary = merged
    assert set(me.erase(originals).ids) == {*originals, summary}
    assert me.list().memories == ()


def test_erase_rewrites_nested_summaries(me, merged):
    secret, *_, summary = merged
    other = me.remember("Straw is cheaper").id
    outer = me.merge([summary, other]).id
    assert set(me.erase(secret).rewritten) == {summary, outer}
    assert me.verify_forget("tulip-4711").clean


def test_erase_rewrites_the_summary_of_a_restored_original(me, merged):
    secret, *_, summary = merged
    me.restore(secret)
    assert me.erase(secret).rewritten == (summary,)
    assert me.verify_forget("tulip-4711").clean


def test_erase_terminates_on_cyclic_summaries(book, me, merged):
    """Only a file that somebody edited can say such a thing."""
    secret, *_, summary = merged
    told = '"merged_from":["'
    lines = [line.replace(told, f'{told}{summary}","') for line in me.export()]
    copy = book.user("copy")
    copy.import_(lines)
    copy.erase(secret)
    assert copy.verify_forget("tulip-4711").clean


# ——— a whole user ———


def test_erase_user_deletes_everything_of_that_user_only(book, me, secret):
    ben = book.user("ben")
    ben.remember(TEXT)
    me.profile_set("city", "Haifa")
    me.changes()
    answer = me.erase_user()
    assert set(answer.ids) == {secret, "profile:city"}
    assert answer.receipt.items == 2
    assert [event["op"] for event in me.events()] == ["delete"]
    assert me.list().memories == ()
    assert me.recall("safe code").is_empty
    assert me.verify_forget("tulip-4711").clean
    assert not ben.verify_forget("tulip-4711").clean


def test_import_restores_an_erased_user_from_an_export(me, secret):
    me.update(secret, importance=4)
    lines = list(me.export())
    me.erase_user()
    assert me.import_(lines).whole
    assert [version.memory.importance for version in me.show(secret).versions] == [2, 4]
    assert [line["event"] for line in me.history(secret)] == ["UPDATE", "ADD"]
    numbers = [line.revision for line in me.changes(since=0).changes]
    assert numbers
    assert max(numbers) <= me.revision


def test_remember_and_recall_work_after_erase_user(me, secret):
    before = me.revision
    me.erase_user()
    again = me.remember("A new beginning")
    assert again.revision > before
    assert [hit.id for hit in me.recall("new beginning").hits] == [again.id]


def test_erase_user_refuses_an_agent(me, secret):
    with pytest.raises(NotAllowed):
        me.agent("helper").erase_user()
    assert me.show(secret)


def test_erase_removes_category_thread_and_tags(me):
    secret = me.remember("x", category="divorce", thread="about the divorce", tags=["divorce"]).id
    assert not me.verify_forget("divorce").clean
    me.erase(secret)
    assert me.verify_forget("divorce").clean


@pytest.mark.parametrize("written", ["École normale ÜBER alles", 'Say "hello" twice', "שלום עולם"])
def test_verify_forget_matches_any_case_quotes_and_scripts(me, written):
    me.remember("x", metadata={"said": written})
    assert "memories" in me.verify_forget(written.lower()).found_in


def test_erase_stays_pending_when_compaction_fails(me, book, secret, monkeypatch):
    def no_room(self):
        raise StoreFull("The disk is full.")

    monkeypatch.setattr(type(book._engine.store), "_compact", no_room)
    assert me.erase(secret, now=True).scrub == "pending"
    assert me.tidy().scrubbed is False
    assert me.verify_forget("tulip-4711").scrub_pending
    monkeypatch.undo()
    assert me.tidy().scrubbed
    assert not me.verify_forget("tulip-4711").scrub_pending


def test_erase_source_removes_its_thread_name_from_lines_of_surviving_nodes(me):
    said = me.observe("Noa works at Acme.", thread="divorce-lawyer")
    me.observe("Noa works at Acme.", thread="lunch")
    me.extract()
    me.context("Noa", thread="divorce-lawyer")
    assert not me.verify_forget("divorce-lawyer").clean, "the test can find what is there"
    me.erase(said.source_id)
    assert me.people().nodes, "the other conversation tells of her, too"
    assert me.verify_forget("divorce-lawyer").found_in == ()
    assert not me.verify_forget("lunch").clean


def test_erase_removes_questions_that_name_what_was_erased(open_book):
    book = open_book(recall_log=True)
    me = book.user("ana")
    kept = me.remember("Dana lives in Haifa", kind="fact")
    gone = me.remember("The Quillfeather account has the number 7741", kind="note")
    node = me.nodes_add("Zorblax Ltd", node_type="Entity", type="organization").node
    for asked in (
        "Is Quillfeather a bird?",
        "What was 7741 for?",
        "Who founded Zorblax?",
        "Where does Dana live?",
    ):
        me.recall(asked)
    book.flush()
    me.erase([gone.id, node.id])
    assert [me.verify_forget(word).clean for word in ("Quillfeather", "7741", "Zorblax")] == [
        True,
        True,
        True,
    ]
    assert me.why("main", turn=4).asked[0].query == "Where does Dana live?"
    assert me.show(kept.id)


def test_erase_receipt_is_complete_only_if_the_text_is_found_nowhere(me):
    said = "The Quillfeather account has the number 7741"
    turn = me.ingest(f"Ana: {said}.")
    first, second = me.remember(said, kind="note"), me.remember(said + ".", kind="note")
    erased = me.erase(first.id, now=True)
    assert erased.scrub == "text remains"
    assert {"memories", "passages", "originals"} <= set(erased.receipt.found_in)
    assert me.erase(second.id, now=True).scrub == "text remains"
    assert me.erase(turn.id, now=True).scrub == "complete"
    assert me.verify_forget("Quillfeather").clean


@pytest.mark.parametrize("kind", ["fact", "kv"])
def test_erase_takes_along_earlier_wordings_of_an_updated_memory(me, kind):
    metadata = {"subject": "doctor", "value": "Zed Quorn"} if kind == "kv" else None
    first = me.remember("My doctor is Zed Quorn.", kind=kind, metadata=metadata).id
    second = me.update(first, content="My doctor is Ann Quorn.").id
    third = me.update(second, content="My doctor is Tal Lee.").id
    erased = me.erase(third)
    assert set(erased.ids) == {first, second, third}
    assert erased.still_in == ()
    assert me.verify_forget("Quorn").clean


def test_erase_names_the_earlier_fact_that_a_memory_replaced(me):
    first = me.remember("Noa works at Google", kind="fact").id
    changed = me.remember("Noa works at Intel", kind="fact")
    assert changed.action == "superseded"
    erased = me.erase(changed.id)
    assert (erased.ids, erased.still_in) == ((changed.id,), (first,))
    assert me.show(first).memory.state == "superseded"
