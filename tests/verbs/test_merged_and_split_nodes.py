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
