"""An erased source is gone from the bytes of the files: original, passages, words and all."""

from __future__ import annotations

from support.sources import chat, one_of_each, turn
from support.stored_bytes import gather_statistics
from support.whole import assert_whole


def spread(me, secret):
    """The secret in originals of every format, long and short, as speaker, title, tag and thread,
    appended, replaced, forgotten, waiting to be processed, and in what came out of it."""
    ids = [me.ingest(raw, format=format).id for format, raw in one_of_each(secret).items()]
    long = " ".join(f"{secret} {number}" for number in range(4000))  # beyond one page of a file
    ids.append(
        me.ingest(
            long,
            title=f"About {secret}",
            tags=[secret],
            external_id=secret,
            origin="app",
            thread=secret,
            metadata={"deep": [secret]},
        ).id
    )
    for number in range(2):
        part = chat(turn(secret, f"Part {number}", number))
        ids.append(me.ingest(part, external_id="log", append=True).id)
    for text in (secret, "nothing"):
        ids.append(me.ingest(f"It was {text}.", external_id="replaced").id)
    ids.append(me.ingest(chat(turn("Dana", f"{secret} waits")), wait=False).id)
    derived = me.remember(f"Heard of {secret}", source_id=ids[0]).id
    me.recall(f"where is {secret}?", thread="main")
    me.forget([ids[1], ids[2]])
    return list(dict.fromkeys(ids)), derived


def test_erase_source_now_leaves_no_bytes(open_book, store_url, secret, holding):
    book = open_book(worker="off")
    me = book.user("ana")
    stays = me.ingest("What stays is a heron.").id
    ids, derived = spread(me, secret)
    gather_statistics(store_url)
    assert holding(secret), "the test can find what is there"
    erased = me.erase(ids, now=True)
    assert set(erased.ids) == {*ids, derived}
    assert erased.scrub == "complete"
    verified = me.verify_forget(secret, files=True)
    assert (verified.clean, verified.scrub_pending) == (True, False)
    assert me.jobs() == []
    book.close()
    assert holding(secret) == []
    assert_whole(store_url, "ana")
    with_what_stays = open_book(worker="off").user("ana")
    assert [source.id for source in with_what_stays.sources().sources] == [stays]
    assert with_what_stays.recall("heron").hits[0].id == f"{stays}#1"


def test_erase_user_now_leaves_no_bytes_of_sources(open_book, store_url, secret, holding):
    book = open_book(worker="off")
    me, bob = book.user("ana"), book.user("bob")
    bobs = bob.ingest("Bob's heron stays.").id
    spread(me, secret)
    gather_statistics(store_url)
    assert me.erase_user(now=True).scrub == "complete"
    book.close()
    assert holding(secret) == []
    assert_whole(store_url, "bob")
    assert len(open_book(worker="off").user("bob").show(bobs).passages) == 1


def test_purged_source_leaves_no_bytes_after_the_next_scrub(
    open_book, store_url, secret, holding, clock
):
    book = open_book(worker="off")
    me = book.user("ana")
    gone = me.ingest(f"It was {secret}.").id
    me.forget(gone)
    clock.tick(days=31)
    assert me.tidy().purged == 1
    me.erase(me.remember("Something else").id, now=True)
    book.close()
    assert holding(secret) == []
