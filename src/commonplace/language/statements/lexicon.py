"""The word lists of this package, read once from the TOML files beside it."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from commonplace.language.normalise import fold_case
from commonplace.language.stopwords import stop_words

# In the order in which they win when a text speaks for two alike.
LATIN = ("en", "es", "fr", "de", "it", "pt", "nl")
LANGUAGES = (*LATIN, "he", "ar", "ru")


@cache
def data(name: str) -> dict[str, Any]:
    """One of the TOML files of this folder."""
    file = resources.files(__package__).joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def word_list(entry: Any) -> tuple[str, ...]:
    """The words of a list in a data file: a string of words, or a list of phrases."""
    words = entry.split() if isinstance(entry, str) else entry
    return tuple(plain_word(word) for word in words)


def plain_word(word: str) -> str:
    """A word as the lexer hands it out: folded, with the letters Arabic writers mix up made one."""
    return fold_case(word).replace("\u2019", "'").translate(_ARABIC)


_ARABIC = str.maketrans("أإآة", "اااه")


@cache
def roles(language: str) -> dict[str, str]:
    """What each small word of a language does in a sentence: its role, by word."""
    found: dict[str, str] = {}
    for role, entry in data("grammar").get(language, {}).items():
        if role not in ("phrases", "evidence", "names", "owned"):
            found.update(dict.fromkeys(word_list(entry), role))
    return found


@cache
def name_words(language: str) -> frozenset[str]:
    """Words that are also names: Will, Rose."""
    return frozenset(word_list(data("grammar").get(language, {}).get("names", "")))


@cache
def phrases(language: str) -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """Several words that do one thing ("used to" is past), by their first word, longest first."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for role, entries in data("grammar").get(language, {}).get("phrases", {}).items():
        for phrase in entries:
            parts = word_list(phrase)
            found.setdefault(parts[0], []).append((parts, role))
    return {
        first: tuple(sorted(options, key=lambda option: -len(option[0])))
        for first, options in found.items()
    }


@cache
def evidence() -> dict[str, tuple[str, ...]]:
    """For each word that some lists know, the languages in Latin letters it speaks for."""
    speaks_for: dict[str, list[str]] = {}
    for language in LATIN:
        frame_words = [
            word
            for frame in data("frames").values()
            for key, patterns in frame.items()
            if key.split("_")[0] == language
            for pattern in patterns
            for slot in pattern.split()
            for word in slot.rstrip("?*").split("|")
        ]
        calendar = data("calendar").get(language, {})
        dates = [word for entry in calendar.values() for word in word_list(entry)]
        numbers = [
            plain_word(entry.split("=")[0])
            for column in ("units", "scales")
            for entry in data("numbers")[language][column].split()
        ]
        for word in {
            *roles(language),
            *numbers,
            *map(plain_word, frame_words),
            *dates,
            *(plain_word(word) for word in stop_words(language)),
        }:
            speaks_for.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in speaks_for.items()}


@dataclass(frozen=True, slots=True)
class Member:
    """A word that excludes others: "vegan" says that someone is not "vegetarian"."""

    group: str
    name: str


@cache
def exclusive(language: str) -> dict[str, Member]:
    """The words of which only one can hold at a time, by word."""
    found: dict[str, Member] = {}
    for group, members in data("exclusive").items():
        for name, by_language in members.items():
            for word in word_list(by_language.get(language, "")):
                found[word] = Member(group, name)
    return found


@cache
def synonyms(language: str) -> dict[str, str]:
    """Words that may stand for one another, each with the first of its row."""
    found: dict[str, str] = {}
    for row in data("synonyms").get(language, ()):
        words = word_list(row)
        found.update(dict.fromkeys(words, words[0]))
    return found
