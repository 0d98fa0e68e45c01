"""A query of any length is searched for a bounded number of terms."""

from __future__ import annotations

from commonplace.engine.search.plan import MAX_TERMS, parse_query


def test_query_is_searched_for_its_first_terms():
    words = [f"word{n}" for n in range(3 * MAX_TERMS)]
    parsed = parse_query(" ".join(words + words), [])
    assert parsed.terms == tuple(words[:MAX_TERMS])
    assert parsed.spoken == parsed.terms * 2
