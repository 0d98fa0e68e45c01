"""Every reading query that the seed documents write works as it is written there."""

import re
from dataclasses import replace

import pytest

from commonplace.errors import BadCypher
from commonplace.model.graph.elements import Mentioned
from commonplace.model.graph.salience import AccessStats
from commonplace.model.memory.kinds import TtlPolicy
from support.small_graph import (
    ALICE,
    NOW,
    TEAM,
    WORK,
    days_ago,
    graph_with_stories,
    small_graph,
)

ACCESS = """
// Users can access Sources where they are participants OR it's their team
MATCH (s:Source)
WHERE s.user_id = $userId                // Created by them
  OR $userId IN s.participants           // They participated
  OR s.team_id IN $userTeamIds           // Team-scoped and they're members
RETURN s
"""
GIRL = (
    "MATCH (u:Person {is_owner: true})-[r:has_relationship_with]-(p:Person) "
    "WHERE p.name CONTAINS 'girl' RETURN p, r"
)
CONCEPTS = """
  MATCH (c:Concept)
  WHERE c.user_id = $userId
  RETURN c
"""
TEAM_SOURCES = """
  MATCH (s:Source)
  WHERE s.team_id IN $teamIds
    OR s.user_id = $userId
    OR $userId IN s.participants
  RETURN s
"""
ACROSS_TEAMS = """
// User can access Sources from any of their teams
MATCH (s:Source)
WHERE s.team_id IN $userTeamIds
RETURN s
"""
ENTITIES = """
// Find all semantic entities for user (all are user-scoped)
MATCH (e:Entity {user_id: $userId})
RETURN e
"""
CONTRIBUTIONS = """
// Find all notes added by user (in their own graph)
MATCH (n)
WHERE n.user_id = $userId
UNWIND n.notes AS note
WITH n, note
WHERE note.added_by = $userId
RETURN n.name, note.content, note.date_added
"""


def keys(rows):
    return {row[0]["entity_key"] for row in rows}


def test_seed_query_returns_sources_readable_by_a_user(ask):
    rows = ask(ACCESS, userId=ALICE, userTeamIds=[TEAM])
    assert keys(rows) == {"source:meeting", "source:memo"}


def test_seed_query_finds_an_acquaintance_by_part_of_the_name(ask):
    [(person, relationship)] = ask(GIRL)
    assert person["name"] == "the girl from the gym"
    assert relationship["_label"] == "has_relationship_with"
    assert relationship["relationship_type"] == "acquaintance"


def test_seed_query_returns_concepts_of_one_user(ask):
    assert keys(ask(CONCEPTS, userId=ALICE)) == {"node:async", "node:remote"}
    assert ask(CONCEPTS, userId="somebody-else") == []


def test_seed_query_returns_own_and_team_sources(ask):
    rows = ask(TEAM_SOURCES, userId=ALICE, teamIds=[TEAM])
    assert keys(rows) == {"source:meeting", "source:memo"}


def test_seed_query_returns_sources_across_teams(ask):
    assert keys(ask(ACROSS_TEAMS, userTeamIds=[TEAM, "team-002"])) == {
        "source:meeting",
        "source:theirs",
    }
    assert ask(ACROSS_TEAMS, userTeamIds=[]) == []


def test_seed_query_returns_entities_of_one_user(ask):
    assert keys(ask(ENTITIES, userId=ALICE)) == {"node:google", "node:chicago"}


def test_seed_query_returns_live_notes_with_author_and_date(ask):
    """Only live notes; each with the day on which it was added."""
    rows = ask(CONTRIBUTIONS, userId=ALICE)
    assert {row[:2] for row in rows} == {
        ("Sarah", "Worked at Google from 2019 to 2021"),
        ("Sarah", "Likes 'tea', \"coffee\" and\nwalks"),
    }
    assert {row[2] for row in rows} == {"2026-02-24T09:00:00Z", "2026-02-20T09:00:00Z"}


def test_seed_query_finds_nodes_by_label_user_and_name(ask):
    """The template of the seed's repositories: a label, user_id, and any filters."""
    template = "MATCH (n:{}) WHERE n.user_id = $userId AND n.name = $name RETURN n"
    for label, name in (("Person", "Bob"), ("Concept", "remote work"), ("Entity", "Google")):
        [(found,)] = ask(template.format(label), userId=ALICE, name=name)
        assert found["_label"] == label


def test_seed_query_filters_sources_by_source_type(ask):
    rows = ask(
        """
        MATCH (s:Source)
        WHERE (s.team_id IN $teamIds OR s.user_id = $userId OR $userId IN s.participants)
        AND s.source_type = $source_type
        RETURN s
        """,
        teamIds=[],
        userId=ALICE,
        source_type="voice-memo",
    )
    assert keys(rows) == {"source:memo"}


