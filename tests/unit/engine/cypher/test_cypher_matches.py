"""What a pattern matches is what openCypher says: no relationship twice within one MATCH, and no
row for which a condition does not hold. Compared with a reference matcher in plain Python."""

from random import Random

import pytest

from commonplace.engine.graph_search.cypher.execution.budget import QueryLimits
from commonplace.errors import BadCypher
from support.cypher_walks import made_up, matches, tangle
from support.small_graph import NOW, small_graph

PICTURE = tangle(Random(5))
ROUNDS = 60
PATIENT = QueryLimits(seconds=60)


def told(engine, query, **params):
    rows = engine.run("tangle", lambda: PICTURE, NOW, query, params, limits=PATIENT).rows
    return sorted(rows, key=repr)


def asked_of_chance(seed):
    """A start, a pattern, what it matches, and how its conditions and its ends are spelt."""
    chance = Random(seed)
    while True:
        start, pattern = chance.choice(sorted(PICTURE.nodes)), made_up(chance)
        expected = matches(PICTURE, start, pattern)
        if len(expected) < 500:
            where = " AND ".join([f"s.entity_key = '{start}'", *pattern.conditions()])
            ends = ", ".join(f"{end}.entity_key" for end in pattern.ends())
            return start, pattern, sorted(expected), where, ends


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_cypher_match_agrees_with_the_reference_matcher(engine, seed):
    _, pattern, expected, where, ends = asked_of_chance(seed)
    assert told(engine, f"MATCH {pattern.spelt()} WHERE {where} RETURN {ends}") == expected


@pytest.mark.parametrize("seed", range(ROUNDS, ROUNDS + 15))
def test_cypher_optional_match_agrees_with_the_reference_matcher(engine, seed):
    _, pattern, expected, where, ends = asked_of_chance(seed)
    query = f"MATCH (s) WHERE {where.split(' AND ')[0]} OPTIONAL MATCH {pattern.spelt()} "
    nothing = [(None,) * len(pattern.ends())]
    assert told(engine, f"{query} WHERE {where} RETURN {ends}") == (expected or nothing)


@pytest.mark.parametrize("seed", range(ROUNDS, ROUNDS + 15))
def test_cypher_count_and_exists_subqueries_agree_with_the_reference_matcher(engine, seed):
    start, pattern, expected, where, _ = asked_of_chance(seed)
    counted = f"COUNT {{ MATCH {pattern.spelt()} WHERE {where} }}"
    query = f"MATCH (s) WHERE s.entity_key = '{start}' RETURN {counted} AS n"
    assert told(engine, query) == [(len(expected),)]
    query = f"MATCH (s) WHERE EXISTS {{ {pattern.spelt()} WHERE {where} }} RETURN s.entity_key"
    assert told(engine, query) == ([(start,)] if expected else [])


@pytest.mark.parametrize("seed", range(ROUNDS, ROUNDS + 25))
def test_cypher_second_match_may_reuse_relationships_of_the_first(engine, seed):
    """The second may match again what the first one did."""
    chance = Random(seed)
    start, first = chance.choice(sorted(PICTURE.nodes)), made_up(chance)
    second = made_up(chance, "q", first.ends()[0], several_hops=0.0)
    begun = matches(PICTURE, start, first)
    expected = sum(len(matches(PICTURE, ends[0], second)) for ends in begun)
    conditions = " AND ".join([f"s.entity_key = '{start}'", *first.conditions()])
    again = " AND ".join(["TRUE", *second.conditions()])
    query = f"MATCH {first.spelt()} WHERE {conditions} MATCH {second.spelt()} WHERE {again}"
    assert told(engine, f"{query} RETURN count(*)") == [(expected,)]


@pytest.mark.parametrize("seed", range(40))
def test_cypher_cyclic_pattern_agrees_with_the_reference_matcher(engine, seed):
    start, pattern, expected, where, _ = asked_of_chance(seed)
    back = pattern.spelt().replace(f"({pattern.ends()[0]})", "(s)")
    rows = sum(ends[0] == start for ends in expected)
    for way in (back, f"p = {back}"):
        assert told(engine, f"MATCH {way} WHERE {where} RETURN count(s)") == [(rows,)]
    query = f"MATCH (s) WHERE s.entity_key = '{start}' RETURN "
    assert told(engine, f"{query} COUNT {{ MATCH {back} WHERE {where} }}") == [(rows,)]


