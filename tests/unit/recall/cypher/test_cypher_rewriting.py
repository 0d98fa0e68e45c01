"""How a query is written anew for the engine. What is read is what is run."""

import pytest

from commonplace.errors import BadCypher
from commonplace.recall.cypher.reader import read
from commonplace.recall.cypher.schema import LABELS, RELATIONSHIPS, describe
from commonplace.recall.cypher.words import functions
from commonplace.recall.cypher.write import write
from support.small_graph import NOW

REWRITTEN = [
    ("type(r)", "label(`r`)"),
    ("labels(n)", "[label(`n`)]"),
    ("id(n)", "`n`.`entity_key`"),
    ("elementId(n)", "`n`.`entity_key`"),
    ("toLower(n.name)", "lower(`n`.`name`)"),
    ("datetime()", "timestamp('2026-03-01 09:00:00')"),
    ("datetime('2026-01-01')", "timestamp('2026-01-01 00:00:00')"),
    ("datetime('2026-01-01T10:00:00+02:00')", "timestamp('2026-01-01 08:00:00')"),
    ("datetime({year: 2026, month: 2})", "timestamp('2026-02-01 00:00:00')"),
    ("datetime($when)", "timestamp('2026-01-05 00:00:00')"),
    ("date()", "date('2026-03-01')"),
    ("date('2026-01-31')", "date('2026-01-31')"),
    ("timestamp()", "1772355600000"),
    ("duration('P7D')", "(to_months(0) + to_days(7) + to_microseconds(0))"),
    ("duration('P1Y2M3DT4H')", "(to_months(14) + to_days(3) + to_microseconds(14400000000))"),
    ("duration({weeks: 2})", "(to_months(0) + to_days(14) + to_microseconds(0))"),
    ("n.created_at.year", "date_part('year', `n`.`created_at`)"),
    ("exists(n.name)", "(`n`.`name` IS NOT NULL)"),
    ("exists((n)-->())", "(EXISTS { MATCH (`n`)-[]->() })"),
    ("size((n)--())", "(COUNT { MATCH (`n`)-[]-() })"),
    ("n:Person", "(label(`n`) = 'Person')"),
    ("n:Person|Entity", "(label(`n`) = 'Person' OR label(`n`) = 'Entity')"),
    (
        "[x IN xs WHERE x > 1 | x]",
        "list_transform(list_filter(`xs`, `x` -> (`x` > 1)), `x` -> `x`)",
    ),
    ("[x IN xs]", "`xs`"),
    ("any(x IN xs WHERE x = 1)", "ANY(`x` IN `xs` WHERE (`x` = 1))"),
    ("l[1..3]", "list_slice(`l`, 1 + 1, 3)"),
    ("m['key']", "`m`.`key`"),
    ("n {.name, x: 1}", "{`name`: `n`.`name`, `x`: 1}"),
    ("a = 1 OR b = 2 AND NOT c", "((`a` = 1) OR ((`b` = 2) AND (NOT `c`)))"),
    ("1 + 2 * 3 ^ 2", "(1 + (2 * (3 ^ 2)))"),
    ("1 < x < 3", "((1 < `x`) AND (`x` < 3))"),
    ("'it\\'s \\\\ '", "'it\\'s \\\\ '"),
    ("$text", "'\\'; DROP TABLE Person; //'"),
    ("$list", "[1, 'a', NULL, TRUE, {`k`: (-1.5)}]"),
    ("count(DISTINCT n)", "count(DISTINCT `n`)"),
    ("count(*)", "count(*)"),
]
PARAMS = {
    "when": "2026-01-05",
    "text": "'; DROP TABLE Person; //",
    "list": [1, "a", None, True, {"k": -1.5}],
}


@pytest.mark.parametrize(("written", "engine"), REWRITTEN, ids=[each for each, _ in REWRITTEN])
def test_an_expression(written, engine):
    assert write(read(f"RETURN {written}", PARAMS), NOW) == f"RETURN {engine}"


