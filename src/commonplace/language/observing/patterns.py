"""The data files beside this: patterns as lists of regular expressions, with word lists in them.

`{name}` in a pattern stands for one of the words of the list of that name. All patterns ignore
case, and are read once.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

_HEBREW = re.compile("[א-ת]")
_NEVER = "(?!)"
_LIST = re.compile(r"\{([a-z_]+)\}")
# The start and the end of a Hebrew word: \b takes the marks inside ד"ר for its end.
_EDGES = {"<<": r"(?<![\w\"״׳'])", ">>": r"(?![\w\"״׳'])"}


@cache
def data(name: str) -> Mapping[str, Any]:
    file = resources.files(__package__).joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def filled(pattern: str, words: Mapping[str, str]) -> str:
    """A pattern with its lists in place."""
    for mark, edge in _EDGES.items():
        pattern = pattern.replace(mark, edge)
    return _LIST.sub(lambda found: _one_of(words[found[1]], words), pattern)


def _one_of(listed: str, words: Mapping[str, str]) -> str:
    """Words in any layout; an underscore in a word is a space, another list's name is that list."""
    return "(?:" + "|".join(filled(word, words).replace("_", " ") for word in listed.split()) + ")"


@dataclass(frozen=True, slots=True)
class Bilingual:
    """Patterns of both languages; a text without a Hebrew letter is spared the Hebrew ones.

    Compiled when first used, since all of them together would slow every start.
    """

    both: str
    english: str

    def search(self, text: str) -> re.Match[str] | None:
        return self._for(text).search(text)

    def match(self, text: str) -> re.Match[str] | None:
        return self._for(text).match(text)

    def _for(self, text: str) -> re.Pattern[str]:
        return _pattern(self.both if _HEBREW.search(text) else self.english)


@cache
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


def any_of(patterns: Iterable[str], words: Mapping[str, str] | None = None) -> Bilingual:
    """Fits where one of these does."""
    each = [f"(?:{filled(one, words or {})})" for one in patterns]
    return Bilingual(_any_of(each), _any_of([one for one in each if not _HEBREW.search(one)]))


def _any_of(patterns: list[str]) -> str:
    return "|".join(patterns) or _NEVER
