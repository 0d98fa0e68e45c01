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
def test_allot_budget_never_exceeds_the_room(asked, room):
    kept = allot_budget(asked, room)
    assert total_cost(kept) <= room
    for wish, each in zip(asked, kept, strict=True):
        assert list(each.places) == sorted(set(each.places))
        whole = sum(wish.costs[place] for place in each.places)
        if each.cut is not None:
            whole += each.cut - wish.costs[each.places[-1]]
        assert each.cost == (whole + wish.heading if each.places else 0)


@given(layers)
def test_allot_budget_keeps_everything_with_enough_room(asked):
    asked = [replace(wish, older=0) for wish in asked]
    room = sum(sum(wish.costs) + wish.heading for wish in asked)
    kept = allot_budget(asked, room)
    assert [each.places for each in kept] == [tuple(range(len(wish.costs))) for wish in asked]
    assert all(each.cut is None for each in kept)


@given(layers, rooms)
def test_allot_budget_ignores_layers_without_items(asked, room):
    kept = allot_budget([LayerDemand((), heading=5, share=0.5), *asked], room)
    assert kept[0].cost == 0
    assert kept[1:] == allot_budget(asked, room)


@given(plain, rooms)
def test_allot_budget_fills_layers_in_order(asked, room):
    """Without shares of their own, layers are filled in their order."""
    kept = allot_budget(asked, room)
    for place in range(len(asked)):
        assert allot_budget(asked[: place + 1], room) == kept[: place + 1]


@given(plain, rooms, st.lists(st.integers(2, 60), max_size=9).map(tuple))
def test_allot_budget_larger_later_layer_takes_nothing_from_earlier_ones(asked, room, more):
    fuller = [*asked[:-1], LayerDemand(asked[-1].costs + more, asked[-1].heading)]
    assert allot_budget(fuller, room)[:-1] == allot_budget(asked, room)[:-1]


@given(layers, st.integers(0, 2000))
def test_allot_budget_guarantees_the_share_of_a_layer(asked, room):
    own = LayerDemand((10,) * 100, 5, share=0.3)
    kept = allot_budget([*asked[:2], own], room)
    enough = sum(wish.share for wish in asked[:2]) + own.share <= 1
    if enough and int(own.share * room) >= 15:
        assert kept[-1].cost >= int(own.share * room) - 10


@given(costs, headings, rooms)
def test_allot_budget_cuts_soul_and_rules_before_dropping_them(asked, heading, room):
    (kept,) = allot_budget([LayerDemand(asked, heading, KeepPolicy.WHOLE)], room)
    assert kept.places == tuple(range(len(kept.places)))
    if len(kept.places) < len(asked):
        assert room - kept.cost < MIN_CUT + heading
    if kept.cut is not None:
        assert MIN_CUT <= kept.cut < asked[kept.places[-1]]


@given(st.lists(st.integers(2, 20), max_size=60).map(tuple), st.integers(0, 400))
def test_allot_budget_newest_policy_drops_the_oldest_items(asked, room):
    (kept,) = allot_budget([LayerDemand(asked, 0, KeepPolicy.NEWEST)], room)
    if kept.places and room >= 20:
        assert kept.places == tuple(range(kept.places[0], len(asked)))
        left = len(kept.places)
        assert not kept.places[0] or kept.cost + BLOCK_SIZE * 20 + 20 > room or left >= BLOCK_SIZE


@given(st.integers(2, 20), st.integers(100, 600), st.integers(0, 100))
def test_allot_budget_newest_policy_rarely_moves_the_first_item(cost, room, first):
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
def test_allot_budget_of_a_tail_equals_that_of_the_whole_list(asked, room):
    """A list of which only the end is looked at begins at the same item as the whole."""
    (whole,) = allot_budget([LayerDemand(asked, 0, KeepPolicy.NEWEST)], room)
    hidden = min(len(asked) // 3, whole.places[0] if whole.places else 0)
    (tail,) = allot_budget([LayerDemand(asked[hidden:], 0, KeepPolicy.NEWEST, older=hidden)], room)
    assert [place + hidden for place in tail.places] == list(whole.places)


@given(rooms, costs, costs)
def test_stable_room_depends_on_soul_and_rules_only(budget, soul, rules):
    foremost = allot_budget(
        [LayerDemand(soul, 5, KeepPolicy.WHOLE), LayerDemand(rules, 5, KeepPolicy.WHOLE)], budget
    )
    room = stable_room(budget, foremost)
    assert 0 <= room <= STABLE_SHARE * (budget - total_cost(foremost)) <= budget


def test_allot_budget_skips_a_long_item_for_shorter_ones():
    (kept,) = allot_budget([LayerDemand((10, 500, 10, 10))], 40)
    assert kept.places == (0, 2, 3)


def test_volatile_layers_all_have_a_share_within_one():
    shares = [layer.share for layer in LAYERS if not layer.stable]
    assert all(shares)
    assert sum(shares) <= 1.0 + 1e-9
    assert not any(layer.share for layer in LAYERS if layer.stable)
