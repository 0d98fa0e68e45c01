"""All compiled patterns of the package, and texts that are hard for each of them.

A hard text repeats what one of the pattern's repetitions takes, after what the pattern wants before
it, and ends in what cannot match, so that every way of dividing the repeats is tried.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from re import _constants, _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import commonplace

UNBOUNDED = 100  # repetitions; fewer do not make a text long
_SAMPLE = "a1 .,-\n\tA_'\"@<>:;!?/א中" + "".join(map(chr, range(33, 0x250)))
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_END = "\x01"  # in no set that the package's patterns list
Item = tuple[Any, Any]


def package_patterns() -> dict[str, re.Pattern[str]]:
    """By the name of the place where each was found first. Tables behind a cache are loaded."""
    found: dict[str, re.Pattern[str]] = {}
    seen: set[int] = set()
    for module in _modules():
        for name, value in list(vars(module).items()):
            if not name.startswith("__"):
                _collect(value, f"{module.__name__}.{name}", found, seen)
    return found


def _modules() -> Iterator[ModuleType]:
    for each in pkgutil.walk_packages(commonplace.__path__, "commonplace."):
        if not each.name.endswith("__main__"):
            yield importlib.import_module(each.name)


def _collect(value: Any, place: str, found: dict[str, re.Pattern[str]], seen: set[int]) -> None:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            found[f"{place} {len(found)}"] = value
        return
    for inner in _inside(value):
        _collect(inner, place, found, seen)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, tuple | list | set | frozenset):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, each.name) for each in dataclasses.fields(value)]
    is_ours = getattr(value, "__module__", None) or ""
    if hasattr(value, "cache_info") and is_ours.startswith("commonplace."):
        return () if inspect.signature(value).parameters else [value()]
    return ()


def hard_texts(pattern: re.Pattern[str], length: int) -> set[str]:
    tree = _parser.parse(pattern.pattern, pattern.flags)
    return {
        before + (pump * length)[:length] + _END for before, pump in _pumps(list(tree), "") if pump
    }


def _pumps(tree: Sequence[Item], before: str) -> Iterator[tuple[str, str]]:
    """What stands before each repetition, and texts that it takes."""
    for item in tree:
        op, given = item
        if op in _REPEATS:
            if given[1] >= UNBOUNDED:
                yield before, _example(given[2])
                yield before, _example(given[2], other=True)
            yield from _pumps(given[2], before)
        elif op is _constants.SUBPATTERN:
            yield from _pumps(given[3], before)
        elif op is _constants.ATOMIC_GROUP:
            yield from _pumps(given, before)
        elif op is _constants.BRANCH:
            for each in given[1]:
                yield from _pumps(each, before)
        before += _example([item])


def _example(tree: Iterable[Item], other: bool = False) -> str:
    """A short text that the items take, as far as single characters tell."""
    return "".join(_example_of(op, given, other) for op, given in tree)


def _example_of(op: Any, given: Any, other: bool) -> str:
    if op in _REPEATS:
        return _example(given[2], other) * max(given[0], int(other and given[1] > 0))
    if op is _constants.SUBPATTERN:
        return _example(given[3], other)
    if op is _constants.ATOMIC_GROUP:
        return _example(given, other)
    if op is _constants.BRANCH:
        return _example(given[1][-1 if other else 0], other)
    if op is _constants.LITERAL:
        return chr(given)
    if op is _constants.ANY:
        return " " if other else "a"
    if op in (_constants.IN, _constants.NOT_LITERAL):
        listed = given if op is _constants.IN else [(_constants.NEGATE, None), (op, given)]
        taken = [character for character in _SAMPLE if _takes(listed, character)]
        return taken[min(len(taken) - 1, 3 * other)] if taken else ""
    return ""  # an anchor, a look-around, a reference


def _takes(listed: Sequence[Item], character: str) -> bool:
    is_listed = any(_is_in(character, each) for each in listed)
    return is_listed != (listed[0][0] is _constants.NEGATE)


_CATEGORIES = {
    _constants.CATEGORY_DIGIT: r"\d",
    _constants.CATEGORY_NOT_DIGIT: r"\D",
    _constants.CATEGORY_SPACE: r"\s",
    _constants.CATEGORY_NOT_SPACE: r"\S",
    _constants.CATEGORY_WORD: r"\w",
    _constants.CATEGORY_NOT_WORD: r"\W",
}


def _is_in(character: str, item: Item) -> bool:
    op, given = item
    if op in (_constants.LITERAL, _constants.NOT_LITERAL):
        return character == chr(given)
    if op is _constants.RANGE:
        return bool(given[0] <= ord(character) <= given[1])
    if op is _constants.CATEGORY:
        return re.match(_CATEGORIES[given], character) is not None
    return False
