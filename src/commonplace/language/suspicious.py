"""Does a passage read like instructions to an agent? Then it is kept, marked, and left out.

The patterns are data: suspicious.toml.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from importlib import resources
from typing import Any

from commonplace.language.characters import INVISIBLE

_APOSTROPHES = str.maketrans("’‘ʼ", "'''")
_SPACES = re.compile(r"[^\S\n]+")
_LINE_BREAKS = re.compile(r"\s*\n\s*")

# Tag characters spell ASCII without being seen. Writers need them only for the flags of regions.
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")


def is_suspicious(text: str) -> bool:
    return why_suspicious(text) is not None


def why_suspicious(text: str) -> str | None:
    """What is suspicious about a text, as half a sentence; None when nothing is."""
    if _TAGS.search(_FLAG.sub("", text)):
        return "holds letters that nobody can see"
    plain = unicodedata.normalize("NFKC", text).translate(INVISIBLE).translate(_APOSTROPHES)
    plain = _LINE_BREAKS.sub("\n", _SPACES.sub(" ", plain.casefold()))
    on_one_line = plain.replace("\n", " ")
    if not any(words in on_one_line for words in _table()["look_closer"]):
        return None
    return next((reason for reason, pattern in _rules() if pattern.search(plain)), None)


@cache
def _table() -> dict[str, Any]:
    file = resources.files(__package__).joinpath("suspicious.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def _rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    table = _table()
    return tuple(
        (rule["reason"], re.compile(_spelled(rule["patterns"], table["words"]), re.S))
        for rule in table["rule"]
    )


def _spelled(patterns: list[str], words: dict[str, str]) -> str:
    joined = "|".join(patterns)
    for name, listed in words.items():
        joined = joined.replace("{" + name + "}", listed)
    return joined.replace(" ", r"\s")
