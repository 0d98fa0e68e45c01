"""The scenarios of the openCypher compatibility kit, run on the interpreter.

The kit is no part of the project. Its folder is looked for beside the project, or named by
OPENCYPHER_KIT.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commonplace.engine.graph_search.cypher.execution.budget import QueryLimits
from commonplace.engine.graph_search.cypher.query import run_query
from commonplace.engine.graph_search.cypher.temporal.types import Temporal
from commonplace.engine.graph_search.cypher.values import (
    CypherNode,
    CypherPath,
    CypherRelationship,
)
from commonplace.errors import BadCypher, CommonplaceError
from support.cypher_setup import NOW, GraphSetup

ROOT = Path(__file__).parents[2]
KIT = Path(os.environ.get("OPENCYPHER_KIT", ROOT.parent / "shared/data/opencypher-tck"))
LIMITS = QueryLimits(seconds=30)
PASSED, FAILED, REFUSED = "passed", "failed", "refused by design"


@dataclass
class Scenario:
    feature: str
    name: str
    setup: list[str] = field(default_factory=list)
    graph: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    query: str = ""
    expected: list[list[str]] | None = None  # the table, with its header
    in_order: bool = False
    any_list_order: bool = False
    error: str | None = None
    needs_procedure: bool = False


# ——— reading ———


def scenarios(folder: Path = KIT) -> Iterator[Scenario]:
    for path in sorted(folder.rglob("*.feature")):
        yield from _scenarios_in(path)


def _scenarios_in(path: Path) -> Iterator[Scenario]:
    lines = path.read_text(encoding="utf-8").splitlines()
    blocks: list[tuple[str, list[str]]] = []
    for line in lines:
        if re.match(r"\s*(Scenario|Background)", line):
            blocks.append((line.strip(), []))
        elif blocks:
            blocks[-1][1].append(line)
    background = [line for title, body in blocks if title.startswith("Back") for line in body]
    for title, body in blocks:
        if title.startswith("Background"):
            continue
        name = title.partition(":")[2].strip()
        for number, filled in enumerate(_filled(body)):
            suffix = f" #{number}" if title.startswith("Scenario Outline") else ""
            yield _scenario(path.stem, name + suffix, [*background, *filled])


def _filled(body: list[str]) -> Iterator[list[str]]:
    """The steps, once for each row of the examples."""
    at = next((i for i, line in enumerate(body) if line.strip().startswith("Examples")), None)
    if at is None:
        yield body
        return
    header, *rows = [cells(line) for line in body[at + 1 :] if line.strip().startswith("|")]
    for row in rows:
        values = dict(zip(header, row, strict=True))
        yield [
            re.sub(r"<(\w+)>", lambda m, values=values: values.get(m[1], m[0]), line)
            for line in body[:at]
        ]


def cells(line: str) -> list[str]:
    inner = line.strip()[1:-1]
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _scenario(feature: str, name: str, lines: list[str]) -> Scenario:
    made = Scenario(feature, name)
    at = 0
    while at < len(lines):
        step = lines[at].strip()
        at += 1
        if not step or step.startswith("#"):
            continue
        text, table, at = _argument(lines, at)
        if "having executed" in step:
            made.setup.append(text)
        elif "parameters are" in step:
            made.parameters = {key: value_of(value) for key, value in table}
        elif "executing query" in step or "executing control query" in step:
            made.query = text
        elif "result should be" in step:
            made.expected = table if "empty" not in step else made.expected
            made.in_order = "in order" in step
            made.any_list_order = "ignoring element order" in step
            if "should be empty" in step:
                made.expected = [[]]
        elif "should be raised" in step:
            made.error = step
        elif found := re.search(r"the (\S+) graph$", step):
            made.graph = found[1]
        elif "there exists a procedure" in step:
            made.needs_procedure = True
    return made


def _argument(lines: list[str], at: int) -> tuple[str, list[list[str]], int]:
    """The text or the table that follows a step."""
    while at < len(lines) and not lines[at].strip():
        at += 1
    if at < len(lines) and lines[at].strip() == '"""':
        end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == '"""')
        return "\n".join(lines[at + 1 : end]), [], end + 1
    table = []
    while at < len(lines) and lines[at].strip().startswith("|"):
        table.append(cells(lines[at]))
        at += 1
    return "", table, at


# ——— values as the kit writes them ———


def value_of(text: str) -> Any:
    """A plain value: of parameters."""
    return _plain(ValueParser(text).value())


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and value[0] == "float":
        return value[1]
    if isinstance(value, tuple) and value[0] == "list":
        return [_plain(each) for each in value[1]]
    if isinstance(value, tuple) and value[0] == "map":
        return {key: _plain(each) for key, each in value[1]}
    return value


class ValueParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def value(self) -> Any:
        self._space()
        here = self._text[self._at :]
        if here.startswith("'"):
            return self._string()
        if here.startswith("["):
            return self._relationship() if re.match(r"\[\s*:", here) else self._list()
        if here.startswith("{"):
            return ("map", self._map())
        if here.startswith("("):
            return self._node()
        if here.startswith("<"):
            return self._path()
        return self._scalar()

    def _space(self) -> None:
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1

    def _takes(self, sign: str) -> bool:
        self._space()
        if self._text.startswith(sign, self._at):
            self._at += len(sign)
            return True
        return False

    def _string(self) -> str:
        found = re.compile(r"'((?:[^'\\]|\\.)*)'").match(self._text, self._at)
        assert found, self._text
        self._at = found.end()
        return re.sub(
            r"\\(.)", lambda m: {"n": "\n", "t": "\t", "r": "\r"}.get(m[1], m[1]), found[1]
        )

    def _list(self) -> Any:
        self._takes("[")
        items = []
        while not self._takes("]"):
            items.append(self.value())
            self._takes(",")
        return ("list", tuple(items))

    def _map(self) -> Any:
        if not self._takes("{"):
            return ()
        items = {}
        while not self._takes("}"):
            self._space()
            found = re.compile(r"`?(\w+)`?\s*:").match(self._text, self._at)
            assert found, self._text
            self._at = found.end()
            items[found[1]] = self.value()
            self._takes(",")
        return tuple(sorted(items.items()))

    def _names(self) -> list[str]:
        names = []
        while self._takes(":"):
            found = re.compile(r"`?(\w+)`?").match(self._text, self._at)
            assert found, self._text
            self._at = found.end()
            names.append(found[1])
        return names

    def _node(self) -> Any:
        self._takes("(")
        labels = tuple(sorted(self._names()))
        told = self._map() if self._text[self._at :].lstrip().startswith("{") else ()
        self._takes(")")
        return ("node", labels, told)

    def _relationship(self) -> Any:
        self._takes("[")
        [type] = self._names()
        told = self._map() if self._text[self._at :].lstrip().startswith("{") else ()
        self._takes("]")
        return ("relationship", type, told)

    def _path(self) -> Any:
        self._takes("<")
        parts = [self._node()]
        while not self._takes(">"):
            backwards = self._takes("<-")
            if not backwards:
                self._takes("-")
            one = self._relationship()
            self._takes("-" if backwards else "->")
            parts += [(one, backwards), self._node()]
        return ("path", tuple(parts))

    def _scalar(self) -> Any:
        found = re.compile(r"[^,\]}\s]+").match(self._text, self._at)
        assert found, self._text
        self._at = found.end()
        word = found[0]
        if word in ("null", "true", "false"):
            return {"null": None, "true": True, "false": False}[word]
        if word == "NaN":
            return ("float", "NaN")
        if re.fullmatch(r"-?\d+", word):
            return int(word)
        return ("float", float(word.replace("Inf", "inf")))


def canonical(value: Any) -> Any:
    """An answer in the form of the parsed values."""
    if isinstance(value, float):
        return ("float", "NaN" if value != value else value + 0.0)
    if isinstance(value, list):
        return ("list", tuple(canonical(each) for each in value))
    if isinstance(value, dict):
        return ("map", _items(value))
    if isinstance(value, CypherNode):
        return ("node", tuple(sorted(value.labels)), _items(value.properties()))
    if isinstance(value, CypherRelationship):
        return ("relationship", value.type, _items(value.properties()))
    if isinstance(value, CypherPath):
        parts: list[Any] = [canonical(value.nodes[0])]
        for at, one in zip(value.nodes, value.relationships, strict=False):
            other = one.end if one.start is at else one.start
            parts += [(canonical(one), one.start is not at), canonical(other)]
        return ("path", tuple(parts))
    return str(value) if isinstance(value, Temporal) else value


def _items(value: dict[str, Any]) -> Any:
    return tuple(sorted((key, canonical(each)) for key, each in value.items()))


def _loose(value: Any) -> Any:
    """Without the order of lists."""
    if isinstance(value, tuple) and value and value[0] == "list":
        return ("list", tuple(sorted((_loose(each) for each in value[1]), key=repr)))
    return value


# ——— running ———


def run(scenario: Scenario, folder: Path = KIT) -> tuple[str, str]:
    """How it ended, and what was wrong."""
    if scenario.needs_procedure:
        return REFUSED, "CALL"
    setup = GraphSetup()
    if scenario.graph and scenario.graph not in ("empty", "any"):
        [script] = folder.rglob(f"{scenario.graph}.cypher")
        setup.run(script.read_text(encoding="utf-8"))
    for statement in scenario.setup:
        setup.run(statement, scenario.parameters)
    try:
        compiled = run_query(setup.graph, scenario.query, scenario.parameters, NOW, LIMITS)
        found = [[canonical(value) for value in row] for row in compiled.rows]
    except BadCypher as error:
        if scenario.error is not None:
            return PASSED, ""
        if "is not allowed" in error.message:
            return REFUSED, error.message.partition(" ")[0]
        return FAILED, error.message
    except CommonplaceError as error:
        return FAILED, error.message
    if scenario.error is not None:
        return FAILED, f"no error, but {found[:3]}"
    return _compared(scenario, list(compiled.columns), found)


def _compared(scenario: Scenario, columns: list[str], found: list[list[Any]]) -> tuple[str, str]:
    if scenario.expected is None:
        return FAILED, "nothing is expected"
    header, *rows = scenario.expected
    wanted = [[ValueParser(cell).value() for cell in row] for row in rows]
    if header and header != columns:
        if sorted(header) != sorted(columns):
            return FAILED, f"columns {columns}"
        found = [[row[columns.index(name)] for name in header] for row in found]
    if scenario.any_list_order:
        wanted = [[_loose(each) for each in row] for row in wanted]
        found = [[_loose(each) for each in row] for row in found]
    if not scenario.in_order:
        wanted, found = sorted(wanted, key=repr), sorted(found, key=repr)
    return (
        (PASSED, "") if repr(wanted) == repr(found) else (FAILED, f"{found[:6]} for {wanted[:6]}")
    )
