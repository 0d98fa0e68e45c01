"""A question that names somebody finds them, whatever a model makes of it."""

from datetime import timedelta

import numpy as np
import pytest

from commonplace.engine.graph_search.explore_candidates import (
    EmbeddedItems,
    ExploreInput,
    SourceMatch,
)
from commonplace.engine.graph_search.explore_request import ExploreQuery
from commonplace.language.embedders.embedder import Calibration
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.types import NodeType
from support.clock import START
from support.exploring import explored, nodes_of, sources_of
from support.pictures import a_node, a_picture, a_source


def asked(snapshot, query, **more):
    return explored(snapshot, ExploreInput(queries=(ExploreQuery(query),)), queries=[query], **more)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("who is Dana?", "Dana Levi"),
        ("DANA", "Dana Levi"),
        ("tell me about levi", "Dana Levi"),
        ("Who is Melanye?", "Melanie"),
        ("what happened to Dana's car?", "Dana Levi"),
        ("מי זאת נועה?", "נועה כהן"),
        ("מה סיפרתי לנועה?", "נועה כהן"),
    ],
)
def test_explore_query_finds_people_by_part_of_the_name(query, name):
    person, other = a_node(name), a_node("Ben Carter")
    found = asked(a_picture([person, other]), query, return_explanations=True)
    assert nodes_of(found) == [person.id]
    assert found.semantic.people[0].explanation.matches[0].by == "fuzzy"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("what do I know about northwind?", "Northwind"),
        ("who lives in tel aviv", "Tel Aviv"),
        ("איך היה בתל אביב?", "תל אביב"),
    ],
)
def test_explore_query_finds_things_by_the_whole_name(query, name):
    thing = a_node(name, NodeType.ENTITY)
    found = asked(a_picture([thing]), query, return_explanations=True)
    assert found.semantic.entities[0].explanation.matches[0].similarity == 1.0


@pytest.mark.parametrize(
    ("query", "name", "type"),
    [
        ("how long will it take?", "Will Smith", NodeType.PERSON),
        ("the meeting in may", "May", NodeType.PERSON),
        ("how long is the road?", "The Long Road", NodeType.ENTITY),
        ("which project is late?", "Project Manager", NodeType.PERSON),
        ("של מי זה?", "של", NodeType.ENTITY),
        ("האם זה נכון?", "אם", NodeType.CONCEPT),
    ],
)
def test_explore_query_ignores_names_that_are_ordinary_words(query, name, type):
    assert nodes_of(asked(a_picture([a_node(name, type)]), query)) == []


def test_explore_full_name_excludes_namesakes():
    levi, cohen = a_node("Dana Levi"), a_node("Dana Cohen")
    assert nodes_of(asked(a_picture([levi, cohen]), "who is Dana Levi?")) == [levi.id]
    both = nodes_of(asked(a_picture([levi, cohen]), "who is Dana?"))
    assert sorted(both) == sorted([levi.id, cohen.id])


LENAS = ["Lena Hoffmann's husband", "Lena’s husband", "הבעל של Lena"]


@pytest.mark.parametrize("alias", LENAS)
@pytest.mark.parametrize("by", ["queries", "text_matches"])
def test_explore_descriptive_alias_does_not_match_the_name_inside(alias, by):
    lena, husband = a_node("Lena Hoffmann"), a_node("Jonas", aliases=(alias,))
    assert nodes_of(explored(a_picture([lena, husband]), **{by: ["Lena"]})) == [lena.id]


@pytest.mark.parametrize("alias", LENAS)
def test_explore_descriptive_alias_matches_as_a_whole(alias):
    lena, husband = a_node("Lena Hoffmann"), a_node("Jonas", aliases=(alias,))
    snapshot = a_picture([lena, husband])
    assert nodes_of(asked(snapshot, f"who is {alias}?")) == [husband.id]
    assert husband.id in nodes_of(explored(snapshot, text_matches=[alias]))


def test_explore_text_match_finds_a_thing_by_each_word():
    shop = a_node("Levi's Corner Shop", NodeType.ENTITY)
    assert nodes_of(explored(a_picture([shop]), text_matches=["Levi"])) == [shop.id]


def test_explore_named_node_precedes_similar_nodes():
    """However long ago they were spoken of, and however often the others were read."""
    long_ago = START - timedelta(days=300)
    lena = a_node("Lena Hoffmann", updated_at=long_ago, created_at=long_ago)
    others = [a_node(f"Somebody {n}") for n in range(6)]
    marks = {
        each.id: AccessStats(salience=1.0, access_count=9, touched_at=START) for each in others
    }
    marks[lena.id] = AccessStats(salience=0.05, access_count=1, touched_at=START)
    everybody = [*others, lena]
    vectors = np.ones((len(everybody), 1), dtype=np.float32)
    given = ExploreInput(
        queries=(ExploreQuery("Lena", 0.5),),
        query_vectors=vectors[:1],
        nodes=EmbeddedItems([each.id for each in everybody], vectors),
    )
    found = nodes_of(explored(a_picture(everybody, marks=marks), given, queries=["Lena"]))
    assert found[0] == lena.id
    assert len(found) == 5


def test_explore_matches_names_exactly_among_very_many_people():
    crowd = [a_node(f"Person{n} Other{n}") for n in range(600)]
    dana = a_node("Dana Levi")
    snapshot = a_picture([*crowd, dana])
    assert nodes_of(asked(snapshot, "where is Dana?")) == [dana.id]
    assert nodes_of(asked(snapshot, "where is Dena?")) == []


def test_explore_uncalibrated_script_finds_sources_by_words():
    talk, other = a_source("talk"), a_source("other")
    latin_only = Calibration({"latin": ((0.0, 0.0), (1.0, 1.0))})
    given = ExploreInput(
        queries=(ExploreQuery("חופשה באילת", 0.5),),
        sources=[
            SourceMatch(0, talk.id, cosine=0.1, words=1.0),
            SourceMatch(0, other.id, cosine=0.99, words=0.3),
        ],
        calibration=latin_only,
    )
    found = explored(a_picture(sources=[talk, other]), given, queries=["חופשה באילת"])
    assert sources_of(found) == [talk.id]


def test_explore_source_with_all_query_words_passes_the_threshold():
    talk, other = a_source("talk"), a_source("other")
    given = ExploreInput(
        queries=(ExploreQuery("YC interview", 0.5),),
        sources=[
            SourceMatch(0, talk.id, cosine=0.1, words=1.0),
            SourceMatch(0, other.id, cosine=0.1, words=0.5),
        ],
    )
    found = explored(a_picture(sources=[talk, other]), given, queries=["YC interview"])
    assert sources_of(found) == [talk.id]
