"""The words too common to search for, and the negations, which always stay searchable."""

import unicodedata
from functools import cache
from importlib import resources

# In the order in which they win when a text speaks for two alike.
LANGUAGES = ("en", "es", "fr", "de", "it", "pt", "nl", "ru", "he")


@cache
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language, case folded; none for a language without a list."""
    return _sections().get(language, frozenset())


@cache
def negations(language: str) -> frozenset[str]:
    """The words that turn a statement round ("not", "nie", "לא"), case folded."""
    return _sections().get(f"{language} not", frozenset())


def also_english() -> frozenset[str]:
    """Small words of other languages that are real words in English, so they speak for both."""
    return _sections()["en also"]


@cache
def _sections() -> dict[str, frozenset[str]]:
    """The data file, by section name."""
    text = resources.files(__package__).joinpath("stopwords.txt").read_text(encoding="utf-8")
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in unicodedata.normalize("NFC", text).casefold().splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[] "), [])
        elif not line.startswith("#"):
            current.extend(line.split())
    return {name: frozenset(words) for name, words in sections.items()}
