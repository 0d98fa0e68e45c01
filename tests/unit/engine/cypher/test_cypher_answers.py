"""Queries as people and agents write them for Neo4j, and what they answer over a small graph."""

import pytest

from commonplace.engine.graph_search.cypher.execution.budget import QueryLimits
from commonplace.errors import BadCypher
from commonplace.model.memory.kinds import TtlPolicy
from support.small_graph import ENTITY, NOW, days_ago, node, small_graph

# What is asked for, the query, its parameters, and the rows: in their order where the query orders.
QUERIES = {
    "the owner": ("MATCH (p:Person {is_owner: true}) RETURN p.name", {}, [("Alice",)]),
    "types of relationships": (
        "MATCH (:Person {name: 'Alice'})-[r]->(x) RETURN DISTINCT type(r) AS kind ORDER BY kind",
        {},
        [("associated_with",), ("engages_with",), ("has_relationship_with",)],
    ),
    "the kind is a property, too": (
        "MATCH ()-[r]->() WHERE r.relationship_kind = 'connected_to' RETURN r.relationship_type",
        {},
        [("located-at",)],
    ),
    "labels are a list": (
        "MATCH (n {name: 'Google'}) RETURN labels(n), labels(n)[0], 'Entity' IN labels(n)",
        {},
        [(["Entity"], "Entity", True)],
    ),
    "ids are entity keys": (
        "MATCH (n:Person {name: 'Bob'}) RETURN id(n), elementId(n), n.entity_key",
        {},
        [("node:bob", "node:bob", "node:bob")],
    ),
    "a label as a condition": (
        "MATCH (n) WHERE n:Concept OR n:Team RETURN n.name ORDER BY n.name",
        {},
        [("Crew",), ("async communication",), ("remote work",)],
    ),
    "either of two labels": (
        "MATCH (n:Concept|Artifact) RETURN count(*)",
        {},
        [(3,)],
    ),
    "created within a week": (
        "MATCH (n:Concept) WHERE n.created_at > datetime() - duration('P7D') RETURN n.name",
        {},
        [("async communication",)],
    ),
    "a duration as a map, a moment as a text": (
        "RETURN datetime('2026-03-01T10:00:00+01:00') - duration({hours: 1, days: 1}) AS at",
        {},
        [("2026-02-28T09:00:00+01:00",)],
    ),
    "the clock's time": (
        "RETURN datetime() AS now, date() AS today, datetime().year AS year",
        {},
        [("2026-03-01T09:00:00Z", "2026-03-01", 2026)],
    ),
    "months": (
        "MATCH ()-[r {relationship_type: 'declined'}]->() "
        "RETURN r.valid_from.month, datetime.truncate('month', r.valid_from)",
        {},
        [(1, "2026-01-01T00:00:00Z")],
    ),
    "time between": (
        "MATCH ()-[r]->() WHERE r.valid_to IS NOT NULL "
        "RETURN duration.between(r.valid_from, r.valid_to)",
        {},
        [("P14D",)],
    ),
    "the shortest path": (
        "MATCH (a:Person {name: 'Sarah'}), (b:Entity {name: 'Chicago office'}) "
        "MATCH p = shortestPath((a)-[*..5]-(b)) "
        "RETURN length(p), nodes(p)[0].name, nodes(p)[2].name",
        {},
        [(3, "Sarah", "Google")],
    ),
    "paths of several hops": (
        "MATCH (a:Person {name: 'Bob'})-[:has_relationship_with*1..2]-(b) "
        "RETURN DISTINCT b.name ORDER BY b.name",
        {},
        [("Alice",), ("Sarah",)],
    ),
    "relationships of a path": (
        "MATCH p = (:Person {name: 'Sarah'})-[*1..2]->(:Entity {name: 'Google'}) "
        "RETURN [r IN relationships(p) | r.relationship_type] AS how",
        {},
        [(["colleague", "works-at"],)],
    ),
    "a list filtered and changed": (
        "RETURN [x IN [1, 2, 3, 4] WHERE x % 2 = 0 | x * 10] AS tens, [x IN [3, 1] | -x] AS less",
        {},
        [([20, 40], [-3, -1])],
    ),
    "notes that hold a word": (
        "MATCH (n) WHERE any(note IN n.notes WHERE toLower(note.content) CONTAINS $word) "
        "RETURN n.name",
        {"word": "launch"},
        [("Bob",)],
    ),
    "live notes only, newest first": (
        "MATCH (n:Person {name: 'Sarah'}) RETURN size(n.notes), head(n.notes).content",
        {},
        [(2, "Worked at Google from 2019 to 2021")],
    ),
    "where a note is from": (
        "MATCH (n:Person) UNWIND n.notes AS note WITH note "
        "WHERE note.source_entity_key IS NOT NULL "
        "MATCH (s:Source {entity_key: note.source_entity_key}) RETURN s.summary",
        {},
        [("Planning with the team",)],
    ),
    "notes of an edge": (
        "MATCH (:Person {is_owner: true})-[r]-(:Person {name: 'Sarah'}) "
        "RETURN [x IN r.notes | x.content]",
        {},
        [(["She helped me through a difficult time"],)],
    ),
    "most mentioned": (
        "MATCH (s:Source)-[m:mentions]->(n) RETURN n.name AS name, count(*) AS times "
        "ORDER BY times DESC, name LIMIT 2",
        {},
        [("Google", 2), ("Bob", 1)],
    ),
    "grouped, then filtered": (
        "MATCH (s:Source)-[:mentions]->(n) WITH n, count(s) AS times WHERE times > 1 "
        "RETURN n.name, times",
        {},
        [("Google", 2)],
    ),
    "collected in order": (
        "MATCH (p:Person) WITH p ORDER BY p.name RETURN collect(p.name) AS names",
        {},
        [(["Alice", "Bob", "Sarah", "the girl from the gym"],)],
    ),
    "the first of some, then all of them": (
        "MATCH (p:Person) WITH p.name AS name ORDER BY name DESC LIMIT 2 RETURN collect(name)",
        {},
        [(["the girl from the gym", "Sarah"],)],
    ),
    "what is missing": (
        "MATCH (p:Person) OPTIONAL MATCH (p)-[:engages_with]->(c) "
        "RETURN p.name, coalesce(c.name, 'nothing') AS what ORDER BY p.name LIMIT 2",
        {},
        [("Alice", "async communication"), ("Bob", "nothing")],
    ),
    "a pattern as a condition": (
        "MATCH (p:Person) WHERE (p)-[:associated_with]->(:Entity {name: 'Google'}) "
        "AND NOT (p)-[:engages_with]->() RETURN p.name",
        {},
        [("Bob",)],
    ),
    "EXISTS and COUNT": (
        "MATCH (e:Entity) WHERE EXISTS { MATCH (e)<-[r]-(p:Person) WHERE r.valid_to IS NULL } "
        "RETURN e.name, COUNT { (e)--() } AS around",
        {},
        [("Google", 6)],
    ),
    "exists() of a property and of a pattern": (
        "MATCH (e:Entity) WHERE exists(e.type) AND exists((e)<-[:connected_to]-()) RETURN e.name",
        {},
        [("Chicago office",)],
    ),
    "text conditions": (
        "MATCH (p:Person) WHERE p.name STARTS WITH 'S' OR p.name ENDS WITH 'gym' "
        "OR p.name =~ '(?i)bo.' RETURN p.name ORDER BY p.name",
        {},
        [("Bob",), ("Sarah",), ("the girl from the gym",)],
    ),
    "a case": (
        "MATCH (:Person {is_owner: true})-[r:has_relationship_with]-(p) "
        "RETURN p.name, CASE WHEN r.attitude >= 5 THEN 'close' ELSE 'other' END AS how "
        "ORDER BY p.name",
        {},
        [("Sarah", "close"), ("the girl from the gym", "other")],
    ),
    "a map made of a node": (
        "MATCH (p:Person {name: 'Sarah'}) RETURN p {.name, .state, aka: p.aliases} AS person",
        {},
        [({"name": "Sarah", "state": "core", "aka": ["Sar", "S. Miller"]},)],
    ),
    "an artifact and what it is from": (
        "MATCH (s:Source)-[:produced]->(a:Artifact) RETURN a.content.type, s.entity_key",
        {},
        [("md_file", "source:meeting")],
    ),
    "both sides of a union": (
        "MATCH (p:Person {is_owner: true}) RETURN p.name AS name "
        "UNION MATCH (t:Team) RETURN t.name AS name",
        {},
        [("Alice",), ("Crew",)],
    ),
    "parameters of every kind": (
        "UNWIND $rows AS row RETURN row.a + 1 AS a, row.b IN $words AS b, $none IS NULL AS c",
        {"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], "words": ["x"], "none": None},
        [(2, True, True), (3, False, True)],
    ),
    "items beyond the ends of a list are null": (
        "WITH [1, 2, 3] AS l RETURN l[0], l[-1], l[3], l[0..2], l[1..], head([]), last(l), tail(l)",
        {},
        [(1, 3, None, [1, 2], [2, 3], None, 3, [2, 3])],
    ),
    "what is compared with another type is false, and no error": (
        "MATCH (p:Person) WHERE p.name = 5 OR p.name > 5 RETURN p",
        {},
        [],
    ),
    "a moment and a day": (
        "MATCH (s:Source) WHERE s.started_at >= '2026-01-01' RETURN count(*) > 0, $at > '2025'",
        {"at": "2026"},
        [(True, True)],
    ),
    "keys are those of properties that are there": (
        "MATCH (p:Person {name: 'Sarah'}) RETURN 'name' IN keys(p), 'embedding' IN keys(p)",
        {},
        [(True, False)],
    ),
    "totals": (
        "RETURN reduce(total = 10, x IN [1, 2] | total + x) AS sum, "
        "all(x IN [1, 2] WHERE x > 0) AS all, none(x IN [1] WHERE x > 1) AS none",
        {},
        [(13, True, True)],
    ),
    "texts in pieces": (
        "RETURN substring('abcdef', 1, 2), split('a,b', ','), toString(5), toInteger('7'), "
        "replace('aXa', 'X', '-'), trim('  x ')",
        {},
        [("bc", ["a", "b"], "5", 7, "a-a", "x")],
    ),
    "comparisons in a chain": (
        "UNWIND range(1, 9) AS x WITH x WHERE 2 < x <= 4 RETURN x",
        {},
        [(3,), (4,)],
    ),
    "upper and lower case alike, where the language says so": (
        "match (p:PERSON)-[r:HAS_RELATIONSHIP_WITH]->(q) where p.is_owner = TRUE "
        "return q.name order by q.name desc limit 1",
        {},
        [("the girl from the gym",)],
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_cypher_query_returns_the_expected_rows(ask, name):
    query, params, rows = QUERIES[name]
    found = ask(query, **params)
    if " order by " not in query.lower():
        found, rows = sorted(found, key=repr), sorted(rows, key=repr)
    assert found == rows


def test_cypher_answer_renders_nodes_relationships_and_paths_as_plain_maps(engine):
    answer = engine.run(
        "small",
        small_graph,
        NOW,
        "MATCH p = (a:Person {name: 'Sarah'})-[r]->(b) RETURN a, r, b, p",
    )
    [(a, r, b, p)] = answer.rows
    assert (a["_label"], a["entity_key"], b["name"]) == ("Person", "node:sarah", "Bob")
    assert (r["_label"], r["entity_key"]) == ("has_relationship_with", "edge:colleague")
    assert p == {"nodes": [a, b], "relationships": [r]}
    assert not [key for key in (*a, *r) if key.startswith("_") and key != "_label"]


def test_cypher_columns_are_named_as_spelt_in_the_query(engine):
    query = "MATCH (n:Person {name: 'Bob'}) RETURN n.name, toLower( 'A' ) AS `a b`, 1+1"
    answer = engine.run("small", small_graph, NOW, query)
    assert answer.columns == ("n.name", "a b", "1+1")
    assert answer.rows == (("Bob", "a", 2),)


def test_cypher_return_star_lists_all_named_variables(engine):
    answer = engine.run("small", small_graph, NOW, "MATCH (t:Team) WITH t.name AS name RETURN *")
    assert (answer.columns, answer.rows) == (("name",), (("Crew",),))
    query = "MATCH (n:Person)-->()-[r]-(n) WITH *, 1 AS x RETURN *, r.attitude AS y"
    assert engine.run("small", small_graph, NOW, query).columns == ("n", "r", "x", "y")


def test_cypher_return_star_without_variables_is_refused(ask):
    with pytest.raises(BadCypher, match="no variable"):
        ask("RETURN *")


def test_cypher_answer_shortens_long_texts_unless_verbose(engine):
    query = "MATCH (a:Artifact) RETURN a.content.output, a"
    [(text, whole)] = engine.run("small", small_graph, NOW, query).rows
    assert len(text) == 500
    assert text.endswith("…")
    assert whole["content"]["output"] == text
    [(text, whole)] = engine.run("small", small_graph, NOW, query, verbose=True).rows
    assert len(text) > 1000
    assert whole["content"]["output"] == text


def test_cypher_answer_truncates_rows_at_the_row_limit(engine):
    query = "UNWIND range(1, 50) AS x RETURN x"
    few = engine.run("small", small_graph, NOW, query, limits=QueryLimits(rows=7))
    assert (len(few.rows), few.truncated) == (7, True)
    all_of_it = engine.run("small", small_graph, NOW, query, limits=QueryLimits(rows=50))
    assert (len(all_of_it.rows), all_of_it.truncated) == (50, False)


def test_cypher_answer_truncates_rows_at_the_size_limit(engine):
    query = "UNWIND range(1, 50) AS x RETURN 'twenty characters ..'"
    cut = engine.run("small", small_graph, NOW, query, limits=QueryLimits(size=250))
    assert cut.truncated
    assert 0 < len(cut.rows) < 50


def test_cypher_error_names_the_unknown_property(ask):
    with pytest.raises(BadCypher, match="nickname"):
        ask("MATCH (p:Person) RETURN p.nickname")


def test_cypher_state_of_an_expired_ephemeral_node_is_archived(engine):
    over = node("over", ENTITY, "A fair", ttl_policy=TtlPolicy.EPHEMERAL, created_at=days_ago(91))
    query = "MATCH (n:Entity) RETURN n.name, n.state"
    answer = engine.run("over", lambda: small_graph(nodes={over.id: over}), NOW, query)
    assert answer.rows == (("A fair", "archived"),)


def test_cypher_query_over_an_empty_graph_returns_no_rows(engine):
    rows = engine.run(
        "empty", lambda: small_graph(nodes={}, edges={}), NOW, "MATCH (n:Person) RETURN n"
    )
    assert rows.rows == ()
