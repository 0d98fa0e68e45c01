"""The words for edges, how present a thing is, and which notes are shown: as the contract says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.graph.assertion import Note, NoteLifetime, note_expiry, note_snippets
from commonplace.model.graph.elements import Edge
from commonplace.model.graph.salience import (
    AccessStats,
    SalienceState,
    add_access,
    salience_at,
    salience_state,
)
from commonplace.model.graph.types import (
    EdgeKind,
    NodeType,
    attitude_word,
    edge_kind_between,
    proximity_word,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
P, C, E = NodeType.PERSON, NodeType.CONCEPT, NodeType.ENTITY

# ends · kind · attitude 1 … 5 · proximity 1 … 5
WORDS = """
Person Person has_relationship_with hostile unfriendly neutral friendly close \
 stranger acquaintance familiar known-well intimate-knowledge
Person Concept engages_with dislikes skeptical neutral interested passionate \
 unfamiliar aware understands experienced expert
Person Entity associated_with negative-view unfavorable neutral favorable strongly-positive \
 distant aware-of familiar-with involved-with deeply-connected
Concept Concept relates_to contradicts conflicts independent complementary integral \
 loosely-related somewhat-related related closely-related inseparable
Concept Entity involves peripheral minor relevant important central \
 tangential mentioned involved key-component essential
Entity Entity connected_to adversarial competing independent cooperative integrated \
 distantly-connected indirectly-connected connected closely-linked tightly-coupled
"""


@pytest.mark.parametrize("row", [line.split() for line in WORDS.strip().splitlines()])
def test_edge_kind_and_words_follow_the_node_types(row):
    one, other, kind, *words = row
    assert edge_kind_between(NodeType(one), NodeType(other)) == kind
    assert edge_kind_between(NodeType(other), NodeType(one)) == kind
    assert [attitude_word(EdgeKind(kind), n) for n in range(1, 6)] == words[:5]
    assert [proximity_word(EdgeKind(kind), n) for n in range(1, 6)] == words[5:]


def test_edge_search_text_joins_description_type_words_and_cut_notes():
    edge = Edge(
        id="edge:1",
        user_id="ana",
        a="node:1",
        b="node:2",
        kind=EdgeKind.HAS_RELATIONSHIP_WITH,
        type="friend",
        description="They met at school.",
        attitude=5,
        proximity=4,
        valid_from=NOW,
        recorded_at=NOW,
        recorded_by="user:ana",
        created_at=NOW,
        updated_at=NOW,
    )
    text = edge.search_text("x" * 2000)
    assert text == "They met at school. friend close known-well " + "x" * 1000


@pytest.mark.parametrize(
    ("lifetime", "days"),
    [
        (NoteLifetime.WEEK, 7),
        (NoteLifetime.MONTH, 30),
        (NoteLifetime.YEAR, 365),
        (NoteLifetime.FOREVER, None),
    ],
)
def test_note_lifetime_sets_the_expiry(lifetime, days):
    ends = note_expiry(lifetime, NOW)
    assert ends == (None if days is None else NOW + timedelta(days=days))
    note = Note(
        id="note:1", about="node:1", content="x", added_by="a", date_added=NOW, expires_at=ends
    )
    assert note.is_live(NOW + timedelta(days=(days or 40_000) - 1))
    assert days is None or not note.is_live(NOW + timedelta(days=days))


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 900)), max_size=30))
def test_note_snippets_are_the_ten_newest_live_notes_shortened(made):
    notes = [
        Note(
            id=f"note:{n}",
            about="node:1",
            content=f"{n:03}" + "x" * length,
            added_by="a",
            date_added=NOW - timedelta(days=days),
            expires_at=note_expiry(NoteLifetime.MONTH, NOW - timedelta(days=days)),
        )
        for n, (days, length) in enumerate(made)
    ]
    shown = note_snippets(notes, NOW)
    assert len(shown) <= 10
    assert all(len(each) <= 500 for each in shown)
    assert sum(map(len, shown)) <= 5000
    live = sorted((n for n in notes if n.is_live(NOW)), key=lambda n: n.date_added, reverse=True)
    assert [text[:3] for text in shown] == [note.content[:3] for note in live[:10]]


def test_salience_rises_on_access_and_decays_over_time():
    marks = add_access(AccessStats(), 0.5, NOW, is_top=True)
    assert marks.salience == pytest.approx(0.6)
    assert add_access(AccessStats(), 0.5, NOW, is_top=False).salience == pytest.approx(0.55)
    later = NOW + timedelta(days=10)
    rate = 0.02 / (1 + 1**1.0)
    assert salience_at(marks, NOW, later) == pytest.approx(0.6 * exp(-rate * 10))


def test_salience_decay_before_the_first_access_depends_on_confidence():
    later = NOW + timedelta(days=10)
    assert salience_at(AccessStats(), NOW, later, confidence=0.8) == 0.5
    faster = 0.02 * (1 + (1 - 0.5) * 2)
    assert salience_at(AccessStats(), NOW, later, confidence=0.5) == pytest.approx(
        0.5 * exp(-faster * 10)
    )
    assert salience_at(AccessStats(), NOW, later) == pytest.approx(0.5 * exp(-0.02 * 10))
    assert salience_at(AccessStats(), NOW, later, keep_forever=True) == 1.0


def test_salience_decay_gradient_follows_the_recall_intervals():
    marks, at = AccessStats(), NOW
    for days in (0, 1, 3):
        at += timedelta(days=days)
        marks = add_access(marks, marks.salience, at, is_top=False)
    assert marks.decay_gradient == pytest.approx(1.1)
    assert marks.last_recall_interval == 3
    marks = add_access(marks, marks.salience, at + timedelta(days=1), is_top=False)
    assert marks.decay_gradient == pytest.approx(1.05)


@given(st.lists(st.integers(0, 400), max_size=40), st.floats(0, 1))
def test_salience_stays_between_zero_and_one(gaps, confidence):
    marks, at = AccessStats(), NOW
    for days in gaps:
        at += timedelta(days=days)
        now = salience_at(marks, NOW, at, confidence=confidence)
        assert 0 <= now <= 1
        marks = add_access(marks, now, at, is_top=days % 2 == 0)
        assert 0 <= marks.salience <= 1
        assert marks.decay_gradient >= 0.5


@pytest.mark.parametrize(
    ("readings", "salience", "expected"),
    [
        (0, 0.5, SalienceState.CANDIDATE),
        (1, 0.5, SalienceState.ACTIVE),
        (9, 0.5, SalienceState.ACTIVE),
        (10, 0.5, SalienceState.CORE),
        (10, 0.009, SalienceState.ARCHIVED),
        (0, 0.009, SalienceState.ARCHIVED),
    ],
)
def test_salience_state_follows_access_count_and_salience(readings, salience, expected):
    assert salience_state(AccessStats(access_count=readings), salience) is expected
    assert salience_state(AccessStats(), 1.0, keep_forever=True) is SalienceState.CORE
