"""Made-up queries: soups of words, and broken and hostile ones. Each is refused or only reads."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

from commonplace.engine.graph_search.cypher.execution.budget import QueryLimits
from commonplace.engine.graph_search.cypher.query import (
    CHECKED_FUNCTIONS,
    FUNCTION_NAMES,
    CypherQueries,
)
from commonplace.engine.graph_search.cypher.schema import SchemaNames
from commonplace.engine.graph_search.cypher.syntax.checks import checked
from commonplace.engine.graph_search.cypher.syntax.parser import parse
from commonplace.engine.graph_search.cypher.syntax.tokens import REFUSED_WORDS, RESERVED_WORDS
from commonplace.engine.graph_search.cypher.syntax.tree import CypherQuery
from commonplace.errors import CommonplaceError
from support.small_graph import NOW, small_graph

CANARY = "the canary's own words"
_LIMITS = QueryLimits(rows=20, seconds=20)

_WORDS = (
    sorted(RESERVED_WORDS),
    sorted(REFUSED_WORDS),
    [f"{name}(" for name in FUNCTION_NAMES],
)
_NAMES = ["n", "m", "r", "p", "x", "Person", "Entity", "mentions", "name", "notes", "n.name", "n.x"]
_SIGNS = [*"()[]{},.:;|=<>+-*/%^$", "<>", "<=", ">=", "=~", "..", "->", "<-", "--", "*1..3"]
_VALUES = ["1", "0", "-1", "1.5", "1e3", "'x'", '"y"', "'it\\'s'", "$p", "$q", "null", "TRUE", "''"]
_REMARKS = ["// x\n", "/* x */", "/*", "*/", "//", "/* ; */", "-- x\n", "#", "/**/", "//\r"]
_ODD = [
    "\0", "\u00a0", "\u200b", "\u2028", "\ufeff", "\u202e", "\x0b", "\x1e", "\x1f", "\\", "`", "``",
    "`a`", "`CREATE`", "`a b`", "`a;b`", "'", '"', "ｎ", "М", "ı", "\u037e", "\\u0027", "'\\u0027'",
    "'\\'", "'\\\\'", "@", "!", "?", "~", "&", "\r", "\n", "\t", "１", "ﬁ",
]  # fmt: skip
_PIECES = [
    "MATCH (n:Person)",
    "MATCH (n)-[r]->(m)",
    "OPTIONAL MATCH (n)--(m)",
    "WHERE n.name = 'x'",
    "WITH n",
    "WITH n, count(*) AS c",
    "UNWIND n.notes AS x",
    "UNWIND [1, 2] AS x",
    "RETURN n",
    "RETURN n.name AS a",
    "RETURN *",
    "ORDER BY n.name",
    "LIMIT 3",
    "UNION ALL",
    "EXISTS { MATCH (n)--() }",
    "[x IN [1, 2] WHERE x > 1 | x]",
    "CASE WHEN TRUE THEN 1 ELSE 2 END",
    "datetime() - duration('P7D')",
]


def hostile_pieces(path: str) -> list[str]:
    return [
        f"LOAD FROM '{path}' RETURN *",
        f"LOAD FROM '{path}' (file_format='csv', header=false) RETURN *",
        f"COPY Team FROM '{path}'",
        f"COPY (MATCH (n) RETURN n) TO '{path}.out'",
        f"; LOAD FROM '{path}' RETURN *",
        f"' LOAD FROM '{path}' RETURN * //",
        f"*/ LOAD FROM '{path}' RETURN * /*",
        f"` LOAD FROM '{path}' RETURN * //`",
        f"\\' LOAD FROM \\'{path}\\' RETURN * //",
        "CREATE (:Team {entity_key: 'x'})",
        "SET n.name = 'x'",
        "DETACH DELETE n",
        "CALL show_tables() RETURN *",
        "DROP TABLE Person",
        "INSTALL httpfs",
        f"ATTACH '{path}' AS x (dbtype lbug)",
        f"read_csv('{path}')",
        f"{{`{path}`: 1}}",
    ]


def soup(chance: Random, path: str) -> str:
    """Words one after another, with and without space between them."""
    shelves = (
        *_WORDS,
        _NAMES,
        _SIGNS,
        _VALUES,
        _PIECES,
        _REMARKS,
        _ODD,
        hostile_pieces(path),
        [chr(chance.randrange(1, 0x3000))],
    )
    spaces = (" ", " ", " ", "", "\n", "/**/")
    count = chance.randint(1, 14)
    return "".join(
        chance.choice(chance.choice(shelves)) + chance.choice(spaces) for _ in range(count)
    )


def text(chance: Random, path: str) -> str:
    """For where a text stands: what would break out of it, if anything could."""
    match chance.randrange(3):
        case 0:
            return chance.choice(hostile_pieces(path))
        case 1:
            return "".join(chance.choice(_BREAKING) for _ in range(chance.randrange(9)))
        case _:
            return "".join(chr(chance.randrange(1, 0xD800)) for _ in range(chance.randrange(20)))


_BREAKING = ["'", '"', "\\", "`", "$", "/*", "*/", "//", ";", "\n", "a", "\u2028"]


def spelt(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def reading(chance: Random, path: str) -> tuple[str, dict[str, object]]:
    """A query that the reader takes, with hostile texts in it, and its parameters."""

    def value() -> str:
        plain = ("$p", str(chance.randrange(10)), "n.name")
        return spelt(text(chance, path)) if chance.random() < 0.6 else chance.choice(plain)

    def condition() -> str:
        sign = chance.choice(("=", "<>", "CONTAINS", "STARTS WITH"))
        return chance.choice(
            (
                f"{value()} {sign} {value()}",
                f"any(x IN n.notes WHERE x.content = {value()})",
                chance.choice(("(n)--()", "n:Person", "n.name IS NULL", "exists(n.name)")),
            )
        )

    def shown() -> str:
        shape = chance.choice(
            (
                "{}",
                "[x IN [{}] | x]",
                "{{a: {}}}",
                "toLower(toString({}))",
                "CASE WHEN TRUE THEN {} END",
            )
        )
        return shape.format(value())

    conditions = [condition() for _ in range(chance.randrange(4))]
    pieces = (
        chance.choice(("MATCH (n:Person)", "MATCH (n)", "MATCH (n)-[r]-(m)")),
        f" WHERE {' OR '.join(conditions)}" if conditions else "",
        chance.choice(_BETWEEN),
        " RETURN ",
        ", ".join(f"{shown()} AS c{number}" for number in range(chance.randint(1, 3))),
        chance.choice(_BETWEEN),
        chance.choice(("", " LIMIT 3", ";", " SKIP 1 LIMIT 2")),
    )
    given = text(chance, path)
    return "".join(pieces), {"p": given, "q": [given]}


_BETWEEN = ("", " // '; LOAD FROM x\n", " /* ' */ ", "\n", " /* CREATE */")


# ——— what must be true ———


def checked_query(query: str, params: dict[str, object]) -> CypherQuery:
    """The tree of a query that is let through. Raises BadCypher, and nothing else."""
    return checked(parse(query), params, CHECKED_FUNCTIONS, SchemaNames())


def run_many(engine: CypherQueries, canary: Path, chance: Random, count: int) -> Counter[str]:
    """Runs made-up queries that name a file which is there, and proves that none of its words came
    out, that no other file came to be, and that the graph is as it was."""
    before = _everything(engine)
    seen: Counter[str] = Counter()
    for number in range(count):
        is_soup = number % 4 == 0
        query, params = (soup(chance, str(canary)), {}) if is_soup else reading(chance, str(canary))
        try:
            rows = engine.run("small", small_graph, NOW, query, params, limits=_LIMITS)
            seen["answered"] += 1
            told = str(rows.rows)
        except CommonplaceError as error:
            seen[error.code] += 1
            told = error.message
        assert CANARY not in told, query
    assert _everything(engine) == before
    assert [path.name for path in canary.parent.iterdir()] == [canary.name]
    assert canary.read_text() == CANARY
    return seen


def _everything(engine: CypherQueries) -> object:
    return engine.run("small", small_graph, NOW, "MATCH (n) RETURN n.entity_key, n.name").rows
