"""Who is one and who is two stays so, whatever is read afterwards."""

from __future__ import annotations

import pytest


def talk(me, said, date="2026-01-05"):
    id = me.ingest(f"Ana: {said}", format="transcript", date=date, external_id=said).id
    me.extract([id])
    return id


def people(me):
    return {node.name for node in me.people(limit=100).nodes if not node.is_owner}


def relations(me):
    return {
        (edge.from_name, edge.relationship_type, edge.to_name)
        for edge in me.edges(past=True, limit=100).edges
    }


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            ["My manager Ruth Katz works at Wix.", "My manager Noa Bar works at Wix."],
            {"Ruth Katz", "Noa Bar"},
        ),
        (["My brother Dan lives in Haifa.", "My brother Tom lives in Eilat."], {"Dan", "Tom"}),
        (["My brother lives in Haifa.", "My brother Tom lives in Eilat."], {"Tom"}),
        (
            [
                "My brother lives in Haifa.",
                "My brother Tom is in Rome. My brother Dan is in Eilat.",
            ],
            {"My brother", "Tom", "Dan"},
        ),
    ],
)
def test_one_manager_may_follow_another_and_brothers_are_not_one_man(me, said, expected):
    for each in said:
        talk(me, each)
    assert people(me) == expected


def whole(me):
    return people(me), relations(me), {node.name for node in me.entities(limit=100).nodes}


@pytest.fixture
def two_talks(me, clock):
    """The same woman under two names, in two talks; and what is known of her, once merged."""
    me.observe("My friend Sarah Chen works at Acme.", thread="first")
    clock.tick(days=1)
    me.observe("Sara Kohn lives in Haifa. Sara Kohn has a dog called Rex.", thread="second")
    me.extract()
    apart = whole(me)
    keeper, other = me.node("Sarah Chen").node.id, me.node("Sara Kohn").node.id
    me.merge([keeper, other])
    return keeper, other, apart, whole(me)


def extract_source_again(me):
    for source in me.sources().sources:
        me.extract([source.id])


def go_on_talking(me):
    for thread in ("first", "second"):
        me.observe(f"Good morning, it is now {me.revision}.", thread=thread)
    assert me.extract().sources == 2


@pytest.mark.parametrize("read_again", [extract_source_again, go_on_talking])
def test_what_was_merged_stays_merged_and_whole_when_its_sources_are_read_again(
    me, two_talks, read_again
):
    keeper, other, apart, merged = two_talks
    read_again(me)
    assert whole(me) == merged
    assert me.node(other).node.id == keeper
    me.split(other)
    assert whole(me) == apart
    read_again(me)
    assert whole(me) == apart


def test_what_a_talk_says_later_of_a_merged_node_is_known_of_the_one_that_speaks_for_it(
    me, two_talks
):
    other = two_talks[1]
    me.observe("Sara Kohn works at Globex.", thread="second")
    me.extract()
    assert people(me) == {"Sarah Chen"}
    assert ("Sarah Chen", "works-at", "Globex") in relations(me)
    me.split(other)
    assert ("Sara Kohn", "works-at", "Globex") in relations(me)
    assert ("Sarah Chen", "works-at", "Globex") not in relations(me)
