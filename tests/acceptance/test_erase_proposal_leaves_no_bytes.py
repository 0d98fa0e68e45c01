"""Erased with what it came from, or by itself: no byte of a proposal is left in the files."""

from __future__ import annotations

import pytest

from support.stored_bytes import gather_statistics
from support.whole import assert_whole


def by_ids(me, ids):
    me.erase(ids, now=True)


def by_user(me, ids):
    me.erase_user(now=True)


def after_declining(me, ids):
    """To decline is not to erase: its bytes go with the next erasure."""
    for id in ids:
        me.decline(id)
    me.erase(me.remember("Something else").id, now=True)


def after_their_days(me, ids):
    me._engine.clock.tick(days=8)
    me.tidy()
    me.erase(me.remember("Something else").id, now=True)


@pytest.mark.parametrize("way", [by_ids, by_user, after_declining, after_their_days])
def test_erase_now_leaves_no_bytes_of_proposals(book, me, store_url, secret, holding, way):
    helper = me.agent("helper")
    ids = [
        helper.propose("city", f"{secret} one").id,
        helper.propose("city", "two", reason=f"the {secret} file").id,
        helper.propose("city", "three", evidence=[f"it says {secret}"]).id,
    ]
    gather_statistics(store_url)
    assert holding(secret), "the test can find what is there"
    way(me, ids)
    assert me.verify_forget(secret, files=True).clean
    book.close()
    assert holding(secret) == []
    assert_whole(store_url, "ana")
