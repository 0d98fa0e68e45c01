"""Erased with a question: no byte of any side is left in the files."""

from __future__ import annotations

import pytest

from support.questions import tell
from support.stored_bytes import gather_statistics
from support.whole import assert_whole


def by_target(me, there, held):
    me.erase(there, now=True)


def by_held_ids(me, there, held):
    me.erase(held, now=True)


def by_user(me, there, held):
    me.erase_user(now=True)


@pytest.mark.parametrize("way", [by_target, by_held_ids, by_user])
def test_erase_now_leaves_no_bytes_of_held_values(book, me, store_url, secret, holding, way):
    there = tell(me, 1111).id
    held = [
        tell(me, f"{secret} one").id,
        tell(me, f"{secret} two", evidence=[f"the {secret} file"]).id,
        tell(me, f"{secret} three", on_conflict="alternative").id,
    ]
    gather_statistics(store_url)
    assert holding(secret), "the test can find what is there"
    way(me, there, held)
    assert me.verify_forget(secret, files=True).clean
    book.close()
    assert holding(secret) == []
    assert_whole(store_url, "ana")
