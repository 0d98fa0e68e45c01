"""What is not allowed is refused before any engine sees it, and the error says what and where."""

import pytest

from commonplace.errors import BadCypher
from commonplace.recall.cypher.reader import read
from commonplace.recall.cypher.write import write
from support.small_graph import NOW

# A query, and words of the error that it is refused with.
REFUSED = [
    # writing
    ("CREATE (n:Person {name: 'x'})", "CREATE is not allowed"),
    ("MATCH (n) CREATE (m:Person) RETURN m", "CREATE is not allowed"),
    ("MERGE (n:Person {name: 'x'}) RETURN n", "MERGE is not allowed"),
    ("MATCH (n) SET n.name = 'x' RETURN n", "SET is not allowed"),
    ("MATCH (n) SET n:Person RETURN n", "SET is not allowed"),
    ("MATCH (n) REMOVE n.name RETURN n", "REMOVE is not allowed"),
    ("MATCH (n) DELETE n", "DELETE is not allowed"),
    ("MATCH (n) DETACH DELETE n", "DETACH is not allowed"),
    ("MATCH (n) RETURN n DELETE n", "DELETE is not allowed"),
    ("MATCH (n) RETURN n CREATE (m)", "CREATE is not allowed"),
    ("MATCH (n) FOREACH (x IN [1] | SET n.a = x)", "FOREACH is not allowed"),
    ("cReAtE (n)", "CREATE is not allowed"),
    ("OPTIONAL MATCH (n) MERGE (n)-[:about]->(n) RETURN n", "MERGE is not allowed"),
    ("UNWIND [1] AS x CREATE (:Person {name: x})", "CREATE is not allowed"),
    ("MATCH (n) WITH n DELETE n RETURN 1", "DELETE is not allowed"),
    ("MATCH (n) WHERE EXISTS { CREATE (m) } RETURN n", "'(' is missing"),
    ("MATCH (n) RETURN COUNT { MATCH (n) DELETE n }", "'}' is missing"),
    ("RETURN 1 UNION CREATE (n) RETURN n", "CREATE is not allowed"),
    # the shape of the data
    ("CREATE NODE TABLE X(a STRING, PRIMARY KEY(a))", "CREATE is not allowed"),
    ("CREATE REL TABLE X(FROM Person TO Person)", "CREATE is not allowed"),
    ("CREATE MACRO f(x) AS x + 1", "CREATE is not allowed"),
    ("CREATE SEQUENCE s", "CREATE is not allowed"),
    ("DROP TABLE Person", "DROP is not allowed"),
    ("ALTER TABLE Person ADD x STRING", "ALTER is not allowed"),
    ("COMMENT ON TABLE Person IS 'x'", "begins no clause"),
    # files, addresses, other databases
    ("LOAD FROM '/etc/passwd' RETURN *", "LOAD is not allowed"),
    ("LOAD WITH HEADERS (a STRING) FROM '/etc/passwd' RETURN a", "LOAD is not allowed"),
    ("LOAD CSV FROM 'https://example.org/x' AS row RETURN row", "LOAD is not allowed"),
    ("MATCH (n) LOAD FROM '/etc/passwd' RETURN n", "LOAD is not allowed"),
    ("LOAD EXTENSION httpfs", "LOAD is not allowed"),
    ("COPY Person FROM '/etc/passwd'", "COPY is not allowed"),
    ("COPY (MATCH (n) RETURN n) TO '/tmp/out.csv'", "COPY is not allowed"),
    ("ATTACH '/tmp/x.db' AS y (dbtype sqlite)", "ATTACH is not allowed"),
    ("DETACH y", "DETACH is not allowed"),
    ("USE y", "USE is not allowed"),
    ("INSTALL httpfs", "INSTALL is not allowed"),
    ("UNINSTALL httpfs", "UNINSTALL is not allowed"),
    ("UPDATE httpfs", "UPDATE is not allowed"),
    ("EXPORT DATABASE '/tmp/x'", "EXPORT is not allowed"),
    ("IMPORT DATABASE '/tmp/x'", "IMPORT is not allowed"),
    # procedures and settings
    ("CALL show_tables() RETURN *", "CALL is not allowed"),
    ("CALL threads=8", "CALL is not allowed"),
    ("CALL { MATCH (n) RETURN n } RETURN n", "CALL is not allowed"),
    ("MATCH (n) CALL db.labels() YIELD label RETURN label", "CALL is not allowed"),
    ("CALL apoc.load.json('file:///etc/passwd')", "CALL is not allowed"),
    ("PRAGMA database_list", "PRAGMA is not allowed"),
    ("SHOW FUNCTIONS", "SHOW is not allowed"),
    ("PROJECT GRAPH g (Person)", "begins no clause"),
    ("MATCH (n) RETURN n YIELD n", "YIELD is not allowed"),
    # transactions and plans
    ("BEGIN TRANSACTION", "BEGIN is not allowed"),
    ("BEGIN TRANSACTION READ ONLY", "BEGIN is not allowed"),
    ("COMMIT", "COMMIT is not allowed"),
    ("ROLLBACK", "ROLLBACK is not allowed"),
    ("CHECKPOINT", "CHECKPOINT is not allowed"),
    ("EXPLAIN MATCH (n) RETURN n", "EXPLAIN is not allowed"),
    ("PROFILE MATCH (n) RETURN n", "PROFILE is not allowed"),
    # several statements
    ("MATCH (n) RETURN n; MATCH (n) RETURN n", "Only one statement"),
    ("MATCH (n) RETURN n; DROP TABLE Person", "Only one statement"),
    ("RETURN 1;;", "Only one statement"),
    (";RETURN 1", "begins no clause"),
    ("RETURN 1 /* ; */ ; /* x */ COPY Person FROM 'x'", "Only one statement"),
    # comments
    ("RETURN 1 /* never ends", "does not end"),
    ("/* a */ CREATE /* b */ (n)", "CREATE is not allowed"),
    ("RETURN 1 // x\nDELETE n", "DELETE is not allowed"),
    ("RETURN 1 /* /* nested */ */", "A value is missing"),
    ("CRE/**/ATE (n)", "begins no clause"),
    ("RETURN 1 -- a comment of SQL", "has no meaning after RETURN"),
    ("RETURN 1 # a comment of the shell", "has no meaning here"),
    # letters that look like others, and what cannot be seen
    ("МАТСН (n) RETURN n", "CYRILLIC CAPITAL LETTER EM"),
    ("MATCH (n) RETURN ｎ", "FULLWIDTH LATIN SMALL LETTER N"),
    ("MATCH (ñ) RETURN ñ", "LATIN SMALL LETTER N WITH TILDE"),
    ("RETURN\u00a01", "NO-BREAK SPACE"),
    ("RETURN\u20281", "LINE SEPARATOR"),
    ("RETURN 1\u200b", "ZERO WIDTH SPACE"),
    ("\ufeffRETURN 1", "ZERO WIDTH NO-BREAK SPACE"),
    ("RETURN \u202e1", "RIGHT-TO-LEFT OVERRIDE"),
    ("RETURN ‘x’", "LEFT SINGLE QUOTATION MARK"),
    ("RETURN 1 \u037e DROP TABLE Person", "GREEK QUESTION MARK"),
    ("RETURN １", "FULLWIDTH DIGIT ONE"),
    ("RETURN 'a\0b'", "NUL"),
    ("RETURN 1\0; CREATE (n)", "NUL"),
    ("RETURN '\ud800'", "surrogate"),
    ("RETURN '\\u0000'", "escape"),
    ("RETURN '\\ud800'", "escape"),
    ("RETURN '\\x41'", "escape"),
    ("\\u0043REATE (n)", "has no meaning here"),
    ("RETURN 1\x0b", "has no meaning here"),
    # names
    ("MATCH (`CREATE`) RETURN 1", "is a word of the language"),
    ("MATCH (n) RETURN n AS `LOAD`", "is a word of the language"),
    ("MATCH (delete) RETURN delete", "is a word of the language"),
    ("MATCH (`a``b`) RETURN 1", "')' is missing"),
    ("MATCH (`a'b`) RETURN 1", "A name in backticks"),
    ("MATCH (`a;DROP TABLE Person`) RETURN 1", "A name in backticks"),
    ("MATCH (`a\n`) RETURN 1", "A name in backticks"),
    ("MATCH (``) RETURN 1", "A name in backticks"),
    ("MATCH (`a) RETURN 1", "A name in backticks"),
    ("MATCH (n:Secret) RETURN n", "There is no label Secret"),
    ("MATCH (n:Person:Entity) RETURN n", "A node has one label"),
    ("MATCH ()-[r:OWNS]->() RETURN r", "There is no relationship OWNS"),
    ("MATCH (n)-[r:`knows|x`]->() RETURN r", "A name in backticks"),
    # functions
    ("RETURN current_setting('home_directory')", "There is no function current_setting"),
    ("RETURN gen_random_uuid()", "There is no function gen_random_uuid"),
    ("RETURN randomUUID()", "There is no function randomUUID"),
    ("RETURN nextval('x')", "There is no function nextval"),
    ("RETURN read_csv('/etc/passwd')", "There is no function read_csv"),
    ("RETURN error('x')", "There is no function error"),
    ("RETURN repeat('x', 1000000000)", "There is no function repeat"),
    ("RETURN lpad('x', 1000000000, 'y')", "There is no function lpad"),
    ("RETURN apoc.text.join(['a'], ',')", "There is no function"),
    ("RETURN cast('x' AS INT64)", "There is no function cast"),
    ("RETURN startNode(r)", "There is no function startNode"),
    ("RETURN `count`(1)", "has no meaning after RETURN"),
    ("RETURN toLower(DISTINCT 'x')", "DISTINCT has no meaning"),
    # paths
    ("MATCH (a)-[*]-(b) RETURN b", "without an end"),
    ("MATCH (a)-[*2..]-(b) RETURN b", "without an end"),
    ("MATCH (a)-[*1..9]-(b) RETURN b", "too long"),
    ("MATCH (a)-[*99999999999]-(b) RETURN b", "too long"),
    ("MATCH (a)-[*3..2]-(b) RETURN b", "cannot be"),
    ("MATCH p = shortestPath((a)-[*]-(b)) RETURN p", "without an end"),
    ("MATCH p = shortestPath((a)--(b)) RETURN p", "shortest path"),
    ("MATCH (a)-[r*1..2 (e, n | WHERE e.x > 1)]-(b) RETURN b", "']' is missing"),
    ("MATCH (a)-[* SHORTEST 1..3]-(b) RETURN b", "without an end"),
    ("MATCH (a)-[*1..2 {attitude: 1}]-(b) RETURN b", "takes no properties"),
    ("RETURN [(a)-->(b) | b.name]", "A list made of a pattern"),
    # shape
    ("", "The query is empty"),
    ("   // only a remark", "The query is empty"),
    ("MATCH (n)", "A query ends with RETURN"),
    ("WITH 1 AS x", "A query ends with RETURN"),
    ("RETURN", "A value is missing"),
    ("MATCH RETURN 1", "'(' is missing"),
    ("MATCH (n RETURN n", "')' is missing"),
    ("MATCH (n) WHERE RETURN n", "is a word of the language"),
    ("RETURN 1 RETURN 2", "has no meaning after RETURN"),
    ("RETURN 'not closed", "does not end"),
    ("RETURN 1 UNION RETURN 2 UNION ALL RETURN 3", "cannot be mixed"),
    ("MATCH (a) RETURN a.name UNION MATCH (b) RETURN b.name", "a.name and b.name are not"),
    ("RETURN 1 AS x, 2 AS y UNION RETURN 3 AS y, 4 AS x", "x, y and y, x are not"),
    ("RETURN 1 AS x UNION RETURN 1 AS x, 2 AS y", "x and x, y are not"),
    ("MATCH (a)-[r]->(b) MATCH (a)-[r]->(b)-[s]-(c) RETURN c", "relationship r has a name that is"),
    ("MATCH (a)-[r]-(b)-[R]-(c) RETURN c", "The relationship R has a name that is taken"),
    ("MATCH ()-[r]-(b) WHERE EXISTS { (a)-[r]-(b) } RETURN b", "has a name that is taken"),
    ("MATCH ()-[r]-(b) RETURN COUNT { (a)-[r]-(b) }", "has a name that is taken"),
    ("RETURN 1 AS", "A column is missing"),
    ("RETURN CASE END", "is a word of the language"),
    ("RETURN $missing", "The parameter $missing is not given"),
    ("RETURN 0x1F", "is no number"),
    ("RETURN 1abc", "is no number"),
    ("RETURN 99999999999999999999", "too large"),
    ("RETURN 1.", "The name of a property is missing"),
    ("RETURN n.", "The name of a property is missing"),
    ("RETURN {a: 1", "',' is missing"),
    ("USING PERIODIC COMMIT LOAD CSV FROM 'x' AS l RETURN l", "begins no clause"),
    ("CYPHER runtime=slotted RETURN 1", "begins no clause"),
]


