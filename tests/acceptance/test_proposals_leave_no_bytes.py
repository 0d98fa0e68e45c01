"""Erased with what it came from, or by itself: no byte of a proposal is left in the files."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest

from support.stored_bytes import files_holding
from support.whole import assert_whole


@pytest.fixture
def secret():
    """A word that stands nowhere else."""
    return f"zq{uuid4().hex}"


@pytest.fixture
def holding(store_url, request):
    server = request.getfixturevalue("postgres") if "://" in store_url else None
    return lambda text: files_holding(text, store_url, server)


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
    me._desk.clock.tick(days=8)
    me.tidy()
    me.erase(me.remember("Something else").id, now=True)


@pytest.mark.parametrize("way", [by_ids, by_user, after_declining, after_their_days])
def test_erase_now_leaves_no_byte_of_what_was_proposed(book, me, store_url, secret, holding, way):
    helper = me.agent("helper")
    ids = [
        helper.propose("city", f"{secret} one").id,
        helper.propose("city", "two", reason=f"the {secret} file").id,
        helper.propose("city", "three", evidence=[f"it says {secret}"]).id,
    ]
    if "://" in store_url:  # PostgreSQL does this by itself, and keeps samples of what it sees
        with psycopg.connect(store_url, autocommit=True) as connection:
            connection.execute("ANALYZE")
    assert holding(secret), "the test can find what is there"
    way(me, ids)
    assert me.verify_forget(secret, files=True).clean
    book.close()
    assert holding(secret) == []
    assert_whole(store_url, "ana")