def test_seed_query_filters_relationships_that_hold_now(ask):
    rows = ask(
        "MATCH (:Person {is_owner: true})-[r:associated_with]-(:Entity {name: 'Google'}) "
        "WHERE r.valid_to IS NULL RETURN r.description"
    )
    assert rows == [("User declined job offer",)]


@pytest.mark.parametrize(
    ("date", "told"),
    [
        ("2026-01-05T00:00:00Z", ["User accepted job offer"]),
        ("2026-01-20", ["User declined job offer"]),
        ("2025-12-31", []),
    ],
)
def test_seed_query_filters_relationships_that_held_on_a_date(ask, date, told):
    """ "What did the user think about Google in January?" """
    rows = ask(
        "MATCH (:Person {is_owner: true})-[r]-(:Entity {name: 'Google'}) "
        "WHERE r.valid_from <= $date AND (r.valid_to IS NULL OR r.valid_to > $date) "
        "RETURN r.description",
        date=date,
    )
    assert [row[0] for row in rows] == told


def test_seed_query_counts_relationships_of_one_user(ask):
    query = "MATCH (a)-[rel]->(b) WHERE rel.user_id = $userId RETURN count(*)"
    assert ask(query, userId=ALICE) == [(9,)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "MATCH (s:Storyline)-[:about]->(a) RETURN s.name, a.name",
            ("Google – storyline", "Google"),
        ),
        (
            "MATCH (s:Storyline)-[:includes]->(o:Source) RETURN s.storyline_id, collect(o.name)",
            ("storyline:offer", ["Source memo", "Source meeting"]),
        ),
        (
            "MATCH (m:Macro)-[:rooted_in]->(a) RETURN m.macro_id, a.name",
            ("macro:work", "remote work"),
        ),
        ("MATCH (m:Macro)-[:groups]->(s:Storyline) RETURN m.name, s.source_count", (WORK.name, 2)),
        (
            "MATCH (s:Storyline) RETURN s.state, s.salience > 0.4, s.closed_at, s.is_dirty",
            ("candidate", True, None, True),
        ),
        ("MATCH (m:Macro) RETURN m.state, m.salience, m.storyline_count", ("core", 1.0, 1)),
        (
            "MATCH (n {has_meso: true}), (m {has_macro: true}) RETURN n.name, m.name",
            ("Google", "remote work"),
        ),
    ],
)
def test_seed_query_reads_storylines_and_macros(engine, query, expected):
    assert list(engine.run("stories", graph_with_stories, NOW, query).rows) == [expected]


def test_seed_query_reads_storylines_and_macros_of_a_user(engine):
    found = engine.run(
        "stories",
        graph_with_stories,
        NOW,
        "MATCH (n:Storyline|Macro) WHERE (n.team_id IS NULL AND n.user_id = $userId) "
        "OR n.team_id IN $userTeams RETURN n.entity_key ORDER BY n.entity_key",
        {"userId": ALICE, "userTeams": [TEAM]},
    )
    assert list(found.rows) == [("macro:work",), ("storyline:offer",)]


def test_seed_query_on_storylines_of_a_graph_without_any_returns_no_rows(ask):
    assert ask("MATCH (s:Storyline|Macro) RETURN s") == []


def test_seed_query_finds_people_mentioned_in_the_last_week(ask):
    """The seed's example for the Cypher mode."""
    rows = ask(
        "MATCH (s:Source)-[:mentions]->(p:Person) "
        "WHERE s.started_at > datetime() - duration('P7D') RETURN DISTINCT p.name"
    )
    assert rows == [("Bob",)]


WRITES = [
    "CREATE CONSTRAINT team_id_unique IF NOT EXISTS FOR (t:Team) REQUIRE (t.team_id) IS UNIQUE;",
    "CREATE (t:Team {team_id: randomUUID(), name: $teamName, created_at: datetime()})",
    "MERGE (p:Person {canonical_name: 'sarah', user_id: 'alice-123'})",
    "(alice:Person {is_owner: true, user_id: 'alice-123'})",
]


@pytest.mark.parametrize("query", WRITES)
def test_seed_write_queries_are_refused(ask, query):
    with pytest.raises(BadCypher):
        ask(query, teamName="x", userId=ALICE, settingsJson="{}")


def test_cypher_schema_has_every_field_of_the_seed(ask):
    """Fields of the seed, label by label: each can be asked for."""
    for label, fields in FIELDS.items():
        asked = ", ".join(f"n.{field}" for field in re.findall(r"\w+", fields))
        ask(f"MATCH (n:{label}) RETURN {asked}")
    for kind in KINDS:
        asked = ", ".join(f"r.{field}" for field in re.findall(r"\w+", EDGE))
        ask(f"MATCH ()-[r:{kind}]->() RETURN {asked}")