@pytest.mark.parametrize(("query", "told"), REFUSED, ids=range(len(REFUSED)))
def test_it_is_refused(query, told):
    with pytest.raises(BadCypher) as caught:
        read(query, {})
    assert told in caught.value.message
    assert caught.value.code == "bad_cypher"
    assert caught.value.remedy


def test_a_name_of_a_relationship_is_free_again_where_it_is_no_longer_known():
    for query in (
        "MATCH (a)-[r]-(b) WITH a MATCH (a)-[r]-(c) RETURN c",
        "MATCH (a) WHERE EXISTS { (a)-[r]->() } AND EXISTS { (a)<-[r]-() } RETURN a",
    ):
        assert write(read(query, {}), NOW).count("`r`") >= 2


def test_the_place_is_told():
    with pytest.raises(BadCypher, match="line 2, column 3"):
        read("MATCH (n)\n  CREATE (m)", {})


def test_brackets_have_a_depth():
    read("RETURN " + "(" * 20 + "1" + ")" * 20, {})
    for deep in (
        "(" * 1500 + "1" + ")" * 1500,
        "[" * 1500,
        "NOT " * 3000 + "TRUE",
        "-" * 3000 + "1",
    ):
        with pytest.raises(BadCypher, match="nested"):
            read("RETURN " + deep, {})


