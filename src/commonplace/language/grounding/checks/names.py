"""Names in an item, and whether the passages have them.

A name is known by its capital letter, in Hebrew by the list of given names and places. Scripts
without either are covered by the check of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import lru_cache

from commonplace.language.extract.names.gazetteer import (
    COMMON_WORDS,
    GIVEN_NAMES,
    HEBREW_AMBIGUOUS_GIVEN_NAMES,
    HEBREW_GIVEN_NAMES,
    HEBREW_TITLES,
    NAME_PARTICLES,
    NON_NAMES,
    OFFICE_TITLES,
    TITLES,
    UNAMBIGUOUS_GIVEN_NAMES,
    known_names,
)
from commonplace.language.fields.names import fold_name
from commonplace.language.text.detect import Script, script_of_letter
from commonplace.language.text.lexicon import STOP_WORD_LANGUAGES, load_word_lists, stop_words

_WORD = re.compile(r"[^\W_]+(?:['’״׳\"-][^\W_]+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:…\n])[\s\"'“”„«(]*$")
_LOOK_BACK = 8
_HEBREW_PREFIXES = "והבלכמש"
_MAX_PREFIXES = 3
_ENDINGS = frozenset(("s", "es", "n", "an", "ian", "ish", "y", "e", "i", "in", "er"))
_MIN_STEM = 4
_MIN_POSSESSED = 3
_INFLECTED = frozenset((Script.CYRILLIC, Script.GREEK))  # names have cases
_NO_NAMES = (
    NON_NAMES
    | TITLES
    | OFFICE_TITLES
    | NAME_PARTICLES
    | HEBREW_TITLES
    | load_word_lists("grounding/words.txt")["no names"]
)
_ANY_STOP_WORDS = frozenset().union(*map(stop_words, STOP_WORD_LANGUAGES))
_CAPITAL_NOUNS = "de"


def name_words(text: str) -> frozenset[str]:
    """All words of a text, in the forms by which names are compared."""
    found: set[str] = set()
    for match in _WORD.finditer(text):
        found |= _forms(match[0])
    return frozenset(found)


def is_named(name: str, words: Set[str], compact: str) -> bool:
    """Whether all words of a name occur. ``compact``: the text without spaces, for scripts that
    have none."""
    parts = [match[0] for match in _WORD.finditer(name)]
    keys = [part for part in parts if fold_name(part) not in _NO_NAMES] or parts
    if not keys:
        return False
    return all(_has_word(part, words) or _is_in_run(part, compact) for part in keys)


def unknown_names(text: str, language: str, words: Set[str], compact: str) -> list[str]:
    """Names in the text that do not occur."""
    return [
        name
        for name in _names_in(text, language)
        if not _has_word(name, words) and not _is_in_run(name, compact)
    ]


def _names_in(text: str, language: str) -> Iterator[str]:
    matches = list(_WORD.finditer(text))
    for place, match in enumerate(matches):
        word, key = match[0], fold_name(match[0])
        if key in _NO_NAMES or (len(word) == 1 and word.isascii()):
            continue
        if script_of_letter(word[0]) is Script.HEBREW:
            if _is_hebrew_name(key):
                yield word
        elif word[0].isupper():
            before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
            is_first = match.start() == 0 or _SENTENCE_START.search(before) is not None
            following = matches[place + 1][0] if place + 1 < len(matches) else ""
            if _is_capital_name(word, key, language, is_first, following[:1].isupper()):
                yield word


def _is_capital_name(word: str, key: str, language: str, is_first: bool, is_followed: bool) -> bool:
    """The first word of a sentence has a capital anyway, and so have all nouns in German."""
    if not is_first and language != _CAPITAL_NOUNS:
        return True
    if key in UNAMBIGUOUS_GIVEN_NAMES or (key,) in known_names():
        return True
    if language == _CAPITAL_NOUNS:
        return not word[1:].islower()  # VfB, GmbH
    if key in COMMON_WORDS or key in _ANY_STOP_WORDS:
        return key in GIVEN_NAMES and is_followed
    return language == "en"


def _is_hebrew_name(key: str) -> bool:
    bare = _without_prefixes(key)
    return any(
        form in HEBREW_GIVEN_NAMES and form not in HEBREW_AMBIGUOUS_GIVEN_NAMES for form in bare[:1]
    ) or any((form,) in known_names() and len(form) > 2 for form in bare[:2])


@lru_cache(maxsize=32_768)
def _forms(word: str) -> frozenset[str]:
    key = fold_name(word)
    found = {key, _joined(key)}
    parts = re.split(r"['’״׳\"-]", key)
    found.update(part for part in parts if part)
    script = script_of_letter(key[0]) if key else None
    if script is Script.HEBREW:
        found.update(_without_prefixes(_joined(key)))
    elif script in _INFLECTED and len(key) >= _MIN_STEM:
        found.update(f"{key[:-cut]}~" for cut in (1, 2) if len(key) - cut > 2)
    return frozenset(found)


def _joined(key: str) -> str:
    """ "wi-fi" and "wifi"."""
    return re.sub(r"['’״׳\"-]", "", key)


def _without_prefixes(key: str) -> list[str]:
    found = [key]
    while len(found) <= _MAX_PREFIXES and len(found[-1]) > 2 and found[-1][0] in _HEBREW_PREFIXES:
        found.append(found[-1][1:])
    return found


def _has_word(word: str, words: Set[str]) -> bool:
    forms = _forms(word)
    if not words.isdisjoint(forms):
        return True
    key = _joined(fold_name(word))
    if len(key) >= _MIN_POSSESSED and key + "s" in words:  # "jens", as Jen's is typed
        return True
    if len(key) <= _MIN_STEM:
        return False
    return any(
        key + ending in words or (key.endswith(ending) and _stem(key, ending) in words)
        for ending in _ENDINGS
    )


def _stem(key: str, ending: str) -> str | None:
    return key[: -len(ending)] if len(key) - len(ending) >= _MIN_STEM else None


_SPACED = frozenset((Script.LATIN, Script.CYRILLIC, Script.GREEK, Script.HEBREW))


def _is_in_run(word: str, compact: str) -> bool:
    """In scripts without spaces between words, or with prefixes of all kinds."""
    script = script_of_letter(word[0])
    return script not in _SPACED and script is not None and _joined(fold_name(word)) in compact
