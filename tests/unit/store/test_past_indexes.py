"""A few indexes of past moments are kept, and none longer than it is true."""

import threading
from datetime import timedelta

from commonplace.store.cache.index_cache import PastIndex, PastIndexCache
from commonplace.store.cache.scope_index import ScopeIndex
from support.clock import START

LATER = START + timedelta(days=1)


def an_index(good_until=None):
    return PastIndex(ScopeIndex(8), START, good_until, threading.Lock())


def test_the_least_recently_asked_for_goes_first():
    kept = PastIndexCache(kept=2)
    for key in "ab":
        kept.keep(key, an_index())
    assert kept.get("a", START)
    kept.keep("c", an_index())
    assert [key for key in "abc" if kept.get(key, START)] == ["a", "c"]


def test_one_that_is_larger_than_all_may_be_is_not_kept():
    kept = PastIndexCache(max_bytes=an_index().index.nbytes - 1)
    kept.keep("a", an_index())
    assert len(kept) == 0


def test_it_is_good_until_the_first_memory_in_it_ends():
    kept = PastIndexCache()
    kept.keep("a", an_index(good_until=LATER))
    assert kept.get("a", LATER - timedelta(microseconds=1))
    assert kept.get("a", LATER) is None
    assert kept.get("a", START - timedelta(days=1)) is None  # the clock was set back
