"""What was asked about an erased item goes with it: no byte of it is left in the files."""

from __future__ import annotations

import pytest

from support.stored_bytes import gather_statistics
from support.whole import assert_whole


def by_id(me, id):
    me.erase(id, now=True)


def by_user(me, id):
    me.erase_user(now=True)


def after_its_days(me, id):
    """A log that has grown old leaves bytes until the next erasure is compacted."""
    me.erase(id)
    me._engine.clock.tick(days=31)
    me.tidy()
    me.erase(me.remember("Something else").id, now=True)


@pytest.mark.parametrize("way", [by_id, by_user, after_its_days])
def test_erase_now_leaves_no_bytes_of_the_recall_log(open_book, store_url, secret, holding, way):
    book = open_book(recall_log=True)
    me = book.user("ana")
    id = me.remember(f"The word is {secret}").id
    me.recall(secret, thread="found")
    me.query(f"Is it so that The word is {secret}?", filters={"importance_min": 5})
    book.flush()
    gather_statistics(store_url)
    assert "recall_log" in me.verify_forget(secret).found_in, "the test can find what is there"
    way(me, id)
    assert me.verify_forget(secret, files=True).clean
    book.close()
    assert holding(secret) == []
    assert_whole(store_url, "ana")
