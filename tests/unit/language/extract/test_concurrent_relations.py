"""Two jobs or homes that one passage tells of: held at once, or one after the other."""

from __future__ import annotations

import pytest

from tests.support.reading_relations import read


def held(said: str) -> dict[str, str | None]:
    """Until when, by the other end."""
    found = read(said)
    return {
        found.nodes[edge.b].name: edge.valid_to.date().isoformat() if edge.valid_to else None
        for edge in found.edges
        if edge.type in ("works-at", "lives-in", "reports-to")
    }


@pytest.mark.parametrize(
    "said",
    [
        "I work at Acme and I teach at Globex.",
        "I work at Acme and I've been teaching at Globex since 2019.",
        "I work at Acme. I also teach at Globex.",
        "I work at Acme. I teach at Globex as well.",
        "I work at Acme. I teach at Globex part-time.",
    ],
)
def test_relation_validity_keeps_concurrent_jobs_open(said: str) -> None:
    assert held(said) == {"Acme": None, "Globex": None}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I live in Haifa. Then I moved to Berlin.", {"Haifa": "2026-03-18", "Berlin": None}),
        ("I live in Haifa and then moved to Berlin.", {"Haifa": "2026-03-18", "Berlin": None}),
        ("I work at Acme. I work at Globex.", {"Acme": "2026-03-18", "Globex": None}),
        (
            "I joined Acme in 2015 and joined Globex in 2020.",
            {"Acme": "2020-01-01", "Globex": None},
        ),
        (
            "I work at Acme. I'm joining Globex on 1 April.",
            {"Acme": "2026-04-01", "Globex": None},
        ),
    ],
)
def test_relation_validity_ends_a_job_or_home_at_its_successor(
    said: str, expected: dict[str, str | None]
) -> None:
    assert held(said) == expected


def test_relation_validity_is_independent_across_subjects() -> None:
    assert held("I work at Acme. Noa works at Globex.") == {"Acme": None, "Globex": None}


def test_relation_validity_holds_two_managers_at_once() -> None:
    assert held("I report to Dana and Omer.") == {"Dana": None, "Omer": None}
