"""The tables of cues.toml as patterns, and the plain form of a message that they are matched on."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from commonplace.language.normalise import fold_case

LANGUAGES = ("en", "he")

_APOSTROPHES = str.maketrans("\u2019\u02bc\u2018\u201c\u201d\u05f4\u05f3", "'''\"\"\"'")
_NEGATED = re.compile(r"\b(ca|wo|\w+)n't\b")
_IRREGULAR = {"ca": "can", "wo": "will"}
_SHORT_IS = re.compile(r"\b(what|how|who|where|when|why|that|it|there|here|he|she)'s\b")
_SHORT = {"'m": " am", "'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}
_CONTRACTED = re.compile(r"(?<=\w)(?:'m|'re|'ve|'ll|'d)\b")
_SPACES = re.compile(r"\s+")
_PUNCTUATION = re.compile(r"\s*[.,;!?…—–]+\s*")
# Hebrew glues "and" and "that" to the next word.
_EDGES = {"en": (r"(?<![\w'])", r"(?![\w'])"), "he": (r"(?<![\w'])[וש]?", "")}
_ANYTHING = r"(?:\S+ ){0,3}"


def plain(text: str) -> str:
    """Folded, contractions written out, a space instead of punctuation."""
    folded = fold_case(text).translate(_APOSTROPHES)
    folded = _NEGATED.sub(lambda m: f"{_IRREGULAR.get(m[1], m[1])} not", folded)
    folded = _CONTRACTED.sub(lambda m: _SHORT[m[0]], _SHORT_IS.sub(r"\1 is", folded))
    return _SPACES.sub(" ", _PUNCTUATION.sub(" ", folded)).strip()


@cache
def _table() -> Mapping[str, Any]:
    text = resources.files(__package__).joinpath("cues.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def sentence(cue: str) -> str:
    """How a reason is told; stable, so that a program can read it."""
    told: str = _table()["sentences"][cue]
    return told


@cache
def word_set(language: str, name: str) -> frozenset[str]:
    return frozenset(_table()[language]["words"].get(name, "").split())


@cache
def either(name: str) -> frozenset[str]:
    """The words of all languages."""
    return frozenset().union(*(word_set(language, name) for language in LANGUAGES))


@cache
def patterns(kind: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each cue of a kind (strong, weak, tasks) with what matches it, in any language."""
    return tuple(
        (cue, _pattern(language, phrases))
        for language in LANGUAGES
        for cue, phrases in _table()[language][kind].items()
    )


def _pattern(language: str, phrases: list[str]) -> re.Pattern[str]:
    before, after = _EDGES[language]
    written = sorted(map(_spelled, phrases), key=len, reverse=True)
    return re.compile(f"{before}(?:{'|'.join(written)}){after}")


def _spelled(phrase: str) -> str:
    """ "how did the … go": up to three words between."""
    return _ANYTHING.join(re.escape(part.lstrip()) for part in phrase.split("…"))
