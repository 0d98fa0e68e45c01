"""How a context's budget is shared out: never over it, later layers shrink first, soul and rules
last, and the beginning of a prompt stands still."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from commonplace.engine.prompt_context.budget import (
    BLOCK_SIZE,
    MIN_CUT,
    STABLE_SHARE,
    LayerDemand,
    allot_budget,
    stable_room,
    total_cost,
)
from commonplace.engine.prompt_context.layers import LAYERS, KeepPolicy

costs = st.lists(st.integers(2, 60), max_size=40).map(tuple)
headings = st.integers(1, 12)
rooms = st.integers(0, 3000)


@st.composite
def wishes(draw):
    return LayerDemand(
        draw(costs),
        draw(headings),
        draw(st.sampled_from(KeepPolicy)),
        draw(st.sampled_from((0.0, 0.1, 0.2, 0.4))),
        draw(st.integers(0, 20)),
    )


layers = st.lists(wishes(), max_size=9)
plain = st.lists(st.builds(LayerDemand, costs, headings), min_size=1, max_size=9)


@given(layers, rooms)
def test_it_is_never_more_than_the_room(asked, room):
    kept = allot_budget(asked, room)
    assert total_cost(kept) <= room
    for wish, each in zip(asked, kept, strict=True):
        assert list(each.places) == sorted(set(each.places))
        whole = sum(wish.costs[place] for place in each.places)
        if each.cut is not None:
            whole += each.cut - wish.costs[each.places[-1]]
        assert each.cost == (whole + wish.heading if each.places else 0)


@given(layers)
def test_with_room_for_all_everything_is_kept(asked):
    asked = [replace(wish, older=0) for wish in asked]
    room = sum(sum(wish.costs) + wish.heading for wish in asked)
    kept = allot_budget(asked, room)
    assert [each.places for each in kept] == [tuple(range(len(wish.costs))) for wish in asked]
    assert all(each.cut is None for each in kept)


@given(layers, rooms)
def test_a_layer_without_items_costs_nothing_and_has_no_heading(asked, room):
    kept = allot_budget([LayerDemand((), heading=5, share=0.5), *asked], room)
    assert kept[0].cost == 0
    assert kept[1:] == allot_budget(asked, room)


@given(plain, rooms)
def test_where_a_layer_had_to_leave_something_out_later_ones_get_what_is_left(asked, room):
    """Without shares of their own, layers are filled in their order."""
    kept = allot_budget(asked, room)
    for place in range(len(asked)):
        assert allot_budget(asked[: place + 1], room) == kept[: place + 1]


@given(plain, rooms, st.lists(st.integers(2, 60), max_size=9).map(tuple))
def test_what_a_later_layer_gains_takes_nothing_from_an_earlier_one(asked, room, more):
    fuller = [*asked[:-1], LayerDemand(asked[-1].costs + more, asked[-1].heading)]
    assert allot_budget(fuller, room)[:-1] == allot_budget(asked, room)[:-1]


@given(layers, st.integers(0, 2000))
def test_a_layer_keeps_its_own_share_whatever_the_others_want(asked, room):
    own = LayerDemand((10,) * 100, 5, share=0.3)
    kept = allot_budget([*asked[:2], own], room)
    enough = sum(wish.share for wish in asked[:2]) + own.share <= 1
    if enough and int(own.share * room) >= 15:
        assert kept[-1].cost >= int(own.share * room) - 10


@given(costs, headings, rooms)
def test_soul_and_rules_are_cut_rather_than_left_out(asked, heading, room):
    (kept,) = allot_budget([LayerDemand(asked, heading, KeepPolicy.WHOLE)], room)
    assert kept.places == tuple(range(len(kept.places)))
    if len(kept.places) < len(asked):
        assert room - kept.cost < MIN_CUT + heading
    if kept.cut is not None:
        assert MIN_CUT <= kept.cut < asked[kept.places[-1]]


@given(st.lists(st.integers(2, 20), max_size=60).map(tuple), st.integers(0, 400))
def test_the_newest_are_kept_and_the_oldest_make_way(asked, room):
    (kept,) = allot_budget([LayerDemand(asked, 0, KeepPolicy.NEWEST)], room)
    if kept.places and room >= 20:
        assert kept.places == tuple(range(kept.places[0], len(asked)))
        left = len(kept.places)
        assert not kept.places[0] or kept.cost + BLOCK_SIZE * 20 + 20 > room or left >= BLOCK_SIZE


@given(st.integers(2, 20), st.integers(100, 600), st.integers(0, 100))
def test_what_comes_is_added_at_the_end_and_the_beginning_moves_seldom(cost, room, first):
    """Of many additions to a full list, at most one in a block moves its beginning."""
    begins = []
    for count in range(first, first + 4 * BLOCK_SIZE):
        (kept,) = allot_budget([LayerDemand((cost,) * count, 0, KeepPolicy.NEWEST)], room)
        begins.append(kept.places[0] if kept.places else 0)
    fitting = room // cost
    block = max(size for size in (1, 2, 4, BLOCK_SIZE) if size == 1 or size <= fitting // 2)
    moved = sum(one != other for one, other in itertools.pairwise(begins))
    assert moved <= 4 * BLOCK_SIZE / block + 1
    assert all(count - begin <= fitting for count, begin in enumerate(begins, first))


@given(st.lists(st.integers(2, 20), min_size=1, max_size=60).map(tuple), st.integers(40, 400))
def test_older_ones_that_were_not_even_asked_for_change_nothing(asked, room):
    """A list of which only the end is looked at begins at the same item as the whole."""
    (whole,) = allot_budget([LayerDemand(asked, 0, KeepPolicy.NEWEST)], room)
    hidden = min(len(asked) // 3, whole.places[0] if whole.places else 0)
    (tail,) = allot_budget([LayerDemand(asked[hidden:], 0, KeepPolicy.NEWEST, older=hidden)], room)
    assert [place + hidden for place in tail.places] == list(whole.places)


@given(rooms, costs, costs)
def test_the_stable_room_depends_on_soul_and_rules_alone(budget, soul, rules):
    foremost = allot_budget(
        [LayerDemand(soul, 5, KeepPolicy.WHOLE), LayerDemand(rules, 5, KeepPolicy.WHOLE)], budget
    )
    room = stable_room(budget, foremost)
    assert 0 <= room <= STABLE_SHARE * (budget - total_cost(foremost)) <= budget


def test_one_long_item_does_not_stand_in_the_way_of_short_ones():
    (kept,) = allot_budget([LayerDemand((10, 500, 10, 10))], 40)
    assert kept.places == (0, 2, 3)


def test_the_shares_of_the_volatile_layers_leave_nobody_out():
    shares = [layer.share for layer in LAYERS if not layer.stable]
    assert all(shares)
    assert sum(shares) <= 1.0 + 1e-9
    assert not any(layer.share for layer in LAYERS if layer.stable)
