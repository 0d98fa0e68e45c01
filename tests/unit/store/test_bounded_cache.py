"""A cache stays within its bounds and serves nothing stale, whatever order it is asked in."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.store.cache.bounded_cache import BoundedCache

KEYS, STAMPS = st.sampled_from("abcdef"), st.integers(0, 2)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, STAMPS, st.integers(0, 12)),
        st.tuples(st.just("get"), KEYS, STAMPS, st.just(0)),
        st.tuples(st.just("make"), KEYS, STAMPS, st.just(0)),
        st.tuples(st.just("resize"), KEYS, STAMPS, st.integers(0, 12)),
        st.tuples(st.just("drop"), KEYS, STAMPS, st.just(0)),
    )
)


def run(cache, newest, step):
    """One step; ``newest`` holds the last value put under each key, with stamp and size."""
    verb, key, stamp, nbytes = step
    if verb == "put":
        newest[key] = (stamp, object(), nbytes)
        cache.put(key, newest[key][1], stamp=stamp, nbytes=nbytes)
    elif verb == "resize" and key in newest:
        cache.resize(key, newest[key][1], nbytes)
        newest[key] = (*newest[key][:2], nbytes)
    elif verb == "drop":
        cache.drop(lambda each: each == key)
        newest.pop(key, None)
    elif verb == "make":
        made = object()
        found = cache.get_or_make(key, lambda: made, stamp)
        if found is made:
            newest[key] = (stamp, made, 0)
        assert newest[key][:2] == (stamp, found)
    else:
        found = cache.get(key, stamp)
        assert found is None or newest[key][:2] == (stamp, found)


@given(STEPS, st.none() | st.integers(0, 4), st.none() | st.integers(0, 20), st.booleans())
def test_bounded_cache_respects_limits_and_stamps(steps, max_entries, max_bytes, keeps_newest):
    cache = BoundedCache(max_entries=max_entries, max_bytes=max_bytes, keeps_newest=keeps_newest)
    newest = {}
    for step in steps:
        run(cache, newest, step)
        assert max_entries is None or len(cache) <= max_entries
        alone = keeps_newest and len(cache) == 1
        assert max_bytes is None or cache.nbytes <= max_bytes or alone
        kept = cache.keys()
        assert cache.nbytes == sum(newest[key][2] for key in kept)


def test_bounded_cache_evicts_the_least_recently_used():
    cache = BoundedCache(max_entries=2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert cache.keys() == ["a", "c"]


def test_bounded_cache_makes_a_value_once_per_key_and_stamp():
    cache, made = BoundedCache(max_entries=2), []

    def ask(key, stamp=None):
        return cache.get_or_make(key, lambda: made.append((key, stamp)) or len(made), stamp)

    for key in ("a", "b", "a", "c", "a", "b"):
        ask(key)
    assert made == [("a", None), ("b", None), ("c", None), ("b", None)]
    assert [ask("a", 1), ask("a", 1), ask("a", 2), ask("a", 1)] == [5, 5, 6, 7]


def test_bounded_cache_misses_and_replaces_a_value_of_another_stamp():
    cache = BoundedCache()
    cache.put("a", "old", stamp=1, nbytes=5)
    assert cache.get("a", 2) is None
    cache.put("a", "new", stamp=2, nbytes=3)
    assert cache.get("a", 1) is None
    assert (cache.get("a", 2), cache.nbytes, len(cache)) == ("new", 3, 1)


def test_bounded_cache_resize_evicts_the_oldest():
    cache = BoundedCache(max_bytes=10)
    values = {key: object() for key in "abc"}
    for key, value in values.items():
        cache.put(key, value, nbytes=3)
    cache.resize("b", values["b"], 6)
    assert cache.keys() == ["c", "b"]
    assert cache.nbytes == 9


def test_bounded_cache_drops_a_value_larger_than_the_budget_alone():
    cache = BoundedCache(max_bytes=10)
    cache.put("a", 1, nbytes=4)
    cache.put("b", 2, nbytes=4)
    cache.resize("b", 2, 11)
    cache.put("c", 3, nbytes=11)
    assert cache.keys() == ["a"]
    assert cache.nbytes == 4


def test_bounded_cache_keeps_newest_value_of_any_size_on_request():
    cache = BoundedCache(max_bytes=10, keeps_newest=True)
    cache.put("a", 1, nbytes=4)
    cache.put("b", 2, nbytes=11)
    assert cache.keys() == ["b"]
    cache.put("c", 3, nbytes=1)
    assert cache.keys() == ["c"]


def test_bounded_cache_resize_ignores_dropped_or_replaced_values():
    cache, old = BoundedCache(max_bytes=10), object()
    cache.put("a", old)
    cache.drop(lambda key: key == "a")
    cache.resize("a", old, 5)
    cache.put("a", object(), nbytes=1)
    cache.resize("a", old, 5)
    assert cache.nbytes == 1


def test_bounded_cache_concurrent_makers_share_one_value_without_blocking():
    cache, both, found = BoundedCache(), threading.Barrier(2), []

    def make():
        both.wait(timeout=10)  # both are making: neither holds the lock meanwhile
        return object()

    threads = [
        threading.Thread(target=lambda: found.append(cache.get_or_make("a", make)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1] is cache.get("a")


def test_bounded_cache_stores_nothing_after_a_failed_make():
    cache = BoundedCache()
    with pytest.raises(ZeroDivisionError):
        cache.get_or_make("a", lambda: 1 // 0)
    assert cache.get_or_make("a", lambda: 1) == 1


def test_bounded_cache_stores_nothing_after_close():
    cache = BoundedCache()
    cache.put("a", 1, nbytes=4)
    cache.close()
    cache.put("b", 2)
    assert (cache.get("a"), cache.get("b"), cache.nbytes) == (None, None, 0)
    assert cache.get_or_make("c", lambda: 3) == 3
    assert len(cache) == 0