def test_queries_have_a_length():
    for long, told in ((" " * 20_001, "characters"), ("1 +" * 5_000 + " 1", "words and signs")):
        with pytest.raises(BadCypher, match=told):
            read("RETURN " + long, {})
    with pytest.raises(BadCypher, match="clauses"):
        read("WITH 1 AS x " * 60 + "RETURN x", {})


@pytest.mark.parametrize(
    "value",
    [
        2**63,
        float("nan"),
        float("inf"),
        "a\0b",
        "\ud800",
        {"a`b": 1},
        {1: 2},
        {"a b": 1},
        b"bytes",
        {1, 2},
        object(),
        [[[[[[[[[[[[1]]]]]]]]]]]],
        [0] * 10_001,
    ],
    ids=lambda value: repr(value)[:20].partition(" at ")[0],
)
def test_a_parameter_that_has_no_meaning_is_refused(value):
    with pytest.raises(BadCypher, match=r"\$x"):
        read("RETURN $x", {"x": value})


@pytest.mark.parametrize(
    "query",
    [
        "RETURN 'CREATE (n); DROP TABLE Person' AS text",
        "RETURN \"LOAD FROM '/etc/passwd'\"",
        "MATCH (n) WHERE n.name = '/* not a remark */ // nor this' RETURN n",
        "MATCH (n) RETURN n.type, n.set, n.`index`",
        "/* CREATE */ RETURN 1 // DELETE",
        "RETURN 1;",
        "RETURN 1 ; // the end\n",
        "MATCH (created)-[setting]->(loader) RETURN created, setting, loader",
        "RETURN 'שלום', '日本', '🎉'",
        "RETURN 'it\\'s', \"a \\\"b\\\"\", '\\u05d0\\n\\\\'",
    ],
)
def test_what_only_looks_forbidden_is_read(query):
    assert read(query, {})
