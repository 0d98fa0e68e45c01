"""A few indexes of past moments are kept, and none longer than it is true."""

import threading
from datetime import timedelta

from commonplace.engine.context import MAX_PAST_BYTES, MAX_PAST_INDEXES, EngineCaches
from commonplace.store.cache.index_cache import PastIndex
from commonplace.store.cache.scope_index import ScopeIndex
from support.clock import START

LATER = START + timedelta(days=1)


def an_index(good_until=None):
    return PastIndex(ScopeIndex(8), START, good_until, threading.Lock())


def test_past_index_cache_evicts_the_least_recently_used():
    kept = EngineCaches().past_indexes
    for key in range(MAX_PAST_INDEXES):
        kept.put(key, an_index())
    assert kept.get(0)
    kept.put("new", an_index())
    assert kept.keys() == [*range(2, MAX_PAST_INDEXES), 0, "new"]


def test_past_index_cache_rejects_an_oversized_index():
    kept = EngineCaches().past_indexes
    kept.put("a", an_index())
    kept.put("b", an_index(), nbytes=MAX_PAST_BYTES + 1)
    assert kept.keys() == ["a"]


def test_past_index_is_valid_until_its_first_expiry():
    past = an_index(good_until=LATER)
    assert past.is_good(LATER - timedelta(microseconds=1))
    assert not past.is_good(LATER)
    assert not past.is_good(START - timedelta(days=1))  # the clock was set back
