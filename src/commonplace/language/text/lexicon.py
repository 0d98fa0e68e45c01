"""Word lists, grammar tables and bilingual patterns, loaded once from data files.

`{name}` in a pattern is an alternation of the words of that list. All patterns ignore case.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from commonplace.language.text.normalise import fold_case


@cache
def load_word_lists(file: str) -> dict[str, frozenset[str]]:
    """Lists of a data file by section name, case-folded."""
    text = resources.files("commonplace.language").joinpath(file).read_text(encoding="utf-8")
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in unicodedata.normalize("NFC", text).casefold().splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[] "), [])
        elif not line.startswith("#"):
            current.extend(line.split())
    return {name: frozenset(words) for name, words in sections.items()}


# In order of precedence, for ties.
STOP_WORD_LANGUAGES = ("en", "es", "fr", "de", "it", "pt", "nl", "ru", "he")


@cache
def stop_words(language: str) -> frozenset[str]:
    """Stop words of a language, case-folded; empty if the language has no list."""
    return load_word_lists("text/stopwords.txt").get(language, frozenset())


@cache
def negation_words(language: str) -> frozenset[str]:
    """Words that negate a statement ("not", "nie", "לא"), case-folded."""
    return load_word_lists("text/stopwords.txt").get(f"{language} not", frozenset())


def english_homographs() -> frozenset[str]:
    """Function words of other languages that are also English words: evidence for both."""
    return load_word_lists("text/stopwords.txt")["en also"]


# In order of precedence, for ties.
LATIN_LANGUAGES = ("en", "es", "fr", "de", "it", "pt", "nl")
LEXICON_LANGUAGES = (*LATIN_LANGUAGES, "he", "ar", "ru")


@cache
def load_patterns(name: str) -> dict[str, Any]:
    """Load a TOML file of the language folder, by its path without the ending."""
    file = resources.files("commonplace.language").joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def load_table(name: str) -> dict[str, Any]:
    return load_patterns(f"text/tables/{name}")


def parse_word_list(entry: Any) -> tuple[str, ...]:
    """Words of a list in a data file: a string of words, or a list of phrases."""
    words = entry.split() if isinstance(entry, str) else entry
    return tuple(fold_word(word) for word in words)


def fold_word(word: str) -> str:
    """A word as the lexer returns it: folded, with interchangeable Arabic letters unified."""
    return fold_case(word).replace("\u2019", "'").translate(_ARABIC_LETTERS)


_ARABIC_LETTERS = str.maketrans("أإآة", "اااه")


@cache
def word_roles(language: str) -> dict[str, str]:
    """Roles of a language's function words."""
    found: dict[str, str] = {}
    for role, entry in load_table("grammar").get(language, {}).items():
        if role not in ("phrases", "evidence", "names", "owned"):
            found.update(dict.fromkeys(parse_word_list(entry), role))
    return found


@cache
def ambiguous_names(language: str) -> frozenset[str]:
    """Words that are also names: Will, Rose."""
    return frozenset(parse_word_list(load_table("grammar").get(language, {}).get("names", "")))


