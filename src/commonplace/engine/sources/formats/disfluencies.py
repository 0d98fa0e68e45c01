"""Disfluencies (um, stutters, false starts) removed from transcribed speech.

Conservative: a word that may carry meaning is kept. The words are in disfluencies.toml.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

_APOSTROPHE = "['’]"
_LETTER = r"[^\W\d_]"
_SPACES = re.compile(r"[^\S\n]{2,}")
_SPACE_BEFORE_STOP = re.compile(r"\s+([,.;:?!…])")
_STOPS_IN_A_ROW = re.compile(r",(?:\s*,)+|,\s*([.;:?!])")
_LEADING_STOPS = re.compile(r"\A[\s,;.…–-]+(?=\S)")
_STARTED_WORD = re.compile(rf"\b({_LETTER}{{1,4}})[-–—]+,?\s+(?=(\w+))")
_ANY_WORD_TWICE = re.compile(rf"\b({_LETTER}+(?:{_APOSTROPHE}\w+)?)(?:,?\s+\1\b(?![-'’]))+", re.I)


@dataclass(frozen=True, slots=True)
class _DisfluencyRules:
    sounds: re.Pattern[str]
    asides: re.Pattern[str]
    starts: re.Pattern[str]
    is_stutter: Callable[[str, str], bool]  # (word, whole repetition)


def remove_disfluencies(text: str, language: str) -> str:
    """The text without disfluencies; may be empty. Unchanged in languages without a table."""
    if language not in _tables():
        return text
    rules = _rules(language)
    plain = rules.asides.sub(_left_out, rules.sounds.sub(_left_out, text))
    plain = _STARTED_WORD.sub(_without_started_word, plain)
    return _tidy(rules.starts.sub(r"\1", _ANY_WORD_TWICE.sub(_once(rules), plain)))


def _tidy(text: str) -> str:
    """Remove the commas and spaces that are left over."""
    text = _SPACE_BEFORE_STOP.sub(r"\1", _SPACES.sub(" ", text))
    text = _STOPS_IN_A_ROW.sub(lambda stops: stops[1] or ",", text)
    text = _LEADING_STOPS.sub("", text).strip().rstrip(",")
    return text if any(character.isalnum() for character in text) else ""


def _left_out(match: re.Match[str]) -> str:
    """Remove the surrounding commas, too, and move a capital letter to the next word."""
    comma = match["before"] or ""
    stop = match["after"][:1].replace("…", ".") if comma else ""
    began_large = match["words"][:1].isupper()
    following = match["next"].upper() if began_large else match["next"]
    return f"{comma if not stop else stop.strip(',')} {following}"


def _without_started_word(word: re.Match[str]) -> str:
    """ "th- the": remove a fragment if the next word begins with it."""
    return "" if word[2].casefold().startswith(word[1].casefold()) else word[0]


def _once(rules: _DisfluencyRules) -> Callable[[re.Match[str]], str]:
    return lambda match: match[1] if rules.is_stutter(match[1], match[0]) else match[0]


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    file = resources.files(__package__).joinpath("disfluencies.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def _rules(language: str) -> _DisfluencyRules:
    table = _tables()[language]
    sounds = "|".join(sorted(table["sounds"].split(), key=len, reverse=True))
    asides = "|".join(table["asides"])
    starters = "|".join(table["starters"].split())
    return _DisfluencyRules(
        sounds=re.compile(  # all capitals are an abbreviation
            rf"(?P<before>,?)\s*(?<![\w'’-])(?P<words>(?:(?!(?-i:[A-Z]{{2,}}\b))(?:{sounds})"
            rf"(?![\w'’-])(?P<after>[,.…]*)\s*)+)(?P<next>{_LETTER}?)",
            re.I,
        ),
        asides=re.compile(
            rf"(?:(?P<before>,)\s+|\A|(?<=[.?!]\s))(?P<words>{asides})(?P<after>,)\s+"
            rf"(?P<next>{_LETTER}?)",
            re.I,
        ),
        starts=re.compile(rf"\b((?:{starters})\s+\w+(?:\s+\w+)?),?\s+\1\b", re.I),
        is_stutter=_open_rule(table) if "meant_twice" in table else _closed_rule(table),
    )


def _open_rule(table: Mapping[str, Any]) -> Callable[[str, str], bool]:
    """Any repeated word, except deliberate repetitions and names (Duran Duran)."""
    deliberate = frozenset(table["meant_twice"].split())

    def is_stutter(word: str, repetition: str) -> bool:
        is_name = word[0].isupper() and repetition.endswith(word) and word != "I"
        return word.casefold() not in deliberate and not is_name

    return is_stutter


def _closed_rule(table: Mapping[str, Any]) -> Callable[[str, str], bool]:
    listed = frozenset(table["stutters"].split())
    return lambda word, repetition: word in listed
