"""The one analyser: text and query become the same terms, whichever database holds them."""

from collections import Counter
from functools import lru_cache

from commonplace.language.detect import Script, latin_language, script_of_letter
from commonplace.language.hebrew import hebrew_term
from commonplace.language.stem import stem
from commonplace.language.stopwords import stop_words
from commonplace.language.words import is_cjk, words

_CACHED_WORDS = 32_768


def analyse(text: str, language: str | None = None) -> list[str]:
    """The terms of a text in their order.

    Languages are told apart word by word through the script; for words in Latin letters through
    the whole text, or by `language` when the caller knows better (a query of one word says
    little about its language).
    """
    found = words(text)
    latin = language or latin_language(found)
    terms: list[str] = []
    for word in found:
        if word.isascii() or not is_cjk(word):
            term = term_of(word, latin)
            if term is not None:
                terms.append(term)
        else:
            terms.extend(bigrams(word))
    return terms


def term_counts(text: str, language: str | None = None) -> dict[str, int]:
    """How often each term occurs, in the order of first occurrence."""
    return dict(Counter(analyse(text, language)))


@lru_cache(maxsize=_CACHED_WORDS)
def term_of(word: str, latin: str) -> str | None:
    """The term for one word, None for a stop word; `latin` is the language of Latin letters."""
    script = Script.LATIN if word.isascii() else script_of_letter(word[0])
    if script is Script.HEBREW:
        return hebrew_term(word)
    language = {Script.LATIN: latin, Script.CYRILLIC: "ru"}.get(script or Script.OTHER)
    if language is None or word[0].isdigit():
        return word
    if word in stop_words(language):
        return None
    return stem(word, language)


def bigrams(run: str) -> list[str]:
    """Overlapping pairs of characters: without spaces, no one knows where words begin."""
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]
