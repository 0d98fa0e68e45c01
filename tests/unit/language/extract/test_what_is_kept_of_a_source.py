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


def test_a_place_in_passing_is_no_node() -> None:
    assert names(read("The weather in Chicago is nice.")) == set()
    assert names(read("I drove through Chicago.", "Chicago was windy.")) == set()


@pytest.mark.parametrize("said", ["I'm flying to Chicago on Monday.", "Noa lives in Chicago."])
def test_a_place_with_plans_or_people_is_one(said: str) -> None:
    assert "Chicago" in names(read(said))


def test_somebody_who_is_only_named_is_no_node() -> None:
    assert names(read("Thanks to Dana.")) == set()


@pytest.mark.parametrize("said", ["Dana is my manager.", "Dana is a bit shy with strangers."])
def test_somebody_of_whom_something_is_told_is_one(said: str) -> None:
    assert names(read(said)) == {"Dana"}


def test_somebody_who_is_spoken_of_again_is_one() -> None:
    assert names(read("Thanks to Dana.", "Ask Dana.")) == {"Dana"}


def test_whoever_takes_part_is_one() -> None:
    assert names(read(AttributedPassage(number=0, text="Hello all.", at=AT, speaker="Dana"))) == {
        "Dana"
    }


def test_the_owner_is_always_the_first() -> None:
    found = read("Nothing of note.")
    assert [node.is_owner for node in found.nodes] == [True]


def test_what_is_not_sure_enough_is_not_kept() -> None:
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
def test_nothing_comes_from_machines_or_suspicious_passages(said: AttributedPassage) -> None:
    found = read(said)
    assert (names(found), found.edges, found.notes, found.candidates) == (set(), (), (), ())


def test_recalled_text_is_not_told_again() -> None:
    found = read("## Recalled for this question\n- [relationships] Dana is my manager.")
    assert (names(found), found.edges, found.candidates) == (set(), (), ())


def test_what_is_not_to_be_kept_is_not() -> None:
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
def test_what_no_edge_holds_is_noted(said: str, wanted: str, lifetime: NoteLifetime) -> None:
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
def test_what_is_told_asked_or_supposed_is_not_noted(said: str) -> None:
    assert read(said).notes == ()


def test_a_source_leaves_few_notes_on_one_node() -> None:
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
def test_whatever_is_said_the_parts_fit_together(words: list[str], type: SourceType) -> None:
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
