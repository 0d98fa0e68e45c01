"""Two processes that tell other values of one subject at once: one stands, one is asked about."""

from __future__ import annotations

from support.two_tellers import always_one_stands_and_one_is_pending


def test_remember_kv_by_two_concurrent_processes_stores_one_and_holds_one(store_url):
    always_one_stands_and_one_is_pending(store_url, rounds=40)
