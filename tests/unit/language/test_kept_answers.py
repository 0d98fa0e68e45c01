"""What was understood is kept within bounds, for one caller only, until something changes."""

from commonplace.engine.query_cache import QueryCache


def test_an_answer_is_served_to_its_own_caller_under_the_same_stamp():
    kept = QueryCache()
    kept.put("ana", 1, "in chicago", "answer")
    assert kept.get("ana", 1, "in chicago") == "answer"
    assert kept.get("ben", 1, "in chicago") is None
    assert kept.get("ana", 2, "in chicago") is None


def test_a_new_stamp_empties_the_callers_place():
    kept = QueryCache()
    kept.put("ana", 1, "one", "answer")
    kept.put("ben", 1, "one", "answer")
    kept.put("ana", 2, "two", "answer")
    assert kept.get("ana", 1, "one") is None
    assert kept.get("ben", 1, "one") == "answer"
    assert len(kept) == 2


def test_the_least_recently_used_goes_first():
    kept = QueryCache(callers=2, answers=2)
    for key in ("one", "two"):
        kept.put("ana", 1, key, key)
    kept.get("ana", 1, "one")
    kept.put("ana", 1, "three", "three")
    assert [kept.get("ana", 1, key) for key in ("one", "two", "three")] == ["one", None, "three"]
    for caller in ("ben", "cleo"):
        kept.put(caller, 1, "one", "one")
    assert kept.get("ana", 1, "one") is None
    assert len(kept) == 2
