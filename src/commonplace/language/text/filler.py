"""Filler: turns that say nothing, such as "ok", "Thanks a lot!" and "Done.".

Filler is kept in the conversation that it belongs to; it is no answer to any question. The words
are in filler.txt.
"""

from __future__ import annotations

import re
from functools import cache

from commonplace.language.text.lexicon import load_word_lists, negation_words, stop_words
from commonplace.language.text.normalise import split_words
from commonplace.language.text.sentences import split_sentences
from commonplace.language.text.terms import analyse

MAX_FILLER_WORDS = 12  # a longer turn says something, whatever its words
MAX_REPEATED_WORDS = 3  # words that a reply which only takes note may repeat
ASSISTANT = "assistant"

_LANGUAGES = ("en", "he", "es", "fr", "de", "it", "pt", "nl", "ru", "ar", "zh", "ja", "ko")
_SENTENCE_START = re.compile(r"(?:^|[.!?…]\s+)\W*\w+")
_DIGIT = re.compile(r"\d")


def is_filler(text: str, role: str | None = None) -> bool:
    """True if a turn says nothing: no words at all, or only words of one language's list and its
    stop words. A reply of the assistant that only takes note of what it was told ("OK, vegetarian
    from now on.") is filler, too: what it repeats stands in the turn before."""
    words = split_words(text)
    if not words:
        return True
    if len(words) > MAX_FILLER_WORDS or _DIGIT.search(text):
        return False
    return any(_says_nothing(words, language) for language in _LANGUAGES) or (
        role == ASSISTANT and _only_takes_note(text, words)
    )


def _says_nothing(words: list[str], language: str) -> bool:
    """At least one word is filler: stop words alone may be the answer to a question ("her")."""
    filler, small = _filler_words(language), _small_words(language)
    return not filler.isdisjoint(words) and all(word in filler or word in small for word in words)


def _only_takes_note(text: str, words: list[str]) -> bool:
    """True for a short reply without question, name or number that begins with a word like
    "noted"."""
    if "?" in text or _has_name(text):
        return False
    return any(
        words[0] in _list_of(language, "reply")
        and _count_own(words[1:], language) <= MAX_REPEATED_WORDS
        for language in _LANGUAGES
    )


def _has_name(text: str) -> bool:
    """True if a word inside a sentence is capitalised, "I" excepted."""
    inside = _SENTENCE_START.sub(" ", text).replace(" I ", " ").replace(" I'", " ")
    return inside != inside.lower()


def _count_own(words: list[str], language: str) -> int:
    known = _filler_words(language) | _small_words(language) | _list_of(language, "rest")
    return sum(word not in known for word in words)


@cache
def _filler_words(language: str) -> frozenset[str]:
    return _folded(load_word_lists("text/filler.txt").get(language, frozenset()))


@cache
def _list_of(language: str, name: str) -> frozenset[str]:
    return _folded(load_word_lists("text/filler.txt").get(f"{language} {name}", frozenset()))


@cache
def _small_words(language: str) -> frozenset[str]:
    return _folded(stop_words(language) | negation_words(language))


def _folded(listed: frozenset[str]) -> frozenset[str]:
    """The words as `split_words` returns them."""
    return frozenset(word for entry in listed for word in split_words(entry))


def content_terms(text: str) -> frozenset[str]:
    """The terms by which a text says something: no filler, no words for the speaker, and nothing
    that is asked."""
    said = (each for each in split_sentences(text) if not each.rstrip().endswith(("?", "؟")))
    return frozenset(term for each in said for term in analyse(each)) - empty_terms()


@cache
def empty_terms() -> frozenset[str]:
    """Terms of filler and of words for the speaker."""
    words = " ".join(word for language in _LANGUAGES for word in _filler_words(language))
    return frozenset(analyse(f"the user's I my {words} {_ASIDES}"))


_ASIDES = "btw by the way now just really actually anyway also well lol haha think guess know said"
