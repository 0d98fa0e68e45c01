"""Two processes decide on one proposal at once: there is one outcome, and the other is told."""

from __future__ import annotations

import pytest

from support.children import decide_then_wait
from support.processes import Child
from support.whole import assert_whole, open_plainly

USER = "ana"


@pytest.fixture
def proposals(store_url):
    """Two values for one field."""
    with open_plainly(store_url) as book:
        helper = book.user(USER).agent("helper")
        return [helper.propose("city", city).id for city in ("Berlin", "Jaffa")]


def both(store_url, first, second):
    """Both have decided before either is applied; the first is let go first."""
    with (
        Child(decide_then_wait, store_url, USER, *first) as one,
        Child(decide_then_wait, store_url, USER, *second) as other,
    ):
        assert one.hear() == other.hear() == ("decided", 2)
        one.tell("go")
        told = one.hear()
        other.tell("go")
        return told[0], other.hear()[0]


@pytest.mark.parametrize(
    ("first", "second", "fields"),
    [
        (("accept", 0), ("decline", 0), {"city": "Berlin"}),
        (("decline", 0), ("accept", 0), {}),
        (("accept", 0), ("accept", 0), {"city": "Berlin"}),
        (("accept", 0), ("accept", 1), {"city": "Berlin"}),  # which declines the other
    ],
)
def test_accept_and_decline_by_two_processes_apply_the_first_decision(
    store_url, proposals, first, second, fields
):
    requests = [(verb, {"id": proposals[number]}) for verb, number in (first, second)]
    assert both(store_url, *requests) == ("done", "refused")
    belongings = assert_whole(store_url, USER)
    assert belongings.revision == 3
    with open_plainly(store_url) as book:
        me = book.user(USER)
        assert me.profile().fields == fields
        assert len(me.proposals()) == (0 if first[0] == "accept" else 1)


def test_decline_of_two_proposals_by_two_processes_declines_both(store_url, proposals):
    requests = [("decline", {"id": id}) for id in proposals]
    assert both(store_url, *requests) == ("done", "done")
    assert assert_whole(store_url, USER).proposals == ()