PATTERNS = [
    ("(a)", "(`a`)"),
    ("(:Person {name: 'x'})", "(:`Person` {`name`: 'x'})"),
    ("(a:person|ENTITY)", "(`a`:`Person`|`Entity`)"),
    ("(a)--(b)", "(`a`)-[]-(`b`)"),
    ("(a)<--(b)", "(`a`)<-[]-(`b`)"),
    ("(a)<-[r]->(b)", "(`a`)-[`r`]-(`b`)"),
    ("(a)-[r:MENTIONS|:about]->(b)", "(`a`)-[`r`:`mentions`|`about`]->(`b`)"),
    ("(a)-[*2]-(b)", "(`a`)-[* TRAIL 2..2]-(`b`)"),
    ("(a)-[:about*..3]->(b)", "(`a`)-[:`about`* TRAIL 1..3]->(`b`)"),
    ("p = shortestPath((a)-[*..5]-(b))", "`p` = (`a`)-[* SHORTEST 1..5]-(`b`)"),
    ("p = allShortestPaths((a)-[*0..5]-(b))", "`p` = (`a`)-[* ALL SHORTEST 1..5]-(`b`)"),
    ("(a), (b)-->(c)", "(`a`), (`b`)-[]->(`c`)"),
    ("(a)-->()<--(b)", "(`a`)-[`1`]->()<-[`2`]-(`b`) WHERE NOT (id(`1`) = id(`2`))"),
    (
        "(a)-[r:about]-(), (b)--(c)",
        "(`a`)-[`r`:`about`]-(), (`b`)-[`1`]-(`c`) WHERE NOT (id(`r`) = id(`1`))",
    ),
    (
        "(a)-[*2]-()--(b)",
        "(`a`)-[`1`* TRAIL 2..2]-()-[`2`]-(`b`) "
        "WHERE NOT (list_contains(properties(rels(`1`), '_id'), id(`2`)))",
    ),
    ("(a)-[:about]-()-[:groups]-(b)", "(`a`)-[:`about`]-()-[:`groups`]-(`b`)"),
    ("(a)--(b), shortestPath((a)-[*..2]-(c))", "(`a`)-[]-(`b`), (`a`)-[* SHORTEST 1..2]-(`c`)"),
    (
        "(a)-[r]-()-[{attitude: 5}]-(b) WHERE a.name = 'x' AND r.attitude = 1",
        "(`a`)-[`r`]-(`1`) WHERE (`a`.`name` = 'x') AND (`r`.`attitude` = 1) WITH `a`, `r`, `1` "
        "MATCH (`1`)-[`2`]-(`b`) WHERE (`2`.`attitude` = 5) AND NOT (id(`r`) = id(`2`))",
    ),
    (
        "(a)-[r]-(b)-[s {attitude: 5}]-(c:Person {name: 'x'})",
        "(`b`)-[`s`]-(`c`:`Person`) WHERE (`s`.`attitude` = 5) AND (`c`.`name` = 'x') "
        "WITH `b`, `s`, `c` MATCH (`a`)-[`r`]-(`b`) WHERE NOT (id(`s`) = id(`r`))",
    ),
    (
        "p = (a)-[r]-(b)-[s]-(c) WHERE r.attitude = 1",
        "`p` = (`a`)-[`r`]-(`b`)-[`s`]-(`c`) "
        "WHERE CASE WHEN id(`r`) = id(`s`) THEN FALSE ELSE (`r`.`attitude` = 1) END",
    ),
    (
        "(a:Person) MATCH (a:Entity)-[]-(b), (a {name: 'x'})",
        "(`a`:`Person`) MATCH (`a`)-[]-(`b`) WHERE (((label(`a`) = 'Entity') "
        "AND (`a` IS NOT NULL)) AND (`a`.`name` = 'x'))",
    ),
    ("(a)-[r]-(b) MATCH (b)", "(`a`)-[`r`]-(`b`) WITH `a`, `r`, `b` WHERE (`b` IS NOT NULL)"),
    (
        "(a)-[r:about]-(b) WHERE r.said_at IS NULL MATCH (b)-[:groups]-(c)",
        "(`a`)-[`r`:`about`]-(`b`) WHERE (`r`.`said_at` IS NULL) "
        "WITH `a`, `r`, `b` MATCH (`b`)-[:`groups`]-(`c`)",
    ),
]


@pytest.mark.parametrize(("written", "engine"), PATTERNS, ids=[each for each, _ in PATTERNS])
def test_a_pattern(written, engine):
    assert write(read(f"MATCH {written} RETURN 1", {}), NOW) == f"MATCH {engine} RETURN 1"


