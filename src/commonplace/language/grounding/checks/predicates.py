"""Whether what a statement says of somebody has words in the turns, besides the name.

A true name carries nothing: of "Tom was late", *Tom was arrested* has as many words as *Tom came
late*. English and Hebrew; in other languages only the share of words counts. Pure; linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from commonplace.language.grounding.checks.negation import is_denial
from commonplace.language.grounding.checks.numbers import numbers_of
from commonplace.language.grounding.checks.words import content_words, neutral_forms
from commonplace.language.text.lexicon import load_patterns, load_table, load_word_lists
from commonplace.language.text.normalise import split_words
from commonplace.language.text.sentences import is_past_verb
from commonplace.language.text.terms import query_synonyms, stem_word, term_of

_TOKEN = re.compile(r"[^\W_]+(?:['’\-.&״׳][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_HEBREW = re.compile("[א-ת]")
_OTHER_LETTERS = re.compile(r"(?![א-ת])[^\W\d_\u0000-\u024f]")  # neither Latin nor Hebrew
_HEBREW_PREFIXES = "והבלכמש"
_FEW = 2  # words that are found, from which one that is no predicate may be the model's
_FEW_HEBREW = 3  # there, names are not told from other words
LANGUAGES = ("en", "he")
_CACHED_TEXTS = 256  # several items rest on the same turns


@dataclass(frozen=True, slots=True)
class SaidWords:
    """What the turns say."""

    forms: frozenset[str]  # of their content words
    stems: frozenset[str]  # of all words, and of two that follow each other
    known: frozenset[str] = frozenset()  # forms of words of earlier statements
    denies: bool = False  # "never eats breakfast": "skips breakfast" says the same


@dataclass(frozen=True, slots=True)
class StrongMeaning:
    words: frozenset[str]
    said: frozenset[str]


def lacks_predicate(text: str, said: SaidWords, language: str) -> bool:
    """Whether the text says something for which the turns have no word."""
    if not is_judged(text, language):
        return False
    if lacks_strong_words(text, said):
        return True
    tokens = _TOKEN.findall(text)
    own = [place for place, token in enumerate(tokens) if _is_own(token, said, language)]
    if not own:
        return False
    found = sum(_is_found(token, said, language) for token in tokens)
    if language == "he":
        return len(own) > 1 or found < _FEW_HEBREW
    return len(own) > 1 or found < _FEW or _is_predicate(tokens, own[0], said)


def is_judged(text: str, language: str) -> bool:
    """Short texts in other languages pass for English: their words are not judged."""
    if language not in LANGUAGES or _OTHER_LETTERS.search(text):
        return False
    return _foreign_words().isdisjoint(split_words(text))


@cache
def _foreign_words() -> frozenset[str]:
    listed = load_word_lists("grounding/words.txt")
    return (listed["neutral de"] | listed["neutral es"]) - listed["neutral en"]


def lacks_strong_words(text: str, said: SaidWords) -> bool:
    """Death, illness, crime, love and the like always need words of their own."""
    language = "he" if _HEBREW.search(text) else "en"
    stems = stems_of(_without_names(text))
    return any(
        not meaning.words.isdisjoint(stems)
        and said.stems.isdisjoint(meaning.words)
        and said.stems.isdisjoint(meaning.said)
        for meaning in _strong(language)
    )


def shares_words(text: str, said: SaidWords) -> bool:
    """Whether one of its words, besides names and the small ones, was said."""
    small = _words("en", "be") | _words("en", "joins")
    plain = (word for word in text.split() if not word[:1].isupper())
    telling = (
        word
        for word in split_words(" ".join(plain))
        if word not in small and term_of(word, "en") is not None
    )
    return not stems_of(" . ".join(telling)).isdisjoint(said.stems)


def _without_names(text: str) -> str:
    """ "Brindle Lane Hospital" tells of no illness."""
    first, *rest = text.split() or [""]
    return " ".join((first, *(word for word in rest if not word[:1].isupper())))


@lru_cache(maxsize=_CACHED_TEXTS)
def stems_of(text: str) -> frozenset[str]:
    """Of all words, also small ones; two that follow each other are also one."""
    words = [_POSSESSIVE.sub("", word) for word in split_words(text.replace("’", "'"))]
    stems = [_stem(word) for word in words]
    pairs = (f"{one}_{other}" for one, other in pairwise(words))
    bare = (form for word in words for form in _without_prefixes(word))
    return frozenset((*stems, *pairs, *bare))


def _is_own(token: str, said: SaidWords, language: str) -> bool:
    """A word that nobody said, and that says something."""
    if _is_name_or_number(token) or numbers_of(token, language).values:
        return False
    if said.denies and is_denial(token):
        return False
    forms = _forms(token, language)
    if not forms or not forms.isdisjoint(said.forms) or not forms.isdisjoint(neutral_forms()):
        return False
    if not forms.isdisjoint(said.known) or _is_said_softly(token, said, language):
        return False
    return _words(language, "light").isdisjoint(stems_of(token)) and not _has_synonym(token, said)


def _is_said_softly(token: str, said: SaidWords, language: str) -> bool:
    """ "dislikes", of "can't stand"."""
    stems = stems_of(token)
    return any(
        not meaning.words.isdisjoint(stems) and not said.stems.isdisjoint(meaning.said)
        for meaning in _strong(language)
    )


def _is_found(token: str, said: SaidWords, language: str) -> bool:
    if any(map(str.isdigit, token)):
        return True
    forms = _forms(token, language)
    return not _is_name_or_number(token) and not forms.isdisjoint(said.forms)


def _forms(token: str, language: str) -> frozenset[str]:
    words = content_words(_POSSESSIVE.sub("", token), language)
    return frozenset().union(*words)


def _has_synonym(token: str, said: SaidWords) -> bool:
    stem = _stem(token.casefold())
    others = query_synonyms((stem,)).values()
    if any(not said.stems.isdisjoint(words) for each in others for words in each):
        return True
    rows = (row for code in LANGUAGES for row in _synonym_rows(code))
    return any(stem in row and not said.stems.isdisjoint(row) for row in rows)


@cache
def _synonym_rows(language: str) -> tuple[frozenset[str], ...]:
    return tuple(_stems_listed(row.split()) for row in load_table("synonyms")[language])


def _is_name_or_number(token: str) -> bool:
    return token[:1].isupper() or any(map(str.isdigit, token))


def _is_predicate(tokens: Sequence[str], place: int, said: SaidWords) -> bool:
    """Whether the word says what somebody is, has or does: it follows a name or such a verb. In "a
    *dental* hygienist" the word after it does."""
    before = place - 1
    joins, be = _words("en", "joins"), _words("en", "be")
    while before >= 0 and tokens[before].casefold() in joins:
        before -= 1
    if before < 0:
        return False
    if _is_adjective(tokens, place, said):
        return False
    previous = tokens[before]
    is_name = (previous[:1].isupper() and before > 0) or previous.casefold() in ("user", "users")
    is_first_name = before == 0 and previous.casefold() not in ("the", "user's")
    follows_name = (is_name or is_first_name) and not _POSSESSIVE.search(previous)
    return follows_name or previous.casefold() in be


