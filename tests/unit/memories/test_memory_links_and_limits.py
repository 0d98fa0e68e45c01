"""Who is linked to a new memory, and when there is no more room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.engine.memories.neighbours import Neighbour, build_links
from commonplace.engine.memory_relation import check_live_limits
from commonplace.errors import LimitReached
from commonplace.model.memory.kinds import Kind
from support.clock import START
from support.pure_values import memory

neighbours = st.lists(
    st.builds(Neighbour, st.uuids().map(str), st.floats(0, 1)),
    max_size=12,
    unique_by=lambda n: n.id,
)


@given(neighbours)
def test_build_links_takes_the_five_nearest_above_the_threshold(near):
    links = build_links(memory(id="new"), near, START)
    close = sorted((n.similarity for n in near if n.similarity >= 0.75), reverse=True)
    assert [link.strength for link in links] == [round(s, 4) for s in close[:5]]
    assert all("new" in (link.a, link.b) and link.a < link.b for link in links)


def test_build_links_never_links_a_memory_to_itself():
    assert build_links(memory(id="m1"), [Neighbour("m1", 1.0)], START) == []


def test_live_limit_refuses_a_sixth_soul():
    check_live_limits([memory(kind=Kind.SOUL)], {(Kind.SOUL, None): 4})
    with pytest.raises(LimitReached, match="At most 5 soul"):
        check_live_limits([memory(kind=Kind.SOUL)], {(Kind.SOUL, None): 5})
    with pytest.raises(LimitReached):
        check_live_limits([memory(kind=Kind.SOUL)] * 2, {(Kind.SOUL, None): 4})


def test_live_limit_counts_souls_of_an_agent_apart():
    check_live_limits([memory(kind=Kind.SOUL)], {(Kind.SOUL, "helper"): 5})


def test_live_limit_does_not_apply_to_notes():
    check_live_limits([memory()], {(Kind.NOTE, None): 10**6})
