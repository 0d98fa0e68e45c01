"""What is not allowed is refused before anything runs, and the error says what and where."""

import pytest

from commonplace.engine.graph_search.cypher.query import checked_parameter
from commonplace.errors import BadCypher
from support.cypher_soups import checked_query

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
    ("RETURN 1 UNION CREATE (n) RETURN n", "CREATE is not allowed"),
    # the shape of the data
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
    # names
    ("MATCH (delete) RETURN delete", "is a word of the language"),
    ("MATCH (``) RETURN 1", "A backtick"),
    ("MATCH (`a) RETURN 1", "A backtick"),
    ("MATCH (n:Secret) RETURN n", "There is no label Secret"),
    ("MATCH ()-[r:OWNS]->() RETURN r", "There is no relationship OWNS"),
    # functions
    ("RETURN current_setting('home_directory')", "There is no function current_setting"),
    ("RETURN gen_random_uuid()", "There is no function gen_random_uuid"),
    ("RETURN randomUUID()", "There is no function randomuuid"),
    ("RETURN nextval('x')", "There is no function nextval"),
    ("RETURN read_csv('/etc/passwd')", "There is no function read_csv"),
    ("RETURN error('x')", "There is no function error"),
    ("RETURN repeat('x', 1000000000)", "There is no function repeat"),
    ("RETURN lpad('x', 1000000000, 'y')", "There is no function lpad"),
    ("RETURN apoc.text.join(['a'], ',')", "There is no function"),
    ("RETURN toLower(DISTINCT 'x')", "DISTINCT has no meaning"),
    # paths
    ("MATCH (a)-[r*1..2 (e, n | WHERE e.x > 1)]-(b) RETURN b", "']' is missing"),
    ("MATCH (a)-[*99999999999]-(b) RETURN b", "too long"),
    ("MATCH (a)-[r]-(b)-[r]-(c) RETURN c", "named twice in one MATCH"),
    ("MATCH (a)" + "--()" * 21 + " RETURN a", "limit is 20"),
    ("MATCH (n) WHERE EXISTS { CREATE (m) } RETURN n", "CREATE is not allowed"),
    ("MATCH (n) RETURN COUNT { MATCH (n) DELETE n }", "DELETE is not allowed"),
    # static checks
    ("RETURN x", "The variable x is not defined"),
    ("MATCH (n) RETURN m.name", "The variable m is not defined"),
    ("MATCH (n) WITH n.name AS name RETURN n", "The variable n is not defined"),
    ("MATCH (n) WHERE (n)--(m) RETURN n", "The variable m is not defined"),
    ("RETURN [x IN [1] | x] + x", "The variable x is not defined"),
    ("MATCH (n) WHERE count(n) > 1 RETURN n", "An aggregate does not stand in WHERE"),
    ("RETURN count(count(*))", "does not stand in another"),
    ("UNWIND [count(*)] AS x RETURN x", "An aggregate does not stand in UNWIND"),
    ("MATCH (n) RETURN n.name ORDER BY count(*)", "ORDER BY has an aggregate"),
    ("MATCH (n) RETURN n.salience + count(*)", "is no grouping key"),
    ("MATCH (n)-[n]-() RETURN n", "is a node, and no relationship"),
    ("WITH 1 AS n MATCH (n) RETURN n", "is an integer, and no node"),
    ("MATCH p = (p) RETURN p", "is a path, and no node"),
    ("MATCH (p) MATCH p = (q) RETURN p", "is bound already"),
    ("MATCH (n) UNWIND [1] AS n RETURN n", "is bound already"),
    ("MATCH (n) WITH n.name RETURN 1", "has no name"),
    ("RETURN 1 AS a, 2 AS a", "is there twice"),
    ("MATCH (n) RETURN n LIMIT n.x", "takes a constant"),
    ("RETURN 1 SKIP -1", "not negative"),
    ("RETURN 1 LIMIT 1.5", "not negative"),
    ("RETURN 1 LIMIT 'x'", "not negative"),
    ("MATCH (n) RETURN (n)--()", "A pattern is no value"),
    ("MATCH (n) RETURN size((n)--())", "A pattern is no value"),
    ("MATCH (n) WHERE n RETURN n", "True or false is expected"),
    ("MATCH (n) RETURN type(n)", "takes a relationship"),
    ("MATCH p = ()--() RETURN p.name", "of a path"),
    ("MATCH (p:Person) RETURN p.nickname", "There is no property nickname"),
    ("MATCH (p:Person {nickname: 'x'}) RETURN p", "There is no property nickname"),
    ("MATCH (n $all) RETURN n", "A parameter does not stand for all"),
    ("MATCH p = shortestPath((a)--(b)--(c)) RETURN p", "between two nodes"),
    ("RETURN CASE END", "is a word of the language"),
    # shape
    ("", "The query is empty"),
    ("   // only a remark", "The query is empty"),
    ("MATCH (n)", "A query ends with RETURN"),
    ("WITH 1 AS x", "A query ends with RETURN"),
    ("RETURN", "A value is missing"),
    ("MATCH RETURN 1", "'(' is missing"),
    ("MATCH (n RETURN n", "')' is missing"),
    ("RETURN 1 RETURN 2", "has no meaning after RETURN"),
    ("RETURN 'not closed", "does not end"),
    ("RETURN 1 UNION RETURN 2 UNION ALL RETURN 3", "cannot be mixed"),
    ("MATCH (a) RETURN a.name UNION MATCH (b) RETURN b.name", "a.name and b.name are not"),
    ("RETURN 1 AS x, 2 AS y UNION RETURN 3 AS y, 4 AS x", "x, y and y, x are not"),
    ("RETURN 1 AS x UNION RETURN 1 AS x, 2 AS y", "x and x, y are not"),
    ("RETURN 1 AS", "A column is missing"),
    ("RETURN $missing", "The parameter $missing is not given"),
    ("RETURN 1abc", "is no number"),
    ("RETURN 99999999999999999999", "too large"),
    ("RETURN 1.", "The name of a property is missing"),
    ("RETURN n.", "The name of a property is missing"),
    ("RETURN {a: 1", "',' is missing"),
    ("USING PERIODIC COMMIT LOAD CSV FROM 'x' AS l RETURN l", "begins no clause"),
    ("CYPHER runtime=slotted RETURN 1", "begins no clause"),
]


