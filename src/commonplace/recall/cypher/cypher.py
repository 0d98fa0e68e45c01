"""Asking the graph in Cypher."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from typing import Any

from commonplace.errors import BadCypher, BadSettings, QueryEngineFailed, QueryTooCostly
from commonplace.model.graph.picture import Picture
from commonplace.recall.cypher.answers import shortened
from commonplace.recall.cypher.messages import Message
from commonplace.recall.cypher.pool import Pool
from commonplace.recall.cypher.project import Filling, fillings
from commonplace.recall.cypher.reader import read
from commonplace.recall.cypher.scope import columns_of
from commonplace.recall.cypher.tree import Projection, Query
from commonplace.recall.cypher.write import write

ENGINE = "ladybug"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    seconds: float = 5.0
    rows: int = 1_000
    size: int = 4_000_000  # characters of an answer, about


DEFAULT = Limits()


@dataclass(frozen=True, slots=True)
class Rows:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool  # there is more


class Cypher:
    def __init__(self, processes: int = 2) -> None:
        self._pool = Pool(processes)

    def run(
        self,
        key: str,
        load: Callable[[], Picture],
        now: datetime,
        query: str,
        params: Mapping[str, Any] | None = None,
        verbose: bool = False,
        limits: Limits = DEFAULT,
    ) -> Rows:
        """``key`` names what ``load`` shows: owner, graph revision and who looks. What is written
        in the picture by the clock (salience, live notes) is of the first asking with a key."""
        asked = read(query, params or {})
        written = write(asked, now)
        _check_installed()

        def filled() -> Iterator[Filling]:
            return fillings(load(), now)

        question = {
            "do": "query",
            "key": key,
            "query": written,
            "in_order": orders_on_the_way(asked),
            "rows": limits.rows,
            "size": limits.size,
        }
        answer = self._pool.ask(key, filled, Message(question), limits.seconds)
        if "failed" in answer:
            raise _told(answer["failed"], answer["why"])
        return _rows(asked, answer, verbose)

    def pids(self) -> list[int]:
        """Of the processes that wait for a query."""
        return self._pool.pids()

    def close(self) -> None:
        self._pool.close()


def _check_installed() -> None:
    if find_spec(ENGINE) is None:
        raise BadSettings(
            f"Cypher needs the package '{ENGINE}', which is not installed.",
            remedy="pip install 'commonplace[graph]'",
        )


def _rows(asked: Query, answer: Mapping[str, Any], verbose: bool) -> Rows:
    shown = answer["rows"] if verbose else shortened(answer["rows"])
    columns = columns_of(asked.parts[0])
    return Rows(tuple(columns), tuple(tuple(row) for row in shown), answer["truncated"])


def orders_on_the_way(asked: Query) -> bool:
    """Whether a WITH orders. The engine's optimizer forgets that order, and with a LIMIT even keeps
    the wrong rows: such a query is run without it."""
    clauses = (clause for part in asked.parts for clause in part)
    return any(isinstance(one, Projection) and one.order and not one.is_return for one in clauses)


_KINDS = re.compile(r"^(\w+) exception: ", re.I)
_CUT_OFF = re.compile(r"\.? Supported inputs are$|:$")  # a list follows, on other lines
_OTHER_TYPES = ("Cast failed", "Implicit cast", "is not a valid", "Supported inputs are")
_OF_TYPES = (
    "A text and a number are not compared or joined: write toString(…) or toInteger(…) around one "
    "of them. `traverse --schema` tells what each property holds."
)
_NO_PROPERTY = "STRUCT_EXTRACT"
_OF_PROPERTIES = (
    "Nodes, relationships and maps have properties, and moments have year, quarter, month, week, "
    "day, hour, minute, second and dayOfWeek. `traverse --schema` lists those of each label."
)
_NO_KIND = "with ANY type"
_NO_MEMORY = ("bad_alloc", "Buffer manager", "buffer pool is full")


def _told(kind: str, why: str) -> BadCypher | QueryTooCostly | QueryEngineFailed:
    """The engine's complaint, without what only its own people understand."""
    if kind == "memory" or any(sign in why for sign in _NO_MEMORY):
        return QueryTooCostly("The query needed more memory than it may have.")
    if "Interrupted" in why:
        return QueryTooCostly("The query took too long.")
    if "Assertion failed" in why or "UNREACHABLE" in why:
        return BadCypher("The engine does not know how to answer this query.")
    if _NO_PROPERTY in why:
        return BadCypher("The query asks for a property of what has none.", remedy=_OF_PROPERTIES)
    if _NO_KIND in why:
        return BadCypher(
            "The query has a null of which cannot be told what it is in place of.",
            remedy="Leave it out, or say what it would be: toString(null), toInteger(null).",
        )
    first = (
        _KINDS.sub("", why.strip()).splitlines()[0][:300].replace("`", "") if why else "it failed"
    )
    told = _CUT_OFF.sub(".", first)
    remedy = _OF_TYPES if any(sign in why for sign in _OTHER_TYPES) else None
    return BadCypher(f"The query cannot be answered: {told}", remedy=remedy)
