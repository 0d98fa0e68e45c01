"""Packing: whole hits in their order, never over the budget by the tokenizer's count."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.engine.search.pack import Hit, RelatedMemory, as_text, pack
from commonplace.language.text.tokens import count_tokens
from support.clock import START
from support.pure_values import texts

related = st.lists(st.builds(RelatedMemory, st.just("r"), texts, st.floats(0, 1)), max_size=2).map(
    tuple
)


def hit(id="m1", text="The spare key is under the blue pot", related=()):
    return Hit(id, text, "note", "knowledge", START, 0.9, 0.9, related=tuple(related))


@st.composite
def several_hits(draw):
    count = draw(st.integers(0, 4))
    return [hit(str(n), draw(texts), draw(related)) for n in range(count)]


@settings(deadline=None)  # the first example may load the tokenizer
@given(several_hits(), st.integers(0, 120))
def test_pack_never_exceeds_the_budget(hits, budget):
    packed, tokens = pack(hits, budget)
    assert tokens == count_tokens(as_text(packed)) <= budget
    ids = [each.id for each in packed]
    assert ids == sorted(ids)


@settings(deadline=None)
@given(several_hits())
def test_pack_without_budget_keeps_all_hits(hits):
    packed, tokens = pack(hits, None)
    assert packed == hits
    assert tokens == count_tokens(as_text(hits))


@settings(deadline=None)
@given(several_hits())
def test_pack_keeps_all_hits_that_fit(hits):
    assert pack(hits, count_tokens(as_text(hits)))[0] == hits


def test_pack_skips_a_long_hit_for_a_shorter_one():
    first, long, last = hit("1"), hit("2", "word " * 200), hit("3")
    room = count_tokens(as_text([first, last]))
    assert [each.id for each in pack([first, long, last], room)[0]] == ["1", "3"]


def test_pack_cuts_a_single_hit_that_exceeds_the_budget():
    (cut,), tokens = pack([hit(text="word " * 200)], 20)
    assert cut.text.startswith("word word")
    assert cut.text.endswith("…")
    assert tokens <= 20


def test_pack_prefers_a_shorter_hit_over_an_empty_result():
    long = replace(hit("1", "word " * 200), disputed="another value " * 20)
    short = hit("2", "Blue")
    packed, _ = pack([long, short], count_tokens(as_text([short])))
    assert [each.id for each in packed] == ["2"]


def test_pack_drops_related_bullets_before_hits():
    hits = [hit("1", related=[RelatedMemory("r", "The shed key hangs inside", 0.8)]), hit("2")]
    bare = [replace(each, related=()) for each in hits]
    assert pack(hits, count_tokens(as_text(bare)))[0] == bare


def test_pack_text_lists_hits_with_related_bullets():
    shown = as_text([hit(related=[RelatedMemory("r", "The shed key hangs inside", 0.8)])])
    assert shown == (
        "- [knowledge] The spare key is under the blue pot\n  - related: The shed key hangs inside"
    )