RARE, RARER = "r.relationship_type = 'rare'", "s.relationship_type = 'rarer'"
SELECTIVE = [
    f"(a)-[r]->(b), (c)-[s]->(d) WHERE {RARE} AND {RARER}",
    "(a)-[r {relationship_type: 'rare'}]->(b), (c)-[s {relationship_type: 'rarer'}]->(d)",
    f"(a)-[r]->(b) WHERE {RARE} MATCH (c)-[s]->(d) WHERE {RARER}",
    f"(a)-[r]-(b)-[s]-(c) WHERE {RARER} AND {RARE}",
    f"(a)-[r]-()-[s]-(c)-[t]-(d) WHERE {RARE} AND {RARER}",
    f"(d)-[t]-(a)-[r]-()-[s]-(c) WHERE {RARE} AND {RARER}",
    f"(a)-[r]-(b)-[s]-(a) WHERE a.name = 'x' AND {RARE} AND {RARER}",
]


@pytest.mark.parametrize("query", SELECTIVE)
def test_what_is_asked_of_a_relationship_is_judged_before_the_next_step(query):
    """Each is the last of a MATCH of its own, which has its condition; rare ones come first."""
    written = write(read(f"MATCH {query} RETURN 1", {}), NOW)
    first, second, *others = written.removeprefix("MATCH ").split(" MATCH ")
    assert "-[`r`]-" in first
    assert "`r`.`relationship_type` = 'rare'" in first
    assert "-[`s`]-" in second
    assert "`s`.`relationship_type` = 'rarer'" in second
    assert all(step.count("]-") == 1 for step in (first, second, *others))
    assert all(" WITH " in step for step in (first, second, *others)[:-1])


def test_remarks_and_layout_are_gone():
    query = (
        "match (n) // the ; end\n/* CREATE (x) */ where n.a=1\n\treturn distinct n skip 1 limit 2;"
    )
    assert write(read(query, {}), NOW) == (
        "MATCH (`n`) WHERE (`n`.`a` = 1) RETURN DISTINCT `n` SKIP 1 LIMIT 2"
    )


WRONG = [
    "duration('7 days')",
    "duration('P')",
    "duration({parsecs: 1})",
    "duration(n.x)",
    "datetime('yesterday')",
    "datetime({month: 1})",
    "date('31.1.2026')",
    "datetime.truncate('fortnight', datetime())",
    "exists(1)",
    "toLower()",
    "toLower('a', 'b')",
    "coalesce()",
    "head(1, 2)",
    "l[-2..]",
    "m['a`b']",
    "m['; DROP']",
]


@pytest.mark.parametrize("expression", WRONG)
def test_what_cannot_be_rewritten_is_an_error(expression):
    with pytest.raises(BadCypher):
        write(read(f"RETURN {expression}", {}), NOW)


@pytest.mark.parametrize(
    "long",
    [
        "1" + " + 1" * 1900,
        "TRUE" + " AND TRUE" * 1900,
        "1" + " < 1" * 1900,
        "n" + ".x" * 1900,
        "l" + "[0]" * 60,
        "head(" * 20 + "l" + ")" * 20,
        "substring(" * 20 + "'a'" + ", 1)" * 20,
    ],
    ids=lambda text: text[:12],
)
def test_what_grows_when_it_is_written_out_has_an_end(long):
    with pytest.raises(BadCypher, match=r"too long|more than"):
        write(read(f"RETURN {long}", {}), NOW)


@pytest.mark.parametrize("count", ["-1", "1.5", "'x'", "n.x", "TRUE"])
def test_skip_and_limit_take_whole_numbers(count):
    for word in ("SKIP", "LIMIT"):
        with pytest.raises(BadCypher):
            write(read(f"MATCH (n) RETURN n {word} {count}", {}), NOW)


def test_the_schema_tells_every_label_relationship_and_property():
    told = describe()
    for each in (*LABELS.values(), *RELATIONSHIPS.values()):
        assert f"  {each.name}" in told
        assert all(f"    {name}: " in told for name in each.properties)


def test_every_function_that_is_listed_has_a_meaning():
    """Either a spelling of the engine's, or a rewriting: none is listed for nothing."""
    arguments = {"duration": "'P1D'", "datetime.truncate": "'day'", "date.truncate": "'day'"}
    for name, function in functions().items():
        count = function.most if function.spellings else 1
        given = arguments.get(name) or ", ".join(["n.name"] * count)
        assert write(read(f"MATCH (n) RETURN {function.name}({given})", {}), NOW)
