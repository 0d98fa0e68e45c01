"""The words too common to search for, and the negations, which always stay searchable."""

from functools import cache

from commonplace.language.wordlists import word_lists

# In the order in which they win when a text speaks for two alike.
LANGUAGES = ("en", "es", "fr", "de", "it", "pt", "nl", "ru", "he")


@cache
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language, case folded; none for a language without a list."""
    return word_lists("stopwords.txt").get(language, frozenset())


@cache
def negations(language: str) -> frozenset[str]:
    """The words that turn a statement round ("not", "nie", "לא"), case folded."""
    return word_lists("stopwords.txt").get(f"{language} not", frozenset())


def also_english() -> frozenset[str]:
    """Small words of other languages that are real words in English, so they speak for both."""
    return word_lists("stopwords.txt")["en also"]
