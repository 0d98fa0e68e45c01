"""The words that a query may not use, and the functions that it may. Both lists are data."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

_HERE = "commonplace.recall.cypher"


@dataclass(frozen=True, slots=True)
class Function:
    name: str  # as it is documented
    spellings: tuple[str, ...]  # of the engine; none: rewrite.py knows it
    is_aggregate: bool = False

    @property
    def most(self) -> int:
        return _arguments(self.spellings[-1])

    def spelling(self, arguments: int) -> str | None:
        """For so many arguments; None: it does not take as many."""
        return next((one for one in self.spellings if _arguments(one) == arguments), None)


def _arguments(spelling: str) -> int:
    return sum(1 for number in range(10) if f"{{{number}}}" in spelling)


@cache
def functions() -> dict[str, Function]:
    """By their names in lower case."""
    found: dict[str, Function] = {}
    for group, listed in _data("functions.toml").items():
        for name, told in listed.items():
            spellings = tuple(told) if isinstance(told, list) else (told,) if told else ()
            found[name.lower()] = Function(name, spellings, group == "aggregates")
    return found


@cache
def refused_words() -> dict[str, str]:
    """Why each is refused."""
    groups = _data("words.toml")["refused"]
    return {word: group["why"] for group in groups for word in group["words"]}


@cache
def reserved_words() -> frozenset[str]:
    return frozenset(_data("words.toml")["reserved"]["words"])


def _data(file: str) -> dict[str, Any]:
    text = resources.files(_HERE).joinpath(file).read_text(encoding="utf-8")
    return tomllib.loads(text)
