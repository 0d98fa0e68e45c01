"""A re-embedding that is killed anywhere goes on where it stopped; nobody ever reads a mixture."""

from __future__ import annotations

import pytest

from commonplace.errors import EmbedderMismatch
from commonplace.language.embedders.hashing import HashingEmbedder
from commonplace.store.failpoints import FAILPOINTS
from support.children import (
    die_while_reembedding,
    reembed_step_by_step,
    write_with_whichever_is_current,
)
from support.processes import Child, in_order_of_speech
from support.scenarios import wait_until_alone
from support.stores import raw
from support.whole import assert_healthy, open_plainly

IN_A_REEMBEDDING = [name for name in FAILPOINTS if name.startswith("reembed.")]
SWITCHED = ("reembed.after_switch", "reembed.removed")
NEW = HashingEmbedder(64)
AT_ONCE = 8


def filled(url, count):
    with open_plainly(url) as book:
        notes = [{"content": f"Sentence number {n}", "kind": "note"} for n in range(count)]
        book.user("ana").remember_many(notes)
        book.user("bob").remember("The lamp is green")


def current_lengths(url):
    """Of the vectors that are read; never more than one length."""
    rows = raw(
        url,
        """SELECT DISTINCT length(v.vector) / 4 FROM vectors v
             JOIN generations g ON g.number = v.generation WHERE g.state = 'current'""",
    )
    return [row[0] for row in rows]


def all_lengths(url):
    return sorted(row[0] for row in raw(url, "SELECT DISTINCT length(vector) / 4 FROM vectors"))


@pytest.mark.parametrize("failpoint", IN_A_REEMBEDDING)
def test_reembed_killed_at_any_failpoint_never_mixes_generations(store_url, failpoint):
    filled(store_url, 5)
    with Child(die_while_reembedding, store_url, 64, failpoint) as child:
        assert child.rest() == []
        assert child.was_killed()
    wait_until_alone(store_url)
    held_to = NEW if failpoint in SWITCHED else HashingEmbedder()
    assert current_lengths(store_url) == [held_to.dimension]
    with open_plainly(store_url, held_to) as book:
        me = book.user("ana")
        assert me.recall("Sentence number 3").hits[0].similarity is not None
        me.remember("Written after the crash")
        book.reembed(NEW)
    with open_plainly(store_url, NEW) as book:
        assert len(book.user("ana").list().memories) == 6
        assert_healthy(book.user("ana"))
    assert all_lengths(store_url) == [64]


def test_reembed_killed_midway_resumes(store_url):
    filled(store_url, 2 * AT_ONCE + 10)
    with Child(reembed_step_by_step, store_url, 64, AT_ONCE) as child:
        assert child.hear() == ("embedding", 0)
        child.tell("go on")
        assert child.hear() == ("embedding", AT_ONCE)
        child.kill()
    wait_until_alone(store_url)
    assert current_lengths(store_url) == [256]
    with open_plainly(store_url) as book:
        assert book.reembed(NEW).memories == AT_ONCE + 10 + 1
        with pytest.raises(EmbedderMismatch):
            book.user("ana").recall("Sentence number 3")
    assert all_lengths(store_url) == [64]


@pytest.mark.parametrize(
    "store_url", ["sqlite", pytest.param("postgres", marks=pytest.mark.soak)], indirect=True
)
def test_reembed_during_concurrent_writes_loses_nothing(store_url):
    """Three processes write and recall while the store changes its embedder twice."""
    filled(store_url, 20)
    dimensions = (256, 64, 32)
    writers = [
        Child(write_with_whichever_is_current, store_url, user, dimensions, 30)
        for user in ("ana", "bob", "eva")
    ]
    kept = [writer.hear() for writer in writers]
    for before, after in ((256, 64), (64, 32)):
        with open_plainly(store_url, HashingEmbedder(before)) as book:
            book.reembed(HashingEmbedder(after))
        for writer in writers:
            while (said := writer.hear()) != "told":
                kept.append(said)
    kept += [said for _, said in in_order_of_speech(writers)]
    for writer in writers:
        with writer:
            assert writer.exit_code() == 0
    assert all_lengths(store_url) == [32]
    with open_plainly(store_url, HashingEmbedder(32)) as book:
        users = [book.user(name) for name in ("ana", "bob", "eva")]
        there = {m.id for user in users for m in user.list(limit=1000).memories}
        assert set(kept) <= there
        for user in users:
            assert_healthy(user)
