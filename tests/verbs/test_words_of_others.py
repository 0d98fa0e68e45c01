"""What another user brought answers no question about the reader, by any verb."""

from __future__ import annotations

import pytest

ABOUT_GIL = (
    "Gil lives in Berlin. Gil works at Acme. The user's wife is Petra. "
    "The user is allergic to nuts. Sarah Chen works at Globex."
)
QUESTIONS = ("where do I live?", "where do I work?", "who is my wife?", "what am I allergic to?")


@pytest.fixture
def dan(book):
    return book.user("dan")


@pytest.fixture
def gil(book):
    return book.user("gil")


@pytest.fixture
def team(dan, gil):
    made = dan.teams_create("garden").id
    dan.teams_invite(made, "gil")
    gil.teams_join(made)
    return made


def test_explore_leaves_sources_of_others_out_of_answers_about_the_asker(dan, gil):
    source = dan.ingest("I live in Haifa, near the harbour.").id
    dan.sources_share(source, "gil")
    gil.sources_accept(source)
    assert gil.explore("where do I live?").episodic.sources == ()
    (hit,) = gil.explore("harbour of Haifa").episodic.sources
    assert (hit.entity_key, hit.brought_by) == (source, "dan")
    (own,) = dan.explore("where do I live?").episodic.sources
    assert (own.entity_key, own.brought_by) == (source, None)


def test_extract_of_anothers_source_makes_nothing_about_the_reader(dan, gil, team):
    dan.ingest(ABOUT_GIL, team=team)
    assert gil.extract().sources == 1
    for question in QUESTIONS:
        assert gil.recall(question).hits == (), question
        found = gil.explore(question)
        assert found.episodic.sources == (), question
        assert not any(name in str(found.semantic) for name in ("Berlin", "Acme", "wife", "nuts"))
    assert gil.list().memories == ()
    (edge,) = gil.edges().edges
    assert {edge.from_name, edge.to_name} == {"Sarah Chen", "Globex"}
    assert "Berlin" not in {node.name for node in gil.entities().nodes}


def test_extract_of_anothers_source_keeps_what_the_reader_says_in_it_as_hearsay(dan, gil, team):
    talk = "Gil: I live in Paris.\nDan: I live in Rome."
    dan.ingest(talk, format="transcript", team=team)
    gil.extract()
    learned = {memory.content for memory in gil.list().memories}
    assert learned == {"Gil lives in Paris.", "Dan lives in Rome."}


def test_extract_of_anothers_source_leaves_the_readers_own_words_alone(dan, gil, team):
    gil.remember("I live in Lisbon")
    dan.ingest(ABOUT_GIL, team=team)
    gil.extract()
    assert "Lisbon" in gil.recall("where do I live?").hits[0].text
    assert not any("Berlin" in hit.text for hit in gil.recall("where do I live?").hits)


def test_extract_of_own_team_source_still_learns_about_the_reader(gil, team):
    gil.ingest("I live in Lisbon and work at Acme.", team=team, source_type="voice-memo")
    gil.extract()
    assert any("Lisbon" in hit.text for hit in gil.recall("where do I live?").hits)
