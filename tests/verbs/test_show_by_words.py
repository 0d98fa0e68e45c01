"""show with words in place of an id: the item they mean, or candidates to choose from."""

from __future__ import annotations

import pytest

from commonplace import Choice
from commonplace.engine.memories.listing import ShownMemory
from commonplace.engine.search.pack import Hit
from commonplace.errors import NotFound


def test_show_by_words_gives_the_only_item_that_they_mean(me):
    kept = me.remember("the garage code is 5518")
    me.remember("Tamar is vegan")
    shown = me.show("garage code")
    assert isinstance(shown, ShownMemory)
    assert shown.memory.id == kept.id


def test_show_by_words_gives_candidates_where_several_match(me):
    ids = {
        me.remember("the garage code of the office is 5518").id,
        me.remember("the garage code of the summer house is 9071").id,
    }
    found = me.show("garage code")
    assert isinstance(found, Choice)
    assert {hit.id for hit in found.candidates} == ids


@pytest.mark.parametrize(
    "id", ["00000000-0000-4000-8000-000000000000", "source:unknown", "profile:7", "3f2a91c0"]
)
def test_show_of_an_unknown_id_is_not_searched_for(me, id):
    me.remember(f"a note that says {id} unknown")
    with pytest.raises(NotFound):
        me.show(id)


def test_show_by_words_without_a_match_is_not_found(me):
    me.remember("Tamar is vegan")
    with pytest.raises(NotFound):
        me.show("garage code")


def test_show_by_words_finds_only_what_the_caller_may_see(me):
    me.remember("the garage code is 5518", category="profile")
    with pytest.raises(NotFound):
        me.agent("stylist").show("garage code")


def _hit(id: str, score: float, clock) -> Hit:
    return Hit(id, id, "fact", "knowledge", clock(), None, score)


def test_choice_has_a_clear_hit_only_if_it_is_far_ahead(clock):
    ahead = Choice("q", (_hit("a", 3.0, clock), _hit("b", 1.0, clock)))
    close = Choice("q", (_hit("a", 3.0, clock), _hit("b", 2.9, clock)))
    assert ahead.clear_hit == ahead.candidates[0]
    assert close.clear_hit is None
    assert Choice("q", ()).clear_hit is None
