"""Each hit can be explained in one sentence that a person understands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.engine.search.hits import explain_hit
from commonplace.engine.search.rank import SIGNAL_NAMES, Ranked
from commonplace.model.access.principal import ReadableScope, Scope

parts = st.dictionaries(st.sampled_from(SIGNAL_NAMES), st.floats(-1, 2, allow_nan=False))


def a_hit(parts, *, is_passage=True, similarity=None, held=0.0):
    score = sum(parts.values())
    return Ranked(
        "source:1#1",
        1,
        ReadableScope(Scope.of_user("ana")),
        is_passage,
        similarity,
        held,
        score,
        parts,
        is_passage,
    )


@given(parts, st.booleans(), st.none() | st.floats(0, 1), st.floats(0, 1))
def test_explain_hit_gives_one_sentence_with_at_most_three_reasons(
    parts, is_passage, similarity, held
):
    told = explain_hit(a_hit(parts, is_passage=is_passage, similarity=similarity, held=held))
    assert told.startswith("Recalled because ")
    assert told.endswith(".")
    assert told.count(" and ") <= 1
    assert told.count(", ") <= 1


def test_explain_hit_orders_reasons_by_weight():
    hit = a_hit({"meaning": 0.2, "words": 0.5, "speaker": 0.3}, similarity=0.62, held=0.5)
    assert explain_hit(hit) == (
        "Recalled because it contains words of the query (50% of them), the person in the query "
        "said it and its meaning is similar (62%)."
    )


def test_explain_hit_omits_minor_reasons():
    hit = a_hit({"words": 0.95, "recency": 0.05}, held=1.0)
    assert explain_hit(hit) == "Recalled because it contains words of the query (100% of them)."


def test_explain_hit_names_the_surrounding_text_for_passages_only():
    around = {"words_near": 0.2, "words_wide": 0.2, "meaning_near": 0.2, "meaning_session": 0.1}
    told = explain_hit(a_hit({"words": 0.1, **around}))
    assert "the surrounding text matches" in told
    assert "the surrounding text" not in explain_hit(a_hit(around, is_passage=False))