def _is_adjective(tokens: Sequence[str], place: int, said: SaidWords) -> bool:
    """Whether a word that was said follows, which is what the statement says."""
    following = tokens[place + 1] if place + 1 < len(tokens) else ""
    if not following or not _is_found(following, said, "en"):
        return False
    if tokens[place - 1].casefold() in ("a", "an", "the"):
        return True
    is_verb = tokens[place].endswith(("ed", "ing")) or is_past_verb(tokens[place], "en")
    return not is_verb and _words("en", "light").isdisjoint(stems_of(following))


@cache
def joining_words() -> frozenset[str]:
    """Words between a subject and what is said of it."""
    return _words("en", "be") - _words("en", "people")


@cache
def _strong(language: str) -> tuple[StrongMeaning, ...]:
    rows = load_patterns("grounding/checks/predicates")[language]["strong"]
    return tuple(
        StrongMeaning(_stems_listed(row["words"].split()), _stems_listed(row["said"].split()))
        for row in rows
    )


@cache
def _words(language: str, name: str) -> frozenset[str]:
    listed = load_patterns("grounding/checks/predicates")[language][name].split()
    return _stems_listed(listed) if name == "light" else frozenset(listed)


def _stems_listed(words: Iterable[str]) -> frozenset[str]:
    return frozenset(form for word in words for form in (word, _stem(word)))


def _stem(word: str) -> str:
    return stem_word(word, "en") if word.isascii() and "_" not in word else word


def _without_prefixes(word: str) -> Iterable[str]:
    """Hebrew: "and", "the", "in" are written with the word."""
    if not _HEBREW.match(word):
        return
    while len(word) > 2 and word[0] in _HEBREW_PREFIXES:
        word = word[1:]
        yield word
