"""Which nodes are kept, by the rules of when to create one; notes on them; what always holds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.language.extract.extract import extract_from_nodes
from commonplace.language.extract.facts.descriptions import MAX_NOTES_PER_NODE
from commonplace.language.extract.values import MIN_CONFIDENCE, AttributedPassage, SourceExtraction
from commonplace.model.graph.assertion import NoteLifetime
from commonplace.model.sources.source import SourceType
from tests.support.reading_relations import as_words, read
from tests.support.spotting import AT, OWNER, PEOPLE, THINGS, account, spotted


def names(found: SourceExtraction) -> set[str]:
    return {node.name for node in found.nodes if not node.is_owner}


# ——— when to create ———


def test_extraction_drops_places_mentioned_in_passing() -> None:
    assert names(read("The weather in Chicago is nice.")) == set()
    assert names(read("I drove through Chicago.", "Chicago was windy.")) == set()


@pytest.mark.parametrize("said", ["I'm flying to Chicago on Monday.", "Noa lives in Chicago."])
def test_extraction_keeps_places_tied_to_plans_or_people(said: str) -> None:
    assert "Chicago" in names(read(said))


def test_extraction_drops_a_person_mentioned_once_without_content() -> None:
    assert names(read("Thanks to Dana.")) == set()


@pytest.mark.parametrize("said", ["Dana is my manager.", "Dana is a bit shy with strangers."])
def test_extraction_keeps_a_person_with_a_relation_or_description(said: str) -> None:
    assert names(read(said)) == {"Dana"}


def test_extraction_keeps_a_person_mentioned_repeatedly() -> None:
    assert names(read("Thanks to Dana.", "Ask Dana.")) == {"Dana"}


def test_extraction_keeps_every_speaker() -> None:
    assert names(read(AttributedPassage(number=0, text="Hello all.", at=AT, speaker="Dana"))) == {
        "Dana"
    }


def test_extraction_always_contains_the_owner_node() -> None:
    found = read("Nothing of note.")
    assert [node.is_owner for node in found.nodes] == [True]


def test_extraction_drops_nodes_below_minimum_confidence() -> None:
    source = account("Dana is my manager.")
    unsure = spotted(source)
    owner, dana = unsure.nodes
    nodes = (owner, type(dana)(type=dana.type, name=dana.name, confidence=0.6))
    found = extract_from_nodes(source, type(unsure)(nodes=nodes, spans=unsure.spans))
    assert (names(found), found.edges) == (set(), ())


# ——— who is not believed ———


@pytest.mark.parametrize(
    "said",
    [
        AttributedPassage(
            number=0, text="Dana is my manager.", at=AT, speaker="bot", by_machine=True
        ),
        AttributedPassage(
            number=0, text="Dana is my manager.", at=AT, speaker="Maya", suspicious=True
        ),
    ],
)
def test_extraction_ignores_machine_and_suspicious_passages(said: AttributedPassage) -> None:
    found = read(said)
    assert (names(found), found.edges, found.notes, found.candidates) == (set(), (), (), ())


def test_extraction_ignores_recalled_text() -> None:
    found = read("## Recalled for this question\n- [relationships] Dana is my manager.")
    assert (names(found), found.edges, found.candidates) == (set(), (), ())


def test_extraction_ignores_opted_out_statements() -> None:
    found = read("Dana is my manager, but don't save that.")
    assert (found.edges, found.candidates) == ((), ())


# ——— notes ———


@pytest.mark.parametrize(
    ("said", "wanted", "lifetime"),
    [
        ("Dana is leading a workshop.", "Dana is leading a workshop.", NoteLifetime.MONTH),
        ("Dana has an exam tomorrow.", "Dana has an exam on 2026-03-19.", NoteLifetime.WEEK),
        ("Dana quit on Monday, alas.", "Dana quit on Monday 2026-03-16, alas.", NoteLifetime.WEEK),
        ("Dana is vegetarian and proud.", "Dana is vegetarian and proud.", NoteLifetime.YEAR),
        ("Dana is allergic to nuts.", "Dana is allergic to nuts.", NoteLifetime.FOREVER),
        ("Noa called. She has a new puppy.", "Noa has a new puppy.", NoteLifetime.MONTH),
        ("The caterer is Globex.", "The caterer is Globex.", NoteLifetime.MONTH),
    ],
)
def test_note_extraction_keeps_statements_without_an_edge_with_a_lifetime(
    said: str, wanted: str, lifetime: NoteLifetime
) -> None:
    (note,) = read(said).notes
    assert (note.content, note.lifetime) == (wanted, lifetime)


@pytest.mark.parametrize(
    "said",
    [
        "Dana works at Acme.",  # an edge holds it
        "Is Dana leading a workshop?",
        "Dana might be leading a workshop.",
        "Dana said so.",
        "Acme called. It was such a long and rainy day.",
        "Dana, can you lead the workshop tomorrow?",
    ],
)
def test_note_extraction_skips_edges_questions_and_conjectures(said: str) -> None:
    assert read(said).notes == ()


def test_note_extraction_limits_notes_per_node() -> None:
    found = read(*(f"Dana has {number} new books in her bag." for number in range(10)))
    assert len(found.notes) == MAX_NOTES_PER_NODE


# ——— what holds whatever is said ———

_SMALL = """I my sister manager is and at works lives in left joined loves she he it not if don't
    might worried about prefer to the , . ? ; ' " ( ) אחותי שלי גר עובד ב היא"""
_WORDS = st.sampled_from(
    [*PEOPLE.split(), *_SMALL.split(), *(name for names in THINGS.values() for name in names)]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_WORDS, max_size=40), st.sampled_from(SourceType))
def test_extraction_result_is_consistent_for_random_words(
    words: list[str], type: SourceType
) -> None:
    source = account(" ".join(words), source_type=type)
    found = extract_from_nodes(source, spotted(source))
    for edge in found.edges:
        assert edge.a != edge.b
        assert max(edge.a, edge.b) < len(found.nodes)
        assert MIN_CONFIDENCE <= edge.confidence <= 1
        assert edge.attitude in (None, 1, 2, 3, 4, 5)
        assert edge.proximity in (None, 1, 2, 3, 4, 5)
        assert len(edge.description) <= 280
        assert as_words(found, edge)
    assert all(place < len(found.nodes) for note in found.notes for place in note.about)
    assert all(node.confidence >= MIN_CONFIDENCE for node in found.nodes)
    assert found.nodes[0].name == OWNER.name
