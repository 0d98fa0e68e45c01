"""Filters on metadata: equal, or any of a list; in recall, query, list and forget."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput


@pytest.fixture
def noted(me):
    """Ids by project."""
    return {
        project: me.remember(
            f"The review of {project} is on a Tuesday",
            kind="note",
            metadata={"project": project, "round": number, "open": number == 1},
        ).id
        for number, project in enumerate(("atlas", "borealis", "cygnus"), 1)
    }


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"metadata.project": "atlas"}, {"atlas"}),
        ({"metadata.project": ["atlas", "cygnus"]}, {"atlas", "cygnus"}),
        ({"metadata.round": 2}, {"borealis"}),
        ({"metadata.round": "2"}, {"borealis"}),
        ({"metadata.open": True}, {"atlas"}),
        ({"metadata.open": False}, {"borealis", "cygnus"}),
        ({"metadata.project": "atlas", "metadata.round": 2}, set()),
        ({"metadata": {"project": "cygnus"}}, {"cygnus"}),
        ({"metadata.nothing": "atlas"}, set()),
        ({"metadata.project": "Atlas"}, set()),
    ],
)
def test_metadata_filter_selects_alike_in_recall_query_and_list(me, noted, filters, wanted):
    ids = {noted[project] for project in wanted}
    assert {hit.id for hit in me.recall("review Tuesday", filters=filters).hits} == ids
    assert {item.id for item in me.query("review Tuesday", filters=filters).items} == ids
    assert {memory.id for memory in me.list(filters=filters).memories} == ids


def test_metadata_filter_is_applied_before_the_best_are_chosen(me, noted):
    hits = me.recall("review Tuesday", k=1, filters={"metadata.project": "cygnus"}).hits
    assert [hit.id for hit in hits] == [noted["cygnus"]]


def test_metadata_filter_limits_forget(me, noted):
    me.forget(filters={"metadata.project": "atlas"})
    assert {memory.id for memory in me.list().memories} == {noted["borealis"], noted["cygnus"]}


@pytest.mark.parametrize("value", [[], {"a": 1}, [["a"]], None])
def test_metadata_filter_of_another_type_is_refused(me, value):
    with pytest.raises(InvalidInput, match=r"metadata\.project must be"):
        me.list(filters={"metadata.project": value})


def test_metadata_filter_in_the_past_is_refused(me, noted):
    with pytest.raises(InvalidInput, match="by the present"):
        me.list(filters={"metadata.project": "atlas"}, as_of="2020-01-01")