@pytest.mark.parametrize("seed", range(40))
def test_cypher_second_match_filters_before_order_by_and_limit(engine, seed):
    """The rows that are ordered and cut are those that the second MATCH leaves."""
    _, pattern, expected, where, _ = asked_of_chance(seed)
    end, chance = pattern.ends()[0], Random(seed)
    least, most = chance.randint(1, 4), chance.randint(1, 5)
    query = (
        f"MATCH {pattern.spelt()} WHERE {where} MATCH ({end})-[n]->() WHERE n.attitude >= {least} "
        f"WITH {end} ORDER BY {end}.entity_key DESC LIMIT {most} RETURN {end}.entity_key"
    )
    wanted = []
    for ends in expected:
        ways = [way for way in PICTURE.edges.values() if way.a == ends[0]]
        wanted += [ends[0]] * sum(1 for way in ways if way.attitude >= least)
    rows = engine.run("tangle", lambda: PICTURE, NOW, query, limits=PATIENT).rows
    assert [row[0] for row in rows] == sorted(wanted, reverse=True)[:most]


@pytest.mark.parametrize("seed", range(40))
def test_cypher_match_from_unwound_nodes_agrees_with_the_reference_matcher(engine, seed):
    _, pattern, _, _, _ = asked_of_chance(seed)
    starts = Random(seed).choices(sorted(PICTURE.nodes), k=3)
    found = [len(matches(PICTURE, start, pattern)) for start in starts]
    conditions = " AND ".join(["TRUE", *pattern.conditions()])
    query = (
        "UNWIND $keys AS key MATCH (m {entity_key: key}) WITH collect(m) AS ms UNWIND ms AS m "
        f"WITH m MATCH (m) MATCH {pattern.spelt().replace('(s)', '(m)')} WHERE {conditions} "
        "RETURN count(*)"
    )
    assert told(engine, query, keys=starts) == [(sum(found),)]


@pytest.mark.parametrize("labels", ["", ":Person", ":Entity", ":Person|Concept"])
def test_cypher_labels_on_a_bound_node_filter_rows(engine, labels):
    """And no others that it may have as well."""
    known = "MATCH (a:Person)-[r]-(b:Person|Entity) WHERE r.attitude > 2"
    wanted = {each.type.value for each in PICTURE.nodes.values() if not labels} | {
        *labels.removeprefix(":").split("|")
    }
    rows = [
        each for each in told(engine, f"{known} RETURN labels(b)[0], count(*)") if each[0] in wanted
    ]
    for again in (
        f"MATCH (b{labels})",
        f"MATCH (a), (b{labels})",
        f"WITH a, b MATCH (b{labels}), (a)",
    ):
        assert told(engine, f"{known} {again} RETURN labels(b)[0], count(*)") == rows


def test_cypher_match_uses_no_relationship_twice_within_one_match(ask):
    query = "MATCH (b:Person {name: 'Bob'})-[:has_relationship_with]-()-[:has_relationship_with]-"
    assert ask(f"{query}(c) RETURN c.name") == [("Alice",)]
    assert ask(f"{query}(c) WHERE c.name = 'Bob' RETURN c.name") == []
    two = "MATCH (b:Person {name: 'Bob'})-[:has_relationship_with]-(x) "
    two += "MATCH (x)-[:has_relationship_with]-(c) RETURN c.name ORDER BY c.name"
    assert ask(two) == [("Alice",), ("Bob",)]


def test_cypher_return_star_omits_anonymous_pattern_elements(engine, ask):
    query = "MATCH (b:Person {name: 'Bob'})--(x)-[*1..2]-(c)"
    answer = engine.run("small", small_graph, NOW, f"{query} RETURN DISTINCT *")
    assert answer.columns == ("b", "x", "c")
    assert ask(f"{query} WITH * RETURN count(*)") == ask(f"{query} RETURN count(*)")


def test_cypher_match_filters_by_relationship_properties_inside_a_path(ask):
    query = (
        "MATCH (c {name: 'Chicago office'})-[]-(g)-[{relationship_type: 'works-at'}]-(p)-[r]-(x) "
        "WHERE r.relationship_type <> 'acquaintance' RETURN p.name, x.name ORDER BY p.name, x.name"
    )
    assert ask(query) == [
        ("Alice", "Google"),
        ("Alice", "Sarah"),
        ("Alice", "async communication"),
        ("Bob", "Sarah"),
    ]


def test_cypher_match_refuses_more_than_twenty_relationships(ask):
    with pytest.raises(BadCypher, match="limit is 20"):
        ask(f"MATCH (a){'--()' * 21} RETURN a")
    assert ask(f"MATCH (a:Team){'-[:mentions]->()' * 5} RETURN a") == []