@cache
def phrase_roles(language: str) -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """Multi-word expressions with a role ("used to" is past), by first word, longest first."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for role, entries in load_table("grammar").get(language, {}).get("phrases", {}).items():
        for phrase in entries:
            parts = parse_word_list(phrase)
            found.setdefault(parts[0], []).append((parts, role))
    return {
        first: tuple(sorted(options, key=lambda option: -len(option[0])))
        for first, options in found.items()
    }


@cache
def language_evidence() -> dict[str, tuple[str, ...]]:
    """Languages in Latin letters by word, for the words of some lists."""
    languages_by_word: dict[str, list[str]] = {}
    for language in LATIN_LANGUAGES:
        frame_words = [
            word
            for frame in load_table("frames").values()
            for key, patterns in frame.items()
            if key.split("_")[0] == language
            for pattern in patterns
            for slot in pattern.split()
            for word in slot.rstrip("?*").split("|")
        ]
        calendar = load_table("calendar").get(language, {})
        dates = [word for entry in calendar.values() for word in parse_word_list(entry)]
        numbers = [
            fold_word(entry.split("=")[0])
            for column in ("units", "scales")
            for entry in load_table("numbers")[language][column].split()
        ]
        for word in {
            *word_roles(language),
            *numbers,
            *map(fold_word, frame_words),
            *dates,
            *(fold_word(word) for word in stop_words(language)),
        }:
            languages_by_word.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in languages_by_word.items()}


@dataclass(frozen=True, slots=True)
class ExclusiveWord:
    """A word that excludes others: "vegan" excludes "vegetarian"."""

    group: str
    name: str


@cache
def exclusive_words(language: str) -> dict[str, ExclusiveWord]:
    """Mutually exclusive words, by word."""
    found: dict[str, ExclusiveWord] = {}
    for group, members in load_table("exclusive").items():
        for name, by_language in members.items():
            for word in parse_word_list(by_language.get(language, "")):
                found[word] = ExclusiveWord(group, name)
    return found


@cache
def synonyms(language: str) -> dict[str, str]:
    """Synonyms, each mapped to the first word of its row."""
    found: dict[str, str] = {}
    for row in load_table("synonyms").get(language, ()):
        words = parse_word_list(row)
        found.update(dict.fromkeys(words, words[0]))
    return found


_HEBREW_LETTER = re.compile("[א-ת]")
_NEVER = "(?!)"
_LIST_NAME = re.compile(r"\{([a-z_]+)\}")
# Boundaries of a Hebrew word: \b would match at the marks inside ד"ר.
_HEBREW_WORD_EDGES = {"<<": r"(?<![\w\"״׳'])", ">>": r"(?![\w\"״׳'])"}


def fill_word_lists(pattern: str, words: Mapping[str, str]) -> str:
    """A pattern with its word lists filled in."""
    for mark, edge in _HEBREW_WORD_EDGES.items():
        pattern = pattern.replace(mark, edge)
    return _LIST_NAME.sub(lambda found: _word_alternatives(words[found[1]], words), pattern)


def _word_alternatives(listed: str, words: Mapping[str, str]) -> str:
    """Alternation of words; an underscore is a space, the name of another list is that list."""
    return (
        "(?:"
        + "|".join(fill_word_lists(word, words).replace("_", " ") for word in listed.split())
        + ")"
    )


@dataclass(frozen=True, slots=True)
class BilingualPattern:
    """Patterns of both languages; Hebrew ones are skipped for text without a Hebrew letter.

    Compiled on first use: compiling all would slow down each start.
    """

    both: str
    english: str

    def search(self, text: str) -> re.Match[str] | None:
        return self._for(text).search(text)

    def match(self, text: str) -> re.Match[str] | None:
        return self._for(text).match(text)

    def _for(self, text: str) -> re.Pattern[str]:
        return _compiled_pattern(self.both if _HEBREW_LETTER.search(text) else self.english)


@cache
def _compiled_pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


def any_pattern(
    patterns: Iterable[str], words: Mapping[str, str] | None = None
) -> BilingualPattern:
    """A pattern that matches if any of these does."""
    each = [f"(?:{fill_word_lists(one, words or {})})" for one in patterns]
    return BilingualPattern(
        _join_alternatives(each),
        _join_alternatives([one for one in each if not _HEBREW_LETTER.search(one)]),
    )


def first_match(patterns: Iterable[BilingualPattern], text: str) -> re.Match[str] | None:
    return next((found for one in patterns if (found := one.match(text))), None)


def first_named_group(found: re.Match[str], prefix: str) -> str | None:
    """The first non-empty group whose name has this prefix."""
    groups = found.groupdict()
    return next(
        (value for name, value in groups.items() if name.startswith(prefix) and value), None
    )


def _join_alternatives(patterns: list[str]) -> str:
    return "|".join(patterns) or _NEVER


def compile_any_of(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds any of these words. Common beginnings are written once: each position of
    a text is then tried once, not once for each word."""
    tree: dict[str, Any] = {}
    for word in words:
        branch = tree
        for letter in word:
            branch = branch.setdefault(letter, {})
        branch[_END] = {}
    return re.compile(_branches(tree))


_END = ""


def _branches(tree: Mapping[str, Any]) -> str:
    """What follows the end of a word makes no difference."""
    if _END in tree:
        return ""
    rests = [re.escape(letter) + _branches(rest) for letter, rest in tree.items()]
    return rests[0] if len(rests) == 1 else f"(?:{'|'.join(rests)})"
