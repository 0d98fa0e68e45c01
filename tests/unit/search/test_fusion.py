"""Fusion by reciprocal ranks: the query counts most, and loses nothing that it finds surely."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from commonplace.engine.search.deep.fusion import QUERY_WEIGHT, RRF_K, fuse, keep_found
from commonplace.engine.search.pack import Hit
from commonplace.engine.search.rank import Ranked
from commonplace.engine.search.supersession import Settled
from commonplace.model.access.principal import ReadableScope, Scope

OWN = ReadableScope(Scope.of_user("ana"))
START = datetime(2026, 1, 1, tzinfo=UTC)


def ranked(id, score, *, weak=False, is_passage=False):
    parts = {"words": score}
    return Ranked(id, 0, OWN, is_passage, None, 0.0, score, parts, weak=weak)


def settled(*ids, **merged):
    """The first has the highest score."""
    items = [ranked(id, 1 - n / 10) for n, id in enumerate(ids)]
    passages = {memory: ranked(id, 0.5, is_passage=True) for memory, id in merged.items()}
    return Settled(items, passages)


def ids(fused):
    return [each.id for each in fused.ranked]


def test_fusion_of_one_list_is_that_list():
    one = settled("a", "b")
    assert fuse([one]) is one


def test_fusion_adds_reciprocal_ranks_of_which_the_query_counts_most():
    assert (RRF_K, QUERY_WEIGHT) == (60, 2)
    assert ids(fuse([settled("a", "b"), settled("c", "b")])) == ["b", "a", "c"]
    assert ids(fuse([settled("a"), settled("b")])) == ["a", "b"]
    assert ids(fuse([settled("a"), *[settled("b")] * 3])) == ["b", "a"]


def test_fusion_holds_what_any_list_has():
    lists = [settled("a", "b"), settled("c"), settled("d", "e")]
    assert set(ids(fuse(lists))) == set("abcde")


def test_fusion_keeps_the_scale_of_the_scores_in_its_own_order():
    fused = fuse([settled("a", "b"), settled("c", "b")])
    assert [each.score for each in fused.ranked] == [1.0, 1.0, 0.9]
    assert [each.parts["words"] for each in fused.ranked] == [1.0, 1.0, 0.9]


def test_fusion_calls_weak_what_no_list_is_sure_of():
    weak = Settled([ranked("a", 0.9, weak=True), ranked("b", 0.8, weak=True)], {})
    sure = Settled([ranked("a", 0.2)], {})
    assert {each.id: each.weak for each in fuse([weak, sure]).ranked} == {"a": False, "b": True}


def test_fusion_has_a_memory_and_its_passage_once():
    fused = fuse([settled("m", "x", m="p"), settled("p", "y")])
    assert "p" not in ids(fused)
    assert fused.passages["m"].id == "p"


def test_fusion_keeps_what_holds_now_before_what_is_outdated():
    """As each list has it: `settle` puts it there."""
    fused = fuse([settled("new", "old"), settled("x", "new", "old"), settled("y", "new", "old")])
    assert ids(fused).index("new") < ids(fused).index("old")


# ——— the sure hits of the query ———


def hit(id, score=0.5, *, weak=False, evidence=()):
    return Hit(id, f"text {id}", "note", "knowledge", START, None, score, weak=weak,
               evidence=evidence)  # fmt: skip


def shown(hits):
    return [each.id for each in hits]


def test_sure_hits_push_out_the_last_of_the_others():
    found = [hit("a", 0.9), hit("b", 0.1)]
    fused = [hit("x", 1.0), hit("a", 0.9), hit("y", 0.8)]
    assert shown(keep_found(found, fused, 3)) == ["x", "a", "b"]


def test_weak_hits_of_the_query_give_way():
    fused = [hit("x", 1.0), hit("y", 0.9)]
    assert shown(keep_found([hit("a", 0.5, weak=True)], fused, 2)) == ["x", "y"]


def test_a_passage_counts_as_shown_with_its_memory():
    fused = [hit("m", 1.0, evidence=("p",)), hit("x", 0.9)]
    assert shown(keep_found([hit("p", 0.5)], fused, 2)) == ["m", "x"]


names = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=5)


@given(names, names, st.integers(1, 5))
def test_no_sure_hit_is_ever_lost(found, fused, k):
    of_query = [hit(id, 1 - n / 10) for n, id in enumerate(found[:k])]
    others = [replace(hit(id), score=1 - n / 10) for n, id in enumerate(fused[:k])]
    kept = shown(keep_found(of_query, others, k))
    assert set(found[:k]) <= set(kept)
    assert len(kept) <= k
    assert len(kept) == len(set(kept)) >= min(k, len(others))
