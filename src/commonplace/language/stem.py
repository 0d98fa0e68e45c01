"""The stem of a word, by Snowball, for the languages that have a stemmer here."""

import threading
from functools import cache
from typing import Protocol, cast

import snowballstemmer

_ALGORITHMS = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "pt": "portuguese",
    "nl": "dutch",
    "ru": "russian",
}

# A stemmer keeps the word it works on in itself, so two threads may not use one at once.
_one_at_a_time = threading.Lock()


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # the library's spelling


def stem(word: str, language: str) -> str:
    """The stem of a folded word; the word itself in a language without a stemmer."""
    if language not in _ALGORITHMS:
        return word
    with _one_at_a_time:
        return _stemmer(language).stemWord(word)


@cache
def _stemmer(language: str) -> _Stemmer:
    return cast(_Stemmer, snowballstemmer.stemmer(_ALGORITHMS[language]))
