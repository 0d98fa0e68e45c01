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


def test_an_answer_is_served_to_its_own_caller_under_the_same_stamp():
    caches = EngineCaches()
    cached_answers(caches, ANA, BEFORE).put("in chicago", "answer")
    assert cached_answers(caches, ANA, BEFORE).get("in chicago") == "answer"
    assert cached_answers(caches, BEN, BEFORE).get("in chicago") is None
    assert cached_answers(caches, Principal("ana", agent="bot"), BEFORE).get("in chicago") is None
    assert cached_answers(caches, ANA, AFTER).get("in chicago") is None


def test_a_new_stamp_empties_the_callers_place():
    caches = EngineCaches()
    for caller in (ANA, BEN):
        cached_answers(caches, caller, BEFORE).put("one", "answer")
    cached_answers(caches, ANA, AFTER).put("two", "answer")
    assert cached_answers(caches, ANA, BEFORE).get("one") is None
    assert cached_answers(caches, BEN, BEFORE).get("one") == "answer"


def test_the_least_recently_used_goes_first():
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


def test_a_past_moment_shares_all_but_what_was_understood():
    caches = EngineCaches()
    cached_answers(caches, ANA, BEFORE).put("in chicago", "answer")
    past = caches.without_understandings()
    assert cached_answers(past, ANA, BEFORE).get("in chicago") is None
    assert past.graph_views is caches.graph_views


def test_nothing_is_kept_after_closing():
    caches = EngineCaches()
    caches.graph_views.put("ana", "view")
    caches.close()
    caches.transition_matrices.put("ana", "matrix")
    assert caches.graph_views.get("ana") is None
    assert caches.transition_matrices.get("ana") is None
