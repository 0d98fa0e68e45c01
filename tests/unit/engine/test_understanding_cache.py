"""What was understood is kept within bounds, for one caller only, until something changes."""

from commonplace.engine.context import MAX_CALLERS, EngineCaches
from commonplace.engine.understanding import (
    MAX_ANSWERS_PER_CALLER,
    AbbreviationStamp,
    cached_answers,
)
from commonplace.model.access.principal import Principal

ANA, BEN = Principal("ana"), Principal("ben")
BEFORE, AFTER = AbbreviationStamp(("a",), (1,)), AbbreviationStamp(("a",), (2,))


def test_understanding_cache_is_keyed_by_caller_and_stamp():
    caches = EngineCaches()
    cached_answers(caches, ANA, BEFORE).put("in chicago", "answer")
    assert cached_answers(caches, ANA, BEFORE).get("in chicago") == "answer"
    assert cached_answers(caches, BEN, BEFORE).get("in chicago") is None
    assert cached_answers(caches, Principal("ana", agent="bot"), BEFORE).get("in chicago") is None
    assert cached_answers(caches, ANA, AFTER).get("in chicago") is None


def test_understanding_cache_drops_a_callers_answers_on_a_new_stamp():
    caches = EngineCaches()
    for caller in (ANA, BEN):
        cached_answers(caches, caller, BEFORE).put("one", "answer")
    cached_answers(caches, ANA, AFTER).put("two", "answer")
    assert cached_answers(caches, ANA, BEFORE).get("one") is None
    assert cached_answers(caches, BEN, BEFORE).get("one") == "answer"


def test_understanding_cache_evicts_least_recently_used_answers_and_callers():
    caches = EngineCaches()
    mine = cached_answers(caches, ANA, BEFORE)
    for number in range(MAX_ANSWERS_PER_CALLER):
        mine.put(number, "answer")
    mine.get(0)
    mine.put("new", "answer")
    assert mine.get(0)
    assert mine.get(1) is None
    assert len(mine) == MAX_ANSWERS_PER_CALLER
    for number in range(MAX_CALLERS):
        cached_answers(caches, Principal(f"user{number}"), BEFORE)
    assert cached_answers(caches, ANA, BEFORE).get(0) is None
    assert len(caches.understandings) == MAX_CALLERS


def test_understanding_cache_is_not_shared_with_past_moments():
    caches = EngineCaches()
    cached_answers(caches, ANA, BEFORE).put("in chicago", "answer")
    past = caches.without_understandings()
    assert cached_answers(past, ANA, BEFORE).get("in chicago") is None
    assert past.graph_views is caches.graph_views


def test_engine_caches_hold_nothing_after_close():
    caches = EngineCaches()
    caches.graph_views.put("ana", "view")
    caches.close()
    caches.transition_matrices.put("ana", "matrix")
    assert caches.graph_views.get("ana") is None
    assert caches.transition_matrices.get("ana") is None
