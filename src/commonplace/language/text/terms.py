"""Search terms of a text (stems, Hebrew prefixes, CJK bigrams) and its keywords.

Hebrew prefixes are stripped by the length of the rest, so that a word has one form with and without
them: מחשב, המחשב and ובמחשב are equal.
"""

import re
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Protocol, cast

import snowballstemmer

from commonplace.language.text.detect import Script, detect_latin_language, script_of_letter
from commonplace.language.text.lexicon import (
    STOP_WORD_LANGUAGES,
    load_table,
    negation_words,
    stop_words,
)
from commonplace.language.text.normalise import is_cjk, split_words

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

# A stemmer has state, so that two threads must not use one at once.
_stemmer_lock = threading.Lock()


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # the library's name


def stem_word(word: str, language: str) -> str:
    """The stem of a folded word; the word itself if the language has no stemmer."""
    if language not in _ALGORITHMS:
        return word
    with _stemmer_lock:
        return _stemmer(language).stemWord(word)


@cache
def _stemmer(language: str) -> _Stemmer:
    return cast(_Stemmer, snowballstemmer.stemmer(_ALGORITHMS[language]))


# Minimum length of the rest. Many four-letter words begin with מ, ש or כ as a part of the root
# (מספר, שלום, כתבה), few with ה, ב or ל: the former are stripped from longer words only.
_LETTERS_LEFT_AFTER = {"ה": 3, "ב": 3, "ל": 3, "מ": 4, "ש": 4, "כ": 4}
_AND = "ו"
_LETTERS_LEFT_AFTER_AND = 3

_HEBREW_WORD = re.compile("[א-ת]+")
# Prefixed negations are too short for the rule above, but must be found as negations.
_NEGATION = re.compile("(?:ו?כ?ש|ו)(לא|אין|בלי|אינו|אינה|אינם|אינן)")


def hebrew_term(word: str) -> str | None:
    """The search form of a Hebrew word; None for a stop word; other words are unchanged."""
    if not _HEBREW_WORD.fullmatch(word):
        return word
    negated = _NEGATION.fullmatch(word)
    if negated:
        return negated[1]
    # "And" can only be the first prefix; elsewhere ו is a vowel.
    if word.startswith(_AND) and len(word) > _LETTERS_LEFT_AFTER_AND and not _is_small_word(word):
        word = word[1:]
    while not _is_small_word(word) and len(word) > _LETTERS_LEFT_AFTER.get(word[0], len(word)):
        word = word[1:]
    return None if word in stop_words("he") else word


def _is_small_word(word: str) -> bool:
    """Function words are not split: the ל of לפני is not a prefix."""
    return word in stop_words("he") or word in negation_words("he")


_CACHED_WORDS = 32_768


def analyse(text: str, language: str | None = None) -> list[str]:
    """The terms of a text in order.

    The language is found per word by its script; for words in Latin letters by the whole text, or
    given as `language` (a one-word query has too little evidence).
    """
    found = split_words(text)
    latin = language or detect_latin_language(found)
    terms: list[str] = []
    for word in found:
        if word.isascii() or not is_cjk(word):
            term = term_of(word, latin)
            if term is not None:
                terms.append(term)
        else:
            terms.extend(bigrams(word))
    return terms


def count_terms(text: str, language: str | None = None) -> dict[str, int]:
    """The number of occurrences of each term, in order of first occurrence."""
    return dict(Counter(analyse(text, language)))


@lru_cache(maxsize=_CACHED_WORDS)
def term_of(word: str, latin: str) -> str | None:
    """The term of a word, None for a stop word; `latin`: the language of Latin letters."""
    script = Script.LATIN if word.isascii() else script_of_letter(word[0])
    if script is Script.HEBREW:
        return hebrew_term(word)
    language = {Script.LATIN: latin, Script.CYRILLIC: "ru"}.get(script or Script.OTHER)
    if language is None or word[0].isdigit():
        return word
    if word in stop_words(language):
        return None
    return stem_word(word, language)


def query_synonyms(terms: Iterable[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Other words for terms of a question, by term: "mother" and "mum"."""
    known = _query_synonyms()
    return {term: known[term] for term in terms if term in known}


@cache
def _query_synonyms() -> dict[str, tuple[tuple[str, ...], ...]]:
    found: dict[str, dict[tuple[str, ...], None]] = {}
    for language, rows in load_table("query_synonyms").items():
        for row in rows:
            terms = [term for word in row.split() if (term := term_of(word, language))]
            for term in terms:
                others = ((other,) for other in terms if other != term)
                found.setdefault(term, {}).update(dict.fromkeys(others))
    return {term: tuple(others) for term, others in found.items()}


def bigrams(run: str) -> list[str]:
    """Overlapping character pairs, because word boundaries are unknown without spaces."""
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]


_NEGATIONS = frozenset().union(*map(negation_words, STOP_WORD_LANGUAGES))


@dataclass
class _TermTally:
    """The count and label of one term."""

    label: str
    count: int = 0


def extract_keywords(text: str, limit: int = 5) -> tuple[str, ...]:
    """The most frequent content words; ties in order of occurrence.

    Forms of one word are counted together and shown as the shortest form in the text.
    """
    if limit < 0:
        raise ValueError(f"limit must not be negative, not {limit}")
    tallies: dict[str, _TermTally] = {}
    for term, label in _labelled_terms(text):
        tally = tallies.setdefault(term, _TermTally(label))
        tally.count += 1
        tally.label = min(tally.label, label, key=len)
    ranked = sorted(tallies.values(), key=lambda tally: -tally.count)
    return tuple(tally.label for tally in ranked[:limit])


def _labelled_terms(text: str) -> list[tuple[str, str]]:
    """Content words as (term to count by, form to show)."""
    found = split_words(text)
    latin = detect_latin_language(found)
    labelled: list[tuple[str, str]] = []
    for word in found:
        if is_cjk(word):
            labelled.extend((pair, pair) for pair in bigrams(word) if len(pair) == 2)
        elif _is_keyword(word):
            term = term_of(word, latin)
            if term is not None and term not in _NEGATIONS:
                labelled.append((term, word))
    return labelled


def _is_keyword(word: str) -> bool:
    if not any(character.isalpha() for character in word):
        return False
    shortest = 2 if script_of_letter(word[0]) is Script.HEBREW else 3
    return len(word) >= shortest and word not in _NEGATIONS
