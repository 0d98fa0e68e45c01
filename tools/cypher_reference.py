"""The reference of Cypher: what a query may use, and the error for what it may not. The messages
are those of the parser and the checks, which are run for each example."""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.engine.graph_search.cypher.execution.budget import (
    CHARACTERS_PER_STEP,
    DEFAULT_LIMITS,
    VALUE_DIVISOR,
)
from commonplace.engine.graph_search.cypher.execution.operators import MAX_MATCHED_LENGTH
from commonplace.engine.graph_search.cypher.query import CHECKED_FUNCTIONS, FUNCTION_NAMES
from commonplace.engine.graph_search.cypher.schema import SchemaNames
from commonplace.engine.graph_search.cypher.syntax.checks import checked
from commonplace.engine.graph_search.cypher.syntax.parser import CLAUSES, parse
from commonplace.engine.graph_search.cypher.syntax.tokens import REFUSED_WORDS
from commonplace.errors import BadCypher

# By what they show. None of them asks for anything that is not there.
REFUSED: dict[str, tuple[str, ...]] = {
    "More than one query, and none": (
        "RETURN 1; RETURN 2",
        "RETURN 1 RETURN 2",
        "MATCH (n)",
        "RETURN 1 UNION RETURN 2 UNION ALL RETURN 3",
        "RETURN 1 AS a UNION RETURN 2 AS b",
    ),
    "Patterns": (
        "MATCH (n:Secret) RETURN n",
        "MATCH ()-[r:OWNS]->() RETURN r",
        "MATCH (n {nickname: 'x'}) RETURN n",
        "MATCH (n $properties) RETURN n",
        "MATCH p = shortestPath((a)--(b)--(c)) RETURN p",
        "MATCH (a)-[r]-(b)-[r]-(c) RETURN c",
        "MATCH (a)-[*2000000]-(b) RETURN b",
        "MATCH (a)" + "--()" * 21 + " RETURN a",
        "MATCH (n) RETURN (n)--()",
        "MATCH (n) WHERE (n)--(m) RETURN n",
    ),
    "Variables and kinds of values": (
        "RETURN x",
        "MATCH (n)-[n]-() RETURN n",
        "MATCH ()-[r]-() MATCH (r) RETURN r",
        "MATCH (p) MATCH p = (q) RETURN p",
        "MATCH (n) UNWIND [1] AS n RETURN n",
        "MATCH p = ()--() RETURN p.name",
        "MATCH (n) RETURN type(n)",
        "MATCH (n) WHERE n RETURN n",
    ),
    "Columns and aggregates": (
        "RETURN *",
        "MATCH (n) WITH n.name RETURN 1",
        "RETURN 1 AS a, 2 AS a",
        "MATCH (n) WHERE count(n) > 1 RETURN n",
        "RETURN count(count(*))",
        "RETURN count(rand())",
        "MATCH (n) RETURN n.salience + count(*)",
        "MATCH (n) RETURN n.name ORDER BY count(*)",
        "MATCH (n) RETURN n LIMIT n.salience",
        "RETURN 1 LIMIT count(*)",
        "RETURN 1 LIMIT -1",
    ),
    "Functions": (
        "RETURN randomUUID()",
        "RETURN apoc.text.join(['a'], ',')",
        "RETURN toLower(DISTINCT 'A')",
        "RETURN toLower('a', 'b')",
        "RETURN exists('a')",
    ),
    "Names, values and limits": (
        "RETURN $missing",
        "MATCH (delete) RETURN delete",
        "RETURN 1abc",
        "RETURN 99999999999999999999",
        "RETURN '\\x41'",
        "RETURN " + "(" * 41 + "1" + ")" * 41,
        "RETURN " + "1 + " * 200 + "1",
        "WITH 1 AS x " * 51 + "RETURN x",
        "RETURN " + " " * 20_000 + "1",
    ),
}


def cypher() -> str:
    lines = [
        _ABOUT,
        f"**Clauses.** {CLAUSES}.\n",
        f"**Functions.** {', '.join(_function_names())}.\n",
        _OTHERWISE,
        _LIMITS,
        "## Words that are refused\n",
        "Each where it begins a clause.\n",
        "| words | the answer to the first of them |",
        "|---|---|",
        *_words(),
    ]
    for about, queries in REFUSED.items():
        lines += [f"\n## {about}\n", "| query | answer | remedy |", "|---|---|---|"]
        lines += [_row(query) for query in queries]
    return "\n".join(lines) + "\n"


