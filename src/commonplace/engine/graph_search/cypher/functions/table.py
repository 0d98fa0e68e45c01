"""The table of functions, and the checks of arguments that they share."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from commonplace.engine.graph_search.cypher.execution.budget import QueryBudget
from commonplace.engine.graph_search.cypher.values import is_number, type_name
from commonplace.errors import BadCypher


@dataclass(frozen=True, slots=True)
class FunctionContext:
    """What a function may use besides its arguments."""

    budget: QueryBudget
    now: datetime
    random: random.Random = field(default_factory=random.Random)


@dataclass(frozen=True, slots=True)
class CypherFunction:
    name: str  # as it is documented
    least: int  # arguments
    most: int
    call: Callable[..., Any]
    takes_null: bool = False  # else null in gives null out
    takes_context: bool = False


class FunctionTable(dict[str, CypherFunction]):
    """Functions by their names in lower case."""

    def add(self, name: str, least: int, most: int, call: Callable[..., Any], **more: bool) -> None:
        self[name.lower()] = CypherFunction(name, least, most, call, **more)


def wrong_argument(name: str, takes: str, value: Any) -> BadCypher:
    return BadCypher(f"{name}() takes {takes}, not {type_name(value)}.")


def text_argument(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise wrong_argument(name, "a string", value)
    return value


def number_argument(name: str, value: Any) -> Any:
    if not is_number(value):
        raise wrong_argument(name, "a number", value)
    return value


def integer_argument(name: str, value: Any) -> int:
    if type(value) is not int:
        raise wrong_argument(name, "an integer", value)
    return value


def list_argument(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise wrong_argument(name, "a list", value)
    return value
