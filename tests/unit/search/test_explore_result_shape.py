"""The answer of explore has the contract's shape, whatever the granularity."""

from dataclasses import fields, is_dataclass

import pytest

from commonplace.engine.graph_search import explore_result
from commonplace.engine.graph_search.explore import explore_snapshot
from commonplace.engine.graph_search.explore_candidates import ExploreInput
from commonplace.engine.graph_search.explore_request import read_explore_request
from commonplace.engine.graph_search.graph_view import GraphView
from commonplace.model.graph.types import NodeType
from commonplace.operations.serialization import as_data
from support.clock import START
from support.pictures import a_node, a_note, a_picture, a_source, an_artifact, an_edge

# Field by field as the contract lists them; what is ours beyond it stands behind the bar.
SHAPES = {
    "ExploreResult": "meta semantic episodic",
    "Meta": "granularity query_used",
    "Semantic": "people concepts entities relationships | neighbors",
    "Episodic": "sources storylines macros artifacts",
    "SemanticNodeHit": "entity_key node_type name description notes_snippets salience state "
    "last_accessed_at | suspicious explanation",
    "RelationshipHit": "from_entity_key to_entity_key relationship_kind relationship_type "
    "description attitude proximity notes_snippets salience state | "
    "entity_key suspicious explanation",
    "SourceHit": "entity_key summary context_type source_type started_at ended_at relevance_score "
    "mentioned_nodes storyline_refs macro_refs | brought_by suspicious explanation",
    "NodeSummary": "entity_key node_type name description",
    "StorylineRef": "storyline_id name",
    "MacroRef": "macro_id name",
    "StorylineHit": "storyline_id name description relevance_score source_count started_at "
    "last_source_at anchor top_people top_entities top_concepts preview_sources "
    "| suspicious explanation",
    "TopNode": "entity_key name description",
    "TopEntity": "entity_key name type description",
    "SourcePreview": "entity_key summary started_at context_type",
    "MacroHit": "macro_id name description relevance_score storyline_count total_source_count "
    "started_at last_event_at anchor storylines | suspicious explanation",
    "ChildStoryline": "storyline_id name one_liner source_count started_at last_source_at",
    "ArtifactHit": "entity_key name description content_type created_at related_nodes "
    "| suspicious explanation",
    "ResultRelatedNode": "entity_key node_type name",
}


OF_EXPLANATIONS = {"Explanation", "ExploreMatch", "ScoreParts"}  # of our own, not the contract's


@pytest.mark.parametrize("name", SHAPES)
def test_explore_answer_part_has_the_contract_fields(name):
    kind = getattr(explore_result, name)
    assert {field.name for field in fields(kind)} == set(SHAPES[name].split()) - {"|"}


def test_explore_answer_shapes_cover_every_dataclass():
    defined = {
        name
        for name, kind in vars(explore_result).items()
        if is_dataclass(kind) and kind.__module__ == explore_result.__name__
    }
    assert defined - OF_EXPLANATIONS == SHAPES.keys()


def a_small_world():
    ben, tea = a_node("Ben"), a_node("Tea", NodeType.CONCEPT)
    acme = a_node("Acme", NodeType.ENTITY, subtype="organization", description="A firm.")
    talk = a_source("talk", keywords=("ben",))
    friend = an_edge(ben, acme, "works-at", attitude=4, proximity=5)
    return GraphView(
        a_picture(
            [ben, tea, acme],
            [friend],
            sources=[talk],
            mentions=[(talk, ben), (talk, acme)],
            artifacts=[an_artifact("Letter to Ben", talk)],
            notes=[a_note(ben, "Likes long walks."), a_note(friend, "Since the spring.")],
        )
    )


def asked_about_ben(granularity=1):
    asked = read_explore_request(granularity=granularity, text_matches=["Ben"])
    return as_data(explore_snapshot(a_small_world(), asked, ExploreInput(), START))


def test_explore_answer_values_have_the_contract_types():
    told = asked_about_ben()
    (person,) = told["semantic"]["people"]
    assert person == {
        "entity_key": "node:ben",
        "node_type": "Person",
        "name": "Ben",
        "description": "",
        "notes_snippets": ["Likes long walks."],
        "salience": 0.5,
        "state": "candidate",
        "last_accessed_at": None,
        "suspicious": False,
        "explanation": None,
    }
    (works,) = told["semantic"]["relationships"]
    assert (works["from_entity_key"], works["to_entity_key"]) == ("node:ben", "node:acme")
    assert (works["relationship_kind"], works["relationship_type"]) == (
        "associated_with",
        "works-at",
    )
    assert (works["attitude"], works["proximity"]) == (4, 5)
    assert works["notes_snippets"] == ["Since the spring."]
    (source,) = told["episodic"]["sources"]
    assert source["started_at"] == START.isoformat()
    assert 0 < source["relevance_score"] <= 1
    assert {node["name"] for node in source["mentioned_nodes"]} == {"Ben", "Acme"}
    (letter,) = told["episodic"]["artifacts"]
    assert letter["content_type"] == "md_file"
    assert {node["name"] for node in letter["related_nodes"]} == {"Ben", "Acme"}
    assert told["meta"] == {"granularity": 1, "query_used": ["Ben"]}


@pytest.mark.parametrize("granularity", [1, 2, 3])
def test_explore_answer_shape_is_independent_of_granularity(granularity):
    told = asked_about_ben(granularity)
    assert told["meta"]["granularity"] == granularity
    assert told["semantic"].keys() == asked_about_ben()["semantic"].keys()
    assert told["episodic"].keys() == asked_about_ben()["episodic"].keys()
    assert len(told["episodic"]["sources"]) == (1 if granularity == 1 else 0)
    assert told["episodic"]["storylines"] == told["episodic"]["macros"] == []


def test_explore_neighbors_summarise_the_other_end_of_an_edge():
    (acme,) = asked_about_ben()["semantic"]["neighbors"]
    assert acme == {
        "entity_key": "node:acme",
        "node_type": "Entity",
        "name": "Acme",
        "description": "A firm.",
    }


def test_explore_hit_ids_list_every_hit():
    found = explore_snapshot(
        a_small_world(),
        read_explore_request(granularity=1, text_matches=["Ben"]),
        ExploreInput(),
        START,
    )
    assert {id for ids in explore_result.hit_ids(found) for id in ids} == {
        "node:ben",
        "edge:ben-works-at-acme",
        "source:talk",
        "artifact:letter-to-ben",
    }