@pytest.mark.parametrize(("query", "told"), REFUSED, ids=range(len(REFUSED)))
def test_cypher_checker_refuses_forbidden_and_malformed_queries(query, told):
    with pytest.raises(BadCypher) as caught:
        checked_query(query, {})
    assert told in caught.value.message
    assert caught.value.code == "bad_cypher"
    assert caught.value.remedy


def test_cypher_error_gives_line_and_column():
    with pytest.raises(BadCypher, match="line 2, column 3"):
        checked_query("MATCH (n)\n  CREATE (m)", {})


def test_cypher_checker_limits_nesting_depth():
    checked_query("RETURN " + "(" * 20 + "1" + ")" * 20, {})
    for deep in (
        "(" * 1500 + "1" + ")" * 1500,
        "[" * 1500,
        "NOT " * 3000 + "TRUE",
        "-" * 3000 + "1",
        "1" + " + 1" * 1900,
        "TRUE" + " AND TRUE" * 1900,
        "{a: 1}" + ".a" * 1900,
        "[1]" + "[0]" * 1900,
    ):
        with pytest.raises(BadCypher, match="nested"):
            checked_query("RETURN " + deep, {})


def test_cypher_checker_limits_length_tokens_and_clauses():
    for long, told in ((" " * 20_001, "characters"), ("1," * 5_000 + " 1", "words and signs")):
        with pytest.raises(BadCypher, match=told):
            checked_query("RETURN " + long, {})
    with pytest.raises(BadCypher, match="clauses"):
        checked_query("WITH 1 AS x " * 60 + "RETURN x", {})


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
def test_cypher_checker_refuses_unsupported_parameter_values(value):
    with pytest.raises(BadCypher, match=r"\$x"):
        checked_parameter("x", value)


@pytest.mark.parametrize(
    "query",
    [
        "RETURN 'CREATE (n); DROP TABLE Person' AS text",
        "RETURN \"LOAD FROM '/etc/passwd'\"",
        "MATCH (n) WHERE n.name = '/* not a remark */ // nor this' RETURN n",
        "WITH {set: 1, index: 2} AS n RETURN n.set, n.`index`",
        "MATCH (ñ:Person) RETURN ñ AS `a;b`",
        "/* CREATE */ RETURN 1 // DELETE",
        "RETURN 1;",
        "RETURN 1 ; // the end\n",
        "MATCH (created)-[setting]->(loader) RETURN created, setting, loader",
        "RETURN 'שלום', '日本', '🎉'",
        "RETURN 'it\\'s', \"a \\\"b\\\"\", '\\u05d0\\n\\\\'",
    ],
)
def test_cypher_checker_accepts_forbidden_words_in_strings_and_names(query):
    assert checked_query(query, {})
