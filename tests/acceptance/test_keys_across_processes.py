"""Several servers on one store: a key that ends in one of them opens nothing in the others; and of
no token is a byte on the disk."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest

from commonplace.errors import Unauthenticated
from support.key_children import come_in_when_told, rotate_when_told, start_first
from support.processes import Child
from support.stored_bytes import files_holding
from support.whole import open_plainly


def test_api_key_revoked_or_rotated_is_refused_in_another_process(store_url):
    with open_plainly(store_url) as book, Child(come_in_when_told, store_url) as server:
        me = book.user("ana")
        assert server.hear() == "ready"
        for end in (me.keys_revoke, me.keys_rotate):
            key = me.keys_create("bot", for_agent="planner")
            for expected in ("planner", "planner"):
                server.tell(key.token)
                assert server.hear() == expected
            end(key.id)
            server.tell(key.token)
            assert server.hear() == "unauthenticated"
        server.tell(None)
        assert server.rest() == []


def test_first_admin_key_is_created_once_by_two_concurrent_servers(store_url):
    open_plainly(store_url).close()
    with Child(start_first, store_url) as one, Child(start_first, store_url) as other:
        assert one.hear() == other.hear() == "ready"
        one.tell("go")
        other.tell("go")
        assert sorted((one.hear(), other.hear())) == [False, True]
    with open_plainly(store_url) as book:
        assert len(book.admin_keys()) == 1


def test_keys_rotate_by_two_concurrent_processes_makes_one_new_key(store_url):
    with open_plainly(store_url) as book:
        old = book.user("ana").keys_create("laptop")
        with (
            Child(rotate_when_told, store_url, "ana", old.id) as one,
            Child(rotate_when_told, store_url, "ana", old.id) as other,
        ):
            assert one.hear() == other.hear() == "ready"
            one.tell("go")
            other.tell("go")
            told = sorted((one.hear(), other.hear()))
        assert told[0] == "This key is revoked already."
        assert book.authenticate(told[1])
        assert len(book.user("ana").keys()) == 2


def test_api_key_tokens_leave_no_bytes_in_the_store_files(store_url, request):
    server = request.getfixturevalue("postgres") if "://" in store_url else None
    with open_plainly(store_url) as book:
        me = book.user("ana")
        me.remember("The lamp is green")
        made = [
            me.keys_create("a label that can be found"),
            me.keys_create("second", ttl_days=1),
            book.admin_keys_create(),
        ]
        made.append(me.keys_rotate(made[1].id))
        for key in (made[0], made[2], made[3]):
            book.identify(key.token)
        with pytest.raises(Unauthenticated):
            book.identify(made[1].token)
        book.flush()
        assert files_holding("a label that can be found", store_url, server)
        for key in made:
            owner, _, secret = key.token.split(".")
            for part in (key.token, secret, owner):
                assert files_holding(part, store_url, server) == []


def test_erase_user_leaves_no_bytes_of_api_key_labels(store_url, request):
    server = request.getfixturevalue("postgres") if "://" in store_url else None
    label = f"zq{uuid4().hex}"
    with open_plainly(store_url) as book:
        me = book.user("ana")
        me.keys_revoke(me.keys_create(label, for_agent=f"{label} bot").id)
        if server:  # PostgreSQL does this by itself, and keeps samples of what it sees
            with psycopg.connect(store_url, autocommit=True) as connection:
                connection.execute("ANALYZE")
        assert files_holding(label, store_url, server), "the test can find what is there"
        assert me.erase_user(now=True).scrub == "complete"
        assert files_holding(label, store_url, server) == []
