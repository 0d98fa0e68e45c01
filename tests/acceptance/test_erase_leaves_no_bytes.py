"""Erased means gone: from every read, from everything derived, and from the bytes of the files."""

from __future__ import annotations

import pytest

from commonplace.errors import NotFound
from support.children import hold_a_read_open
from support.processes import Child
from support.stored_bytes import gather_statistics
from support.whole import assert_whole


def spread(me, secret):
    """The secret in every field, in versions, in successors, in a merged summary, in the profile.

    Returns the ids of all that were given it; summaries are for the engine to find.
    """
    fact = me.remember(
        f"The {secret} plan is on",
        kind="fact",
        tags=[secret, "plan"],
        metadata={"note": secret, "deep": [{"er": secret}]},
        evidence=[f"heard of {secret}"],
        summary=f"about {secret}",
    )
    me.update(fact.id, importance=5)
    me.update(fact.id, tags=["plan"])
    newer = me.update(fact.id, content=f"The {secret} plan is off")
    value = me.remember(kind="kv", metadata={"subject": f"{secret} bill", "value": "500"})
    person = me.remember(kind="contact", metadata={"name": f"Dr {secret}", "phone": "555 1234"})
    overridden = me.update(value.id, metadata={"value": "600"})
    log = me.remember(f"Lunch with {secret}", kind="log")
    other = me.remember("Lunch with nobody", kind="log")
    me.merge([log.id, other.id])
    note = me.profile_note(f"Likes {secret}")
    me.remember_many([{"content": f"Batch {n} of {secret}", "kind": "note"} for n in range(3)])
    batch = [m.id for m in me.list().memories if m.content.startswith("Batch")]
    me.recall(f"where is {secret}?", thread="main")
    me.forget([newer.id])
    return [fact.id, newer.id, value.id, overridden.id, person.id, log.id, note.id, *batch]


def test_erase_now_leaves_no_bytes(book, me, store_url, secret, holding):
    me.remember("What stays")
    ids = spread(me, secret)
    gather_statistics(store_url)
    assert holding(secret), "the test can find what is there"
    erased = me.erase(ids, now=True)
    assert erased.scrub == "complete"
    verified = me.verify_forget(secret, files=True)
    assert verified.clean
    assert not verified.scrub_pending
    book.close()
    assert holding(secret) == []
    belongings = assert_whole(store_url, "ana")
    assert not {memory.id for memory in belongings.memories} & set(ids)
    assert {m.content for m in belongings.memories} >= {"What stays", "Lunch with nobody"}


def test_erase_user_now_leaves_no_bytes(book, me, store_url, secret, holding):
    bob = book.user("bob")
    bob.remember("Bob stays")
    spread(me, secret)
    gather_statistics(store_url)
    assert holding(secret)
    assert me.erase_user(now=True).scrub == "complete"
    assert me.list().memories == ()
    book.close()
    assert holding(secret) == []
    assert assert_whole(store_url, "ana").memories == ()
    assert [m.content for m in assert_whole(store_url, "bob").memories] == ["Bob stays"]


def test_erase_is_pending_until_tidy(book, me, secret, holding):
    ids = spread(me, secret)
    erased = me.erase(ids)
    assert erased.scrub == "pending"
    assert me.verify_forget(secret).scrub_pending
    assert me.stats().erasures_pending == 1
    assert me.tidy().scrubbed
    assert me.stats().erasures_pending == 0
    book.close()
    assert holding(secret) == []


def test_scrub_completes_several_erasures_at_once(book, me, secret, holding):
    first = me.remember(f"First {secret}")
    second = me.remember(f"Second {secret}")
    me.erase(first.id)
    assert me.stats().erasures_pending == 1
    assert me.erase(second.id, now=True).scrub == "complete"
    assert me.stats().erasures_pending == 0
    book.close()
    assert holding(secret) == []


@pytest.mark.parametrize("table", ["scopes", "memories"])
def test_scrub_stays_pending_during_an_open_read_transaction(
    open_book, store_url, secret, holding, table
):
    """Compaction cannot take away what an open transaction may look at, and does not claim to."""
    book = open_book(lock_timeout=0.2)
    me = book.user("ana")
    ids = [me.remember(f"Watched {secret} {number}").id for number in range(3)]
    with Child(hold_a_read_open, store_url, table) as reader:
        assert reader.hear() == "reading"
        assert me.erase(ids, now=True).scrub == "pending"
        assert not me.tidy().scrubbed
        assert me.verify_forget(secret).clean  # no read shows it, only the bytes remain
        reader.tell("go")
        assert reader.hear() == "done"
        assert reader.exit_code() == 0
    assert me.tidy().scrubbed
    assert me.stats().erasures_pending == 0
    book.close()
    assert holding(secret) == []


# ——— what was derived from it ———


def lunches(me, *names):
    return [me.remember(f"Lunch with {name}", kind="log").id for name in names]


def test_erase_rebuilds_a_summary_from_the_remaining_memories(me, store_url):
    dan, eva, kim = lunches(me, "Dan", "Eva", "Kim")
    summary = me.merge([dan, eva, kim])
    erased = me.erase(eva)
    assert erased.rewritten == (summary.id,)
    shown = me.show(summary.id)
    assert shown.memory.content == "- Lunch with Dan\n- Lunch with Kim"
    assert [version.memory.content for version in shown.versions] == [shown.memory.content]
    assert me.recall("Eva").is_empty
    assert me.verify_forget("Eva").clean
    assert_whole(store_url, "ana")


def test_erase_removes_a_summary_without_remaining_memories(me):
    ids = lunches(me, "Dan", "Eva")
    summary = me.merge(ids)
    assert set(me.erase(ids).ids) == {*ids, summary.id}
    assert me.list().memories == ()
    assert me.verify_forget("Lunch").clean


def test_erase_rebuilds_a_summary_of_summaries(me, store_url):
    dan, eva, kim, lea = lunches(me, "Dan", "Eva", "Kim", "Lea")
    inner = [me.merge([dan, eva]), me.merge([kim, lea])]
    outer = me.merge([summary.id for summary in inner])
    me.erase([eva, kim])
    assert "Dan" in me.show(outer.id).memory.content
    assert "Lea" in me.show(outer.id).memory.content
    assert me.verify_forget("Eva").clean
    assert me.verify_forget("Kim").clean
    assert_whole(store_url, "ana")


def test_erase_removes_a_restored_memory_from_its_summary(me):
    dan, eva, kim = lunches(me, "Dan", "Eva", "Kim")
    summary = me.merge([dan, eva, kim])
    me.restore([dan, eva])
    newer = me.update(eva, content="Dinner with nobody")
    me.erase([dan, eva])
    assert me.show(summary.id).memory.content == "- Lunch with Kim"
    assert me.show(newer.id).memory.content == "Dinner with nobody"
    assert me.verify_forget("Dan").clean
    assert me.verify_forget("Eva").clean


def test_erase_of_a_successor_does_not_revive_the_superseded_memory(me, store_url):
    old = me.remember("Dana lives in Haifa", kind="fact")
    new = me.update(old.id, content="Dana lives in Porto")
    me.erase(new.id, now=True)
    assert me.list().memories == ()
    assert me.recall("Where does Dana live?").is_empty
    with pytest.raises(NotFound):
        me.update(old.id, importance=5)
    assert_whole(store_url, "ana")