def test_cypher_fields_of_the_seed_are_set_except_declared_nulls(engine):
    """Over a graph in which everything has all that it can have."""
    whole = everything_set()
    for label in ("Person", "Concept", "Entity", "Source", "Artifact", "Team"):
        assert nulls(engine, whole, f"(n:{label})", FIELDS[label]) <= {"embedding", "raw_content"}
    for kind in KINDS:
        empty = nulls(engine, whole, f"()-[n:{kind}]->()", EDGE)
        assert empty == set() or empty == {"relation_embedding", "notes_embedding"}
    asked = "MATCH (s:Source) RETURN s.entity_key, s.ttl_policy"
    told = dict(engine.run("whole", lambda: whole, NOW, asked).rows)
    assert told == {each.id: "keep_forever" for each in whole.sources.values()}


def nulls(engine, snapshot, pattern, fields):
    """The fields that are null in all of them; where there are none, nothing is."""
    names = re.findall(r"\w+", fields)
    asked = ", ".join(f"n.{name}" for name in names)
    rows = engine.run("whole", lambda: snapshot, NOW, f"MATCH {pattern} RETURN {asked}").rows
    values = zip(*rows, strict=True) if rows else ()
    return {name for name, told in zip(names, values, strict=False) if not any(map(_is_told, told))}


def _is_told(value):
    return value is not None


def everything_set():
    plain, at = small_graph(), days_ago(3)
    times = dict.fromkeys(("ended_at", *PROCESSING), at)
    mentioned = Mentioned(source_count=1, first_at=at, last_at=at, days=(at.date(),))
    read = AccessStats(touched_at=at, access_count=2, recall_frequency=2, last_recall_interval=1.5)
    return replace(
        plain,
        nodes={id: each.evolve(mentioned=mentioned) for id, each in plain.nodes.items()},
        edges={id: each.evolve(valid_to=days_ago(-1)) for id, each in plain.edges.items()},
        sources={
            id: each.evolve(ttl_policy=TtlPolicy.KEEP_FOREVER, **times)
            for id, each in plain.sources.items()
        },
        marks=dict.fromkeys((*plain.nodes, *plain.edges, *plain.sources), read),
    )


PROCESSING = (
    "processing_started_at",
    "processing_completed_at",
    "extraction_started_at",
    "extraction_completed_at",
)
_NODE = """entity_key user_id created_by name description notes is_dirty embedding confidence
salience
recall_frequency last_recall_interval decay_gradient state ttl_policy access_count last_accessed_at
created_at updated_at source_count first_mentioned_at distinct_source_days distinct_days has_meso
has_macro"""
FIELDS = {
    "Team": "team_id name created_at created_by settings",
    "Person": f"{_NODE} canonical_name is_owner",
    "Concept": _NODE,
    "Entity": f"{_NODE} type",
    "Source": """entity_key user_id team_id raw_content content source_type context_type provenance
    started_at ended_at participants summary keywords tags embedding processing_status
    processing_started_at processing_completed_at extraction_started_at extraction_completed_at
    salience last_accessed_at access_count recall_frequency last_recall_interval decay_gradient
    state sensitivity ttl_policy created_at updated_at""",
    "Artifact": """entity_key user_id name description content sensitivity ttl_policy created_at
    updated_at""",
    "Storyline": """storyline_id user_id team_id anchor_entity_key name description embedding
    is_dirty source_count started_at last_source_at salience state ttl_policy access_count
    recall_frequency created_at updated_at""",
    "Macro": """macro_id user_id team_id anchor_entity_key name description embedding is_dirty
    storyline_count total_source_count started_at last_event_at salience state ttl_policy
    access_count recall_frequency created_at updated_at""",
}
EDGE = """user_id description notes is_dirty attitude proximity relationship_type relation_embedding
notes_embedding state salience recall_frequency last_recall_interval decay_gradient access_count
last_accessed_at recorded_by valid_from valid_to recorded_at confidence created_at updated_at"""
KINDS = (
    "has_relationship_with",
    "engages_with",
    "associated_with",
    "relates_to",
    "involves",
    "connected_to",
)


def test_cypher_salience_and_state_are_computed_at_query_time(engine):
    """They are computed, not stored: a read twelve times is core, and fades day by day."""
    query = "MATCH (p:Person {name: 'Sarah'}) RETURN p.state, p.access_count, p.salience"
    [(state, count, today)] = engine.run("small", small_graph, NOW, query).rows
    later = engine.run("later", small_graph, days_ago(-100), query).rows[0][2]
    assert (state, count) == ("core", 12)
    assert later < today < 0.8