_ABOUT = """# Cypher

`traverse(mode="cypher")` runs openCypher queries that read, by an interpreter of our own over the
caller's visible graph. [The graph](../graph.md) has examples, `commonplace traverse --schema`
prints labels and properties, and [the decision](../decisions/0025-cypher-engine.md) has the reasons
and the numbers. Every refusal below is the error `bad_cypher`, before anything runs. A value that
is not possible, such as a division by zero, is the same error while the query runs. A query that
passes a limit while it runs is the error `query_too_costly`.
"""
_OTHERWISE = """**Expressions.** Three-valued logic with null; `=`, `<>`, `<`, `<=`, `>`, `>=`,
also in chains; `IN`, `STARTS WITH`, `ENDS WITH`, `CONTAINS`, `=~`, `IS NULL`, `AND`, `OR`,
`XOR`, `NOT`; `CASE`; lists, slices and list comprehensions; maps and map projections; `all`,
`any`, `none`, `single`, `reduce`; `EXISTS { … }` and `COUNT { … }`; patterns as conditions and
pattern comprehensions; parameters; dates, times, datetimes and durations.

**Other than in Neo4j.** `id(n)` is the entity key. A string that is compared with a property that
holds a moment stands for that moment: `r.valid_to > '2026-01-31'`. Labels, types and properties
that the schema does not declare are errors; labels and types are known in upper and lower case.
`=~` has the syntax of RE2, without lookaround and back-references. A shortest path is looked for
before the conditions in WHERE. `list_sort`, `list_distinct`, `list_contains`, `levenshtein` and
`date_part` are extras. Not offered are the words below, `COLLECT { … }`, `WHERE` within a pattern,
quantified path patterns, `CALL` subqueries, points, and procedures.
"""
_MEGABYTE = 1_000_000
_MEMORY, _VALUE = DEFAULT_LIMITS.memory, DEFAULT_LIMITS.memory // VALUE_DIVISOR
_LIMITS = f"""**Limits.** {DEFAULT_LIMITS.seconds:g} seconds; {DEFAULT_LIMITS.steps:,} steps: nodes,
relationships, rows, items of lists and maps, and each {CHARACTERS_PER_STEP} characters of a long
string; {_MEMORY // _MEGABYTE} MB that a query keeps, of which one list, map or string takes at most
{_VALUE // _MEGABYTE} MB; {DEFAULT_LIMITS.rows:,} rows and {DEFAULT_LIMITS.size:,} characters of an
answer. More rows are cut off, and the answer says so; a first row that is too large is an error.
Bytes are estimated, and what a list holds several times counts several times. `=~` takes at most
{MAX_MATCHED_LENGTH:,} characters of text. `UNWIND range(…)` makes no list. Over REST a query ends
when the client closes the connection.
"""


def _function_names() -> list[str]:
    return [f"`{name}`" for name in FUNCTION_NAMES]


def _words() -> Iterable[str]:
    groups: dict[str, list[str]] = {}
    for word, why in REFUSED_WORDS.items():
        groups.setdefault(why, []).append(word)
    for words in groups.values():
        told = refusal(words[0]).message
        yield f"| {', '.join(f'`{word}`' for word in words)} | {told} |"


def refusal(query: str) -> BadCypher:
    """The error of a query. Raises ValueError for one that is not refused."""
    try:
        checked(parse(query), {}, CHECKED_FUNCTIONS, SchemaNames())
    except BadCypher as refused:
        return refused
    raise ValueError(query)


def _row(query: str) -> str:
    refused = refusal(query)
    cells = (_shown(query), refused.message, _remedy(refused))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _remedy(refused: BadCypher) -> str:
    """Without what stands on top of the page."""
    remedy = refused.remedy or ""
    if remedy == BadCypher.default_remedy:
        return ""
    return "The functions above." if remedy.startswith("Functions:") else remedy


def _shown(query: str) -> str:
    if "  " in query:
        return "20,000 spaces"
    short = query if len(query) <= 100 else f"{query[:50]} … {query[-30:]}"
    return f"`` {short} ``" if "`" in short else f"`{short}`"
