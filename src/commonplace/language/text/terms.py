"""Search terms of a text (stems, Hebrew prefixes, CJK bigrams) and its keywords.

The rule looks only at what is left of the word, so that a word and the same word with prefixes end
in one form: מחשב, המחשב and ובמחשב all meet.
"""

import re
import threading
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Protocol, cast

import snowballstemmer

from commonplace.language.text.detect import Script, detect_latin_language, script_of_letter
from commonplace.language.text.lexicon import STOP_WORD_LANGUAGES, negation_words, stop_words
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

# A stemmer keeps the word it works on in itself, so two threads may not use one at once.
_stemmer_lock = threading.Lock()


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # the library's spelling


def stem_word(word: str, language: str) -> str:
    """The stem of a folded word; the word itself in a language without a stemmer."""
    if language not in _ALGORITHMS:
        return word
    with _stemmer_lock:
        return _stemmer(language).stemWord(word)


@cache
def _stemmer(language: str) -> _Stemmer:
    return cast(_Stemmer, snowballstemmer.stemmer(_ALGORITHMS[language]))


# How many letters must be left. Many words of four letters begin with מ, ש or כ as part of their
# root (מספר, שלום, כתבה), few begin with ה, ב or ל, so the former are taken off longer words only.
_LETTERS_LEFT_AFTER = {"ה": 3, "ב": 3, "ל": 3, "מ": 4, "ש": 4, "כ": 4}
_AND = "ו"
_LETTERS_LEFT_AFTER_AND = 3

_HEBREW_WORD = re.compile("[א-ת]+")
# Prefixed negations are too short for the rule above, and must stay findable as negations.
_NEGATION = re.compile("(?:ו?כ?ש|ו)(לא|אין|בלי|אינו|אינה|אינם|אינן)")


def hebrew_term(word: str) -> str | None:
    """The searchable form of a Hebrew word, None for a stop word; other words are left alone."""
    if not _HEBREW_WORD.fullmatch(word):
        return word
    negated = _NEGATION.fullmatch(word)
    if negated:
        return negated[1]
    # "And" can only be the first prefix; elsewhere in a word ו is a vowel.
    if word.startswith(_AND) and len(word) > _LETTERS_LEFT_AFTER_AND and not _is_small_word(word):
        word = word[1:]
    while not _is_small_word(word) and len(word) > _LETTERS_LEFT_AFTER.get(word[0], len(word)):
        word = word[1:]
    return None if word in stop_words("he") else word


def _is_small_word(word: str) -> bool:
    """Small words are taken whole: the ל of לפני is not a prefix."""
    return word in stop_words("he") or word in negation_words("he")


_CACHED_WORDS = 32_768


def analyse(text: str, language: str | None = None) -> list[str]:
    """The terms of a text in their order.

    Languages are told apart word by word through the script; for words in Latin letters through
    the whole text, or by `language` when the caller knows better (a query of one word says
    little about its language).
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
    return stem_word(word, language)


def bigrams(run: str) -> list[str]:
    """Overlapping pairs of characters: without spaces, no one knows where words begin."""
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]


_NEGATIONS = frozenset().union(*map(negation_words, STOP_WORD_LANGUAGES))


@dataclass
class _TermTally:
    """What is known of one term while counting."""

    label: str
    count: int = 0


def extract_keywords(text: str, limit: int = 5) -> tuple[str, ...]:
    """The most frequent telling words, the earlier one first when equally frequent.

    Forms of one word count together and show as the shortest form the text uses.
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
    """Each telling word as (term to count by, form to show)."""
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
