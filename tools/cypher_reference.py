"""The reference of Cypher: what a query may say, and what it is told that says something else. The
messages are those of the reader and the writer themselves, asked for each example."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from commonplace.errors import BadCypher
from commonplace.recall.cypher.reader import CLAUSES, read
from commonplace.recall.cypher.words import functions, refused_words
from commonplace.recall.cypher.write import write

_NOW = datetime(2026, 3, 1, tzinfo=UTC)

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
        "MATCH (n:Person:Entity) RETURN n",
        "MATCH ()-[r:OWNS]->() RETURN r",
        "MATCH (a)-[*]-(b) RETURN b",
        "MATCH (a)-[*1..9]-(b) RETURN b",
        "MATCH (a)-[*1..2 {attitude: 1}]-(b) RETURN b",
        "MATCH p = shortestPath((a)--(b)) RETURN p",
        "MATCH (a)-[r]-(b) MATCH (b)-[r]-(c) RETURN c",
        "MATCH (n) OPTIONAL MATCH p = (n)--() RETURN p",
        "MATCH (a)" + "--()" * 21 + " RETURN a",
    ),
    "Functions": (
        "RETURN randomUUID()",
        "MATCH ()-[r]->() RETURN startNode(r)",
        "RETURN apoc.text.join(['a'], ',')",
        "RETURN toLower(DISTINCT 'A')",
        "RETURN toLower('a', 'b')",
        "RETURN exists('a')",
        "RETURN left('abc', -1)",
        "RETURN split('abc', '')",
        "RETURN size(1)",
        "RETURN toString([1, 2])",
        "RETURN toInteger([1])",
        "RETURN toFloat(true)",
        "RETURN toBoolean(0.5)",
        "RETURN reverse(1)",
        "RETURN datetime('tomorrow')",
        "RETURN duration('a week')",
        "RETURN duration('P1D').days",
        "RETURN datetime.truncate('fortnight')",
    ),
    "Lists and maps": (
        "RETURN [1, 2, 3][-2..]",
        "MATCH (a) RETURN [(a)-->(b) | b.name]",
        "MATCH (n) RETURN n {.*}",
        "RETURN [i IN [1, 2] | [j IN [1, 2] | i + j]]",
        "UNWIND [1, 2] AS x RETURN reduce(all = 0, i IN [j IN [1, 2] | j + x] | all + i)",
    ),
    "Names, values and limits": (
        "RETURN *",
        "RETURN $missing",
        "MATCH (delete) RETURN delete",
        "MATCH (`a;b`) RETURN 1",
        "MATCH (ñ) RETURN ñ",
        "RETURN 0x1F",
        "RETURN 99999999999999999999",
        "RETURN 1 LIMIT -1",
        "RETURN " + "(" * 26 + "1" + ")" * 26,
        "RETURN " + "1 + " * 121 + "1",
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
        "## Words that are refused\n",
        "Wherever they begin a clause; they name no variable and no column, either.\n",
        "| words | the answer to the first of them |",
        "|---|---|",
        *_words(),
    ]
    for about, queries in REFUSED.items():
        lines += [f"\n## {about}\n", "| query | answer | remedy |", "|---|---|---|"]
        lines += [_row(query) for query in queries]
    return "\n".join(lines) + "\n"


_ABOUT = """# Cypher

What `traverse(mode="cypher")` takes, and what it says to the rest. [The graph](../graph.md) has
examples, `commonplace traverse --schema` prints labels and properties, and
[why it is so](../decisions/0025-cypher-engine.md) tells what was tried. Every refusal is the error
`bad_cypher`, and nothing was run.
"""
_OTHERWISE = """**Other than in Neo4j.** `id(n)` is the entity key. `keys(n)` and `properties(n)`
name every property that is declared, also where it is null. A duration between two moments is told
in days and hours, not in months. `list_sort`, `list_distinct`, `list_contains`, `levenshtein` and
`date_part` are extras. A text and a number are not joined or compared: the answer says which two.
"""


def _function_names() -> list[str]:
    return sorted((f"`{each.name}`" for each in functions().values()), key=str.lower)


def _words() -> Iterable[str]:
    groups: dict[str, list[str]] = {}
    for word, why in refused_words().items():
        groups.setdefault(why, []).append(word)
    for words in groups.values():
        told = refusal(words[0]).message
        yield f"| {', '.join(f'`{word}`' for word in words)} | {told} |"


def refusal(query: str) -> BadCypher:
    """What whoever asks it is told. Raises ValueError for a query that is answered."""
    try:
        write(read(query, {}), _NOW)
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
